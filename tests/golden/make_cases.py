#!/usr/bin/env python3
"""Writes the golden cases: torch_snapshot/<case>/input.pickle and expected.json.

  python3 tests/golden/make_cases.py      make_cases_test.py fails if the files differ from what would be written

Every function marked @case in cases/ is one. It returns the bytes and what was worked out by hand; the rest of expected.json
comes from reference.py, which must agree with the hand. expected.json: the object of `gpustrata summary --json`
without "file"; "diagnostics" as {name: count}. A file that must be refused has {"error": code} instead.
"""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by hand
import reference  # noqa: E402
from cases import containers, encodings, eras, events, json_texts, memory  # noqa: E402, F401  each adds its own to CASES
from cases.parts import CASES  # noqa: E402

FOLDER = Path(__file__).parent / "torch_snapshot"


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


def files_of(function):
    """(path, content) of each of its two files."""
    data, expected = expected_of(function)
    about = " ".join((function.__doc__ or "").split())
    text = json.dumps({**({"about": about} if about else {}), **expected}, indent=1) + "\n"
    folder = FOLDER / function.__name__
    return [(folder / "input.pickle", data), (folder / "expected.json", text.encode())]


def main():
    written, wanted = [], set()
    for path, content in (file for function in CASES for file in files_of(function)):
        wanted.add(path)
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            written.append(str(path))
    stale = [str(path) for path in FOLDER.glob("*/*") if path not in wanted]
    print(f"{len(CASES)} cases, {len(written)} files written, {len(stale)} stale", *written[:20], *stale, sep="\n  ")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
