#!/usr/bin/env python3
"""Writes the golden cases: torch_snapshot/<case>/input.pickle and expected.json.

  python3 tests/golden/make_cases.py [--check]     --check: fail if the files differ from what would be written

Every function below is one case. It returns the bytes and what was worked out by hand; the rest of expected.json
comes from reference.py, which must agree with the hand. expected.json: the object of `memstrata summary --json`
without "file"; "diagnostics" as {name: count}. A file that must be refused has {"error": code} instead.
"""
import base64
import collections
import copy
import datetime
import gzip
import io
import json
import math
import pickle
import struct
import sys
import zipfile
import zlib
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

    def __init__(self, devices=None, diagnostics=None, error=None, snapshots=None, kind="pickle", **facts):
        self.devices, self.diagnostics, self.error, self.kind = devices or {}, diagnostics or {}, error, kind
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
    return gzip.compress(dump(small_run()), mtime=0), Expect({0: SMALL_RUN}, kind="pickle in gzip"), small_run()


@case
def gzip_of_two_streams():
    """`cat a.gz b.gz` is one file, zeros behind it are padding."""
    data = dump(small_run())
    return gzip.compress(data[:100], mtime=0) + gzip.compress(data[100:], mtime=0) + bytes(64), \
        Expect({0: SMALL_RUN}, kind="pickle in gzip"), small_run()


@case
def gzip_without_its_end():
    """Only the checksum is missing: everything is shown."""
    return gzip.compress(dump(small_run()), mtime=0)[:-5], \
        Expect({0: SMALL_RUN}, kind="pickle in gzip", diagnostics={"truncated": 1}), small_run()


@case
def gzip_cut_inside():
    """Stored blocks, cut in the middle of the third event of the pickle: two events and the state are there."""
    s, cut, kept = cut_run()
    return cut_stored(gzip.compress(s, 0, mtime=0), len(cut)), \
        Expect({0: CUT_RUN}, kind="pickle in gzip", diagnostics={"truncated": 1}), kept


@case
def gzip_wrong_checksum():
    data = bytearray(gzip.compress(dump(small_run()), mtime=0))
    data[-8] ^= 1
    return bytes(data), Expect({0: SMALL_RUN}, kind="pickle in gzip", diagnostics={"checksum_mismatch": 1}), small_run()


@case
def gzip_and_something_else():
    return gzip.compress(dump(small_run()), mtime=0) + b"\0\0more", \
        Expect({0: SMALL_RUN}, kind="pickle in gzip", diagnostics={"trailing_bytes": 1}), small_run()


@case
def gzip_of_nothing_known():
    return gzip.compress(b"hello world", mtime=0), Expect(error="invalid_format")


def zstd_frame(data, blocks=()):
    """A frame of raw blocks and of `blocks`, (byte, count) repeated 128 KiB at most, without a checksum (RFC 8878)."""
    out = bytes.fromhex("28b52ffd" "00" "58")  # window of 2 MiB
    parts = [(0, data[i:i + 1000], len(data[i:i + 1000])) for i in range(0, len(data), 1000)]
    parts += [(1, bytes([byte]), count) for byte, count in blocks]
    for i, (kind, content, size) in enumerate(parts):
        out += (size << 3 | kind << 1 | (i + 1 == len(parts))).to_bytes(3, "little") + content
    return out


@case
def zstd_raw_blocks():
    """Two frames and one to skip, made by hand."""
    data = dump(small_run())
    return zstd_frame(data[:50]) + bytes.fromhex("502a4d18" "03000000") + b"abc" + zstd_frame(data[50:]), \
        Expect({0: SMALL_RUN}, kind="pickle in zstd"), small_run()


