#!/usr/bin/env python3
"""A training job that never was: a snapshot for each rank, with ranks that are planted to be found.

  make_ranks.py OUT [--ranks 64] [--events 2000] [--run a] [--pp 4] [--tp 2] [--files N] [--mixed] [--seed 1]

writes OUT/run=NAME/rank00000.pickle, ... and OUT/groups.csv (kinds pp, tp, dp), and prints what was planted as JSON: `outlier`
holds an extra table from the start, `leaking` keeps a block in every step, `out_of_memory` asks for logits three times as
long in its last step, `fragmented` leaves small blocks all over its cache.

--files N: only about so many different files; ranks of one stage share them as hard links, so that 1,000 ranks of 35 MB fit
on a disk. The planted ones are files of their own. --mixed: some ranks as gzip, zip and JSON.
A file takes the time of writing it: steps are alike but for times and a few addresses, so one is encoded and then shifted as
one large number (see tests/bench/inputs.py).
"""
import argparse
import gzip
import json
import os
import pathlib
import pickle
import random
import zipfile

MIB = 1 << 20
WEIGHTS, ACTIVATIONS, KEPT = 0x7F00_0000_0000, 0x7F20_0000_0000, 0x7F40_0000_0000  # addresses of the three segments
LAYERS = 24
EVENTS_OF_LAYER = 9  # and pass: see Rank.microbatch
DEPTH = 48
START_US = 1_760_000_000_000_000


class Pickle:
    """Opcodes of protocol 4, and of one step what it is shifted by against the step before."""

    def __init__(self):
        self.memo, self.head = {}, bytearray(b"\x80\x04")

    @staticmethod
    def text(value):
        raw = value.encode()
        return b"X" + len(raw).to_bytes(4, "little") + raw

    @staticmethod
    def number(value):
        return b"\x8a\x08" + value.to_bytes(8, "little", signed=True)

    def keep(self, key, encoded):
        self.memo[key] = len(self.memo)
        self.head += encoded + b"r" + self.memo[key].to_bytes(4, "little") + b"0"

    def again(self, key):
        return b"j" + self.memo[key].to_bytes(4, "little")


