#!/usr/bin/env python3
"""Writes training_run.pickle: the memory of a small language model's first training steps.

Invented but faithful: parameters, optimizer state that appears with the first step, activations that pile up in
forward and fall in backward, gradients, temporaries, a cache that grows segment by segment. The allocations run
over a small model of PyTorch's caching allocator (small and large pool, best fit, split, merge), so segments,
blocks and events agree with each other.

usage: make_training_run.py OUT.pickle
"""
import pickle
import random
import sys

MIB = 1 << 20
rng = random.Random(20)
clock_us = 1_760_000_000_000_000

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


class Allocator:
    def __init__(self):
        self.trace, self.segments, self.blocks = [], {}, {}  # blocks: address -> [size, requested, stack | None]
        self.next_address = 0x7F3A40000000

    def event(self, action, address, size, stack):
        global clock_us
        clock_us += rng.randrange(2, 60)
        self.trace.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": clock_us,
                           "compile_context": "N/A", "user_metadata": "", "pool_id": (0, 0), "frames": stack})

    def segment_of(self, address):
        return next(s for s in self.segments if s <= address < s + self.segments[s][0])

    def malloc(self, requested, stack):
        size = max(512, (requested + 511) // 512 * 512)
        small = size <= MIB
        free = [(b[0], a) for a, b in self.blocks.items()
                if b[2] is None and b[0] >= size and self.segments[self.segment_of(a)][1] == small]
        if free:
            block_size, address = min(free)
        else:
            block_size = 2 * MIB if small else 20 * MIB if size < 10 * MIB else (size + 2 * MIB - 1) // (2 * MIB) * (2 * MIB)
            address = self.next_address
            self.next_address += block_size
            self.segments[address] = (block_size, small, stack)
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
        for start, (size, small, stack) in sorted(self.segments.items()):
            blocks = [{"address": a, "size": b[0], "requested_size": b[1],
                       "state": "inactive" if b[2] is None else "active_allocated", "frames": b[2] or []}
                      for a, b in sorted(self.blocks.items()) if start <= a < start + size]
            assert sum(b["size"] for b in blocks) == size
            used = [b for b in blocks if b["state"] == "active_allocated"]
            segments.append({"device": 0, "address": start, "total_size": size,
                             "allocated_size": sum(b["size"] for b in used), "active_size": sum(b["size"] for b in used),
                             "requested_size": sum(b["requested_size"] for b in used), "stream": 0,
                             "segment_type": "small" if small else "large", "segment_pool_id": (0, 0),
                             "is_expandable": False, "frames": stack, "blocks": blocks})
        return segments


LAYERS, STEPS, BATCH, TOKENS, WIDTH = 6, 4, 8, 512, 768
gpu = Allocator()
annotations = []
activation = BATCH * TOKENS * WIDTH * 2  # bfloat16
weights = []  # (name, bytes)


def mark(name, stage):
    annotations.append({"name": name, "stage": stage, "device": 0, "time_us": clock_us})


def module_call(name, line):
    return (frame(f"{TORCH}/nn/modules/module.py", 1773, "_wrapped_call_impl"),
            frame(f"{TORCH}/nn/modules/module.py", 1784, "_call_impl"),
            frame("/home/dev/tiny-lm/model.py", line, name))


linear = frame(f"{TORCH}/nn/modules/linear.py", 125, "forward")
backward = frame(f"{TORCH}/autograd/graph.py", 829, "_engine_run_backward")
step_outer = (frame("/home/dev/tiny-lm/train.py", 96, "train_step"),)

# Parameters: embedding, then every layer.
to_device = (frame(f"{TORCH}/nn/modules/module.py", 1340, "convert"), frame(f"{TORCH}/nn/modules/module.py", 927, "_apply"),
             frame("/home/dev/tiny-lm/train.py", 61, "build_model"))
shapes = [("embedding", 50304 * WIDTH)]
for layer in range(LAYERS):
    shapes += [("qkv", 3 * WIDTH * WIDTH), ("proj", WIDTH * WIDTH), ("fc1", 4 * WIDTH * WIDTH), ("fc2", 4 * WIDTH * WIDTH), ("norm", 2 * WIDTH)]
for name, count in shapes:
    weights.append((name, count * 4, gpu.malloc(count * 4, call(*to_device))))

moments = []
for step in range(STEPS):
    mark(f"ProfilerStep#{step}", "START")
    batch = [gpu.malloc(BATCH * TOKENS * 8, call(frame("/home/dev/tiny-lm/data.py", 44, "next_batch"), outer=step_outer)) for _ in range(2)]
    mark("forward", "START")
    saved = []
    for layer in range(LAYERS):
        attention, mlp, norm = module_call("attention", 71), module_call("mlp", 88), module_call("block", 104)
        plan = [(norm, activation), (attention, 3 * activation), (attention, activation), (attention, BATCH * 12 * TOKENS * 4),
                (attention, activation), (norm, activation), (mlp, 4 * activation), (mlp, 4 * activation), (mlp, activation)]
        for where, size in plan:
            saved.append(gpu.malloc(size, call(linear, *where, outer=step_outer)))
            if rng.random() < 0.4:  # a temporary of the kernel
                temporary = gpu.malloc(rng.choice([4096, 65536, activation // 2]), call(linear, *where, outer=step_outer))
                gpu.free(temporary, call(*where, outer=step_outer))
    head = module_call("lm_head", 131)
    logits = gpu.malloc(BATCH * TOKENS * 50304 * 2, call(linear, *head, outer=step_outer))
    loss = gpu.malloc(BATCH * TOKENS * 50304 * 4, call(frame(f"{TORCH}/nn/functional.py", 3494, "cross_entropy"), frame("/home/dev/tiny-lm/train.py", 88, "loss_of"), outer=step_outer))
    mark("forward", "END")
    mark("backward", "START")
    in_backward = (backward, frame(f"{TORCH}/_tensor.py", 648, "backward"))
    gpu.free(loss, call(*in_backward, outer=step_outer))
    gradient = gpu.malloc(BATCH * TOKENS * 50304 * 2, call(*in_backward, outer=step_outer))
    gpu.free(logits, call(*in_backward, outer=step_outer))
    gradients = []
    flowing = gpu.malloc(activation, call(*in_backward, outer=step_outer))
    gpu.free(gradient, call(*in_backward, outer=step_outer))
    remaining = list(weights)
    for index, address in enumerate(reversed(saved)):
        work = gpu.malloc(rng.choice([activation, 2 * activation, 4 * activation]), call(*in_backward, outer=step_outer))
        gpu.free(address, call(*in_backward, outer=step_outer))
        following = gpu.malloc(activation, call(*in_backward, outer=step_outer))
        gpu.free(flowing, call(*in_backward, outer=step_outer))
        gpu.free(work, call(*in_backward, outer=step_outer))
        flowing = following
        while remaining and len(gradients) < (index + 1) * len(weights) / len(saved):
            name, size, _ = remaining.pop()
            gradients.append(gpu.malloc(size, call(frame(f"{TORCH}/autograd/function.py", 311, "apply"), *in_backward, outer=step_outer)))
    gpu.free(flowing, call(*in_backward, outer=step_outer))
    mark("backward", "END")
    mark("optimizer", "START")
    adam = (frame(f"{TORCH}/optim/adamw.py", 236, "step"), frame("/home/dev/tiny-lm/train.py", 99, "train_step"))
    if step == 0:
        for name, size, _ in weights:
            for moment in ("exp_avg", "exp_avg_sq"):
                moments.append(gpu.malloc(size, call(frame(f"{TORCH}/optim/adamw.py", 171, "_init_group"), *adam)))
    for name, size, _ in weights:
        temporary = gpu.malloc(size, call(frame(f"{TORCH}/optim/adamw.py", 402, "_multi_tensor_adamw"), *adam))
        gpu.free(temporary, call(*adam))
    for address in gradients:
        gpu.free(address, call(frame("/home/dev/tiny-lm/train.py", 101, "zero_grad"), *step_outer))
    for address in batch:
        gpu.free(address, call(*step_outer))
    mark("optimizer", "END")
    mark(f"ProfilerStep#{step}", "END")

snapshot = {"segments": gpu.dump(), "device_traces": [gpu.trace],
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.0,
                                   "expandable_segments": False, "pinned_num_register_threads": 1,
                                   "release_lock_on_cudamalloc": False, "pinned_use_cuda_host_register": False,
                                   "roundup_power2_divisions": {str(1 << k): 0 for k in range(16)}},
            "external_annotations": annotations}
with open(sys.argv[1], "wb") as out:
    pickle.dump(snapshot, out, protocol=4)
print(sys.argv[1], len(gpu.trace), "events", len(snapshot["segments"]), "segments")
