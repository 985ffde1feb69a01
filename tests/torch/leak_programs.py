#!/usr/bin/env python3
"""leak_programs.py SEED OUT.pickle: a random program in the shapes that people write, by a real PyTorch.

Prints its truth as JSON: the shape, how many steps it made, what leaks (null: nothing does), the lines that asked for it and
the bytes that it kept in each step; and by how much more was in use after each, as PyTorch counts. Odd seeds leak. Runs over the made-up runtime with
MADE_UP_KERNELS=nothing: operators take the memory that they would, and compute nothing.
"""
import collections
import inspect
import json
import random
import sys

import torch

DEVICE = "cuda:0"


def new(*shape, dtype=torch.float16):
    return torch.empty(shape, device=DEVICE, dtype=dtype)


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return new(*x.shape[:-1], weight.shape[0])

    @staticmethod
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        return torch.empty_like(x), torch.empty_like(weight)


class Squash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        scratch = new(*x.shape, dtype=torch.float32)
        del scratch
        ctx.save_for_backward(x)
        return torch.empty_like(x)

    @staticmethod
    def backward(ctx, gradient):
        return torch.empty_like(ctx.saved_tensors[0])


class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return new()

    @staticmethod
    def backward(ctx, gradient):
        return torch.empty_like(ctx.saved_tensors[0])


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = torch.nn.Parameter(new(2 * width, width))
        self.down = torch.nn.Parameter(new(width, 2 * width))

    def forward(self, x):
        return Product.apply(Squash.apply(Product.apply(x, self.up)), self.down)


