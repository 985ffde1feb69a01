#!/usr/bin/env python3
"""Random training programs by a real PyTorch, each run as it is told: on how large a device, what to try when it fails.

  claim_programs.py      reads jobs from standard input, one JSON object a line; answers each in a line

A job: {"seed", "memory": bytes of the device, "fraction": of it that the process may use (null: all), "addresses": where memory lies, "snapshot": path
(null: not recorded), "from_step": the recording begins there, "tries": bytes to ask for at the failure that ends the
program, in one piece each}. The answer: {"finished", "before": allocations when the recording began, "made": allocations
that were served, "peak_requested", "peak_reserved", "tries": of each whether it was had}. Settings are those of the
environment. A program does the same each time. Runs over the made-up runtime with MADE_UP_KERNELS=nothing.
"""
import json
import os
import random
import sys
import traceback

import torch
import torch._dynamo  # an optimizer loads it, which takes seconds: once for all
from torch.utils.checkpoint import checkpoint

from leak_programs import Loss, Product, Squash, new


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, queries, keys, values, heads):
        batch, length, _ = queries.shape
        scores = new(batch, heads, length, length)
        weights = torch.empty_like(scores)
        del scores
        ctx.save_for_backward(queries, keys, values, weights)
        return torch.empty_like(queries)

    @staticmethod
    def backward(ctx, gradient):
        queries, keys, values, weights = ctx.saved_tensors
        of_weights = torch.empty_like(weights)
        found = torch.empty_like(queries), torch.empty_like(keys), torch.empty_like(values)
        del of_weights
        return *found, None


class Layer(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        sides = {"query": width, "key": width, "value": width, "out": width, "up": 4 * width}
        for name, out in sides.items():
            setattr(self, name, torch.nn.Parameter(new(out, width)))
        self.down = torch.nn.Parameter(new(width, 4 * width))

    def forward(self, x):
        if self.heads:
            x = Attention.apply(Product.apply(x, self.query), Product.apply(x, self.key), Product.apply(x, self.value),
                                self.heads)
            x = Product.apply(x, self.out)
        return Product.apply(Squash.apply(Product.apply(x, self.up)), self.down)


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        pick, chance = self.random.choice, lambda share: self.random.random() < share
        self.width, self.words = pick((256, 512, 768, 1000)), pick((1000, 8000, 32000))
        self.batch, self.length = pick((1, 2, 4, 7)), pick((128, 256, 500, 1024))
        self.heads, self.count = pick((0, 4, 8)), pick((2, 3, 4, 6, 10))
        self.steps, self.micro = self.random.randint(4, 9), pick((1, 1, 2, 3))
        self.varied, self.checkpoints, self.evaluates = chance(0.4), chance(0.25), pick((0, 0, 2, 3))
        self.grows = chance(0.4)  # the batch, after some steps
        self.streams, self.empties, self.keeps = chance(0.25), chance(0.15), chance(0.3)
        self.optimizer = pick(("adam", "adam", "momentum", "plain"))
        self.kept = []

    def model(self):
        self.layers = torch.nn.ModuleList(Layer(self.width, self.heads) for _ in range(self.count))
        self.table = torch.nn.Parameter(new(self.words, self.width))
        self.head = torch.nn.Parameter(new(self.words, self.width))
        every = [*self.layers.parameters(), self.table, self.head]
        if self.optimizer == "adam":
            return torch.optim.AdamW(every, lr=0.1, foreach=bool(self.random.randrange(2)))
        return torch.optim.SGD(every, lr=0.1, momentum=0.9 if self.optimizer == "momentum" else 0, foreach=False)

    def batch_of(self, step):
        length = self.random.randint(self.length // 2, self.length) if self.varied else self.length
        batch = self.batch + (step // 2 if self.grows else 0)
        if not self.streams:
            return new(batch, length, self.width).requires_grad_()
        with torch.cuda.stream(self.side):
            batch = new(batch, length, self.width)
        batch.record_stream(torch.cuda.current_stream())
        torch.cuda.current_stream().wait_stream(self.side)
        return batch.requires_grad_()

    def forward(self, x):
        for layer in self.layers:
            if self.checkpoints and torch.is_grad_enabled():
                x = checkpoint(layer, x, use_reentrant=False, preserve_rng_state=False)
            else:
                x = layer(x)
        return Product.apply(x, self.head)

    def step(self, step, optimizer):
        for _ in range(self.micro):
            loss = Loss.apply(self.forward(self.batch_of(step)))
            loss.backward(new())
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if self.keeps:
            self.kept.append(new(self.random.randint(1000, 4_000_000)))
        if self.evaluates and step % self.evaluates == self.evaluates - 1:
            with torch.no_grad():
                self.forward(self.batch_of(step))
        if self.empties and step == 1:
            torch.cuda.empty_cache()

    def run(self, begins):
        """`begins(step)` is called before each step, and once with -1."""
        self.side = torch.cuda.Stream()
        begins(-1)
        optimizer = self.model()
        for step in range(self.steps):
            begins(step)
            self.step(step, optimizer)


def run(job):
    memory, fraction = job["memory"], job.get("fraction")
    if fraction:
        torch.cuda.set_per_process_memory_fraction(fraction)
    before, had = 0, []

    def made():
        return torch.cuda.memory_stats()["allocation.all.allocated"]

    def begins(step):
        nonlocal before
        if step == job.get("from_step", -1) and job.get("snapshot"):
            before = made()
            torch.cuda.memory._record_memory_history(max_entries=2_000_000, stacks="python")

    def failed(*_):
        for size in job.pop("tries", ()):  # a try that fails comes here again
            try:
                torch.empty(size, dtype=torch.uint8, device="cuda")
                had.append(True)
            except torch.OutOfMemoryError:
                had.append(False)

    if job.get("tries"):
        torch._C._cuda_attach_out_of_memory_observer(failed)
    torch.cuda.init()
    finished = True
    try:
        Program(job["seed"]).run(begins)
    except torch.OutOfMemoryError:
        finished = False
    stats = torch.cuda.memory_stats()
    if job.get("snapshot"):
        torch.cuda.memory._dump_snapshot(job["snapshot"])
    return {"finished": finished, "before": before, "made": stats["allocation.all.allocated"], "tries": had,
            "memory": memory, "peak_requested": stats["requested_bytes.all.peak"],
            "peak_reserved": stats["reserved_bytes.all.peak"], "peak_active": stats["active_bytes.all.peak"],
            "segments": stats["num_device_alloc"]}


def in_a_child(job, run):
    """In a process of its own; PyTorch is loaded once for all."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.environ.update(FAKE_CUDA_MEMORY=str(job["memory"]), FAKE_CUDA_ADDRESSES=job["addresses"])
            os.write(writer, json.dumps(run(job)).encode())
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as said:
        answer = said.read()
    return json.loads(answer) if os.waitpid(child, 0)[1] == 0 else None


def main(run):
    """`run(job)`: what a child does."""
    for line in sys.stdin:
        print(json.dumps(in_a_child(json.loads(line), run)), flush=True)


if __name__ == "__main__":
    main(run)
