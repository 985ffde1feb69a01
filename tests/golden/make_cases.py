#!/usr/bin/env python3
"""Writes the golden cases: torch_snapshot/<case>/input.pickle and expected.json.

  python3 tests/golden/make_cases.py [--check]     --check: fail if the files differ from what would be written

Every function below is one case. It returns the bytes and what was worked out by hand; the rest of expected.json
comes from reference.py, which must agree with the hand. expected.json: the object of `memstrata summary --json`
without "file"; "diagnostics" as {name: count}. A file that must be refused has {"error": code} instead.
"""
import collections
import copy
import datetime
import gzip
import json
import math
import pickle
import sys
from pathlib import Path

import reference
from encoders import CppPickler

FOLDER = Path(__file__).parent / "torch_snapshot"
CASES = []
KiB, MiB = 1 << 10, 1 << 20
BASE = 0x7F0000000000
U64 = 1 << 64
NOW = 1_700_000_000_000_000


def case(function):
    CASES.append(function)
    return function


class Expect:
    """Hand-made facts. device(n, ...) of the only snapshot; `diagnostics` exactly; `error` = refused."""

    def __init__(self, devices=None, diagnostics=None, error=None, snapshots=None, **facts):
        self.devices, self.diagnostics, self.error = devices or {}, diagnostics or {}, error
        self.facts, self.snapshots = facts, snapshots


def frame(name, line=1, filename="a.py", **more):
    return {"name": name, "filename": filename, "line": line, **more}


STACK = [frame("leaf", 10), frame("main", 20)]


def event(action, addr, size, **more):
    return {"action": action, "addr": addr, "size": size, "stream": 0, **more}


def free(addr, size, **more):
    return [event("free_requested", addr, size, **more), event("free_completed", addr, size, **more)]


def block(size, state="inactive", **more):
    return {"size": size, "state": state, **more}


def segment(address, blocks, device=0, **more):
    return {"device": device, "address": address, "total_size": sum(b["size"] for b in blocks), "stream": 0,
            "blocks": blocks, **more}


def snapshot(segments=(), *traces, **more):
    return {"segments": list(segments), "device_traces": [list(t) for t in traces], **more}


def small_run(**more):
    """A segment, two allocs, one freed: level 1000, 1500, 500."""
    return snapshot(
        [segment(BASE, [block(1024), block(512, "active_allocated", requested_size=500), block(2 * MiB - 1536)])],
        [event("segment_alloc", BASE, 2 * MiB, frames=STACK), event("alloc", BASE, 1000, frames=STACK),
         event("alloc", BASE + 1024, 500, frames=STACK), *free(BASE, 1000, frames=STACK)], **more)


SMALL_RUN = {"events": 5, "final_requested_bytes": 500, "initial_requested_bytes": 0, "distinct_stacks": 1,
             "reserved_bytes": 2 * MiB, "allocated_bytes": 512, "active_bytes": 512, "segments": 1, "blocks": 3,
             "peak": {"requested_bytes": 1500, "event": 2}}


def dump(value, protocol=4):
    return pickle.dumps(value, protocol=protocol)


# -- Eras (format, section 1.2)


@case
def era0_bare_list():
    """<= 1.12: segments only, blocks with size and state only."""
    s = [{"device": 0, "address": BASE, "total_size": 2 * MiB, "allocated_size": 512, "active_size": 512,
          "segment_type": "small", "blocks": [block(512, "active_allocated"), block(2 * MiB - 512)]}]
    return dump(s, 2), Expect({0: {"events": 0, "actions": {}, "peak": {"requested_bytes": 512, "event": -1},
                                   "initial_requested_bytes": 512, "final_requested_bytes": 512}})


@case
def era1_history():
    """1.13: block history; the first entry of an active block is its present allocation."""
    past = {"addr": BASE, "real_size": 300, "frames": STACK}
    older = {"addr": BASE, "real_size": 999, "frames": []}
    return dump([segment(BASE, [block(512, "active_allocated", history=[past, older]), block(1024, history=[older])])], 4), \
        Expect({0: {"final_requested_bytes": 300, "allocated_bytes": 512, "distinct_stacks": 0}})


