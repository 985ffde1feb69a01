#!/usr/bin/env python3
"""`gpustrata run` and gpustrata.record with a real PyTorch over the made-up CUDA runtime; the programs are run_programs.py.

  run_test.py GPUSTRATA      GPUSTRATA: the command line tool

Environment: as run.sh makes it, with MADE_UP_KERNELS=nothing.
"""
import importlib.util
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent / "run_programs.py"
HOST = os.uname().nodename.partition(".")[0]
MEMORY = 1 << 30
TOOL = None
# What of an event two runs of the same program have in common, where addresses ascend.
SAME = ("action", "addr", "size", "stream", "device_free", "frames")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def events(path, device=0):
    """Addresses count from the first one: where memory begins is another place in each process."""
    trace = pickle.loads(Path(path).read_bytes())["device_traces"][device]
    first = min((event["addr"] for event in trace if event["action"] not in ("oom", "snapshot")), default=0)
    return [{name: event[name] - first if name == "addr" else event[name] for name in SAME if name in event}
            for event in trace if event["action"] != "snapshot"]


class Runs(unittest.TestCase):
    OPTIONS = ()  # of every run
    HOW = "from PyTorch's own history"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def do(self, *words, memory=MEMORY, code=0, **environment):
        done = subprocess.run([str(word) for word in words], cwd=self.folder, capture_output=True, text=True, timeout=600,
                              env={**os.environ, "FAKE_CUDA_MEMORY": str(memory), "GPUSTRATA_TOOL": TOOL, **environment})
        self.assertEqual(done.returncode, code, done.stdout[-2000:] + done.stderr[-4000:])
        return done

    def plain(self, *words, **more):
        return self.do(sys.executable, "-W", "ignore", PROGRAMS, *words, **more)

    def run_(self, *words, options=(), **more):
        return self.do(sys.executable, "-W", "ignore", "-m", "gpustrata", "run", *self.OPTIONS, *options, PROGRAMS, *words, **more)

    def until(self, done):
        end = time.monotonic() + 60
        while not done():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def left(self):
        """Names of what lies in the folder, without those that every one has in common."""
        return sorted(one.name.replace(f"gpustrata-{HOST}-", "") for one in self.folder.iterdir())

    def file(self, name):
        return self.folder / f"gpustrata-{HOST}-{name}"

    def lines(self, done):
        return [line for line in done.stderr.splitlines() if line.startswith("gpustrata: ")]


class WhatIsRecorded(Runs):
    def test_the_events_are_those_of_pytorch_s_history(self):
        """Every one, from before the first allocation, with the same frames."""
        self.plain("train_and_record", "own.pickle")
        done = self.run_("train")
        theirs, ours = events(self.folder / "own.pickle"), events(self.file("rank0-cuda0.pickle"))
        for event in theirs + ours:  # the function above steps() is another one
            event["frames"] = [frame for frame in event["frames"] if frame["name"] not in ("train", "train_and_record", "<module>")]
        self.assertEqual(ours, theirs)
        self.assertGreater(len(ours), 300)
        self.assertEqual(self.lines(done), [f"gpustrata: {self.file('rank0-cuda0.pickle')}: {len(ours)} events, {self.HOW}"])

    def test_regions_of_the_program_are_in_the_file(self):
        self.run_("train")
        data = pickle.loads(self.file("rank0-cuda0.pickle").read_bytes())
        self.assertEqual([one["name"] for one in data["external_annotations"] if one["stage"] == "START"
                          and one["name"].startswith("step")], [f"step {number}" for number in range(4)])

    def test_the_engine_reads_it(self):
        self.run_("train")
        told = json.loads(self.do(TOOL, "summary", self.file("rank0-cuda0.pickle"), "--json").stdout)
        self.assertEqual(told["snapshots"][0]["devices"][0]["events"], len(events(self.file("rank0-cuda0.pickle"))))

    def test_steps(self):
        """Step n asks for batches of 16 + n rows of 1,200,000 bytes: of steps 2 and 3 those are 18 and 19."""
        self.run_("train_growing", "6", options=["--steps", "2:4"])
        self.run_("train_growing", "6", options=["--steps", "4:", "-o", "end.pickle"])
        for name, rows in ((self.file("rank0-cuda0.pickle"), {18, 19}), (self.folder / "end.pickle", {20, 21})):
            self.assertEqual({event["size"] // 1_200_000 for event in events(name)
                              if event["action"] == "alloc" and event["size"] > 10_000_000}, rows)

    def test_stacks(self):
        for stacks, expected in (("none", set()), ("python", {".py"}), ("all", {".py", ""})):
            self.run_("train", "1", options=["--stacks", stacks, "-o", f"{stacks}.pickle"])
            suffixes = {".py" if frame["filename"].endswith(".py") else ""
                        for event in events(self.folder / f"{stacks}.pickle") for frame in event.get("frames", [])}
            self.assertEqual(suffixes, expected)

    def test_what_is_lost_is_said(self):
        done = self.run_("train", options=["--max-events", "100"])
        self.assertIn(len(events(self.file("rank0-cuda0.pickle"))), (99, 100))  # one may be the snapshot itself
        self.assertIn("events (the 100 that are kept: older ones may be lost)", done.stderr)

    def test_a_thread_that_begins_cuda(self):
        self.run_("thread")
        self.assertEqual(self.left(), ["rank0-cuda0.pickle"])


