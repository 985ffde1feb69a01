"""`gpustrata summary --json` against an independent computation in Python (reference.py): stored cases, every encoding that a
writer uses, random snapshots with contradictions, and the real files."""
import base64
import json
import random
import re

import pytest
import reference
from encoders import ENCODINGS, in_containers
from support.folders import write
from support.paths import CASES, SNAPSHOTS, needs_shared_data
from support.tool import SUCCESS, UNREADABLE, run

STORED = {path.parent.name: json.loads(path.read_text()) for path in sorted(CASES.glob("*/expected.json"))}
REAL = sorted(path for path in SNAPSHOTS.glob("*.*") if not path.name.startswith("NOT_A_SNAPSHOT"))
REFUSED = sorted(SNAPSHOTS.glob("NOT_A_SNAPSHOT*"))


def summaries(paths):
    """{path: object} of one run of the command; the exit code must fit the objects."""
    done = run("summary", "--json", *paths, timeout=600)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert (len(found), done.stderr) == (len(paths), b"")
    assert done.returncode == (UNREADABLE if any("error" in one for one in found) else SUCCESS)
    return {one["file"]: one for one in found}


def check(got, wanted):
    """`wanted` may lack "diagnostics"; then none may be an error."""
    if "error" in got or "error" in wanted:
        assert got.get("error", {}).get("code") == wanted.get("error")
        return
    counts = {one["name"]: one["count"] for one in got["diagnostics"]}
    if "diagnostics" in wanted:
        assert counts == wanted["diagnostics"]
    else:
        assert [one for one in got["diagnostics"] if one["severity"] == "error"] == []
    apart = ("about", "diagnostics", "file")
    got, wanted = ({key: value for key, value in one.items() if key not in apart} for one in (got, wanted))
    # A bool is a number for ==; in JSON it is not.
    assert json.dumps(got, sort_keys=True) == json.dumps(wanted, sort_keys=True), (got, wanted)


def check_files(wanted):
    """`wanted`: {path: object}"""
    found = summaries(list(wanted))
    for path, expected in wanted.items():
        try:
            check(found[str(path)], expected)
        except AssertionError as error:
            raise AssertionError(f"{path.name}: {error}") from None


class Reference:
    """Summaries by reference.py, computed once for each snapshot however it is packed."""

    def __init__(self):
        self.known = {}

    def __call__(self, value, kind="pickle"):
        return {"format": kind, "snapshots": [self.of(name, one) for name, one in reference.snapshots_in(value)]}

    def of(self, name, snapshot):
        key = id(snapshot.get("segments")), id(snapshot.get("device_traces"))
        if key not in self.known:
            self.known[key] = reference.snapshot_summary("", snapshot), snapshot  # kept, so that ids stay its own
        named = reference.snapshot_summary(name, {})
        return {**self.known[key][0], **({"name": named["name"]} if "name" in named else {})}


def write_encodings(folder, name, value, but=()):
    """{path: expected} of the value in every encoding."""
    wanted = {}
    for encoding, dumps in ENCODINGS.items():
        if encoding in but:
            continue
        try:
            path = write(folder / f"{name}.{encoding}", dumps(value))
        except (RecursionError, ValueError):  # what holds itself has no unmemoised form
            continue
        wanted[path] = {"bytes": path.stat().st_size}
    return wanted


def write_containers(folder, name, value, summary_of):
    """{path: expected} of the value as JSON and in every container; diagnostics are not compared."""
    wanted = {}
    for ending, kind, data, holds in in_containers(value):
        path = write(folder / f"{name}.{ending}", data)
        wanted[path] = {"bytes": len(data), **summary_of(holds, kind)}
    return wanted


def readable(data):
    """The plain value, or None if Python's pickle cannot read it either."""
    try:
        return reference.load(data)
    except Exception:  # cut, not UTF-8, not a pickle
        return None


@pytest.fixture(scope="module")
def stored_summaries():
    return summaries([CASES / name / "input.pickle" for name in STORED])


@pytest.mark.parametrize("name", STORED)
def test_a_stored_case(name, stored_summaries):
    path = CASES / name / "input.pickle"
    check(stored_summaries[str(path)], STORED[name])
    value = readable(path.read_bytes())
    if value is not None and "error" not in STORED[name]:  # the reference says the same
        computed = {"bytes": path.stat().st_size, **reference.summary_of(value)}
        assert computed == {key: value for key, value in STORED[name].items() if key not in ("about", "diagnostics")}


