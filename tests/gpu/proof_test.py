"""What run.sh concludes, tried without a GPU: verdicts on made-up figures, children that fail in every way, and the
whole of proof.py over the fake driver with a stub of PyTorch.

Environment: GPUSTRATA_BUILD, the build folder; GPUSTRATA_FAKE_CUDA, the folder of the fake libcuda.so.1.
"""
import contextlib
import io
import os
import pathlib
import shutil
import stat
import sys
import tempfile
import textwrap
import time
import unittest
from unittest import mock

import proof
import proof_cases
from proof_table import FAILED, MISSED, NOT_MEASURED, OK, Answer, Table, not_slower, run_child, within
from support.snapshots import MIB


def verdicts(table):
    return [row.verdict for row in table.rows]


class Verdicts(unittest.TestCase):
    def setUp(self):
        self.table = Table(io.StringIO())

    def test_only_a_table_of_ok_is_a_proof(self):
        self.assertEqual(self.table.status(), 1)  # nothing was shown
        self.table.add("one", 1, 1, True)
        self.table.add("two", 1, 1, OK)
        self.assertEqual(self.table.status(), 0)
        for bad in (False, MISSED, FAILED, NOT_MEASURED):
            table = Table(io.StringIO())
            table.add("good", 1, 1, True)
            table.add("bad", 1, 2, bad, "why")
            self.assertEqual(table.status(), 1, bad)
        self.assertEqual(table.counts(), "1 ok, 1 not measured")

    def test_rows_are_rows_whatever_is_in_them(self):
        self.table.add("a|b", "two\nlines", "", FAILED, "it said | this\n and that")
        lines = self.table.out.getvalue().splitlines()
        self.assertEqual(lines[-1], "| a/b | two lines |  | FAILED: it said / this and that |")
        self.assertEqual({line.count("|") for line in lines}, {5})

    def test_tolerances(self):
        self.assertTrue(not_slower(101, 100) and not_slower(50, 100))
        self.assertFalse(not_slower(101.1, 100))
        self.assertTrue(within(101, 100) and within(99, 100))
        self.assertFalse(within(98.9, 100) or within(101.1, 100) or within(1, 0))

    def test_figures_have_goals(self):
        bench = textwrap.dedent("""\
            C++ stack of  31 frames (libunwind)          7.0 ns a frame; backtrace() 137.2; interning it 40.1 ns
            C++ stack of  61 frames (libunwind)         50.1 ns a frame; backtrace() 137.2; interning it 40.1 ns
            malloc + free, C API, recording off             172.0 ns
            """)
        proof.judge_figures(self.table, "C++ frame", "ns", 50, proof.CPP_FIGURE, Answer(0, bench, ""))
        self.assertEqual(verdicts(self.table), [OK, MISSED])
        self.assertEqual((self.table.rows[1].what, self.table.rows[1].ours),
                         ("C++ frame, stack of 61 frames", "50.1 ns"))
        proof.judge_figures(self.table, "C++ frame", "ns", 50, proof.CPP_FIGURE, Answer(0, "something else", ""))
        proof.judge_figures(self.table, "C++ frame", "ns", 50, proof.CPP_FIGURE, Answer(1, bench, "exit code 1"))
        self.assertEqual(verdicts(self.table)[2:], [FAILED, FAILED])


