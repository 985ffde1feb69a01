#!/usr/bin/env python3
"""A small training run over the made-up runtime, kernels doing nothing: what its memory does is real.

  train.py SNAPSHOT      writes PyTorch's snapshot, prints torch.cuda.memory_stats() as JSON
"""
import json
import sys

import torch


class Layer(torch.nn.Module):
    """No matrix product: its library would look for a device."""

    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(width, device="cuda"))
        self.bias = torch.nn.Parameter(torch.empty(width, device="cuda"))

    def forward(self, x):
        return torch.relu(x * self.weight + self.bias)


def main(path):
    torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")
    width = 300_000
    model = torch.nn.Sequential(*[Layer(width) for _ in range(6)])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1, foreach=False)
    side = torch.cuda.Stream()
    for step in range(4):
        with torch.cuda.stream(side):
            batch = torch.empty(16 + 7 * step, width, device="cuda")
        batch.record_stream(torch.cuda.current_stream())
        torch.cuda.current_stream().wait_stream(side)
        model(batch).sum().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step == 2:
            torch.cuda.empty_cache()
    # Reading them first: a snapshot may count itself.
    stats = dict(torch.cuda.memory_stats())
    torch.cuda.memory._dump_snapshot(path)
    print(json.dumps(stats))


if __name__ == "__main__":
    main(sys.argv[1])
