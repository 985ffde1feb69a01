#!/usr/bin/env python3
"""Times of PyTorch's allocator and gpustrata's side by side, over the made-up runtime.

  timing.py malloc     a malloc and free from the cache, both called from C++ in one process (tests/gpu/torch_malloc.py)
  timing.py run        what `gpustrata run` costs, with PyTorch's history and observed: an event, memory, the file at the end
  timing.py observe    what an event costs more with PyTorch's history and observed, in one process
  timing.py dump       a snapshot of 100,000 events with Python stacks: PyTorch's _dump_snapshot and ours (its own allocator, and observed), in turn

Prints a table of medians of processor time. Nothing is a limit here: the machine is shared.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
EVENTS = 100_000
RUNS = 5


def row(what, theirs, ours):
    print(f"| {what} | {theirs:.4g} | {ours:.4g} | {ours / theirs:.2f} |")


def malloc():
    """Under the library's own driver memory: both take their blocks from the same fake device."""
    sys.path.insert(0, str(HERE.parent / "gpu"))
    sys.path.insert(0, str(HERE.parents[1] / "capture" / "python"))
    import torch
    import torch_malloc
    from gpustrata import _companion
    from torch.utils import cpp_extension

    torch.empty(1, device="cuda")
    libraries = Path(torch.__file__).resolve().parent / "lib"
    # Without a toolkit: CUDA's headers are those of PyTorch's packages.
    module = cpp_extension.load_inline(
        "gpustrata_compare_without_gpu", torch_malloc.SOURCE, functions=["compare"],
        extra_include_paths=_companion._cuda_folders(torch),
        extra_cflags=["-O2"], extra_ldflags=[f"-L{libraries}", "-lc10_cuda"])
    theirs, ours = module.compare(os.environ["GPUSTRATA_CAPTURE"])
    row("malloc + free from the cache, 10,000 live blocks, ns", statistics.median(theirs), statistics.median(ours))


def events():
    """Allocations and frees from stacks of some depth, as many as give EVENTS trace entries: 3 for a pair."""
    import torch

    def deep(levels, work):
        return work() if levels == 0 else deep(levels - 1, work)

    sizes = [512 * (1 + i * 7919 % 400) for i in range(1000)]
    torch.empty(1, device="cuda")
    for i in range(EVENTS // 3):
        deep(i % 20, lambda i=i: torch.empty(sizes[i % 1000], dtype=torch.uint8, device="cuda"))


def dump_one(whose):
    import torch

    if whose == "ours":
        import gpustrata
        assert gpustrata.install() is True
    if whose == "observed":
        sys.path.insert(0, str(HERE.parents[1] / "capture" / "python"))
        from gpustrata._run import observe as observed
        torch.empty(1, device="cuda")
        assert observed.why_not(torch, "python", journal=False) is None
        observed.begin(torch, "python", 10_000_000)
        dump = lambda path: observed.take(torch, 0).write(path)
    else:
        torch.cuda.memory._record_memory_history(max_entries=10_000_000, stacks="python")
        dump = torch.cuda.memory._dump_snapshot
    began = time.process_time()
    events()
    recorded = time.process_time() - began
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "dump.pickle")
        times = []
        for _ in range(RUNS):
            began = time.process_time()
            dump(path)
            times.append(time.process_time() - began)
        size = os.path.getsize(path)
    print(json.dumps({"recorded": recorded, "first": times[0], "again": statistics.median(times[1:]), "bytes": size}))


def dump():
    told = {}
    for whose in ("theirs", "ours", "observed"):
        runs = [json.loads(subprocess.run([sys.executable, "-W", "ignore", __file__, "dump", whose], check=True,
                                          capture_output=True, text=True).stdout) for _ in range(3)]
        told[whose] = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    theirs = told["theirs"]
    for whose, how in (("ours", ""), ("observed", ", observed")):
        ours = told[whose]
        row(f"{EVENTS:,} events recorded with Python stacks, through torch.empty{how}, s", theirs["recorded"], ours["recorded"])
        row(f"first dump of {EVENTS:,} events{how}, ms", 1e3 * theirs["first"], 1e3 * ours["first"])
        row(f"a later dump{how}, ms", 1e3 * theirs["again"], 1e3 * ours["again"])
        row(f"its size{how}, MiB", theirs["bytes"] / 2**20, ours["bytes"] / 2**20)