class Training(unittest.TestCase):
    """Rows: losses (PyTorch, ours), peak, step (PyTorch, ours), sizes (PyTorch, ours), dump (first, again)."""

    GOOD = {"losses": ["2.0", "1.0"], "sizes": [["alloc", 512], ["free_requested", 512]], "step": 0.100,
            "peak_reserved": 1000, "peak_allocated": 900, "dump_first": 2.0, "dump_again": 1.0, "snapshot": "x"}

    def judge(self, theirs=(), ours=()):
        """The numbers of the rows that are not ok, with some figures changed in the second of three runs of each."""
        table = Table(io.StringIO())
        runs = [[dict(self.GOOD) for _ in range(3)] for _ in range(2)]
        runs[0][1].update(theirs)
        for run in runs[1]:
            run.update(ours)
        proof.judge_training(table, *runs)
        self.assertEqual(len(table.rows), 9)
        self.assertTrue(set(verdicts(table)) <= {OK, MISSED})
        return [i for i, verdict in enumerate(verdicts(table)) if verdict != OK]

    def test_each_row_can_be_missed(self):
        self.assertEqual(self.judge(), [])
        self.assertEqual(self.judge(ours={"losses": ["2.0", "1.0000001"]}), [1])
        self.assertEqual(self.judge(theirs={"losses": ["2.0", "1.1"]}), [0])
        self.assertEqual(self.judge(ours={"peak_reserved": 1011}), [2])
        self.assertEqual(self.judge(ours={"peak_reserved": 989}), [2])
        self.assertEqual(self.judge(theirs={"step": 0.102}), [3])  # PyTorch's own times are too far apart
        self.assertEqual(self.judge(ours={"step": 0.102}), [4])
        self.assertEqual(self.judge(ours={"step": 0.090}), [])
        self.assertEqual(self.judge(theirs={"sizes": []}), [5])
        self.assertEqual(self.judge(ours={"sizes": [["alloc", 512]]}), [6])
        self.assertEqual(self.judge(ours={"dump_first": 2.1}), [7])
        self.assertEqual(self.judge(ours={"dump_again": 1.1}), [8])


class Cases(unittest.TestCase):
    """Two rows of each: the hooks, the companion."""

    def judge(self, name, *told):
        """told: of PyTorch, the hooks, the companion; an outcome, (outcome, value), or an Answer."""
        table = Table(io.StringIO())
        answers = []
        for one in told:
            outcome, value = one if isinstance(one, tuple) else (one, 1)
            answers.append(one if isinstance(one, Answer) else
                           Answer(0, f'noise\n{{"outcome": "{outcome}", "value": {value}}}\n', ""))
        proof_cases.judge(table, name, answers)
        return verdicts(table)

    def test_verdicts(self):
        self.assertEqual(self.judge("graph", "ok", "ok", "ok"), [OK, OK])
        self.assertEqual(self.judge("graph", "ok", "RuntimeError", ("ok", 2)), [MISSED, MISSED])
        self.assertEqual(self.judge("graph", "RuntimeError", "ok", "ok"), [NOT_MEASURED] * 2)
        self.assertEqual(self.judge("second_device", Answer(77, "", "missing: a second device"), "ok", "ok"),
                         [NOT_MEASURED] * 2)
        self.assertEqual(self.judge("graph", "ok", Answer(-11, "", "ended by signal 11"), Answer(0, "[]", "")), [FAILED] * 2)

    def test_what_hooks_cannot_do_is_expected_of_them(self):
        self.assertEqual(self.judge("out_of_memory", "OutOfMemoryError", "RuntimeError", "OutOfMemoryError"), [OK, OK])
        self.assertEqual(self.judge("out_of_memory", "OutOfMemoryError", "OutOfMemoryError", "RuntimeError"), [MISSED] * 2)
        self.assertEqual(self.judge("mem_pool", "ok", "RuntimeError", "RuntimeError"), [OK, MISSED])
        self.assertEqual(self.judge("mem_pool", "ok", "ok", "ok"), [OK, OK])

    def test_every_case_has_words(self):
        import torch_cases

        self.assertEqual(list(proof_cases.WORDS), list(torch_cases.CASES))
        self.assertLessEqual(set(proof_cases.OTHERWISE), set(proof_cases.WORDS))


