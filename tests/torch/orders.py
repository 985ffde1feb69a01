"""Recordings of a real PyTorch whose memory lies wherever FAKE_CUDA_ADDRESSES says: random programs, each in a process
of its own.

  orders.py FOLDER COUNT FIRST_SEED [nopools]      writes FOLDER/SEED.pickle

Some begin to record in the middle, so that there is memory from before. What a repetition cannot know is left out: limits,
settings that change, caches emptied that were empty.
"""
import os
import random
import sys
import traceback
from pathlib import Path

import torch

MIB = 1 << 20
SIZES = [512, 1000, 4096, 100_000, MIB // 2, MIB, 2 * MIB, 3 * MIB, 5 * MIB, 8 * MIB, 20 * MIB, 24 * MIB]


def program(rng, steps, pools):
    """A few sizes, so that many free blocks are equal."""
    sizes = rng.sample(SIZES, 4)
    streams = [torch.cuda.default_stream(), torch.cuda.Stream()]
    live, pool, of_pool = [], None, []
    for _ in range(steps):
        kind = rng.random()
        if kind < 0.52 or not live:
            with torch.cuda.stream(streams[rng.random() < 0.2]):
                block = torch.empty(rng.choice(sizes), dtype=torch.uint8, device="cuda")
            (of_pool if pool else live).append(block)
        elif kind < 0.97:
            for _ in range(rng.choice([1, 1, 3])):
                if live:
                    del live[rng.randrange(len(live))]
            if of_pool and rng.random() < 0.5:
                del of_pool[rng.randrange(len(of_pool))]
        elif kind < 0.98 and len(live) < 20 and not pool:
            torch.cuda.empty_cache()
        elif pools and not pool:
            pool = (0, rng.randrange(1, 1 << 30))
            torch._C._cuda_beginAllocateToPool(0, pool)
        elif pool:
            end = getattr(torch._C, "_cuda_endAllocateToPool", None) or torch._C._cuda_endAllocateCurrentStreamToPool
            end(0, pool)
            pool = None
        yield


def run(path, seed, pools):
    rng = random.Random(seed)
    if seed % 3 == 2:
        torch.cuda.memory._set_allocator_settings("expandable_segments:True")
    torch.cuda.init()
    begin = 0 if seed % 4 < 2 else rng.randrange(50, 300)
    for step, _ in enumerate(program(rng, 800, pools=pools and seed % 5 == 4)):
        if step == begin:
            torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python", context=None)
    torch.cuda.memory._dump_snapshot(str(path))


def main(folder, count, first, without=""):
    failed = 0
    for seed in range(int(first), int(first) + int(count)):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                run(Path(folder, f"{seed:05}.pickle"), seed, without != "nopools")
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(status)
        failed += os.waitpid(child, 0)[1] != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