class Rank:
    """One rank's recording. `plant` is None or a key of what is printed."""

    def __init__(self, rank, stage, events, seed, plant=None):
        self.rng, self.plant, self.p = random.Random(seed), plant, Pickle()
        self.steps = max(9, min(20, events // (LAYERS * EVENTS_OF_LAYER)))
        self.passes = max(1, round(events / self.steps / (LAYERS * EVENTS_OF_LAYER)))
        scale = 1 + 0.25 * (3 - stage % 4) + self.rng.uniform(-0.001, 0.001)
        self.weight = 96 * MIB
        self.sizes = [int(scale * (20 + layer % 3) * MIB) // 512 * 512 for layer in range(LAYERS)]
        self.logits = int(scale * 600 * MIB) // 512 * 512
        self.us = START_US + rank % 7
        self.base, self.shift = bytearray(), bytearray()
        self.live = {}  # address -> (size, stack)
        self.reserved = {}

    # -- Words of a trace.
    def dictionary(self):
        p = self.p
        for word in ("action", "addr", "device_free", "size", "stream", "time_us", "frames", "alloc", "free_requested",
                     "free_completed", "segment_alloc", "oom"):
            p.keep(word, p.text(word))
        places = [("model.py", 100 + i, "forward") for i in range(LAYERS)]
        places += [("model.py", 200 + i, "attention") for i in range(LAYERS)]
        places += [("model.py", 300 + i, "backward") for i in range(LAYERS)]
        places += [("model.py", 10 + i, "__init__") for i in range(LAYERS)]
        places += [("loss.py", 22, "logits"), ("metrics.py", 77, "remember"), ("tables.py", 5, "load_table"),
                   ("loader.py", 9, "pin")]
        calls = [("/opt/torch/nn/modules/module.py", 1700 + i, "_call_impl") for i in range(DEPTH - 3)]
        calls += [("/job/train.py", 90, "train_step"), ("/job/train.py", 120, "<module>")]
        for file, line, name in calls + [("/job/" + file, line, name) for file, line, name in places]:
            p.keep((file, line, name), b"}(" + p.text("filename") + p.text(file) + p.text("line") +
                   b"J" + line.to_bytes(4, "little") + p.text("name") + p.text(name) + b"u")
        below = b"".join(p.again(call) for call in calls)
        self.frames = {(file, line): p.again(("/job/" + file, line, name)) + below for file, line, name in places}

    def plain(self, data):
        self.base += data
        self.shift += bytes(len(data))

    def numbered(self, value, shift=0):
        self.base += self.p.number(value)
        self.shift += b"\0\0" + shift.to_bytes(8, "little")

    def event(self, action, address, size, stack, address_shift=0):
        again = self.p.again
        self.us += 7
        self.plain(b"}(" + again("action") + again(action) + again("device_free" if action == "oom" else "addr"))
        self.numbered(address, address_shift)
        self.plain(again("size"))
        self.numbered(size)
        self.plain(again("stream") + b"K\0" + again("time_us"))
        self.numbered(self.us, self.step_us)
        self.plain(again("frames") + b"](" + self.frames[stack] + b"eu")

    def alloc(self, address, size, stack, address_shift=0):
        self.event("alloc", address, size, stack, address_shift)
        self.live[address] = (size, stack)
        return address

    def free(self, address):
        size, stack = self.live.pop(address)
        self.event("free_requested", address, size, stack)
        self.event("free_completed", address, size, stack)

    def segment(self, address, size, stack):
        self.event("segment_alloc", address, size, stack)
        self.reserved[address] = size

    # -- The run.
    def microbatch(self, logits, stop=False):
        """EVENTS_OF_LAYER events a layer, and 3 for the logits."""
        held, address = [], ACTIVATIONS
        for layer, size in enumerate(self.sizes):
            held.append(self.alloc(address, size, ("model.py", 100 + layer)))
            address += size
            self.free(self.alloc(address, size // 2, ("model.py", 200 + layer)))
        out = self.alloc(address, logits, ("loss.py", 22))
        if stop:
            return
        self.free(out)
        for layer in reversed(range(LAYERS)):
            grad = self.alloc(address, self.sizes[layer] // 4 // 512 * 512, ("model.py", 300 + layer))
            self.free(held.pop())
            self.free(grad)

    def step(self, number):
        for _ in range(self.passes):
            self.microbatch(self.logits)
        if self.plant == "leaking":
            self.event("alloc", KEPT + number * 32 * MIB, 32 * MIB, ("metrics.py", 77), 32 * MIB)

    def taken(self):
        """What was encoded since."""
        done, self.base, self.shift = (bytes(self.base), bytes(self.shift)), bytearray(), bytearray()
        return done

    def write(self, path):
        self.step_us = 0
        self.dictionary()
        p = self.p
        most = sum(self.sizes) + max(self.logits * (3 if self.plant == "out_of_memory" else 1), max(self.sizes))
        self.segment(WEIGHTS, LAYERS * self.weight + (2 << 30) * (self.plant == "outlier"), ("model.py", 10))
        self.segment(ACTIVATIONS, -(-most // (2 * MIB)) * 2 * MIB, ("model.py", 100))
        if self.plant == "leaking":
            self.segment(KEPT, self.steps * 32 * MIB, ("metrics.py", 77))
        for layer in range(LAYERS):
            self.alloc(WEIGHTS + layer * self.weight, self.weight, ("model.py", 10 + layer))
        if self.plant == "outlier":
            self.alloc(WEIGHTS + LAYERS * self.weight, 2 << 30, ("tables.py", 5))
        begin, _ = self.taken()
        annotations, before = [], self.us
        self.step(0)
        length = self.us - before + 14
        self.base.clear(), self.shift.clear()
        self.us, self.step_us = before, length  # again, with what it is shifted by
        self.step(0)
        one, shift = self.taken()
        size, one, shift = len(one), int.from_bytes(one, "little"), int.from_bytes(shift, "little")
        count = self.steps - (self.plant == "out_of_memory")
        for number in range(self.steps):
            annotations.append((number, before + number * length + 1))
        if self.plant == "leaking":
            for number in range(count):
                self.live[KEPT + number * 32 * MIB] = (32 * MIB, ("metrics.py", 77))
        self.us, self.step_us = before + count * length, 0
        if self.plant == "fragmented":
            for i in range(12):
                self.alloc(ACTIVATIONS + sum(self.sizes[:2 * i + 1]), 512, ("loader.py", 9))
        if self.plant == "out_of_memory":
            self.microbatch(self.logits * 3, stop=True)
            self.event("oom", 3 * MIB, self.sizes[0], ("model.py", 300))
        end, _ = self.taken()
        with open(path, "wb") as out:
            out.write(p.head + b"}(" + p.text("device_traces") + b"](](" + begin)
            for _ in range(count):
                out.write(one.to_bytes(size, "little"))
                one += shift
            out.write(end + b"ee" + p.text("segments") + b"](" + self.segments() + b"e" + p.text("external_annotations") + b"](")
            for number, us in annotations:
                for stage, at in (("START", us), ("END", us + length - 9)):
                    out.write(b"}(" + p.text("name") + p.text(f"ProfilerStep#{number}") + p.text("stage") + p.text(stage) +
                              p.text("device") + b"K\0" + p.text("time_us") + p.number(at) + b"u")
            out.write(b"eu.")

    def segments(self):
        text, number, out = self.p.text, self.p.number, bytearray()
        for start, total in self.reserved.items():
            inside = sorted((a, s, stack) for a, (s, stack) in self.live.items() if start <= a < start + total)
            out += b"}(" + text("device") + b"K\0" + text("address") + number(start) + text("total_size") + number(total)
            out += text("stream") + b"K\0" + text("segment_type") + text("large") + text("is_expandable") + b"\x89"
            out += text("blocks") + b"]("
            at = start
            for address, size, stack in [*inside, (start + total, 0, None)]:
                if address > at:
                    out += (b"}(" + text("address") + number(at) + text("size") + number(address - at) + text("state") +
                            text("inactive") + b"u")
                if stack:
                    out += (b"}(" + text("address") + number(address) + text("size") + number(size) +
                            text("requested_size") + number(size) + text("state") + text("active_allocated") +
                            text("frames") + b"](" + self.frames[stack] + b"eu")
                at = address + size
            out += b"eu"
        return bytes(out)


def planted_of(ranks):
    """Which rank is planted as what; none among fewer than 16."""
    if ranks < 16:
        return {}
    return {"outlier": ranks // 8 + 1, "leaking": ranks * 3 // 8, "out_of_memory": ranks * 5 // 8,
            "fragmented": ranks * 7 // 8}


def in_another_form(path, form):
    """The same snapshot in another file; the path."""
    if form == "gzip":
        out = path.with_name(path.name + ".gz")
        out.write_bytes(gzip.compress(path.read_bytes(), 1, mtime=0))
    elif form == "zip":
        out = path.with_suffix(".zip")
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
            file.writestr("snapshot.pickle", path.read_bytes())
    else:
        out = path.with_suffix(".json")
        out.write_text(json.dumps(pickle.loads(path.read_bytes())))
    path.unlink()
    return out


def make(out, ranks=64, events=2000, run="a", pp=4, tp=2, files=None, mixed=False, seed=1):
    """The planted ranks, see above."""
    folder = pathlib.Path(out, f"run={run}")
    folder.mkdir(parents=True, exist_ok=True)
    planted = planted_of(ranks)
    per_stage = max(1, -(-ranks // pp))
    alike = max(1, (files or ranks) // pp)
    made = {}
    for rank in range(ranks):
        stage = rank // per_stage
        path = folder / f"rank{rank:05}.pickle"
        path.unlink(missing_ok=True)
        plant = next((key for key, at in planted.items() if at == rank), None)
        share = (stage, rank % alike)
        if plant is None and share in made:
            os.link(made[share], path)
            continue
        Rank(rank, stage, events, seed * 1_000_003 + rank, plant).write(path)
        if plant is None:
            made[share] = path
    if mixed:
        for rank, form in {1: "gzip", 4: "zip", 5: "json"}.items():
            in_another_form(folder / f"rank{rank:05}.pickle", form)
    with open(pathlib.Path(out, "groups.csv"), "w") as csv:
        csv.write("run,rank,kind,name\n")
        for rank in range(ranks):
            csv.write(f",{rank},pp,{rank // per_stage}\n,{rank},tp,{rank % tp}\n,{rank},dp,{rank % per_stage // tp}\n")
    return planted


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description="Snapshots of the ranks of a made-up training job.")
    arguments.add_argument("out")
    for name, value in (("ranks", 64), ("events", 2000), ("pp", 4), ("tp", 2), ("files", None), ("seed", 1)):
        arguments.add_argument(f"--{name}", type=int, default=value)
    arguments.add_argument("--run", default="a")
    arguments.add_argument("--mixed", action="store_true")
    print(json.dumps(make(**vars(arguments.parse_args()))))
