#!/usr/bin/env python3
"""Scripts of `gpustrata simulate` run by a real PyTorch over the made-up CUDA runtime.

  run_script.py theirs|ours|companion FOLDER     each FOLDER/*.txt; beside it NAME.theirs.pickle (or .ours, ...)
  run_script.py probe                            prints what this version is like, as JSON

theirs: PyTorch's own allocator; ours: gpustrata's, plugged in by its hooks; companion: as its class. Every script has a
process of its own, forked before CUDA is begun. The pickle holds {"snapshot", "stats", "errors": [(step, type, text)],
"streams": {number: handle}, "misuses": of the fake driver, "seconds"}.
"""
import ctypes
import json
import os
import pickle
import sys
import time
import traceback
from pathlib import Path

import torch


class Program:
    """The steps of a script as what a program asks of PyTorch."""

    def __init__(self):
        self.blocks = {}
        # In the order of their handles: free blocks are kept in that order.
        made = sorted((torch.cuda.Stream() for _ in range(3)), key=lambda stream: stream.cuda_stream)
        self.streams = dict(enumerate([torch.cuda.default_stream(), *made]))
        self.errors = []
        self.driver = ctypes.CDLL("libcuda.so.1")
        for number in self.streams:
            self.hold(number)

    def stream(self, number):
        return self.streams[number]

    def hold(self, number):
        """Work on it is finished by the step `done` only."""
        self.driver.fake_cuda_hold(ctypes.c_void_p(self.streams[number].cuda_stream))

    def pool(self, words):
        return tuple(int(word) for word in words)

    def step(self, index, text):
        name, *words = text.split()
        try:
            getattr(self, "do_" + name)(*words)
        except torch.OutOfMemoryError as error:
            self.errors.append((index, "OutOfMemoryError", str(error)))
        except RuntimeError as error:
            self.errors.append((index, "RuntimeError", str(error)))

    def do_m(self, name, size, stream="0"):
        with torch.cuda.stream(self.stream(int(stream))):
            self.blocks[name] = torch.empty(int(size), dtype=torch.uint8, device="cuda")

    def do_f(self, name):
        self.blocks.pop(name, None)

    def do_rs(self, name, stream):
        if name in self.blocks:
            self.blocks[name].record_stream(self.stream(int(stream)))

    def do_done(self, stream):
        self.stream(int(stream))
        self.driver.fake_cuda_finish(ctypes.c_void_p(self.streams[int(stream)].cuda_stream))
        self.hold(int(stream))

    def do_empty(self):
        torch.cuda.empty_cache()

    def do_conf(self, text):
        torch.cuda.memory._set_allocator_settings(text)

    def do_fraction(self, fraction):
        torch.cuda.set_per_process_memory_fraction(float(fraction))

    def do_snap(self):
        torch.cuda.memory._snapshot()

    def do_order(self, name):
        """How this version is; allocator_test.py knows."""

    def do_bycapture(self):
        """How this version is, see probe()."""

    def do_begin(self, *pool):
        torch._C._cuda_beginAllocateToPool(0, self.pool(pool))

    def do_begins(self, first, second, stream):
        with torch.cuda.stream(self.stream(int(stream))):
            torch._C._cuda_beginAllocateCurrentStreamToPool(0, self.pool((first, second)))

    def do_end(self, *pool):
        end = getattr(torch._C, "_cuda_endAllocateToPool", None) or torch._C._cuda_endAllocateCurrentStreamToPool
        end(0, self.pool(pool))

    def do_release(self, *pool):
        torch._C._cuda_releasePool(0, self.pool(pool))

    def do_resetpeak(self):
        torch.cuda.reset_peak_memory_stats()

    def do_resetacc(self):
        torch.cuda.reset_accumulated_memory_stats()


def run(path, whose):
    if whose == "ours":
        import gpustrata
        assert gpustrata.install(), "not installed"
    elif whose == "companion":
        import gpustrata
        assert gpustrata.install(companion=True), "not installed"
    torch.cuda.init()
    torch.cuda.memory._record_memory_history(max_entries=10_000_000, context=None, stacks="python")
    program = Program()
    steps = [line.strip() for line in path.read_text().split("\n") if line.strip()]
    started = time.process_time()
    for index, text in enumerate(steps):
        program.step(index, text)
    took = time.process_time() - started
    # A snapshot leaves an entry in the trace: the script's own is the last before it.
    stats = dict(torch.cuda.memory_stats())
    snapshot = torch.cuda.memory._snapshot()
    Path(f"{path.with_suffix('')}.{whose}.pickle").write_bytes(pickle.dumps({
        "snapshot": snapshot, "stats": stats, "errors": program.errors, "seconds": took,
        "misuses": misuses(program.driver),
        "streams": {number: stream.cuda_stream for number, stream in program.streams.items()}}))


def probe():
    """Whether routing to a pool puts off frees that wait for streams, as before PyTorch's #181830."""
    program = Program()
    for step in ("m a 3000000", "rs a 1", "begin 0 1", "f a", "done 1", "m b 3000000", "end 0 1"):
        program.step(0, step)
    assert not program.errors, program.errors
    print(json.dumps({"torch": torch.__version__, "cuda": torch.version.cuda, "python": sys.version.split()[0],
                      "routing_defers": torch.cuda.memory_stats()["active.all.current"] == 2}))


def misuses(driver):
    driver.fake_cuda_misuses.restype = ctypes.c_int64
    return driver.fake_cuda_misuses()


def main(whose, folder=None):
    if whose == "probe":
        return probe()
    failed = 0
    for path in sorted(Path(folder).glob("*.txt")):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                run(path, whose)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(status)
        if os.waitpid(child, 0)[1] != 0:
            print(f"{path.name}: failed", file=sys.stderr)
            failed += 1
    print(json.dumps({"torch": torch.__version__, "failed": failed}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
