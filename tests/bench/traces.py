#!/usr/bin/env python3
"""Traces as torch.profiler writes them, of a made-up training run: ops with shapes in ops, Python functions, calls of the
runtime, kernels, flows and memory records with totals. Always the same for the same size.

    python3 tests/bench/traces.py MEGABYTES FILE [--ops-only]

`--ops-only`: nearly all is ops and memory records, half of each, which is what tables of ops cost most for."""

import os
import random
import sys

BASE = 1_724_696_104_000_000_000  # ns


class Writer:
    def __init__(self, out):
        self.out = out
        self.parts = []
        self.size = 0
        self.written = 0
        self.time = 0  # ns since BASE
        self.index = 0
        self.flow = 0
        self.level = 0
        self.address = 0x7F0000000000
        self.live = []
        self.random = random.Random(7)

    def text(self, text):
        self.parts.append(text)
        self.size += len(text)
        if len(self.parts) > 20_000:
            self.flush()

    def flush(self):
        self.out.write("".join(self.parts))
        self.parts = []

    def moment(self):
        return f"{self.time // 1000}.{self.time % 1000:03d}"

    def later(self, ns):
        self.time += ns + self.random.randrange(ns)

    def span(self, category, name, begin, args, pid=6504, tid=6569):
        took = self.time - begin
        self.text(
            f'  {{\n    "ph": "X", "cat": "{category}", "name": "{name}", "pid": {pid}, "tid": {tid},\n'
            f'    "ts": {begin // 1000}.{begin % 1000:03d}, "dur": {took // 1000}.{took % 1000:03d},\n'
            f'    "args": {{\n      {args}\n    }}\n  }},\n'
        )

    def record(self, size, address):
        self.level += size
        self.index += 1
        self.text(
            '  {\n    "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]",\n'
            f'    "pid": 6504, "tid": 6569,\n    "ts": {self.moment()},\n    "args": {{\n'
            f'      "Total Reserved": {self.level + (1 << 30)}, "Total Allocated": {self.level}, "Bytes": {size}, '
            f'"Addr": {address}, "Device Id": 0, "Device Type": 1, "Ev Idx": {self.index}\n    }}\n  }},\n'
        )

    def allocate(self):
        size = 512 * self.random.randrange(1, 4096)
        self.address += 1 << 22
        self.live.append((self.address, size))
        self.record(size, self.address)

    def free(self, keep):
        while len(self.live) > keep:
            address, size = self.live.pop(self.random.randrange(len(self.live)))
            self.later(300)
            self.record(-size, address)

    def op(self, name, dims, inside=()):
        begin = self.time
        self.index += 1
        index = self.index
        self.later(400)
        for one in inside:
            one()
        self.later(400)
        types = ", ".join('"c10::BFloat16"' for _ in dims)
        strides = ", ".join(str([1 for _ in one]) for one in dims)
        concrete = ", ".join('""' for _ in dims)
        self.span(
            "cpu_op", name, begin,
            f'"External id": {index},"Record function id": 0, "Concrete Inputs": [{concrete}], "Input type": [{types}], '
            f'"Input Strides": [{strides}], "Input Dims": {dims}, "Ev Idx": {index}',
        )

    def kernel(self, name):
        begin = self.time
        self.later(2000)
        self.flow += 1
        self.span("cuda_runtime", "cudaLaunchKernel", begin, f'"External id": {self.index}, "cbid": 211, "correlation": {self.flow}')
        self.text(
            f'  {{\n    "ph": "s", "id": {self.flow}, "pid": 6504, "tid": 6569, "ts": {self.moment()},\n'
            '    "cat": "ac2g", "name": "ac2g"\n  },\n'
        )
        self.later(3000)
        self.span(
            "kernel", f"void at::native::{name}<4, 8>(int, at::native::Functor)", begin + 5000,
            f'"External id": {self.index}, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": {self.flow}, '
            '"registers per thread": 32, "shared memory": 0, "blocks per SM": 10.0, "warps per SM": 40.0, '
            '"grid": [240, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %": 62',
            pid=0, tid=7,
        )

    def python(self, name, body):
        begin = self.time
        self.index += 1
        index = self.index
        self.later(500)
        body()
        self.later(500)
        self.span("python_function", name, begin, f'"Python parent id": {index - 1}, "Python id": {index}, "Ev Idx": {index}')

    def layer(self, number):
        n = 8 * (1 + number % 4)
        shapes = [[n, 512, 768], [768, 3072], [3072]]
        self.op("aten::linear", shapes, [
            lambda: self.op("aten::t", shapes[1:2], [lambda: self.op("aten::transpose", shapes[1:2])]),
            lambda: self.op("aten::addmm", shapes, [
                lambda: self.op("aten::empty", [[]], [self.allocate]),
                lambda: self.kernel("vectorized_elementwise_kernel"),
            ]),
        ])
        self.op("aten::gelu", shapes[:1], [self.allocate, lambda: self.kernel("GeluCUDAKernelImpl")])
        self.op("aten::native_layer_norm", shapes[:1], [
            lambda: self.op("aten::empty_like", shapes[:1], [self.allocate]),
            lambda: self.op("aten::native_dropout", shapes[:1], [self.allocate]),
        ])
        self.free(600)

    def step(self, number):
        begin = self.time
        for layer in range(24):
            self.python(
                f"nn.Module: Block_{layer}",
                lambda: self.python(
                    "model.py(118): forward",
                    lambda: self.python("torch/nn/modules/module.py(1553): _call_impl", lambda: self.layer(layer)),
                ),
            )
        self.span("user_annotation", f"ProfilerStep#{number}", begin, f'"External id": {self.index}, "Ev Idx": {self.index}')

    def small_step(self, number):
        begin = self.time
        for _ in range(500):
            self.op("aten::mul", [[8, 8]], [self.allocate])
            self.free(200)
            self.op("aten::detach", [[8, 8]])
        self.span("user_annotation", f"ProfilerStep#{number}", begin, f'"External id": {self.index}, "Ev Idx": {self.index}')


def write(path, size, ops_only=False):
    with open(path + ".part", "w", encoding="ascii") as out:
        writer = Writer(out)
        writer.text(
            '{\n  "schemaVersion": 1,\n  "deviceProperties": [\n    {"id": 0, "name": "Made-up GPU", "totalGlobalMem": 85899345920}\n  ],\n'
            f'  "record_shapes": 1,\n  "profile_memory": 1,\n  "with_stack": 1,\n  "displayTimeUnit": "ms",\n  "baseTimeNanoseconds": {BASE},\n'
            '  "traceEvents": [\n'
            '  {\n    "ph": "M", "name": "process_name", "ts": 0.000, "pid": 6504, "tid": 0,\n    "args": {"name": "python"}\n  },\n'
            '  {\n    "ph": "M", "name": "thread_name", "ts": 0.000, "pid": 6504, "tid": 6569,\n    "args": {"name": "thread 6569 (python)"}\n  },\n'
        )
        number = 0
        while writer.size < size:
            (writer.small_step if ops_only else writer.step)(number)
            number += 1
        writer.text(
            f'  {{\n    "ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": {writer.moment()}\n  }}\n  ],\n'
            '  "traceName": "trace.json"\n}\n'
        )
        writer.flush()
    os.replace(path + ".part", path)


if __name__ == "__main__":
    write(sys.argv[2], int(float(sys.argv[1]) * 1e6), "--ops-only" in sys.argv)
