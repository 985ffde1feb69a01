#!/usr/bin/env python3
"""`memstrata anonymize`: all numbers stay, no word of the program does; both read by Python's pickle and by the command.

  python3 tests/cli/anonymize_test.py TOOL [unittest options]
"""
import json
import pickle
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "golden" / "torch_snapshot"
SAMPLES = ROOT / "site" / "samples"
REAL = ROOT.parent / "shared" / "data" / "snapshots"
TOOL = ""


def run(*arguments, check=False):
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, timeout=120, check=check)


def summary(path):
    said = json.loads(run("summary", "--json", path).stdout)
    if "error" in said:
        return None
    return [[{k: v for k, v in device.items()} for device in snapshot["devices"]] for snapshot in said["snapshots"]]


def peak_parts(path):
    """Sizes of the parts of the peak, and of what leaks and pins."""
    said = json.loads(run("report", "--json", path).stdout)
    return [(d["device"], d["peak"]["requested_bytes"], [(p["bytes"], p["blocks"]) for p in d["peak"]["parts"]],
             d["fragmentation"]["reserved_bytes"], d["fragmentation"]["held_back_bytes"]) for d in said["devices"]]


def secret_run(seed):
    """A snapshot full of words that must not be seen again, beside torch's own."""
    rng = random.Random(seed)
    words = [f"secret{seed}_{i}" for i in range(40)]
    frames = [{"filename": f"/home/{rng.choice(words)}/{rng.choice(words)}.py", "line": rng.randrange(1000),
               "name": rng.choice(words)} for _ in range(60)]
    frames += [{"filename": f"/opt/{rng.choice(words)}/lib/python3.12/site-packages/torch/nn/m{i}.py", "line": i,
                "name": f"torch_function_{i}"} for i in range(10)]
    trace, live = [], []
    for i in range(800):
        stack = [dict(f) for f in rng.sample(frames, rng.randrange(0, 8))]
        event = {"addr": 0x7F0000000000 + i * 4096, "size": rng.randrange(1, 4096), "stream": rng.choice((0, 77)),
                 "time_us": 10**15 + i, "frames": stack, "action": "alloc"}
        if i % 5 == 0:
            event["user_metadata"] = rng.choice((rng.choice(words), {rng.choice(words): rng.choice(words)}))
        if i % 7 == 0:
            event["compile_context"] = rng.choice(words)
        if i % 11 == 0:
            event["new_key"] = rng.choice((rng.choice(words), 12345, [rng.choice(words)]))
        trace.append(event)
        live.append(event)
        if len(live) > 50:
            old = live.pop(rng.randrange(len(live)))
            trace.append(dict(old, action="free_completed"))
    notes = [{"name": rng.choice(words), "stage": rng.choice(("START", "END")), "device": 0, "time_us": 10**15 + i}
             for i in range(20)] + [{"name": "ProfilerStep#3", "stage": "START", "device": 0, "time_us": 10**15}]
    return {"segments": [], "device_traces": [trace], "external_annotations": notes,
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:128", "max_split_size": 1 << 27}}


class Anonymize(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.out = self.folder / "out.pickle"

    def test_numbers_stay(self):
        inputs = sorted(CASES.glob("*/input.pickle")) + sorted(SAMPLES.glob("*.pickle*"))
        inputs += [path for path in sorted(REAL.glob("**/*.pickle")) if path.stat().st_size < 4 << 20]
        compared = 0
        for path in inputs:
            before = summary(path)
            if before is None:
                continue
            done = run("anonymize", path, "-o", self.out)
            if done.returncode != 0:
                self.assertIn(b"something else", done.stderr, path)
                continue
            with self.subTest(path=path):
                self.assertEqual(summary(self.out), before)
                self.assertEqual(peak_parts(self.out), peak_parts(path))
                compared += 1
        self.assertGreater(compared, 20)

    def test_no_word_is_left(self):
        for seed in range(5):
            given = self.folder / "in.pickle"
            made = secret_run(seed)
            given.write_bytes(pickle.dumps(made, protocol=4))
            run("anonymize", given, "-o", self.out, check=True)
            data = self.out.read_bytes()
            self.assertNotIn(b"secret", data)
            written = pickle.loads(data)
            events, expected = written["device_traces"][0], made["device_traces"][0]
            self.assertEqual(len(events), len(expected))
            names = {}  # old -> new, of every kind
            for event, old in zip(events, expected):
                for key in ("addr", "size", "stream", "time_us", "action"):
                    self.assertEqual(event[key], old[key])
                self.assertEqual([f["line"] for f in event["frames"]], [f["line"] for f in old["frames"]])
                for frame, was in zip(event["frames"], old["frames"]):
                    for key in ("filename", "name"):
                        self.assertEqual(names.setdefault((key, was[key]), frame[key]), frame[key])
                    if "site-packages" in was["filename"]:
                        self.assertEqual(frame["name"], was["name"])
                    else:
                        self.assertRegex(frame["filename"], r"^file_\d+\.py$")
                        self.assertRegex(frame["name"], r"^function_\d+$")
                self.assertEqual("user_metadata" in event, "user_metadata" in old)
                if old.get("new_key") == 12345:
                    self.assertEqual(event["new_key"], 12345)
            self.assertEqual(len(set((k[0], v) for k, v in names.items())), len(names))  # different ones stay different
            kept = {v for (key, was), v in names.items() if key == "filename" and "site-packages" in was}
            self.assertTrue(any(re.fullmatch(r"torch/nn/m\d+\.py", name) for name in kept))
            self.assertIn("ProfilerStep#3", [note["name"] for note in written["external_annotations"]])
            self.assertEqual(written["allocator_settings"], made["allocator_settings"])

    def test_it_says_what_it_keeps(self):
        sample = SAMPLES / "training_run.pickle"
        told = run("anonymize", sample, "-o", self.out, check=True).stdout.decode()
        self.assertRegex(told, r"Replaced: \d+ files?, \d+ functions?, \d+ regions?, \d+ other texts?\.")
        self.assertIn("Kept: all sizes, addresses, times", told)
        said = json.loads(run("anonymize", sample, "-o", self.out, "--json", check=True).stdout)
        self.assertEqual(said["bytes"], self.out.stat().st_size)
        self.assertGreater(said["replaced"]["functions"], 0)

    def test_what_is_wrong(self):
        for arguments, code in (((SAMPLES / "none.pickle", "-o", self.out), 2), ((SAMPLES / "training_run.pickle",), 1)):
            done = run("anonymize", *arguments)
            self.assertEqual(done.returncode, code)
            self.assertTrue(done.stderr)
        given = self.folder / "same.pickle"
        given.write_bytes((SAMPLES / "training_run.pickle").read_bytes())
        before = given.read_bytes()
        self.assertEqual(run("anonymize", given, "-o", given).returncode, 1)
        self.assertEqual(given.read_bytes(), before)


if __name__ == "__main__":
    TOOL = sys.argv.pop(1)
    unittest.main()