class OutOfMemory(Runs):
    def test_it_leaves_a_file_and_a_report(self):
        plain = self.plain("grow", code=1)
        done = self.run_("grow", code=1)
        self.assertEqual(self.left(), ["rank0-cuda0-oom.pickle"])
        path = self.file("rank0-cuda0-oom.pickle")
        self.assertEqual(events(path)[-1]["action"], "oom")
        # The report: why, what helps with the line, how to see more; then the program's own traceback.
        self.assertRegex(done.stderr, r"gpustrata: out of memory on cuda:0\n(  .*\n)*  .*What helps most: (.*\n)*?.*run_programs\.py:\d+")
        self.assertIn(f"gpustrata report {path}\n", done.stderr)
        self.assertLess(done.stderr.index("out of memory on cuda:0"), done.stderr.index("Traceback"))
        self.assertEqual(done.stderr.splitlines()[-1], plain.stderr.splitlines()[-1])
        self.assertLess(len(done.stderr[:done.stderr.index("Traceback")].splitlines()), 15)

    def test_one_that_is_caught_is_in_a_file_of_its_own(self):
        done = self.run_("caught", "3")
        self.assertEqual(self.left(), ["rank0-cuda0-oom.pickle", "rank0-cuda0.pickle"])
        self.assertEqual([event["action"] for event in events(self.file("rank0-cuda0-oom.pickle"))], ["oom"] * 3)
        self.assertEqual(done.stderr.count("out of memory on cuda:0"), 1)
        self.assertEqual(done.stderr.count("gpustrata: out of memory: "), 3)

    def test_the_last_one_is_reported_too_when_it_ends_the_program(self):
        done = self.run_("caught_and_then", "3", code=1)
        self.assertEqual(self.left(), ["rank0-cuda0-oom.pickle"])
        self.assertEqual(done.stderr.count("out of memory on cuda:0"), 2)

    def test_many_of_them(self):
        done = self.run_("caught_and_then", "12", code=1)
        self.assertEqual(self.left(), ["rank0-cuda0-oom.pickle", "rank0-cuda0.pickle"])
        self.assertEqual(done.stderr.count("gpustrata: out of memory: "), 10)
        self.assertIn("for the 11th time", done.stderr)
        self.assertEqual(sum(event["action"] == "oom" for event in events(self.file("rank0-cuda0.pickle"))), 13)

    def test_only_then(self):
        done = self.run_("train", options=["--on-oom"])
        self.assertEqual((self.left(), self.lines(done)), ([], []))
        self.run_("caught", "1", options=["--on-oom", "-o", "{rank}.pickle"])
        self.assertEqual(self.left(), ["0.pickle"])

    def test_observers_of_the_program_are_called(self):
        self.assertEqual(self.run_("own_observer").stdout, self.plain("own_observer").stdout)

    def test_without_the_command_the_file_is_there_nevertheless(self):
        done = self.run_("grow", code=1, GPUSTRATA_TOOL=str(self.folder / "nothing"))
        self.assertEqual(self.left(), ["rank0-cuda0-oom.pickle"])
        self.assertIn("No report: ", done.stderr)

    def test_a_command_hears_of_it(self):
        """What is printed is its input; it has ended long before the program in the one case, and goes on after it in the other."""
        done = self.run_("grow", code=1, options=["--notify", "cat > told.txt; echo $GPUSTRATA_SNAPSHOT $GPUSTRATA_RUN > named.txt"])
        self.until((self.folder / "named.txt").exists)
        self.assertEqual((self.folder / "named.txt").read_text(), f"{self.file('rank0-cuda0-oom.pickle')} 0\n")
        told = (self.folder / "told.txt").read_text()
        self.assertIn("gpustrata: out of memory on cuda:0\n", told)
        self.assertIn(told, done.stderr)
        for one in self.folder.iterdir():
            one.unlink()
        done = self.run_("caught", "3", options=["--notify", "exit 3"])
        self.assertNotIn("BrokenPipe", done.stderr)
        self.run_("train", options=["--notify", "touch heard"])
        self.assertNotIn("heard", self.left())


