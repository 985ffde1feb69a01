#!/usr/bin/env python3
"""PyTorch's own allocator observed, beside its own history, over the made-up CUDA runtime: event for event, frame for frame; and
all that run_test.py asks of `gpustrata run`, with --observe.

  observe_test.py GPUSTRATA      GPUSTRATA: the command line tool

Environment: as run.sh makes it, with MADE_UP_KERNELS=nothing. GPUSTRATA_TORCH_SCRIPTS: random scripts of each kind (60);
GPUSTRATA_TORCH_SEED: the first one's (0). GPUSTRATA_TORCH_KILLS: processes that are killed (30).
GPUSTRATA_OBSERVERS: a folder with observers that were compiled before (build gpustrata_observers).
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
KILLS = int(os.environ.get("GPUSTRATA_TORCH_KILLS", "30"))
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


class Trainers(Observed, run_test.Trainers):
    """The callbacks with observe=True, under `gpustrata run --observe`, too."""

    def setUp(self):
        super().setUp()
        os.environ["RUN_PROGRAMS_OBSERVE"] = "1"
        self.addCleanup(os.environ.pop, "RUN_PROGRAMS_OBSERVE")


class Faults(Observed, run_test.Faults):
    def test_no_compiler(self):
        with tempfile.TemporaryDirectory() as empty:
            done = self.run_("train", TORCH_EXTENSIONS_DIR=empty, CXX="no-such-compiler", GPUSTRATA_OBSERVERS=empty)
        self.assertIn("gpustrata: not observed, so PyTorch's own history is used: ", done.stderr)
        self.assertIn("no-such-compiler", done.stderr)
        self.assertIn("events, from PyTorch's own history", done.stderr)
        self.assertEqual(self.left(), ["rank0-cuda0.pickle"])

    @unittest.skipUnless(os.environ.get("GPUSTRATA_OBSERVERS"), "GPUSTRATA_OBSERVERS names no observers that were compiled before")
    def test_no_compiler_and_one_compiled_before(self):
        """Nothing is compiled, and what is told is proved as always."""
        with tempfile.TemporaryDirectory() as empty:
            done = self.run_("train", TORCH_EXTENSIONS_DIR=empty, CXX="no-such-compiler")
            self.assertEqual(os.listdir(empty), [])
        self.assertIn("events, observed in PyTorch's allocator", done.stderr)

    def test_one_compiled_before_that_does_not_fit(self):
        import torch

        with tempfile.TemporaryDirectory() as folder:
            for content in (b"", b"not a library"):
                (Path(folder) / f"{torch.version.git_version}.so").write_bytes(content)
                done = self.run_("train", GPUSTRATA_OBSERVERS=folder)
                self.assertIn("events, observed in PyTorch's allocator", done.stderr)

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


class Journals(run_test.Runs):
    """-o NAME.gpustrata: the same events, in a file that is written as they happen."""

    HOW = "observed in PyTorch's allocator, as they happened"

    def opened(self, name):
        """What PyTorch's own tools find in the converted file."""
        out = self.folder / "converted.pickle"
        out.unlink(missing_ok=True)
        self.do(run_test.TOOL, "convert", self.folder / name, "-o", out)
        return out

    def state(self, path):
        """Segments with their blocks; addresses count from the first one."""
        segments = pickle.loads(path.read_bytes())["segments"]
        first = min(one["address"] for one in segments)
        return sorted((one["address"] - first, one["total_size"], one["segment_type"], one["stream"], one["segment_pool_id"],
                       [(block["size"], block["state"], block["requested_size"] if block["state"] != "inactive" else 0,
                         [frame["name"] for frame in block["frames"]] if block["state"] != "inactive" else [])
                        for block in one["blocks"]]) for one in segments)

    def test_events_and_state_are_those_that_are_kept_in_memory(self):
        for conf in ("", "expandable_segments:True"):
            with self.subTest(conf=conf):
                self.run_("memory_stays", options=["--observe", "-o", "memory.pickle"], PYTORCH_CUDA_ALLOC_CONF=conf)
                done = self.run_("memory_stays", options=["-o", "{rank}-{device}.gpustrata"], PYTORCH_CUDA_ALLOC_CONF=conf)
                path = self.folder / "0-cuda0.gpustrata"
                kept, converted = self.folder / "memory.pickle", self.opened(path.name)
                self.assertEqual(run_test.events(converted), run_test.events(kept))
                self.assertGreater(len(run_test.events(kept)), 300)
                self.assertEqual(self.state(converted), self.state(kept))
                self.assertEqual([one["name"] for one in pickle.loads(converted.read_bytes())["external_annotations"]],
                                 [one["name"] for one in pickle.loads(kept.read_bytes())["external_annotations"]])
                self.assertEqual(self.lines(done), [f"gpustrata: {path}: {len(run_test.events(kept))} events, {self.HOW}"])
                for one in self.folder.iterdir():
                    one.unlink()

    def test_killed(self):
        """Every request that had returned is in the file, at most one more, and none that was not made."""
        done = self.run_("killed", str(KILLS), str(SEED), options=["-o", "{pid}.gpustrata"])
        self.assertEqual(len(done.stdout.splitlines()), KILLS)
        requests = 0
        for line in done.stdout.splitlines():
            child, returned = map(int, line.split())
            with self.subTest(line):
                trace = [one for one in run_test.events(self.opened(f"{child}.gpustrata")) if not one["action"].startswith("segment")]
                number = sum(one["action"] == "alloc" for one in trace)
                self.assertIn(number, (returned, returned + 1))
                whole = [(action, 512 * (1 + i % 1000)) for i in range(number) for action in ("alloc", "free_requested", "free_completed")]
                self.assertEqual([(one["action"], one["size"]) for one in trace], whole[:len(trace)])
                self.assertGreaterEqual(len(trace), 3 * (returned - 1) + 1)
                requests += number
        print(f"{KILLS} killed, {requests} requests", file=sys.stderr)

    def test_memory_that_runs_out(self):
        done = self.run_("grow", code=1, options=["--on-oom", "-o", "{rank}.gpustrata"])
        self.assertEqual(self.left(), ["0.gpustrata"])
        self.assertIn("oom", [one["action"] for one in run_test.events(self.opened("0.gpustrata"))])
        self.assertRegex(done.stderr, r"gpustrata: out of memory on cuda:0\n(  .*\n)*  .*What helps most: (.*\n)*?.*run_programs\.py:\d+")
        self.assertIn(f"gpustrata report {self.folder / '0.gpustrata'}\n", done.stderr)

    def test_only_then(self):
        done = self.run_("train", options=["--on-oom", "-o", "{rank}.gpustrata"])
        self.assertEqual((self.left(), self.lines(done)), ([], []))
        done = self.run_("caught_and_then", "12", code=1, options=["--on-oom", "-o", "a-{device}.gpustrata"])
        self.assertEqual(self.left(), ["a-cuda0.gpustrata"])
        # The first, and the last, which ends the program, by the name that the file has by then.
        self.assertEqual(done.stderr.count("out of memory on cuda:0"), 2)
        self.assertIn(f"gpustrata report {self.folder / 'a-cuda0.gpustrata'}\n", done.stderr)

    def test_a_copy_of_a_process_that_goes_on(self):
        with subprocess.Popen([sys.executable, "-W", "ignore", "-m", "gpustrata", "run", "-o", "{rank}.gpustrata", run_test.PROGRAMS, "waits",
                               "python"], cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as waiting:
            self.addCleanup(waiting.kill)
            self.assertEqual(waiting.stdout.readline(), "ready\n")
            done = self.do(sys.executable, "-m", "gpustrata", "dump", waiting.pid)
            self.assertEqual(done.stdout, f"{self.folder}/0-dump.gpustrata\n")
            wrong = self.do(sys.executable, "-m", "gpustrata", "dump", waiting.pid, "-o", "a.pickle", code=2)
            self.assertIn("its recording is a journal", wrong.stderr)
            waiting.kill()
        self.assertEqual(run_test.events(self.opened("0-dump.gpustrata")), run_test.events(self.opened("0.gpustrata")))

    def test_a_part_and_steps(self):
        """A recording that begins with what is there: the model of the first step is gone, its cache is not."""
        self.plain("with_record", "part.gpustrata")
        self.plain("with_record", "part.pickle")
        # PyTorch's history has the state at its end; of what is free, blocks differ in what they were once asked for.
        ours, theirs = self.opened("part.gpustrata"), self.folder / "part.pickle"
        self.assertEqual(run_test.events(ours), run_test.events(theirs))
        self.assertEqual(self.state(ours), self.state(theirs))
        self.run_("train_growing", "6", options=["--steps", "2:4", "-o", "steps.gpustrata"])
        self.assertEqual({event["size"] // 1_200_000 for event in run_test.events(self.opened("steps.gpustrata"))
                          if event["action"] == "alloc" and event["size"] > 10_000_000}, {18, 19})

    def test_ranks(self):
        self.do(sys.executable, "-m", "gpustrata", "run", "-o", "{rank}-{device}.gpustrata", "--", sys.executable, "-m",
                "torch.distributed.run", "--nproc-per-node", "2", "--master-port", run_test.free_port(), run_test.PROGRAMS, "of_rank",
                FAKE_CUDA_DEVICES="2")
        self.assertEqual(self.left(), ["0-cuda0.gpustrata", "1-cuda1.gpustrata"])

    def test_two_recordings(self):
        """A journal has its events for itself: the other one uses PyTorch's history."""
        done = self.plain("with_record_twice", "a.gpustrata", "b.gpustrata")
        self.assertEqual(done.stdout, f"{self.folder / 'a.gpustrata'} {self.folder / 'b.pickle'}\n")
        self.assertIn("written when the program ends: another recording observes it", done.stderr)
        # Of the three steps inside the first, two are inside the second.
        self.assertEqual(run_test.events(self.folder / "b.pickle")[-1]["action"], "free_completed")
        self.assertGreater(len(run_test.events(self.opened("a.gpustrata"))), len(run_test.events(self.folder / "b.pickle")))

    def test_no_compiler(self):
        with tempfile.TemporaryDirectory() as empty:
            done = self.run_("train", options=["-o", "a.gpustrata"], TORCH_EXTENSIONS_DIR=empty, CXX="no-such-compiler")
        self.assertIn("PyTorch's own history is used, whose file is written when the program ends: ", done.stderr)
        self.assertEqual(self.left(), ["a.pickle"])


if __name__ == "__main__":
    run_test.TOOL = str(Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=2)
