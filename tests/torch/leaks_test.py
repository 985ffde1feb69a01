#!/usr/bin/env python3
"""Leaks that are said of programs which a real PyTorch ran (leak_programs.py), against what they kept.

  leaks_test.py GPUSTRATA [COUNT]     over the made-up runtime, with MADE_UP_KERNELS=nothing

Of a program without a leak none may be said. Of one that leaks: the lines that are said are true ones, and the bytes are all
that it kept, with or without those of the first step. Prints a table: right, wrong, not said.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

import leak_programs
from processes import recorded


def verdict(truth, device):
    leaks = device["leaks"]
    if not truth["leak"]:
        return "wrong" if leaks else "right"
    if not leaks:
        return "not said"
    true_lines = {f"leak_programs.py:{line}:" for line in truth["lines"]}
    if any(not any(one.split("/")[-1].startswith(tuple(true_lines)) for one in leak["stack"]) for leak in leaks):
        return "wrong"
    said, kept = sum(leak["live_bytes"] for leak in leaks), truth["kept"]
    return "right" if said in (sum(kept), sum(kept[1:])) else "wrong"


def main(command, count):
    table = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, count + 1):
            truth, snapshot = recorded(leak_programs.run, seed, folder)
            told = subprocess.run([command, "report", "--json", snapshot], capture_output=True, text=True, check=True).stdout
            os.unlink(snapshot)
            device = json.loads(told)["devices"][0]
            said = verdict(truth, device)
            table[truth["shape"]][said] += 1
            if said != "right":
                print(seed, said, json.dumps(truth), json.dumps(device["steps"]), json.dumps(device["leaks"])[:400])
    print("| shape | right | wrong | not said |\n|---|---|---|---|")
    for shape, counts in sorted(table.items()):
        print(f"| {shape} | {counts['right']} | {counts['wrong']} | {counts['not said']} |")
    return sum(counts["wrong"] + counts["not said"] for counts in table.values()) > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 60))
