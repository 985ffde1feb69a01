"""A snapshot and a trace of one made-up run: every allocation is given the ops that it happened in, and what cannot be
told is said. The run is written here, so what must be found is known."""

import json
import os
import pickle
import sys
import tempfile

from support.snapshots import MIB
from support.tool import run

MEMSTRATA = sys.argv[1]
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
    trace = os.path.join(folder, "trace.json")
    with open(trace, "w") as out:
        json.dump({"baseTimeNanoseconds": BASE_US * 1000, "traceEvents": events}, out)
    history = [{"action": "alloc", "addr": address << 32, "size": mib * MIB, "stream": 0,
                "time_us": BASE_US + time + snapshot_shift,
                "frames": [{"filename": "train.py", "line": time, "name": "step"}]}
               for time, address, mib, _, _ in ALLOCATIONS]
    snapshot = os.path.join(folder, "snapshot.pickle")
    with open(snapshot, "wb") as out:
        pickle.dump({"segments": [], "device_traces": [history]}, out)
    return snapshot, trace


def names(row):
    return [line.split(":", 2)[2] for line in row["stack"] or []]


def rows_of(answer):
    return {row["bytes"] // MIB: names(row) for row in answer["tops"][0]["rows"]}


def test_every_allocation_is_given_its_ops(folder):
    snapshot, trace = write_pair(folder)
    answer = json.loads(run("top", snapshot, "--with", trace, "--json").stdout)
    assert answer["attached"] == {"allocations": 7, "by_record": 1, "by_time": 3, "on_several_threads": 1, "in_no_op": 1,
                                  "outside": 1, "without_time": 0}, answer["attached"]
    found = rows_of(answer)
    for time, _, mib, ops, _ in ALLOCATIONS:
        assert found[mib] == [*(ops or []), "step"], (time, found[mib])


def test_by_ops_alone(folder):
    snapshot, trace = write_pair(folder)
    answer = json.loads(run("top", snapshot, "--with", trace, "--ops", "--json").stdout)
    found = rows_of(answer)
    assert found.pop(64 + 4 + 2) == []  # one group of those without an op
    assert found == {mib: ops for _, _, mib, ops, _ in ALLOCATIONS if ops}, found
    text = run("top", snapshot, "--with", trace, "--ops").stdout
    assert "4 of 7 allocations have an op of the trace: 1 by its memory records, 3 by time; 1 while ops ran on several " \
           "threads; 1 while no op ran; 1 before or after the trace." in " ".join(text.split()), text


def test_other_clocks_are_said_and_mended(folder):
    snapshot, trace = write_pair(folder, snapshot_shift=-60_000_000)
    text = " ".join(run("top", snapshot, "--with", trace).stdout.split())
    assert "0 of 7 allocations" in text and "The snapshot ends 59 s before the trace begins." in text, text
    assert "--offset" in text, text
    answer = json.loads(run("top", snapshot, "--with", trace, "--offset", "60000000", "--json").stdout)
    assert answer["attached"]["by_time"] == 3 and answer["attached"]["by_record"] == 1, answer["attached"]


def test_written_back_it_has_the_ops(folder):
    snapshot, trace = write_pair(folder)
    both = os.path.join(folder, "both.pickle")
    told = run("convert", snapshot, "--with", trace, "-o", both)
    assert "4 of 7 allocations" in told.stderr, told.stderr
    with open(both, "rb") as file:
        events = pickle.load(file)["device_traces"][0]
    for event, (_, _, _, ops, _) in zip(events, ALLOCATIONS, strict=True):
        assert [frame["name"] for frame in event["frames"]] == [*(ops or []), "step"], event


def test_what_does_not_go_together_is_refused(folder):
    snapshot, trace = write_pair(folder)
    assert "no profiler's trace" in run("top", snapshot, "--with", snapshot, code=1).stderr
    assert "no allocations" in run("top", trace, "--with", trace, code=1).stderr
    run("top", snapshot, "--offset", "5", code=1)
    run("top", snapshot, "--with", os.path.join(folder, "absent.json"), code=2)


for name, test in list(globals().items()):
    if name.startswith("test_"):
        with tempfile.TemporaryDirectory() as folder:
            test(folder)
            print("ok", name)
