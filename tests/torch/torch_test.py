#!/usr/bin/env python3
"""A real PyTorch without a GPU: what of it takes gpustrata's recorder, profilers and files.

  torch_test.py GPUSTRATA      GPUSTRATA: the command line tool

Environment: PYTHONPATH with `gpustrata` and a torch with its CUDA libraries; GPUSTRATA_CAPTURE, the library;
LD_LIBRARY_PATH with the fake driver of tests/capture (for what only looks whether there is one).
"""
import json
import pickle
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import torch

import gpustrata

TOOL = None
HAS_CUDA_BUILD = torch.version.cuda is not None
SAMPLE = Path(__file__).resolve().parents[2] / "site" / "samples" / "training_run.pickle"


def python(code, *arguments):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)], capture_output=True,
                          text=True, timeout=300)


@unittest.skipUnless(HAS_CUDA_BUILD, "this PyTorch was built without CUDA")
class Allocator(unittest.TestCase):
    def test_every_setter_takes_our_hook_and_the_allocator_is_changed(self):
        done = python("""
            import sys, gpustrata, torch
            from gpustrata import _recorder
            assert gpustrata.install() is True
            target = torch.cuda.memory._get_current_allocator()
            print(sorted(name for name, _ in _recorder._HOOKS if hasattr(
                torch.cuda.memory.CUDAPluggableAllocator(_recorder._library()._name, "gpustrata_alloc",
                                                         "gpustrata_free").allocator(), name)))
            assert not torch.cuda.is_initialized()
            assert torch.cuda.memory.memory_stats is gpustrata.memory_stats
            assert torch.cuda.memory_allocated is gpustrata.memory_allocated
        """)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("set_begin_allocate_to_pool", done.stdout)
        print(f"torch {torch.__version__}, CUDA {torch.version.cuda}: setters {done.stdout.strip()}", file=sys.stderr)

    def test_a_setter_calls_what_it_was_given(self):
        # PyTorch calls our functions by address: the address that it keeps is the one that dlsym gives.
        done = python("""
            import ctypes, gpustrata
            from gpustrata import _recorder
            import torch
            gpustrata.use_simulated_device(1 << 30)
            assert gpustrata.install() is True
            pointer = gpustrata.malloc(1000)
            assert torch.cuda.memory.memory_stats(0)["allocated_bytes.all.current"] == 1024
            assert torch.cuda.memory._snapshot()["segments"][0]["address"] == pointer
            assert "allocated_bytes" in torch.cuda.memory.memory_stats_as_nested_dict(0)
        """)
        self.assertEqual(done.returncode, 0, done.stderr)


class Viewer(unittest.TestCase):
    """PyTorch's own reader of snapshots on what we write."""

    def test_memory_viz_reads_our_dump(self):
        from torch.cuda import _memory_viz

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "ours.pickle")
            done = python("""
                import sys, gpustrata
                gpustrata.use_simulated_device(1 << 30)
                gpustrata.record_memory_history(stacks="python")
                held = [gpustrata.malloc(n << 20) for n in (1, 5, 30)]
                gpustrata.free(held[1])
                gpustrata.dump_snapshot(sys.argv[1])
            """, path)
            self.assertEqual(done.returncode, 0, done.stderr)
            data = pickle.loads(path.read_bytes())
            for text in (_memory_viz.segsum(data), _memory_viz.trace(data), _memory_viz.trace_plot(data),
                         _memory_viz.segment_plot(data)):
                self.assertIsInstance(text, str)
            # Its sums are the engine's.
            wanted = json.loads(subprocess.run([TOOL, "summary", path, "--json"], check=True, capture_output=True)
                                .stdout)["snapshots"][0]["devices"][0]
            self.assertEqual(sum(segment["total_size"] for segment in data["segments"]), wanted["reserved_bytes"])
            self.assertIn("31.0MiB", _memory_viz.segsum(data))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(64, 256)
        self.second = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(256, 8))

    def forward(self, x):
        return (self.second(self.first(x)) * 2).sum()


