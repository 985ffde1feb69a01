"""Versions of the format since 2022 (section 1.2)."""
from cases.parts import Expect, SMALL_RUN, STACK, case, dump, small_run
from support.snapshots import BASE, MIB, NOW, block, event, frame, segment, snapshot


@case
def era0_bare_list():
    """<= 1.12: segments only, blocks with size and state only."""
    s = [{"device": 0, "address": BASE, "total_size": 2 * MIB, "allocated_size": 512, "active_size": 512,
          "segment_type": "small", "blocks": [block(512, "active_allocated"), block(2 * MIB - 512)]}]
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
    s = snapshot([segment(BASE, [block(2 * MIB, "active_allocated", requested_size=2 * MIB, address=BASE, frames=[])],
                          is_expandable=True, frames=STACK)],
                 [event("segment_map", BASE, 2 * MIB), event("alloc", BASE, 2 * MIB), event("segment_map", BASE + 2 * MIB, 20 * MIB),
                  event("segment_unmap", BASE + 2 * MIB, 20 * MIB),
                  {"action": "oom", "device_free": 3 * MIB, "size": 64 * MIB, "stream": 0, "frames": STACK}])
    return dump(s), Expect({0: {"events": 5, "reserved_bytes": 2 * MIB, "distinct_stacks": 1,
                                "actions": {"segment_map": 2, "alloc": 1, "segment_unmap": 1, "oom": 1},
                                "peak": {"requested_bytes": 2 * MIB, "event": 1}}})


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