class Processes(Runs):
    def test_torchrun_within_the_run(self):
        self.torchrun([sys.executable, "-m", "gpustrata", "run", "--", sys.executable, "-m", "torch.distributed.run"], [])

    def test_the_run_within_torchrun(self):
        self.torchrun([sys.executable, "-m", "torch.distributed.run"], ["-m", "gpustrata", "run"])

    def torchrun(self, before, after):
        self.do(*before, "--nproc-per-node", 4, "--master-port", free_port(), *after, PROGRAMS, "of_rank",
                FAKE_CUDA_DEVICES="4", OMP_NUM_THREADS="1")
        self.assertEqual(self.left(), [f"rank{rank}-cuda{rank}.pickle" for rank in range(4)])
        # Each rank made one step more than the one before it.
        counts = [len(events(self.file(f"rank{rank}-cuda{rank}.pickle"), rank)) for rank in range(4)]
        self.assertEqual({counts[3] - counts[2], counts[2] - counts[1]}, {108})

    def test_ranks_that_only_the_group_knows(self):
        self.run_("spawn_ranks", PORT=free_port())
        self.assertEqual(self.left(), ["rank0-cuda0.pickle", "rank1-cuda0.pickle"])

    def test_children_of_multiprocessing(self):
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method):
                done = self.run_("processes", method)
                self.assertEqual(self.left(), ["rankunknown-cuda0-2.pickle", "rankunknown-cuda0.pickle"])
                self.assertEqual(*[events(self.folder / one.name) for one in self.folder.iterdir()])
                self.assertIn("nothing was recorded in this process: it used no GPU", done.stderr)
                for one in self.folder.iterdir():
                    one.unlink()

    def test_a_fork_before_the_first_use(self):
        self.run_("fork")
        self.assertEqual(self.left(), ["rank0-cuda0-2.pickle", "rank0-cuda0.pickle"])
        self.assertEqual(sorted(len(events(one)) for one in self.folder.iterdir())[1] -
                         sorted(len(events(one)) for one in self.folder.iterdir())[0], 108)

    def test_workers_of_a_loader_leave_nothing(self):
        for method in ("fork", "spawn"):
            done = self.run_("loader", method, options=["-o", f"{method}.pickle"])
            # 8 items of 1,000 equal numbers: 1000 x (0 + ... + 7).
            self.assertEqual(done.stdout, "28000.0\n")
            self.assertEqual(len(self.lines(done)), 1)
        self.assertEqual(self.left(), ["fork.pickle", "spawn.pickle"])

    def test_a_second_run_overwrites_nothing(self):
        self.run_("train", "1")
        self.run_("train", "2")
        self.assertEqual(self.left(), ["rank0-cuda0-2.pickle", "rank0-cuda0.pickle"])


