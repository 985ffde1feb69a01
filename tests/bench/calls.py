#!/usr/bin/env python3
"""Flame graph, table, range and who holds memory at 1 M events, natively and in WebAssembly. Prints JSON lines
(README.md)."""

import json
import subprocess
import sys

import inputs

GOAL_MS = 100


def main():
    small = "--small" in sys.argv
    path = inputs.path_of("30000" if small else "1000000")
    native = [inputs.ROOT / "build/native-release/tests/bench/calls_bench", path]
    wasm = ["node", inputs.ROOT / "tests/bench/wasm_calls.mjs", path]
    for where, command in (("natively", native), ("in WebAssembly, whole answers", wasm)):
        said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for name, ms in said.items():
            if name in ("events", "blocks", "stacks"):
                continue
            work = f"calls: {name.replace('_', ' ')}, {said['events']:,} events, {where}"
            print(json.dumps({"work": work, "measured": ms, "unit": "ms", "goal": f"{GOAL_MS} ms", "met": ms <= GOAL_MS}))


main()
