#!/usr/bin/env python3
"""Writes the files of this folder: one of each kind that other memory profilers leave, with numbers that one can check by hand.

  python3 tests/data/profilers/make.py
"""
import collections
import json
import pickle
from pathlib import Path

HERE = Path(__file__).parent
MIB = 1 << 20


def write(name, content):
    data = content if isinstance(content, bytes) else (json.dumps(content, indent=1) + "\n").encode()
    (HERE / name).write_bytes(data)


def tracker():
    """MemoryTracker.save_stats(): five operators, the peak of 30 MiB after operator 2."""
    samples = [
        ("layer1.forward.mm.default_0", 10.0, 20.0),
        ("layer1.forward.relu.default_0", 14.5, 20.0),
        ("layer2.forward.mm.default_1", 30.0, 42.0),
        ("layer2.forward.sum.default_0", 30.0, 42.0),
        ("layer2.forward.mm.default_2", 22.0, 42.0),
    ]
    tables = [collections.defaultdict() for _ in range(3)]
    for op, (name, allocated, reserved) in enumerate(samples):
        for table, size in zip(tables, (allocated, allocated, reserved)):
            table[op] = (name, size)
    markers = collections.defaultdict(int)
    markers.update(fw_start=0, fw_bw_boundary=4)
    keys = ("memories_allocated", "memories_active", "memories_reserved")
    return pickle.dumps({**dict(zip(keys, tables)), "markers": markers, "num_alloc_retries": 0}, protocol=5)


def timeline():
    """export_memory_timeline(): 16 KiB at most, at 2 ms."""
    rows = [
        [0, 4096, 0, 0, 0, 0, 0, 0, 0],
        [0, 4096, 0, 0, 0, 8192, 0, 0, 0],
        [0, 4096, 0, 0, 0, 8192, 4096, 0, 0],
        [0, 4096, 0, 0, 0, 0, 4096, 0, 0],
    ]
    return [[1000, 1000, 2000, 3000], rows]


def telemetry():
    """Samples of a tracker: 100, 300, 300 and 150 MiB, the second one an alert."""
    kinds = ["sample", "warning", "sample", "sample"]
    return [
        {
            "schema_version": 2,
            "timestamp_ns": 1_700_000_000_000_000_000 + i * 100_000_000,
            "event_type": kind,
            "collector": "gpumemprof.cuda_tracker",
            "sampling_interval_ms": 100,
            "pid": 7,
            "host": "here",
            "device_id": 0,
            "allocator_allocated_bytes": size * MIB,
            "allocator_reserved_bytes": 400 * MIB,
            "allocator_active_bytes": None,
            "allocator_inactive_bytes": None,
            "allocator_change_bytes": 0,
            "device_used_bytes": 400 * MIB,
            "device_free_bytes": 24176 * MIB,
            "device_total_bytes": 24576 * MIB,
            "context": "Large allocation: 200 MB" if kind == "warning" else None,
            "metadata": {},
        }
        for i, (kind, size) in enumerate(zip(kinds, [100, 300, 300, 150]))
    ]


def functions():
    """A profile export: two functions."""

    def level(time, size):
        return {"timestamp": time, "allocated_memory": size * MIB, "reserved_memory": 512 * MIB, "device_id": 0, "operation": ""}

    def call(name, time, before, peak, after):
        return {
            "function_name": name,
            "execution_time": 0.5,
            "memory_before": level(time, before),
            "memory_after": level(time + 0.5, after),
            "memory_peak": level(time + 0.5, peak),
            "memory_allocated": max(0, after - before) * MIB,
            "memory_freed": max(0, before - after) * MIB,
            "memory_diff": (after - before) * MIB,
            "peak_memory_usage": peak * MIB,
            "tensors_created": 1,
            "tensors_deleted": 0,
            "call_count": 1,
        }

    results = [call("train_step", 1.7e9, 100, 180, 140), call("evaluate", 1.7e9 + 1, 140, 400, 140)]
    return {"metadata": {"export_time": "2026-01-01", "num_results": 2, "num_snapshots": 0}, "results": results, "snapshots": []}


def trace_of(ops, records, level):
    """A trace of one thread: (name, category, start, duration) and (time, bytes, address), in microseconds."""
    events = [{"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 100, "ts": ts, "dur": dur} for name, category, ts, dur in ops]
    for time, size, address in records:
        level += size
        arguments = {"Total Allocated": level, "Total Reserved": 128 * MIB, "Bytes": size, "Addr": address, "Device Id": 0, "Device Type": 1}
        events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 100, "ts": time, "args": arguments})
    return {"schemaVersion": 1, "displayTimeUnit": "ms", "traceEvents": events, "traceName": "trace.json"}


def gan():
    """The run of site/guide/negative.md: three ops free what others allocated."""
    ops = [
        ("train_discriminator", "user_annotation", 0, 1000),
        ("Generator.forward", "user_annotation", 100, 200),
        ("aten::addmm", "cpu_op", 110, 40),
        ("aten::addmm", "cpu_op", 160, 40),
        ("aten::binary_cross_entropy", "cpu_op", 400, 100),
        ("aten::empty", "cpu_op", 410, 10),
        ("aten::empty", "cpu_op", 430, 10),
        ("Optimizer.zero_grad#Adam.zero_grad", "user_annotation", 700, 50),
    ]
    hidden, fake, loss, scratch, gradients = 0x7F0000000000, 0x7F0001000000, 0x7F0002000000, 0x7F0002000600, 0x7F0003000000
    records = [
        (120, 4 * MIB, hidden),
        (170, 8 * MIB, fake),
        (290, -4 * MIB, hidden),  # a local of forward
        (415, 1536, loss),
        (435, 1536, scratch),
        (490, -1536, scratch),  # what the loss needed on its way
        (720, -6 * MIB, gradients),  # of the step before the trace began
    ]
    return trace_of(ops, records, 64 * MIB)


def trace():
    """torch.profiler: train holds linear (empty, addmm) and relu; 100,352 bytes are there before."""
    ops = [("train", 0, 100), ("aten::linear", 10, 30), ("aten::empty", 12, 2), ("aten::addmm", 15, 20), ("aten::relu", 50, 10)]
    records = [(13, 4096, 0x1000), (20, 8192, 0x2000), (30, -8192, 0x2000), (38, -2048, 0x9000), (52, 6144, 0x3000), (70, -4096, 0x1000)]
    return trace_of([(name, "cpu_op", ts, dur) for name, ts, dur in ops], records, 100352)


if __name__ == "__main__":
    write("tracker.pickle", tracker())
    write("timeline.json", timeline())
    write("telemetry.json", telemetry())
    write("functions.json", functions())
    write("trace.json", trace())
    write("gan.json", gan())