@pytest.mark.parametrize("name", STORED)
def test_a_stored_case_in_every_encoding(name, tmp_path):
    expected = STORED[name]
    value = readable((CASES / name / "input.pickle").read_bytes())
    if value is None or "error" in expected or name in ("foreign_objects", "cyclic_memo", "ordered_dict"):
        return  # there is no value that could be written otherwise
    summary_of = Reference()
    # Bytes after the end and doubled keys are no part of the value.
    found = {key: count for key, count in expected["diagnostics"].items() if key not in ("trailing_bytes", "duplicate_key")}
    wanted = {path: {**one, **reference.summary_of(reference.load(path.read_bytes())), "diagnostics": found}
              for path, one in write_encodings(tmp_path, name, value).items()}
    check_files(wanted | write_containers(tmp_path, name, value, summary_of))


def random_snapshot(rng):
    """Events drawn without sense from few addresses, so that every contradiction occurs."""
    frames = [{"name": f"f{i}", "filename": "x.py", "line": i} for i in range(6)]
    stacks = [[rng.choice(frames) for _ in range(rng.randrange(4))] for _ in range(8)]
    kinds = ["alloc"] * 4 + ["free_requested"] * 2 + ["free_completed"] * 3 + [
        "segment_alloc", "segment_free", "segment_map", "segment_unmap", "snapshot", "free", "annotate"]
    if rng.random() < 0.2:
        kinds = ["alloc", "free_requested", "segment_alloc"]
    traces = []
    for _ in range(rng.randrange(4)):
        trace, now = [], 10**15
        for _ in range(rng.choice([0, 1, 3, 50, 1500])):
            now += rng.randrange(5)
            e = {"action": rng.choice(kinds), "addr": 4096 * rng.randrange(12), "size": rng.choice([0, 1, 512, 10**6, 1 << 33]),
                 "stream": rng.choice([0, 0, 0, 7, -9]), "time_us": now}
            if rng.random() < 0.7:
                e["frames"] = rng.choice(stacks)
            if rng.random() < 0.05:
                e = {"action": "oom", "device_free": 5, "size": 512, "stream": 0}
            trace.append(e)
        traces.append(trace)
    segments = []
    for i in range(rng.randrange(5)):
        blocks = []
        for _ in range(rng.randrange(6)):
            b = {"size": 4096, "state": rng.choice(["active_allocated", "active_pending_free", "inactive"])}
            if rng.random() < 0.7:
                b.update(requested_size=rng.randrange(4097), frames=rng.choice(stacks))
            blocks.append(b)
        segments.append({"device": rng.randrange(3), "address": 4096 * rng.randrange(12), "total_size": 4096 * len(blocks),
                         "stream": 0, "blocks": blocks})
    return {"segments": segments, "device_traces": traces}


def test_random_snapshots(tmp_path):
    wanted = {}
    for seed in range(200):
        value, summary_of = random_snapshot(random.Random(seed)), Reference()
        encoding = list(ENCODINGS)[seed % len(ENCODINGS)]
        path = write(tmp_path / f"seed{seed}.{encoding}", ENCODINGS[encoding](value))
        wanted[path] = {"bytes": path.stat().st_size, **summary_of(value)}
        wanted |= write_containers(tmp_path, f"seed{seed}", value, summary_of)
    check_files(wanted)


@needs_shared_data
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_a_real_file_as_it_is_and_in_every_encoding(path, tmp_path):
    data, summary_of, kind = path.read_bytes(), Reference(), "pickle"
    if path.suffix == ".json":
        value, kind = json.loads(data), "json"
    elif path.suffix == ".html":
        inside = re.search(rb'"name": "([^"]*)", "base64": "([^"]*)"', data)
        value, kind = {inside[1].decode(): reference.load(base64.b64decode(inside[2]))}, "pickle in html"
    else:
        value = reference.load(data)
    wanted = {path: {"bytes": len(data), **summary_of(value, kind)}}
    plain = {**wanted[path], "format": "pickle"}
    again = write_encodings(tmp_path, path.stem, value, but=["unmemoised"])  # which grows a hundredfold
    wanted |= {one: {**plain, **expected} for one, expected in again.items()}
    check_files(wanted | write_containers(tmp_path, path.stem, value, summary_of))


@needs_shared_data
@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.name)
def test_a_real_file_that_is_no_snapshot(path):
    error = summaries([path])[str(path)]["error"]
    assert error["message"]
    assert isinstance(error["offset"], int) and error["offset"] >= 0
