"""Recorded training runs made up for tests: a small allocator, and programs with and without leaks."""
import random

from support.snapshots import BASE, GIB, KIB, MIB, NOW, block, event, frame, free, live, rounded, segment, snapshot


class Device:
    """One large segment, first fit; every event one microsecond after the other."""

    def __init__(self, room=64 * GIB):
        self.room, self.now = room, NOW
        self.free = [(BASE, room)]
        self.live = {}  # address -> (requested, rounded, frames)
        self.trace = [event("segment_alloc", BASE, room, time_us=self.tick())]
        self.annotations = []

    def tick(self):
        self.now += 1
        return self.now

    def alloc(self, requested, frames):
        size = rounded(requested)
        for i, (address, room) in enumerate(self.free):
            if room >= size:
                self.free[i : i + 1] = [(address + size, room - size)] if room > size else []
                break
        else:
            raise MemoryError(requested)
        self.live[address] = (requested, size, frames)
        self.trace.append(event("alloc", address, requested, frames=frames, time_us=self.tick()))
        return address

    def give_back(self, address):
        requested, size, frames = self.live.pop(address)
        for one in free(address, requested, frames=frames):
            self.trace.append({**one, "time_us": self.tick()})
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
        blocks = [live(r, s, address=a, frames=f) for a, (r, s, f) in self.live.items()]
        blocks += [block(s, address=a, requested_size=0, frames=[]) for a, s in self.free]
        whole = segment(BASE, sorted(blocks, key=lambda b: b["address"]), segment_type="large", segment_pool_id=(0, 0),
                        is_expandable=False, frames=[])
        return snapshot([whole], self.trace, allocator_settings={}, external_annotations=self.annotations)


class Stacks:
    """Stacks as a program of that depth has them: flat ones are a line and its caller's, deep ones share their callers."""

    def __init__(self, deep):
        self.deep, self.made = deep, {}

    def __call__(self, line, name, caller_line, caller="train_step"):
        key = (line, name, caller_line, caller)
        if key not in self.made:
            frames = [frame(name, line, "/home/me/model.py"), frame(caller, caller_line, "/home/me/train.py")]
            if self.deep:
                frames = [frame("linear", 7 + line % 5, "/usr/lib/python3/site-packages/torch/nn/functional.py"), *frames,
                          frame("main", 99, "/home/me/train.py"), frame("<module>", 120, "/home/me/train.py")]
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
    leaking = stacks(777, "remember", 32)  # lines ascend as the step goes on
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
    trace, out, pins, address = [], [], [], BASE
    keep, forward = [frame("keep", 25, "/home/me/cache.py")], [frame("forward", 3, "/home/me/model.py")]

    def note(*events):
        for one in events:
            trace.append({**one, "time_us": NOW + 1 + len(trace)})

    for _ in range(segments):
        total = rng.randrange(20, 600) * 2 * MIB
        small = rounded(rng.randrange(1, MIB) + MIB)
        note(event("segment_alloc", address, total, frames=forward), event("alloc", address, small, frames=keep),
             event("alloc", address + small, total - small, frames=forward))
        out.append((address, total, small))
        address += total + GIB
    made = []
    for i, (where, total, small) in enumerate(out):
        rest = live(total - small, total - small, address=where + small, frames=forward)
        if i % 3:  # two of three are left nearly empty
            note(*free(where + small, total - small, frames=forward))
            rest = block(total - small, address=where + small, requested_size=0, frames=[])
            pins.append((where, total, total - small, small))
        made.append(segment(where, [live(small, small, address=where, frames=keep), rest], segment_type="large",
                            segment_pool_id=(0, 0), is_expandable=False, frames=forward))
    whole = snapshot(made, trace, allocator_settings={}, external_annotations=[])
    return whole, sorted(pins, key=lambda pin: -pin[2])


def out_of_memory(kind):
    """A run that fails at its end: (snapshot, what a report must say of the failure)."""
    keep, ask = [frame("hold", 3, "/home/me/model.py")], [frame("loss", 9, "/home/me/loss.py")]
    # (address, size, stream, pool, [(size, live)])
    half = [(256 * MIB, True), (256 * MIB, False)] * 2
    segments = {"full": [(1, 1024, 0, (0, 0), [(1000, True), (24, False)])],
                "too_big": [(1, 1024, 0, (0, 0), [(1000, True), (24, False)])],
                "limit": [(1, 1024, 0, (0, 0), [(1000, True), (24, False)])],
                "fragmented": [(i, 1024, 0, (0, 0), [(s // MIB, used) for s, used in half]) for i in (1, 2)],
                "elsewhere": [(1, 1024, 0, (0, 0), [(1000, True), (24, False)]),
                              (2, 1024, 7, (0, 0), [(24, True), (1000, False)])],
                "private": [(1, 1024, 0, (0, 0), [(1000, True), (24, False)]),
                            (2, 1024, 0, (3, 0), [(24, True), (1000, False)])]}[kind]
    requested, device_free = {"full": (700, 300), "too_big": (4000, 300), "limit": (200, 300), "fragmented": (700, 300),
                              "elsewhere": (700, 300), "private": (700, 300)}[kind]
    out, trace = [], []
    for number, size, stream, pool, pieces in segments:
        start = BASE + number * GIB
        trace.append({**event("segment_alloc", start, size * MIB, frames=keep), "stream": stream})
        blocks, at = [], start
        for length, used in pieces:
            state, frames = ("active_allocated", keep) if used else ("inactive", [])
            blocks.append(block(length * MIB, state, address=at, requested_size=length * MIB if used else 0, frames=frames))
            if used:
                trace.append({**event("alloc", at, length * MIB, frames=keep), "stream": stream})
            at += length * MIB
        out.append({**segment(start, blocks, segment_type="large", segment_pool_id=pool, is_expandable=False, frames=keep),
                    "stream": stream})
    trace.append({"action": "oom", "device_free": device_free * MIB, "size": requested * MIB, "stream": 0, "frames": ask})
    reserved = sum(s[1] for s in segments)
    allocated = sum(length for s in segments for length, used in s[4] if used)
    largest = max(length for s in segments for length, used in s[4] if not used)
    said = {"event": len(trace) - 1, "requested_bytes": requested * MIB, "device_free_bytes": device_free * MIB,
            "reserved_bytes": reserved * MIB, "allocated_bytes": allocated * MIB, "pending_bytes": 0,
            "cached_bytes": (reserved - allocated) * MIB, "largest_free_bytes": largest * MIB,
            "verdict": "elsewhere" if kind == "private" else kind}
    settings = {"expandable_segments": False, "max_split_size": -1}
    return snapshot(out, trace, external_annotations=[], allocator_settings=settings), said


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