@case
def era2_trace_without_times():
    """2.0: device_traces, no times, history still there, C++ frames as text."""
    s = snapshot([segment(BASE, [block(1024, "active_allocated", history=[
        {"addr": BASE, "real_size": 1000, "frames": STACK, "cpp_frames": "0x1 in main"}])])],
        [event("alloc", BASE, 1000, frames=STACK, cpp_frames="0x1 in main")])
    return dump(s, 4), Expect({0: {"first_time_us": None, "last_time_us": None, "final_requested_bytes": 1000,
                                   "peak": {"requested_bytes": 1000, "event": 0}}})


@case
def era2b_requested_size():
    """Early 2023: requested_size and segment_pool_id beside history."""
    s = snapshot([segment(BASE, [block(1024, "active_allocated", requested_size=777, history=[
        {"addr": BASE, "real_size": 888, "frames": STACK}])], segment_pool_id=(0, 0), requested_size=777)], [])
    return dump(s, 3), Expect({0: {"final_requested_bytes": 777}})


@case
def era3_expandable_and_oom():
    """2.1: segment_map and segment_unmap; the oom event has device_free instead of addr."""
    s = snapshot([segment(BASE, [block(2 * MiB, "active_allocated", requested_size=2 * MiB, address=BASE, frames=[])],
                          is_expandable=True, frames=STACK)],
                 [event("segment_map", BASE, 2 * MiB), event("alloc", BASE, 2 * MiB), event("segment_map", BASE + 2 * MiB, 20 * MiB),
                  event("segment_unmap", BASE + 2 * MiB, 20 * MiB),
                  {"action": "oom", "device_free": 3 * MiB, "size": 64 * MiB, "stream": 0, "frames": STACK}])
    return dump(s), Expect({0: {"events": 5, "reserved_bytes": 2 * MiB, "distinct_stacks": 1,
                                "actions": {"segment_map": 2, "alloc": 1, "segment_unmap": 1, "oom": 1},
                                "peak": {"requested_bytes": 2 * MiB, "event": 1}}})


@case
def era4_settings_and_times():
    """2.2: allocator_settings and time_us."""
    s = small_run(allocator_settings={"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.8,
                                      "expandable_segments": False, "roundup_power2_divisions": {"1": 0, "2": 4}})
    for i, e in enumerate(s["device_traces"][0]):
        e["time_us"] = NOW + 10 * i
    return dump(s), Expect({0: {**SMALL_RUN, "first_time_us": NOW, "last_time_us": NOW + 40}},
                           settings={"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1,
                                     "garbage_collection_threshold": 0.8, "expandable_segments": False,
                                     "roundup_power2_divisions": {"1": 0, "2": 4}})


@case
def era4b_user_defined():
    """Mid 2024: profiler ranges in the trace."""
    s = small_run()
    mark = [{"name": "START", "filename": "my range", "line": 0}]
    s["device_traces"][0].insert(0, event("user_defined", 0, 0, frames=mark))
    return dump(s), Expect({0: {"events": 6, "distinct_stacks": 2, "peak": {"requested_bytes": 1500, "event": 3}}})


@case
def era5_annotations():
    """2.5: external_annotations."""
    s = small_run(external_annotations=[{"name": "step", "stage": "START", "device": 0, "time_us": NOW},
                                        {"name": "step", "stage": "END", "device": 0, "time_us": NOW + 9, "color": "red"}])
    return dump(s), Expect({0: SMALL_RUN}, annotations=2, diagnostics={"unknown_key": 1})