# era4_settings_and_times/input.pickle by `zstd -19 --check` 1.5.4
ZSTD_OF_ERA4 = (
    "KLUv/QRoDQ8AdplZN1B1OuhhU5mZmZmZmTWdVfU4jT+IbKnUe+8ZR6S1tHuyu1PfUMrg1FsXJwpAoFm/YwEjIWxmo8lHAEcATwDfd2vejLn58e"
    "/L1wr4BVFXySTrqArbuOu1mMMHCDu+V6aNlG93Qd6Cwby1XTWNPQ5P39lstYZ9ydvL9cZq+/HSs0AAm5jLJQ2g0zc3VbwJbjpXH/8VN738e2Ou"
    "N64rjxyQl3/In+uwzrjeGHL++gtJAgkdcGBH5yZqfW1/J11F/lpfzjpKORY4gQSAqAEZGBkjpshhCkmJkIAoWBY3720ba2fg3KWm3tZlpNhdVy"
    "JH6NxcEhLkgYGQDHJBBtCgRlLAEzBQxIh0AT0wb7/Y27we7w/h9CAdJEk+N3m7PBPf912nr+hQdOxsTS1W1EbpvOh9Gvd1deQvsamKNY69lD7w"
    "GZkai43XaCdtV3ljU8piVWVWg+fcST0bU3gT+UN/jY+UKZpSHh4YMTIoYEQCstsNUUhMqaAotLXPGp4SJ7nwuG1wpZWj6rvdYUhEETeSekKyXh"
    "YQn+uquP+ZoIFnZ85L8GRNbLNLw+UQoDUS1yYkUyEjs4qEfb/XjH9H0VKj+S74plaGe7a7XbhOrUSLHOIOMlGRmDB3l1IOg+yFSeBdOJ+AWJ4=")


@case
def zstd_compressed():
    """What `zstd -19` makes of the era 4 case, with its checksum."""
    return base64.b64decode(ZSTD_OF_ERA4), \
        Expect({0: {**SMALL_RUN, "first_time_us": NOW, "last_time_us": NOW + 40}}, kind="pickle in zstd"), \
        reference.load(era4_settings_and_times()[0])


@case
def zstd_wrong_checksum():
    data = bytearray(base64.b64decode(ZSTD_OF_ERA4))
    data[-1] ^= 1
    return bytes(data), Expect({0: {**SMALL_RUN, "first_time_us": NOW, "last_time_us": NOW + 40}}, kind="pickle in zstd",
                               diagnostics={"checksum_mismatch": 1}), reference.load(era4_settings_and_times()[0])


@case
def zstd_damaged_inside():
    """The second block is of a reserved kind: what came before it is shown, that is two events and the state."""
    s, cut, kept = cut_run()
    return bytes.fromhex("28b52ffd" "00" "58") + (len(cut) << 3).to_bytes(3, "little") + cut + b"\x07\0\0", \
        Expect({0: CUT_RUN}, kind="pickle in zstd", diagnostics={"truncated": 1, "damaged": 1}), kept


@case
def zstd_bomb():
    """36 KB that make more than 1 GiB behind the snapshot: bytes of a list that holds both. The snapshot is shown."""
    s = small_run()
    inner = dump([s], 2)[:-2]  # without APPEND and STOP
    data = inner + b"a" + b"\x8e" + (1 << 40).to_bytes(8, "little")
    return zstd_frame(data, [(0, 128 * KiB)] * 12_000), \
        Expect({0: SMALL_RUN}, kind="pickle in zstd", diagnostics={"truncated": 1, "unpacks_to_too_much": 1}), {"0": s}


def zip_of(*members, **options):
    """members: (name, data, method)"""
    out = io.BytesIO()
    with zipfile.ZipFile(Unseekable(out) if options.pop("streamed", False) else out, "w") as archive:
        for name, data, method in members:
            info = zipfile.ZipInfo(name, (2026, 1, 2, 3, 4, 6))
            info.compress_type = method
            with archive.open(info, "w", force_zip64=options.get("zip64", False)) as file:
                file.write(data)
    return out.getvalue()


class Unseekable:
    """Python's zipfile writes sizes behind the data where it cannot go back."""

    def __init__(self, file):
        self.write, self.flush = file.write, file.flush


STORED, DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED


def zip_ranks():
    return {"run/rank0.pickle": small_run(), "run/rank1.pickle.gz": small_run(external_annotations=[]), "run/rank2.json": small_run()}


def zip_members():
    ranks = list(zip_ranks().items())
    return [("run/", b"", STORED), (ranks[0][0], dump(ranks[0][1]), DEFLATED), ("run/README.md", b"three ranks", STORED),
            (ranks[1][0], gzip.compress(dump(ranks[1][1]), mtime=0), STORED),
            (ranks[2][0], json.dumps(ranks[2][1]).encode(), DEFLATED)]


ZIP_KIND = "pickle and pickle in gzip and json in zip"


@case
def zip_several_ranks():
    """Stored and deflated, a folder, a text, a gzip inside: each snapshot by its name."""
    return zip_of(*zip_members()), Expect(snapshots=list(zip_ranks()), kind=ZIP_KIND, diagnostics={"not_a_snapshot": 1}), zip_ranks()


