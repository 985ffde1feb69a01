"""`gpustrata simulate --dump`: random scripts, and what Python and the rules of PyTorch's viewer say of the dump."""
import json
import pickle
import random

import viewer_rules
from support.folders import InAFolder
from support.tool import answer, run

SETTINGS = ("", "expandable_segments:True", "max_split_size_mb:64", "roundup_power2_divisions:8",
            "garbage_collection_threshold:0.5,per_process_memory_fraction:0.5")


def random_script(chance, steps):
    lines, held, names = [], [], 0
    for _ in range(steps):
        kind = chance.random()
        if kind < 0.05:
            lines.append("empty")
        elif kind < 0.1:
            lines.append(f"done {chance.randrange(3)}")
        elif kind < 0.15 and held:
            lines.append(f"rs {chance.choice(held)} {chance.randrange(1, 3)}")
        elif kind < 0.17:
            lines.append("snap")
        elif kind < 0.62 or not held:
            held.append(f"t{names}")
            names += 1
            lines.append(f"m {held[-1]} {1 + int(2 ** (chance.random() * 26))} {chance.randrange(3)}")
        else:
            lines.append(f"f {held.pop(chance.randrange(len(held)))}")
    return "\n".join(lines) + "\n"


class Dump(InAFolder):
    def setUp(self):
        super().setUp()
        self.dump = self.folder / "dump.pickle"

    def simulate(self, script, *options):
        return run("simulate", self.file(script, "script.txt"), "--dump", self.dump, *options)

    def test_random_scripts(self):
        for seed in range(30):
            with self.subTest(seed):
                chance = random.Random(seed)
                script = random_script(chance, 400)
                result = self.simulate(script, "--json", "--device", str(1 << 29), "--conf", SETTINGS[seed % len(SETTINGS)])
                self.assertEqual(result.returncode, 0, result.stderr)
                report = json.loads(result.stdout)
                data = self.dump.read_bytes()
                snapshot = pickle.loads(data)
                self.assertEqual(viewer_rules.encoding_problems(data), [])
                self.assertEqual(viewer_rules.content_problems(snapshot), [])
                self.assertEqual(viewer_rules.replay_problems(snapshot), [])
                self.agrees(snapshot, report, script)

    def agrees(self, snapshot, report, script):
        """With what the same run says as JSON, and with the script."""
        trace = snapshot["device_traces"][0]
        self.assertEqual([e["action"] for e in trace], [line.split()[0] for line in report["trace"]])
        told = {key: report["stats"][key] for key in ("reserved_bytes.all.current", "allocated_bytes.all.current",
                                                     "active_bytes.all.current", "requested_bytes.all.current")}
        blocks = [b for s in snapshot["segments"] for b in s["blocks"]]
        live = [b for b in blocks if b["state"] == "active_allocated"]
        active = [b for b in blocks if b["state"] != "inactive"]
        self.assertEqual(sum(s["total_size"] for s in snapshot["segments"]), told["reserved_bytes.all.current"])
        self.assertEqual(sum(b["size"] for b in live), told["allocated_bytes.all.current"])
        self.assertEqual(sum(b["size"] for b in active), told["active_bytes.all.current"])
        lines = script.splitlines()
        for e in trace:
            if e["action"] == "alloc":  # its only frame is its step
                (frame,) = e["frames"]
                self.assertEqual(frame["name"], lines[frame["line"] - 1])
                self.assertEqual(frame["name"].split()[2], str(e["size"]))
        for b in active:
            (frame,) = b["frames"]
            self.assertEqual(frame["name"].split()[2], str(b["requested_size"]))

    def test_the_dump_opens_in_the_tool(self):
        self.assertEqual(self.simulate("m a 1000; m b 3000000\nf a\n").returncode, 0)
        summary = answer("summary", self.dump)
        self.assertEqual(summary["diagnostics"], [])
        (device,) = summary["snapshots"][0]["devices"]
        self.assertEqual(device["actions"], {"segment_alloc": 2, "alloc": 2, "free_requested": 1, "free_completed": 1})
        self.assertEqual(device["peak"], {"requested_bytes": 3001000, "event": 3})
        self.assertEqual(device["final_requested_bytes"], 3000000)

    def test_out_of_memory_is_in_the_dump(self):
        result = self.simulate("m a 1000000000; m b 90000000\n", "--device", str(1 << 30))
        self.assertEqual(result.returncode, 0, result.stderr)
        snapshot = pickle.loads(self.dump.read_bytes())
        oom = snapshot["device_traces"][0][-1]
        self.assertEqual(oom["action"], "oom")
        self.assertEqual(oom["device_free"], (1 << 30) - 1_000_341_504)  # the first got 477 x 2 MiB
        self.assertEqual(oom["size"], 90_000_384)  # 175,782 x 512

    def test_a_wrong_step_leaves_no_dump(self):
        self.assertEqual(self.simulate("m a 1000\nf b\n").returncode, 2)
        self.assertFalse(self.dump.exists())

    def test_a_dump_that_cannot_be_written(self):
        result = run("simulate", "-", "--dump", "/nonexistent/d.pickle", stdin=b"m a 1\n")
        self.assertEqual((result.returncode, result.stdout), (2, b""))
        self.assertIn(b"/nonexistent/d.pickle", result.stderr)