class Children(unittest.TestCase):
    def run_program(self, program, seconds=60):
        return run_child([sys.executable, "-c", program], seconds)

    def test_what_they_say(self):
        self.assertEqual(self.run_program("print('one'); print('two')"), Answer(0, "one\ntwo\n", ""))
        self.assertEqual(self.run_program("print('one')").last_line(), "one")
        answer = self.run_program("raise ValueError('broken')")
        self.assertEqual((answer.code, answer.why), (1, "exit code 1: ValueError: broken"))
        self.assertIn("ended by signal 9", self.run_program("import os; os.kill(os.getpid(), 9)").why)
        self.assertEqual(run_child(["/nowhere/program"], 60).why,
                         "/nowhere/program cannot be started: No such file or directory")

    def test_one_that_hangs_is_ended_with_its_own_children(self):
        start = time.monotonic()
        answer = self.run_program("import subprocess; subprocess.run(['sleep', '600'])", 1)
        self.assertEqual((answer.code, answer.why), (124, "no answer within 1 s"))
        self.assertLess(time.monotonic() - start, 300)

    def test_an_answer_that_is_none(self):
        self.assertEqual(proof.child_json(Answer(0, "noise\n{\"a\": 1}\n", "")), ({"a": 1}, ""))
        self.assertEqual(proof.child_json(Answer(0, "noise\n", "")), (None, "it said 'noise'"))
        self.assertEqual(proof.child_json(Answer(0, "", "")), (None, "it said ''"))
        self.assertEqual(proof.child_json(Answer(1, "{}", "exit code 1")), (None, "exit code 1"))

    def test_a_part_that_does_not_understand_is_a_row(self):
        table = Table(io.StringIO())
        proof.attempt(table, "training", proof.judge_training, [{"losses": ["1"]}], [{}])
        self.assertEqual((verdicts(table)[-1], table.rows[-1].why), (FAILED, "KeyError: 'losses'"))

    def test_missing_tools_are_named(self):
        with tempfile.TemporaryDirectory() as empty, mock.patch.dict(os.environ, {"PATH": empty}):
            self.assertTrue(proof.missing_for_extension().startswith("ninja, a C++ compiler"))
            table = Table(io.StringIO())
            proof.malloc_times(table)
            self.assertEqual(verdicts(table), [NOT_MEASURED])
            self.assertTrue(table.rows[0].why.startswith("missing: ninja, a C++ compiler"))
            proof.random_operations(table, empty, 1)
            self.assertEqual(verdicts(table), [NOT_MEASURED] * 3)


# Enough of PyTorch for torch_train.py: each step takes and frees 1 MiB, from the allocator that is installed.
STUB_TORCH = """
import ctypes, pickle, sys
from unittest.mock import MagicMock

STEPS = [("alloc", 1 << 20), ("free_requested", 1 << 20)] * 3
allocator = None

class CUDAPluggableAllocator:
    def __init__(self, path, alloc, free):
        library = ctypes.CDLL(path)
        self.alloc, self.free = getattr(library, alloc), getattr(library, free)
        self.alloc.restype = ctypes.c_void_p
        self.alloc.argtypes = [ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
        self.free.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
    def allocator(self):
        return MagicMock()  # has every setter

def change_current_allocator(changed):
    global allocator
    allocator = changed

def empty(size, device="cuda"):
    if allocator is not None:
        allocator.free(allocator.alloc(size, 0, None), size, 0, None)

def dump(path):
    with open(path, "wb") as file:
        pickle.dump({}, file)

torch = MagicMock()
torch.__version__ = "stub"
torch.empty = empty
torch.cuda.is_initialized.return_value = False
torch.cuda.get_device_name.return_value = "stub"
torch.cuda.memory.CUDAPluggableAllocator = CUDAPluggableAllocator
torch.cuda.memory.change_current_allocator = change_current_allocator
torch.cuda.memory._snapshot.return_value = {"device_traces": [[{"action": a, "size": s} for a, s in STEPS]]}
torch.cuda.memory._dump_snapshot = dump
torch.cuda.memory_stats.return_value = {"reserved_bytes.all.peak": 2 << 20, "allocated_bytes.all.peak": 1 << 20}
torch.optim.AdamW.return_value.step = lambda: empty(1 << 20)
torch.nn.functional.cross_entropy.return_value.detach.return_value.item.return_value = 1.5
sys.modules["torch"] = torch
"""


