"""gpustrata_torch.py in real Python processes, over the fake driver.

Environment: GPUSTRATA_CAPTURE, the library; LD_LIBRARY_PATH with the fake libcuda.so.1. Every scenario is a
process of its own, since the allocator is one per process. GPUSTRATA_PRELOAD: a sanitizer's runtime.
"""
import ctypes.util
import json
import os
import pickle
import shutil
import subprocess
import sys
import textwrap

from support.folders import InAFolder
from support.paths import ROOT
from support.snapshots import MIB
from support.tool import answer, out_of

CAPTURE = ROOT / "capture"

PRELUDE = f"""
import ctypes, json, os, pickle, sys, threading, traceback
sys.path.insert(0, {str(CAPTURE)!r})
import gpustrata_torch as m
lib = m._library()
def take(size, device=0, stream=None): return lib.gpustrata_alloc(size, device, stream)
def give(pointer): lib.gpustrata_free(pointer, 0, 0, None)
class Fake:  # what a test says to the fake driver; loaded when first asked
    def __getattr__(self, name):
        function = getattr(ctypes.CDLL("libcuda.so.1"), name)
        if name in ("fake_cuda_hold", "fake_cuda_finish"): function.argtypes = [ctypes.c_void_p]
        function.restype = ctypes.c_int64
        return function
fake = Fake()
"""


class Scenario(InAFolder):
    def run_python(self, code, environment=None, expect=0):
        """(stdout, stderr) of a process that runs PRELUDE and `code` in self.folder."""
        script = self.folder / "scenario.py"
        script.write_text(PRELUDE + textwrap.dedent(code))
        variables = dict(os.environ, **(environment or {}))
        if "GPUSTRATA_PRELOAD" in variables:
            variables["LD_PRELOAD"] = variables["GPUSTRATA_PRELOAD"]
        done = subprocess.run([sys.executable, str(script)], cwd=self.folder, env=variables, text=True,
                              capture_output=True, timeout=120)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def line_of(self, text):
        lines = (self.folder / "scenario.py").read_text().splitlines()
        return next(i for i, line in enumerate(lines, 1) if text in line)

    def load(self, name):
        return pickle.loads((self.folder / name).read_bytes())


