"""What Python says of files, arguments and interruptions that are wrong: exceptions in words, never a crash."""
import contextlib
import io
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import unittest
from pathlib import Path

import gpustrata
from gpustrata._progress import Progress
from support.folders import InAFolder
from support.paths import SAMPLE


def python(code, *arguments, **options):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)], capture_output=True,
                          text=True, timeout=120, **options)


class Files(InAFolder):
    def test_no_snapshot_is_a_file_error_with_the_offset(self):
        # PROTO 2, then an opcode that does not exist: byte 2.
        with self.assertRaises(gpustrata.FileError) as caught:
            gpustrata.open(self.file(b"\x80\x02\xff."))
        self.assertEqual(caught.exception.offset, 2)
        self.assertIn("at byte 2", str(caught.exception))
        self.assertIsInstance(caught.exception, ValueError)
        for data in (b"", b"x", b"no snapshot at all", pickle.dumps([1, 2, 3]), b"{}", b"\x1f\x8b"):
            with self.subTest(data), self.assertRaises(gpustrata.FileError):
                gpustrata.open(self.file(data))

    def test_what_the_system_refuses_is_an_os_error(self):
        with self.assertRaises(FileNotFoundError):
            gpustrata.open(self.folder / "nothing")
        with self.assertRaisesRegex(OSError, "folder"):
            gpustrata.open(self.folder)
        with self.assertRaises(TypeError):
            gpustrata.open(3)
        with self.assertRaises(TypeError):
            gpustrata.open(None)

    def test_a_cut_file_shows_what_came_before(self):
        data = SAMPLE.read_bytes()
        with gpustrata.open(self.file(data[:len(data) // 2])) as file:
            self.assertGreater(file.events().num_rows, 0)
            self.assertIn("truncated", [one["name"] for one in file.diagnostics])

    def test_a_file_of_any_name(self):
        for name in ("-", "--json", "ä \n'\"", b"\xff.pickle"):
            with self.subTest(name):
                path = os.path.join(os.fsencode(self.folder), os.fsencode(name))
                with open(path, "wb") as out:
                    out.write(SAMPLE.read_bytes())
                here = os.getcwd()
                os.chdir(self.folder)
                try:
                    with gpustrata.open(name) as file:
                        self.assertEqual(file.top()["tops"][0]["device"], 0)
                        self.assertEqual(file.compare(file)["devices"][0]["device"], {"before": 0, "after": 0})
                finally:
                    os.chdir(here)

    def test_memory_is_refused_before_it_is_taken(self):
        with self.assertRaises(MemoryError):
            gpustrata.open(SAMPLE, memory_limit=4096)
        with self.assertRaises(ValueError):
            gpustrata.open(SAMPLE, memory_limit=-1)
        # 2^16 stacks of 2^16 frames each, in a file of some MiB: the table of them would have 2^32 rows.
        frames = [{"filename": "f", "line": i, "name": "n"} for i in range(1 << 16)]
        events = [{"action": "alloc", "addr": 512 * i, "size": 1, "stream": 0, "frames": frames[i:]} for i in range(64)]
        with gpustrata.open(self.file(pickle.dumps({"segments": [], "device_traces": [events]})),
                            memory_limit=20 << 20) as file:
            with self.assertRaises(MemoryError):
                file.stacks()
            self.assertEqual(file.events().num_rows, 64)

    def test_texts_that_are_no_utf8(self):
        event = {"action": "alloc", "addr": 1, "size": 1, "stream": 0, "user_metadata": "x",
                 "frames": [{"filename": "\ud800", "line": 1, "name": "n"}]}
        data = pickle.dumps({"segments": [], "device_traces": [[event]]}, protocol=2)
        with gpustrata.open(self.file(data)) as file:
            self.assertEqual(file.stacks().to_pydict()["frames"][0][0]["name"], "n")
            self.assertEqual(file.events().to_pydict()["user_metadata"], ["x"])

    def test_actions_nobody_knows(self):
        events = [{"action": f"new_{i}", "addr": 1, "size": 1, "stream": 0} for i in range(200)]
        with gpustrata.open(self.file(pickle.dumps({"segments": [], "device_traces": [events]}))) as file:
            self.assertEqual(file.events().to_pydict()["action"], [event["action"] for event in events])

    def test_nothing_in_it(self):
        with gpustrata.open(self.file(pickle.dumps({"segments": [], "device_traces": []}))) as file:
            self.assertEqual(file.devices, [])
            for table in (file.events(), file.blocks(), file.segments(), file.lives(), file.stacks()):
                self.assertEqual(table.num_rows, 0)
                self.assertTrue(all(values == [] for values in table.to_pydict().values()))


class Arguments(unittest.TestCase):
    def test_wrong_ones_are_value_errors_in_words(self):
        with gpustrata.open(SAMPLE) as file:
            for call, words in [
                    (lambda: file.events(7), "There is no device 7 in this snapshot. Devices: 0"),
                    (lambda: file.events("host"), "There is no device host"),
                    (lambda: file.events("cuda:x"), "a device is None"),
                    (lambda: file.events(True), "a device is None"),
                    (lambda: file.events(1 << 40), "There is no device"),
                    (lambda: file.events(-(1 << 31)), "There is no device"),
                    (lambda: file.events("cuda:4294967296"), "There is no device 4294967296"),
                    (lambda: file.top("peak\0end"), "zero byte"),
                    (lambda: file.top(device=7), "no such device"),
                    (lambda: file.top("noon"), "say peak, end, start"),
                    (lambda: file.top(by="colour"), "colour"),
                    (lambda: file.top(rows=0), "-n"),
                    (lambda: file.state(10**6), "event"),
                    (lambda: file.whatif(conf="nonsense:1"), "nonsense"),
                    (lambda: file.whatif(without="size>"), "size")]:
                with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                    call()

    def test_a_number_that_does_not_fit_is_no_other_number(self):
        # ctypes alone keeps the low bits: 2^64 + 512 bytes were 512, device 2^32 was device 0.
        with self.assertRaisesRegex(OverflowError, "18446744073709551616 does not fit into 64 bits"):
            gpustrata.open(SAMPLE, memory_limit=1 << 64)
        done = python("""
            import gpustrata
            gpustrata.use_simulated_device(1 << 30)
            pointer = gpustrata.malloc(512)
            for call in (lambda: gpustrata.malloc((1 << 64) + 512), lambda: gpustrata.malloc(-1),
                         lambda: gpustrata.malloc(512, 1 << 32), lambda: gpustrata.free((1 << 64) + pointer),
                         lambda: gpustrata.free(pointer, 1 << 32), lambda: gpustrata.use_simulated_device(1 << 63)):
                try:
                    print("no error:", call())
                except OverflowError as error:
                    assert "does not fit into" in str(error), error
            try:
                gpustrata.dump_snapshot("a\\0b")
            except ValueError as error:
                assert "zero byte" in str(error), error
            assert gpustrata.memory_allocated() == 512
            gpustrata.free(None)
            gpustrata.free(pointer)
            print(gpustrata.memory_allocated())
        """)
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", "0\n"))

    def test_several_threads_ask_one_file(self):
        with gpustrata.open(SAMPLE) as file:
            wanted = file.top("end"), file.events().to_pydict()
            wrong = []

            def ask():
                for _ in range(5):
                    if (file.top("end"), file.events().to_pydict()) != wanted:
                        wrong.append("differs")

            threads = [threading.Thread(target=ask) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(wrong, [])


class Outputs(InAFolder):
    """Folders that refuse and disks that are full: OSError, what was there stays, nothing half is left."""

    VIEWER = "<html><body><script>document.getElementById('gpustrata-snapshot')</script></body></html>"

    def setUp(self):
        super().setUp()
        self.viewer = self.folder / "viewer.html"
        self.viewer.write_text(self.VIEWER)

    def test_a_folder_that_takes_nothing(self):
        profiler = gpustrata.GPUMemoryProfiler(device="cpu")
        profiler.profile_function(len, [])
        # /sys refuses new files to everybody; the other is not there.
        for folder in ("/sys", self.folder / "nothing"):
            with gpustrata.open(SAMPLE) as file, self.assertRaises(OSError):
                file.save_html(Path(folder, "page.html"), viewer=self.viewer)
            with self.assertRaises(OSError):
                profiler.export(Path(folder, "profile.json"))
            with self.assertRaises(OSError):
                gpustrata.MemoryTracker().save_stats(Path(folder, "memory.trace"))
        self.assertEqual(len(profiler.results), 1)

    def test_a_notebook_s_folder_that_takes_nothing(self):
        done = python("""
            import os, sys, gpustrata, gpustrata._notebook
            gpustrata._notebook._MOST_IN_NOTEBOOK = 1000
            os.chdir(sys.argv[3])
            open("gpustrata-views", "w").close()    # where the folder is to be
            file = gpustrata.open(sys.argv[1])
            try:
                file.show(viewer=sys.argv[2])
            except OSError as error:
                assert "gpustrata-views" in str(error), error
            else:
                raise AssertionError("no error")
            assert os.listdir() == ["gpustrata-views"], os.listdir()
            os.unlink("gpustrata-views")
            assert "in gpustrata-views" in repr(file.show(viewer=sys.argv[2]))
            print("goes on", file.devices)
        """, SAMPLE, self.viewer, self.folder_of_its_own())
        self.assertEqual((done.returncode, done.stdout), (0, "goes on [0]\n"), done.stderr)

    def folder_of_its_own(self):
        folder = self.folder / "work"
        folder.mkdir()
        return folder

    def test_a_full_disk(self):
        # As on a full disk, writes fail from some byte on. (Python does not let the system's signal end it.)
        done = python("""
            import os, resource, sys, gpustrata
            sample, viewer, folder = sys.argv[1:]
            os.chdir(folder)
            file = gpustrata.open(sample)
            gpustrata.use_simulated_device(1 << 30)
            gpustrata.record_memory_history(stacks="python")
            for _ in range(2000):
                gpustrata.free(gpustrata.malloc(1000))
            profiler = gpustrata.GPUMemoryProfiler(device=0)
            for _ in range(100):
                profiler.profile_function(len, [])
            tracker = gpustrata.MemoryTracker()
            tracker.memories_allocated = {i: (f"operator {i}", 1.0) for i in range(2000)}
            writers = {"run.pickle": gpustrata.dump_snapshot, "page.html": lambda path: file.save_html(path, viewer=viewer),
                       "profile.json": profiler.export, "memory.trace": tracker.save_stats,
                       "memory.svg": tracker.save_plot}
            for name in writers:
                with open(name, "w") as before:
                    before.write("before")
            unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, unlimited[1]))
            for name, write in writers.items():
                try:
                    write(name)
                except (OSError, gpustrata.CaptureError) as error:
                    print(name, error)
                else:
                    raise AssertionError(name)
            resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
            assert sorted(os.listdir()) == sorted(writers), os.listdir()
            assert {open(name).read() for name in writers} == {"before"}
            for name, write in writers.items():
                write(name)
                assert os.path.getsize(name) > 8192, name
            assert gpustrata.open("run.pickle").events().num_rows >= 4000
        """, SAMPLE, self.viewer, self.folder_of_its_own())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(done.stdout.splitlines()), 5, done.stdout)


class Processes(InAFolder):
    def test_importing_loads_no_library(self):
        done = python("""
            import sys, gpustrata
            maps = open("/proc/self/maps").read()
            assert "libgpustrata" not in maps
            assert not {"torch", "pyarrow", "numpy", "pandas", "IPython"} & set(sys.modules)
        """)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_an_interrupt_ends_reading_and_asking(self):
        # A pipe that gives nothing more: reading waits in the system; the sample first, so that it has begun.
        done = python("""
            import os, signal, sys, threading, time, gpustrata
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
            from gpustrata import _native
            try:
                _native.in_background(lambda: time.sleep(60))
            except KeyboardInterrupt:
                print("interrupted")
            gpustrata.open(sys.argv[1]).top()
            print("goes on")
        """, SAMPLE)
        self.assertEqual((done.returncode, done.stdout.split("\n")[:2]), (0, ["interrupted", "goes on"]), done.stderr)

    def test_progress_is_shown_where_it_is_wanted(self):
        # Two looks at least: 16 MiB between them.
        path = self.file({"segments": [], "device_traces": [[]], "other": bytes(40 << 20)}, "large.pickle")
        quiet = python("import sys, gpustrata; gpustrata.open(sys.argv[1])", path)
        self.assertEqual((quiet.returncode, quiet.stderr), (0, ""))
        shown = python("import sys, gpustrata; gpustrata.open(sys.argv[1], progress=True)", path)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stderr, r"^\nlarge\.pickle:  39% \|#{11}\.{19}\| 16 MiB\n")  # Python reads \r as \n

    def test_progress_is_a_bar_where_the_length_is_known(self):
        # 10 of 40 MiB are a quarter: 7 of 30 marks.
        for done, total, text in ((10, 40, " 25% |#######.......................| 10 MiB"),
                                  (40, 40, "100% |##############################| 40 MiB"), (3, 0, "3 MiB")):
            with contextlib.redirect_stderr(io.StringIO()) as told:
                bar = Progress("run.pickle", True)
                bar.show(done << 20, total << 20)
                bar.close()
            self.assertEqual(told.getvalue(), f"\rrun.pickle: {text}\r\033[K")

    def test_a_forked_child_may_read_on(self):
        done = python("""
            import os, sys, warnings, gpustrata
            warnings.simplefilter("ignore")  # since 3.12 of forks where other threads are
            file = gpustrata.open(sys.argv[1])
            events = file.events()
            child = os.fork()
            if child == 0:
                os._exit(0 if events.num_rows == 3168 and file.top() and gpustrata.open(sys.argv[1]).devices else 1)
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """, SAMPLE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_subinterpreter_reads_and_records_and_the_program_goes_on(self):
        # Before 3.12 all share one lock; one with a lock of its own may be refused ctypes, in Python's words.
        inside = self.folder / "inside.py"
        inside.write_text(textwrap.dedent("""
            import sys
            sys.path[:] = paths
            try:
                import gpustrata
                with gpustrata.open(sample) as file:
                    assert file.events().num_rows == 3168 and file.top()
                assert gpustrata.malloc(2000)
                print("read")
            except ImportError as error:  # of ctypes, in 3.12
                assert sys.version_info[:2] == (3, 12), error
                print("refused in words:", error)
        """))
        done = python("""
            import sys, gpustrata
            try:
                import _interpreters as interpreters
            except ImportError:
                import _xxsubinterpreters as interpreters

            def ask():
                return gpustrata.malloc(1000)

            gpustrata.use_simulated_device(1 << 30)
            gpustrata.record_memory_history(stacks="python")
            ask()
            sample, inside, dump = sys.argv[1:]
            one = interpreters.create()
            code = open(inside).read().replace("paths", repr(sys.path)).replace("sample", repr(sample))
            told = interpreters.run_string(one, code)
            assert told is None, told
            interpreters.destroy(one)
            ask()
            events = [event for event in gpustrata.snapshot()["device_traces"][0] if event["action"] == "alloc"]
            found = [[frame["name"] for frame in event["frames"]] for event in events]
            assert found[0] == found[-1] == ["malloc", "ask", "<module>"], found
            gpustrata.dump_snapshot(dump)
            assert gpustrata.open(dump).events().num_rows >= 2
            print("goes on")
        """, SAMPLE, inside, self.folder / "run.pickle")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "(read|refused in words: .*)\ngoes on")

    def test_ends_cleanly_with_everything_open(self):
        done = python("""
            import sys, gpustrata
            file = gpustrata.open(sys.argv[1])
            events = file.events()
            capsule = events.__arrow_c_stream__()
            class Cycle: pass
            cycle = Cycle(); cycle.me, cycle.held = cycle, (file, events, capsule)
        """, SAMPLE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_without_its_library_it_says_so(self):
        done = python("import sys, gpustrata; gpustrata.open(sys.argv[1])", SAMPLE,
                      env=dict(os.environ, GPUSTRATA_FILE="/nowhere/lib.so"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("ImportError: gpustrata: libgpustrata_file.so cannot be loaded", done.stderr)
