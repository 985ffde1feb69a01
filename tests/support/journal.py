"""Journals, byte by byte, written from engine/io/journal/README.md alone: the second implementation that tests compare with."""
import struct

MASK = (1 << 64) - 1
ODD = 0x9FB21C651E98DF25
HEADER = 4096
ACTIONS = "alloc free_requested free_completed segment_alloc segment_free segment_map segment_unmap oom snapshot annotate".split()
REGION_BEGIN, REGION_END = 128, 129
NAMES, EVENTS, STATE = 1, 2, 3


def mixed(value):
    value ^= value >> 33
    value = value * 0xFF51AFD7ED558CCD & MASK
    value ^= value >> 33
    value = value * 0xC4CEB9FE1A85EC53 & MASK
    return value ^ value >> 33


def check(data):
    """The checksum: four lanes of 8 bytes over whole blocks of 32, then what is left."""
    def step(lane, word):
        lane = (lane ^ word) * ODD & MASK
        return lane ^ lane >> 29

    whole = len(data) // 32 * 32
    lanes = [1, 2, 3, 4]
    for at in range(0, whole, 32):
        lanes = [step(lane, word) for lane, word in zip(lanes, struct.unpack_from("<4Q", data, at))]
    rest = data[whole:]
    value = 0x9E3779B97F4A7C15 ^ len(rest) * 0xFF51AFD7ED558CCD & MASK
    for at in range(0, len(rest) // 8 * 8, 8):
        value = step(value, int.from_bytes(rest[at : at + 8], "little"))
    value = mixed(value ^ int.from_bytes(rest[len(rest) // 8 * 8 :], "little")) ^ mixed(len(data))
    for lane in lanes:
        value = mixed(value ^ lane) * ODD & MASK
    return mixed(value)


def padded(data):
    return data + bytes(-len(data) % 8)


def record(kind, device, fields):
    whole = padded(bytes(8) + fields)
    return struct.pack("<IBBH", len(whole), kind, 0, device) + whole[8:]


def event(action, address, size, device=0, stream=0, time=0, pool=(0, 0), stack=-1, context=-1, metadata=-1):
    number = ACTIONS.index(action) if isinstance(action, str) else action
    return record(1, device, struct.pack("<Q5q3iI", address, size, stream, time, *pool, stack, context, metadata, number))


def text(number, value):
    value = value.encode()
    return record(2, 0, struct.pack("<iI", number, len(value)) + value)


def frame(number, name, filename, line):
    return record(3, 0, struct.pack("<4i", number, name, filename, line))


def stack(number, frames):
    return record(4, 0, struct.pack(f"<iI{len(frames)}i", number, len(frames), *frames))


def fact(key, value):
    return record(5, 0, struct.pack("<ii", key, value))


def count(device, events):
    return record(6, device, struct.pack("<Q", events))


def state(device, segments):
    """Segments as (address, size, [(address, size, requested, pending, stack)], expandable)."""
    out = record(7, device, b"")
    for address, size, blocks, expandable in segments:
        kind = 0 if expandable else 1 if size == 2 << 20 else 2
        out += record(8, device, struct.pack("<Q4qiBBH", address, size, 0, 0, 0, -1, kind, int(expandable), 0))
        for at, length, requested, pending, of in blocks:
            out += record(9, device, struct.pack("<QqqiiII", at, length, requested, of, -1, int(pending), 0))
    return out + record(10, device, b"")


def chunk(kind, content, generation=1, start=0, end=0):
    head = struct.pack("<IIQQQQ", 0x4B4E4843, kind, len(content), generation, start, end)
    return head + struct.pack("<Q", check(head + content)) + content


def columns(records):
    """The content of a chunk of events: as wide as the values differ."""
    rows = [struct.unpack("<IBBHQ5q3iI", one) for one in records]
    #            action, device, address, size, stream, time, graph, user, stack, context, metadata
    places = [13, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    heads, data = b"", b""
    for index, place in enumerate(places):
        values = [row[place] for row in rows]
        base = min(values, key=lambda value: value - (1 << 64) if value >> 63 == 1 else value)
        most = max((value - base) & MASK for value in values)
        width = next(width for width in (0, 1, 2, 4, 8) if most < 1 << 8 * width)
        width = max(width, 1) if index == 0 else width
        heads += struct.pack("<QQ", base & MASK, width)
        data += padded(b"".join(((value - base) & MASK).to_bytes(8, "little")[:width] for value in values))
    return struct.pack("<Q", len(rows)) + heads + data


END = bytes(48)


class Journal:
    """A file in the making: `ring` takes records, `chunks` of each region bytes of chunks."""

    def __init__(self, ring_bytes=1 << 14, region_bytes=1 << 14):
        self.ring_bytes, self.region_bytes = ring_bytes, region_bytes
        self.ring, self.head, self.tail = bytearray(ring_bytes), 0, 0
        self.regions = [b"", b""]
        self.closed, self.lost_events, self.lost_stacks, self.reason, self.version = 0, 0, 0, "", 1

    def put(self, *records):
        """Into the ring; the positions that they got."""
        start = self.head
        for byte in b"".join(records):
            self.ring[self.head % self.ring_bytes] = byte
            self.head += 1
        return start, self.head

    def events(self, *records, region=0, generation=1):
        """Through the ring into a chunk."""
        start, end = self.put(*records)
        self.regions[region] += chunk(EVENTS, columns(records), generation, start, end)
        self.tail = end

    def records(self, kind, *records, region=0, generation=1):
        """Names or a state of the moment, as a chunk."""
        self.regions[region] += chunk(kind, b"".join(records), generation, self.tail, self.tail)

    def bytes(self):
        head = struct.pack("<16sIIQQQq", b"\x93gpustrata run\r\n", self.version, HEADER, self.ring_bytes, self.region_bytes, 77, 5)
        page = bytearray(HEADER)
        page[:64] = head + struct.pack("<Q", check(head))
        for place, value in ((128, self.head), (192, self.tail), (256, self.closed), (320, self.lost_events), (384, self.lost_stacks)):
            struct.pack_into("<Q", page, place, value)
        page[512 : 512 + len(self.reason)] = self.reason.encode()
        whole = bytes(page + self.ring)
        one, other = (region + END for region in self.regions)
        if not self.regions[1]:
            return whole + one
        return whole + one.ljust(self.region_bytes, b"\0") + other