class Recording(Scenario):
    def test_a_dump_opens_in_python_and_in_the_tool(self):
        self.run_python("""
            m.record_memory_history()
            a = take(1000); b = take(5 << 20); c = take(30 << 20)
            give(b); d = take(2 << 20)
            m.dump_snapshot("run.pickle")
        """)
        snapshot = self.load("run.pickle")
        events = [(e["action"], e["size"]) for e in snapshot["device_traces"][0]]
        self.assertEqual(events, [
            ("segment_alloc", 2 * MIB), ("alloc", 1000), ("segment_alloc", 20 * MIB), ("alloc", 5 * MIB),
            ("segment_alloc", 30 * MIB), ("alloc", 30 * MIB), ("free_requested", 5 * MIB),
            ("free_completed", 5 * MIB), ("alloc", 2 * MIB)])
        self.assertEqual(sorted(s["total_size"] for s in snapshot["segments"]), [2 * MIB, 20 * MIB, 30 * MIB])
        device = answer("summary", self.folder / "run.pickle")["snapshots"][0]["devices"][0]
        self.assertEqual(device["peak"], {"requested_bytes": 1000 + 35 * MIB, "event": 5})
        self.assertEqual(device["allocated_bytes"], 1024 + 32 * MIB)
        self.assertEqual(os.listdir(self.folder).count("run.pickle"), 1)
        self.assertEqual(len(os.listdir(self.folder)), 2)  # nothing temporary is left

    def test_python_frames_are_innermost_first_with_lines(self):
        self.run_python("""
            m.record_memory_history(stacks="python")
            def inner():
                return take(1000)  # inner line
            def outer():
                return inner()  # outer line
            outer()
            json.dump([[f["name"], f["filename"], f["line"]] for f in m.snapshot()["device_traces"][0][-1]["frames"]],
                      open("frames.json", "w"))
        """)
        frames = json.loads((self.folder / "frames.json").read_text())
        script = str(self.folder / "scenario.py")
        self.assertEqual([tuple(f) for f in frames], [
            ("take", script, self.line_of("def take")),
            ("inner", script, self.line_of("# inner line")),
            ("outer", script, self.line_of("# outer line")),
            ("<module>", script, self.line_of("outer()") + 2),
        ])

    def test_the_stack_is_what_python_itself_says(self):
        """Deep recursion through C functions (sorted, map): same lines as traceback.extract_stack()."""
        self.run_python("""
            m.record_memory_history(stacks="python")
            expected = []
            def leaf():
                # One line, so that both see the same one.
                expected.append([(f.name, f.lineno) for f in traceback.extract_stack()]); take(512)
            def down(n):
                if n == 0: leaf()
                elif n % 2: list(map(down, [n - 1]))
                else: down(n - 1)
            for n in (0, 1, 17, 60): down(n)
            traces = [e["frames"] for e in m.snapshot()["device_traces"][0] if e["action"] == "alloc"]
            assert len(traces) == 4
            for frames, lines in zip(traces, expected):
                assert frames[0]["name"] == "take"
                assert [(f["name"], f["line"]) for f in frames[1:]] == lines[::-1], (frames, lines)
        """)

    def test_python_frames_stand_before_the_interpreter_loop(self):
        self.run_python("""
            m.record_memory_history()
            def down(n):
                if n == 0: take(512)
                else: list(map(down, [n - 1]))
            down(5)
            json.dump([f["name"] for f in m.snapshot()["device_traces"][0][-1]["frames"]], open("names.json", "w"))
        """)
        names = json.loads((self.folder / "names.json").read_text())
        self.assertEqual([n for n in names if n in ("take", "down", "<module>")], ["take"] + ["down"] * 6 + ["<module>"])
        loops = [i for i, name in enumerate(names) if "_PyEval_EvalFrameDefault" in name]
        if not loops and sys.version_info >= (3, 14):  # a stripped one whose loop lies in a part without a name, as Debian's
            self.assertEqual(names[-8:], ["take"] + ["down"] * 6 + ["<module>"])
            return
        self.assertEqual(len(loops), 6)  # one for each map, one for the program
        for i in loops:
            self.assertIn(names[i - 1], ("take", "down", "<module>"))
        self.assertIn("main", "".join(names[loops[-1]:]))  # C frames of the interpreter's start follow

    def test_inlined_calls_have_files_and_lines(self):
        """Known from DWARF: stack_fixture.cpp says in comments on which lines its calls stand."""
        self.assertTrue(ctypes.util.find_library("dw"), "There is no libdw.so.1 here: apt-get install libdw1")
        self.run_python("""
            m.record_memory_history()
            fixture = ctypes.CDLL(os.environ["GPUSTRATA_STACK_FIXTURE"])
            fixture.fixture_allocates.restype = ctypes.c_void_p
            assert fixture.fixture_allocates(ctypes.c_size_t(1000))
            frames = m.snapshot()["device_traces"][0][-1]["frames"][:2]
            json.dump([[f["name"], os.path.basename(f["filename"]), f["line"]] for f in frames], open("frames.json", "w"))
        """)
        frames = json.loads((self.folder / "frames.json").read_text())
        self.assertEqual(frames[0], ["inlined_into_the_fixture", "stack_fixture.cpp", 7])
        self.assertEqual(frames[1], ["fixture_allocates", "stack_fixture.cpp", 13])

    def test_threads_have_their_own_stacks(self):
        self.run_python("""
            m.record_memory_history(stacks="python")
            def in_thread(): take(1 << 20)
            threads = [threading.Thread(target=in_thread) for _ in range(8)]
            for t in threads: t.start()
            for t in threads: t.join()
            allocs = [e for e in m.snapshot()["device_traces"][0] if e["action"] == "alloc"]
            assert len(allocs) == 8
            for e in allocs: assert [f["name"] for f in e["frames"]][:3] == ["take", "in_thread", "run"]
        """)

    def test_context_levels(self):
        self.run_python("""
            def run(context):
                m.record_memory_history(context=context, stacks="python", clear_history=True)
                def allocating(): return take(1000)
                def freeing(p): give(p)
                p, kept = allocating(), allocating()
                freeing(p)
                s = m.snapshot()
                by_action = {e["action"]: [f["name"] for f in e["frames"]][1] if "frames" in e else None
                             for e in s["device_traces"][0]}
                live = [b for g in s["segments"] for b in g["blocks"] if b["state"] == "active_allocated"]
                give(kept)
                return by_action.get("alloc"), by_action.get("free_requested"), bool(live[-1]["frames"])
            assert run(None) == (None, None, False), run(None)
            assert run("state") == (None, None, True), run("state")
            assert run("alloc") == ("allocating", "allocating", True), run("alloc")
            assert run("all") == ("allocating", "freeing", True), run("all")
        """)

    def test_texts(self):
        self.run_python("""
            m.record_memory_history(context=None)
            with m.region("step 0"):
                with m.region("forward"):
                    a = take(1000)
                with m.metadata("weights"):
                    b = take(1000)
            m.annotate(a, "activation of layer 3")
            m.metadata("loose"); c = take(1000); m.metadata("")
            d = take(1000)
            s = m.snapshot()
            marks = [(x["name"], x["stage"]) for x in s["external_annotations"]]
            assert marks == [("step 0", "START"), ("forward", "START"), ("forward", "END"), ("step 0", "END")], marks
            texts = [(e["action"], e["user_metadata"]) for e in s["device_traces"][0] if e["action"] != "segment_alloc"]
            assert texts == [("alloc", ""), ("alloc", "weights"), ("annotate", "activation of layer 3"),
                             ("alloc", "loose"), ("alloc", "")], texts
        """)

    def test_ring_and_skipped_actions(self):
        self.run_python("""
            m.record_memory_history(context=None, max_entries=10, skip_actions=["free_completed"])
            for i in range(20): give(take(1000 + i))
            events = m.snapshot()["device_traces"][0]
            assert [(e["action"], e["size"]) for e in events] == [
                (action, size) for size in range(1015, 1020) for action in ("alloc", "free_requested")], events
            assert m.snapshot()["gpustrata"]["lost_events"] == [32]  # 41 events and a marker of 10 + the snapshot's
        """)

    def test_out_of_memory_leaves_a_snapshot_and_the_program_goes_on(self):
        _, told = self.run_python("""
            m.record_memory_history()
            m.dump_on_oom("oom.pickle")
            def too_much(): return take(2 << 30)
            assert too_much() is None and too_much() is None
            assert take(1000)
            m.dump_on_oom(None)
            assert too_much() is None
        """)
        self.assertEqual(sorted(p.name for p in self.folder.glob("*.pickle")), ["oom.1.pickle", "oom.pickle"])
        last = self.load("oom.pickle")["device_traces"][0][-1]
        self.assertEqual((last["action"], last["size"], last["device_free"]), ("oom", 2 << 30, 1 << 30))
        self.assertEqual([f["name"] for f in last["frames"] if f["name"] in ("take", "too_much")], ["take", "too_much"])
        self.assertIn("gpustrata: out of memory; its snapshot is oom.pickle", told)
        self.assertIn("Tried to allocate 2.00 GiB", told)

    def test_statistics(self):
        self.run_python("""
            a = take(1000); b = take(3 << 20); give(b)
            assert (m.memory_allocated(), m.max_memory_allocated()) == (1024, 1024 + (3 << 20))
            assert (m.memory_reserved(), m.max_memory_reserved()) == (22 << 20, 22 << 20)
            m.reset_peak_memory_stats()
            assert m.max_memory_allocated("cuda:0") == 1024
            m.empty_cache()
            assert m.memory_reserved() == 2 << 20
            stats = m.memory_stats()
            assert len(stats) == 123 and stats["num_device_free"] == 1
            assert "PyTorch CUDA memory summary, device ID 0" in m.memory_summary()
            m.reset_accumulated_memory_stats()
            assert m.memory_stats()["allocation.all.allocated"] == 0
            assert m.memory_stats(1)["num_ooms"] == 0
            try: m.memory_stats(7)
            except m.CaptureError as e: assert "there is no device 7" in str(e)
            else: raise AssertionError
        """, {"FAKE_CUDA_DEVICES": "2"})

    def test_devices_are_named_as_in_pytorch(self):
        self.run_python("""
            class Device:  # as torch.device
                def __init__(self, type, index): self.type, self.index = type, index
                def __repr__(self): return f"device(type={self.type!r}, index={self.index})"
            b = take(1000, 1)
            for second in (1, "cuda:1", Device("cuda", 1)): assert m.memory_allocated(second) == 1024, second
            for first in (None, 0, "cuda", "cuda:0", Device("cuda", None)): assert m.memory_allocated(first) == 0, first
            for wrong in ("cpu", "cuda:", "cuda:x", "cuda:-1", "1", "", -1, True, 1.0, Device("cpu", None), b"cuda"):
                try: m.memory_allocated(wrong)
                except ValueError as e: assert repr(wrong) in str(e), e
                else: raise AssertionError(wrong)
            try:
                with m.region("step", "cpu"): pass
            except ValueError: pass
            else: raise AssertionError
        """, {"FAKE_CUDA_DEVICES": "2"})

    def test_what_was_asked_before_the_first_request_counts(self):
        """As PyTorch, whose devices are there once CUDA has begun."""
        self.run_python("""
            m.record_memory_history(context=None)
            m.snapshot(); m.empty_cache()
            assert m.memory_stats()["num_sync_all_streams"] == 1
            take(1000); m.empty_cache()
            assert m.memory_stats()["num_sync_all_streams"] == 2
            events = [(event["action"], event["size"]) for event in m.snapshot()["device_traces"][0]]
            assert events == [("snapshot", 0), ("segment_alloc", 2 << 20), ("alloc", 1000)], events
        """)

    def test_max_entries_of_0_keeps_one_event(self):
        """As PyTorch: its ring holds max(1, max_entries)."""
        self.run_python("""
            m.record_memory_history(max_entries=0, context=None)
            take(1000); take(2000)
            assert [(e["action"], e["size"]) for e in m.snapshot()["device_traces"][0]] == [("alloc", 2000)]
            try: m.record_memory_history(max_entries=-1)
            except ValueError as e: assert "-1" in str(e)
            else: raise AssertionError
        """)

    def test_expandable_segments(self):
        """One segment that grows where it is and gives pages back from its middle."""
        self.run_python("""
            m.record_memory_history(context=None)
            a = take(20 << 20); b = take(30 << 20)
            assert b - a == 20 << 20
            ctypes.memset(a, 7, 50 << 20)  # there is memory behind it
            give(a); m.empty_cache()
            m.dump_snapshot("run.pickle")
            assert m.memory_reserved() == fake.fake_cuda_used(0) == 40 << 20
            give(b); m.empty_cache()
            assert m.memory_reserved() == fake.fake_cuda_used(0) == fake.fake_cuda_misuses() == 0
        """, {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"})
        snapshot = self.load("run.pickle")
        events = [(e["action"], e["size"] // MIB) for e in snapshot["device_traces"][0]]
        self.assertEqual(events, [
            ("segment_map", 20), ("alloc", 20), ("segment_map", 40), ("alloc", 30), ("free_requested", 20),
            ("free_completed", 20), ("segment_unmap", 20)])
        self.assertEqual([(s["is_expandable"], s["total_size"] // MIB) for s in snapshot["segments"]], [(True, 40)])
        device = answer("summary", self.folder / "run.pickle")["snapshots"][0]["devices"][0]
        self.assertEqual(device["allocated_bytes"], 30 * MIB)

    def test_streams(self):
        """Blocks of one stream are not another's; memory that a second stream uses waits for that stream."""
        for settings in ("", "expandable_segments:True"):
            with self.subTest(settings):
                self.run_python("""
                    m.record_memory_history(context=None)
                    first, second = 0x100, 0x200
                    a = take(5 << 20, 0, first)
                    give(a)
                    b = take(5 << 20, 0, second)
                    assert b != a and take(5 << 20, 0, first) == a
                    fake.fake_cuda_hold(second)
                    lib.gpustrata_hook_record_stream(ctypes.c_void_p(a), ctypes.c_void_p(second))
                    give(a)
                    states = [x["state"] for s in m.snapshot()["segments"] for x in s["blocks"] if x["address"] == a]
                    assert states == ["active_pending_free"], states
                    other = []
                    thread = threading.Thread(target=lambda: other.append(take(5 << 20, 0, first)))
                    thread.start(); thread.join()
                    assert other[0] != a
                    fake.fake_cuda_finish(second)
                    assert take(5 << 20, 0, first) == a
                    streams = {s["stream"] for s in m.snapshot()["segments"]}
                    assert streams == {first, second}, streams
                    events = [(e["action"], e["stream"]) for e in m.snapshot()["device_traces"][0] if e["addr"] == a
                              and e["action"] in ("alloc", "free_requested", "free_completed")]
                    assert events == [("alloc", first), ("free_requested", first), ("free_completed", first)] * 2 + [
                        ("alloc", first)], events
                    assert fake.fake_cuda_misuses() == 0
                """, {"PYTORCH_CUDA_ALLOC_CONF": settings} if settings else None)

    def test_dump_at_exit_after_an_exception(self):
        _, told = self.run_python("""
            m.record_memory_history()
            m.dump_at_exit("last.pickle")
            kept = take(1000)
            raise SystemError("the program fails")
        """, expect=1)
        self.assertIn("the program fails", told)
        trace = self.load("last.pickle")["device_traces"][0]
        self.assertEqual([e["action"] for e in trace], ["segment_alloc", "alloc"])
        self.assertIn("take", [f["name"] for f in trace[1]["frames"]])


class Faults(Scenario):
    def test_no_driver(self):
        out, told = self.run_python("""
            print(m.devices())
            assert take(1000) is None
            assert take(1000) is None
            m.record_memory_history()
            m.dump_snapshot("empty.pickle")
            assert m.install() is False
            print("goes on")
        """, {"LD_LIBRARY_PATH": ""} if not self.has_driver() else {"FAKE_CUDA_DEVICES": "0"})
        self.assertIn("goes on", out)
        self.assertEqual(told.count("no CUDA driver: ") + told.count("CUDA driver does not start"), 2, told)
        self.assertEqual(self.load("empty.pickle")["segments"], [])

    @staticmethod
    def has_driver():
        """A real one on this machine."""
        return shutil.which("nvidia-smi") is not None

    def test_no_library(self):
        self.run_python("""
            os.environ["GPUSTRATA_CAPTURE"] = "/nowhere/lib.so"
            m._loaded = None
            try: m.memory_stats()
            except m.CaptureError as e: assert "/nowhere/lib.so" in str(e) and "GPUSTRATA_CAPTURE" in str(e), e
            else: raise AssertionError
        """)

    def test_wrong_calls_are_exceptions_with_words(self):
        self.run_python("""
            def refusal(action):
                try: action()
                except m.CaptureError as error: return str(error)
                raise AssertionError("no error")
            assert "java" in refusal(lambda: m.record_memory_history(stacks="java"))
            assert "No such file or directory" in refusal(lambda: m.dump_snapshot("/no/folder/x.pickle"))
            assert "max_split_size_mb" in refusal(lambda: m.set_allocator_settings("max_split_size_mb:1"))
            assert "no allocation starts at 0x1234" in refusal(lambda: m.annotate(0x1234, "x"))
        """)

    def test_a_wrong_environment_is_told_and_ignored(self):
        _, told = self.run_python("assert take(1000)", {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:1"})
        self.assertIn("gpustrata: PYTORCH_CUDA_ALLOC_CONF is ignored", told)
        self.assertIn("max_split_size_mb", told)
        # A key that only a newer PyTorch knows costs no other.
        _, told = self.run_python("assert take(1000)", {"PYTORCH_CUDA_ALLOC_CONF": "max_splt_size_mb:128"})
        self.assertIn("gpustrata: PYTORCH_CUDA_ALLOC_CONF: max_splt_size_mb is not known here", told)

    def test_the_slow_unwinder_is_told(self):
        """Where libunwind cannot be loaded: an empty file stands before the system's."""
        (self.folder / "libunwind.so.8").touch()
        libraries = {"LD_LIBRARY_PATH": f"{self.folder}:{os.environ['LD_LIBRARY_PATH']}"}
        program = """
            m.record_memory_history(stacks="python"); print(m.cpp_unwinder())
            sys.stderr.write("and C++\\n"); sys.stderr.flush()
            m.record_memory_history(); m.record_memory_history()
            take(1000)
            assert any("gpustrata" not in f["name"] for f in m.snapshot()["device_traces"][0][-1]["frames"])
        """
        out, told = self.run_python(program, libraries)
        self.assertEqual(out, "libgcc\n")
        self.assertTrue(told.startswith("and C++\n"), told)
        self.assertEqual(told.count("C++ stacks are gathered by the compiler's unwinder"), 1, told)
        self.assertIn("libunwind.so.8", told)
        _, told = self.run_python(program, {**libraries, "GPUSTRATA_UNWINDER": "libgcc"})
        self.assertEqual(told, "and C++\n")

    def test_fork(self):
        """As a DataLoader's workers do it: the child holds the parent's tensors and frees them at its end."""
        _, told = self.run_python("""
            m.record_memory_history()
            p = take(1000)
            child = os.fork()
            if child == 0:
                assert take(1000) is None
                give(p)
                try: m.dump_snapshot("child.pickle")
                except m.CaptureError as e: assert "forked child" in str(e)
                sys.exit(7)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
            give(p)
            m.dump_snapshot("parent.pickle")
            assert not os.path.exists("child.pickle")
        """)
        self.assertEqual(told.count("forked child"), 1, told)
        self.assertEqual([e["action"] for e in self.load("parent.pickle")["device_traces"][0]],
                         ["segment_alloc", "alloc", "free_requested", "free_completed"])

    def test_ending_while_threads_allocate(self):
        self.run_python("""
            m.record_memory_history()
            def forever():
                while True: give(take(1000))
            for _ in range(4): threading.Thread(target=forever, daemon=True).start()
            import time; time.sleep(0.2)
        """)

    def test_a_second_copy_is_noticed(self):
        copy = self.folder / "libgpustrata_capture.so"
        shutil.copy(os.environ["GPUSTRATA_CAPTURE"], copy)
        _, told = self.run_python(f"""
            other = ctypes.CDLL({str(copy)!r})
            lib.gpustrata_hook_init(1)
        """)
        self.assertIn("two copies are loaded", told)


class Files(Scenario):
    def test_rank_and_process_are_in_the_name(self):
        out, _ = self.run_python("""
            m.use_simulated_device(1 << 30)
            m.record_memory_history()
            m.dump_snapshot("run_{rank}_{pid}.pickle")
            m.dump_on_oom("oom_{rank}.pickle")
            assert not take(2 << 30)
            print(os.getpid())
        """, {"RANK": "7"})
        self.assertTrue((self.folder / f"run_7_{int(out)}.pickle").exists())
        self.assertTrue((self.folder / "oom_7.pickle").exists())

    def test_the_functions_of_a_mempool_never_wait_for_python(self):
        # They are called under a lock of PyTorch's; a thread that holds Python's lock may wait for that one.
        self.run_python("""
            m.record_memory_history(stacks="python")
            lib.gpustrata_mempool_alloc.restype = ctypes.c_void_p
            lib.gpustrata_mempool_alloc.argtypes = [ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
            lib.gpustrata_mempool_free.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
            with_python = take(1000)
            without = lib.gpustrata_mempool_alloc(1000, 0, None)
            lib.gpustrata_mempool_free(without, 1000, 0, None)
            stacks = [len(e["frames"]) for e in m.snapshot()["device_traces"][0] if e["action"] == "alloc"]
            assert stacks[0] > 0 and stacks[1] == 0, stacks
        """)


FAKE_TORCH = """
import sys, types
calls = []
class Inner:
    def __getattr__(self, name):
        if name == "set_base_alloc_fn" and OLD: raise AttributeError(name)
        if name in TOO_OLD: raise AttributeError(name)
        if name.startswith("set_"): return lambda address: calls.append((name, address))
        raise AttributeError(name)
class CUDAPluggableAllocator:
    def __init__(self, path, alloc, free):
        library = ctypes.CDLL(path)
        self.pair = [ctypes.cast(getattr(library, n), ctypes.c_void_p).value for n in (alloc, free)]
        self.inner = Inner()
    def allocator(self): return self.inner
def change_current_allocator(allocator):
    if USED: raise RuntimeError("Can't swap an already initialized allocator")
    calls.append(("change", allocator.pair))
def native(name, answer=None):  # PyTorch's own
    return lambda *given, **named: (calls.append((name, given, named)), answer)[1]
torch = types.ModuleType("torch")
torch.__version__ = "1.13"
torch.cuda = types.SimpleNamespace(is_initialized=lambda: False, current_device=lambda: 1,
    memory_stats=native("memory_stats", {"allocated_bytes.all.peak": 5}), memory_allocated=native("memory_allocated"),
    memory=types.SimpleNamespace(CUDAPluggableAllocator=CUDAPluggableAllocator,
                                 memory_stats=native("memory_stats"), _snapshot=native("_snapshot", {"theirs": 1}),
                                 _dump_snapshot=native("_dump_snapshot"),
                                 _record_memory_history=native("_record_memory_history"),
                                 change_current_allocator=change_current_allocator))
sys.modules["torch"] = torch
"""


class Install(Scenario):
    def torch(self, old=False, used=False, too_old=()):
        return textwrap.indent(f"OLD, USED, TOO_OLD = {old}, {used}, {too_old!r}\n" + FAKE_TORCH, " " * 12)

    def test_importing_needs_no_torch(self):
        self.run_python("assert 'torch' not in sys.modules")

    def test_without_torch(self):
        out, told = self.run_python("""
            sys.modules["torch"] = None  # importing it fails
            print(m.install())
        """)
        self.assertEqual(out, "False\n")
        self.assertIn("gpustrata: not installed, PyTorch's own allocator stays", told)

    def test_hooks_and_functions_are_given(self):
        self.run_python(self.torch() + """
            assert m.install() is True and m.install() is True
            assert [c[0] for c in calls] == [s for s, _ in m._HOOKS] + ["change"]
            assert all(address for name, address in calls[:-1])
            # What PyTorch would call is this library.
            alloc, free = calls[-1][1]
            pointer = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)(alloc)(1000, 0, None)
            assert m.memory_allocated(0) == 1024
            ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)(free)(pointer, 1000, 0, None)
            assert m.memory_allocated(0) == 0
        """)

    def test_an_older_pytorch_lacks_a_hook(self):
        self.run_python(self.torch(old=True) + """
            assert m.install() is True
            assert "set_base_alloc_fn" not in [c[0] for c in calls]
        """)

    def test_a_pytorch_without_pool_hooks_is_refused(self):
        # Around 2.1 they had other names and types: memory of a CUDA graph would come from the common pool.
        for missing in ("set_begin_allocate_to_pool", "set_end_allocate_to_pool_fn", "set_release_pool"):
            _, told = self.run_python(self.torch(too_old=(missing,)) + """
            assert m.install() is False
            assert "change" not in [c[0] for c in calls]
            """)
            self.assertIn(f"this PyTorch (1.13) is too old: its pluggable allocator has no {missing}", told)

    def test_what_could_not_be_installed_is_recorded_by_pytorch(self):
        self.run_python(self.torch(used=True) + """
            assert m.install() is False
            m.record_memory_history(stacks="python", max_entries=10)
            assert calls[-1] == ("_record_memory_history", ("all",),
                                 {"context": "all", "stacks": "python", "max_entries": 10, "device": None})
            assert m.snapshot() == {"theirs": 1}
            m.dump_snapshot("rank{rank}.pickle")
            assert calls[-1] == ("_dump_snapshot", ("rank3.pickle",), {})
            assert m.max_memory_allocated(0) == 5
        """, {"RANK": "3"})

    def test_texts_go_to_a_pytorch_that_records_itself(self):
        self.run_python(self.torch(used=True) + """
            torch.cuda.memory._set_memory_metadata = native("metadata")
            assert m.install() is False
            del calls[:]
            with m.metadata("weights"):
                with m.metadata(None): pass
            assert [given for _, given, _ in calls] == [("weights",), ("",), ("weights",), ("",)], calls
        """)

    def test_pytorch_s_own_questions_are_answered(self):
        self.run_python(self.torch() + """
            assert m.install() is True
            m.record_memory_history()
            held = take(1000)
            import torch
            assert torch.cuda.memory_allocated(0) == 1024
            assert torch.cuda.memory.memory_stats(0) == m.memory_stats(0)
            assert torch.cuda.memory._snapshot()["device_traces"][0][-1]["size"] == 1000
            torch.cuda.memory._record_memory_history(False)  # its older form
            give(take(3000))
            torch.cuda.memory._dump_snapshot("theirs.pickle")
            with open("theirs.pickle", "rb") as file:
                dumped = pickle.load(file)
            assert dumped["segments"][0]["allocated_size"] == 1024
            assert 3000 not in [event["size"] for trace in dumped["device_traces"] for event in trace]
            assert not any(name.startswith(("_", "memory")) for name, *_ in calls)
        """)

    def test_installing_does_not_begin_the_driver(self):
        # A fork after it, as of data loaders, and a CUDA_VISIBLE_DEVICES set after it are as without it.
        self.run_python(self.torch() + """
            assert m.install() is True
            child = os.fork()
            if child == 0: os._exit(0 if take(1000) and fake.fake_cuda_misuses() == 0 else 1)
            assert os.waitpid(child, 0)[1] == 0
            assert take(1000)
        """)

    def test_too_late(self):
        _, told = self.run_python(self.torch(used=True) + "            assert m.install() is False\n")
        self.assertIn("PyTorch's own allocator stays: Can't swap an already initialized allocator", told)


class Journal(Scenario):
    """What the history keeps is in the journal, too; the command reads both."""

    def read_journal(self, name="run.gpustrata"):
        out = self.folder / "read.pickle"
        out.unlink(missing_ok=True)
        out_of("convert", self.folder / name, "-o", out)
        return pickle.loads(out.read_bytes())

    WORK = """
            m.set_allocator_settings("max_split_size_mb:64")
            m.record_memory_history(stacks="python")
            before = take(7 << 20)
            m.journal("run.gpustrata")
            with m.region("load"), m.metadata("weights"):
                a = take(1000); b = take(5 << 20)
            m.annotate(a, "a name")
            c = take(30 << 20, stream=2)
            give(b); d = take(2 << 20); give(before)
            m.dump_snapshot("run.pickle")
    """

    def check(self):
        journal, snapshot = self.read_journal(), self.load("run.pickle")
        events = snapshot["device_traces"][0]
        # The journal was begun behind the first segment and its block; the dump notes a snapshot when it is taken.
        *got, last = journal["device_traces"][0]
        self.assertEqual(last["action"], "snapshot")
        self.assertEqual(got, events[2:])
        self.assertEqual([os.path.basename(f["filename"]) for f in got[0]["frames"]], ["scenario.py"] * 2)  # take(), the script
        wanted = snapshot["segments"]
        for segment in wanted:
            for block in segment["blocks"]:
                if block["state"] == "inactive":  # what it was asked for last is in the dump alone
                    block["requested_size"] = 0
        # A block's metadata is in the journal alone.
        told = [(b["requested_size"], b.pop("user_metadata")) for s in journal["segments"] for b in s["blocks"] if "user_metadata" in b]
        self.assertEqual(told, [(1000, "weights")])
        self.assertEqual(journal["segments"], wanted)
        self.assertEqual(journal["external_annotations"], snapshot["external_annotations"])
        self.assertEqual(journal["allocator_settings"], snapshot["allocator_settings"])

    def test_it_holds_what_the_dump_holds(self):
        self.run_python(self.WORK + """
            m.journal(None)
        """)
        self.check()

    def test_a_killed_program_leaves_the_same(self):
        self.run_python(self.WORK + """
            os.kill(os.getpid(), 9)
        """, expect=-9)
        self.check()

    def test_cpp_frames_are_places_in_their_library(self):
        self.run_python("""
            m.record_memory_history()
            m.journal("run.gpustrata")
            take(1000)
            os._exit(0)
        """)
        frames = self.read_journal()["device_traces"][0][0]["frames"]
        self.assertRegex(frames[0]["name"], r"\+0x[0-9a-f]+$")
        self.assertTrue(any(f["filename"].endswith("scenario.py") for f in frames))

    def test_what_cannot_be_is_an_error_and_changes_nothing(self):
        self.run_python("""
            def fails(text, call, *arguments, **more):
                try: call(*arguments, **more)
                except m.CaptureError as error: assert text in str(error), error
                else: raise AssertionError(text)
            fails("record_memory_history", m.journal, "run.gpustrata")
            m.record_memory_history(stacks="python")
            fails("no/such: No such file", m.journal, "no/such")
            fails("1.0 MiB or more", m.journal, "run.gpustrata", max_size=1000)
            m.journal("run.gpustrata")
            fails("skip_actions", m.record_memory_history, skip_actions=["alloc"])
            take(1000)
            m.record_memory_history(None)
            take(1000)
            assert not os.path.exists("no")
        """)
        self.assertEqual([e["action"] for e in self.read_journal()["device_traces"][0]], ["segment_alloc", "alloc"])
