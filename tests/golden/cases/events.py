"""Traces: actions, times, rings."""
from cases.parts import Expect, SMALL_RUN, STACK, case, dump, small_run
from support.snapshots import BASE, NOW, block, event, free, segment, snapshot


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
