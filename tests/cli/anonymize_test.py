"""`gpustrata anonymize`: all numbers stay, no word of the program does; both read by Python's pickle and by the command."""
import json
import pickle
import random
import re

from support.folders import InAFolder
from support.paths import CASES, SAMPLE, SAMPLES, real_snapshots
from support.tool import SUCCESS, answer, answers, out_of, run


def summaries(paths):
    """What `summary` says of the devices of each file; None if it cannot be read."""
    lines = [json.loads(line) for line in run("summary", "--json", *paths).stdout.splitlines()]
    return [None if "error" in said else [snapshot["devices"] for snapshot in said["snapshots"]] for said in lines]


def peak_parts(paths):
    """Sizes of the parts of the peak, and of what is fragmented, of each file."""
    return [[(d["device"], d["peak"]["requested_bytes"], [(p["bytes"], p["blocks"]) for p in d["peak"]["parts"]],
              d["fragmentation"]["reserved_bytes"], d["fragmentation"]["held_back_bytes"]) for d in said["devices"]]
            for said in answers("report", *paths)]


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


class Anonymize(InAFolder):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out.pickle"

    def test_numbers_stay(self):
        inputs = sorted(CASES.glob("*/input.pickle")) + sorted(SAMPLES.glob("*.pickle*"))
        inputs += [path for path in real_snapshots() if path.stat().st_size < 4 << 20]
        given, written = [], []
        for path, readable in zip(inputs, summaries(inputs), strict=True):
            if readable is None:
                continue
            out = self.folder / f"{len(given)}.pickle"
            done = run("anonymize", path, "-o", out)
            if done.returncode == SUCCESS:
                given.append(path)
                written.append(out)
            else:
                self.assertIn(b"something else", done.stderr, path)
        self.assertGreater(len(given), 20)
        for path, before, after in zip(given, summaries(given), summaries(written), strict=True):
            self.assertEqual(after, before, path)
        for path, before, after in zip(given, peak_parts(given), peak_parts(written), strict=True):
            self.assertEqual(after, before, path)

    def test_no_word_is_left(self):
        for seed in range(5):
            given = self.folder / "in.pickle"
            made = secret_run(seed)
            given.write_bytes(pickle.dumps(made, protocol=4))
            out_of("anonymize", given, "-o", self.out)
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
        sample = SAMPLE
        told = out_of("anonymize", sample, "-o", self.out)
        self.assertRegex(told, r"Replaced: \d+ files?, \d+ functions?, \d+ regions?, \d+ other texts?\.")
        self.assertIn("Kept: all sizes, addresses, times", told)
        said = answer("anonymize", sample, "-o", self.out)
        self.assertEqual(said["bytes"], self.out.stat().st_size)
        self.assertGreater(said["replaced"]["functions"], 0)

    def test_what_is_wrong(self):
        for arguments, code in (((SAMPLES / "none.pickle", "-o", self.out), 2), ((SAMPLE,), 1)):
            done = run("anonymize", *arguments)
            self.assertEqual(done.returncode, code)
            self.assertTrue(done.stderr)
        given = self.folder / "same.pickle"
        given.write_bytes((SAMPLE).read_bytes())
        before = given.read_bytes()
        self.assertEqual(run("anonymize", given, "-o", given).returncode, 1)
        self.assertEqual(given.read_bytes(), before)
