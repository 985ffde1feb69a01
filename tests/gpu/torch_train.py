#!/usr/bin/env python3
"""PyTorch's own allocator and memstrata's, side by side in processes of their own. Needs PyTorch and a GPU.

  torch_compare.py TOOL        TOOL: the memstrata command; MEMSTRATA_CAPTURE: the library

Prints table rows `| what | PyTorch | memstrata | verdict |`. Exit code 77: no PyTorch or no device.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
CAPTURE = HERE.parents[1] / "capture"
STEPS, RECORDED = 60, 3


def train(mode, folder):
    """One run; a JSON object of what it measured goes to stdout."""
    import torch

    sys.path.insert(0, str(CAPTURE))
    import memstrata_torch as memstrata

    ours = mode == "memstrata"
    if ours and not memstrata.install():
        sys.exit(1)
    torch.manual_seed(0)
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

    record = memstrata.record_memory_history if ours else torch.cuda.memory._record_memory_history
    losses, times = [], []
    for i in range(STEPS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        losses.append(step(i))
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
        if i == STEPS - RECORDED - 1:
            record(enabled="all", stacks="python", context="alloc")
    allocs = memstrata.snapshot() if ours else torch.cuda.memory._snapshot()
    sizes = [(e["action"], e["size"]) for e in allocs["device_traces"][0]
             if e["action"] in ("alloc", "free_requested")]
    stats = memstrata.memory_stats() if ours else torch.cuda.memory_stats()
    # 100,000 events for the dump's time: a buffer is taken and given back.
    record(enabled=None)
    record(enabled="all", stacks="all", context="all")
    for _ in range(33333):
        torch.empty(1000, device="cuda")
    path = os.path.join(folder, mode + ".pickle")
    times_of_dump = []
    for _ in range(2):  # the first gives stacks their names
        start = time.perf_counter()
        (memstrata.dump_snapshot if ours else torch.cuda.memory._dump_snapshot)(path)
        times_of_dump.append(time.perf_counter() - start)
    print(json.dumps({
        "losses": [f"{loss.item():.10e}" for loss in losses],
        "step": statistics.median(times[10:STEPS - RECORDED]),
        "peak_reserved": stats["reserved_bytes.all.peak"], "peak_allocated": stats["allocated_bytes.all.peak"],
        "sizes": sizes, "dump": times_of_dump, "path": path,
        "versions": f"PyTorch {torch.__version__}, Python {sys.version.split()[0]}, {torch.cuda.get_device_name()}"}))


SOURCE = r"""
#include <c10/cuda/CUDACachingAllocator.h>
#include <chrono>
#include <dlfcn.h>
#include <vector>
#include <algorithm>
template <typename F> double ns(F work) {
  std::vector<double> all;
  for (int run = 0; run < 9; ++run) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 100000; ++i) work();
    all.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / 1e5);
  }
  std::sort(all.begin(), all.end());
  return all[4];
}
std::vector<double> compare(const std::string& path) {
  namespace native = c10::cuda::CUDACachingAllocator;
  void* library = dlopen(path.c_str(), RTLD_NOW);
  auto alloc = (void* (*)(size_t, int, void*))dlsym(library, "memstrata_alloc");
  auto release = (void (*)(void*, size_t, int, void*))dlsym(library, "memstrata_free");
  std::vector<void*> kept;
  for (int i = 0; i < 10000; ++i) { kept.push_back(native::raw_alloc(512 * (1 + i * 7919 % 400))); alloc(512 * (1 + i * 7919 % 400), 0, nullptr); }
  return {ns([] { native::raw_delete(native::raw_alloc(100000)); }),
          ns([&] { release(alloc(100000, 0, nullptr), 100000, 0, nullptr); })};
}
"""


def malloc_times():
    """(PyTorch's, ours): nanoseconds of a malloc and free from the cache, called from C++ in one process."""
    import torch
    from torch.utils.cpp_extension import load_inline

    torch.zeros(1, device="cuda")
    module = load_inline("memstrata_compare", SOURCE, functions=["compare"], with_cuda=True)
    return module.compare(os.environ["MEMSTRATA_CAPTURE"])


def row(what, theirs, ours, verdict):
    print(f"| {what} | {theirs} | {ours} | {verdict} |", flush=True)


def verdict(good):
    return "ok" if good else "MISSED"


def main(tool):
    try:
        import torch
    except ImportError:
        print("skipped: PyTorch is not installed")
        return 77
    if not torch.cuda.is_available():
        print("skipped: PyTorch sees no CUDA device")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        runs = {}
        for mode in ("pytorch", "memstrata"):
            done = subprocess.run([sys.executable, __file__, "--train", mode, folder], text=True, stdout=subprocess.PIPE,
                                  check=True)
            runs[mode] = json.loads(done.stdout.splitlines()[-1])
        theirs, ours = runs["pytorch"], runs["memstrata"]
        print("| " + ours["versions"] + " | PyTorch | memstrata | |\n|---|---|---|---|")
        row("losses of 60 steps", theirs["losses"][-1], ours["losses"][-1], verdict(theirs["losses"] == ours["losses"]))
        ratio = ours["peak_reserved"] / theirs["peak_reserved"]
        row("peak reserved, bytes", theirs["peak_reserved"], ours["peak_reserved"], verdict(abs(ratio - 1) <= 0.01))
        ratio = ours["step"] / theirs["step"]
        row("step, ms", f"{theirs['step'] * 1e3:.2f}", f"{ours['step'] * 1e3:.2f}", verdict(ratio <= 1.01))
        row("sizes of three steps, in order", len(theirs["sizes"]), len(ours["sizes"]),
            verdict(theirs["sizes"] == ours["sizes"]))
        row("dump of 100,000 events, s, first", f"{theirs['dump'][0]:.3f}", f"{ours['dump'][0]:.3f}", "")
        row("dump of 100,000 events, s, again", f"{theirs['dump'][1]:.3f}", f"{ours['dump'][1]:.3f}",
            verdict(ours["dump"][1] <= theirs["dump"][1]))
        opened = subprocess.run([tool, "summary", "--json", ours["path"]], text=True, capture_output=True)
        row("`memstrata summary` of the dump", "", f"exit code {opened.returncode}", verdict(opened.returncode == 0))
    try:
        native, captured = malloc_times()
        row("malloc + free from the cache, ns", f"{native:.0f}", f"{captured:.0f}", verdict(captured <= native))
    except Exception as error:  # no compiler, no headers: said, not hidden
        row("malloc + free from the cache, ns", "", "", f"not measured: {type(error).__name__}")
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "--train":
        train(sys.argv[2], sys.argv[3])
    else:
        sys.exit(main(sys.argv[1]))
