#!/usr/bin/env python3
"""Programs under both recorders at once: PyTorch's own history, and what observes its allocator.

  observe_programs.py NAME [ARGUMENTS...]      prints as JSON what was recorded and where the two differ
  observe_programs.py scripts FOLDER           each FOLDER/*.txt, in a process of its own
"""
import json
import os
import pickle
import sys
import tempfile
import threading
import traceback
from pathlib import Path

import torch

import companion
import run_programs
from run_script import Program

MIB = 1 << 20


def differences(theirs, ours):
    """In words. A snapshot tells of itself in one and may not in the other; times are microseconds of two conversions."""
    found = []
    for device, traces in enumerate(zip(theirs["device_traces"], ours["device_traces"], strict=True)):
        first, second = ([event for event in trace if event["action"] != "snapshot"] for trace in traces)
        if len(first) != len(second):
            found.append(f"device {device}: {len(first)} | {len(second)} events")
        for number, (one, other) in enumerate(zip(first, second)):
            apart = {key: (one.get(key), other.get(key)) for key in {*one, *other} - {"time_us"} if one.get(key) != other.get(key)}
            if apart or abs(one["time_us"] - other["time_us"]) > 20_000:
                found.append(f"device {device} event {number}: {apart or (one['time_us'], other['time_us'])}")
    keys = ("device", "address", "total_size", "allocated_size", "active_size", "requested_size", "stream", "segment_type",
            "segment_pool_id", "is_expandable")
    states = [[({key: segment.get(key) for key in keys},
                [{**block, "frames": block.get("frames") if "active" in block["state"] else []} for block in segment["blocks"]])
               for segment in sorted(one["segments"], key=lambda one: (one["device"], one["address"]))] for one in (theirs, ours)]
    found += [f"segment: {one} | {other}" for one, other in zip(*states) if one != other]
    if len(states[0]) != len(states[1]):
        found.append(f"{len(states[0])} | {len(states[1])} segments")
    if theirs["allocator_settings"] != ours["allocator_settings"]:
        found.append(f"settings: {theirs['allocator_settings']} | {ours['allocator_settings']}")
    regions = [[(mark["name"], mark["stage"], mark["device"]) for mark in one["external_annotations"]] for one in (theirs, ours)]
    if regions[0] != regions[1]:
        found.append(f"regions: {regions[0][:4]} | {regions[1][:4]}")
    return found


def both(work):
    """Both from here on; the counts and what differs."""
    import gpustrata

    with tempfile.TemporaryDirectory() as folder:
        torch.cuda.init()
        torch.cuda.memory._record_memory_history(max_entries=10_000_000, stacks="python")
        with gpustrata.record(os.path.join(folder, "ours.pickle"), observe=True, max_events=10_000_000) as recording:
            kept = work()
            theirs = torch.cuda.memory._snapshot()
        del kept
        ours = pickle.loads(Path(recording.path).read_bytes())
    assert ours.get("gpustrata", {}).get("observed") is True, "it was not observed"
    return {"events": sum(len(trace) for trace in ours["device_traces"]), "regions": len(ours["external_annotations"]),
            "actions": sorted({event["action"] for trace in ours["device_traces"] for event in trace} - {"snapshot"}),
            "stacks": len({str(event.get("frames")) for trace in ours["device_traces"] for event in trace}),
            "differences": differences(theirs, ours)}


def of_script(path):
    program = Program()
    for index, text in enumerate(line.strip() for line in path.read_text().split("\n") if line.strip()):
        program.step(index, text)
    return program


def scripts(folder):
    for path in sorted(Path(folder).glob("*.txt")):
        print(path.name, end=" ", flush=True)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                print(json.dumps(both(lambda: of_script(path))), flush=True)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        if os.waitpid(child, 0)[1] != 0:
            sys.exit(f"{path.name} failed")


def train():
    """Of two optimizers, with autograd's threads, and regions of both."""
    return run_programs.steps(6, growth=1)


