#!/usr/bin/env python3
"""Reading a profiler's trace natively and in WebAssembly against Python's json.load on the same file, the table of its
ops, its lanes. Prints JSON lines (README.md). Inputs come from traces.py."""

import json
import os
import statistics
import subprocess
import sys

import inputs
import traces

BENCH = inputs.ROOT / "build/native-release/tests/bench/trace_bench"
WASM = inputs.ROOT / "tests/bench/wasm_parse.mjs"
REFERENCE = """
import json, sys, time
start, cpu = time.perf_counter(), time.process_time()
with open(sys.argv[1]) as file:
    trace = json.load(file)
seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
records = [e["args"]["Bytes"] for e in trace["traceEvents"] if e.get("name") == "[memory]"]
print(json.dumps({"seconds": seconds, "cpu": cpu, "events": len(records), "check": sum(records)}))
import os; sys.stdout.flush(); os._exit(0)
"""


def path_of(megabytes, ops_only=False):
    inputs.FOLDER.mkdir(parents=True, exist_ok=True)
    path = inputs.FOLDER / f"trace{'_ops' if ops_only else ''}_{megabytes:g}.json"
    if not path.exists():
        print("making", path, file=sys.stderr)
        traces.write(str(path), int(megabytes * 1e6), ops_only)
    return path


def json_of(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def tell(work, measured, unit, goal, met, **more):
    print(json.dumps({"work": work, "measured": measured, "unit": unit, "goal": goal, "met": bool(met)} | more), flush=True)


def main():
    scale = 0.03 if "--small" in sys.argv else 1
    path = path_of(100 * scale)
    size = os.path.getsize(path)
    ours, theirs, wasm = [], [], []
    for _ in range(3):  # in turns, so that other work on the machine hits all
        theirs.append(json_of([sys.executable, "-c", REFERENCE, path]))
        ours.append(json_of([BENCH, path, "3"]))
        wasm.append(json_of(["node", WASM, path]))
    for key in ("events", "check"):
        assert ours[0][key] == theirs[0][key], f"{key} is {ours[0][key]}, Python says {theirs[0][key]}"
    assert wasm[0]["events"] == theirs[0]["events"]

    def median(runs, key="seconds"):
        return statistics.median(run[key] for run in runs)

    reference = {"reference": "`json.load`", "reference_value": median(theirs)}
    input_text = f"{size / 1e6:.0f} MB, {ours[0]['spans']:,} spans, {ours[0]['events']:,} records"
    for where, runs, goal in (("", ours, 400), (", in WebAssembly", wasm, 200)):
        seconds = median(runs)
        rate = size / seconds / 1e6
        cpu = f", {size / median(runs, 'cpu') / 1e6:.0f} MB/s of processor time" if "cpu" in runs[0] else ""
        tell(f"trace, {input_text}{where}", seconds, "s", f"{goal} MB/s", rate >= goal,
             **reference, ratio=f"{median(theirs) / seconds:.1f} x, {rate:.0f} MB/s{cpu}")
    tell(f"tables after reading a trace of {size / 1e6:.0f} MB", ours[0]["heap"] / 1e6, "MB", "half the file",
         ours[0]["heap"] < size / 2)
    tell(f"most memory of the process that read it", ours[0]["peak_rss"] / 1e6, "MB", "half the file",
         ours[0]["peak_rss"] < size / 2)

    path = path_of(720 * scale, ops_only=True)
    large = json_of([BENCH, path, "2"])
    what = f"{large['spans']:,} ops, {large['events']:,} records, {os.path.getsize(path) / 1e6:.0f} MB"
    tell(f"table of ops, {what}", large["table"], "s", "0.3 s", large["table"] <= 0.3,
         ratio=f"{large['table_cpu']:.2f} s of processor time")
    tell(f"rows of lanes made, once, {what}", large["lanes"], "s", "", True)
    tell(f"lanes of all rows, 4,000 columns, the slowest zoom ({large['lane_entries']:,} entries), {what}",
         large["lane_question"] * 1000, "ms", "16 ms", large["lane_question"] <= 0.016)


main()
