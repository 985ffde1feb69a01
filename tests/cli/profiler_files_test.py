"""Files of other profilers: what holds for each of their commands, whichever it is. Their numbers: tracker_test.py,
timeline_test.py, telemetry_test.py."""
import json
import pickle
import zipfile

import pytest
from support.folders import write
from support.paths import PROFILERS
from support.snapshots import BASE, GIB, MIB, event, frame, live, segment, snapshot
from support.tool import SUCCESS, UNREADABLE, USAGE, answers, out_of, run
from telemetry_test import DAY, as_csv, profile, record, result
from telemetry_test import snapshot as sample
from timeline_test import PLOTTED, RAW, random_rows
from tracker_test import EXAMPLE, random_run

RECORDS = [record(i, "sample", 100, 200) for i in range(2)]
# What is cut, and with which command its answer is asked for besides `summary`.
WHOLE = {
    "statistics of MemoryTracker": ("tracker", "a.pickle", pickle.dumps(EXAMPLE, 4)),
    "timeline, raw": ("summary", "a.json", json.dumps(RAW).encode()),
    "timeline, plotted": ("summary", "a.json", json.dumps(PLOTTED).encode()),
    "telemetry": ("telemetry", "a.json", json.dumps(RECORDS).encode()),
    "telemetry as CSV": ("telemetry", "a.csv", as_csv(RECORDS)),
}


def points(told):
    return sum(series["points"] for part in told["series"] for series in part["series"])


def is_told(told, kind):
    """A refusal in words, or what was read and that the file ends too early; a table of CSV may end after any line."""
    if "error" in told:
        return len(told["error"]["message"]) > 10
    return kind.endswith("CSV") or "truncated" in [one["name"] for one in told["diagnostics"]]


@pytest.mark.parametrize("kind", WHOLE)
def test_every_cut_is_told(tmp_path, kind):
    command, name, whole = WHOLE[kind]
    cuts = [write(tmp_path / f"{length:05d}" / name, whole[:length]) for length in range(len(whole))]
    done = run("summary", "--json", *cuts)  # one process for all of them
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, len(told)) == (UNREADABLE, len(cuts)), done.stderr
    before = 0
    for cut, one in zip(cuts, told, strict=True):
        assert is_told(one, kind), (cut.parent.name, one)
        if before:
            assert "error" not in one and points(one) >= before, f"{one} after {before} points were seen in a shorter piece"
        before = points(one) if "error" not in one else 0
    (whole_told,) = answers("summary", write(tmp_path / name, whole))
    assert (before > 0, points(whole_told) >= before, whole_told["diagnostics"]) == (True, True, [])
    # The command of its own, at some of the places: each starts a process.
    for cut in cuts[:: max(1, len(cuts) // 12)]:
        done = run(command, cut, "--json")
        one = json.loads(done.stdout)
        assert done.returncode == (UNREADABLE if "error" in one else SUCCESS)
        assert is_told(one, kind), (cut.parent.name, one)


LONG_CALLS = [result("a_function_with_a_long_name" * 3, DAY + i, 0.5, 0, GIB, 60 * MIB) for i in range(12)]


@pytest.mark.parametrize("command, name, content", [
    ("tracker", "a.pickle", random_run(5, 300)),
    ("summary", "a.json", random_rows(3, 300)),
    ("telemetry", "a.json", profile(LONG_CALLS, [sample(DAY, "monitor", MIB, GIB)])),
])
def test_text_fits_into_80_columns(tmp_path, command, name, content):
    lines = out_of(command, write(tmp_path / name, content)).splitlines()[1:]  # the first one is the path
    assert len(lines) > 5
    assert [line for line in lines if len(line) > 80] == []


@pytest.mark.parametrize("command, name, content, words", [
    ("tracker", "a.pickle", {"segments": [], "device_traces": []}, "MemoryTracker"),
    ("telemetry", "a.json", [[-1, 1, 4096, 0], [5, 2, 1, 1]], "no counters"),
])
def test_other_files_are_refused_in_words(tmp_path, command, name, content, words):
    done = run(command, write(tmp_path / name, content), text=True)
    assert (done.returncode, done.stdout) == (UNREADABLE, "")
    assert words in done.stderr
    assert run(command, tmp_path / "none").returncode == UNREADABLE


KINDS = [0, -1, 2**70, 0.5, "a text", None, True, [], {}, [1, 2], ["op", 1.0], {"a": 0}, {"memories_active": {}}, {0: ("op", 1.0)}]


def misplaced(value, others, depth=3):
    """Copies of a document in which one value is of another kind: one of KINDS, or what stands under another key."""
    if depth == 0 or not isinstance(value, (dict, list)):
        return
    keys = list(value) if isinstance(value, dict) else range(min(len(value), 2))
    for key in keys:
        for other in [*others, *(value[one] for one in keys if one != key)]:
            copy = value.copy()
            copy[key] = other
            yield copy
        for deeper in misplaced(value[key], others, depth - 1):
            copy = value.copy()
            copy[key] = deeper
            yield copy


SNAPSHOT = snapshot([segment(BASE, [live(1 << 20)])], [event("alloc", BASE, 1 << 20, frames=[frame("f")])])


@pytest.mark.parametrize("document, name, packed", [
    (EXAMPLE, "a.pickle", lambda one: pickle.dumps(one, 4)),
    (SNAPSHOT, "a.pickle", lambda one: pickle.dumps(one, 4)),
    (SNAPSHOT, "a.json", lambda one: json.dumps(one).encode()),
    (RAW, "a.json", lambda one: json.dumps(one).encode()),
    (PLOTTED, "a.json", lambda one: json.dumps(one).encode()),
    (RECORDS, "a.json", lambda one: json.dumps(one).encode()),
    (profile(LONG_CALLS[:2], [sample(DAY, "monitor", MIB, GIB)]), "a.json", lambda one: json.dumps(one).encode()),
], ids=["tracker", "snapshot", "snapshot as JSON", "timeline, raw", "timeline, plotted", "telemetry", "profile"])  # fmt: skip
def test_values_of_one_kind_under_keys_of_another_are_told(tmp_path, document, name, packed):
    files = [write(tmp_path / f"{at:05d}" / name, packed(one)) for at, one in enumerate(misplaced(document, KINDS))]
    assert len(files) > 50
    done = run("summary", "--json", *files)  # one process for all of them
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode in (SUCCESS, UNREADABLE) and len(told) == len(files), done.stderr[-2000:]
    assert [one for one in told if "error" in one and len(one["error"]["message"]) < 10] == []


@pytest.mark.parametrize("to", ["pickle", "json", "csv"])
def test_numbers_over_time_are_written_one_at_a_time(tmp_path, to):
    path = tmp_path / "two.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("a.json", "b.json"):
            archive.write(PROFILERS / "telemetry.json", name)
    done = run("convert", path, "-o", "-", "--to", to, text=True)
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert "a.json" in done.stderr and "--snapshot" in done.stderr
    # 4 samples with their times, and a line of heads.
    assert len(out_of("convert", path, "-o", "-", "--to", "csv", "--snapshot", "b.json").splitlines()) > 4
