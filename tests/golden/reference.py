"""What `gpustrata summary --json` must say of a snapshot, computed a second time and differently.

Written from the description of the file format, not from the engine: Python's own pickle reads the file, plain
dicts and lists hold it. Only for files that are trusted: pickle.loads runs what it is told.

  python3 tests/golden/reference.py FILE...
"""
import io
import json
import math
import pickle
import sys

U64 = 1 << 64
HIGHEST_LEVEL = 1 << 53  # a size that lifts the total above this counts as 0


class Refused(Exception):
    """No snapshot is in the file."""


class Inert:
    """Stands for an object of a class that a snapshot does not need."""

    def __init__(self, *args, **kwargs):
        pass

    def __setstate__(self, state):
        pass


class Loader(pickle.Unpickler):
    KNOWN = {("collections", "OrderedDict"), ("collections", "defaultdict"), ("builtins", "dict"), ("builtins", "list")}

    def find_class(self, module, name):
        return super().find_class(module, name) if (module, name) in self.KNOWN else Inert


def load(data):
    return Loader(io.BytesIO(data)).load()


def is_snapshot(value):
    return isinstance(value, dict) and ("segments" in value or "device_traces" in value)


def is_segments(value):
    return isinstance(value, list) and len(value) > 0 and all(isinstance(s, dict) and "blocks" in s for s in value)


def snapshots_in(value, name=""):
    """(name, snapshot dict) pairs in the order of the file."""
    if is_snapshot(value):
        return [(name, value)]
    if is_segments(value):
        return [(name, {"segments": value})]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    inner = []
    for key, part in items:
        inner += snapshots_in(part, f"{name}/{key}" if name else str(key))
    return inner


def whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def size_of(value):
    return max(value, 0)


def address_of(event):
    address = event.get("device_free") if event["action"] == "oom" else event.get("addr")
    return address % U64 if whole(address) else None


def usable_events(trace):
    return [e for e in trace if isinstance(e, dict) and isinstance(e.get("action"), str) and whole(e.get("size"))
            and address_of(e) is not None]


def usable_segments(snapshot):
    return [s for s in snapshot.get("segments") or [] if whole(s.get("address")) and whole(s.get("total_size"))]


def blocks_of(segment):
    """(address, size, state, requested size) of the blocks of a segment."""
    at = segment["address"] % U64
    for block in segment.get("blocks") or []:
        if not whole(block.get("size")) or not isinstance(block.get("state"), str):
            continue
        size = size_of(block["size"])
        address = block.get("address", block.get("addr", at)) % U64
        history = block.get("history")
        if whole(block.get("requested_size")):
            requested = size_of(block["requested_size"])
        elif history and whole(history[0].get("real_size")):
            requested = size_of(history[0]["real_size"])
        else:
            requested = size
        yield address, size, block["state"], requested
        at = address + size


PENDING = ("active_pending_free", "active_awaiting_free")


def levels(events, segments):
    """Bytes in live blocks before the first event, and after each event."""
    kinds = {e["action"] for e in events}
    ends = {"free_completed", "free"}
    if "free_requested" in kinds and not kinds & ends:
        ends = {"free_requested"}
    # Without completions the request is the free, unless the dump has the block waiting.
    waiting = {a for s in segments for a, _, state, _ in blocks_of(s) if state in PENDING}
    last = {address_of(e): i for i, e in enumerate(events) if e["action"] in ("alloc", "free_requested")}
    open_blocks = {}  # address -> index in changes
    older = []  # sizes, in order of discovery, with the event that frees them
    for index, event in enumerate(events):
        address = address_of(event)
        if event["action"] == "alloc":
            open_blocks[address] = index
        elif event["action"] == "free_requested" and address in open_blocks and address in waiting and \
                last[address] == index:
            pass
        elif event["action"] in ends and address in open_blocks:
            del open_blocks[address]
        elif event["action"] in ends:
            older.append((size_of(event["size"]), index))
    for segment in segments:
        for address, _, state, requested in blocks_of(segment):
            if state == "active_allocated" and address not in open_blocks:
                older.append((requested, None))

    def fitting(size, level):
        return size if level + size <= HIGHEST_LEVEL else 0

    initial, freed_at = 0, {}
    for size, index in older:
        size = fitting(size, initial)
        initial += size
        freed_at[index] = size
    level, live, after = initial, {}, []
    for index, event in enumerate(events):
        address = address_of(event)
        if event["action"] == "alloc":
            level -= live.pop(address, 0)
            live[address] = fitting(size_of(event["size"]), level)
            level += live[address]
        elif event["action"] == "free_requested" and address in live and address in waiting and last[address] == index:
            pass
        elif event["action"] in ends:
            level -= live.pop(address) if address in live else freed_at[index]
        after.append(level)
    return initial, after


