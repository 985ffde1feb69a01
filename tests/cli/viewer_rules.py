"""What a pickle must obey so that PyTorch's web viewer and _memory_viz.py read it: "writer requirements" in
formats/pytorch-snapshot section 14. Each function gives the broken rules as sentences."""
import pickletools

OPCODES = set(
    "PROTO FRAME STOP MARK EMPTY_DICT EMPTY_LIST EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 LIST DICT APPEND APPENDS SETITEM "
    "SETITEMS NONE NEWTRUE NEWFALSE BININT BININT1 BININT2 LONG1 BINFLOAT BINUNICODE SHORT_BINUNICODE BINPUT LONG_BINPUT "
    "BINGET LONG_BINGET MEMOIZE".split()
)
LONGEST_BATCH = 1000


def encoding_problems(data):
    problems = set()
    values = [0]  # values above each mark
    for opcode, argument, position in pickletools.genops(data):
        name = opcode.name
        if name not in OPCODES:
            problems.add(f"{name} at {position}")
        if name == "PROTO" and argument > 4:
            problems.add(f"protocol {argument}")
        if name == "LONG1" and not -(1 << 63) <= argument < 1 << 63:
            problems.add(f"integer of more than 8 bytes at {position}")
        if name == "MARK":
            values.append(0)
        elif name in ("APPENDS", "SETITEMS", "TUPLE", "LIST", "DICT"):
            items = values.pop()
            if name == "SETITEMS":
                items /= 2
            if items > LONGEST_BATCH:
                problems.add(f"{items} items before {name} at {position}")
            if items == 0 or items != int(items):
                problems.add(f"{items} items before {name} at {position}")
            if name in ("TUPLE", "LIST", "DICT"):
                values[-1] += 1
        elif name in ("APPEND", "TUPLE2"):
            values[-1] -= 1
        elif name in ("SETITEM", "TUPLE3"):
            values[-1] -= 2
        elif name not in ("PROTO", "FRAME", "STOP", "MEMOIZE", "BINPUT", "LONG_BINPUT", "TUPLE1"):
            values[-1] += 1
    if values != [1]:
        problems.add(f"the stack ends with {values}")
    return sorted(problems)[:10]


def is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def content_problems(snapshot):
    problems = []
    checked = set()  # stacks, by id

    def check(condition, text):
        if not condition and len(problems) < 10:
            problems.append(text)

    check(isinstance(snapshot, dict), "not a dict")
    if problems:
        return problems
    segments, traces = snapshot.get("segments"), snapshot.get("device_traces")
    check(isinstance(segments, list) and isinstance(traces, list), "segments and device_traces are lists")
    if problems:
        return problems
    check(all(isinstance(trace, list) for trace in traces), "a list of lists")
    for s in segments:
        for key in ("device", "address", "total_size", "stream"):
            check(is_whole(s.get(key)), f"segment {key}: {s.get(key)!r}")
        check(isinstance(s.get("blocks"), list), "a segment has blocks")
        check(len(traces) > min(s["device"], 1023), f"no trace for device {s['device']}")
        if "segment_pool_id" in s:
            check(len(s["segment_pool_id"]) == 2, "segment_pool_id has two parts")
        check_frames(s, check, checked)
        for b in s["blocks"]:
            check(is_whole(b.get("size")) and isinstance(b.get("state"), str), "a block has size and state")
            check("frames" not in b or "requested_size" in b, "a block with frames has a requested_size")
            check_frames(b, check, checked)
    for event in (e for trace in traces for e in trace):
        place = "device_free" if event.get("action") == "oom" else "addr"
        check(isinstance(event.get("action"), str), "an event has an action")
        for key in ("size", "stream", place):
            check(is_whole(event.get(key)), f"event {key}: {event.get(key)!r}")
        check_frames(event, check, checked)
    return problems


def check_frames(owner, check, checked):
    if "frames" not in owner or id(owner["frames"]) in checked:
        return
    checked.add(id(owner["frames"]))
    check(isinstance(owner["frames"], list), "frames is a list")
    for frame in owner["frames"]:
        check(isinstance(frame["name"], str) and isinstance(frame["filename"], str), "frames have texts")
        check(is_whole(frame["line"]), f"line {frame['line']!r}")


def replay_problems(snapshot):
    """The undo of the official viewer: what its state view needs to find (section 10.1). For snapshots that say
    they are whole: nothing skipped, nothing lost."""
    problems = []
    for device, trace in enumerate(snapshot["device_traces"]):
        segments = {s["address"]: s["total_size"] for s in snapshot["segments"] if s["device"] == device}
        blocks = {}
        for s in snapshot["segments"]:
            if s["device"] != device:
                continue
            at = s["address"]
            for b in s["blocks"]:
                if b["state"] != "inactive":
                    blocks[at] = [b["requested_size"], b["state"] == "active_pending_free"]
                at += b["size"]
            if at != s["address"] + s["total_size"]:
                problems.append(f"the blocks of {s['address']:#x} do not tile it")

        def inside(address):
            return any(start <= address < start + size for start, size in segments.items())

        for i in range(len(trace) - 1, -1, -1):
            e = trace[i]
            at, action, size = e.get("addr"), e["action"], e["size"]
            wrong = None
            if action == "free_completed":
                wrong = "a live block" if at in blocks else None
                blocks[at] = [size, True]
            elif action == "free_requested":
                wrong = None if blocks.get(at) == [size, True] else "no pending block"
                blocks.setdefault(at, [size, True])[1] = False
            elif action == "alloc":
                wrong = None if blocks.pop(at, None) == [size, False] else "no such live block"
            elif action in ("segment_free", "segment_unmap"):
                merge(segments, at, size)
            elif action in ("segment_alloc", "segment_map"):
                if not cut(segments, at, size):
                    wrong = "no such segment"
            if wrong is None and action in ("free_completed", "free_requested") and not inside(at):
                wrong = "a block outside of all segments"
            if wrong:
                problems.append(f"device {device} event {i} {action} {at:#x}: {wrong}")
    return problems[:10]


def merge(segments, at, size):
    for start, length in list(segments.items()):
        if start + length == at:
            del segments[start]
            at, size = start, length + size
    for start, length in list(segments.items()):
        if start == at + size:
            del segments[start]
            size += length
    segments[at] = size


def cut(segments, at, size):
    for start, length in list(segments.items()):
        if start <= at and at + size <= start + length:
            del segments[start]
            if at > start:
                segments[start] = at - start
            if at + size < start + length:
                segments[at + size] = start + length - at - size
            return True
    return False
