"""Snapshots as JSON, and JSON that is something else."""
import copy
import gzip
import json
import math

import reference
from cases.parts import CUT_RUN, Expect, SMALL_RUN, STACK, U64, case, cut_run, dump, small_run
from support.snapshots import BASE, NOW, block, event, frame, free, segment, snapshot


@case
def json_text():
    return json.dumps(small_run()).encode(), Expect({0: SMALL_RUN}, kind="json"), small_run()


@case
def json_with_spaces():
    """A byte order mark, indentation, a newline at the end; keys in another order; a list of snapshots."""
    text = json.dumps([small_run(), small_run()], indent=2, sort_keys=True)
    return b"\xef\xbb\xbf\r\n" + text.encode() + b"\n", Expect(snapshots=["0", "1"], kind="json"), [small_run(), small_run()]


@case
def json_exact_integers():
    """Addresses up to 2^64-1, negative ones as the C++ writer has them, sizes above 2^53; a line of 2^64-1 is unknown."""
    s = snapshot([segment(U64 - 4096, [block(4096, "active_allocated", requested_size=4000)])],
                 [event("alloc", U64 - 4096, 4000, frames=[frame("f", U64 - 1)]), event("alloc", -8192, 4096),
                  event("alloc", 9, (1 << 52) + 1, frames=[frame("f", -1)]), *free(9, (1 << 52) + 1), *free(U64 - 8192, 4096)])
    return json.dumps(s).encode(), Expect({0: {"peak": {"requested_bytes": (1 << 52) + 8097, "event": 2},
                                               "final_requested_bytes": 4000, "distinct_stacks": 1}}, kind="json"), s


@case
def json_hex_addresses():
    """As texts, because JavaScript would round them; a frame named like one stays a text."""
    s = small_run()
    text = copy.deepcopy(s)
    for e in text["device_traces"][0]:
        e["addr"] = hex(e["addr"])
    for g in text["segments"]:
        g["address"] = hex(g["address"])
    return json.dumps(text).encode(), Expect({0: SMALL_RUN}, kind="json"), s


@case
def json_as_python_writes_it():
    """NaN and Infinity, escapes, a lone surrogate, an integer of 30 digits in an unknown field, floats that are whole."""
    s = small_run(allocator_settings={"a": math.nan, "b": math.inf, "c": -math.inf, "d": "\u00fc\n\\u\ud800"}, note=10**30)
    s["device_traces"][0][0]["time_us"] = 1.7e15
    readable = copy.deepcopy(s)
    readable["device_traces"][0][0]["time_us"] = NOW
    return json.dumps(s).encode(), Expect({0: {**SMALL_RUN, "first_time_us": NOW}}, kind="json",
                                          settings={"a": None, "b": None, "c": None, "d": "\u00fc\n\\u\ufffd"},
                                          diagnostics={"unknown_key": 1}), readable


@case
def json_not_utf8():
    """Latin-1 in a name: two names that differ only there are one."""
    s = small_run()
    s["device_traces"][0][0]["frames"] = [frame("f\u00fc")]
    s["device_traces"][0][1]["frames"] = [frame("f\u00e4")]
    readable = copy.deepcopy(s)
    for e in readable["device_traces"][0][:2]:
        e["frames"] = [frame("f?")]
    return json.dumps(s, ensure_ascii=False).encode("latin-1"), \
        Expect({0: {**SMALL_RUN, "distinct_stacks": 2}}, kind="json", diagnostics={"not_utf8": 2}), readable


@case
def json_long():
    """Longer than what is handed on as a whole: an event with a text of 300 KB, a trace and segments of 200 KB each."""
    events = [event("alloc", BASE + 512 * i, 500, frames=STACK, compile_context="c" * 300_000 if i == 5 else "N/A") for i in range(2000)]
    blocks = [block(512, "active_allocated", requested_size=500) for _ in range(4000)]
    s = snapshot([segment(BASE, blocks)], events)
    return gzip.compress(json.dumps(s).encode(), mtime=0), \
        Expect({0: {"events": 2000, "blocks": 4000, "final_requested_bytes": 4000 * 500, "initial_requested_bytes": 2000 * 500}},
               kind="json in gzip", diagnostics={"long_string_cut": 1}), s


@case
def json_cut():
    """Cut in the third event."""
    s, _, kept = cut_run()
    text = json.dumps(reference.load(s))
    at = text.index('"action"', text.index('"alloc"', text.index('"alloc"') + 10))
    at = [i for i in range(len(text)) if text.startswith('"action"', i)][2] + 30
    return text[:at].encode(), Expect({0: CUT_RUN}, kind="json", diagnostics={"truncated": 1}), kept


@case
def json_invalid_entry():
    """A word that is none in one event, which is left out: of its size nothing is known."""
    s = small_run()
    text = json.dumps(s).replace('"size": 1000', '"size": oops', 1)
    kept = copy.deepcopy(s)
    del kept["device_traces"][0][1]
    return text.encode(), Expect({0: {"events": 4}}, kind="json", diagnostics={"invalid_json": 1, "wrong_type": 1, "event_incomplete": 1,
                                                                           "free_without_alloc": 1}), kept


@case
def json_and_something_else():
    return json.dumps(small_run()).encode() + b" \n{}", Expect({0: SMALL_RUN}, kind="json", diagnostics={"trailing_bytes": 1}), small_run()


@case
def json_of_something_else():
    return json.dumps({"name": "x", "layers": [1, 2]}).encode(), Expect(error="unsupported")


@case
def json_brackets_only():
    return b"[" * 100_000, Expect(error="truncated")


@case
def not_a_snapshot():
    return dump({"weights": [1, 2, 3], "epoch": 4}), Expect(error="unsupported")
