"""Blocks, segments, frames and integers."""
import copy

from encoders import CppPickler
from cases.parts import Expect, SMALL_RUN, STACK, U64, case, dump, small_run
from support.snapshots import BASE, MIB, block, event, frame, free, segment, snapshot


# -- Blocks and segments (13.2-4)


@case
def stale_requested_size():
    """On inactive blocks requested_size is left over and may exceed the size."""
    return dump(snapshot([segment(BASE, [block(512, requested_size=1 << 40), block(512, "active_allocated", requested_size=5)])], [])), \
        Expect({0: {"final_requested_bytes": 5, "allocated_bytes": 512, "active_bytes": 512}})


@case
def pending_blocks():
    """active_pending_free and its other name count as active, and in the timeline only if their alloc is in the trace."""
    s = snapshot([segment(BASE, [block(1024, "active_pending_free", requested_size=1000),
                                 block(512, "active_awaiting_free", requested_size=400),
                                 block(512, "active_allocated", requested_size=300)])],
                 [event("alloc", BASE, 1000), event("free_requested", BASE, 1000), event("alloc", BASE + 8192, 1),
                  *free(BASE + 8192, 1)])
    # Level: 300 from the start, 1300, 1300 (still pending), 1301, 1301, 1300.
    return dump(s), Expect({0: {"allocated_bytes": 512, "active_bytes": 2048, "initial_requested_bytes": 300,
                                "final_requested_bytes": 1300, "peak": {"requested_bytes": 1301, "event": 2}}})


@case
def blocks_do_not_tile():
    s = segment(BASE, [block(512, "active_allocated")])
    s["total_size"] = 4096
    return dump(snapshot([s], [])), Expect({0: {"reserved_bytes": 4096}}, diagnostics={"blocks_do_not_tile": 1})


@case
def unknown_block_state():
    return dump(snapshot([segment(BASE, [block(512, "sleeping"), block(512, "active_allocated")])], [])), \
        Expect({0: {"active_bytes": 512, "blocks": 2}}, diagnostics={"unknown_state": 1})


# -- Frames (13.5, 13.9, 13.10)


@case
def frame_lines_and_names():
    """Unknown lines in all their forms; 2^64-1 and -1 are one; odd file names; a template name of 8 KB."""
    frames = [frame("f", line) for line in (0, -1, U64 - 1, 7)]
    frames += [frame("f", 7, name) for name in ("??", "", "none", "<string>", "<frozen importlib._bootstrap>")]
    frames.append(frame("void kernel<" + "std::pair<int, " * 500 + ">", 0, "??"))
    return dump(snapshot([], [event("alloc", BASE + 512 * i, 1, frames=[f]) for i, f in enumerate(frames)])), \
        Expect({0: {"distinct_stacks": 9, "final_requested_bytes": 10}})


@case
def three_kinds_of_no_stack():
    """Key absent, empty list, None. An empty list is a stack; None counts as absent."""
    return dump(snapshot([], [event("alloc", BASE, 1), event("alloc", BASE + 512, 1, frames=[]),
                              event("alloc", BASE + 1024, 1, frames=None), event("alloc", BASE + 1536, 1, frames=STACK)])), \
        Expect({0: {"distinct_stacks": 2, "events": 4}})


@case
def shared_stacks():
    """Events, blocks and segments refer to the same lists, lists to the same frames; equal lists are one stack."""
    shared, equal, longer = STACK, copy.deepcopy(STACK), [frame("inner"), *STACK]
    stacks = [shared, equal, longer, STACK[1:], shared]
    s = snapshot([segment(BASE, [block(512, "active_allocated", requested_size=1, frames=f) for f in stacks], frames=shared)],
                 [event("alloc", BASE + 512 * i, 1, frames=f) for i, f in enumerate(stacks)])
    return dump(s), Expect({0: {"distinct_stacks": 3, "final_requested_bytes": 5, "initial_requested_bytes": 0}})


