#!/usr/bin/env python3
"""One training run under PyTorch's allocator or gpustrata's: a child of proof.py.

  torch_train.py pytorch|gpustrata FOLDER      the snapshot goes to FOLDER; GPUSTRATA_CAPTURE: the library

The last line of its output is a JSON object of what it measured. Everything that could differ between two equal runs
is off: no dropout, deterministic algorithms, plain attention.
"""
import json
import os
import pathlib
import statistics
import sys
import time

STEPS, WARM, RECORDED = 60, 10, 3
EVENTS = 100_000  # of the dump


def build(torch):
    """(step, how often it can be called): step(i) trains once and returns the loss, on the device."""
    model = torch.nn.Sequential(
        torch.nn.Embedding(8000, 512),
        torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True), 6),
        torch.nn.Linear(512, 8000)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(0, 8000, (STEPS, 16, 256), generator=torch.Generator().manual_seed(1))

    def step(i):
        x = tokens[i].cuda(non_blocking=True)
        loss = torch.nn.functional.cross_entropy(model(x).flatten(0, 1), x.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    return step


def main(mode, folder):
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # read when cuBLAS is first used
    import torch

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "capture"))
    import gpustrata_torch as gpustrata

    ours = mode == "gpustrata"
    if ours and not gpustrata.install():
        return 1
    torch.use_deterministic_algorithms(True)
    torch.backends.cuda.enable_flash_sdp(False)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    torch.manual_seed(0)
    step = build(torch)
    record = gpustrata.record_memory_history if ours else torch.cuda.memory._record_memory_history
    snapshot = gpustrata.snapshot if ours else torch.cuda.memory._snapshot
    dump = gpustrata.dump_snapshot if ours else torch.cuda.memory._dump_snapshot
    losses, times = [], []
    for i in range(STEPS):
        if i == STEPS - RECORDED:
            record(enabled="all", stacks="python", context="alloc")
        torch.cuda.synchronize()
        start = time.perf_counter()
        losses.append(step(i))
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    sizes = [(e["action"], e["size"]) for e in snapshot()["device_traces"][0]
             if e["action"] in ("alloc", "free_requested")]
    stats = gpustrata.memory_stats() if ours else torch.cuda.memory_stats()

    record(enabled=None)
    record(enabled="all", stacks="all", context="all")
    for _ in range(EVENTS // 3):  # alloc, free_requested, free_completed
        torch.empty(1000, device="cuda")
    path = os.path.join(folder, mode + ".pickle")
    dumps = []
    for _ in range(2):  # the first gives stacks their names
        start = time.perf_counter()
        dump(path)
        dumps.append(time.perf_counter() - start)
    print(json.dumps({
        "losses": [f"{loss.item():.10e}" for loss in losses], "sizes": sizes,
        "step": statistics.median(times[WARM:STEPS - RECORDED]),
        "peak_reserved": stats["reserved_bytes.all.peak"], "peak_allocated": stats["allocated_bytes.all.peak"],
        "dump_first": dumps[0], "dump_again": dumps[1], "snapshot": path}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
