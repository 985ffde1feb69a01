#!/usr/bin/env python3
"""The programs of claim_programs.py with numbers that are told, for `gpustrata fit`.

  fit_programs.py        reads jobs from standard input, one JSON object a line; answers each in a line

A job is that of claim_programs.py and any of {"batch", "length", "layers", "micro": micro-batches of a step, "tokens": generated in each step
instead of training, with a cache for each layer}. What else a program is, its seed decides, so that jobs of one seed differ in these only. Runs over the made-up runtime with MADE_UP_KERNELS=nothing.
"""
import claim_programs
import torch
from claim_programs import Program
from leak_programs import Product, Squash, new


class Sized(Program):
    told = {}

    def __init__(self, seed):
        super().__init__(seed)
        self.batch, self.length = self.told.get("batch", self.batch), self.told.get("length", self.length)
        self.varied = False  # else lengths are drawn at random
        self.steps = min(self.steps, 4)
        self.count = self.told.get("layers", self.count)
        if "micro" in self.told:
            self.micro, self.grows, self.keeps = self.told["micro"], False, False

    def step(self, step, optimizer):
        if "tokens" in self.told:
            with torch.no_grad():
                return self.generate(self.told["tokens"])
        self.outputs = []
        super().step(step, optimizer)
        self.outputs = []

    def forward(self, x):
        if "micro" in self.told:  # what each micro-batch leaves until the step ends
            self.outputs.append(new(self.batch, self.length, self.width))
        return super().forward(x)

    def generate(self, tokens):
        sequences = 8 * self.batch
        caches = [new(sequences, self.length, self.width) for _ in self.layers]
        for _ in range(tokens):
            x = new(sequences, 1, self.width)
            for at, layer in enumerate(self.layers):
                caches[at] = torch.cat([caches[at], Product.apply(x, layer.key)], dim=1)
                x = Squash.apply(Product.apply(x, layer.query))
            Product.apply(x, self.head)


def run(job):
    Sized.told = {name: job[name] for name in ("batch", "length", "layers", "micro", "tokens") if name in job}
    claim_programs.Program = Sized
    return claim_programs.run(job)


if __name__ == "__main__":
    claim_programs.main(run)