def threads():
    """Eight, with a stream each, that hand tensors to each other."""
    lock, handed = threading.Lock(), []

    def work(number):
        stream = torch.cuda.Stream()
        for turn in range(300):
            with torch.cuda.stream(stream):
                own = torch.empty(1 + (number * 7919 + turn * 104729) % (3 * MIB), dtype=torch.uint8, device="cuda")
            with lock:
                handed.append(own)
                other = handed.pop(turn % len(handed)) if turn % 3 else None
            if other is not None:
                other.record_stream(stream)

    all_threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for one in all_threads:
        one.start()
    for one in all_threads:
        one.join()
    return handed


def generated():
    """Functions that are made, used and gone, one where another was, with other names, files and lines."""
    kept = []
    for number in range(400):
        space = {"torch": torch, "kept": kept}
        name = f"made_{number % 7}" if number % 3 else f"gemacht_ä{number}"
        exec(compile("\n" * (number % 5) + f"def {name}():\n    kept.append(torch.empty(1000, device='cuda'))\n{name}()\n",
                     f"<generated {number}>", "exec"), space)
        if number % 2:
            kept.clear()
    return kept


def generators_and_classes():
    """Frames of generators, of classes' bodies, of methods called from C, of recursion deeper than is kept together."""
    def tensors(count):
        for number in range(count):
            yield torch.empty(1000 + number, device="cuda")

    class Made:
        inside = torch.empty(10, device="cuda")

        def __lt__(self, other):
            return torch.empty(10, device="cuda").numel() > 10

    def deep(levels):
        return torch.empty(7, device="cuda") if levels == 0 else deep(levels - 1)

    return [*tensors(20), sorted([Made(), Made(), Made()]), *map(deep, (0, 5, 50, 100, 200)),
            [torch.empty(n, device="cuda") for n in range(1, 5)]]


def memory_runs_out():
    kept = [torch.empty(100 * MIB, dtype=torch.uint8, device="cuda")]
    for _ in range(3):
        try:
            torch.empty(1 << 40, dtype=torch.uint8, device="cuda")
        except torch.OutOfMemoryError:
            pass
    return kept


def devices():
    return [torch.empty(1000 * (number + 1), device=f"cuda:{number % 2}") for number in range(10)]


def graph():
    companion.one_graph()


def mem_pool():
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        inside = torch.empty(3 * MIB, dtype=torch.uint8, device="cuda")
    outside = torch.empty(3 * MIB, dtype=torch.uint8, device="cuda")
    return [pool, inside, outside]


def checkpoint():
    """As graph trees do: a pool's blocks as they were, with others in between."""
    pool = torch.cuda.graph_pool_handle()
    torch.empty(1, device="cuda")
    torch._C._cuda_beginAllocateToPool(0, pool)
    first, second = torch.empty(5 * MIB, device="cuda"), torch.empty(700, device="cuda")
    state = torch._C._cuda_getCheckpointState(0, pool)
    third = torch.empty(2 * MIB, device="cuda")
    companion.end(pool)
    torch._C._cuda_setCheckpointPoolState(0, state, [third.untyped_storage()._cdata], [])
    return [first, second, third]


def metadata():
    """Texts of the thread and of a tensor, where this version has them."""
    torch.cuda.memory._set_memory_metadata("first")
    kept = [torch.empty(1000, device="cuda")]
    torch.cuda.memory._set_memory_metadata("sécond")
    kept.append(torch.empty(1000, device="cuda"))
    torch.cuda.memory._annotate_tensor(kept[0], "noted")
    torch.cuda.memory._set_memory_metadata("")
    kept.append(torch.empty(1000, device="cuda"))
    return kept


def in_turn():
    """Observed twice, with what is not observed before, between and after."""
    told = []
    kept = run_programs.steps(1)
    for _ in range(2):
        told.append(both(lambda: run_programs.steps(2)))
        torch.cuda.memory._record_memory_history(None)
        kept = run_programs.steps(1)
    del kept
    return told


if __name__ == "__main__":
    name, *arguments = sys.argv[1:]
    if name == "scripts":
        scripts(*arguments)
    elif name == "in_turn":
        print(json.dumps(in_turn()))
    else:
        print(json.dumps(both(globals()[name], *arguments)))