@case
def zip_streamed():
    """Sizes behind the data, also of stored members."""
    return zip_of(*zip_members(), streamed=True), \
        Expect(snapshots=list(zip_ranks()), kind=ZIP_KIND, diagnostics={"not_a_snapshot": 1}), zip_ranks()


@case
def zip64_sizes():
    return zip_of(*zip_members(), zip64=True), \
        Expect(snapshots=list(zip_ranks()), kind=ZIP_KIND, diagnostics={"not_a_snapshot": 1}), zip_ranks()


@case
def zip64_streamed():
    return zip_of(*zip_members(), zip64=True, streamed=True), \
        Expect(snapshots=list(zip_ranks()), kind=ZIP_KIND, diagnostics={"not_a_snapshot": 1}), zip_ranks()


def zip_by_hand(*members, flags=0):
    """(name, data, method, crc, unpacked size): local headers only, as a damaged archive has them."""
    out = b""
    for name, data, method, crc, size in members:
        out += struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, flags, method, 0, 33, crc, len(data), size, len(name), 0)
        out += name.encode() + data
    return out


END_OF_ZIP = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0, 0, 0, 0, 0)


@case
def zip_with_zstd():
    """Method 93."""
    data = dump(small_run())
    return zip_by_hand(("a.pickle", zstd_frame(data), 93, zlib.crc32(data), len(data))) + END_OF_ZIP, \
        Expect(snapshots=["a.pickle"], kind="pickle in zip"), {"a.pickle": small_run()}


@case
def zip_equal_names():
    """Two files of one name stay apart."""
    data = dump(small_run())
    member = ("a.pickle", data, 0, zlib.crc32(data), len(data))
    return zip_by_hand(member, member) + END_OF_ZIP, \
        Expect(snapshots=["a.pickle", "a.pickle (2)"], kind="pickle in zip"), {"a.pickle": small_run(), "a.pickle (2)": small_run()}


@case
def zip_broken_member():
    """The compressed data of the first member is damaged, one is encrypted, one packed with bzip2: the last is shown."""
    data = dump(small_run())
    broken = b"\x07" + zlib.compress(data)[3:-4]
    members = [("broken.pickle", broken, 8, zlib.crc32(data), len(data))]
    secret = zip_by_hand(("secret.pickle", b"0123456789abcdef", 8, 1, 100), flags=1)
    rest = [("old.pickle", b"BZh9....", 12, 1, 100), ("good.pickle", data, 0, zlib.crc32(data), len(data))]
    return zip_by_hand(*members) + secret + zip_by_hand(*rest) + END_OF_ZIP, \
        Expect(snapshots=["good.pickle"], kind="pickle in zip", diagnostics={"member_not_read": 3}), {"good.pickle": small_run()}


@case
def zip_streamed_broken_member():
    """No sizes: behind the damaged member the next header is looked for."""
    good = zip_of(("good.pickle", dump(small_run()), DEFLATED), streamed=True)
    broken = bytearray(zip_of(("broken.pickle", dump(small_run()), DEFLATED), streamed=True))
    broken[30 + len("broken.pickle")] = 7  # a block of a reserved kind
    return bytes(broken[:broken.index(b"PK\x01\x02")]) + good, \
        Expect(snapshots=["good.pickle"], kind="pickle in zip", diagnostics={"member_not_read": 1}), {"good.pickle": small_run()}


@case
def zip_wrong_checksum():
    data = dump(small_run())
    return zip_by_hand(("a.pickle", data, 0, 1, len(data))) + END_OF_ZIP, \
        Expect(snapshots=["a.pickle"], kind="pickle in zip", diagnostics={"checksum_mismatch": 1}), {"a.pickle": small_run()}


@case
def zip_cut_inside():
    """Cut in the third event of the second member: the first is whole, of the second two events and the state are there."""
    whole = dump(small_run())
    s, cut, kept = cut_run()
    data = zip_by_hand(("a.pickle", whole, 0, zlib.crc32(whole), len(whole)), ("b.pickle", s, 0, zlib.crc32(s), len(s)))
    return data[:len(data) - len(s) + len(cut)], \
        Expect(snapshots=["a.pickle", "b.pickle"], kind="pickle in zip", diagnostics={"truncated": 1}), \
        {"a.pickle": small_run(), "b.pickle": kept}


