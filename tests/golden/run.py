#!/usr/bin/env python3
"""Compares `memstrata summary --json` with reference.py.

  python3 tests/golden/run.py TOOL cases        the stored cases: expected.json, the reference and the tool agree
  python3 tests/golden/run.py TOOL encodings    the stored cases again in every encoding a writer uses
  python3 tests/golden/run.py TOOL random       random snapshots, contradictory ones among them
  python3 tests/golden/run.py TOOL real         the files of ../shared/data/snapshots, as they are and re-encoded
Exit code 77: nothing to do here (the real files are absent).
"""
import base64
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import reference
from encoders import CONTAINERS, ENCODINGS, KINDS

HERE = Path(__file__).resolve().parent
CASES = HERE / "torch_snapshot"
REAL = HERE.parents[2] / "shared" / "data" / "snapshots"
SKIPPED = 77


class Comparison:
    def __init__(self, tool):
        self.tool, self.files, self.problems = tool, 0, []

    def summaries(self, paths):
        """{path: object} of one run of the tool; the exit code must fit the objects."""
        run = subprocess.run([self.tool, "summary", "--json", *map(str, paths)], capture_output=True, timeout=600)
        lines = run.stdout.decode().splitlines()
        found = {o["file"]: o for o in map(json.loads, lines)}
        code = 2 if any("error" in o for o in found.values()) else 0
        if run.returncode != code or len(lines) != len(paths) or run.stderr:
            self.problem("", f"exit code {run.returncode} for {len(lines)} lines of {len(paths)} files: {run.stderr[-2000:]!r}")
        return found

    def problem(self, name, text):
        self.problems.append(f"{name}: {text}")

    def same(self, name, got, wanted, path=""):
        """Notes the first difference of two JSON values."""
        if isinstance(got, dict) and isinstance(wanted, dict):
            if got.keys() != wanted.keys():
                return self.problem(name, f"{path}: keys {sorted(got)}, expected {sorted(wanted)}")
            for key in wanted:
                self.same(name, got[key], wanted[key], f"{path}.{key}")
        elif isinstance(got, list) and isinstance(wanted, list):
            if len(got) != len(wanted):
                return self.problem(name, f"{path}: {len(got)} entries, expected {len(wanted)}")
            for i, (a, b) in enumerate(zip(got, wanted)):
                self.same(name, a, b, f"{path}[{i}]")
        elif got != wanted or type(got) is not type(wanted):
            self.problem(name, f"{path}: {got!r}, expected {wanted!r}")

    def check(self, name, got, wanted):
        """`wanted` may lack "diagnostics"; then none may be an error."""
        self.files += 1
        if "error" in got or "error" in wanted:
            code = got.get("error", {}).get("code")
            if code != wanted.get("error"):
                self.problem(name, f"error {got.get('error')}, expected {wanted.get('error')}")
            return
        got = dict(got)
        got.pop("file")
        diagnostics = got.pop("diagnostics")
        wanted = {k: v for k, v in wanted.items() if k != "about"}
        expected = wanted.pop("diagnostics", None)
        counts = {d["name"]: d["count"] for d in diagnostics}
        if expected is None:
            for d in diagnostics:
                if d["severity"] == "error":
                    self.problem(name, f"diagnostic {d}")
        elif counts != expected:
            self.problem(name, f"diagnostics {counts}, expected {expected}")
        self.same(name, got, wanted)

    def check_files(self, wanted):
        """`wanted`: {path: object}"""
        found = self.summaries(list(wanted))
        for path, expected in wanted.items():
            self.check(str(path), found.get(str(path), {"error": {"code": "no line"}}), expected)


def stored_cases():
    return {f.parent: json.loads(f.read_text()) for f in sorted(CASES.glob("*/expected.json"))}


def readable(data):
    """The plain value, or None if Python's pickle cannot read it either."""
    try:
        return reference.load(data)
    except Exception:  # cut, not UTF-8, not a pickle
        return None


def cases(comparison):
    wanted = stored_cases()
    if not wanted:
        comparison.problem("", "no cases")
    comparison.check_files({folder / "input.pickle": expected for folder, expected in wanted.items()})
    for folder, expected in wanted.items():
        data = (folder / "input.pickle").read_bytes()
        value = readable(data)
        if value is not None and "error" not in expected:
            computed = {"bytes": len(data), **reference.summary_of(value)}
            hand = {k: v for k, v in expected.items() if k not in ("about", "diagnostics")}
            comparison.same(f"{folder.name} (reference)", computed, hand)


