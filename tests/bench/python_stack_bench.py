#!/usr/bin/env python3
"""Budget of Python stacks: 2 us for one of 30 frames.

  python_stack_bench.py LIBRARY [ROUNDS]     LIBRARY: libgpustrata_capture.so

One call allocates and frees through ctypes on the simulated device. Its time with the Python stack of the
allocation recorded, less the time without stacks, is the stack. References in the same run: a walk over the
same frames in Python (sys._getframe), and traceback.extract_stack(). Before times are printed the recorded
stack must be the one that Python says.
"""
import os
import pathlib
import statistics
import sys
import time
import traceback

os.environ["GPUSTRATA_CAPTURE"] = sys.argv[1]
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 20000
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "capture"))
import gpustrata_torch as gpustrata  # noqa: E402

DEPTH = 30
library = gpustrata._library()
alloc, free = library.gpustrata_alloc, library.gpustrata_free


def once():
    free(alloc(100000, 0, None), 100000, 0, None)


def walk():
    frame, frames = sys._getframe(), []
    while frame is not None:
        frames.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return frames


def microseconds(work, rounds=ROUNDS):
    times = []  # of this thread: what others do on the machine does not count
    for _ in range(7):
        start = time.thread_time()
        for _ in range(rounds):
            work()
        times.append((time.thread_time() - start) / rounds * 1e6)
    return statistics.median(times)


def measure():
    gpustrata.record_memory_history(context="state", stacks="python", max_entries=100000)
    pointer, expected = alloc(7, 0, None), traceback.extract_stack()
    blocks = [b for s in gpustrata.snapshot()["segments"] for b in s["blocks"] if b["requested_size"] == 7]
    free(pointer, 7, 0, None)
    recorded = [(f["name"], f["filename"], f["line"]) for f in blocks[0]["frames"]]
    assert recorded == [(f.name, f.filename, f.lineno) for f in expected][::-1], recorded
    assert len(recorded) >= DEPTH
    with_stack = microseconds(once)
    gpustrata.record_memory_history(context=None, max_entries=100000)
    without = microseconds(once)
    print(f"Python {sys.version.split()[0]}, stack of {len(recorded)} frames: {with_stack - without:.2f} us "
          f"({with_stack:.2f} with, {without:.2f} without it); sys._getframe() walk {microseconds(walk):.2f} us, "
          f"traceback.extract_stack() {microseconds(traceback.extract_stack, max(1, ROUNDS // 100)):.1f} us")


def at_depth(depth):
    if depth > 0:
        at_depth(depth - 1)
    else:
        measure()


assert library.gpustrata_use_simulated_device(1 << 36) == 0
at_depth(DEPTH - 2)
