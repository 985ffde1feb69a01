"""A snapshot and a trace of one made-up run: every allocation is given the ops that it happened in, and what cannot be
told is said. The run is written here, so what must be found is known."""
import pickle

from support.folders import write
from support.snapshots import MIB, event, frame, snapshot
from support.tool import UNREADABLE, USAGE, answer, out_of, run

BASE_US = 1_700_000_000_000_000

# Microseconds of the run: name, thread, from, until.
OPS = [
    ("## forward ##", 100, 1000, 9000),
    ("aten::linear", 100, 2000, 4000),
    ("aten::empty", 100, 2100, 2200),
    ("aten::to", 200, 5000, 6000),
    ("aten::add", 100, 9600, 9700),
]
# Time, address, MiB, the ops it happened in (None = nobody can know), and whether the trace has a record of it.
ALLOCATIONS = [
    (10, 0x10, 64, [], False),  # before the trace
    (2150, 0x20, 32, ["aten::empty", "aten::linear", "## forward ##"], False),
    (3000, 0x30, 16, ["aten::linear", "## forward ##"], False),
    (5500, 0x40, 8, ["aten::to"], True),  # two threads have an op; its record says which
    (5600, 0x50, 4, None, False),
    (9500, 0x60, 2, [], False),  # between ops
    (9650, 0x70, 1, ["aten::add"], False),
]


def write_pair(folder, snapshot_shift=0):
    events = []
    for name, thread, start, end in OPS:
        cat = "user_annotation" if name.startswith("#") else "cpu_op"
        events.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": thread, "ts": start, "dur": end - start})
    for time, address, mib, ops, recorded in ALLOCATIONS:
        if recorded:
            events.append({"ph": "i", "name": "[memory]", "pid": 1, "tid": 200, "ts": time + 0.75,
                           "args": {"Bytes": mib * MIB, "Addr": address << 32, "Device Type": 1, "Device Id": 0}})
    trace = write(folder / "trace.json", {"baseTimeNanoseconds": BASE_US * 1000, "traceEvents": events})
    history = [event("alloc", address << 32, mib * MIB, time_us=BASE_US + time + snapshot_shift,
                     frames=[frame("step", time, "train.py")]) for time, address, mib, _, _ in ALLOCATIONS]
    return write(folder / "snapshot.pickle", snapshot([], history)), trace


def names(row):
    return [line.split(":", 2)[2] for line in row["stack"] or []]


def rows_of(answer):
    return {row["bytes"] // MIB: names(row) for row in answer["tops"][0]["rows"]}


def test_every_allocation_is_given_its_ops(tmp_path):
    recorded, trace = write_pair(tmp_path)
    said = answer("top", recorded, "--with", trace)
    assert said["attached"] == {"allocations": 7, "by_record": 1, "by_time": 3, "on_several_threads": 1, "in_no_op": 1,
                                  "outside": 1, "without_time": 0}, said["attached"]
    found = rows_of(said)
    for time, _, mib, ops, _ in ALLOCATIONS:
        assert found[mib] == [*(ops or []), "step"], (time, found[mib])


def test_by_ops_alone(tmp_path):
    recorded, trace = write_pair(tmp_path)
    said = answer("top", recorded, "--with", trace, "--ops")
    found = rows_of(said)
    assert found.pop(64 + 4 + 2) == []  # one group of those without an op
    assert found == {mib: ops for _, _, mib, ops, _ in ALLOCATIONS if ops}, found
    text = out_of("top", recorded, "--with", trace, "--ops")
    assert "4 of 7 allocations have an op of the trace: 1 by its memory records, 3 by time; 1 while ops ran on several " \
           "threads; 1 while no op ran; 1 before or after the trace." in " ".join(text.split()), text


def test_other_clocks_are_said_and_mended(tmp_path):
    recorded, trace = write_pair(tmp_path, snapshot_shift=-60_000_000)
    text = " ".join(out_of("top", recorded, "--with", trace).split())
    assert "0 of 7 allocations" in text and "The snapshot ends 59 s before the trace begins." in text, text
    assert "--offset" in text, text
    said = answer("top", recorded, "--with", trace, "--offset", "60000000")
    assert said["attached"]["by_time"] == 3 and said["attached"]["by_record"] == 1, said["attached"]


def test_written_back_it_has_the_ops(tmp_path):
    recorded, trace = write_pair(tmp_path)
    both = tmp_path / "both.pickle"
    told = run("convert", recorded, "--with", trace, "-o", both, text=True)
    assert told.returncode == 0 and "4 of 7 allocations" in told.stderr, told.stderr
    events = pickle.loads(both.read_bytes())["device_traces"][0]
    for event, (_, _, _, ops, _) in zip(events, ALLOCATIONS, strict=True):
        assert [frame["name"] for frame in event["frames"]] == [*(ops or []), "step"], event


def test_what_does_not_go_together_is_refused(tmp_path):
    recorded, trace = write_pair(tmp_path)
    for arguments, code, words in (
            ((recorded, "--with", recorded), USAGE, "no profiler's trace"), ((trace, "--with", trace), USAGE, "no allocations"),
            ((recorded, "--offset", "5"), USAGE, ""), ((recorded, "--with", tmp_path / "absent.json"), UNREADABLE, "")):
        done = run("top", *arguments, text=True)
        assert done.returncode == code, (arguments, done.stderr)
        assert words in done.stderr
