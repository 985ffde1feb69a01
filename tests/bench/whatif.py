#!/usr/bin/env python3
"""A recorded run once more under other settings, natively (what whatif_bench prints) and in WebAssembly, against the
goals. Prints JSON lines (README.md). Answers are checked before a time is printed."""

import json
import re
import subprocess
import sys
import time

import inputs

BIN = inputs.ROOT / "build/native-release/tests/bench/whatif_bench"
WASM = inputs.ROOT / "tests/bench/wasm_whatif.mjs"
OTHER = "max_split_size_mb:256,roundup_power2_divisions:8"  # of whatif_bench.cpp


def tell(work, measured, unit, goal=None, **more):
    print(json.dumps({"work": work, "measured": measured, "unit": unit, "goal": f"{goal} {unit}" if goal else "",
                      "met": goal is None or measured <= goal} | more), flush=True)


def in_wasm(recording, confs):
    return subprocess.Popen(["node", WASM, recording, *confs], stdout=subprocess.PIPE, text=True)


def said(process):
    text, _ = process.communicate()
    assert process.returncode == 0, "wasm_whatif.mjs ended with an error"
    return json.loads(text)


def main():
    millions = "0.03" if "--small" in sys.argv else "1"
    inputs.FOLDER.mkdir(parents=True, exist_ok=True)
    recording = inputs.FOLDER / f"whatif-{millions}.pickle"
    lines = subprocess.run([BIN, millions, recording], check=True, capture_output=True, text=True).stdout.splitlines()

    def figure(begin):
        line = next(line for line in lines if line.startswith(begin))
        return float(re.search(r"\s(\d[\d.]*) (?:ms|bytes)\b", line[len(begin):]).group(1))

    run, alone = figure("run again, other settings") / 1e3, figure("reference: malloc and free alone") / 1e3
    what = f"what if, {millions} M events"
    reference = {"reference": "malloc and free of the engine alone", "reference_value": alone}
    tell(f"{what}: run under other settings", run, "s", 0.3, **reference, ratio=f"{alone / run:.2f} x")
    tell(f"{what}: told from the trace, repeated and compared", figure("told and repeated") / 1e3, "s")
    tell(f"{what}: search of 12 settings on 2 cores", figure("search of 12 settings, 2 threads") / 1e3, "s", 8)
    tell(f"{what}: kept of a request", figure("kept of a request"), "bytes", 200)

    one = said(in_wasm(recording, [OTHER] * 3))
    assert {ran["reserved"] for ran in one["runs"]} == {figure("other settings reserve at most")}
    run = min(ran["seconds"] for ran in one["runs"])
    tell(f"{what}: run under other settings, in WebAssembly", run, "s", 1, **reference, ratio=f"{alone / run:.2f} x")
    tell(f"{what}: told, repeated and compared, in WebAssembly", one["rehearsal"], "s")

    # As the page searches: an engine for each core, each of which opens the file.
    confs = [f"max_split_size_mb:{20 + 40 * i}" for i in range(6)] + [f"roundup_power2_divisions:{2 ** i}" for i in range(1, 5)]
    confs += ["expandable_segments:True", "large_segment_size_mb:64"]
    start = time.perf_counter()
    halves = [in_wasm(recording, confs[i::2]) for i in range(2)]
    assert sum(len(said(half)["runs"]) for half in halves) == 12
    tell(f"{what}: search of 12 settings by 2 engines in WebAssembly, files opened", time.perf_counter() - start, "s", 8)


main()
