#!/usr/bin/env python3
"""A recorded run once more under other settings, natively: what whatif_bench prints, against the goals. Prints JSON lines
(README.md). The program checks its answers before it prints a time."""

import json
import re
import subprocess
import sys

import inputs

BIN = inputs.ROOT / "build/native-release/tests/bench/whatif_bench"


def main():
    millions = "0.03" if "--small" in sys.argv else "1"
    lines = subprocess.run([BIN, millions], check=True, capture_output=True, text=True).stdout.splitlines()

    def figure(begin):
        line = next(line for line in lines if line.startswith(begin))
        return float(re.search(r"\s(\d[\d.]*) (?:ms|bytes)\b", line[len(begin):]).group(1))

    def tell(work, measured, unit, goal, **more):
        print(json.dumps({"work": work, "measured": measured, "unit": unit, "goal": f"{goal} {unit}",
                          "met": measured <= goal} | more), flush=True)

    run, alone = figure("run again, other settings") / 1e3, figure("reference: malloc and free alone") / 1e3
    what = f"what if, {millions} M events"
    tell(f"{what}: run under other settings", run, "s", 0.3, reference="malloc and free of the engine alone",
         reference_value=alone, ratio=f"{alone / run:.2f} x")
    print(json.dumps({"work": f"{what}: told from the trace, repeated and compared", "measured": figure("told and repeated") / 1e3,
                      "unit": "s", "goal": "", "met": True}), flush=True)
    tell(f"{what}: search of 12 settings on 2 cores", figure("search of 12 settings, 2 threads") / 1e3, "s", 8)
    tell(f"{what}: kept of a request", figure("kept of a request"), "bytes", 200)


main()
