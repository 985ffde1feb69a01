"""What `gpustrata ops --json` must say, computed plainly from the events of a trace.

Definitions: an op is a whole event ("X") of the categories below. It holds the records of its (pid, tid) and device
with start <= t < start + duration, or t = start without a duration; ordered by (t, Ev Idx, place in the file).
"""
import bisect
import collections
from decimal import Decimal

OPS = {"cpu_op", "Operator", "user_annotation"}
TYPES = ["cpu", "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip", "fpga", "maia", "xla", "vulkan", "metal", "xpu",
         "mps", "meta", "hpu", "ve", "lazy", "ipu", "mtia", "privateuseone"]

Op = collections.namedtuple("Op", "name start duration where place")
Record = collections.namedtuple("Record", "t index place bytes total address where")


def nanoseconds(value):
    return int(Decimal(value) * 1000)


def is_number(value):
    return isinstance(value, (int, Decimal)) and not isinstance(value, bool)


def device_of(args):
    kind = args["Device Type"]
    name = TYPES[kind] if 0 <= kind < len(TYPES) else f"device type {kind}"
    return "cpu" if kind == 0 else f"{name}:{max(args.get('Device Id', 0), 0)}"


def read(events):
    ops, devices = [], collections.defaultdict(list)
    for place, e in enumerate(events):
        if not is_number(e.get("ts")):
            continue
        where = (str(e.get("pid")), str(e.get("tid")))
        if e.get("ph") == "X" and e.get("cat") in OPS:
            duration = nanoseconds(e["dur"]) if is_number(e.get("dur")) else 0
            ops.append(Op(e.get("name", ""), nanoseconds(e["ts"]), duration, where, place))
        elif e.get("ph") in ("i", "I") and e.get("name") == "[memory]":
            args = e.get("args", {})
            if not isinstance(args.get("Bytes"), int) or not isinstance(args.get("Device Type"), int):
                continue
            devices[device_of(args)].append(Record(
                nanoseconds(e["ts"]), args.get("Ev Idx", args.get("Profiler Event Index", 0)), place, args["Bytes"],
                args.get("Total Allocated"), args.get("Addr"), where))
    return ops, devices


def holds(op, t):
    return op.start <= t < op.start + op.duration or (op.duration == 0 and t == op.start)


def table(events, shares=lambda where: where):
    """{"devices": [...], "ops": {(device, name): {...}}}; `shares` tells which threads count together."""
    ops, devices = read(events)
    calls = collections.Counter(op.name for op in ops)
    by_where = collections.defaultdict(list)
    for op in ops:
        by_where[shares(op.where)].append(op)
    found_devices, found = {}, {}
    for device, records in devices.items():
        records.sort(key=lambda r: (r.t, r.index, r.place))
        totals = [r.total - r.bytes for r in records if r.total is not None]
        base = totals[0] if totals else 0
        levels, level = [], base
        for r in records:
            level += r.bytes
            levels.append(level)
        peak = max([base, *levels])
        at = levels.index(peak) if base < peak else -1
        alive, freed = [False] * len(records), {}  # when an address is freed next
        taken = {}
        ended = [None] * len(records)  # when the block of a record is freed, or its address taken by another
        for i, r in reversed(list(enumerate(records))):
            if r.address is not None and r.bytes > 0:
                ended[i] = taken.get(r.address)
            if r.address is not None and r.bytes != 0:
                taken[r.address] = i
            if r.address is not None and r.bytes < 0:
                freed[r.address] = i
            elif r.address is not None and r.bytes > 0 and i <= at:
                alive[i] = freed.get(r.address, len(records)) > at
        has_addresses = all(r.address is not None for r in records if r.bytes != 0)
        selves, unowned = collections.Counter(), 0
        held = collections.defaultdict(list)  # op -> its records
        where = collections.defaultdict(list)
        for i, r in enumerate(records):
            where[shares(r.where)].append(i)
        for key, indices in where.items():
            waiting = sorted((op for op in by_where[key] if op.duration >= 0), key=lambda op: op.start, reverse=True)
            running = []
            for i in indices:
                t = records[i].t
                while waiting and waiting[-1].start <= t:
                    running.append(waiting.pop())
                running = [op for op in running if holds(op, t)]
                for op in running:
                    held[op].append(i)
                if running:
                    owner = max(running, key=lambda op: (op.start, -op.duration, op.place))
                    selves[owner.name] += records[i].bytes
                else:
                    unowned += records[i].bytes
        for op, indices in held.items():
            row = found.setdefault((device, op.name), dict.fromkeys(
                ("calls", "net", "self", "gross", "peak", "abs_peak", "at_peak", "freed", "at_return"), 0))
            running = highest = 0
            for i in indices:
                running += records[i].bytes
                highest = max(highest, running)
                row["gross"] += max(records[i].bytes, 0)
                row["at_peak"] += records[i].bytes if alive[i] else 0
                row["freed"] += max(-records[i].bytes, 0)
                stays = ended[i] is None or records[ended[i]].t >= op.start + max(op.duration, 1)
                row["at_return"] += records[i].bytes if records[i].bytes > 0 and stays else 0
            row["net"] += running
            row["peak"] = max(row["peak"], highest)
            row["self"] = selves[op.name]
            row["calls"] = calls[op.name]
        listed = {name for where, name in found if where == device}
        full = {}
        times = [r.t for r in records]
        for op in ops:
            if op.name not in listed or op.duration < 0:
                continue
            first = bisect.bisect_left(times, op.start)
            end = bisect.bisect_left(times, op.start + max(op.duration, 1))
            worst = max([levels[first - 1] if first else base, *levels[first:end]])
            full[op.name] = max(full.get(op.name, worst), worst)
        for name in listed:
            found[device, name]["abs_peak"] = full[name]
            if not has_addresses:
                found[device, name]["at_peak"] = found[device, name]["at_return"] = None
        found_devices[device] = {
            "records": len(records), "allocs": sum(r.bytes > 0 for r in records),
            "frees": sum(r.bytes < 0 for r in records), "base_bytes": base, "peak_bytes": peak,
            "net_bytes": sum(r.bytes for r in records), "unowned_bytes": unowned}
    return {"devices": found_devices, "ops": found}