def write_encodings(folder, name, value):
    """{path: expected} of the value in every encoding."""
    wanted = {}
    for encoding, dumps in ENCODINGS.items():
        try:
            data = dumps(value)
        except (RecursionError, ValueError):  # what holds itself has no unmemoised form
            continue
        path = Path(folder, f"{name}.{encoding}")
        path.write_bytes(data)
        computed = reference.summary_of(reference.load(data))
        wanted[path] = {"bytes": len(data), **computed}
    return wanted


def write_containers(folder, name, value):
    """{path: expected} of the value as JSON and in every container; diagnostics are not compared."""
    wanted = {}
    for kind, (pack, holds) in CONTAINERS.items():
        try:
            data = pack(value)
        except (TypeError, ValueError, UnicodeEncodeError):  # JSON has no bytes, no tuples as keys
            continue
        path = Path(folder, f"{name}.{kind}")
        path.write_bytes(data)
        wanted[path] = {"bytes": len(data), **reference.summary_of(holds(value), KINDS[kind])}
    return wanted


def encodings(comparison):
    with tempfile.TemporaryDirectory() as folder:
        wanted = {}
        for case, expected in stored_cases().items():
            value = readable((case / "input.pickle").read_bytes())
            if value is None or "error" in expected or case.name in ("foreign_objects", "cyclic_memo", "ordered_dict"):
                continue
            for path, computed in write_encodings(folder, case.name, value).items():
                # Bytes after the end and doubled keys are no part of the value.
                found = {k: v for k, v in expected["diagnostics"].items() if k not in ("trailing_bytes", "duplicate_key")}
                wanted[path] = {**computed, "diagnostics": found}
            wanted |= write_containers(folder, case.name, value)
        comparison.check_files(wanted)


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


def random_files(comparison):
    with tempfile.TemporaryDirectory() as folder:
        wanted = {}
        for seed in range(200):
            value = random_snapshot(random.Random(seed))
            encoding = list(ENCODINGS)[seed % len(ENCODINGS)]
            path = Path(folder, f"seed{seed}.{encoding}")
            path.write_bytes(ENCODINGS[encoding](value))
            wanted[path] = {"bytes": path.stat().st_size, **reference.summary_of(value)}
            wanted |= write_containers(folder, f"seed{seed}", value)
        comparison.check_files(wanted)


def real(comparison):
    files = sorted(REAL.glob("*.*")) if REAL.is_dir() else []
    if not files:
        print(f"skipped: no files in {REAL}")
        return SKIPPED
    refused = [p for p in files if p.name.startswith("NOT_A_SNAPSHOT")]
    wanted, values = {}, {}
    for path in files:
        if path in refused:
            continue
        data = path.read_bytes()
        kind = "pickle"
        if path.suffix == ".json":
            values[path], kind = json.loads(data), "json"
        elif path.suffix == ".html":
            inside = re.search(rb'"name": "([^"]*)", "base64": "([^"]*)"', data)
            values[path], kind = {inside[1].decode(): reference.load(base64.b64decode(inside[2]))}, "pickle in html"
        else:
            values[path] = reference.load(data)
        wanted[path] = {"bytes": len(data), **reference.summary_of(values[path], kind)}
    comparison.check_files(wanted)
    for path, got in comparison.summaries(refused).items():
        comparison.files += 1
        error = got.get("error")
        if not error or not error["message"]:
            comparison.problem(path, f"must be refused: {got}")
        elif "NOT_A_SNAPSHOT" in path and not (isinstance(error["offset"], int) and error["offset"] >= 0):
            comparison.problem(path, f"the error must name an offset: {error}")
    for path, value in values.items():
        with tempfile.TemporaryDirectory() as folder:
            again = {}
            for encoding, dumps in ENCODINGS.items():
                if encoding == "unmemoised":  # grows a hundredfold
                    continue
                target = Path(folder, f"{path.stem}.{encoding}")
                target.write_bytes(dumps(value))
                again[target] = {**wanted[path], "bytes": target.stat().st_size, "format": "pickle"}
            again |= write_containers(folder, path.stem, value)
            comparison.check_files(again)


def main():
    tool, what = sys.argv[1:]
    comparison = Comparison(tool)
    skipped = {"cases": cases, "encodings": encodings, "random": random_files, "real": real}[what](comparison)
    if skipped:
        return skipped
    for problem in comparison.problems[:40]:
        print(problem[:1000])
    print(f"{what}: {comparison.files} files compared, {len(comparison.problems)} problems")
    return 1 if comparison.problems else 0


if __name__ == "__main__":
    sys.exit(main())
