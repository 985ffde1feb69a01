"""Recorded training runs made up for tests: a small allocator, and programs with and without leaks.

  python3 tests/cli/runs.py OUT_FOLDER [seed]     writes one of each kind as pickles
"""
import pickle
import random
import sys
from pathlib import Path

BASE = 0x7F0000000000
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def rounded(size):
    return max(512, (size + 511) // 512 * 512)


class Device:
    """One large segment, first fit; every event one microsecond after the other."""

    def __init__(self, room=64 * GIB):
        self.room, self.now = room, 1_700_000_000_000_000
        self.free = [(BASE, room)]
        self.live = {}  # address -> (requested, rounded, frames)
        self.trace = [{"action": "segment_alloc", "addr": BASE, "size": room, "stream": 0, "time_us": self.tick()}]
        self.annotations = []

    def tick(self):
        self.now += 1
        return self.now

    def alloc(self, requested, frames):
        size = rounded(requested)
        for i, (address, free) in enumerate(self.free):
            if free >= size:
                self.free[i : i + 1] = [(address + size, free - size)] if free > size else []
                break
        else:
            raise MemoryError(requested)
        self.live[address] = (requested, size, frames)
        self.trace.append({"action": "alloc", "addr": address, "size": requested, "stream": 0, "frames": frames,
                           "time_us": self.tick()})
        return address

    def give_back(self, address):
        requested, size, frames = self.live.pop(address)
        for action in ("free_requested", "free_completed"):
            self.trace.append({"action": action, "addr": address, "size": requested, "stream": 0, "frames": frames,
                               "time_us": self.tick()})
        self.free = sorted(self.free + [(address, size)])
        merged = []
        for start, length in self.free:
            if merged and sum(merged[-1]) == start:
                merged[-1] = (merged[-1][0], merged[-1][1] + length)
            else:
                merged.append((start, length))
        self.free = merged

    def region(self, name, stage):
        self.annotations.append({"name": name, "stage": stage, "device": 0, "time_us": self.tick()})

    def snapshot(self):
        blocks = [{"address": a, "size": s, "requested_size": r, "state": "active_allocated", "frames": f}
                  for a, (r, s, f) in self.live.items()]
        blocks += [{"address": a, "size": s, "requested_size": 0, "state": "inactive", "frames": []}
                   for a, s in self.free]
        segment = {"device": 0, "address": BASE, "total_size": self.room, "stream": 0, "segment_type": "large",
                   "segment_pool_id": (0, 0), "is_expandable": False, "frames": [],
                   "blocks": sorted(blocks, key=lambda b: b["address"])}
        return {"segments": [segment], "device_traces": [self.trace], "allocator_settings": {},
                "external_annotations": self.annotations}


class Stacks:
    """Stacks as a program of that depth has them: flat ones are a line each, deep ones share their callers."""

    def __init__(self, deep):
        self.deep, self.made = deep, {}

    def __call__(self, line, name, caller_line, caller="train_step"):
        key = (line, name, caller_line, caller)
        if key not in self.made:
            frames = [{"filename": "/home/me/model.py", "line": line, "name": name}]
            if self.deep:
                frames = ([{"filename": "/usr/lib/python3/site-packages/torch/nn/functional.py", "line": 7 + line % 5,
                            "name": "linear"}] + frames +
                          [{"filename": "/home/me/train.py", "line": caller_line, "name": caller},
                           {"filename": "/home/me/train.py", "line": 99, "name": "main"},
                           {"filename": "/home/me/train.py", "line": 120, "name": "<module>"}])
            self.made[key] = frames
        return self.made[key]


def train(seed, steps=12, layers=4, deep=True, annotate="profiler", leak=None, leak_from=0, evaluate_every=0, warm_up=0,
          queue=0, cache=True, grow_once=True, cut_last=False):
    """A snapshot of a run, and what it leaks: (frames, bytes a step, blocks a step, steps) or None.

    leak: None, "one" block a step or "many" small ones.
    """
    rng = random.Random(seed)
    device, stacks = Device(), Stacks(deep)
    sizes = [rng.randrange(1, 64) * MIB + rng.randrange(0, 4096) for _ in range(layers)]
    for i in range(layers):
        device.alloc(sizes[i] // 4, stacks(10 + i, "__init__", 15, "build"))
    state, cached, queued, kept, buffers = [], None, [], [], None
    leaking = stacks(777, "remember", 44)
    leak_size, leak_blocks = rng.randrange(1, 4 * MIB), {"one": 1, "many": rng.randrange(3, 40)}.get(leak, 0)
    if leak == "many":
        leak_size = rng.randrange(1, 64 * KIB)

    def forward(caller_line, caller):
        made = []
        for i in range(layers):
            made.append(device.alloc(sizes[i], stacks(30 + i, "forward", caller_line, caller)))
            temporary = device.alloc(sizes[i] // 3 + 1, stacks(50 + i, "forward", caller_line, caller))
            device.give_back(temporary)
        return made

    for step in range(steps):
        if annotate == "profiler":
            device.region(f"ProfilerStep#{step}", "START")
        elif annotate == "region":
            device.region("train_step", "START")
        queued.append(device.alloc(3 * MIB, stacks(5, "next_batch", 30)))
        if len(queued) > queue:
            for _ in range(len(queued) - queue):
                device.give_back(queued.pop(0))
        if step < warm_up:
            kept.append(device.alloc((step + 1) * MIB, stacks(8, "tune", 31)))
        activations = forward(32, "train_step")
        if leak and step >= leak_from:
            for _ in range(leak_blocks):
                device.alloc(leak_size, leaking)
        if cut_last and step == steps - 1:
            return device.snapshot(), None
        if cache:
            new = device.alloc(5 * MIB + rng.randrange(0, MIB), stacks(70, "update_cache", 33))
            if cached is not None:
                device.give_back(cached)
            cached = new
        if grow_once and step == steps // 2:
            if buffers is not None:
                device.give_back(buffers)
            buffers = device.alloc(9 * MIB, stacks(71, "grow", 34))
        gradients = []
        for i in reversed(range(layers)):
            gradients.append(device.alloc(sizes[i] // 4, stacks(40, "backward", 35)))
            device.give_back(activations[i])
        if step == 1 or (steps == 1 and step == 0):
            for i in range(layers):
                state.append(device.alloc(sizes[i] // 4, stacks(60, "init_state", 36)))
                state.append(device.alloc(sizes[i] // 4, stacks(61, "init_state", 36)))
        for i in range(layers):
            device.give_back(device.alloc(sizes[i] // 4, stacks(62, "adam", 36)))
        for gradient in gradients:
            device.give_back(gradient)
        if annotate == "profiler":
            device.region(f"ProfilerStep#{step}", "END")
        elif annotate == "region":
            device.region("train_step", "END")
        if evaluate_every and step % evaluate_every == evaluate_every - 1:
            for _ in range(rng.randrange(1, 3)):
                for made in forward(80, "evaluate"):
                    device.give_back(made)
    planted = None
    if leak:
        planted = (leaking, leak_size * leak_blocks, leak_blocks, steps - leak_from)
    return device.snapshot(), planted


def fragmented(seed, segments=40):
    """Segments with a small block left in each; (snapshot, pins by free bytes, largest first)."""
    rng = random.Random(seed)
    trace, out, pins, address, now = [], [], [], BASE, 1_700_000_000_000_000
    frames = [{"filename": "/home/me/cache.py", "line": 25, "name": "keep"}]
    big = [{"filename": "/home/me/model.py", "line": 3, "name": "forward"}]

    def event(action, where, size, stack=None):
        nonlocal now
        now += 1
        one = {"action": action, "addr": where, "size": size, "stream": 0, "time_us": now}
        trace.append(one if stack is None else one | {"frames": stack})

    for i in range(segments):
        total = rng.randrange(20, 600) * 2 * MIB
        small = rounded(rng.randrange(1, MIB) + MIB)
        event("segment_alloc", address, total, big)
        event("alloc", address, small, frames)
        event("alloc", address + small, total - small, big)
        out.append((address, total, small))
        address += total + GIB
    blocks_of = {}
    for i, (where, total, small) in enumerate(out):
        blocks = [{"address": where, "size": small, "requested_size": small, "state": "active_allocated",
                   "frames": frames}]
        if i % 3:  # two of three are left nearly empty
            event("free_requested", where + small, total - small, big)
            event("free_completed", where + small, total - small, big)
            blocks.append({"address": where + small, "size": total - small, "requested_size": 0, "state": "inactive",
                           "frames": []})
            pins.append((where, total, total - small, small))
        else:
            blocks.append({"address": where + small, "size": total - small, "requested_size": total - small,
                           "state": "active_allocated", "frames": big})
        blocks_of[where] = blocks
    segments_out = [{"device": 0, "address": where, "total_size": total, "stream": 0, "segment_type": "large",
                     "segment_pool_id": (0, 0), "is_expandable": False, "frames": big, "blocks": blocks_of[where]}
                    for where, total, _ in out]
    snapshot = {"segments": segments_out, "device_traces": [trace], "allocator_settings": {}, "external_annotations": []}
    return snapshot, sorted(pins, key=lambda pin: -pin[2])


def out_of_memory(kind):
    """A run that fails at its end: (snapshot, what a report must say of the failure)."""
    keep = [{"filename": "/home/me/model.py", "line": 3, "name": "hold"}]
    ask = [{"filename": "/home/me/loss.py", "line": 9, "name": "loss"}]
    # (address, size, stream, pool, [(size, live)])
    half = [(256 * MIB, True), (256 * MIB, False)] * 2
    segments = {"full": [(1, 1024, 0, (0, 0), [(1000, True), (24, False)])],
                "too_big": [(1, 1024, 0, (0, 0), [(1000, True), (24, False)])],
                "limit": [(1, 1024, 0, (0, 0), [(1000, True), (24, False)])],
                "fragmented": [(i, 1024, 0, (0, 0), [(s // MIB, live) for s, live in half]) for i in (1, 2)],
                "elsewhere": [(1, 1024, 0, (0, 0), [(1000, True), (24, False)]),
                              (2, 1024, 7, (0, 0), [(24, True), (1000, False)])],
                "private": [(1, 1024, 0, (0, 0), [(1000, True), (24, False)]),
                            (2, 1024, 0, (3, 0), [(24, True), (1000, False)])]}[kind]
    requested, device_free = {"full": (700, 300), "too_big": (4000, 300), "limit": (200, 300), "fragmented": (700, 300),
                              "elsewhere": (700, 300), "private": (700, 300)}[kind]
    out, trace = [], []
    for number, size, stream, pool, pieces in segments:
        start = BASE + number * GIB
        trace.append({"action": "segment_alloc", "addr": start, "size": size * MIB, "stream": stream, "frames": keep})
        blocks, at = [], start
        for length, live in pieces:
            blocks.append({"address": at, "size": length * MIB, "requested_size": length * MIB if live else 0,
                           "state": "active_allocated" if live else "inactive", "frames": keep if live else []})
            if live:
                trace.append({"action": "alloc", "addr": at, "size": length * MIB, "stream": stream, "frames": keep})
            at += length * MIB
        out.append({"device": 0, "address": start, "total_size": size * MIB, "stream": stream, "segment_type": "large",
                    "segment_pool_id": pool, "is_expandable": False, "frames": keep, "blocks": blocks})
    trace.append({"action": "oom", "device_free": device_free * MIB, "size": requested * MIB, "stream": 0, "frames": ask})
    reserved = sum(s[1] for s in segments)
    allocated = sum(length for s in segments for length, live in s[4] if live)
    largest = max(length for s in segments for length, live in s[4] if not live)
    said = {"event": len(trace) - 1, "requested_bytes": requested * MIB, "device_free_bytes": device_free * MIB,
            "reserved_bytes": reserved * MIB, "allocated_bytes": allocated * MIB, "pending_bytes": 0,
            "cached_bytes": (reserved - allocated) * MIB, "largest_free_bytes": largest * MIB,
            "verdict": "elsewhere" if kind == "private" else kind}
    return {"segments": out, "device_traces": [trace], "external_annotations": [],
            "allocator_settings": {"expandable_segments": False, "max_split_size": -1}}, said


def clean_runs():
    """Dozens of runs that leak nothing, by name."""
    runs = {}
    for seed in range(24):
        for annotate in ("profiler", "region", None):
            rng = random.Random(1000 + seed)
            options = {"steps": rng.choice((5, 8, 12, 20, 33)), "layers": rng.choice((1, 2, 4, 7)), "deep": seed % 2 == 0,
                       "annotate": annotate, "evaluate_every": rng.choice((0, 2, 3, 5)), "warm_up": rng.choice((0, 1, 2, 3)),
                       "queue": rng.choice((0, 1, 2)), "cache": rng.random() < 0.8, "grow_once": rng.random() < 0.8}
            runs[f"clean_{seed}_{annotate}"] = train(seed, **options)[0]
    return runs


if __name__ == "__main__":
    folder, seed = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    folder.mkdir(parents=True, exist_ok=True)
    made = dict(clean_runs(), fragmented=fragmented(seed)[0])
    for kind in ("one", "many"):
        for annotate in ("profiler", "region", None):
            made[f"leak_{kind}_{annotate}"] = train(seed, leak=kind, annotate=annotate)[0]
    for name, snapshot in made.items():
        (folder / f"{name}.pickle").write_bytes(pickle.dumps(snapshot, protocol=4))
