"""GPUMemoryProfiler on gpustrata's allocator over a simulated device: exact numbers, by hand.

Environment: PYTHONPATH with the package, GPUSTRATA_CAPTURE, the library.
"""
import json
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
from pathlib import Path

import gpustrata
from support.snapshots import MIB
from support.tool import run


def take(mib):
    return gpustrata.malloc(mib * MIB)


class Profiler(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        gpustrata.use_simulated_device(16 << 30)
        gpustrata.record_memory_history(stacks="python")

    def setUp(self):
        self.held = [take(100)]
        self.addCleanup(lambda: [gpustrata.free(one) for one in self.held])
        self.profiler = gpustrata.GPUMemoryProfiler(device=0, track_tensors=False)

    def keep(self, mib):
        self.held.append(take(mib))

    def work(self):
        # 100 MiB before, at most 180, 140 after: 40 kept, 40 given back.
        self.keep(40)
        gpustrata.free(take(40))

    def test_a_function(self):
        result = self.profiler.profile_function(self.work)
        self.assertEqual(result.function_name, "work")
        self.assertEqual(result.memory_before.allocated_memory, 100 * MIB)
        self.assertEqual(result.memory_after.allocated_memory, 140 * MIB)
        self.assertEqual(result.peak_memory_usage(), 180 * MIB)
        self.assertEqual(result.peak_over_entry(), 80 * MIB)
        self.assertEqual((result.memory_allocated, result.memory_freed, result.memory_diff()), (40 * MIB, 0, 40 * MIB))
        self.assertEqual((result.memory_gross, result.allocations, result.raised), (80 * MIB, 2, None))
        self.assertEqual(result.to_dict()["memory_peak"]["operation"], "peak_work")

    def test_what_comes_and_goes_shows_in_peak_and_gross_alone(self):
        result = self.profiler.profile_function(lambda: gpustrata.free(take(500)))
        self.assertEqual((result.memory_allocated, result.memory_freed, result.memory_diff()), (0, 0, 0))
        self.assertEqual((result.peak_over_entry(), result.memory_gross), (500 * MIB, 500 * MIB))

    def test_nested_ones_do_not_disturb_each_other(self):
        with self.profiler.profile_context("outer") as outer:
            gpustrata.free(take(60))
            with self.profiler.profile_context("inner") as inner:
                gpustrata.free(take(20))
            self.keep(10)
        self.assertEqual(outer.result.peak_over_entry(), 60 * MIB)
        self.assertEqual(inner.result.peak_over_entry(), 20 * MIB)
        self.assertEqual(outer.result.memory_gross, 90 * MIB)
        # Those that overlap on two threads, too.
        self.assertEqual([one.function_name for one in self.profiler.results], ["inner", "outer"])

    def test_a_result_is_kept_when_the_function_raises(self):
        def fails():
            self.keep(30)
            raise KeyError("x")

        with self.assertRaises(KeyError):
            self.profiler.profile_function(fails)
        result = self.profiler.results[-1]
        self.assertEqual((result.raised, result.memory_diff(), result.peak_over_entry()),
                         ("KeyError", 30 * MIB, 30 * MIB))

    def test_who_asked(self):
        profiler = gpustrata.GPUMemoryProfiler(0, collect_stack_traces=True)
        take_before = take(300)
        result = profiler.profile_function(self.work)
        gpustrata.free(take_before)
        # Two places of 40 MiB each, in work() and in keep().
        self.assertEqual([(row["bytes"], row["blocks"]) for row in result.stacks], [(40 * MIB, 1)] * 2)
        names = [[frame["name"] for frame in row["frames"]] for row in result.stacks]
        self.assertTrue(all("work" in one for one in names), names)
        self.assertEqual(sum("keep" in one for one in names), 1)
        self.assertIn("test_who_asked", result.memory_before.stack_trace)

    def test_summary(self):
        self.profiler.profile_function(self.work)
        self.profiler.profile_function(self.work)
        summary = self.profiler.get_summary()
        self.assertEqual(summary["device"], "cuda:0")
        self.assertEqual((summary["total_functions_profiled"], summary["total_function_calls"]), (1, 2))
        self.assertEqual((summary["total_memory_allocated"], summary["net_memory_change"]), (80 * MIB, 80 * MIB))
        self.assertEqual(summary["peak_memory_usage"], 220 * MIB)
        self.assertEqual((summary["baseline_memory_usage"], summary["memory_change_from_baseline"]),
                         (100 * MIB, 80 * MIB))
        self.assertEqual(summary["function_summaries"]["work"]["peak_memory"], 220 * MIB)
        self.assertEqual((summary["monitoring_active"], summary["snapshots_collected"]), (False, 0))
        self.profiler.clear_results()
        self.assertEqual(self.profiler.get_summary()["total_function_calls"], 0)
        self.assertEqual(self.profiler.get_summary()["memory_change_from_baseline"], 0)

    def test_monitoring(self):
        with self.profiler:
            self.profiler.start_monitoring(0.001)
            self.profiler.start_monitoring()
            while not self.profiler.snapshots:
                threading.Event().wait(0.001)
            self.assertTrue(self.profiler.get_summary()["monitoring_active"])
        self.profiler.stop_monitoring()
        self.assertEqual(self.profiler.snapshots[0].allocated_memory, 100 * MIB)
        with self.assertRaises(ValueError):
            self.profiler.start_monitoring(0)

    def test_exports_are_read_by_the_command(self):
        self.profiler.profile_function(self.work)
        self.profiler.start_monitoring(0.001)
        while not self.profiler.snapshots:
            threading.Event().wait(0.001)
        self.profiler.stop_monitoring()
        with tempfile.TemporaryDirectory() as folder:
            written = [*self.profiler.export(f"{folder}/a.json"), *self.profiler.export(f"{folder}/a.csv")]
            self.assertEqual([Path(one).name for one in written], ["a.json", "a_results.csv", "a_snapshots.csv"])
            told = []
            for path in written:
                done = run("telemetry", path, "--json", text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                told.append(json.loads(done.stdout))
            function = told[0]["functions"][0]
            self.assertEqual((function["name"], function["net_bytes"], function["peak_over_entry_bytes"]),
                             ("work", 40 * MIB, 80 * MIB))
            self.assertEqual(told[1]["functions"][0]["net_bytes"], 40 * MIB)
            self.assertEqual(told[2]["devices"][0]["peak_allocated_bytes"], 140 * MIB)
            self.assertEqual(json.loads(Path(written[0]).read_text())["results"][0]["peak_memory_usage"], 180 * MIB)
            with self.assertRaises(ValueError):
                self.profiler.export(f"{folder}/a.txt")
            with self.assertRaises(OSError):
                self.profiler.export(f"{folder}/nothing/a.json")

    def test_rules(self):
        profiler = gpustrata.GPUMemoryProfiler(0, max_bytes=170 * MIB, max_growth=30 * MIB)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            profiler.profile_function(self.work)
            profiler.profile_function(self.work)
        self.assertEqual([alert.rule for alert in profiler.alerts], ["max_bytes", "max_growth"] * 2)
        self.assertEqual([alert.value for alert in profiler.alerts], [180 * MIB, 40 * MIB, 220 * MIB, 80 * MIB])
        self.assertEqual(len(warned), 2)

    def test_a_decorator_keeps_what_the_function_returns(self):
        @self.profiler.wrap
        def three():
            return 3

        self.assertEqual((three(), three.__name__, self.profiler.results[-1].function_name), (3, "three", "three"))

    def test_devices(self):
        class Device:
            type, index = "cuda", 0

        for device in (None, 0, "cuda", "cuda:0", Device()):
            self.assertEqual(gpustrata.GPUMemoryProfiler(device).device, "cuda:0")
        for device in (1, "cuda:7", "xpu:0", -1, 1.5):
            with self.assertRaises(ValueError):
                gpustrata.GPUMemoryProfiler(device)
        process = gpustrata.GPUMemoryProfiler("cpu")
        held = bytearray(8 * MIB)
        result = process.profile_function(lambda: held.extend(b"x" * (32 * MIB)))
        self.assertGreater(result.memory_diff(), 16 * MIB)
        self.assertEqual((process.device, result.memory_before.device_id), ("cpu", -1))


class OnPyTorchsCounters(unittest.TestCase):
    """Where gpustrata's allocator does not run; in a process of its own, with a torch that counts by itself."""

    def test_a_function(self):
        done = subprocess.run([sys.executable, "-c", FAKE_TORCH], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


FAKE_TORCH = """
import sys, types
level = {"current": 0, "peak": 0, "allocated": 0}
def take(size):
    level["current"] += size
    level["allocated"] += max(0, size)
    level["peak"] = max(level["peak"], level["current"])
def stats(device):
    assert device == 1
    return {f"allocated_bytes.all.{kind}": value for kind, value in level.items()} | {"allocation.all.allocated": 7}
class Tensor: pass
torch = types.ModuleType("torch")
torch.Tensor = Tensor
torch.cuda = types.SimpleNamespace(
    is_available=lambda: True, is_initialized=lambda: True, device_count=lambda: 2, current_device=lambda: 1,
    synchronize=lambda device: None, memory_stats=stats,
    reset_peak_memory_stats=lambda device: level.update(peak=level["current"]))
sys.modules["torch"] = torch
import gpustrata
profiler = gpustrata.GPUMemoryProfiler()
assert profiler.device == "cuda:1"
take(900); take(-800)
def work():
    take(50); take(30); take(-30)
result = profiler.profile_function(work)
assert (result.memory_diff(), result.peak_over_entry(), result.memory_gross) == (50, 80, 80), result
assert result.memory_before.max_memory_allocated == 900
try:
    gpustrata.GPUMemoryProfiler(2)
except ValueError as error:
    assert "there are 2" in str(error)
else:
    raise AssertionError("device 2 was taken")
"""
