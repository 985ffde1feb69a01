#!/usr/bin/env python3
"""PyTorch's own allocator observed, beside its own history, over the made-up CUDA runtime: event for event, frame for frame; and
all that run_test.py asks of `gpustrata run`, with --observe.

  observe_test.py GPUSTRATA      GPUSTRATA: the command line tool

Environment: as run.sh makes it, with MADE_UP_KERNELS=nothing. GPUSTRATA_TORCH_SCRIPTS: random scripts of each kind (60);
GPUSTRATA_TORCH_SEED: the first one's (0).
"""
import json
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import random_scripts
import run_test

HERE = Path(__file__).resolve().parent
SCRIPTS = int(os.environ.get("GPUSTRATA_TORCH_SCRIPTS", "60"))
SEED = int(os.environ.get("GPUSTRATA_TORCH_SEED", "0"))
OLD_SETTINGS = [one for one in random_scripts.SETTINGS if "max_non_split" not in one and ">" not in one]


def version():
    import torch

    return tuple(int(part) for part in torch.__version__.split(".")[:2])


def setUpModule():
    """What observes is compiled here, so that no test below hears of it."""
    subprocess.run([sys.executable, "-W", "ignore", HERE / "observe_programs.py", "mem_pool"], check=True, capture_output=True)


class BothAtOnce(unittest.TestCase):
    """One program, both recorders, one process: every entry with every key."""

    def ask(self, *words, memory=2 << 30, **environment):
        done = subprocess.run([sys.executable, "-W", "ignore", HERE / "observe_programs.py", *words], capture_output=True, text=True,
                              env=dict(os.environ, FAKE_CUDA_MEMORY=str(memory), **environment), timeout=3000)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-4000:])
        return done.stdout

    def check(self, *words, actions=(), events=1, **more):
        told = json.loads(self.ask(*words, **more))
        for one in told if isinstance(told, list) else [told]:
            self.assertEqual(one["differences"], [])
            self.assertGreaterEqual(one["events"], events)
            self.assertLessEqual(set(actions), set(one["actions"]))
        return told

    def test_training(self):
        # Six steps, and Adam's own region in each: two marks for each of 12, at least.
        told = self.check("train", events=500)
        self.assertGreaterEqual(told["regions"], 24)

    def test_expandable_segments(self):
        conf = "expandable_segments:True"
        self.check("train", events=500, actions=["segment_map"], PYTORCH_CUDA_ALLOC_CONF=conf)
        self.check("mem_pool", actions=["segment_map"], PYTORCH_CUDA_ALLOC_CONF=conf)

    def test_threads(self):
        self.check("threads", events=8 * 300 * 2)

    def test_code_that_is_gone_and_whose_place_is_used_again(self):
        # 400 functions of their own file and line.
        self.assertGreaterEqual(self.check("generated", events=800)["stacks"], 400)

    def test_frames_of_all_kinds(self):
        self.check("generators_and_classes")

    def test_memory_that_runs_out(self):
        self.check("memory_runs_out", actions=["oom"])

    def test_several_devices(self):
        self.check("devices", events=10, FAKE_CUDA_DEVICES="2")

    def test_graphs_and_pools(self):
        self.check("graph", actions=["segment_alloc"])
        self.check("mem_pool")
        self.check("checkpoint")

    def test_texts_of_the_program(self):
        if version() < (2, 14):
            self.skipTest("this PyTorch has no metadata")
        self.check("metadata", actions=["annotate"])

    def test_twice_in_one_process(self):
        self.check("in_turn")

    def test_random_scripts(self):
        defers = json.loads(subprocess.run([sys.executable, "-W", "ignore", HERE / "run_script.py", "probe"], check=True,
                                           capture_output=True).stdout)["routing_defers"]
        settings = OLD_SETTINGS if version() < (2, 6) else random_scripts.SETTINGS
        order = "address" if version() < (2, 12) else "block_number" if version() < (2, 13) else "segment_age"
        with tempfile.TemporaryDirectory() as name:
            for seed in range(SEED, SEED + SCRIPTS):
                Path(name, f"{seed:05}.txt").write_text(random_scripts.script(
                    seed, settings=settings, routing_defers=defers, order=order))
            for addresses in ("ascending", "shuffled"):
                lines = self.ask("scripts", name, FAKE_CUDA_ADDRESSES=addresses).splitlines()
                self.assertEqual(len(lines), SCRIPTS)
                events, actions = 0, set()
                for line in lines:
                    script, _, told = line.partition(" ")
                    told = json.loads(told)
                    with self.subTest(script=script, addresses=addresses):
                        self.assertEqual(told["differences"], [])
                    events += told["events"]
                    actions |= set(told["actions"])
                print(f"{SCRIPTS} scripts, {addresses}: {events} events", file=sys.stderr)
                self.assertGreater(events, 100 * SCRIPTS)
                self.assertLessEqual({"alloc", "free_requested", "free_completed", "segment_alloc", "segment_free",
                                      "segment_map", "segment_unmap", "oom"}, actions)


