#!/usr/bin/env python3
"""What gpustrata.estimate foretells of random programs without a device, and what they take when they run for real.

  estimate_test.py [COUNT [FIRST_SEED]]        over the made-up runtime, with MADE_UP_KERNELS=nothing

Programs are those of claim_programs.py and of operator_programs.py. Each is estimated in a process without a runtime, and run by PyTorch's own allocator, with and
without expandable segments; without them all requests and frees are compared, too: their order, sizes and stacks. Prints a table, the worst first, and fails
where a peak requested is not right to the byte, a peak reserved is off by more than 2 %, or anything of the requests differs.
"""
import os
import pickle
import sys
import tempfile

from processes import PyTorch

ROOMY = 64 << 30
CONFS = ("", "expandable_segments:True")


def events(path):
    """Requests and frees: what, bytes, the frames inside of the program's run."""
    with open(path, "rb") as file:
        trace = pickle.load(file)["device_traces"][0]

    def inside(frames):
        found = []
        for frame in frames:
            if frame["name"] in ("run", "<lambda>") and frame["filename"].endswith("_programs.py"):
                break
            found.append((frame["filename"], frame["line"], frame["name"]))
        return found

    return [(event["action"], event["size"], inside(event["frames"])) for event in trace if event["action"] in ("alloc", "free_requested")]


def first_difference(told, true):
    """The number of the first event that differs; None: all are equal. A stack of the backward pass goes on to who called it, which PyTorch's does not."""
    for i, (one, other) in enumerate(zip(told, true)):
        if one[:2] != other[:2] or one[2][:len(other[2])] != other[2]:
            return i
    return None if len(told) == len(true) else min(len(told), len(true))


def main():
    count, first = (int(argument) for argument in (sys.argv[1:] + ["30", "0"][len(sys.argv) - 1:]))
    kinds = {"claim": PyTorch("claim_programs.py"), "operator": PyTorch("operator_programs.py")}
    alone = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "LD_LIBRARY_PATH")}
    foretell = PyTorch("estimate_programs.py", alone)
    rows = []
    for kind, seed, conf in ((kind, seed, conf) for kind in kinds for seed in range(first, first + count) for conf in CONFS):
        with tempfile.TemporaryDirectory() as folder:
            paths = (None, None) if conf else (os.path.join(folder, "told"), os.path.join(folder, "true"))
            told = foretell(program=kind, seed=seed, settings=conf, snapshot=paths[0])
            true = kinds[kind](conf=conf, seed=seed, memory=ROOMY, addresses="ascending", snapshot=paths[1])
            assert told and true and true["finished"], (seed, told, true)
            differs = None if conf else first_difference(events(paths[0]), events(paths[1]))
        requested = told["peak_requested"] - true["peak_requested"]
        reserved = told["peak_reserved"] / true["peak_reserved"] - 1
        rows.append((abs(reserved) > 0.02 or requested != 0 or told["made"] != true["made"] or differs is not None, abs(requested), abs(reserved), kind, seed, conf,
                     requested, reserved, told["made"], true["made"], differs))
        print(*rows[-1], file=sys.stderr, flush=True)
    for one in kinds.values():
        one.end()
    foretell.end()
    print("| program | settings | peak requested: bytes off | peak reserved | allocations: foretold, true | first request or free that differs |")
    print("|---|---|---|---|---|---|")
    rows.sort(key=lambda row: row[:3], reverse=True)
    for *_, kind, seed, conf, requested, reserved, made, truly, differs in rows:
        if requested or reserved or made != truly or differs is not None:
            print(f"| {kind} {seed} | {conf} | {requested:+,} | {100 * reserved:+.3f} % | {made:,}, {truly:,} | {'none' if differs is None else differs} |")
    wrong = sum(row[0] for row in rows)
    print(f"{len(rows)} runs of {count} programs of each kind; all numbers equal: {sum(not row[1] and not row[2] and row[8] == row[9] and row[10] is None for row in rows)}; wrong: {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
