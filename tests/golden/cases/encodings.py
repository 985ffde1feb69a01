"""Pickles of all writers, and damaged ones (section 9)."""
import collections
import copy
import datetime
import math

from encoders import CppPickler
from cases.parts import Expect, SMALL_RUN, U64, case, cut_after, dump, small_run
from support.snapshots import BASE, NOW, event, frame, snapshot


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
