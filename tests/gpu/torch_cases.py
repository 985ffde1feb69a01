#!/usr/bin/env python3
"""One thing that programs do with PyTorch on a GPU, under one allocator: a child of proof.py.

  torch_cases.py NAME pytorch|hooks|companion FOLDER      FOLDER: for what it writes; GPUSTRATA_CAPTURE: the library

The last line is {"outcome": "ok" or the class of what was raised, "value": what has to be PyTorch's own}. Exit code 77:
there is not what it needs, and the last line of stderr names it. Where copies are enough there are no kernels, so that a
made-up CUDA runtime can run it, too (tests/torch).
"""
import json
import os
import pathlib
import subprocess
import sys
import threading

MIB = 1 << 20
PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "capture/python"


class Missing(Exception):
    """What a case needs and is not here."""


def counting(torch, count=MIB, first=0):
    """Bytes that tell where they come from."""
    return ((torch.arange(count) + first) % 251).to(torch.uint8)


def graph(torch, _):
    """A graph is replayed while eager code allocates and writes: neither may touch what is the other's."""
    weights = torch.randn(512, 512, device="cuda", generator=torch.Generator("cuda").manual_seed(1))
    given = torch.zeros(512, 512, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            (given @ weights).relu() @ weights
    torch.cuda.current_stream().wait_stream(side)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        made = (given @ weights).relu() @ weights
    for i in range(20):
        noise = [torch.full((MIB,), float("nan"), device="cuda") for _ in range(8)]
        given.fill_(i / 100)
        captured.replay()
        assert torch.equal(made, (given @ weights).relu() @ weights), f"replay {i}"
        assert all(one.isnan().all() for one in noise), f"eager memory after replay {i}"
    return float(made.sum())


def out_of_memory(torch, _):
    """Caught, and the program goes on with what it held."""
    wanted = counting(torch)
    held = wanted.cuda()
    try:
        torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
    except RuntimeError as error:
        assert "out of memory" in str(error), error
        raised = error
    else:
        raise AssertionError("a pebibyte was given")
    torch.cuda.empty_cache()
    assert torch.equal(held.cpu(), wanted) and torch.equal(wanted.cuda().cpu(), wanted)
    raise raised


def convolution(torch, _):
    """cuDNN tries its plans, and asks the allocator how much it may take."""
    given = torch.randn(8, 64, 56, 56, device="cuda", generator=torch.Generator("cuda").manual_seed(1))
    layer = torch.nn.Conv2d(64, 64, 3, padding=1).cuda()
    plain = layer(given)
    torch.backends.cudnn.benchmark = True
    assert torch.allclose(layer(given), plain, atol=1e-2)


def compiled(torch, **options):
    layer = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256)).cuda()
    fast = torch.compile(layer, **options)
    for i in range(5):
        given = torch.full((64, 256), i / 10, device="cuda")
        if "mode" in options:
            torch.compiler.cudagraph_mark_step_begin()
        made = fast(given)
        assert torch.allclose(made, layer(given), atol=1e-2), f"call {i}"
        made.sum().backward()


def compile_default(torch, _):
    compiled(torch)


def compile_reduce_overhead(torch, _):
    compiled(torch, mode="reduce-overhead")


def record_stream(torch, _):
    """A block that another stream still reads is not given to the next one who asks."""
    main, side = torch.cuda.current_stream(), torch.cuda.Stream()
    wanted = counting(torch, 8 * MIB)
    other = counting(torch, 8 * MIB, 7).pin_memory()
    for _ in range(20):
        with torch.cuda.stream(side):
            first = wanted.to("cuda", non_blocking=True)
        main.wait_stream(side)
        if hasattr(torch.cuda, "_sleep") and os.environ.get("MADE_UP_KERNELS") is None:
            torch.cuda._sleep(10_000_000)  # what reads it is late
        taken = torch.empty_like(first).copy_(first, non_blocking=True)
        first.record_stream(main)
        del first
        with torch.cuda.stream(side):
            again = torch.empty(8 * MIB, dtype=torch.uint8, device="cuda").copy_(other, non_blocking=True)
        torch.cuda.synchronize()
        assert torch.equal(taken.cpu(), wanted) and torch.equal(again.cpu(), other)
        del taken, again