@case
def era6_contexts_metadata_fx():
    """2025: compile_context, user_metadata as text or dict, FX graph data on frames."""
    s = small_run()
    trace = s["device_traces"][0]
    for e, context, metadata in zip(trace, ["N/A", "Torch-Compiled Region: 0/0", "", "N/A", "N/A"],
                                    ["", "line one\nline two", {"step": "3"}, "", ""]):
        e["compile_context"], e["user_metadata"] = context, metadata
    fx = dict(fx_node_op="call_function", fx_node_name="add", fx_node_target="aten.add", fx_original_trace="File x\n  y = a + b\n")
    trace[1]["frames"] = [frame("generated", 5, **fx)]
    trace[2]["frames"] = [frame("generated", 5, **{**fx, "fx_node_op": None})]
    return dump(s), Expect({0: {**SMALL_RUN, "distinct_stacks": 3}})


@case
def era7_pool_ids_and_forward_frames():
    """Early 2026: event pool_id, forward_frames, overflow keys at the top."""
    s = small_run(trace_alloc_max_entries=[5], trace_alloc_overflowed=[True])
    for i, e in enumerate(s["device_traces"][0]):
        e["pool_id"] = (0, i % 2)
    s["device_traces"][0][1]["forward_frames"] = ["  File m.py, line 1\n", "    y = f(x)\n"]
    s["segments"][0]["forward_frames"] = ["  File m.py, line 1\n"]
    return dump(s), Expect({0: SMALL_RUN})


@case
def era8_host_memory_and_annotate():
    """Mid 2026: pinned host memory, annotate events, internal_metadata."""
    s = small_run(host_segments=[segment(0x5000, [block(4096, "active_allocated", requested_size=4096)], device=-1),
                                 segment(0x9000, [block(512)], device=-1)],
                  host_traces=[event("segment_alloc", 0x5000, 4096), event("alloc", 0x5000, 4096, frames=STACK),
                               event("alloc", 0x9000, 512)])
    s["device_traces"][0].insert(3, event("annotate", BASE + 1024, 500, user_metadata="weights of layer 3"))
    s["device_traces"][0][1]["internal_metadata"] = "mallocWithAddress"
    return dump(s), Expect({0: {**SMALL_RUN, "events": 6}}, host={"segments": 2, "events": 3})


# -- Containers (13.1, 13.13)


@case
def no_traces():
    """Traces left out of the snapshot: an empty outer list, segments of two devices."""
    s = snapshot([segment(BASE, [block(512, "active_allocated", requested_size=100)]),
                  segment(2 * BASE, [block(1024)], device=3)])
    return dump(s), Expect({0: {"final_requested_bytes": 100}, 3: {"reserved_bytes": 1024, "final_requested_bytes": 0}})


@case
def more_traces_than_devices():
    """A profiler's snapshot: the last trace stands for the CPU; sparse blocks and events with categories."""
    s = {"segments": [{"device": 0, "address": BASE, "total_size": 512, "stream": 0, "blocks": [block(512)]}],
         "device_traces": [[event("alloc", BASE, 512, category="activation"), *free(BASE, 512)],
                           [event("alloc", 64, 8, category="unknown", frames=[frame("f", 0, "none")])]]}
    return dump(s), Expect({0: {"events": 3, "final_requested_bytes": 0, "peak": {"requested_bytes": 512, "event": 0}},
                            1: {"events": 1, "segments": 0, "reserved_bytes": 0, "final_requested_bytes": 8}})


@case
def several_devices():
    """Four traces, two empty; device 2 has segments only."""
    s = snapshot([segment(BASE, [block(512, "active_allocated", requested_size=1)], device=2)],
                 [event("alloc", BASE, 10)], [], [], [event("alloc", BASE, 30), event("alloc", BASE + 512, 3)])
    return dump(s), Expect({0: {"final_requested_bytes": 10}, 2: {"final_requested_bytes": 1, "events": 0},
                            3: {"final_requested_bytes": 33, "peak": {"requested_bytes": 33, "event": 1}}})


@case
def events_only():
    """Imitators write no segments at all."""
    return dump(snapshot([], [event("alloc", BASE, 100), event("alloc", BASE + 512, 50), *free(BASE, 100)])), \
        Expect({0: {"peak": {"requested_bytes": 150, "event": 1}, "final_requested_bytes": 50, "segments": 0}})


