"""gpustrata.estimate where there is no PyTorch: sizes, requests and their snapshot, the command's words, what is refused.

What is foretold of real programs: tests/torch/estimate_test.py.
"""
import json
import os
import pickle
import subprocess
import sys
import tempfile
import textwrap
import types
import unittest
import weakref
from pathlib import Path

import gpustrata
from gpustrata import _sizes as sizes
from gpustrata._estimate import simulated, told
from gpustrata._estimate.patches import Patches
from gpustrata._estimate.requests import Requests
from gpustrata._estimate.storages import Storages

MIB = 1 << 20


def program(requests):
    """A line of its own for each request: those of the tests are this file's."""
    requests.add("m a 10485760 0")
    requests.add("m b 1000 0")
    requests.add("f a")
    requests.add("m c 30408704 0")


class Sizes(unittest.TestCase):
    def test_as_people_write_them(self):
        for text, size in (("80GiB", 80 << 30), ("80 gib", 80 << 30), ("1.5GB", 1500000000), ("512", 512), (0, 0), (1 << 40, 1 << 40),
                           ("0B", 0), ("9223372036854775807", (1 << 63) - 1)):
            self.assertEqual(sizes.bytes_of(text, "device"), size)

    def test_others_are_refused_in_words(self):
        for wrong in ("80 gigs", "", "-1", "1e9", "GiB", "9223372036854775808", -1, 1 << 63, "9" * 40, "٣GiB"):
            with self.assertRaisesRegex(ValueError, "device is"):
                sizes.bytes_of(wrong, "device")
        for wrong in (1.5, None, True, b"1"):
            with self.assertRaisesRegex(TypeError, "device is a size"):
                sizes.bytes_of(wrong, "device")


class Runs(unittest.TestCase):
    def requests(self):
        found = Requests()
        program(found)
        return found

    def test_peaks_are_the_allocator_s(self):
        # Segments: a's has 10 MiB (from there on sizes are rounded up to 2 MiB), b's 2, as all small ones; c does not fit into a's: 30.
        run = simulated.run(self.requests(), "address", 1 << 40, "")
        self.assertEqual(run.failed, -1)
        self.assertEqual(run.peak("requested"), 1000 + 29 * MIB)
        self.assertEqual(run.peak("reserved"), (10 + 2 + 30) * MIB)

    def test_the_first_that_finds_no_memory(self):
        run = simulated.run(self.requests(), "address", 31 * MIB, "")
        self.assertEqual(run.failed, 3)
        self.assertIn("Tried to allocate 30.00 MiB", run.failure)  # 29, rounded up

    def test_the_snapshot_has_the_stacks_and_says_what_it_is(self):
        requests = self.requests()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "e.pickle")
            simulated.write_snapshot(requests, 4, "segment_age", 1 << 40, "expandable_segments:True", {"torch": "2.8.0"}, path)
            with open(path, "rb") as file:
                snapshot = pickle.load(file)
            self.assertEqual(os.listdir(folder), ["e.pickle"])
            with gpustrata.open(path) as opened:
                summary, report = opened.summary(), opened.report()
        self.assertEqual(next(iter(snapshot["allocator_settings"].items())), ("gpustrata_estimate", {"torch": "2.8.0"}))
        self.assertEqual([(one["name"], one["stage"]) for one in snapshot["external_annotations"]],
                         [("estimate without a GPU, PyTorch 2.8.0", "START"), ("estimate without a GPU, PyTorch 2.8.0", "END")])
        self.assertIn("This is an estimate, made without a GPU", json.dumps(report))
        first = program.__code__.co_firstlineno
        lines = [(event["action"], event["frames"][0]["line"] - first, event["frames"][0]["name"]) for event in snapshot["device_traces"][0]
                 if event["action"] in ("alloc", "free_requested")]
        self.assertEqual(lines, [("alloc", 2, "program"), ("alloc", 3, "program"), ("free_requested", 4, "program"), ("alloc", 5, "program")])
        self.assertEqual(summary["snapshots"][0]["devices"][0]["peak"]["requested_bytes"], 1000 + 29 * MIB)

    def test_a_file_that_cannot_be_written(self):
        with self.assertRaises(OSError):
            simulated.write_snapshot(self.requests(), 4, "address", 1 << 40, "", {"torch": "2.8.0"}, "/nowhere/e.pickle")


class Blocks(unittest.TestCase):
    """Storages as PyTorch has them, in as far as they are asked."""

    class Storage:
        def __init__(self, address, size):
            self._cdata, self.size = address, size

        def nbytes(self):
            return self.size

    def setUp(self):
        self.requests, self.stream = Requests(), 0
        self.storages = Storages(self.requests, lambda: self.stream)
        self.storages.closed = False

    def tensor(self, storage):
        return types.SimpleNamespace(untyped_storage=lambda: storage)

    def test_from_the_first_tensor_to_the_last(self):
        storage = self.Storage(5, 100)
        self.storages.see(self.tensor(storage))
        self.storages.see(self.tensor(storage))  # a view
        other = self.Storage(6, 0)               # nothing is asked of the allocator
        self.storages.see(self.tensor(other))
        del storage, other
        again = self.Storage(5, 200)             # at the same address
        self.storages.see(self.tensor(again))
        self.assertEqual(self.requests.lines, ["m 1 100 0", "f 1", "m 3 200 0"])

    def test_resized_new_memory_comes_before_the_old_goes(self):
        storage = self.Storage(5, 100)
        self.storages.see(self.tensor(storage))
        storage.size = 300
        self.storages.see(self.tensor(storage))
        storage.size = 0
        self.storages.resized(storage)
        self.assertEqual(self.requests.lines, ["m 1 100 0", "m 2 300 0", "f 1", "f 2"])

    def test_other_streams(self):
        storage, self.stream = self.Storage(5, 100), 3
        self.storages.see(self.tensor(storage))
        for stream in (3, 0, 0):
            self.storages.use_on(self.tensor(storage), stream)
        del storage
        self.assertEqual(self.requests.lines, ["m 1 100 3", "rs 1 0", "f 1", "done 0"])

    def test_what_is_dropped_after_the_end_is_no_part_of_it(self):
        storage = self.Storage(5, 100)
        self.storages.see(self.tensor(storage))
        self.storages.closed = True
        gone = weakref.ref(storage)
        del storage
        self.assertIsNone(gone())
        self.assertEqual(self.requests.lines, ["m 1 100 0"])