class Numbers:
    """A data set for the workers, who inherit a CUDA tensor and drop it."""

    def __init__(self, on_device):
        self.on_device = on_device

    def __len__(self):
        return 64

    def __getitem__(self, i):
        self.on_device = None
        return i


def fork(torch, _):
    """Workers of a data loader are forked while CUDA is in use; the parent goes on."""
    wanted = counting(torch)
    held = wanted.cuda()
    loader = torch.utils.data.DataLoader(Numbers(wanted.cuda()), batch_size=8, num_workers=2,
                                         multiprocessing_context="fork")
    found = sum(int(batch.cuda().cpu().sum()) for batch in loader)
    assert torch.equal(held.cpu(), wanted)
    return found


def second_device(torch, _):
    """Copies between devices, of memory that is mapped page by page."""
    if torch.cuda.device_count() < 2:
        raise Missing("a second device")
    wanted = counting(torch, 64 * MIB)
    there = wanted.to("cuda:0").to("cuda:1")
    assert torch.equal(there.cpu(), wanted) and torch.equal(there.to("cuda:0").cpu(), wanted)


def exit_with_tensors(torch, _):
    """The process ends while globals and a thread hold tensors."""
    def hold():
        held = torch.empty(MIB, device="cuda")
        ready.set()
        forever.wait()
        del held

    ready, forever = threading.Event(), threading.Event()
    torch.held_until_the_end = [torch.empty(MIB, device="cuda") for _ in range(10)]
    threading.Thread(target=hold, daemon=True).start()
    ready.wait()


def mem_pool(torch, _):
    """What is asked for inside of a pool lies in it, everything else does not."""
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        inside = torch.empty(3 * MIB, dtype=torch.uint8, device="cuda")
    outside = torch.empty(3 * MIB, dtype=torch.uint8, device="cuda")
    of = {block["address"]: tuple(segment["segment_pool_id"])
          for segment in torch.cuda.memory._snapshot()["segments"] for block in segment["blocks"]}
    assert of[inside.data_ptr()] == tuple(pool.id) and of[outside.data_ptr()] == (0, 0), of


def viewer(torch, folder):
    """PyTorch's own tools read what was dumped."""
    torch.cuda.memory._record_memory_history()
    held = [torch.empty(size * MIB, dtype=torch.uint8, device="cuda") for size in (1, 5, 30)]
    held.pop(1)
    path = str(pathlib.Path(folder) / "viewer.pickle")
    torch.cuda.memory._dump_snapshot(path)
    tool = pathlib.Path(torch.__file__).parent / "cuda" / "_memory_viz.py"
    told = {}
    for what in ("stats", "trace", "trace_plot"):  # the others fetch a script
        more = ["-o", str(pathlib.Path(folder) / what)] if what == "trace_plot" else []
        done = subprocess.run([sys.executable, str(tool), what, path, *more], text=True, capture_output=True, timeout=300)
        assert done.returncode == 0, f"{what}: {done.stderr[-300:]}"
        told[what] = done.stdout
    return [line for line in told["stats"].splitlines() if "num_segments" in line or "total" in line]


CASES = {name: globals()[name] for name in (
    "graph", "out_of_memory", "convolution", "compile_default", "compile_reduce_overhead", "record_stream", "fork",
    "second_device", "exit_with_tensors", "mem_pool", "viewer")}


def main(name, mode, folder):
    if name == "second_device":
        os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"  # read when torch is loaded
    import torch

    if mode != "pytorch":
        sys.path.insert(0, str(PACKAGE))
        import gpustrata

        assert gpustrata.install(companion=mode == "companion"), "gpustrata could not be installed"
        if mode == "companion":
            assert getattr(sys.modules.get("gpustrata._companion"), "_kept", None) is not None, "the hooks were used"
    told = {"outcome": "ok", "value": None}
    try:
        told["value"] = CASES[name](torch, folder)
    except Missing as missing:
        print(f"missing: {missing}", file=sys.stderr)
        return 77
    except RuntimeError as error:  # what the interface of PyTorch leaves out
        told["outcome"] = type(error).__name__
        print(error, file=sys.stderr)
    print(json.dumps(told), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
