#!/usr/bin/env python3
"""Makes the snapshots that the benchmarks read, once: inputs.py NAME... prints their paths.

NAME is EVENTS[-real][-cpp|-protocolN]: 1000000, 300000-real, 1000000-cpp, 1000000-protocol2. They lie in
$MEMSTRATA_BENCH_INPUTS (build/bench/inputs) and come from ../shared/tools, which knows nothing of this project.
"""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT.parent / "shared" / "tools"
FOLDER = pathlib.Path(os.environ.get("MEMSTRATA_BENCH_INPUTS", ROOT / "build/bench/inputs"))


def path_of(name):
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.pickle"
    if path.exists():
        return path
    events, *how = name.split("-")
    unfinished = path.with_suffix(".part")
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