class Words(unittest.TestCase):
    TOLD = {"fits": True, "device_bytes": 80 << 30, "margin_bytes": 1 << 30, "conf": "", "requested_peak_bytes": 3 << 30,
            "allocated_peak_bytes": 3 << 30, "reserved_peak_bytes": 4 << 30, "fails_at": None, "torch": "2.8.0",
            "values_taken_as_0": [{"operator": "item", "at": "train.py:9", "times": 3}], "memory_inside_unknown": []}

    def test_the_answer(self):
        text = told.summary(self.TOLD)
        self.assertIn("3.0 GiB requested at the peak, 4.0 GiB reserved", text)
        self.assertIn("What is known of it fits a device of 80.0 GiB less 1.0 GiB", text)
        self.assertIn("item at train.py:9 (3 times)", text)
        self.assertIn("\n  It fits a device", told.summary({**self.TOLD, "values_taken_as_0": []}))
        failing = told.summary({**self.TOLD, "fits": False, "fails_at": "train.py:7"})
        self.assertIn("does not fit", failing)
        self.assertIn("train.py:7 finds no memory", failing.replace("\n  ", " "))


class Attributes(unittest.TestCase):
    def test_are_as_before_also_those_that_were_inherited(self):
        class Base:
            x = 1

        class Derived(Base):
            y = 2

        patches = Patches()
        for name in ("x", "y", "z"):
            patches.set(Derived, name, 5)
        patches.set_if_there(Derived, "w", 5)
        patches.set(Derived, "y", 6)
        self.assertEqual((Derived.x, Derived.y, Derived.z, hasattr(Derived, "w")), (5, 6, 5, False))
        patches.undo()
        self.assertEqual((vars(Derived).get("x"), Derived.y, hasattr(Derived, "z")), (None, 2, False))


class Refused(unittest.TestCase):
    def test_arguments(self):
        for arguments, reason in (({"device": "much"}, "device is a size"), ({"device": "1GiB"}, "the margin takes all of the device"),
                                  ({"conf": "expandable"}, "expandable"), ({"conf": "no_such_setting:1"}, "no_such_setting"),
                                  ({"device": "80GiB", "margin": "x"}, "margin is a size")):
            with self.assertRaisesRegex(ValueError, reason):
                gpustrata.estimate(**arguments)
        with self.assertRaises(TypeError):
            gpustrata.estimate(conf=5)

    def test_an_answer_before_the_block(self):
        with self.assertRaisesRegex(RuntimeError, "not made yet"):
            gpustrata.estimate().summary()

    def run_(self, *words, files=()):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {"a.py": "print(1)\n", **dict(files)}.items():
                Path(folder, name).write_text(textwrap.dedent(text))
            return subprocess.run([sys.executable, "-m", "gpustrata", "estimate", *words], cwd=folder, text=True, capture_output=True, check=False)

    def test_no_pytorch_or_an_old_one(self):
        for files, reason in (({"torch.py": "raise ImportError('libcudart.so.99 is not here')"}, "cannot be imported: libcudart.so.99"),
                              ({"torch.py": "__version__ = '1.13.1'"}, "2.8 or newer, but this is 1.13.1")):
            program = "import gpustrata\nwith gpustrata.estimate():\n    pass\n"
            with tempfile.TemporaryDirectory() as folder:
                for name, text in {"b.py": program, **files}.items():
                    Path(folder, name).write_text(text)
                done = subprocess.run([sys.executable, "b.py"], cwd=folder, text=True, capture_output=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(reason, done.stderr.splitlines()[-1])

    def test_a_memory_behind_the_program_is_the_device(self):
        from gpustrata._estimate.command import _device_behind

        for words, device, program in ((["a.py", "--device", "80GiB", "-b", "4"], "80GiB", ["a.py", "-b", "4"]),
                                       (["-m", "a", "--batch", "4", "--device=1.5 GB"], "1.5 GB", ["-m", "a", "--batch", "4"]),
                                       (["a.py", "--device", "cuda:1"], None, None), (["a.py", "--device", "0"], None, None),
                                       (["a.py", "--device"], None, None), (["a.py", "80GiB"], None, None)):
            self.assertEqual(_device_behind(words), (device, program or words))

    def test_words_of_the_command(self):
        for words, reason in ((["--device", "80GiB"], "name a program"), (["a.py", "--device", "cuda"], "Options come before the program"),
                              (["--device", "80GiB", "b.py"], "there is no file b.py"), (["--device", "x", "a.py"], "device is a size"),
                              (["--devices", "80GiB", "a.py"], "unrecognized|there is no file"),
                              (["--device", "80GiB", "--conf", "x", "a.py"], "'x' has no value")):
            done = self.run_(*words)
            self.assertEqual((done.returncode, done.stdout), (1, ""), words)
            self.assertRegex(done.stderr, "^gpustrata estimate: ")
            self.assertRegex(done.stderr, reason)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
