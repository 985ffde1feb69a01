"""What `gpustrata state --json` must say, computed a second time and differently.

Written from the descriptions of the file format and of the allocator, not from the engine. The engine undoes events
once and derives the size of a vanished block from the room it had all its life; here the state before the first event
is found first, and then every alloc is decided forwards, as the allocator did: how large is the free block it takes,
and is it split? Plain dicts and sorted lists, O(events * blocks).

Irregular is raised where events and final state contradict each other: what to show then is a choice of the engine.
"""
import bisect

from reference import address_of, blocks_of, size_of, usable_events, usable_segments

MIB = 1 << 20
PENDING = ("active_pending_free", "active_awaiting_free")


class Irregular(Exception):
    pass


class Settings:
    def __init__(self, settings):
        settings = settings if isinstance(settings, dict) else {}
        split = settings.get("max_split_size", -1)
        self.max_split_size = split if isinstance(split, int) and split > 0 else 1 << 62
        divisions = settings.get("roundup_power2_divisions")
        self.divisions = {int(k): v for k, v in divisions.items()} if isinstance(divisions, dict) else {}

    def rounded(self, size):
        if size < 512:
            return 512
        power = 1 << (size.bit_length() - 1)
        division = self.divisions.get(min(max(power // MIB, 1), 32768), 0)
        if division > 1 and size > 512 * division:
            return size if size == power else -(-size // (power // division)) * (power // division)
        return -(-size // 512) * 512

    def is_split(self, rounded, rest, expandable):
        if rounded <= MIB or expandable:
            return rest >= 512
        return rounded < self.max_split_size and rest > MIB


class Block:
    def __init__(self, address, requested, size, state):
        self.address, self.requested, self.size, self.state = address, requested, size, state


class Range:
    def __init__(self, start, end, stream, pool, expandable, source):
        self.start, self.end, self.stream, self.pool = start, end, stream, pool
        self.expandable, self.source = expandable, source


class Memory:
    """Ranges and blocks by address; overlaps are contradictions."""

    def __init__(self):
        self.starts, self.ranges = [], {}  # sorted starts, start -> Range
        self.addresses, self.blocks = [], {}

    def add_range(self, new):
        i = bisect.bisect_left(self.starts, new.start)
        if i > 0 and self.ranges[self.starts[i - 1]].end > new.start:
            raise Irregular("range overlaps")
        if i < len(self.starts) and self.starts[i] < new.end:
            raise Irregular("range overlaps")
        self.starts.insert(i, new.start)
        self.ranges[new.start] = new

    def drop_range(self, start):
        self.starts.remove(start)
        return self.ranges.pop(start)

    def range_around(self, address):
        i = bisect.bisect_right(self.starts, address)
        found = self.ranges[self.starts[i - 1]] if i else None
        return found if found and address < found.end else None

    def cut(self, start, end):
        """Removes [start, end), which must be there, and returns the pieces."""
        pieces, at = [], start
        while at < end:
            found = self.range_around(at)
            if found is None:
                raise Irregular("range is not there")
            self.drop_range(found.start)
            stop = min(found.end, end)
            for a, b in ((found.start, at), (stop, found.end)):
                if a < b:
                    self.add_range(Range(a, b, found.stream, found.pool, found.expandable, found.source))
            pieces.append(Range(at, stop, found.stream, found.pool, found.expandable, found.source))
            at = stop
        if any(start <= a < end for a in self.addresses):
            raise Irregular("range is in use")
        return pieces

    def add_block(self, block):
        if block.address in self.blocks:
            raise Irregular("block is there already")
        bisect.insort(self.addresses, block.address)
        self.blocks[block.address] = block

    def drop_block(self, address):
        if address not in self.blocks:
            raise Irregular("block is not there")
        self.addresses.remove(address)
        return self.blocks.pop(address)

    def run_end(self, address):
        """End of the mapped memory around an address, over pieces that touch."""
        found = self.range_around(address)
        if found is None:
            raise Irregular("block outside segments")
        end = found.end
        while found.expandable and end in self.ranges and self.ranges[end].expandable:
            end = self.ranges[end].end
        return end

    def room(self, address):
        i = bisect.bisect_right(self.addresses, address)
        end = self.run_end(address)
        return min(self.addresses[i], end) - address if i < len(self.addresses) else end - address


def final_memory(snapshot, device, settings):
    memory = Memory()
    for row, s in enumerate(usable_segments(snapshot)):
        if s.get("device", 0) != device:
            continue
        start = s["address"] % (1 << 64)
        memory.add_range(Range(start, start + size_of(s["total_size"]), s.get("stream"), s.get("segment_pool_id"),
                               s.get("is_expandable") is True, row))
        for address, size, state, requested in blocks_of(s):
            if state == "active_allocated" or state in PENDING:
                memory.add_block(Block(address, requested, size,
                                       "active_pending_free" if state in PENDING else state))
    return memory


def writes_requests(events):
    """False if a block that the trace allocates is freed in it without any request in the whole trace."""
    if any(e["action"] == "free_requested" for e in events):
        return True
    open_here = set()
    for event in events:
        if event["action"] == "alloc":
            open_here.add(address_of(event))
        elif event["action"] == "free_completed" and address_of(event) in open_here:
            return False
    return True


def undo(memory, event, has_requests):
    action, address, size = event["action"], address_of(event), size_of(event["size"])
    if action == "alloc":
        memory.drop_block(address)
    elif action == "free_completed":
        memory.add_block(Block(address, size, None, "active_pending_free" if has_requests else "active_allocated"))
    elif action == "free_requested":
        if address not in memory.blocks or memory.blocks[address].state != "active_pending_free":
            raise Irregular("requested block is not pending")
        memory.blocks[address].state = "active_allocated"
    elif action in ("segment_alloc", "segment_map"):
        memory.cut(address, address + size)
    elif action in ("segment_free", "segment_unmap"):
        memory.add_range(Range(address, address + size, event.get("stream"), event.get("pool_id"),
                               action == "segment_unmap", None))


def redo(memory, event, settings, live_at_end, later):
    action, address, size = event["action"], address_of(event), size_of(event["size"])
    if action == "alloc":
        memory.add_block(Block(address, size, None, "active_allocated"))
        i = bisect.bisect_left(memory.addresses, address)
        below = memory.blocks[memory.addresses[i - 1]] if i > 0 else None
        if below and below.size is not None and below.address + below.size > address:
            raise Irregular("rounding does not explain the block")
        block, rounded = memory.blocks[address], settings.rounded(size)
        rest = memory.room(address) - rounded
        expandable = memory.range_around(address).expandable
        if rest < 0:
            raise Irregular("rounding does not explain the block")
        block.size = rounded if settings.is_split(rounded, rest, expandable) else rounded + rest
        if later.get(address) is not None:  # the dump has it
            block.requested, block.size = later[address]
    elif action == "free_requested":
        memory.blocks[address].state = "active_pending_free"
    elif action == "free_completed":
        memory.drop_block(address)
    elif action in ("segment_free", "segment_unmap"):
        memory.cut(address, address + size)
    elif action in ("segment_alloc", "segment_map"):
        for piece in live_at_end:
            memory.add_range(piece)


def snapshot_of(memory, device, event):
    segments, reserved, allocated, active = [], 0, 0, 0
    starts = list(memory.starts)
    i = 0
    while i < len(starts):
        first = memory.ranges[starts[i]]
        end, last = first.end, first
        while i + 1 < len(starts) and starts[i + 1] == end and last.expandable:
            other = memory.ranges[end]
            apart = last.source is not None and other.source is not None and last.source != other.source
            if not other.expandable or other.stream != last.stream or apart:
                break
            end, last, i = other.end, other, i + 1
        i += 1
        blocks, at = [], first.start
        k = bisect.bisect_left(memory.addresses, first.start)
        while k < len(memory.addresses) and memory.addresses[k] < end:
            block = memory.blocks[memory.addresses[k]]
            if block.address > at:
                blocks.append((at, block.address - at, 0, "inactive"))
            blocks.append((block.address, block.size, block.requested, block.state))
            at = block.address + block.size
            active += block.size
            allocated += block.size if block.state == "active_allocated" else 0
            k += 1
        if at < end:
            blocks.append((at, end - at, 0, "inactive"))
        pool = list(first.pool) if isinstance(first.pool, (list, tuple)) else None
        pool = [p % (1 << 64) for p in pool] if pool else None
        segments.append({"address": f"{first.start:#x}", "total_size": end - first.start, "stream": first.stream,
                         "pool": pool,
                         "blocks": [{"address": f"{a:#x}", "size": s, "requested_size": r, "state": t}
                                    for a, s, r, t in blocks]})
        reserved += end - first.start
    return {"device": device, "event": event, "reserved_bytes": reserved, "allocated_bytes": allocated,
            "active_bytes": active, "segments": segments}


def states(snapshot, device, wanted):
    """Yields the state after each wanted event, ascending; -1 is before the first."""
    settings = Settings(snapshot.get("allocator_settings"))
    traces = snapshot.get("device_traces") or []
    events = usable_events(traces[device]) if 0 <= device < len(traces) else []
    kinds = {e["action"] for e in events}
    if "free" in kinds:
        raise Irregular("fused frees")
    has_requests = "free_requested" in kinds
    requests_may_be_lost = writes_requests(events)
    dump = final_memory(snapshot, device, settings)
    if has_requests and "free_completed" not in kinds:
        # Then the request is the free, unless the dump has the block pending.
        pending = {a for a, b in dump.blocks.items() if b.state == "active_pending_free"}
        if pending:
            raise Irregular("pending blocks without completions")
        events = [{**e, "action": "free_completed"} if e["action"] == "free_requested" else e for e in events]
        requests_may_be_lost = False

    # Backwards: which blocks and ranges there are, and with which memory each event gave or took.
    memory = final_memory(snapshot, device, settings)
    pieces_of, later_of, generation = {}, {}, {a: (b.requested, b.size) for a, b in dump.blocks.items()}
    for index in range(len(events) - 1, -1, -1):
        event = events[index]
        address, size = address_of(event), size_of(event["size"])
        if event["action"] in ("segment_alloc", "segment_map"):
            pieces_of[index] = memory.cut(address, address + size)
            continue
        if event["action"] == "alloc":
            later_of[index] = {address: generation.pop(address, None)}
        undo(memory, event, requests_may_be_lost)

    # Blocks from before the trace that the dump does not have: as large as the smallest room they ever had allows.
    unknown = {a: b for a, b in memory.blocks.items() if b.size is None}
    state = memory
    smallest = {a: state.room(a) for a in unknown}

    def run(visit):
        nonlocal state
        visit(-1)
        for index, event in enumerate(events):
            redo(state, event, settings, pieces_of.get(index, ()), later_of.get(index, {}))
            visit(index)

    # A first pass only for those rooms; the second one has all sizes.
    if unknown:
        import copy
        start = copy.deepcopy(memory)

        def shrink(index):
            if index >= 0 and events[index]["action"] == "alloc":
                at = address_of(events[index])
                i = bisect.bisect_left(state.addresses, at)
                if i > 0 and state.blocks[state.addresses[i - 1]] in open_blocks:
                    before = state.addresses[i - 1]
                    smallest[before] = min(smallest[before], state.room(before))
        open_blocks = {b for b in memory.blocks.values() if b.size is None}
        expandable = {a: state.range_around(a).expandable for a in unknown}
        run(shrink)
        state = start
        for a, room in smallest.items():
            block = state.blocks[a]
            rounded = settings.rounded(block.requested)
            if rounded > room:
                raise Irregular("rounding does not explain the block")
            whole = not settings.is_split(rounded, room - rounded, expandable[a])
            block.size = room if whole else rounded

    answers, wanted = [], sorted(set(wanted))
    run(lambda index: answers.append(snapshot_of(state, device, index)) if index in wanted else None)
    return answers
