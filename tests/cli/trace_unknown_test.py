"""What a profiler's trace does not say is unknown, in every answer: segments, what is cached, what the device had free."""
import json
import unittest

from support.folders import InAFolder
from support.paths import PROFILERS
from support.snapshots import GIB
from support.tool import run

GAN = PROFILERS / "gan.json"


def memory(ts, size, address, total, reserved):
    args = {"Bytes": size, "Addr": address, "Device Id": 0, "Device Type": 1, "Total Allocated": total}
    if reserved:
        args["Total Reserved"] = reserved
    return {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts, "args": args}


def trace(reserved):
    """10 GiB, then 5 GiB more; 9 GiB more are refused; 5 GiB are freed. So 15 GiB at most, 10 GiB at the end."""
    refused = {"Bytes": 9 * GIB, "Device Id": 0, "Device Type": 1, "Total Allocated": 15 * GIB}
    if reserved:
        refused["Total Reserved"] = reserved
    return {"schemaVersion": 1, "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "train", "pid": 1, "tid": 1, "ts": 0, "dur": 1000},
        memory(110, 10 * GIB, 4096, 10 * GIB, reserved),
        memory(200, 5 * GIB, 1 << 40, 15 * GIB, reserved),
        {"ph": "i", "name": "[OutOfMemory]", "pid": 1, "tid": 1, "ts": 300, "args": refused},
        memory(400, -5 * GIB, 1 << 40, 10 * GIB, reserved)]}  # fmt: skip