# --- What run_test.py asks


class Observed:
    OPTIONS = ("--observe",)
    HOW = "observed in PyTorch's allocator"


class WhatIsRecorded(Observed, run_test.WhatIsRecorded):
    def test_stacks_of_c(self):
        self.run_("train", "1", options=["--stacks", "native", "-o", "native.pickle"])
        frames = [event["frames"] for event in run_test.events(self.folder / "native.pickle")]
        self.assertFalse(any(frame["filename"].endswith(".py") for stack in frames for frame in stack))
        # Nothing of what observes stands before the allocator that it hears of.
        self.assertTrue(all("gpustrata" not in frame["name"] for stack in frames for frame in stack))
        self.assertTrue(all(any("CUDACachingAllocator" in frame["name"] for frame in stack) for stack in frames))


class OutOfMemory(Observed, run_test.OutOfMemory):
    pass


class Processes(Observed, run_test.Processes):
    pass


class Dump(Observed, run_test.Dump):
    pass


class ProgramsThatRecord(Observed, run_test.Runs):
    """Both recorders run beside each other: the program's own is as without us, and ours as without it."""

    def test_a_history_of_their_own(self):
        self.plain("own_history_ends", "own.pickle")
        theirs = run_test.events(self.folder / "own.pickle")
        (self.folder / "own.pickle").unlink()
        done = self.run_("own_history_ends", "own.pickle")
        self.assertEqual(run_test.events(self.folder / "own.pickle"), theirs)
        self.assertEqual(self.left(), ["own.pickle", "rank0-cuda0.pickle"])
        ours = run_test.events(self.file("rank0-cuda0.pickle"))
        # Five steps of 108 events or more each; 50 of them are theirs, as they are.
        self.assertGreater(len(ours), 5 * 100)
        self.assertEqual(len(self.lines(done)), 1)

    def test_snapshots_of_their_own(self):
        self.run_("own_snapshot", "own.pickle")
        data = pickle.loads((self.folder / "own.pickle").read_bytes())
        # They did not ask for a history, and there is none.
        self.assertEqual([len(trace) for trace in data["device_traces"]], [0])
        self.assertGreater(len(run_test.events(self.file("rank0-cuda0.pickle"))), 100)

    def test_gpustrata_s_own_allocator(self):
        done = self.run_("replaced")
        self.assertEqual((done.stdout, self.left()), ("True\n", []))
        self.assertIn("not recorded: the program uses gpustrata's allocator", done.stderr)


class Faults(Observed, run_test.Faults):
    def test_no_compiler(self):
        with tempfile.TemporaryDirectory() as empty:
            done = self.run_("train", TORCH_EXTENSIONS_DIR=empty, CXX="no-such-compiler")
        self.assertIn("gpustrata: not observed, so PyTorch's own history is used: ", done.stderr)
        self.assertIn("no-such-compiler", done.stderr)
        self.assertIn("events, from PyTorch's own history", done.stderr)
        self.assertEqual(self.left(), ["rank0-cuda0.pickle"])

    def test_an_allocator_that_is_not_the_native_one(self):
        backend = {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync", "PYTORCH_ALLOC_CONF": "backend:cudaMallocAsync"}
        done = self.run_("async_backend", code=1, **backend)  # the made-up runtime has none: the program fails
        self.assertIn("not observed, so PyTorch's own history is used: PyTorch's allocator is not its native one", done.stderr)


class Memory(Observed, run_test.Runs):
    def test_the_newest_are_kept(self):
        """With who asked for what lives, be it older."""
        self.run_("train", options=["-o", "all.pickle"])
        self.run_("train", options=["--max-events", "100", "-o", "cut.pickle"])
        whole, cut = (pickle.loads((self.folder / name).read_bytes()) for name in ("all.pickle", "cut.pickle"))
        self.assertEqual(run_test.events(self.folder / "cut.pickle"), run_test.events(self.folder / "all.pickle")[-100:])
        stacks = [[block["frames"] for segment in one["segments"] for block in segment["blocks"]] for one in (whole, cut)]
        self.assertEqual(*stacks)


if __name__ == "__main__":
    run_test.TOOL = str(Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=2)
