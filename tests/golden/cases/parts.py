"""What cases are made of: a small snapshot and its parts, what is expected of a case, and the list of all."""
import copy
import pickle

from support.snapshots import BASE, MIB, block, event, frame, free, segment, snapshot

CASES = []
U64 = 1 << 64


def case(function):
    CASES.append(function)
    return function


class Expect:
    """Hand-made facts. device(n, ...) of the only snapshot; `diagnostics` exactly; `error` = refused."""

    def __init__(self, devices=None, diagnostics=None, error=None, snapshots=None, kind="pickle", **facts):
        self.devices, self.diagnostics, self.error, self.kind = devices or {}, diagnostics or {}, error, kind
        self.facts, self.snapshots = facts, snapshots


STACK = [frame("leaf", 10), frame("main", 20)]


def small_run(**more):
    """A segment, two allocs, one freed: level 1000, 1500, 500."""
    return snapshot(
        [segment(BASE, [block(1024), block(512, "active_allocated", requested_size=500), block(2 * MIB - 1536)])],
        [event("segment_alloc", BASE, 2 * MIB, frames=STACK), event("alloc", BASE, 1000, frames=STACK),
         event("alloc", BASE + 1024, 500, frames=STACK), *free(BASE, 1000, frames=STACK)], **more)


SMALL_RUN = {"events": 5, "final_requested_bytes": 500, "initial_requested_bytes": 0, "distinct_stacks": 1,
             "reserved_bytes": 2 * MIB, "allocated_bytes": 512, "active_bytes": 512, "segments": 1, "blocks": 3,
             "peak": {"requested_bytes": 1500, "event": 2}}


def dump(value, protocol=4):
    return pickle.dumps(value, protocol=protocol)


def cut_run():
    """The small run as a pickle; the same cut in its third event; what of it can be shown."""
    s = small_run()
    s["device_traces"][0][2]["size"] = 0x12345678
    kept = copy.deepcopy(s)
    kept["device_traces"][0] = kept["device_traces"][0][:2]
    return dump(s, 2), cut_after(s, 2), kept


# From the start: the final block of 500, whose alloc is cut off; then 500, 1500.
CUT_RUN = {"events": 2, "segments": 1, "initial_requested_bytes": 500, "peak": {"requested_bytes": 1500, "event": 1}}


def cut_stored(data, kept):
    """A gzip file of one stored block, `kept` bytes of it."""
    header = 10 + 5
    assert data[10] & 7 == 1, "one last block, stored"
    return data[:header + kept]


def cut_after(s, kept):
    """The bytes of a snapshot up to the middle of event `kept` of device 0, whose size must be unmistakable."""
    data = dump(s, 2)
    size = s["device_traces"][0][kept]["size"]
    mark = b"J" + size.to_bytes(4, "little")
    assert data.count(mark) == 1
    return data[:data.index(mark)]