class Tracker(unittest.TestCase):
    def run_tracker(self, iterations=2):
        torch.manual_seed(0)
        model = Model()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        tracker = gpustrata.MemoryTracker("cpu")
        with tracker:
            tracker.start_monitor(model)
            for _ in range(iterations):
                model(torch.randn(16, 64)).backward()
                optimizer.step()
                optimizer.zero_grad()
        return tracker

    def test_operators_have_the_names_of_their_modules(self):
        tracker = self.run_tracker()
        names = [name for name, _ in tracker.memories_allocated.values()]
        self.assertEqual(list(tracker.memories_allocated), list(range(len(names))))
        self.assertTrue(any(name.startswith("first.forward.addmm.default_0") for name in names), names)
        self.assertTrue(any(name.startswith("second.0.forward.relu.default_") for name in names), names)
        # After its children returned, what the root does is the root's again.
        self.assertTrue(any(name.startswith(".forward.mul.Tensor_") for name in names), names)
        self.assertTrue(any(name.startswith("second.1.backward.mm.default_") for name in names), names)
        self.assertTrue(any(name.startswith("first.backward.mm.default_") for name in names), names)
        self.assertTrue(any(name.startswith("SGD.step.") for name in names), names)
        # The matrix of the first layer's gradient is made in its backward, not under the last module that ran forward.
        self.assertEqual({"fw_start", "fw_start_0", "fw_start_1", "fw_bw_boundary", "fw_bw_boundary_0",
                          "fw_bw_boundary_1"}, set(tracker.markers))
        self.assertLess(tracker.markers["fw_start_0"], tracker.markers["fw_bw_boundary_0"])
        self.assertLess(tracker.markers["fw_bw_boundary_0"], tracker.markers["fw_start_1"])
        self.assertEqual(tracker.markers["fw_start"], tracker.markers["fw_start_1"])

    def test_hooks_are_gone_afterwards(self):
        model = Model()
        tracker = gpustrata.MemoryTracker("cpu")
        tracker.start_monitor(model)
        tracker.stop()
        tracker.stop()
        self.assertFalse(any(module._forward_hooks or module._forward_pre_hooks for module in model.modules()))
        before = len(tracker.memories_allocated)
        model(torch.randn(16, 64))
        self.assertEqual(len(tracker.memories_allocated), before)

    def test_files_open_in_both_and_in_the_command(self):
        from torch.distributed._tools.memory_tracker import MemoryTracker as Theirs

        tracker = self.run_tracker()
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "ours.trace"))
            tracker.save_stats(path)
            theirs = Theirs()
            theirs.load(path)
            self.assertEqual(dict(theirs.memories_allocated), tracker.memories_allocated)
            self.assertEqual(dict(theirs._markers), tracker.markers)
            back = gpustrata.MemoryTracker("cpu")
            theirs.save_stats(path)
            back.load(path)
            self.assertEqual(back.memories_reserved, tracker.memories_reserved)
            # Theirs drops the level at the start: then the first operator has no predecessor.
            self.assertEqual(back.changes(), tracker.changes()[1:])
            tracker.save_stats(path)
            told = json.loads(subprocess.run([TOOL, "tracker", path, "--json"], check=True, capture_output=True).stdout)
            self.assertEqual(told["ops"], len(tracker.memories_allocated))
            again = gpustrata.MemoryTracker("cpu")
            again.load(path)
            self.assertEqual(again.changes(), tracker.changes())
            self.assertEqual(again.summary(3), sorted(tracker.changes(), key=lambda row: -row[1])[:3])

    def test_a_file_that_runs_code_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "bad")
            path.write_bytes(b"cos\nsystem\n(S'true'\ntR.")
            with self.assertRaisesRegex(pickle.UnpicklingError, "os.system"):
                gpustrata.MemoryTracker("cpu").load(path)

    def test_a_picture(self):
        tracker = self.run_tracker(1)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "levels.svg")
            tracker.save_plot(path)
            text = path.read_text()
            self.assertIn("<polyline", text)
            self.assertIn("memories_allocated", text)


class Profiler(unittest.TestCase):
    def test_a_model_on_the_processor(self):
        profiler = gpustrata.GPUMemoryProfiler("cpu")
        model, kept = Model(), []
        with torch.no_grad():  # else the graph keeps some, too
            result = profiler.profile_function(lambda: kept.append(model(torch.randn(16, 64))))
        self.assertEqual(result.function_name, "<lambda>")
        self.assertEqual(result.tensors_created, 1)
        self.assertEqual(profiler.get_summary()["device"], "cpu")
        self.assertEqual(str(gpustrata.GPUMemoryProfiler(torch.device("cpu")).device), "cpu")

    def test_a_device_that_is_not_there(self):
        if torch.cuda.is_available():
            self.skipTest("there is one")
        with self.assertRaises(ValueError):
            gpustrata.GPUMemoryProfiler("cuda:0")
        self.assertEqual(gpustrata.GPUMemoryProfiler().device, "cpu")


if __name__ == "__main__":
    TOOL = str(Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=2)