def frame_key(frame):
    line = frame.get("line")
    return (frame.get("name"), frame.get("filename"), -1 if line == U64 - 1 else line,
            *(frame.get(f"fx_node_{k}") for k in ("op", "name", "target")), frame.get("fx_original_trace"))


def device_summary(snapshot, device):
    traces = snapshot.get("device_traces") or []
    events = usable_events(traces[device]) if 0 <= device < len(traces) else []
    segments = [s for s in usable_segments(snapshot) if s.get("device", 0) == device]
    blocks = [b for s in segments for b in blocks_of(s)]
    initial, after = levels(events, segments)
    peak = max([initial, *after])
    actions = {}
    for event in events:
        actions[event["action"]] = actions.get(event["action"], 0) + 1
    times = [e["time_us"] for e in events if whole(e.get("time_us"))]
    stacks = {tuple(map(frame_key, e["frames"])) for e in events if isinstance(e.get("frames"), list)}
    ooms = [(i, e) for i, e in enumerate(events) if e["action"] == "oom"]
    oom = {}
    if ooms:
        index, last = ooms[-1]
        oom["oom"] = {"count": len(ooms), "event": index, "requested_bytes": size_of(last["size"]),
                      "device_free_bytes": min(address_of(last), (1 << 63) - 1)}
    return {
        "device": device,
        "events": len(events),
        "actions": actions,
        "segments": len(segments),
        "blocks": len(blocks),
        "reserved_bytes": sum(size_of(s["total_size"]) for s in segments),
        "allocated_bytes": sum(b[1] for b in blocks if b[2] == "active_allocated"),
        "active_bytes": sum(b[1] for b in blocks if b[2] == "active_allocated" or b[2] in PENDING),
        "initial_requested_bytes": initial,
        "final_requested_bytes": after[-1] if after else initial,
        "peak": {"requested_bytes": peak, "event": -1 if initial == peak else after.index(peak)},
        **oom,
        "distinct_stacks": len(stacks),
        "first_time_us": times[0] if times else None,
        "last_time_us": times[-1] if times else None,
    }


def as_json(value):
    """Settings as JSON has them: tuples are lists, lone surrogates U+FFFD, infinities null."""
    if isinstance(value, dict):
        return {as_json(k): as_json(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in value)
    return value


def snapshot_summary(name, snapshot):
    traces = snapshot.get("device_traces") or []
    devices = {s.get("device", 0) for s in usable_segments(snapshot)}
    devices |= {i for i, trace in enumerate(traces) if usable_events(trace)}
    settings = snapshot.get("allocator_settings")
    host = None
    if "host_segments" in snapshot or "host_traces" in snapshot:
        host = {"segments": len(snapshot.get("host_segments") or []), "events": len(snapshot.get("host_traces") or [])}
    return {
        **({"name": as_json(name)} if name else {}),
        "devices": [device_summary(snapshot, d) for d in sorted(devices)],
        "host": host,
        "settings": as_json(settings) if isinstance(settings, dict) else {},
        "annotations": len(snapshot.get("external_annotations") or []),
    }


def summary_of(value, kind="pickle"):
    """Everything but "file", "bytes" and "diagnostics"."""
    found = snapshots_in(value)
    if not found:
        raise Refused
    return {"format": kind, "snapshots": [snapshot_summary(name, s) for name, s in found]}


def summary(data):
    return {"bytes": len(data), **summary_of(load(data))}


if __name__ == "__main__":
    for path in sys.argv[1:]:
        with open(path, "rb") as file:
            print(json.dumps({"file": path, **summary(file.read())}))
