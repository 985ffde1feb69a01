#!/usr/bin/env python3
"""Counts the instructions of reading a small file and of drawing its timeline (valgrind's callgrind) and compares
them with instructions.json: more than a tenth above a figure there is a failure, more than a tenth below says that the
figure is out of date. Instructions, unlike times, do not depend on what else the machine does.

  python3 tests/guard/instructions.py            compare; needs build/native-checked and valgrind
  python3 tests/guard/instructions.py --update   write the figures: after a change that is worth its cost, with the
                                                 reason in the commit

The figures are those of g++ 12 on x86-64 (Debian 12), of the build that the tests use: its assertions cost
about 6 %. On another machine nothing can be compared, which is an error.
"""

import json
import pathlib
import pickle
import platform
import random
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
WORK = FOLDER.parents[1] / "build/native-checked/tests/guard/guarded_work"
FIGURES = FOLDER / "instructions.json"
TOLERANCE = 0.1
EVENTS = 12_000


def snapshot():
    """The same on every machine: a loop of allocations in a few hundred ways, freed in another order."""
    rng = random.Random(1)
    frames = [{"name": f"f{i}", "filename": f"m{i % 9}.py", "line": i} for i in range(400)]
    stacks = [rng.choices(frames, k=rng.randint(10, 50)) for _ in range(300)]
    trace, live, address = [], [], 0x7F0000000000
    for i in range(EVENTS):
        if live and (len(live) > 800 or rng.random() < 0.45):
            where, size, stack = live.pop(rng.randrange(len(live)))
            action = "free_completed"
        else:
            where, size, stack, action = address, 512 * rng.randint(1, 4000), stacks[(i * 7) % 300], "alloc"
            address += size
            live.append((where, size, stack))
        event = {"action": action, "addr": where, "size": size, "stream": 0, "time_us": 1_700_000_000_000_000 + 9 * i}
        trace.append(event | {"frames": list(stack)})
    return {"segments": [], "device_traces": [trace]}


def count(function, file, folder):
    out = folder / function
    subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--collect-atstart=no",
         f"--toggle-collect={function}", WORK, file],
        check=True, capture_output=True,
    )
    return int(re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)[1])


def main():
    if platform.machine() != "x86_64":
        sys.exit("the figures are for x86-64")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        file = folder / "snapshot.pickle"
        file.write_bytes(pickle.dumps(snapshot(), protocol=4))
        counted = {work: count(f"guarded_{work}", file, folder) for work in ("parse", "picture")}
    if "--update" in sys.argv:
        FIGURES.write_text(json.dumps(counted, indent=2) + "\n")
        print(f"{FIGURES}: {counted}")
        return 0
    failed = False
    for work, figure in json.loads(FIGURES.read_text()).items():
        change = counted[work] / figure - 1
        print(f"{work}: {counted[work]:,} instructions, {change:+.1%} of {figure:,}")
        if change > TOLERANCE:
            print(f"  more than {TOLERANCE:.0%} above the figure in {FIGURES.name}")
            failed = True
        elif change < -TOLERANCE:
            print("  the figure is out of date: run with --update")
    return 1 if failed else 0


sys.exit(main())
