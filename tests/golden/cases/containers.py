"""What snapshots come in: wrappers, gzip, zstd, zip, web pages."""
import base64
import gzip
import io
import json
import struct
import zipfile
import zlib

import reference
from cases.eras import era4_settings_and_times
from cases.parts import CUT_RUN, Expect, SMALL_RUN, case, cut_run, cut_stored, dump, small_run
from support.snapshots import BASE, KIB, NOW, block, event, frame, free, segment, snapshot


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
    return zstd_frame(data, [(0, 128 * KIB)] * 12_000), \
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
