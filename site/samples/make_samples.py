#!/usr/bin/env python3
"""Writes the samples of the page: snapshots of invented but faithful runs.

  training_run.pickle        four steps of a small language model: parameters, optimizer state that appears with the
                             first step, activations that pile up in forward and fall in backward, gradients,
                             temporaries, a cache that grows segment by segment
  out_of_memory.pickle.gz    the same kind of run on a small device until a longer batch does not fit: cached segments
                             are given back, an `oom` event says what was asked for and what was free
  leak.pickle.gz             a loop that keeps every loss together with its graph: each step leaves the same few
                             blocks behind, the level after each step rises like stairs
  fragmentation.pickle.gz    requests of many sizes, most freed again: what stays is spread over all segments, so far
                             more is reserved than allocated and little of it can be given back
  expandable_segments.pickle.gz
                             the same requests with `expandable_segments:True`: one segment that grows page by page and
                             gives some back
  private_pools.pickle.gz    inference by CUDA graphs: a pool of the graphs, one of a MemPool, and what runs outside
  profiler_trace.json.gz     a trace of torch.profiler with memory records, three steps; a snapshot knows no ops
  eight_ranks.zip            eight snapshots of one job; one rank got longer texts

The allocations run over a small model of PyTorch's caching allocator (small and large pool, best fit, split, merge,
giving back cached segments before an out-of-memory), so segments, blocks and events agree with each other. The
same file comes out every time.

usage: make_samples.py [FOLDER]     default: the folder of this script
"""
import gzip
import io
import json
import pickle
import random
import sys
import zipfile
from pathlib import Path

MIB = 1 << 20
START_US = 1_760_000_000_000_000

TORCH = "/opt/venv/lib/python3.12/site-packages/torch"
FRAMES = {}


def frame(filename, line, name):
    key = (filename, line, name)
    if key not in FRAMES:
        FRAMES[key] = {"name": name, "filename": filename, "line": line}
    return FRAMES[key]


def call(*own, outer=()):
    """A stack, innermost first: allocator, dispatcher, then the program's own calls."""
    inner = [
        frame("??", 0, "c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(signed char, unsigned long, CUstream_st*)"),
        frame("??", 0, "at::detail::empty_cuda(c10::ArrayRef<long>, c10::ScalarType, std::optional<c10::Device>, std::optional<c10::MemoryFormat>)"),
    ]
    return inner + list(own) + list(outer) + [frame("/home/dev/tiny-lm/train.py", 148, "main"), frame("/home/dev/tiny-lm/train.py", 171, "<module>")]


class OutOfMemory(Exception):
    pass


