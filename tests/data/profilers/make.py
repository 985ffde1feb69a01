#!/usr/bin/env python3
"""Writes the files of this folder: what other memory profilers leave, with numbers that one can check by hand.

  python3 tests/data/profilers/make.py
"""
import json
from pathlib import Path

HERE = Path(__file__).parent
MIB = 1 << 20


def write(name, content):
    (HERE / name).write_text(json.dumps(content, indent=1) + "\n")


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


if __name__ == "__main__":
    write("gan.json", gan())
