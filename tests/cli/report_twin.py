"""Random recordings, and what `gpustrata report --json` must say of them: a naive second implementation.

A little caching allocator runs random requests forwards and keeps its whole state, so that nothing here is found by undoing
events, pairing allocs with frees or sweeping over addresses, as the engine does it: every answer is counted from the
states that were, by the words of its definition (engine/analysis/findings/out_of_memory.h, fragmentation.h, never_full.h,
peak_parts.h, categories.h). The rules of categories are read from their text in category_rules.h.
"""
import random
import re

from support.paths import ROOT
from support.snapshots import BASE, MIB, frame
from support.stacks import lines_of

MOST_LISTED = 20

TRAIN = [frame("train_step", 30, "/home/me/train.py"), frame("<module>", 90, "/home/me/train.py")]
MODULE = [frame("_call_impl", 1500, "/usr/lib/python3/site-packages/torch/nn/modules/module.py")]
BACKWARD = [frame("_engine_run_backward", 800, "/usr/lib/python3/site-packages/torch/autograd/graph.py")]
STACKS = [
    [frame("forward", 11, "/home/me/model.py"), *MODULE, *TRAIN],
    [frame("forward", 12, "/home/me/model.py"), *MODULE, *TRAIN],
    [frame("scale", 40, "/home/me/model.py"), *TRAIN],
    [frame("forward", 11, "/home/me/model.py"), *BACKWARD, *TRAIN],
    [frame("torch::autograd::AccumulateGrad::apply(variable_list)", 0, "??"), *BACKWARD, *TRAIN],
    [frame("_init_group", 150, "/usr/lib/python3/site-packages/torch/optim/adam.py"), *TRAIN],
    [frame("_apply", 900, "/usr/lib/python3/site-packages/torch/nn/modules/module.py"), frame("build", 5, "/home/me/train.py")],
    [frame("next_batch", 8, "/home/me/data.py"), *TRAIN],
    [frame("all_gather", 77, "/home/me/parallel.py"), *TRAIN],
    [frame("getCUDABlasLtWorkspace", 0, "??"), *MODULE, *TRAIN],
    [frame("recurse", 3, "/home/me/model.py")] * 4 + TRAIN,
    [],
]
LABELS = ["parameter", "Optimizer_State", "activation", "something else"]