class Allocator:
    def __init__(self, seed, capacity=1 << 50):
        self.rng, self.clock_us, self.capacity = random.Random(seed), START_US, capacity
        self.annotations = []
        # segments: address -> (size, small, stack, pool); blocks: address -> [size, requested, stack | None]
        self.trace, self.segments, self.blocks = [], {}, {}
        self.pool = (0, 0)  # where the next requests go: a graph's or a MemPool's
        self.next_address = 0x7F3A40000000

    def event(self, action, address, size, stack):
        self.clock_us += self.rng.randrange(2, 60)
        self.trace.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": self.clock_us,
                           "compile_context": "N/A", "user_metadata": "", "pool_id": self.pool_of(address), "frames": stack})

    def pool_of(self, address):
        start = self.segment_of(address)
        return self.segments[start][3] if start else self.pool

    def mark(self, name, stage):
        self.annotations.append({"name": name, "stage": stage, "device": 0, "time_us": self.clock_us})

    def reserved(self):
        return sum(segment[0] for segment in self.segments.values())

    def live(self):
        return sum(block[1] for block in self.blocks.values())

    def make_room(self, size, block_size, stack):
        """Gives back segments without a block in use, as PyTorch does before it gives up."""
        for start in [s for s, segment in self.segments.items() if s in self.blocks and
                      self.blocks[s][2] is None and self.blocks[s][0] == segment[0]]:
            released = self.segments.pop(start)
            del self.blocks[start]
            self.event("segment_free", start, released[0], released[2])
        if self.reserved() + block_size > self.capacity:
            self.clock_us += self.rng.randrange(2, 60)
            self.trace.append({"action": "oom", "device_free": self.capacity - self.reserved(), "size": size, "stream": 0,
                               "time_us": self.clock_us, "compile_context": "N/A", "user_metadata": "", "frames": stack})
            raise OutOfMemory

    def segment_of(self, address):
        return next((s for s in self.segments if s <= address < s + self.segments[s][0]), None)

    def malloc(self, requested, stack):
        size = max(512, (requested + 511) // 512 * 512)
        small = size <= MIB
        free = [(b[0], a) for a, b in self.blocks.items()
                if b[2] is None and b[0] >= size and self.segments[self.segment_of(a)][1::2] == (small, self.pool)]
        if free:
            block_size, address = min(free)
        else:
            block_size = 2 * MIB if small else 20 * MIB if size < 10 * MIB else (size + 2 * MIB - 1) // (2 * MIB) * (2 * MIB)
            if self.reserved() + block_size > self.capacity:
                self.make_room(size, block_size, stack)
            address = self.next_address
            self.next_address += block_size
            self.segments[address] = (block_size, small, stack, self.pool)
            self.event("segment_alloc", address, block_size, stack)
        if block_size - size >= (512 if small else MIB + 512):
            self.blocks[address + size] = [block_size - size, 0, None]
            block_size = size
        self.blocks[address] = [block_size, requested, stack]
        self.event("alloc", address, requested, stack)
        return address

    def free(self, address, stack):
        block = self.blocks[address]
        self.event("free_requested", address, block[1], stack)
        self.event("free_completed", address, block[1], stack)
        block[1:] = [0, None]
        start = self.segment_of(address)
        inside = sorted(a for a in self.blocks if start <= a < start + self.segments[start][0])
        at = inside.index(address)
        if at + 1 < len(inside) and self.blocks[inside[at + 1]][2] is None:
            block[0] += self.blocks.pop(inside[at + 1])[0]
        if at > 0 and self.blocks[inside[at - 1]][2] is None:
            self.blocks[inside[at - 1]][0] += self.blocks.pop(address)[0]

    def dump(self):
        segments = []
        for start, (size, small, stack, pool) in sorted(self.segments.items()):
            blocks = [{"address": a, "size": b[0], "requested_size": b[1],
                       "state": "inactive" if b[2] is None else "active_allocated", "frames": b[2] or []}
                      for a, b in sorted(self.blocks.items()) if start <= a < start + size]
            assert sum(b["size"] for b in blocks) == size
            used = [b for b in blocks if b["state"] == "active_allocated"]
            segments.append({"device": 0, "address": start, "total_size": size,
                             "allocated_size": sum(b["size"] for b in used), "active_size": sum(b["size"] for b in used),
                             "requested_size": sum(b["requested_size"] for b in used), "stream": 0,
                             "segment_type": "small" if small else "large", "segment_pool_id": pool,
                             "is_expandable": False, "frames": stack, "blocks": blocks})
        return segments

    def snapshot(self):
        return {"segments": self.dump(), "device_traces": [self.trace],
                "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.0,
                                       "expandable_segments": False, "pinned_num_register_threads": 1,
                                       "release_lock_on_cudamalloc": False, "pinned_use_cuda_host_register": False,
                                       "roundup_power2_divisions": {str(1 << k): 0 for k in range(16)}},
                "external_annotations": self.annotations}