def observe():
    """In one process, turn by turn; the least of ROUNDS each. What observes cannot be detached: alone comes before it."""
    sys.path.insert(0, str(HERE.parents[1] / "capture" / "python"))
    import torch
    from gpustrata._run import history, observe as observed

    rounds, pairs = 80, 1_000
    kept = [torch.empty(512, dtype=torch.uint8, device="cuda") for _ in range(1000)]

    def deep(levels, work):
        return work() if levels == 0 else deep(levels - 1, work)

    def one():
        empty, device = torch.empty, torch.device("cuda:0")
        for _ in range(20):  # what is new is told once
            empty(2048, dtype=torch.uint8, device=device)
        began = time.thread_time()
        for _ in range(pairs):
            empty(2048, dtype=torch.uint8, device=device)
        return (time.thread_time() - began) / pairs * 1e9

    def least(ways, depth):
        took = {way: [] for way in ways}
        for _ in range(rounds):
            for way in ways:
                source, stacks = way
                if source is not None:
                    source.begin(torch, stacks, 20_000)
                took[way].append(deep(depth, one))
                if source is not None:
                    source.end(torch)
        return {way: min(times) for way, times in took.items()}

    print("| ns more a malloc and free (3 events) | " + " | ".join(f"{depth} frames" for depth in (12, 32)) + " |\n|---|---|---|")
    folder = tempfile.TemporaryDirectory()
    journal = observed.ToJournal(lambda: os.path.join(folder.name, "run.gpustrata"), 64 << 20)
    names = {history: "PyTorch's history", observed: "observed", journal: "to a journal"}
    tables = []
    for depth in (12, 32):
        tables.append(least([(None, "")] + [(history, stacks) for stacks in ("none", "python", "all")], depth - 3))
    alone = [table[None, ""] for table in tables]
    why = observed.why_not(torch, "all", journal=False)
    assert why is None, why
    for index, depth in enumerate((12, 32)):
        tables[index].update(least([(None, "attached")], depth - 3))
        tables[index].update(least([(source, stacks) for source in (observed, journal)
                                    for stacks in ("none", "python", "native", "all")], depth - 3))
    for way in tables[0]:
        if way != (None, ""):
            print(f"| {names.get(way[0], 'nothing recorded')}, {way[1]} | " + " | ".join(f"{table[way] - base:.0f}" for table, base in zip(tables, alone)) + " |")
    del kept


def run_one():
    """Under `gpustrata run`, or alone: nanoseconds and bytes of memory an event; the rest is told when all has ended."""
    import resource

    events()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    took = []
    for _ in range(RUNS):
        began = time.process_time()
        events()
        took.append((time.process_time() - began) / EVENTS)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"ns": 1e9 * statistics.median(took), "bytes": (after - before) * 1024 / (RUNS * EVENTS),
                      "until": time.process_time(), "rss": after}))


def run():
    print("| | ns an event | ns more | bytes of memory an event | the file at the end, s | its peak of memory, MiB | its size, MiB |")
    print("|---|---|---|---|---|---|---|")
    alone = 0.0
    observed = [(what, "--observe", "--stacks", stacks) for what in ("observed", "journal") for stacks in ("none", "python", "native", "all")]
    for what, *options in [("alone",), *[("history", "--stacks", stacks) for stacks in ("none", "python", "all")], *observed]:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.gpustrata" if what == "journal" else "run.pickle")
            before = ["-m", "gpustrata", "run", *options, "-o", path] if options else []
            process = subprocess.Popen([sys.executable, "-W", "ignore", *before, __file__, "run", "one"],
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            told = json.loads(process.stdout.readline())
            _, status, used = os.wait4(process.pid, 0)
            assert status == 0, status
            size = os.path.getsize(path) if before else 0
        alone = alone or told["ns"]
        print(f"| {' '.join([what, *options[-1:]])} | {told['ns']:.0f} | {told['ns'] - alone:.0f} | {told['bytes']:.0f} | "
              f"{used.ru_utime + used.ru_stime - told['until']:.2f} | {(used.ru_maxrss - told['rss']) / 1024:.0f} | "
              f"{size / 2**20:.0f} |")


if __name__ == "__main__":
    if sys.argv[1:] == ["malloc"]:
        malloc()
    elif sys.argv[1:] == ["observe"]:
        observe()
    elif sys.argv[1:] == ["run"]:
        run()
    elif sys.argv[1:] == ["run", "one"]:
        run_one()
    elif sys.argv[1:] == ["dump"]:
        dump()
    elif sys.argv[1] == "dump":
        dump_one(sys.argv[2])
    else:
        sys.exit(__doc__)
