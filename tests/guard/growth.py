#!/usr/bin/env python3
"""Fails when work grows faster than what it is done for: counts instructions (valgrind's callgrind) for an input and for
one that is four times as large. Instructions, unlike times, do not depend on what else the machine does.

  python3 tests/guard/growth.py [FOLDER WITH gpustrata AND session_answers]     build/native-checked/bin if not given

Without valgrind or a build it fails.
"""

import json
import pathlib
import pickle
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/native-checked/bin")
GROWTH = 4  # of the inputs
LINEAR = 1.25 * GROWTH  # a square tends to 16
CONSTANT = 1.25
BASE = 0x7F0000000000


def instructions(arguments, folder, stdin=b""):
    out = folder / "callgrind"
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *map(str, arguments)],
                   input=stdin, check=True, capture_output=True)
    return int(re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)[1])


def event(action, addr, size, frames, stream=0):
    return {"action": action, "addr": addr, "size": size, "stream": stream, "frames": frames}


def many_segments(count):
    """Segments that stay, a block in each: whoever looks for the segment of a block looks among all of them."""
    trace = [event("segment_alloc", BASE + (i << 21), 1 << 21, []) for i in range(count)]
    trace += [event("alloc", BASE + ((i * 7919 % count) << 21), 1024, []) for i in range(count)]
    return {"segments": [], "device_traces": [trace]}


def one_deep_stack(count):
    """As many blocks as frames in the one stack that all have: its text is to be made once."""
    frames = [{"name": f"f{i}", "filename": "m.py", "line": i} for i in range(count)]
    trace = [event("alloc", BASE + 512 * i, 512, frames) for i in range(count)]
    blocks = [{"address": BASE + 512 * i, "size": 512, "requested_size": 512, "state": "active_allocated"} for i in range(count)]
    segment = {"device": 0, "address": BASE, "total_size": 512 * count, "stream": 0, "segment_type": "large", "blocks": blocks}
    return {"segments": [segment], "device_traces": [trace]}


def another_stream(count):
    """Two snapshots; the second has a stream that the first has not."""
    first = {"segments": [], "device_traces": [[event("alloc", BASE + 512 * i, 512, []) for i in range(count)]]}
    return [first, {"segments": [], "device_traces": [[event("alloc", BASE, 512, [], stream=77)]]}]


def questions(asked):
    """Frames as engine/session/frame.h has them."""
    frames = b""
    for number, question in enumerate(asked, 1):
        head = json.dumps(question).encode()
        frames += struct.pack("<6I", 0x5154534D, 1, number, len(head), 0, 0) + head
    return frames


def command(*words):
    def count(file, folder):
        return instructions([BIN / "gpustrata", *words, file], folder)
    return count


def hover(file, folder):
    """Of 200 times pointing at something, without reading the file."""
    view = {"ask": "open", "args": {"snapshot": 0, "device": 0, "bands": "blocks"}}
    point = {"ask": "probe", "view": 1,
             "args": {"axis": "event", "column": 150, "width": 1, "bytes": 256, "known": -1}}
    counts = [instructions([BIN / "session_answers", file], folder, questions([view, *[point] * often]))
              for often in (1, 201)]
    return counts[1] - counts[0]


# (what, input, the smaller size, what counts, the most it may grow)
WORK = [
    ("trace with many segments", many_segments, 4000, command("trace"), LINEAR),
    ("flame graph of one deep stack", one_deep_stack, 400, command("flamegraph", "-o", "/dev/null"), LINEAR),
    ("pointing, with a stream of another snapshot", another_stream, 20_000, hover, CONSTANT),
]


def main():
    if shutil.which("valgrind") is None or not all((BIN / name).exists() for name in ("gpustrata", "session_answers")):
        sys.exit(f"no valgrind, or {BIN} has no gpustrata and session_answers")
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for what, make, size, count, most in WORK:
            counted = []
            for number in (size, GROWTH * size):
                file = folder / f"{number}.pickle"
                file.write_bytes(pickle.dumps(make(number), protocol=4))
                counted.append(count(file, folder))
            growth = counted[1] / counted[0]
            print(f"{what}: {counted[0]:,} and {counted[1]:,} instructions, {growth:.2f} x (at most {most:.1f})")
            failed |= growth > most
    return 1 if failed else 0


sys.exit(main())