class Dump(Runs):
    """gpustrata dump PID, of a process that waits in Python or in C++."""

    def test_a_process_that_waits(self):
        for where, name in (("python", "rank0-cuda0-dump.pickle"), (str(self.folder / "rendezvous"), "rank0-cuda0-dump-2.pickle")):
            with self.subTest(where):
                waiting = self.start("waits", where)
                done = self.do(sys.executable, "-m", "gpustrata", "dump", waiting.pid)
                self.assertEqual(done.stdout, f"{self.file(name)}\n")
                # In each of the two steps: the batch of 16 rows of 1,200,000 bytes, and in each of four layers a product
                # and what relu makes of it; the gradients are more.
                self.assertGreaterEqual(sum(event["action"] == "alloc" and event["size"] // 1_200_000 == 16
                                            for event in events(self.file(name))), 2 * 9)
                self.assertIn(f"{waiting.pid}  ", self.do(sys.executable, "-m", "gpustrata", "dump").stdout)
                named = self.do(sys.executable, "-m", "gpustrata", "dump", waiting.pid, "-o", "{pid}.pickle")
                self.assertEqual(named.stdout, f"{self.folder}/{waiting.pid}.pickle\n")
                waiting.kill()
                waiting.wait()
                gone = self.do(sys.executable, "-m", "gpustrata", "dump", waiting.pid, code=2)
                self.assertIn(f"process {waiting.pid}: it is not recorded by gpustrata", gone.stderr)

    def test_a_signal(self):
        """Also where the main thread waits in C++, in a child that a fork made, and beside an event loop."""
        options = ["--dump-on-signal", "USR2"]
        for where in ("python", str(self.folder / "rendezvous"), "loop"):
            with self.subTest(where):
                waiting = self.start("waits", where, options=options)
                for name in ("rank0-cuda0-dump.pickle", "rank0-cuda0-dump-2.pickle"):
                    waiting.send_signal(signal.SIGUSR2)
                    self.until(lambda name=name: name in self.left() and self.file(name).stat().st_size)
                    self.assertGreater(len(events(self.file(name))), 100)
                waiting.kill()
                waiting.wait()
                self.assertEqual([one for one in self.left() if "dump" in one], ["rank0-cuda0-dump-2.pickle", "rank0-cuda0-dump.pickle"])
                for one in self.folder.iterdir():
                    one.unlink()
        done = self.run_("signals_a_child", options=options)
        self.assertEqual(done.stdout, "0\n")  # it lives on, and its parent heard nothing
        self.assertEqual(self.left(), ["rank0-cuda0.pickle"])
        self.assertIn("gpustrata: no snapshot: its recording has ended", done.stderr)
        self.file("rank0-cuda0.pickle").unlink()
        done = self.run_("handles_a_signal", options=options)
        self.assertEqual((done.stdout, self.left()), ("handled\n", ["rank0-cuda0.pickle"]))  # and nothing is dumped

    def start(self, *words, options=()):
        process = subprocess.Popen([sys.executable, "-W", "ignore", "-m", "gpustrata", "run", *self.OPTIONS, *options, PROGRAMS, *words],
                                   cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process


class ProgramsThatRecord(Runs):
    def test_a_history_of_their_own_is_as_without_us(self):
        self.plain("own_history", "own.pickle")
        theirs = events(self.folder / "own.pickle")
        (self.folder / "own.pickle").unlink()
        done = self.run_("own_history", "own.pickle")
        self.assertEqual(events(self.folder / "own.pickle"), theirs)
        # 50 entries, of which one says that a snapshot was taken, in a version or the other.
        self.assertIn(len(theirs), (49, 50))
        self.assertEqual(self.left(), ["own.pickle", "rank0-cuda0-before.pickle", "rank0-cuda0.pickle"])
        self.assertIn("the program records its memory itself (run_programs.py:", done.stderr)

    def test_one_that_they_begin_before_the_first_use(self):
        done = self.run_("train_and_record", "own.pickle")
        self.assertEqual(events(self.file("rank0-cuda0.pickle")), events(self.folder / "own.pickle"))
        self.assertEqual(len(self.lines(done)), 2)

    def test_one_that_they_end(self):
        done = self.run_("own_history_ends", "own.pickle")
        self.assertIn("the program ends PyTorch's history (run_programs.py:", done.stderr)
        self.assertEqual(self.left(), ["own.pickle", "rank0-cuda0-before.pickle", "rank0-cuda0.pickle"])

    def test_snapshots_of_their_own(self):
        self.run_("own_snapshot", "own.pickle")
        self.assertEqual(events(self.file("rank0-cuda0.pickle")), events(self.folder / "own.pickle"))

    def test_gpustrata_s_own_allocator(self):
        done = self.run_("replaced")
        self.assertEqual((done.stdout, self.left()), ("True\n", []))
        self.assertIn("not recorded: the program uses gpustrata's allocator", done.stderr)

    def test_an_allocator_that_keeps_no_history(self):
        backend = {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync", "PYTORCH_ALLOC_CONF": "backend:cudaMallocAsync"}
        # The made-up runtime has none: the program fails.
        for done in (self.run_("async_backend", code=1, **backend), self.plain("decorated", "d.pickle", "no", code=1, **backend)):
            self.assertEqual(len(self.lines(done)), 1)
            self.assertRegex(done.stderr, "gpustrata: not recorded: RuntimeError: .*cudaMallocAsync does not")


class Record(Runs):
    def test_a_block(self):
        done = self.plain("with_record", "{rank}-{device}.pickle")
        path = self.folder / "0-cuda0.pickle"
        self.assertEqual((done.stdout, self.left()), (f"{path}\n", [path.name]))
        # The model of the first step is gone, so that two steps are what two steps alone are, but for what is cached.
        self.plain("train_and_record", "own.pickle", "2")
        taken = [[event["size"] for event in events(one) if event["action"] == "alloc"]
                 for one in (path, self.folder / "own.pickle")]
        self.assertEqual(*taken)

    def test_one_within_another(self):
        done = self.plain("with_record_twice", "a.pickle", "b.pickle")
        self.assertEqual(self.left(), ["a.pickle", "b.pickle"])
        inner, outer = events(self.folder / "b.pickle"), events(self.folder / "a.pickle")
        self.assertEqual(outer[:len(inner)], inner)
        self.assertEqual(len([line for line in self.lines(done) if "on already, by another recording" in line]), 1)

    def test_within_a_run(self):
        self.run_("with_record", "inner.pickle")
        self.assertEqual(self.left(), ["inner.pickle", "rank0-cuda0.pickle"])

    def test_a_function_that_runs_out_of_memory(self):
        self.plain("decorated", "d.pickle", "no")
        self.assertEqual(self.left(), [])
        done = self.plain("decorated", "d.pickle", "yes", code=1)
        self.assertEqual(self.left(), ["d.pickle"])
        self.assertEqual(done.stderr.count("out of memory on cuda:0"), 1)
        self.assertIn("OutOfMemoryError", done.stderr)


def is_here(name):
    return importlib.util.find_spec(name) is not None


class Notebook(Runs):
    def test_a_cell_that_runs_out_of_memory(self):
        (self.folder / "cells.py").write_text(
            "from IPython.core.interactiveshell import InteractiveShell\n"
            "shell = InteractiveShell.instance(colors='nocolor')\n"
            "shell.run_cell('%load_ext gpustrata').raise_error()\n"
            "shell.run_cell('import torch; before = torch.empty(1 << 20, device=\"cuda\")', store_history=True).raise_error()\n"
            "shell.run_cell('%%gpustrata\\nkept = torch.empty(3 << 20, dtype=torch.uint8, device=\"cuda\")', store_history=True)\n"
            "done = shell.run_cell('%%gpustrata --on-oom -o o.pickle --no-view\\ntorch.empty(1 << 40, device=\"cuda\")')\n"
            "print(type(done.error_in_exec).__name__)\n")
        done = self.do(sys.executable, "-W", "ignore", "cells.py", HOME=str(self.folder))
        self.assertEqual(done.stdout.splitlines()[-1], "OutOfMemoryError")
        self.assertEqual([name for name in self.left() if name.endswith(".pickle")], ["gpustrata-cell2.pickle", "o.pickle"])
        (alloc,) = [one for one in events(self.folder / "gpustrata-cell2.pickle") if one["action"] == "alloc"]
        self.assertEqual(alloc["size"], 3 << 20)
        self.assertEqual([(one["line"], one["name"]) for one in alloc["frames"][:1]], [(1, "<module>")])
        self.assertIn("out of memory on cuda:0", done.stderr)


class Trainers(Runs):
    """Ten steps of 4 rows of 1.2 MB; of them the callbacks record steps 3 and 4."""

    def check(self, program, prefix):
        done = self.plain(program)
        path = self.folder / f"{prefix}-0.pickle"
        self.assertEqual(done.stdout.splitlines()[-1], str(path))
        self.assertIn(f"events, {self.HOW}", done.stderr)
        # A step asks for its batch, the product, and what relu makes of it: no step more, no step less.
        batches = [event for event in events(path) if event["action"] == "alloc" and event["size"] // 1_200_000 == 4]
        whole = self.run_(program, options=["-o", "whole.pickle"], memory=2 * MEMORY)
        self.assertIn("on already, by another recording", whole.stderr)
        all_batches = [event for event in events(self.folder / "whole.pickle")
                       if event["action"] == "alloc" and event["size"] // 1_200_000 == 4]
        self.assertGreater(len(batches), 0)
        self.assertEqual(5 * len(batches), len(all_batches))
        failed = self.plain(program, "fail", code=1)
        self.assertEqual(events(self.folder / f"{prefix}-oom.pickle")[-1]["action"], "oom")
        self.assertEqual(failed.stderr.count("out of memory on cuda:0"), 1)

    @unittest.skipUnless(is_here("transformers"), "transformers is not installed")
    def test_hugging_face(self):
        self.check("hugging_face", "hf")

    @unittest.skipUnless(is_here("lightning"), "lightning is not installed")
    def test_lightning(self):
        self.check("lightning_", "pl")


class Faults(Runs):
    def test_no_device(self):
        done = self.run_("processor", FAKE_CUDA_DEVICES="0")
        self.assertEqual((done.stdout, self.left()), ("done\n", []))
        self.assertEqual(self.lines(done), ["gpustrata: nothing was recorded in this process: PyTorch finds no GPU or no "
                                            "driver for it"])

    def test_a_program_that_uses_no_device(self):
        done = self.run_("processor")
        self.assertEqual(self.lines(done), ["gpustrata: nothing was recorded in this process: it used no GPU"])

    def test_a_folder_that_takes_nothing(self):
        (self.folder / "file").write_text("")
        temporary = self.folder / "temporary"
        temporary.mkdir()
        done = self.run_("train", options=["-o", "file/run.pickle"], TMPDIR=str(temporary))
        self.assertEqual([one.name for one in temporary.glob("*pickle*")], ["run.pickle"])
        self.assertRegex(done.stderr, rf"gpustrata: {temporary}/run\.pickle \({self.folder}/file takes no files\): \d+ events")

    def test_signals(self):
        """Ctrl-C is an exception, after which there is a file; what ends the process at once leaves none."""
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT):
            self.run_("interrupted", number, code=-number)
            self.assertEqual(self.left(), ["rank0-cuda0.pickle"] if number == signal.SIGINT else [])

    def test_fewer_steps_than_asked_for(self):
        done = self.run_("train", "2", options=["--steps", "5:7"])
        self.assertEqual(self.left(), [])
        self.assertIn("the optimizer made 2 steps, and 5 come before the recording", done.stderr)

    def test_the_environment_alone(self):
        """As in a container: the package's .pth begins it."""
        environment = {"GPUSTRATA_RUN": "-o {rank}.pickle"}
        site = self.folder / "site"
        site.mkdir()
        line = (Path(__file__).resolve().parents[2] / "capture" / "python" / "gpustrata.pth").read_text()
        (site / "sitecustomize.py").write_text(line)
        self.plain("train", PYTHONPATH=f"{site}{os.pathsep}{os.environ['PYTHONPATH']}", **environment)
        self.assertTrue((self.folder / "0.pickle").exists())


if __name__ == "__main__":
    TOOL = str(Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=2)