@case
def nothing_recorded():
    return dump(snapshot([], [], [])), Expect()


@case
def wrapper_dict():
    """A user's dict: one snapshot per rank."""
    return dump({"note": "two ranks", "rank0": small_run(), "rank1": snapshot([], [event("alloc", BASE, 7)])}), \
        Expect(snapshots=["rank0", "rank1"])


@case
def wrapper_list():
    return dump([snapshot([], [event("alloc", BASE, 6)]), small_run()]), Expect(snapshots=["0", "1"])


@case
def trailing_zeros():
    """The HTML helper fills up with one to three NUL bytes."""
    return dump(small_run()) + b"\0\0\0", Expect({0: SMALL_RUN})


@case
def trailing_data():
    return dump(small_run()) + b"and more", Expect({0: SMALL_RUN}, diagnostics={"trailing_bytes": 1})


@case
def gzipped():
    return gzip.compress(dump(small_run()), mtime=0), Expect(error="unsupported")


@case
def json_text():
    return json.dumps(small_run()).encode(), Expect(error="unsupported")


@case
def not_a_snapshot():
    return dump({"weights": [1, 2, 3], "epoch": 4}), Expect(error="unsupported")


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
    return dump(s), Expect({0: {"events": 2}})


@case
def oom_and_snapshot_events():
    """Neither is an allocation, though both have a size and `snapshot` has address 0."""
    s = snapshot([], [event("snapshot", 0, 5 * MiB), event("alloc", 0, 64),
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


# -- Events (13.15-17, 13.19-20)


@case
def unknown_actions_and_keys():
    s = small_run(my_key={"a": [1, (2, None)]})
    s["device_traces"][0] += [event("teleport", BASE, 1), event("teleport", BASE, 1), event("empty_cache", 0, 0)]
    s["device_traces"][0][0]["mood"] = "good"
    s["segments"][0]["physical"] = [[1, 2]]
    return dump(s), Expect({0: {**SMALL_RUN, "events": 8, "actions": {
        "segment_alloc": 1, "alloc": 2, "free_requested": 1, "free_completed": 1, "teleport": 2, "empty_cache": 1}}},
        diagnostics={"unknown_action": 2, "unknown_key": 3})


@case
def times_missing_zero_and_backwards():
    s = snapshot([], [event("alloc", BASE, 1), event("alloc", BASE + 512, 1, time_us=50), event("alloc", BASE + 1024, 1, time_us=0),
                      event("alloc", BASE + 1536, 1, time_us=40), event("alloc", BASE + 2048, 1)])
    return dump(s), Expect({0: {"first_time_us": 50, "last_time_us": 40}}, diagnostics={"time_not_monotonic": 2})


@case
def single_event():
    """Recording with "state": a ring of one."""
    s = snapshot([segment(BASE, [block(512, "active_allocated", requested_size=500, frames=STACK), block(512)])],
                 [event("free_completed", BASE + 512, 100, time_us=NOW)])
    return dump(s), Expect({0: {"initial_requested_bytes": 600, "final_requested_bytes": 500, "first_time_us": NOW,
                                "last_time_us": NOW, "peak": {"requested_bytes": 600, "event": -1}}},
                           diagnostics={"free_without_alloc": 1})


@case
def wrapped_ring():
    """The beginning is lost: frees whose alloc is gone, and a final block older than the trace."""
    s = snapshot([segment(BASE, [block(512), block(512, "active_allocated", requested_size=300), block(512)])],
                 [*free(BASE, 400), event("alloc", BASE, 10), *free(BASE, 10), *free(BASE + 1024, 200)])
    # From the start: 400 + 200 + 300. Then 900, 500, 510, 510, 500, 500, 300.
    return dump(s), Expect({0: {"initial_requested_bytes": 900, "final_requested_bytes": 300,
                                "peak": {"requested_bytes": 900, "event": -1}}}, diagnostics={"free_without_alloc": 2})


@case
def peak_is_the_earliest():
    """1000 after event 0 and again after event 3."""
    s = snapshot([], [event("alloc", BASE, 1000), *free(BASE, 1000), event("alloc", BASE, 1000)])
    return dump(s), Expect({0: {"peak": {"requested_bytes": 1000, "event": 0}}})


@case
def two_recording_periods():
    """Contradictions: an alloc of a live address, and two frees of one block."""
    s = snapshot([], [event("alloc", BASE, 100), event("alloc", BASE, 30), *free(BASE, 30), *free(BASE, 50)])
    # From the start: 50. Then 150, 80, 80, 50, 50, 0.
    return dump(s), Expect({0: {"initial_requested_bytes": 50, "final_requested_bytes": 0,
                                "peak": {"requested_bytes": 150, "event": 0}}},
                           diagnostics={"alloc_of_live_address": 1, "free_without_alloc": 1})


@case
def requests_only():
    """free_completed was skipped: the request is the free."""
    s = snapshot([], [event("alloc", BASE, 100), event("free_requested", BASE, 100), event("alloc", BASE, 60)])
    return dump(s), Expect({0: {"final_requested_bytes": 60, "peak": {"requested_bytes": 100, "event": 0}}},
                           diagnostics={"requests_only": 1})


@case
def completions_only():
    """free_requested was skipped."""
    s = snapshot([], [event("alloc", BASE, 100), event("free_completed", BASE, 100), event("alloc", BASE, 60)])
    return dump(s), Expect({0: {"final_requested_bytes": 60, "peak": {"requested_bytes": 100, "event": 0}}})


@case
def fused_free():
    """`free`, as viewers write it, is both at once."""
    return dump(snapshot([], [event("alloc", BASE, 100), event("free", BASE, 100)])), \
        Expect({0: {"final_requested_bytes": 0}})


@case
def ascend_workspace():
    """Ascend puts three synthetic events in front."""
    s = snapshot([segment(BASE, [block(1024, "active_allocated", requested_size=1024)])],
                 [event("workspace_snapshot", BASE, 1024), event("segment_alloc", BASE, 1024), event("alloc", BASE, 1024)])
    return dump(s), Expect({0: {"final_requested_bytes": 1024, "initial_requested_bytes": 0}})


@case
def incomplete_rows():
    """Events without an action, size or address are left out; a dict without an action is not even an event."""
    s = snapshot([], [event("alloc", BASE, 1), {"action": "alloc", "addr": BASE}, {"addr": BASE, "size": 1},
                      {"action": "alloc", "size": 4, "stream": 0}])
    return dump(s), Expect({0: {"events": 1}}, diagnostics={"event_incomplete": 2, "wrong_type": 1})


# -- Encodings (9)


@case
def cpp_writer():
    """As torch._C._cuda_memorySnapshot in C++ writes it: 300 events in one APPENDS, memo after the container."""
    shared = [frame(f"f{i}", i) for i in range(40)]
    trace = []
    for i in range(150):
        trace.append(event("alloc", BASE + 4096 * i, 1000 + i, time_us=NOW + i, compile_context=f"region {i}",
                           user_metadata="", pool_id=(0, 0), frames=shared if i % 3 else shared[i % 40:]))
        trace.append(event("free_requested", BASE + 4096 * i, 1000 + i, time_us=NOW + i, frames=shared))
    s = snapshot([], trace, allocator_settings={})
    # No free_completed: each request is the free, so one block lives at a time; the last is the largest.
    # Stacks: 3 k mod 40 reaches every k, so all 40 tails of `shared`, the longest being `shared` itself.
    return CppPickler.dumps(s), Expect({0: {"events": 300, "peak": {"requested_bytes": 1149, "event": 298},
                                            "final_requested_bytes": 0, "distinct_stacks": 40}},
                                       diagnostics={"requests_only": 1})


@case
def cpp_invalid_utf8():
    """C++ writes strings unchecked. The frame's name is not UTF-8, its file name is cut in a character."""
    s = snapshot([], [event("alloc", BASE, 8, frames=[{"name": b"\xff\xfe", "filename": b"\xe2\x82", "line": 1}])],
                 allocator_settings={"PYTORCH_CUDA_ALLOC_CONF": b"a\xffb"})
    readable = snapshot([], [event("alloc", BASE, 8, frames=[frame("x")])],
                        allocator_settings={"PYTORCH_CUDA_ALLOC_CONF": "a\ufffdb"})
    return CppPickler.dumps(s), Expect({0: {"distinct_stacks": 1}}, settings={"PYTORCH_CUDA_ALLOC_CONF": "a\ufffdb"}), readable


@case
def lone_surrogates():
    """Python writes lone surrogates as three bytes that are not UTF-8."""
    s = snapshot([], [event("alloc", BASE, 8, frames=[frame("\ud800")])],
                 allocator_settings={"PYTORCH_CUDA_ALLOC_CONF": "x\udfffy"})
    return dump(s), Expect({0: {"distinct_stacks": 1}}, settings={"PYTORCH_CUDA_ALLOC_CONF": "x\ufffdy"})


@case
def settings_not_finite():
    s = small_run(allocator_settings={"garbage_collection_threshold": math.nan, "x": math.inf, "y": 0.1, "z": 1e300,
                                      "n": U64 - 1, "t": (1, 2.0), "empty": {}, "list": []})
    return dump(s), Expect({0: SMALL_RUN}, settings={"garbage_collection_threshold": None, "x": None, "y": 0.1, "z": 1e300,
                                                     "n": U64 - 1, "t": [1, 2.0], "empty": {}, "list": []})


@case
def settings_of_another_type():
    return dump(small_run(allocator_settings=[1, 2])), Expect({0: SMALL_RUN}, settings={})


@case
def ordered_dict():
    """collections.OrderedDict is read as a dict."""
    return dump(collections.OrderedDict(small_run())), Expect({0: SMALL_RUN})


@case
def foreign_objects():
    """Objects of other classes are not made; here in a key nobody knows."""
    return dump(small_run(day=datetime.date(2026, 1, 2))), Expect({0: SMALL_RUN}, diagnostics={"foreign_object": 1, "unknown_key": 1})


@case
def duplicate_key():
    """The last value of a key counts."""
    # }(  'segments' []  'device_traces' []  'device_traces' [[one alloc]]  u.
    s = dump(snapshot([], [event("alloc", BASE, 3)]), 2)
    at = s.index(b"X\x0d\x00\x00\x00device_traces")
    extra = b"X\x0d\x00\x00\x00device_traces]"
    return s[:at] + extra + s[at:], Expect({0: {"events": 1}}, diagnostics={"duplicate_key": 1})


def cut_after(s, kept):
    """The bytes of a snapshot up to the middle of event `kept` of device 0, whose size must be unmistakable."""
    data = dump(s, 2)
    size = s["device_traces"][0][kept]["size"]
    mark = b"J" + size.to_bytes(4, "little")
    assert data.count(mark) == 1
    return data[:data.index(mark)]


@case
def truncated_in_the_trace():
    """Cut in the third event, behind the key `size`: two events and the state are there."""
    s = small_run()
    s["device_traces"][0][2]["size"] = 0x123456
    kept = copy.deepcopy(s)
    kept["device_traces"][0] = kept["device_traces"][0][:2]
    # From the start: the final block of 500, whose alloc is cut off; then 500, 1500.
    return cut_after(s, 2), Expect({0: {"events": 2, "segments": 1, "initial_requested_bytes": 500,
                                        "peak": {"requested_bytes": 1500, "event": 1}}},
                                   diagnostics={"truncated": 1}), kept


@case
def document_vector_cpp():
    """The C++ vector of the format description: one alloc of 1000 bytes, line -1."""
    return bytes.fromhex(
        "80027d2858080000007365676d656e747371005d28657101580d0000006465766963655f74726163657371025d285d287d285806000000"
        "616374696f6e71035805000000616c6c6f63710458040000006164647271058a0800000000007f0000580400000073697a6571064de803"
        "580600000073747265616d71074b00580700000074696d655f757371088a0800401e18240a06005807000000706f6f6c5f696471094b00"
        "4b0086710a58060000006672616d6573710b5d287d2858040000006e616d65710c580100000066710d580800000066696c656e616d6571"
        "0e5804000000612e7079710f58040000006c696e6571104affffffff757111657112757113657114657115752e"), \
        Expect({0: {"events": 1, "first_time_us": NOW, "peak": {"requested_bytes": 1000, "event": 0}}})


@case
def document_vector_python():
    """The Python vector: an address above 2^63."""
    return bytes.fromhex(
        "80049564000000000000007d94288c087365676d656e7473945d948c0d6465766963655f747261636573945d945d947d94288c06616374"
        "696f6e948c05616c6c6f63948c0461646472948a090010000000000080008c0473697a65944de8038c0673747265616d944b0075616175"
        "2e"), Expect({0: {"events": 1, "final_requested_bytes": 1000}})


def protocol_case(protocol):
    def make():
        s = small_run(external_annotations=[], allocator_settings={"a": True, "b": None, "c": 0.5, "d": -1, "e": "\u00fc\n\\u"})
        for i, e in enumerate(s["device_traces"][0]):
            e["time_us"] = NOW + i
        return dump(s, protocol), Expect({0: {**SMALL_RUN, "last_time_us": NOW + 4}},
                                         settings={"a": True, "b": None, "c": 0.5, "d": -1, "e": "\u00fc\n\\u"})

    make.__name__, make.__doc__ = f"protocol{protocol}", f"The same run, pickle protocol {protocol}."
    return make


for number in range(6):
    case(protocol_case(number))


def check_hand(name, expect, computed):
    """The reference must agree with what was worked out by hand."""
    def same(what, hand, other):
        assert hand == other, f"{name}: {what}: by hand {hand}, reference {other}"

    snapshots = computed["snapshots"]
    if expect.snapshots is not None:
        return same("snapshots", expect.snapshots, [s.get("name") for s in snapshots])
    devices = {d["device"]: d for d in snapshots[0]["devices"]}
    same("devices", sorted(expect.devices), sorted(devices))
    for device, facts in expect.devices.items():
        for key, value in facts.items():
            same(f"device {device} {key}", value, devices[device][key])
    for key, value in expect.facts.items():
        same(key, value, snapshots[0][key])


def expected_of(function):
    data, expect, *readable = function()
    if expect.error:
        return data, {"error": expect.error}
    computed = {"bytes": len(data), **(reference.summary_of(readable[0]) if readable else reference.summary_of(reference.load(data)))}
    check_hand(function.__name__, expect, computed)
    return data, {**computed, "diagnostics": expect.diagnostics}


def main():
    different = []
    wanted = set()
    for function in CASES:
        folder = FOLDER / function.__name__
        data, expected = expected_of(function)
        about = " ".join((function.__doc__ or "").split())
        text = json.dumps({**({"about": about} if about else {}), **expected}, indent=1) + "\n"
        for path, content in ((folder / "input.pickle", data), (folder / "expected.json", text.encode())):
            wanted.add(path)
            if path.is_file() and path.read_bytes() == content:
                continue
            different.append(str(path))
            if "--check" not in sys.argv:
                folder.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
    stale = [str(p) for p in FOLDER.glob("*/*") if p not in wanted]
    print(f"{len(CASES)} cases, {len(different)} files {'differ' if '--check' in sys.argv else 'written'}, {len(stale)} stale",
          *different[:20], *stale, sep="\n  ")
    return 1 if stale or ("--check" in sys.argv and different) else 0


if __name__ == "__main__":
    sys.exit(main())
