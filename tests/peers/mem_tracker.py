#!/usr/bin/env python3
"""What MemTracker and FSDPMemTracker of torch.distributed print, against what they hold: every snapshot of every module, byte for byte.

  VENV/bin/python tests/peers/mem_tracker.py TOOL      in an environment with torch (CPU is enough) and tabulate

Prints a line for each comparison, ends with 1 if any differs. A tracker that needs a GPU in this version is left out and said.
"""
import contextlib
import csv
import io
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
from torch.distributed._tools.mem_tracker import MemTracker

TOOL = sys.argv[1]
failed = False


def net():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.LayerNorm(128), torch.nn.Linear(128, 12))


def train(tracker, model, optimizer):
    with tracker:
        for step in range(2):
            model(torch.randn(32, 64)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            if step == 0:
                tracker.reset_mod_stats()


def mem_tracker():
    model = net()
    optimizer = torch.optim.Adam(model.parameters())
    tracker = MemTracker()
    tracker.track_external(model, optimizer)
    train(tracker, model, optimizer)
    return tracker, model  # of a model that is gone it knows nothing


def fsdp_mem_tracker():
    from torch.distributed._tools.fsdp2_mem_tracker import FSDPMemTracker
    from torch.distributed.device_mesh import init_device_mesh
    from torch.testing._internal.distributed.fake_pg import FakeStore

    try:
        from torch.distributed.fsdp import fully_shard
    except ImportError:
        from torch.distributed._composable.fsdp import fully_shard
    dist.init_process_group("fake", rank=0, world_size=4, store=FakeStore())
    try:
        model = net()
        mesh = init_device_mesh("cpu", (4,))
        for layer in (*model, model):
            if any(True for _ in layer.parameters()):
                fully_shard(layer, mesh=mesh)
        optimizer = torch.optim.Adam(model.parameters())
        tracker = FSDPMemTracker(model, optimizer)
        tracker.track_inputs((torch.randn(32, 64),))
        train(tracker, model, optimizer)
        return tracker, model  # of a model that is gone it knows nothing
    finally:
        dist.destroy_process_group()


def text_of(member):
    return getattr(member, "value", member)


def held(tracker):
    """(where, {category: bytes}) in the order of the print."""
    rows = [("", tracker.get_tracker_snapshot("peak"))]
    for stats in sorted(tracker.memory_tracking.values(), key=lambda one: one.mod_fqn):
        for state, snapshots in stats.snapshots.items():
            rows += [(f"{stats.mod_fqn}: {text_of(state)} # {i}", one) for i, one in enumerate(snapshots, 1)]
    return [(where, {text_of(category): size for category, size in sizes.items()})
            for where, devices in rows for sizes in devices.values()]


def read(folder, text):
    """The same as this program reads it: the series as CSV."""
    printed, out = folder / "printed.txt", folder / "out.csv"
    printed.write_text(text)
    subprocess.run([TOOL, "convert", printed, "--to", "csv", "-o", out], check=True, capture_output=True)
    rows = {}
    with open(out, newline="") as file:
        for row in csv.DictReader(file):
            where, sizes = rows.setdefault(int(row["time"]), ["", {}])
            rows[int(row["time"])][0] = where or row["note"]
            sizes["Total" if row["series"] == "total" else row["series"]] = int(row["value"])
    return [tuple(rows[time]) for time in sorted(rows)]


def main():
    global failed
    print(f"torch {torch.__version__}, Python {sys.version.split()[0]}")
    for make in (mem_tracker, fsdp_mem_tracker):
        try:
            tracker, _model = make()
        except Exception as error:
            print(f"left out {make.__name__}: {type(error).__name__}: {str(error).splitlines()[0]}")
            continue
        expected = held(tracker)
        for units, unit in (("B", 1), ("KiB", 1024)):
            for tabulate in (False, True):
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    tracker.display_snapshot("peak", units=units, tabulate=tabulate)
                    tracker.display_modulewise_snapshots(depth=9, units=units, tabulate=tabulate)
                with tempfile.TemporaryDirectory() as folder:
                    found = read(Path(folder), printed.getvalue())
                # Sizes are printed with two decimals of their unit.
                same = len(found) == len(expected) and all(
                    there == where and here.keys() == sizes.keys() and
                    all(abs(here[name] - sizes[name]) <= (0 if unit == 1 else 0.005 * unit + 1) for name in sizes)
                    for (there, here), (where, sizes) in zip(found, expected))
                failed = failed or not same
                different = [pair for pair in zip(found, expected) if pair[0] != pair[1]][:1]
                print(f"{'same' if same else 'DIFFERS':8} {type(tracker).__name__}, {'tables' if tabulate else 'lines'}, {units}: "
                      f"{len(expected)} snapshots, {len(expected[0][1])} categories, peak {expected[0][1]['Total']:,} bytes"
                      + ("" if same else f": {len(found)} {different}"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
