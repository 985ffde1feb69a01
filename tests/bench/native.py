#!/usr/bin/env python3
"""Reading natively and in WebAssembly against Python's pickle.load, in turns on the same file. Prints JSON lines
(README.md).

pickle.load is measured as people call it, and with Python's garbage collector off: it looks for cycles again and
again while millions of objects appear and none goes, which takes most of the time."""

import json
import os
import statistics
import subprocess
import sys
import time

import inputs

BIN = inputs.ROOT / "build/native-release"
WASM = inputs.ROOT / "tests/bench/wasm_parse.mjs"
WASM_GOAL = 15
# A process of its own, so that its memory is its own and the last one's is gone. Loads, then computes what
# parse_bench computes. A second argument: without the garbage collector.
REFERENCE = """
import gc, json, pickle, sys, time
if len(sys.argv) > 2: gc.disable()
file = open(sys.argv[1], "rb")
start, cpu = time.perf_counter(), time.process_time()
snapshot = pickle.load(file)
seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
check = events = 0
for trace in snapshot["device_traces"]:
    for e in trace:
        events += 1
        address = e["addr"] if "addr" in e else e["device_free"]
        check = (check * 31 + address + e["size"] + e.get("time_us", -2**63) + len(e["frames"])) % 2**64
print(json.dumps({"seconds": seconds, "cpu": cpu, "events": events, "check": check}))
import os; sys.stdout.flush(); os._exit(0)
"""


def json_of(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measured(path, loads=3):
    """Medians of pickle.load, of that without the collector, and of our readings, taken in turns so that other work on
    the machine hits all."""
    theirs, uncollected, ours, wasm = [], [], [], []
    for _ in range(loads):
        theirs.append(json_of([sys.executable, "-c", REFERENCE, path]))
        uncollected.append(json_of([sys.executable, "-c", REFERENCE, path, "no gc"]))
        ours.append(json_of([BIN / "tests/bench/parse_bench", path, "5"]))
        wasm.append(json_of(["node", WASM, path]))
        assert wasm[-1]["events"] == theirs[0]["events"], f"{path}: {wasm[-1]['events']} events in WebAssembly"
    for reading in ours:
        for key in ("events", "check"):
            assert reading[key] == theirs[0][key], f"{path}: {key} is {reading[key]}, Python says {theirs[0][key]}"
    def median(runs, key="seconds"):
        return statistics.median(run[key] for run in runs)

    last = ours[-1] | {"cpu_ratio": median(theirs, "cpu") / median(ours, "cpu")}
    return (median(theirs), median(uncollected)), median(ours), median(wasm), last


def summary_seconds(path):
    times = []
    for _ in range(7):
        start = time.perf_counter()
        subprocess.run([BIN / "bin/gpustrata", "summary", path], check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def tell(work, ours, unit, goal, met, references=None, more=""):
    line = {"work": work, "measured": ours, "unit": unit, "goal": goal, "met": met}
    if references is not None:
        theirs, uncollected = references
        line |= {"reference": "`pickle.load`", "reference_value": theirs, "ratio": f"{theirs / ours:.1f} x{more}",
                 "second_reference": "collector off", "second_value": uncollected,
                 "second_ratio": f"{uncollected / ours:.1f} x"}
    print(json.dumps(line), flush=True)


def main():
    scale = 30 if "--small" in sys.argv else 1
    million, third = 1_000_000 // scale, 300_000 // scale
    for how, goal in (("", 30), ("-real", 20), ("-cpp", 20), ("-protocol2", 20), ("-protocol5", 20), ("-real-cpp", 20)):
        path = inputs.path_of(f"{million}{how}")
        size = os.path.getsize(path)
        theirs, ours, wasm, last = measured(path)
        work = f"parse, {last['events']:,} events, {size / 1e6:.0f} MB{how.replace('-', ' ')}"
        tell(work, ours, "s", f"{goal} x faster", theirs[0] / ours >= goal, theirs,
             f" (processor time {last['cpu_ratio']:.1f} x), {size / ours / 1e6:.0f} MB/s")
        tell(f"{work}, in WebAssembly", wasm, "s", f"{WASM_GOAL} x faster", theirs[0] / wasm >= WASM_GOAL, theirs,
             f", {size / wasm / 1e6:.0f} MB/s")
        if how == "" and scale == 1:
            tell(f"tables after reading, {last['events']:,} events", last["heap"] / 1e6, "MB", "100 MB",
                 last["heap"] <= 100e6)
    if scale == 1:  # too large for pickle.load beside it
        large = json_of([BIN / "tests/bench/parse_bench", inputs.path_of("10000000"), "1"])
        assert large["events"] >= 10_000_000
        tell(f"tables after reading, {large['events']:,} events", large["heap"] / 1e6, "MB", "1000 MB", large["heap"] <= 1e9)
    path = inputs.path_of(f"{third}")
    theirs, _, _, last = measured(path)
    ours = summary_seconds(path)
    tell(f"`gpustrata summary`, whole process, {last['events']:,} events", ours, "s", "25 x faster",
         theirs[0] / ours >= 25, theirs)


main()
