#!/usr/bin/env python3
"""PyTorch's own allocator, run for real over the made-up CUDA runtime, beside gpustrata's.

  allocator_test.py GPUSTRATA      GPUSTRATA: the command line tool

Environment: as run.sh makes it (the runtime preloaded, FAKE_CUDA_ADDRESSES, PYTHONPATH with gpustrata, GPUSTRATA_CAPTURE).
GPUSTRATA_TORCH_SCRIPTS: random scripts of each kind (60); GPUSTRATA_TORCH_SEED: the first one's (0).
"""
import itertools
import json
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import compare
import random_scripts

HERE = Path(__file__).resolve().parent
SCRIPTS = int(os.environ.get("GPUSTRATA_TORCH_SCRIPTS", "60"))
SEED = int(os.environ.get("GPUSTRATA_TORCH_SEED", "0"))
CAPACITY = 2 << 30
TOOL = None
# Where memory of the made-up runtime lies (tests/capture/fake_cuda).
ADDRESSES = ("ascending", "descending", "shuffled", "reused")
OLD_SETTINGS = [one for one in random_scripts.SETTINGS if "max_non_split" not in one and ">" not in one]


def child(script, *arguments, memory=CAPACITY, **environment):
    done = subprocess.run([sys.executable, "-W", "ignore", HERE / script, *arguments], capture_output=True, text=True,
                          env=dict(os.environ, FAKE_CUDA_MEMORY=str(memory), **environment), timeout=3000)
    if done.returncode != 0:
        raise AssertionError(f"{script} {arguments}: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def number_of(version):
    """(2, 15) of "2.15.0+cu132"."""
    return tuple(int(part) for part in version.split(".")[:2])


def settings_of(version):
    """Of the scripts': what this version has, and means as the newest does."""
    if number_of(version) < (2, 6):
        return OLD_SETTINGS
    if number_of(version) < (2, 9):
        return [one.replace(",>:1", "") for one in random_scripts.SETTINGS]
    return random_scripts.SETTINGS


def free_order_of(version):
    """Of two free blocks of one size, which one this version takes."""
    number = number_of(version)
    return "address" if number < (2, 12) else "block_number" if number < (2, 13) else "segment_age"


def command(*arguments):
    return json.loads(subprocess.run([TOOL, *arguments], check=True, capture_output=True).stdout)


class Scripts(unittest.TestCase):
    """Random programs: every event at its place, the layout, all statistics, the numbers of out of memory."""

    @classmethod
    def setUpClass(cls):
        cls.version = json.loads(child("run_script.py", "probe"))
        print("\n", cls.version, file=sys.stderr)

    def write(self, folder, **more):
        settings = settings_of(self.version["torch"])
        for seed in range(SEED, SEED + SCRIPTS):
            text = random_scripts.script(seed, settings=settings, routing_defers=self.version["routing_defers"],
                                         order=free_order_of(self.version["torch"]), **more)
            (folder / f"{seed:05}.txt").write_text(text)

    def check(self, kinds, reference="simulation", addresses="ascending", **more):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            self.write(folder, **more)
            for whose in kinds:
                child("run_script.py", whose, folder, FAKE_CUDA_ADDRESSES=addresses)
            events, errors = 0, 0
            for path in sorted(folder.glob("*.txt")):
                theirs = compare.of_pytorch(path.with_suffix(".theirs.pickle"))
                others = [compare.of_pytorch(path.with_suffix(f".{whose}.pickle")) for whose in kinds[1:]]
                # That of when a device was first used: here after the settings of the script.
                ignored = ("max_split_size",) if others else ()
                if reference == "simulation":
                    others = [compare.of_simulation(TOOL, path, CAPACITY)]
                events += len(theirs["events"])
                errors += len(theirs["errors"])
                self.assertEqual([kind for _, kind, _ in theirs["types"] if kind != "OutOfMemoryError"], [], path)
                self.assertEqual(theirs["misuses"], 0, path)
                for other in others:
                    with self.subTest(script=path.name, first=path.read_text().split("\n", 1)[0]):
                        self.assertEqual(compare.differences(theirs, other, ignored=ignored), [])
            print(f"{SCRIPTS} scripts, {events} events, {errors} times out of memory", file=sys.stderr)
            self.assertGreater(events, 100 * SCRIPTS)
            self.assertGreater(errors, 0)

    def test_the_simulation_does_what_pytorch_does(self):
        self.check(["theirs"], pools=False)

    def test_the_simulation_does_what_pytorch_does_with_private_pools(self):
        self.check(["theirs"])

    def test_the_recorder_does_what_pytorch_does(self):
        for addresses in ADDRESSES:
            with self.subTest(addresses=addresses):
                self.check(["theirs", "ours"], reference="other", addresses=addresses, pools=False)

    def test_the_companion_does_what_pytorch_does_with_private_pools(self):
        for addresses in ADDRESSES:
            with self.subTest(addresses=addresses):
                self.check(["theirs", "companion"], reference="other", addresses=addresses)


class Recordings(unittest.TestCase):
    """What this version records, wherever its memory lies, is repeated request for request."""

    def test_are_repeated_exactly(self):
        version = json.loads(child("run_script.py", "probe"))["torch"]
        with tempfile.TemporaryDirectory() as name:
            for addresses in ADDRESSES:
                folder = Path(name, addresses)
                folder.mkdir()
                # Which pool a segment had that is gone, its address used again, no file before 2.12 tells.
                pools = ["nopools"] if number_of(version) < (2, 12) and addresses == "reused" else []
                child("orders.py", folder, str(SCRIPTS), str(SEED), *pools, memory=16 << 30,
                      FAKE_CUDA_ADDRESSES=addresses)
                requests, guessed = 0, 0
                for path in sorted(folder.glob("*.pickle")):
                    with self.subTest(addresses=addresses, file=path.name):
                        again = command("whatif", path, "--json")
                        requests += again["fidelity"]["requests"]
                        guessed += again["free_order"]["unknown"] > 0
                        self.assertEqual((again["free_order"]["name"], again["free_order"]["from"]),
                                         (free_order_of(version), "file"))
                        self.assertEqual(again["fidelity"]["same_place"], again["fidelity"]["requests"])
                        self.assertEqual(again["fidelity"]["first_deviation"], None)
                print(f"{addresses}: {SCRIPTS} recordings, {guessed} with memory of unknown age, {requests} requests",
                      file=sys.stderr)
                self.assertGreater(requests, 100 * SCRIPTS)


class Snapshots(unittest.TestCase):
    """What PyTorch records under every setting, opened by the engine."""

    def test_the_engine_s_numbers_are_pytorch_s_statistics(self):
        with tempfile.TemporaryDirectory() as name:
            for number, (conf, addresses) in enumerate(itertools.product(OLD_SETTINGS, ADDRESSES)):
                with self.subTest(conf=conf, addresses=addresses):
                    path = Path(name, f"{number}.pickle")
                    stats = json.loads(child("train.py", path, memory=4 << 30, PYTORCH_CUDA_ALLOC_CONF=conf,
                                             FAKE_CUDA_ADDRESSES=addresses, MADE_UP_KERNELS="nothing"))
                    device = command("summary", path, "--json")["snapshots"][0]["devices"][0]
                    for ours, theirs in (("reserved_bytes", "reserved_bytes.all.current"),
                                         ("allocated_bytes", "allocated_bytes.all.current"),
                                         ("active_bytes", "active_bytes.all.current"),
                                         ("final_requested_bytes", "requested_bytes.all.current")):
                        self.assertEqual(device[ours], stats[theirs], ours)
                    self.assertEqual(device["peak"]["requested_bytes"], stats["requested_bytes.all.peak"])
                    self.assertEqual(device["actions"]["alloc"], stats["allocation.all.allocated"])
                    again = command("whatif", path, "--conf", conf, "--json")
                    self.assertEqual(again["fidelity"]["same_place"], again["fidelity"]["requests"])
                    self.assertEqual(again["fidelity"]["reserved_error_bytes"], 0)
                    self.assertEqual(again["simulated"]["peak_reserved_bytes"], stats["reserved_bytes.all.peak"])
                    self.assertEqual(again["simulated"]["peak_allocated_bytes"], stats["allocated_bytes.all.peak"])
                    self.assertGreater(again["fidelity"]["requests"], 300)

    def test_the_engine_s_peaks_under_a_setting_are_those_of_pytorch_under_it(self):
        """What if says what would have been: and so it is. Where addresses decide, those of another run do not."""
        version = json.loads(child("run_script.py", "probe"))["torch"]
        orders = ADDRESSES[:1] if free_order_of(version) == "address" else ADDRESSES
        with tempfile.TemporaryDirectory() as name:
            for conf, addresses in itertools.product(OLD_SETTINGS[1:], orders):
                if "garbage" in conf:  # train.py sets no limit: nothing is collected
                    continue
                first = Path(name, f"{addresses}.pickle")
                made_up = {"FAKE_CUDA_ADDRESSES": addresses, "MADE_UP_KERNELS": "nothing"}
                if not first.exists():
                    child("train.py", first, memory=4 << 30, **made_up)
                with self.subTest(conf=conf, addresses=addresses):
                    stats = json.loads(child("train.py", Path(name, "then.pickle"), memory=4 << 30,
                                             PYTORCH_CUDA_ALLOC_CONF=conf, **made_up))
                    told = command("whatif", first, "--conf", conf, "--capacity", str(4 << 30), "--json")["simulated"]
                    self.assertEqual(told["peak_reserved_bytes"], stats["reserved_bytes.all.peak"])
                    self.assertEqual(told["peak_allocated_bytes"], stats["allocated_bytes.all.peak"])
                    self.assertEqual(told["end_reserved_bytes"], stats["reserved_bytes.all.current"])


class Companion(unittest.TestCase):
    def run_code(self, name, **environment):
        return child("companion.py", name, MADE_UP_KERNELS="nothing", **environment)

    def test_out_of_memory_is_pytorch_s_error(self):
        self.assertIn("OutOfMemoryError", self.run_code("out_of_memory"))

    def test_mem_pool(self):
        theirs, ours = self.run_code("mem_pool_of_pytorch"), self.run_code("mem_pool")
        self.assertEqual(ours, theirs)
        old = number_of(json.loads(child("run_script.py", "probe"))["torch"]) < (2, 6)
        self.assertEqual(theirs, f"given back: {0 if old else 20} MiB\n")

    def test_checkpoint_of_a_pool(self):
        self.assertIn("ok", self.run_code("checkpoint"))

    def test_cuda_graph(self):
        self.assertIn("ok", self.run_code("graph"))

    def test_captures_of_one_stream(self):
        theirs = self.run_code("captures_of_pytorch")
        self.assertGreater(theirs.count("free_completed"), 0)
        self.assertEqual(self.run_code("captures"), theirs)

    def test_what_is_cached(self):
        self.assertIn("ok", self.run_code("cache_info"))

    def test_profiler_s_view_of_memory(self):
        self.assertIn("ok", self.run_code("profiler"))

    def test_statistics_and_snapshot(self):
        self.assertIn("ok", self.run_code("statistics"))

    def test_hooks_alone_refuse_what_the_class_can(self):
        """What the table of the README says of the hooks."""
        told = json.loads(self.run_code("hooks_alone"))
        self.assertEqual(told["out_of_memory"], "RuntimeError")
        self.assertEqual(told["checkpoint"], "RuntimeError")
        self.assertEqual(told["graph"], "ok")


class GpuCases(unittest.TestCase):
    """The cases of tests/gpu that need no kernels: what is tried on a GPU first is at least known to run."""

    def test_what_programs_do(self):
        sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gpu"))
        import proof_cases
        from proof_table import OK, Table

        made_up = {"MADE_UP_KERNELS": "nothing", "FAKE_CUDA_DEVICES": "2"}
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, made_up):
            table = Table(sys.stderr)
            table.folder = folder
            proof_cases.cases(table, ("out_of_memory", "record_stream", "fork", "second_device", "exit_with_tensors",
                                      "mem_pool", "viewer"))
        self.assertEqual([row.what for row in table.rows if row.verdict != OK], [])
        self.assertEqual(len(table.rows), 14)


if __name__ == "__main__":
    TOOL = str(Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=2)