@case
def zip_of_tensors():
    """What torch.save writes."""
    return zip_of(("model/data.pkl", dump({"w": [1.0]}), STORED), ("model/version", b"3\n", STORED)), Expect(error="unsupported")


@case
def zip_empty():
    return END_OF_ZIP, Expect(error="unsupported")


@case
def nested_containers():
    """A gzip in a zip in a gzip, with a user's wrapper inside."""
    inner = gzip.compress(dump({"before": small_run(), "after": small_run()}), mtime=0)
    return gzip.compress(zip_of(("both.gz", inner, STORED)), mtime=0), \
        Expect(snapshots=["both.gz/before", "both.gz/after"], kind="pickle in gzip in zip in gzip"), \
        {"both.gz": {"before": small_run(), "after": small_run()}}


@case
def nested_too_deep():
    data = dump(small_run())
    for _ in range(5):
        data = gzip.compress(data, mtime=0)
    return data, Expect(error="limit_exceeded")


def page(*files):
    """As `_memory_viz.py trace_plot` writes it; the pickle is padded with zeros so that base64 needs none."""
    listed = []
    for name, data in files:
        data += bytes((3 - len(data) % 3) % 3)
        listed.append({"name": name, "base64": base64.b64encode(data).decode()})
    return ("<!DOCTYPE html>\n<html>\n<head>\n</head>\n<body>\n<script type=\"module\">\n"
            "import {add_local_files} from \"https://example.org/MemoryViz.js\"\n"
            f"const local_files = {json.dumps(listed)}\nadd_local_files(local_files, 'Active Memory Timeline')\n"
            "</script>\n</body>\n").encode()


@case
def html_trace_plot():
    return page(("snapshot.pickle", dump(small_run()))), \
        Expect(snapshots=["snapshot.pickle"], kind="pickle in html"), {"snapshot.pickle": small_run()}


@case
def html_two_snapshots():
    """One packed, in lines of 76 letters and without a name."""
    packed = base64.encodebytes(gzip.compress(dump(small_run()), mtime=0))
    return page(("a.pickle", dump(small_run()))) + b"<script>\n" + packed + b"</script>", \
        Expect(snapshots=["a.pickle", "a.pickle (2)"], kind="pickle and pickle in gzip in html"), \
        {"a.pickle": small_run(), "a.pickle (2)": small_run()}


@case
def html_without_a_snapshot():
    return b"<html><body>404 Not Found " + b"a" * 100 + b"</body></html>", Expect(error="unsupported")


@case
def html_cut():
    """Cut in the third event: two events and the state are there."""
    s, cut, kept = cut_run()
    whole = page(("snapshot.pickle", s))
    return whole[:whole.index(b"gA") + len(cut) * 4 // 3], \
        Expect({0: CUT_RUN}, kind="pickle in html", diagnostics={"truncated": 1}), {"snapshot.pickle": kept}


# -- JSON


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
def json_profiler_trace():
    return json.dumps({"schemaVersion": 1, "traceEvents": [{"ph": "X"}]}).encode(), Expect(error="unsupported")


@case
def json_memory_timeline():
    return json.dumps([[-1, 1, 37888, 7], [-1, 1, 512, 7]]).encode(), Expect(error="unsupported")


@case
def json_of_something_else():
    return json.dumps({"name": "x", "layers": [1, 2]}).encode(), Expect(error="unsupported")


@case
def json_brackets_only():
    return b"[" * 100_000, Expect(error="truncated")


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
def private_pool():
    """A private pool of 8192 bytes with a block of 500, freed, and a default block of 800 after it."""
    other = BASE + 0x100000
    s = snapshot([segment(BASE, [block(8192)], segment_pool_id=(0, 1)),
                  segment(other, [block(1024, "active_allocated", requested_size=800), block(2 * MiB - 1024)],
                          segment_pool_id=(0, 0))],
                 [event("segment_alloc", BASE, 8192, frames=[frame("capture", 7)]), event("segment_alloc", other, 2 * MiB),
                  event("alloc", BASE, 500, frames=STACK), event("alloc", other, 800), *free(BASE, 500)])
    return dump(s), Expect({0: {"events": 6, "peak": {"requested_bytes": 1300, "event": 3},
                                "final_requested_bytes": 800, "reserved_bytes": 8192 + 2 * MiB}})


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
    computed = {"bytes": len(data), **(reference.summary_of(readable[0], expect.kind) if readable else reference.summary_of(reference.load(data)))}
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
