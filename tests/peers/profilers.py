#!/usr/bin/env python3
"""This program against the originals: PyTorch's table, memory timeline and MemoryTracker, gpumemprof and Stormlog, where they are installed.

  VENV/bin/python tests/peers/profilers.py TOOL      in an environment with torch (CPU is enough), gpumemprof, Stormlog (requirements.txt)

Prints a line for each comparison, ends with 1 if any differs. What is not installed is left out and said.
"""
import contextlib
import gzip
import importlib
import importlib.metadata
import io
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOOL = sys.argv[1]
failed = False


def tell(what, good, more=""):
    global failed
    failed = failed or not good
    print(f"{'same' if good else 'DIFFERS':8} {what}{': ' + more if more else ''}")


def answer(*arguments):
    ran = subprocess.run([TOOL, *map(str, arguments), "--json"], capture_output=True, check=True)
    return json.loads(ran.stdout)


def train(torch, steps=3):
    """A small net, its optimizer and its loss; a range around the backward pass, which runs on another thread on a GPU only."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.LayerNorm(128), torch.nn.Linear(128, 10))
    optimizer = torch.optim.Adam(model.parameters())

    def step():
        with torch.profiler.record_function("## forward ##"):
            loss = torch.nn.functional.cross_entropy(model(torch.randn(32, 64)), torch.randint(10, (32,)))
        with torch.profiler.record_function("## backward ##"):
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return model, optimizer, step, steps


def compare_table(torch, folder):
    _, _, step, steps = train(torch)
    step()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True, record_shapes=True) as run:
        for _ in range(steps):
            step()
    trace = folder / "run.pt.trace.json"
    run.export_chrome_trace(str(trace))
    expected = {}
    for row in run.key_averages():
        numbers = (row.count, row.cpu_memory_usage, row.self_cpu_memory_usage)
        expected[row.key] = tuple(map(sum, zip(expected.get(row.key, (0, 0, 0)), numbers)))
    found = {}
    for row in answer("ops", trace, "--mode", "pytorch")["ops"]:
        numbers = (row["calls"], row["cpu_memory_usage"], row["self_cpu_memory_usage"])
        found[row["name"]] = tuple(map(sum, zip(found.get(row["name"], (0, 0, 0)), numbers)))
    # Rows without memory that the table drops or the trace does not have say nothing about memory.
    names = {name for name in expected.keys() | found.keys() if any(expected.get(name, (0, 0, 0))[1:]) or any(found.get(name, (0, 0, 0))[1:])}
    wrong = [(name, expected.get(name), found.get(name)) for name in sorted(names) if expected.get(name) != found.get(name)]
    tell(f"key_averages(): {len(names)} rows with memory, calls, CPU Mem and Self CPU Mem", not wrong, str(wrong[:5]) if wrong else "")
    return trace


def compare_timeline(torch, folder):
    _, _, step, steps = train(torch)
    step()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True, record_shapes=True, with_stack=True) as run:
        for _ in range(steps):
            step()
            run.step()
    raw, plotted = folder / "timeline.raw.json.gz", folder / "timeline.json"
    run.export_memory_timeline(str(raw), device="cpu")
    run.export_memory_timeline(str(plotted), device="cpu")
    rows = json.loads(gzip.decompress(raw.read_bytes()))
    times, sizes = json.loads(plotted.read_text())
    level, peak = 0, 0
    for _, _, size, _ in rows:
        level += size
        peak = max(peak, level)
    said = answer("summary", raw)["timeline"]
    tell(f"export_memory_timeline(), raw: {len(rows)} rows, peak {peak:,} bytes", (said["points"], said["peak"]["bytes"]) == (len(rows), peak))
    said = answer("summary", plotted)["timeline"]
    highest = max(sum(row) for row in sizes)
    tell(f"export_memory_timeline(), plotted: {len(times)} rows, peak {highest:,} bytes", (said["points"], said["peak"]["bytes"]) == (len(times), highest))
    again = folder / "again.json"
    subprocess.run([TOOL, "convert", str(raw), "-o", str(again), "--to", "json"], check=True, capture_output=True)
    tell("convert of the raw one = the plotted one", json.loads(again.read_text()) == [times, sizes])


class Counters:
    """Stand for the counters of a device, which MemoryTracker asks for after every operator."""

    def __init__(self):
        self.asked = 0

    def allocated(self, *_):
        self.asked += 1
        return (self.asked * 7919 % 1013) * 4096 + self.asked

    def reserved(self, *_):
        return 1 << 26

    def stats(self, *_):
        return {"active_bytes.all.current": (self.asked * 7919 % 1013) * 4096 + self.asked, "num_alloc_retries": 2}


def compare_tracker(torch, folder):
    try:
        from torch.distributed._tools.memory_tracker import MemoryTracker
    except ImportError as error:
        return print(f"left out MemoryTracker: {error}")
    counters = Counters()
    for name, what in (("memory_allocated", counters.allocated), ("memory_reserved", counters.reserved), ("memory_stats", counters.stats), ("empty_cache", lambda: None)):
        setattr(torch.cuda, name, what)
    model, _, _, _ = train(torch)
    tracker = MemoryTracker()
    tracker.start_monitor(model)
    torch.nn.functional.cross_entropy(model(torch.randn(32, 64)), torch.randint(10, (32,))).backward()
    tracker.stop()
    stats = folder / "stats.pickle"
    tracker.save_stats(str(stats))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        tracker.summary(top=20)
    expected = [line for line in printed.getvalue().splitlines() if line.endswith("MB") and ": " in line]
    top = answer("tracker", stats, "--top", 20)["top"]
    found = [f"{row['name']}: {row['delta_bytes'] / (1 << 20)}MB" for row in top]
    tell(f"MemoryTracker.summary(): {len(expected)} lines", found == expected, "" if found == expected else f"{expected[:2]} {found[:2]}")
    again = folder / "again.pickle"
    subprocess.run([TOOL, "convert", str(stats), "-o", str(again)], check=True, capture_output=True)
    other = MemoryTracker()
    other.load(str(again))
    tell("what convert writes loads in MemoryTracker", other.memories_allocated == tracker.memories_allocated)


def compare_counters(name, folder):
    """What a tracker of gpumemprof or Stormlog (its name since 2026) exports, and its folder of a diagnosis."""
    try:
        CPUMemoryTracker = importlib.import_module(f"{name}.cpu_profiler").CPUMemoryTracker
    except ImportError as error:
        return print(f"left out {name}: {error}")
    tracker = CPUMemoryTracker(sampling_interval=0.02)
    tracker.start_tracking()
    held = [bytearray(1 << 22) for _ in range(4)]
    time.sleep(0.3)
    del held
    tracker.stop_tracking()
    for form in ("json", "csv"):
        path = folder / f"{name}.{form}"
        tracker.export_events(str(path), format=form)
        said = answer("telemetry", path)
        events = tracker.get_events()
        numbers = [getattr(event, "memory_allocated", None) or getattr(event, "allocator_allocated_bytes", 0) for event in events]
        peak = said["devices"][0]["peak_allocated_bytes"]
        tell(f"{name} {version_of(name)} export_events({form}): {len(events)} samples, peak {max(numbers):,} bytes",
             (said["samples"], peak) == (len(events), max(numbers)), f"{said['samples']}, {peak:,}")
    bundle = folder / f"{name}-diagnosis"
    command = [sys.executable, "-m", f"{name}.cli", "diagnose", "--output", bundle, "--duration", 1, "--interval", 0.1]
    ran = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    files = sorted(str(path.relative_to(bundle)) for path in bundle.rglob("*") if path.is_file()) if bundle.exists() else []
    if not files:
        return print(f"left out {name} diagnose, which wrote nothing: {(ran.stderr or ran.stdout).strip().splitlines()[-1:]}")
    opened = subprocess.run([TOOL, "telemetry", str(bundle), "--json"], capture_output=True, text=True)
    tell(f"{name} diagnose: a folder of {len(files)} files opens", opened.returncode == 0 and opened.stdout.strip() != "", opened.stderr.strip()[:300])


def version_of(name):
    return importlib.metadata.version({"gpumemprof": "gpu-memory-profiler"}.get(name, name))


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            import torch
        except ImportError as error:
            print(f"left out PyTorch: {error}")
        else:
            print(f"torch {torch.__version__}, Python {sys.version.split()[0]}")
            compare_table(torch, folder)
            compare_timeline(torch, folder)
            compare_tracker(torch, folder)
        for name in ("gpumemprof", "stormlog"):
            compare_counters(name, folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