class WholeProof(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gpustrata-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.build = self.folder / "build"
        self.build.mkdir()
        for name in (proof.LIBRARY, "gpu_random", "gpustrata"):
            built = proof.find_built(os.environ["GPUSTRATA_BUILD"], name)
            self.assertIsNotNone(built, f"{name} is not built")
            (self.build / name).symlink_to(built)
        self.script(self.build / "capture_bench", "echo 'C++ stack of 31 frames (stub) 12.5 ns a frame'")
        self.script(self.folder / "bin/nvidia-smi", "echo Stub GPU, 0.0")
        (self.folder / "python").mkdir()
        (self.folder / "python/torch.py").write_text(STUB_TORCH)
        self.environment = {"PATH": str(self.folder / "bin"), "PYTHONPATH": str(self.folder / "python"),
                            "LD_LIBRARY_PATH": os.environ["GPUSTRATA_FAKE_CUDA"]}

    def script(self, path, line):
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def prove(self):
        """({row: verdict}, exit code, all that was printed); the Python stack's row, which is a time, left out."""
        out = io.StringIO()
        with mock.patch.dict(os.environ, self.environment), mock.patch.object(proof, "TRAINING_RUNS", 1), \
                mock.patch.object(proof, "cases", lambda table: proof_cases.cases(table, ["exit_with_tensors"])), \
                contextlib.redirect_stdout(out):
            table = proof.prove(2000, self.build)
        rows = {row.what: row for row in table.rows if not row.what.startswith("Python stack")}
        return rows, table.status(), out.getvalue()

    def test_with_a_stub_of_pytorch(self):
        rows, status, printed = self.prove()
        self.assertIn("Stub GPU, 0.0, PyTorch stub, Python", printed)
        for what in ("random operations (segments), every block checked",
                     "random operations (expandable), every block checked", "C++ frame, stack of 31 frames",
                     "losses of 60 steps", "peak reserved, bytes, within 1 %",
                     "requests and frees of three steps, sizes in order", "`gpustrata summary` of our dump"):
            self.assertEqual(rows[what].verdict, OK, printed)
        self.assertIn("2000 operations (segments) of 4 threads",
                      rows["random operations (segments), every block checked"].ours)
        self.assertIn("the end of a process that holds tensors, companion", rows)
        page = rows["our dump in the page (Chromium)"]
        self.assertEqual(page.verdict, NOT_MEASURED)
        self.assertIn("missing: node, Chromium", page.why)
        self.assertEqual(status, 1)

    def test_without_pytorch(self):
        (self.folder / "python/torch.py").write_text("raise ImportError('torch is not here')")
        rows, status, printed = self.prove()
        self.assertEqual(rows["training under both allocators"].verdict, NOT_MEASURED, printed)
        self.assertIn("torch is not here", rows["training under both allocators"].why)
        self.assertEqual(rows["random operations (segments), every block checked"].verdict, OK, printed)
        self.assertEqual(status, 1)

    def test_children_that_crash_are_rows(self):
        stub = STUB_TORCH + "torch.manual_seed.side_effect = OSError('no seed')\n"
        (self.folder / "python/torch.py").write_text(stub)
        self.environment["LD_LIBRARY_PATH"] = ""  # and no driver
        with mock.patch.dict(os.environ, {"FAKE_CUDA_DEVICES": "0"}):
            rows, status, printed = self.prove()
        self.assertEqual(rows["training run 1 under pytorch"].verdict, FAILED, printed)
        self.assertIn("OSError: no seed", rows["training run 1 under pytorch"].why)
        self.assertEqual(rows["our dump in the page (Chromium)"].verdict, NOT_MEASURED, printed)
        self.assertEqual(status, 1)

    def test_without_a_library(self):
        (self.build / proof.LIBRARY).unlink()
        rows, status, _ = self.prove()
        self.assertEqual((rows[proof.LIBRARY].verdict, status), (FAILED, 1))
