#!/usr/bin/env python3
"""What memory is for, as `top --filter category:...` says, against what a real PyTorch's own tensors say (category_programs.py).

  categories_test.py GPUSTRATA [COUNT [FIRST_SEED]]     over the made-up runtime, with MADE_UP_KERNELS=nothing

At every moment, each category: right is said of all its bytes; not said, of fewer, the rest being unknown; wrong, of bytes that
are not its own, or that another category has. Prints a table.
"""
import collections
import json
import subprocess
import sys
import tempfile

import category_programs
from processes import recorded

# Of these the program knows every tensor; what is none of them is temporary, or not known.
KNOWN = ("parameter", "gradient", "optimizer_state", "activation")
TINY = 4096  # bytes: losses, steps that are counted on the device


def said(command, snapshot, event, category):
    told = subprocess.run([command, "top", "--json", "--at", str(event), "-n", "1", "--filter", f"category:{category}", snapshot],
                          capture_output=True, text=True, check=True).stdout
    return json.loads(told)["tops"][0]["requested_bytes"]


def main(command, count, first):
    table, programs = collections.defaultdict(collections.Counter), 0
    with tempfile.TemporaryDirectory() as name:
        for seed in range(first, first + count):
            truth, snapshot = recorded(category_programs.run, seed, name)
            programs += bool(truth["moments"])
            about = {key: value for key, value in truth.items() if key != "moments"}
            for moment in truth["moments"][:9] + truth["moments"][9:][-1:]:
                bytes_of = {one: said(command, snapshot, moment["event"], one) for one in (*KNOWN, "unknown")}
                for category in KNOWN:
                    true, told = moment["bytes"][category], bytes_of[category]
                    if true is None:
                        continue
                    missing = true - told
                    if abs(missing) <= TINY:
                        verdict = "right"
                    elif 0 < missing <= bytes_of["unknown"] + TINY:
                        verdict = "not said"
                    else:
                        verdict = "wrong"
                    if verdict == "right" and true == 0:
                        continue
                    table[category][verdict] += 1
                    if verdict == "wrong":
                        print(json.dumps(about), moment["what"], moment["event"], category, "is", true, "said", told, bytes_of, flush=True)
            snapshot.unlink(missing_ok=True)
    print(f"{programs} programs\n| category | right | wrong | not said |\n|---|---|---|---|")
    for category, counts in table.items():
        print(f"| {category} | {counts['right']} | {counts['wrong']} | {counts['not said']} |")
    return sum(counts["wrong"] for counts in table.values()) > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *(int(number) for number in (sys.argv[2:] + ["60", "1"][len(sys.argv) - 2:]))))
