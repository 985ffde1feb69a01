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

The allocations run over a small model of PyTorch's caching allocator (small and large pool, best fit, split, merge,
giving back cached segments before an out-of-memory), so segments, blocks and events agree with each other. The
same file comes out every time.

usage: make_samples.py [FOLDER]     default: the folder of this script
"""
import gzip
import pickle
import random
import sys
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
        self.trace, self.segments, self.blocks = [], {}, {}  # blocks: address -> [size, requested, stack | None]
        self.next_address = 0x7F3A40000000

    def event(self, action, address, size, stack):
        self.clock_us += self.rng.randrange(2, 60)
        self.trace.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": self.clock_us,
                           "compile_context": "N/A", "user_metadata": "", "pool_id": (0, 0), "frames": stack})

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
            if self.reserved() + block_size > self.capacity:
                self.make_room(size, block_size, stack)
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

    def snapshot(self):
        return {"segments": self.dump(), "device_traces": [self.trace],
                "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.0,
                                       "expandable_segments": False, "pinned_num_register_threads": 1,
                                       "release_lock_on_cudamalloc": False, "pinned_use_cuda_host_register": False,
                                       "roundup_power2_divisions": {str(1 << k): 0 for k in range(16)}},
                "external_annotations": self.annotations}


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


def fragmentation():
    """A server with answers of many lengths: some small results of each batch are kept between its large buffers."""
    gpu = Allocator(23)
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
        gpu.mark(f"batch {batch}", "END")
    return gpu.snapshot()


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    for make in (training_run, out_of_memory, leak, fragmentation):
        snapshot = make()
        data = pickle.dumps(snapshot, protocol=4)
        packed = make is not training_run
        path = folder / f"{make.__name__}.pickle{'.gz' if packed else ''}"
        path.write_bytes(gzip.compress(data, 9, mtime=0) if packed else data)
        print(f"{path}: {path.stat().st_size} bytes, {len(snapshot['device_traces'][0])} events, {len(snapshot['segments'])} segments")


if __name__ == "__main__":
    main()
