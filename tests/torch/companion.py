#!/usr/bin/env python3
"""What gpustrata's allocator does as a class of PyTorch's: one thing a process.   companion.py NAME"""
import json
import sys

import torch

import gpustrata

MIB = 1 << 20


def install():
    assert gpustrata.install(companion=True) is True
    kept = sys.modules.get("gpustrata._companion")
    assert getattr(kept, "_kept", None) is not None, "the hooks were used"


def tensor(bytes_wanted):
    return torch.empty(bytes_wanted, dtype=torch.uint8, device="cuda")


def out_of_memory():
    install()
    seen = []
    torch._C._cuda_attach_out_of_memory_observer(lambda *numbers: seen.append(numbers))
    held = tensor(100 * MIB)
    try:
        tensor(1 << 40)
    except torch.OutOfMemoryError as error:
        assert "CUDA out of memory. Tried to allocate 1024.00 GiB" in str(error), error
        print(type(error).__name__)
    assert [(one[0], one[1]) for one in seen] == [(0, 1 << 40)], seen
    tensor(1000)  # it goes on
    assert held.numel() == 100 * MIB


def mem_pool():
    install()
    mem_pool_of_pytorch()


def mem_pool_of_pytorch():
    """What is given back with a pool: since 2.6 its memory; before, a MemPool has no end (checked with both allocators)."""
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        inside = tensor(3 * MIB)
    outside = tensor(3 * MIB)
    snapshot = torch.cuda.memory._snapshot()
    of = {block["address"]: tuple(segment["segment_pool_id"]) for segment in snapshot["segments"]
          for block in segment["blocks"]}
    assert of[inside.data_ptr()] == tuple(pool.id), (of, pool.id)
    assert of[outside.data_ptr()] == (0, 0)
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 13):
        nested = torch.cuda.memory_stats_as_nested_dict()["reserved_bytes_by_private_pools"]
        assert [(of, told["all"]["current"]) for of, told in nested.items()] == [(tuple(pool.id), 20 * MIB)], nested
    del inside
    before = torch.cuda.memory_reserved()
    del pool
    torch.cuda.empty_cache()
    print(f"given back: {(before - torch.cuda.memory_reserved()) // MIB} MiB")


def end(pool):
    (getattr(torch._C, "_cuda_endAllocateToPool", None) or torch._C._cuda_endAllocateCurrentStreamToPool)(0, pool)


def checkpoint():
    install()
    pool = torch.cuda.graph_pool_handle()
    tensor(1)
    torch._C._cuda_beginAllocateToPool(0, pool)
    first, second = tensor(5 * MIB), tensor(700)
    state = torch._C._cuda_getCheckpointState(0, pool)
    live = {first.untyped_storage().data_ptr(), second.untyped_storage().data_ptr()}
    assert torch._C._cuda_checkPoolLiveAllocations(0, pool, live)
    assert not torch._C._cuda_checkPoolLiveAllocations(0, pool, live - {first.data_ptr()})
    third = tensor(2 * MIB)
    assert not torch._C._cuda_checkPoolLiveAllocations(0, pool, live)
    end(pool)
    stale = [third.untyped_storage()._cdata]
    torch._C._cuda_setCheckpointPoolState(0, state, stale, [])
    assert torch._C._cuda_checkPoolLiveAllocations(0, pool, live)
    assert torch.cuda.memory_stats()["allocation.all.current"] == 2, torch.cuda.memory_stats()["allocation.all.current"]
    print("ok")


def graph():
    install()
    one_graph()
    print("ok")


def one_graph():
    tensor(1)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        inside = torch.empty(3 * MIB, dtype=torch.uint8, device="cuda")
    captured.replay()
    outside = tensor(3 * MIB)
    segments = torch.cuda.memory._snapshot()["segments"]
    of = {block["address"]: tuple(segment["segment_pool_id"]) for segment in segments for block in segment["blocks"]}
    assert of[inside.data_ptr()] != (0, 0)
    assert of[outside.data_ptr()] == (0, 0)


def captures():
    install()
    captures_of_pytorch()


def captures_of_pytorch():
    """A graph is captured on one stream; meanwhile the thread uses that one and another."""
    inside, outside, third = torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(outside):
        kept = [tensor(3 * MIB) for _ in range(4)]
    torch.cuda.memory._record_memory_history(context=None)
    graph = torch.cuda.CUDAGraph()
    for one in kept:
        one.record_stream(third)
    del one
    with torch.cuda.stream(inside):
        graph.capture_begin(capture_error_mode="relaxed")
        kept.pop()  # put off
        with torch.cuda.stream(outside):
            kept.pop()
            kept.append(tensor(5 * MIB))
            kept.pop(0)
            kept.append(tensor(3 * MIB))
        kept.append(tensor(7 * MIB))
        graph.capture_end()
    kept.append(tensor(9 * MIB))
    events = torch.cuda.memory._snapshot()["device_traces"][0]
    print([(event["action"], event["size"]) for event in events if event["action"] != "snapshot"])


def cache_info():
    """cuDNN's benchmark asks for it, from C++: here through the companion's own entry."""
    install()
    del [tensor(30 * MIB)][0]
    told = torch.cuda.memory_stats()
    assert told["reserved_bytes.all.current"] == 30 * MIB, told["reserved_bytes.all.current"]
    import ctypes

    from gpustrata import _recorder

    size = ctypes.c_size_t()
    assert _recorder._library().gpustrata_largest_cached_block(0, ctypes.byref(size)) == 0
    assert size.value == 30 * MIB, size.value
    print("ok")


def profiler():
    install()
    tensor(1)
    with torch.profiler.profile(profile_memory=True, activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        held = [tensor(5 * MIB) for _ in range(3)]
        held.pop()
    changes = [event for event in profile.profiler.kineto_results.events() if event.name() == "[memory]"]
    sizes = sorted(event.nbytes() for event in changes)
    assert sizes == [-5 * MIB, 5 * MIB, 5 * MIB, 5 * MIB], sizes
    print("ok")


def statistics():
    install()
    torch.cuda.memory._record_memory_history()
    held = tensor(1000)
    assert torch.cuda.memory_allocated() == 1024
    assert torch.cuda.memory._snapshot()["device_traces"][0][-1]["action"] in ("alloc", "snapshot")
    assert torch.cuda.get_per_process_memory_fraction() == 1.0 if hasattr(
        torch.cuda, "get_per_process_memory_fraction") else True
    torch.cuda.set_per_process_memory_fraction(0.5)
    assert held.numel() == 1000
    print("ok")


def hooks_alone():
    assert gpustrata.install() is True
    told = {}

    def attempt(name, work):
        try:
            work()
            told[name] = "ok"
        except torch.OutOfMemoryError:
            told[name] = "OutOfMemoryError"
        except RuntimeError:
            told[name] = "RuntimeError"

    attempt("out_of_memory", lambda: tensor(1 << 40))
    attempt("mem_pool", torch.cuda.MemPool)
    attempt("graph", one_graph)
    pool = torch.cuda.graph_pool_handle()
    torch._C._cuda_beginAllocateToPool(0, pool)
    attempt("checkpoint", lambda: torch._C._cuda_getCheckpointState(0, pool))
    end(pool)
    print(json.dumps(told))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