class World:
    """Pools of small and large blocks per stream, best fit, split and merged as PyTorch does; its states after every event."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.next_address, self.now = BASE, 1_700_000_000_000_000
        self.segments = {}  # address -> {"size", "stream", "blocks": [[address, size, requested or None, state, life]]}
        self.trace, self.annotations, self.states, self.lives = [], [], [], []
        self.seen = []  # every segment that ever was

    def note(self, event):
        self.now += 1
        self.trace.append(event | {"time_us": self.now})
        self.states.append({address: (one["size"], [tuple(b) for b in one["blocks"]], one["life"])
                            for address, one in self.segments.items()})

    def region(self, name, stage):
        self.now += 1
        self.annotations.append({"name": name, "stage": stage, "device": 0, "time_us": self.now})

    def alloc(self, requested, stack, stream=0, label=None):
        size = max(512, (requested + 511) // 512 * 512)
        small = size <= MIB
        fitting = [(b[1], b[0], address) for address, one in self.segments.items()
                   if one["stream"] == stream and (one["size"] == 2 * MIB) == small
                   for b in one["blocks"] if b[3] == "inactive" and b[1] >= size]
        if not fitting:
            room = 2 * MIB if small else 20 * MIB if size < 10 * MIB else (size + 2 * MIB - 1) // (2 * MIB) * 2 * MIB
            address, self.next_address = self.next_address, self.next_address + room + 64 * MIB
            self.segments[address] = {"size": room, "stream": stream, "blocks": [[address, room, None, "inactive", None]],
                                      "life": len(self.seen)}
            self.seen.append((address, room))
            self.note({"action": "segment_alloc", "addr": address, "size": room, "stream": stream, "frames": stack})
            fitting = [(room, address, address)]
        _, where, address = min(fitting)
        blocks = self.segments[address]["blocks"]
        at = next(i for i, b in enumerate(blocks) if b[0] == where)
        rest = blocks[at][1] - size
        is_split = rest >= 512 if small else rest > MIB
        life = len(self.lives)
        self.lives.append({"requested": requested, "born": len(self.trace), "freed": None, "stack": stack, "label": label})
        blocks[at] = [where, size if is_split else size + rest, requested, "active_allocated", life]
        if is_split:
            blocks.insert(at + 1, [where + size, rest, None, "inactive", None])
        event = {"action": "alloc", "addr": where, "size": requested, "stream": stream, "frames": stack}
        self.note(event | ({"user_metadata": label} if label else {}))

    def in_state(self, state):
        return [(address, b) for address, one in self.segments.items() for b in one["blocks"] if b[3] == state]

    def request_free(self, address, block):
        block[3] = "active_pending_free"
        self.note({"action": "free_requested", "addr": block[0], "size": block[2], "stream": 0, "frames": []})

    def complete_free(self, address, block):
        self.lives[block[4]]["freed"] = len(self.trace)
        requested, block[2], block[3], block[4] = block[2], None, "inactive", None
        merged = []
        for b in self.segments[address]["blocks"]:
            if merged and merged[-1][3] == b[3] == "inactive":
                merged[-1][1] += b[1]
            else:
                merged.append(b)
        self.segments[address]["blocks"] = merged
        self.note({"action": "free_completed", "addr": block[0], "size": requested, "stream": 0, "frames": []})

    def empty_cache(self):
        for address in [a for a, one in self.segments.items() if all(b[3] == "inactive" for b in one["blocks"])]:
            one = self.segments.pop(address)
            self.note({"action": "segment_free", "addr": address, "size": one["size"], "stream": one["stream"], "frames": []})

    def run(self, steps):
        rng = self.random
        for step in range(steps):
            if rng.random() < 0.9:
                self.region(f"ProfilerStep#{step}", "START")
            for _ in range(rng.randrange(2, 25)):
                what = rng.random()
                live, pending = self.in_state("active_allocated"), self.in_state("active_pending_free")
                if what < 0.5 or not live:
                    size = rng.choice([rng.randrange(1, 5000), rng.randrange(1, MIB), rng.randrange(MIB, 9 * MIB),
                                       rng.randrange(10 * MIB, 40 * MIB)])
                    label = rng.choice(LABELS) if rng.random() < 0.1 else None
                    stack = rng.choice(STACKS)
                    self.alloc(size, stack, rng.choice([0, 0, 0, 7]), label)
                elif what < 0.85:
                    address, block = rng.choice(live)
                    self.request_free(address, block)
                    if rng.random() < 0.7:
                        self.complete_free(address, block)
                elif what < 0.95 and pending:
                    self.complete_free(*rng.choice(pending))
                elif what < 0.98:
                    self.empty_cache()
                else:
                    self.note({"action": "oom", "device_free": rng.randrange(1, 64) * MIB,
                               "size": rng.randrange(64, 4096) * MIB, "stream": rng.choice([0, 7]), "frames": rng.choice(STACKS)})
            if rng.random() < 0.9 and self.annotations and self.annotations[-1]["stage"] == "START":
                self.region(self.annotations[-1]["name"], "END")

    def snapshot(self):
        segments = []
        for address, one in self.segments.items():
            blocks = [{"address": a, "size": s, "requested_size": r or 0, "state": state,
                       "frames": self.lives[life]["stack"] if life is not None else []}
                      for a, s, r, state, life in one["blocks"]]
            segments.append({"device": 0, "address": address, "total_size": one["size"], "stream": one["stream"],
                             "segment_type": "small" if one["size"] == 2 * MIB else "large", "segment_pool_id": (0, 0),
                             "is_expandable": False, "frames": [], "blocks": blocks})
        return {"segments": segments, "device_traces": [self.trace], "allocator_settings": {},
                "external_annotations": self.annotations}

    # -- What the report must say.

    def freed(self, life):
        return len(self.trace) if life["freed"] is None else life["freed"]

    def alive(self, event):
        return [life for life in self.lives if life["born"] <= event < self.freed(life)]

    def peak(self):
        levels = [sum(life["requested"] for life in self.alive(event)) for event in range(len(self.trace))]
        event = levels.index(max(levels))
        parts = {}
        for life in self.alive(event):
            part = parts.setdefault(lines_of(life["stack"]) if life["stack"] else None, [0, 0])
            part[0] += life["requested"]
            part[1] += 1
        return event, levels[event], parts

    def sums(self, event):
        blocks = [b for _, all_of_it, _ in self.states[event].values() for b in all_of_it]
        by = {state: sum(b[1] for b in blocks if b[3] == state) for state in ("active_allocated", "active_pending_free", "inactive")}
        return {"reserved_bytes": sum(size for size, _, _ in self.states[event].values()), "allocated_bytes": by["active_allocated"],
                "pending_bytes": by["active_pending_free"], "cached_bytes": by["inactive"],
                "largest_free_bytes": max((b[1] for b in blocks if b[3] == "inactive"), default=0)}

    def out_of_memory(self):
        return [{"event": i, "requested_bytes": e["size"], "device_free_bytes": e["device_free"], **self.sums(i)}
                for i, e in enumerate(self.trace) if e["action"] == "oom"]

    def fragmentation(self):
        failures = [i for i, e in enumerate(self.trace) if e["action"] == "oom"]
        event = failures[-1] if failures else len(self.trace) - 1
        pins = []
        for address, (size, blocks, _) in self.states[event].items():
            live = [b for b in blocks if b[3] != "inactive"]
            free = sum(b[1] for b in blocks if b[3] == "inactive")
            if live and free:
                pins.append({"segment": f"{address:#x}", "segment_bytes": size, "free_bytes": free, "held_back_bytes": free,
                             "blocks": len(live), "pinned_bytes": size - free,
                             "since_event": min(self.lives[b[4]]["born"] for b in live)})
        pins.sort(key=lambda pin: (-pin["held_back_bytes"], pin["pinned_bytes"], int(pin["segment"], 16)))
        sums, held_back = self.sums(event), sum(pin["free_bytes"] for pin in pins)
        lost = max(0, min(held_back, sums["cached_bytes"] - sums["largest_free_bytes"]))
        share = lost / sums["reserved_bytes"] if sums["reserved_bytes"] else 0
        return {"event": event, **sums, "held_back_bytes": held_back, "share": share, "pinned_segments": len(pins),
                "pins": pins[:MOST_LISTED]}

    def never_full(self):
        found = []
        for life, (address, size) in enumerate(self.seen):
            use = [(sum(b[1] for b in state[address][1] if b[3] != "inactive"), -event)
                   for event, state in enumerate(self.states) if address in state and state[address][2] == life]
            most, first = max(use)
            if most < size:
                found.append({"segment": f"{address:#x}", "segment_bytes": size, "most_in_use_bytes": most,
                              "most_event": -first, "never_used_bytes": size - most})
        found.sort(key=lambda one: (-one["never_used_bytes"], int(one["segment"], 16)))
        return {"all_segments": len(self.seen), "segments": len(found),
                "never_used_bytes": sum(one["never_used_bytes"] for one in found), "worst": found[:MOST_LISTED]}

    # -- Categories.

    def step_begins(self):
        """Of the regions, of which one without an end lasts to the end; one inside of the last is no step."""
        def event_at(time):
            return next((i for i, e in enumerate(self.trace) if e["time_us"] >= time), len(self.trace))

        begins, until = [], -1
        for start in (a for a in self.annotations if a["stage"] == "START"):
            end = next((a["time_us"] for a in self.annotations if (a["name"], a["stage"]) == (start["name"], "END")), None)
            if event_at(start["time_us"]) >= until:
                begins.append(event_at(start["time_us"]))
                until = len(self.trace) if end is None else event_at(end)
        return begins

    def passes(self):
        """[first, last] of every backward pass: allocations of others between two of its own are at most 8."""
        found, others = [], 9
        for i, event in enumerate(self.trace):
            if event["action"] != "alloc":
                continue
            if not is_backward(event["frames"]):
                others += 1
                continue
            if others > 8:
                found.append([i, i])
            found[-1][1], others = i, 0
        return found

    def is_cut_off(self, last):
        """The failure that ends the recording comes within 8 allocations of others after it."""
        rest = [e for e in self.trace[last + 1:] if e["action"] in ("alloc", "oom")]
        return bool(rest) and rest[-1]["action"] == "oom" and sum(e["action"] == "alloc" for e in rest) <= 8

    def categories(self, rules, event):
        begins, passes, shares = self.step_begins(), self.passes(), {}
        for life in self.alive(event):
            holds = self.conditions(life, begins, passes)
            name, sure = next(((name, sure) for name, sure, conditions in rules if fits(conditions, life, holds)), ("unknown", 0))
            share = shares.setdefault(name, [0, 0, 0])
            share[0] += life["requested"]
            share[1] += 1
            share[2] += sure * life["requested"]
        return {name: (size, count, weight / size) for name, (size, count, weight) in shares.items()}

    def conditions(self, life, begins, passes):
        kept, born, freed = life["freed"] is None, life["born"], self.freed(life)
        failures = [i for i, e in enumerate(self.trace) if e["action"] == "oom"]
        if failures and all(e["action"] != "alloc" for e in self.trace[failures[-1]:]) and freed > failures[-1]:
            kept, freed = True, len(self.trace)
        found = {"kept" if kept else "freed"}
        if born >= 0:
            found.add("recorded")
        if begins and born < begins[0]:
            found.add("older")
        if kept or any(born < begin <= freed for begin in begins):
            found.add("outlives_step")
        if in_module(life["stack"]):
            found.add("in_module")
        forwards = [i for i, e in enumerate(self.trace) if e["action"] == "alloc" and in_module(e["frames"])]
        trains = any(f["name"] in ("zero_grad", "train", "training") or "torch/optim/" in f["filename"] or is_backward([f])
                     for e in self.trace for f in e["frames"] or [])
        if not passes and forwards and born < forwards[0] and self.freed(life) > forwards[-1] and (
                born >= 0 or not (trains or (failures and all(e["action"] != "alloc" for e in self.trace[failures[-1]:])))):
            found.add("throughout")
        if is_backward(life["stack"]):
            found.add("in_backward")
            if any(first <= born <= last < freed and not (kept and self.is_cut_off(last)) for first, last in passes):
                found.add("outlives_backward")
        elif any(born < first < freed and all(first <= other for other, _ in passes if other > born) for first, _ in passes):
            found.add("until_backward")
            later = [(first, last) for first, last in passes if first > born]
            gone_by = sum(last < freed for _, last in later)
            if not kept and (any(first <= freed <= last for first, last in later) or (born >= 0 and gone_by <= 1)):
                found.add("freed_in_later_backward")
        return found


def in_module(frames):
    return any(f["name"] == "_call_impl" and f["filename"].endswith("torch/nn/modules/module.py") for f in frames)


def is_backward(frames):
    return any(f["name"] in ("backward", "_engine_run_backward") or "torch::autograd::Engine" in f["name"] for f in frames)


def fits(conditions, life, holds):
    for condition in conditions:
        if condition.startswith("frame:"):
            texts = condition[6:].split("|")
            if not any(text in f'{f["filename"]}:{f["name"]}' for f in life["stack"] for text in texts):
                return False
        elif condition.startswith("label:"):
            if (life["label"] or "").lower() != condition[6:].lower():
                return False
        elif condition not in holds:
            return False
    return True


def rules_in(text):
    rows = (line.split("#")[0].split() for line in text.splitlines())
    return [(row[0], float(row[1]), row[2:]) for row in rows if row]


def usual_rules():
    header = (ROOT / "engine" / "analysis" / "categories" / "category_rules.h").read_text()
    return rules_in(re.search(r'R"\((.*?)\)"', header, re.S)[1])
