#!/usr/bin/env python3
"""Makes the snapshots that the benchmarks read, once: inputs.py NAME... prints their paths.

NAME is EVENTS[-real][-cpp|-protocolN]: 1000000, 300000-real, 1000000-cpp, 1000000-protocol2. They lie in
$MEMSTRATA_BENCH_INPUTS (build/bench/inputs) and come from ../shared/tools, which knows nothing of this project.
EVENTS-tiny is made here: 200,000 blocks of at most 64 KiB live at any time, freed in random order.
"""

import os
import pathlib
import pickle
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT.parent / "shared" / "tools"
FOLDER = pathlib.Path(os.environ.get("MEMSTRATA_BENCH_INPUTS", ROOT / "build/bench/inputs"))


def write_tiny(events, path):
    chance = random.Random(20261101)
    frames = [{"filename": "train.py", "line": 1, "name": "step"}]
    live, reusable, trace = [], [], []
    address, time_us = 0x7F0000000000, 1_700_000_000_000_000

    def add(action, where, size):
        nonlocal time_us
        time_us += chance.randint(1, 20)
        trace.append({"action": action, "addr": where, "size": size, "stream": 0, "time_us": time_us, "frames": frames})

    while len(trace) < events:
        if len(live) < 200_000:
            size = chance.randint(512, 64 << 10)
            if not reusable:
                address += 64 << 10
                reusable.append(address)
            live.append((reusable.pop(), size))
            add("alloc", *live[-1])
        else:
            i = chance.randrange(len(live))
            live[i], live[-1] = live[-1], live[i]
            block = live.pop()
            add("free_completed", *block)
            reusable.append(block[0])
    with open(path, "wb") as out:
        pickle.dump({"segments": [], "device_traces": [trace]}, out)


def path_of(name):
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.pickle"
    if path.exists():
        return path
    events, *how = name.split("-")
    unfinished = path.with_suffix(".part")
    if how == ["tiny"]:
        print("making", path, file=sys.stderr)
        write_tiny(int(events), unfinished)
        unfinished.rename(path)
        return path
    encoding = [word for word in how if word != "real"]
    if encoding:
        source = path_of("-".join(word for word in [events, *how] if word not in encoding))
        word = encoding[0].removeprefix("protocol")
        command = [TOOLS / "reencode.py", source, unfinished, word]
    else:
        command = [TOOLS / "gen_snapshot.py", events, unfinished, *(["--real"] if "real" in how else [])]
    print("making", path, file=sys.stderr)
    subprocess.run([sys.executable, *map(str, command)], check=True, stdout=sys.stderr)
    unfinished.rename(path)
    return path


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        print(path_of(wanted))