class Model(torch.nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.width = width
        self.layers = torch.nn.ModuleList(Block(width) for _ in range(layers))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Program:
    """What all shapes share: sizes, what leaks, the count of what each step keeps."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        pick = self.random.choice
        self.width, self.batch, self.layers = pick((128, 256, 384)), pick((32, 64, 96)), pick((2, 3, 5, 8))
        self.steps, self.every = self.random.randint(8, 24), pick((0, 3, 4))
        self.shape = pick(sorted(SHAPES))
        # "local" dies with the function that loops.
        self.leak = pick(("attribute", "cache", "small", "local", "pair")) if seed % 2 else None
        self.fills, self.window = pick((0, 0, 3)), pick((0, 0, 2, 4))
        self.optimizer = pick(("adam", "momentum", "plain"))
        self.kept, self.cache, self.last = [], {}, collections.deque(maxlen=self.window or 1)
        self.lines, self.grown, self.before = set(), [], None
        self.made, self.planted = 0, []  # bytes that leak, of each step

    def model(self):
        model = Model(self.width, self.layers)
        rate = {"lr": 0.1}
        if self.optimizer == "adam":
            return model, torch.optim.AdamW(model.parameters(), **rate)
        return model, torch.optim.SGD(model.parameters(), momentum=0.9 if self.optimizer == "momentum" else 0, **rate)

    def data(self):
        return new(self.batch, self.width).requires_grad_()

    def used(self):
        return torch.cuda.memory_stats()["requested_bytes.all.current"]

    def begin(self):
        if self.before is None:
            self.before = self.used()

    def end(self):
        used = self.used()
        self.grown.append(used - self.before)
        self.before = used
        self.made += 1

    def leaks(self, block, place):
        self.lines.add(inspect.currentframe().f_back.f_lineno)
        self.planted[-1] += block.nbytes
        place.append(block)

    def keep(self, local):
        """What a step keeps; `local` is a list of the function that loops."""
        self.planted.append(0)
        if self.leak == "attribute":
            self.leaks(new(self.batch, self.width), self.kept)
        elif self.leak == "cache":
            self.leaks(new(self.batch, 3 * self.width), self.cache.setdefault("batches", []))
        elif self.leak == "small":
            for _ in range(3):
                self.leaks(new(self.random.randint(50, 600)), self.kept)
        elif self.leak == "local":
            self.leaks(new(self.batch, self.width), local)
        elif self.leak == "pair":
            self.leaks(new(self.width, self.width), self.kept)
            self.leaks(new(self.width), self.kept)
        if self.made < self.fills:
            self.cache["fills", self.made] = new(self.width, self.width)
        if self.window:
            self.last.append(new(self.width, 7))

    def train(self, model, optimizer, x):
        optimizer.zero_grad(set_to_none=True)
        loss = Loss.apply(model(x))
        loss.backward(new())
        optimizer.step()

    def evaluate(self, model):
        with torch.no_grad():
            for _ in range(2):
                Loss.apply(model(self.data()))


class Trainer:
    def __init__(self, program):
        self.program, self.epochs = program, program.random.choice((1, 2, 3))
        self.model, self.optimizer = program.model()

    def training_step(self, batch):
        self.program.train(self.model, self.optimizer, batch)

    def fit(self):
        program, local = self.program, []
        each = max(4, program.steps // self.epochs)
        for _ in range(self.epochs):
            for _ in range(each):
                program.begin()
                batch = program.data()
                self.training_step(batch)
                program.keep(local)
                program.end()
            if program.every:
                program.evaluate(self.model)


def trainer(program):
    Trainer(program).fit()


def generator(program):
    def batches():
        for _ in range(program.steps):
            yield program.data()

    def losses(model, optimizer):
        for x in batches():
            program.begin()
            program.train(model, optimizer, x)
            yield x.shape[0]

    local = []
    for _ in losses(*program.model()):
        program.keep(local)
        program.end()


def in_turn(program):
    first, second, local = program.model(), program.model(), []
    for step in range(program.steps):
        program.begin()
        program.train(*first, program.data())
        program.train(*second, program.data())
        program.keep(local)
        program.end()
        if program.every and step % program.every == program.every - 1:
            program.evaluate(first[0])


def rollout(program):
    model, optimizer = program.model()
    local = []
    for _ in range(program.steps):
        program.begin()
        buffer = []
        with torch.no_grad():
            for _ in range(6):
                seen = program.data()
                buffer.append((seen, model(seen)))
        for seen, _ in buffer[:2]:
            program.train(model, optimizer, torch.empty_like(seen).requires_grad_())
        del buffer, seen
        program.keep(local)
        program.end()


def caught(program):
    model, optimizer = program.model()
    local = []
    for step in range(program.steps):
        program.begin()
        try:
            if program.every and step % program.every == 1:
                new(1 << 40)
            program.train(model, optimizer, program.data())
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            program.train(model, optimizer, new(program.batch // 2, program.width).requires_grad_())
        program.keep(local)
        program.end()


class Server:
    def __init__(self, program):
        self.program, (self.model, _) = program, program.model()
        self.queue = collections.deque(program.random.randint(4, 7) for _ in range(program.steps))

    def answer(self, tokens):
        state = [new(self.program.batch, self.program.width) for _ in range(self.program.layers)]
        for token in range(tokens):
            for i in range(self.program.layers):
                state[i] = new(self.program.batch + token, self.program.width)
            self.model(new(1, self.program.width))

    @torch.inference_mode()
    def run(self):
        local = []
        while self.queue:
            self.program.begin()
            self.answer(self.queue.popleft())
            self.program.keep(local)
            self.program.end()


def serving(program):
    Server(program).run()


SHAPES = {f.__name__: f for f in (trainer, generator, in_turn, rollout, caught, serving)}


def run(seed, out):
    """The truth."""
    program = Program(seed)
    torch.cuda.memory._record_memory_history(max_entries=2_000_000, stacks="python")
    SHAPES[program.shape](program)
    torch.cuda.memory._dump_snapshot(out)
    return {"seed": seed, "torch": torch.__version__, "shape": program.shape, "steps": program.made,
                      "leak": program.leak, "lines": sorted(program.lines), "kept": program.planted,
                      "grown": program.grown, "optimizer": program.optimizer, "evaluate": program.every, "layers": program.layers,
                      "window": program.window, "fills": program.fills, "script": "leak_programs.py"}


if __name__ == "__main__":
    print(json.dumps(run(int(sys.argv[1]), sys.argv[2])))