class OutOfMemory(InAFolder):
    def file(self, reserved=20 * GIB):
        path = self.folder / "rank0.json"
        path.write_text(json.dumps(trace(reserved)))
        return path

    def answer(self, command, *options, reserved=20 * GIB):
        done = run(command, self.file(reserved), *options, *([] if command == "facts" else ["--json"]))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def text(self, command, *options, reserved=20 * GIB):
        done = run(command, self.file(reserved), *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return " ".join(done.stdout.decode().split())

    def test_report(self):
        for reserved in (20 * GIB, None):
            with self.subTest(reserved=reserved):
                (device,) = self.answer("report", reserved=reserved)["devices"]
                (oom,) = device["oom"]
                self.assertEqual((oom["verdict"], oom["requested_bytes"]), ("unknown", 9 * GIB))
                self.assertEqual((oom["allocated_bytes"], oom["reserved_bytes"]), (15 * GIB, reserved))
                for key in ("needed", "device_free", "pending", "cached", "largest_free", "largest_own"):
                    self.assertIsNone(oom[f"{key}_bytes"], key)
                self.assertEqual([r["name"] for r in oom["remedies"]], ["largest_holder"])
                self.assertEqual(oom["remedies"][0]["bytes"], 15 * GIB)
                self.assertIsNone(device["fragmentation"])
                if reserved is None:
                    self.assertIsNone(device["reserved_peak"])
                else:
                    self.assertEqual(device["reserved_peak"], {
                        "event": 1, "reserved_bytes": reserved, "requested_bytes": 15 * GIB, "rounding_bytes": None,
                        "pending_bytes": None, "cached_bytes": None})  # fmt: skip

    def test_report_in_words(self):
        text = self.text("report")
        self.assertIn("15.0 GiB at most in 2 blocks, 20.0 GiB reserved", text)
        self.assertIn("train requested one 9.0 GiB block. 15.0 GiB was allocated then, 20.0 GiB reserved.", text)
        self.assertNotIn("everything freed", text)
        without = self.text("report", reserved=None)
        self.assertIn("15.0 GiB at most in 2 blocks ", without)
        self.assertIn("15.0 GiB was allocated then.", without)
        for said in (text, without):
            self.assertNotIn(" 0 B", said)

    def test_facts(self):
        for reserved in (20 * GIB, None):
            with self.subTest(reserved=reserved):
                facts = self.answer("facts", reserved=reserved)
                self.assertEqual((facts["ooms"], facts["oom_requested"]), (1, 9 * GIB))
                self.assertEqual((facts["peak_requested"], facts["end_requested"]), (15 * GIB, 10 * GIB))
                self.assertEqual((facts["peak_reserved"], facts["end_reserved"]), (reserved, reserved))
                for key in ("oom_device_free", "end_allocated", "cached", "held_back", "fragmentation"):
                    self.assertIsNone(facts[key], key)
                self.assertEqual("reserved" in facts["curve"], reserved is not None)

    def test_summary(self):
        for reserved in (20 * GIB, None):
            with self.subTest(reserved=reserved):
                (snapshot,) = self.answer("summary", reserved=reserved)["snapshots"]
                (device,) = snapshot["devices"]
                self.assertEqual(device["oom"], {"count": 1, "event": 2, "requested_bytes": 9 * GIB, "device_free_bytes": None})
                self.assertEqual((device["final_requested_bytes"], device["reserved_bytes"]), (10 * GIB, reserved))
                for key in ("segments", "blocks", "allocated_bytes", "active_bytes"):
                    self.assertIsNone(device[key], key)
        text = self.text("summary")
        self.assertIn("at end 10.0 GiB", text)
        self.assertIn("reserved at end 20.0 GiB", text)
        without = self.text("summary", reserved=None)
        self.assertNotIn("reserved", without)
        for said in (text, without):
            for word in ("free on device", "allocated at end", "segment"):
                self.assertNotIn(word, said)

    def test_fleet(self):
        made = run("facts", self.file(), "-o", self.folder / "rank0.facts.json")
        self.assertEqual(made.returncode, 0, made.stderr)
        fleet = run("fleet", self.folder / "rank0.facts.json")
        self.assertEqual(fleet.returncode, 0, fleet.stderr)
        text = fleet.stdout.decode()
        self.assertIn("It asked for 9.0 GiB at train. Its peak is 15.0 GiB.", text)
        self.assertIn("15.0 GiB   20.0 GiB", text)

    def test_check(self):
        path, xml = self.file(), self.folder / "out.xml"
        done = run("check", path, "--max-fragmentation", "0.1", "--junit", xml)
        self.assertEqual(done.returncode, 4)
        words = " ".join(done.stdout.decode().split())
        self.assertTrue(words.startswith("unknown max_fragmentation device 0: this cannot be checked"), words)
        self.assertIn('failures="0" errors="1"', xml.read_text())
        answer = json.loads(run("check", path, "--max-fragmentation", "0.1", "--json").stdout)
        self.assertIsNone(answer["kept"])
        self.assertEqual((answer["rules"][0]["kept"], answer["rules"][0]["value"]), (None, None))
        # A broken rule is more than one that cannot be checked.
        reserved = json.loads(run("check", path, "--max-reserved", "20GiB", "--json").stdout)
        self.assertEqual(reserved["rules"][0]["undecided"], "ends_out_of_memory")
        self.assertEqual(run("check", path, "--max-reserved", "19GiB").returncode, 3)
        self.assertEqual(run("check", path, "--no-oom", "--max-fragmentation", "0.1").returncode, 3)
        self.assertEqual(run("check", self.file(None), "--max-reserved", "19GiB").returncode, 4)

    def test_written_snapshots_and_tables(self):
        snapshot = self.folder / "out.json"
        self.assertEqual(run("convert", self.file(), "-o", snapshot).returncode, 0)
        (oom,) = [e for trace in json.loads(snapshot.read_text())["device_traces"] for e in trace if e["action"] == "oom"]
        self.assertNotIn("device_free", oom)
        device = json.loads(run("summary", snapshot, "--json").stdout)["snapshots"][0]["devices"][0]
        self.assertIsNone(device["oom"]["device_free_bytes"])


class OlderBlocks(unittest.TestCase):
    def test_a_free_does_not_tell_who_allocated(self):
        # 6 MiB from before are freed inside of Optimizer.zero_grad: it freed them, it did not ask for them.
        top = json.loads(run("top", GAN, "--json", "--by", "function").stdout)
        self.assertNotIn("zero_grad", json.dumps(top))