class ExpandableAllocator(Allocator):
    """Expandable segments: two reservations of addresses, small and large, mapped page by page as it is needed.

    A block whose state is UNMAPPED is address space without memory; the last one of a reservation has no end.
    """

    UNMAPPED = "unmapped"

    def __init__(self, seed):
        super().__init__(seed)
        self.spaces = []  # (blocks in address order: [address, size, requested, stack | None | UNMAPPED], page, stack)
        for small, base, page in ((True, 0x7F3A00000000, 2 * MIB), (False, 0x7F5A00000000, 20 * MIB)):
            self.spaces.append({"small": small, "page": page, "blocks": [[base, 1 << 40, 0, self.UNMAPPED]], "stack": None})

    def segment_of(self, address):
        return None  # pools are not used here

    def malloc(self, requested, stack):
        size = max(512, (requested + 511) // 512 * 512)
        space = self.spaces[0 if size <= MIB else 1]
        space["stack"] = space["stack"] or stack
        blocks = space["blocks"]
        # The one before the endless rest comes last: what is inside is used up first.
        fitting = [(at + 2 == len(blocks), block[1], block[0], at) for at, block in enumerate(blocks) if block[3] is None and block[1] >= size]
        at = min(fitting)[3] if fitting else self.grow(space, size, stack)
        block = blocks[at]
        if block[1] - size >= 512:
            blocks.insert(at + 1, [block[0] + size, block[1] - size, 0, None])
            block[1] = size
        block[2:] = [requested, stack]
        self.event("alloc", block[0], requested, stack)
        return block[0]

    def grow(self, space, size, stack):
        """Maps pages where free and unmapped neighbours are long enough together; where the free block then lies."""
        blocks, page = space["blocks"], space["page"]
        for at, block in enumerate(blocks):
            if block[3] != self.UNMAPPED:
                continue
            first = at - 1 if at > 0 and blocks[at - 1][3] is None else at
            room, end = 0, first
            while end < len(blocks) and blocks[end][3] in (None, self.UNMAPPED) and room < size:
                room += blocks[end][1]
                end += 1
            if room >= size:
                break
        while True:
            here = blocks[first]
            if here[3] is None and here[1] >= size:
                return first
            hole = first if here[3] == self.UNMAPPED else first + 1
            missing = size - (0 if hole == first else here[1])
            length = min((missing + page - 1) // page * page, blocks[hole][1])
            start = blocks[hole][0]
            self.event("segment_map", start, length, stack)
            if length < blocks[hole][1]:
                blocks.insert(hole + 1, [start + length, blocks[hole][1] - length, 0, self.UNMAPPED])
            blocks[hole][1:] = [length, 0, None]
            first = self.merge(blocks, hole)

    @staticmethod
    def merge(blocks, at):
        """Joins a free block with free neighbours; where it is then."""
        if at + 1 < len(blocks) and blocks[at + 1][3] is None:
            blocks[at][1] += blocks.pop(at + 1)[1]
        if at > 0 and blocks[at - 1][3] is None:
            blocks[at - 1][1] += blocks.pop(at)[1]
            return at - 1
        return at

    def free(self, address, stack):
        blocks, at = next((space["blocks"], at) for space in self.spaces for at, block in enumerate(space["blocks"]) if block[0] == address)
        self.event("free_requested", address, blocks[at][2], stack)
        self.event("free_completed", address, blocks[at][2], stack)
        blocks[at][2:] = [0, None]
        self.merge(blocks, at)

    def empty_cache(self, stack):
        """Gives back every page that lies in a free block as a whole."""
        for space in reversed(self.spaces):
            blocks, page = space["blocks"], space["page"]
            base = blocks[0][0]
            for start, size in sorted(((b[0], b[1]) for b in blocks if b[3] is None), key=lambda free: (free[1], free[0])):
                first, last = -(-(start - base) // page) * page + base, (start + size - base) // page * page + base
                if first >= last:
                    continue
                at = next(i for i, b in enumerate(blocks) if b[0] == start)
                parts = [[start, first - start, 0, None], [first, last - first, 0, self.UNMAPPED], [last, start + size - last, 0, None]]
                blocks[at:at + 1] = [part for part in parts if part[1]]
                self.event("segment_unmap", first, last - first, stack)
                hole = next(i for i, b in enumerate(blocks) if b[0] == first)
                if hole + 1 < len(blocks) and blocks[hole + 1][3] == self.UNMAPPED:
                    blocks[hole][1] += blocks.pop(hole + 1)[1]
                if hole > 0 and blocks[hole - 1][3] == self.UNMAPPED:
                    blocks[hole - 1][1] += blocks.pop(hole)[1]

    def dump(self):
        segments = []
        for space in self.spaces:
            run = []
            for block in space["blocks"]:
                if block[3] != self.UNMAPPED:
                    run.append(block)
                    continue
                if run:
                    used = [b for b in run if b[3] is not None]
                    segments.append({"device": 0, "address": run[0][0], "total_size": sum(b[1] for b in run),
                                     "allocated_size": sum(b[1] for b in used), "active_size": sum(b[1] for b in used),
                                     "requested_size": sum(b[2] for b in used), "stream": 0,
                                     "segment_type": "small" if space["small"] else "large", "segment_pool_id": (0, 0),
                                     "is_expandable": True, "frames": space["stack"],
                                     "blocks": [{"address": b[0], "size": b[1], "requested_size": b[2],
                                                 "state": "inactive" if b[3] is None else "active_allocated", "frames": b[3] or []} for b in run]})
                run = []
        return segments

    def snapshot(self):
        whole = super().snapshot()
        whole["allocator_settings"].update(PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True", expandable_segments=True)
        return whole


def module_call(name, line):
    return (frame(f"{TORCH}/nn/modules/module.py", 1773, "_wrapped_call_impl"),
            frame(f"{TORCH}/nn/modules/module.py", 1784, "_call_impl"),
            frame("/home/dev/tiny-lm/model.py", line, name))


LINEAR = frame(f"{TORCH}/nn/modules/linear.py", 125, "forward")
BACKWARD = frame(f"{TORCH}/autograd/graph.py", 829, "_engine_run_backward")
STEP_OUTER = (frame("/home/dev/tiny-lm/train.py", 96, "train_step"),)


TO_DEVICE = (frame(f"{TORCH}/nn/modules/module.py", 1340, "convert"), frame(f"{TORCH}/nn/modules/module.py", 927, "_apply"),
             frame("/home/dev/tiny-lm/train.py", 61, "build_model"))


def train(gpu, steps, tokens_of, layers=6, batch_size=8, width=768):
    """Steps of a small language model; `tokens_of(step)` is the length of its texts."""
    weights = []  # (name, bytes)


    # Parameters: embedding, then every layer.
    shapes = [("embedding", 50304 * width)]
    for layer in range(layers):
        shapes += [("qkv", 3 * width * width), ("proj", width * width), ("fc1", 4 * width * width), ("fc2", 4 * width * width), ("norm", 2 * width)]
    for name, count in shapes:
        weights.append((name, count * 4, gpu.malloc(count * 4, call(*TO_DEVICE))))

    moments = []
    for step in range(steps):
        gpu.mark(f"ProfilerStep#{step}", "START")
        tokens = tokens_of(step)
        activation = batch_size * tokens * width * 2  # bfloat16
        batch = [gpu.malloc(batch_size * tokens * 8, call(frame("/home/dev/tiny-lm/data.py", 44, "next_batch"), outer=STEP_OUTER)) for _ in range(2)]
        gpu.mark("forward", "START")
        saved = []
        for layer in range(layers):
            attention, mlp, norm = module_call("attention", 71), module_call("mlp", 88), module_call("block", 104)
            plan = [(norm, activation), (attention, 3 * activation), (attention, activation), (attention, batch_size * 12 * tokens * 4),
                    (attention, activation), (norm, activation), (mlp, 4 * activation), (mlp, 4 * activation), (mlp, activation)]
            for where, size in plan:
                saved.append(gpu.malloc(size, call(LINEAR, *where, outer=STEP_OUTER)))
                if gpu.rng.random() < 0.4:  # a temporary of the kernel
                    temporary = gpu.malloc(gpu.rng.choice([4096, 65536, activation // 2]), call(LINEAR, *where, outer=STEP_OUTER))
                    gpu.free(temporary, call(*where, outer=STEP_OUTER))
        head = module_call("lm_head", 131)
        logits = gpu.malloc(batch_size * tokens * 50304 * 2, call(LINEAR, *head, outer=STEP_OUTER))
        loss = gpu.malloc(batch_size * tokens * 50304 * 4, call(frame(f"{TORCH}/nn/functional.py", 3494, "cross_entropy"), frame("/home/dev/tiny-lm/train.py", 88, "loss_of"), outer=STEP_OUTER))
        gpu.mark("forward", "END")
        gpu.mark("backward", "START")
        in_backward = (BACKWARD, frame(f"{TORCH}/_tensor.py", 648, "backward"))
        gpu.free(loss, call(*in_backward, outer=STEP_OUTER))
        gradient = gpu.malloc(batch_size * tokens * 50304 * 2, call(*in_backward, outer=STEP_OUTER))
        gpu.free(logits, call(*in_backward, outer=STEP_OUTER))
        gradients = []
        flowing = gpu.malloc(activation, call(*in_backward, outer=STEP_OUTER))
        gpu.free(gradient, call(*in_backward, outer=STEP_OUTER))
        remaining = list(weights)
        for index, address in enumerate(reversed(saved)):
            work = gpu.malloc(gpu.rng.choice([activation, 2 * activation, 4 * activation]), call(*in_backward, outer=STEP_OUTER))
            gpu.free(address, call(*in_backward, outer=STEP_OUTER))
            following = gpu.malloc(activation, call(*in_backward, outer=STEP_OUTER))
            gpu.free(flowing, call(*in_backward, outer=STEP_OUTER))
            gpu.free(work, call(*in_backward, outer=STEP_OUTER))
            flowing = following
            while remaining and len(gradients) < (index + 1) * len(weights) / len(saved):
                name, size, _ = remaining.pop()
                gradients.append(gpu.malloc(size, call(frame(f"{TORCH}/autograd/function.py", 311, "apply"), *in_backward, outer=STEP_OUTER)))
        gpu.free(flowing, call(*in_backward, outer=STEP_OUTER))
        gpu.mark("backward", "END")
        gpu.mark("optimizer", "START")
        adam = (frame(f"{TORCH}/optim/adamw.py", 236, "step"), frame("/home/dev/tiny-lm/train.py", 99, "train_step"))
        if step == 0:
            for name, size, _ in weights:
                for moment in ("exp_avg", "exp_avg_sq"):
                    moments.append(gpu.malloc(size, call(frame(f"{TORCH}/optim/adamw.py", 171, "_init_group"), *adam)))
        for name, size, _ in weights:
            temporary = gpu.malloc(size, call(frame(f"{TORCH}/optim/adamw.py", 402, "_multi_tensor_adamw"), *adam))
            gpu.free(temporary, call(*adam))
        for address in gradients:
            gpu.free(address, call(frame("/home/dev/tiny-lm/train.py", 101, "zero_grad"), *STEP_OUTER))
        for address in batch:
            gpu.free(address, call(*STEP_OUTER))
        gpu.mark("optimizer", "END")
        gpu.mark(f"ProfilerStep#{step}", "END")


def training_run():
    gpu = Allocator(20)
    train(gpu, 4, lambda step: 512)
    return gpu.snapshot()


def out_of_memory():
    """The texts of the third step are longer than all before; the device has 6 GiB."""
    gpu = Allocator(21, 6144 * MIB)
    try:
        train(gpu, 3, lambda step: 2560 if step == 2 else 512)
    except OutOfMemory:
        return gpu.snapshot()
    raise AssertionError("it must not fit")


def leak():
    """`losses.append(loss)` instead of `losses.append(loss.item())`: the graph of every step stays alive."""
    gpu = Allocator(22)
    outer = (frame("/home/dev/tiny-lm/train_leaky.py", 52, "train_step"),)
    weights = [gpu.malloc(24 * MIB, call(*TO_DEVICE)) for _ in range(8)]
    for step in range(24):
        gpu.mark(f"ProfilerStep#{step}", "START")
        batch = gpu.malloc(4 * MIB, call(frame("/home/dev/tiny-lm/data.py", 44, "next_batch"), outer=outer))
        saved = [gpu.malloc(size * MIB, call(LINEAR, *module_call("mlp", 88), outer=outer)) for size in (6, 12, 12, 6, 3)]
        loss = gpu.malloc(4, call(frame(f"{TORCH}/nn/functional.py", 3494, "cross_entropy"),
                                  frame("/home/dev/tiny-lm/train_leaky.py", 47, "loss_of"), outer=outer))
        gradients = [gpu.malloc(24 * MIB, call(BACKWARD, outer=outer)) for _ in weights]
        for address in saved[:-1]:
            gpu.free(address, call(BACKWARD, outer=outer))
        for address in gradients:
            gpu.free(address, call(frame("/home/dev/tiny-lm/train_leaky.py", 55, "zero_grad"), *outer))
        gpu.free(batch, call(*outer))
        # saved[-1] and loss are never freed: 3 MiB and 4 bytes a step.
        assert loss
        gpu.mark(f"ProfilerStep#{step}", "END")
    return gpu.snapshot()


def serve_batches(gpu, after=lambda batch: None):
    """A server with answers of many lengths: some small results of each batch are kept between its large buffers."""
    serve = (frame("/home/dev/server/batch.py", 81, "decode"), frame("/home/dev/server/serve.py", 30, "handle"))
    cache = (frame("/home/dev/server/prefix_cache.py", 25, "keep"), *serve)
    for batch in range(60):
        gpu.mark(f"batch {batch}", "START")
        working = []
        for _ in range(8):
            working.append(gpu.malloc(gpu.rng.randrange(11 * MIB, 18 * MIB + 2 * batch * MIB), call(LINEAR, outer=serve)))
            if gpu.rng.random() < 0.4:
                gpu.malloc(gpu.rng.randrange(1 * MIB + 1, 2 * MIB), call(*cache))
        for address in gpu.rng.sample(working, len(working)):
            gpu.free(address, call(*serve))
        after(batch)
        gpu.mark(f"batch {batch}", "END")


def fragmentation():
    gpu = Allocator(23)
    serve_batches(gpu)
    return gpu.snapshot()


def expandable_segments():
    """The server of the sample fragmentation with `expandable_segments:True`; a third of the way it empties its cache."""
    gpu = ExpandableAllocator(23)
    reload = call(frame("/home/dev/server/serve.py", 44, "reload"))

    def after(batch):
        if batch == 20:
            gpu.empty_cache(reload)
            gpu.malloc(MIB + 512, reload)

    serve_batches(gpu, after)
    return gpu.snapshot()


def private_pools():
    """Inference by CUDA graphs: each batch size is captured into one shared pool, the key-value cache lies in a MemPool."""
    gpu = Allocator(24)

    def own(line, name):
        return frame("/home/dev/server/graphs.py", line, name)

    for _ in range(12):
        gpu.malloc(36 * MIB, call(*TO_DEVICE))
    gpu.pool = (0, 1)
    for layer in range(12):
        for _ in "kv":
            gpu.malloc(20 * MIB, call(own(33, "make_cache")))

    def decode(batch, keep):
        """What one pass takes; the logits of the first graph stay, where a replay of any graph writes them."""
        outputs = []
        for layer in range(12):
            working = [gpu.malloc(part * batch * MIB // 4, call(LINEAR, *module_call(name, line), own(71, "decode")))
                       for name, line, part in (("attention", 71, 3), ("attention", 71, 1), ("mlp", 88, 4), ("mlp", 88, 1))]
            for address in working[:-1]:
                gpu.free(address, call(*module_call("block", 104), own(71, "decode")))
            outputs.append(working[-1])
            if layer:
                gpu.free(outputs.pop(0), call(*module_call("block", 104), own(71, "decode")))
        logits = gpu.malloc(batch * 50304 * 2, call(LINEAR, *module_call("lm_head", 131), own(71, "decode")))
        gpu.free(outputs.pop(), call(own(71, "decode")))
        if not keep:
            gpu.free(logits, call(own(71, "decode")))

    for batch in (32, 16, 8, 4, 2, 1):
        gpu.pool = (0, 0)
        gpu.mark(f"warm up {batch}", "START")
        decode(batch, keep=False)
        gpu.mark(f"warm up {batch}", "END")
        gpu.pool = (1, 0)
        gpu.mark(f"capture {batch}", "START")
        if batch == 32:
            for name in ("tokens", "positions"):
                gpu.malloc(8 * batch, call(own(58, f"static_{name}")))
        decode(batch, keep=batch == 32)
        gpu.mark(f"capture {batch}", "END")
    gpu.pool = (0, 0)
    for request in range(40):  # replays take nothing; what is around them does
        gpu.mark(f"request {request}", "START")
        sampled = gpu.malloc(gpu.rng.randrange(1, 33) * 50304 * 4, call(own(95, "sample")))
        text = gpu.malloc(gpu.rng.randrange(64, 4096) * 8, call(own(97, "sample")))
        gpu.free(sampled, call(own(99, "sample")))
        gpu.free(text, call(own(99, "sample")))
        gpu.mark(f"request {request}", "END")
    return gpu.snapshot()


def eight_ranks():
    """Eight ranks of one job: rank 5 got longer texts than all others."""
    ranks = {}
    for rank in range(8):
        gpu = Allocator(30 + rank)
        train(gpu, 2, lambda step, rank=rank: 1280 if rank == 5 else 384, layers=3, batch_size=4)
        ranks[f"rank{rank}.pickle"] = gpu.snapshot()
    return ranks


def profiler_trace():
    """A trace of torch.profiler with memory records: three steps of a small model; time in microseconds."""
    rng = random.Random(25)
    events, thread, clock = [], 100, [0.0]
    held = {"level": 96 * MIB, "next": 0x7F4000000000}
    reserved = 480 * MIB

    def record(size, address):
        held["level"] += size
        clock[0] += 1
        events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": thread, "ts": clock[0],
                       "args": {"Total Allocated": held["level"], "Total Reserved": reserved, "Bytes": size, "Addr": address,
                                "Device Id": 0, "Device Type": 1}})

    def take(size):
        address = held["next"]
        held["next"] += (size + 511) // 512 * 512
        record(size, address)
        return address, size

    def give(block):
        record(-block[1], block[0])

    class Op:
        """A span; what happens inside lies in it."""

        def __init__(self, name, category="cpu_op"):
            self.name, self.category = name, category

        def __enter__(self):
            clock[0] += rng.randrange(1, 6)
            self.start = clock[0]

        def __exit__(self, *_):
            clock[0] += rng.randrange(4, 40)
            events.append({"ph": "X", "cat": self.category, "name": self.name, "pid": 1, "tid": thread, "ts": self.start, "dur": clock[0] - self.start})

    moments = []
    for step in range(3):
        with Op(f"ProfilerStep#{step}", "user_annotation"):
            saved, gradients = [], []
            with Op("forward", "user_annotation"):
                for layer in range(6):
                    with Op(f"nn.Module: Block_{layer}", "python_function"):
                        with Op("aten::layer_norm"):
                            saved.append(take(3 * MIB))
                        with Op("aten::linear"):
                            with Op("aten::addmm"):
                                saved.append(take(9 * MIB))
                        with Op("aten::scaled_dot_product_attention"):
                            scratch = take(6 * MIB)
                            saved.append(take(3 * MIB))
                            give(scratch)
                        with Op("aten::gelu"):
                            saved.append(take(12 * MIB))
                with Op("aten::cross_entropy_loss"):
                    with Op("aten::log_softmax"):
                        saved.append(take(48 * MIB))
            with Op("backward", "user_annotation"):
                flowing = take(3 * MIB)
                for index, block in enumerate(reversed(saved)):
                    with Op("autograd::engine::evaluate_function: " + ("AddmmBackward0" if index % 4 == 3 else "Backward0")):
                        with Op("aten::mm" if index % 4 == 3 else "aten::mul"):
                            following = take(3 * MIB)
                            if index % 4 == 3:
                                gradients.append(take(7 * MIB))
                        give(block)
                        give(flowing)
                        flowing = following
                give(flowing)
            with Op("Optimizer.step#AdamW.step", "user_annotation"):
                with Op("aten::_fused_adamw_"):
                    if step == 0:
                        moments += [take(7 * MIB) for _ in range(2 * len(gradients))]
                with Op("Optimizer.zero_grad#AdamW.zero_grad", "user_annotation"):
                    for gradient in gradients:
                        give(gradient)
    events.sort(key=lambda event: event["ts"])
    return {"schemaVersion": 1, "displayTimeUnit": "ms", "baseTimeNanoseconds": 1000 * START_US,
            "traceEvents": events, "traceName": "profiler_trace.json"}


def packed(data):
    return gzip.compress(data, 9, mtime=0)


def archive(members):
    """A zip whose bytes depend on its members alone."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, data in members.items():
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            member.create_system = 3
            file.writestr(member, data, zipfile.ZIP_DEFLATED, 9)
    return out.getvalue()


def pickled(snapshot):
    return pickle.dumps(snapshot, protocol=4)


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    files = {"training_run.pickle": pickled(training_run())}
    for make in (out_of_memory, leak, fragmentation, expandable_segments, private_pools):
        files[f"{make.__name__}.pickle.gz"] = packed(pickled(make()))
    files["profiler_trace.json.gz"] = packed(json.dumps(profiler_trace(), separators=(",", ":")).encode())
    files["eight_ranks.zip"] = archive({name: pickled(snapshot) for name, snapshot in eight_ranks().items()})
    for name, data in files.items():
        (folder / name).write_bytes(data)
        print(f"{folder / name}: {len(data)} bytes")


if __name__ == "__main__":
    main()