@case
def cyclic_memo():
    """A list that holds itself, in a key nobody knows."""
    loop = [1]
    loop.append(loop)
    return dump(small_run(extra=loop)), Expect({0: SMALL_RUN}, diagnostics={"cyclic_reference": 1, "unknown_key": 1})


# -- Integers (13.6-8, 13.14)


@case
def high_addresses_python():
    """Intel GPUs: addresses above 2^63, as integers of 9 bytes."""
    high = U64 - 4096
    s = snapshot([segment(high, [block(1024, "active_allocated", requested_size=1000), block(3072)])],
                 [event("alloc", high, 1000, stream=-3), event("alloc", high + 1024, 5), *free(high + 1024, 5)])
    return dump(s), Expect({0: {"initial_requested_bytes": 0, "final_requested_bytes": 1000,
                                "peak": {"requested_bytes": 1005, "event": 1}}})


@case
def high_addresses_cpp():
    """The same from C++: negative numbers."""
    high = U64 - 4096
    s = snapshot([segment(high, [block(1024, "active_allocated", requested_size=1000), block(3072)])],
                 [event("alloc", high, 1000, stream=-3), event("alloc", high + 1024, 5), *free(high + 1024, 5)])
    return CppPickler.dumps(s), Expect({0: {"initial_requested_bytes": 0, "final_requested_bytes": 1000,
                                            "peak": {"requested_bytes": 1005, "event": 1}}})


@case
def pool_ids():
    """Tuples and lists, up to 2^64-1."""
    s = snapshot([segment(BASE, [block(512)], segment_pool_id=[0, U64 - 1])],
                 [event("alloc", BASE, 1, pool_id=(U64 - 1, 0)), event("alloc", BASE + 512, 1, pool_id=[1, 2])])
    return dump(s), Expect({0: {"events": 2}}, diagnostics={"alloc_without_end": 2})


@case
def private_pool():
    """A private pool of 8192 bytes with a block of 500, freed, and a default block of 800 after it."""
    other = BASE + 0x100000
    s = snapshot([segment(BASE, [block(8192)], segment_pool_id=(0, 1)),
                  segment(other, [block(1024, "active_allocated", requested_size=800), block(2 * MIB - 1024)],
                          segment_pool_id=(0, 0))],
                 [event("segment_alloc", BASE, 8192, frames=[frame("capture", 7)]), event("segment_alloc", other, 2 * MIB),
                  event("alloc", BASE, 500, frames=STACK), event("alloc", other, 800), *free(BASE, 500)])
    return dump(s), Expect({0: {"events": 6, "peak": {"requested_bytes": 1300, "event": 3},
                                "final_requested_bytes": 800, "reserved_bytes": 8192 + 2 * MIB}})


@case
def oom_and_snapshot_events():
    """Neither is an allocation, though both have a size and `snapshot` has address 0."""
    s = snapshot([], [event("snapshot", 0, 5 * MIB), event("alloc", 0, 64),
                      {"action": "oom", "device_free": 0, "size": 1 << 40, "stream": 0}, event("snapshot", 0, 64)])
    return dump(s), Expect({0: {"peak": {"requested_bytes": 64, "event": 1}, "final_requested_bytes": 64}})


@case
def negative_size():
    s = snapshot([], [event("alloc", BASE, -5), event("alloc", BASE + 512, 5)])
    return dump(s), Expect({0: {"peak": {"requested_bytes": 5, "event": 1}}}, diagnostics={"negative_size": 1})


@case
def total_above_8_pib():
    """Sums stay exact below 2^53 bytes: what would lift the total above counts as 0."""
    s = snapshot([], [event("alloc", BASE, 1 << 53), event("alloc", 1, 1), *free(BASE, 1 << 53), event("alloc", BASE, 9)])
    return dump(s), Expect({0: {"peak": {"requested_bytes": 1 << 53, "event": 0}, "final_requested_bytes": 9}},
                           diagnostics={"level_overflow": 1})
