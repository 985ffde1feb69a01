"""Programs without Python under `gpustrata run`, over the made-up driver: what they took from it is in a journal, as they wrote it
down themselves, in whichever way they come to the driver, and nothing of them changes.

Environment: GPUSTRATA_DRIVER_PROGRAMS, the folder of driver_program and its kin; GPUSTRATA_PRELOADED, the library.
"""
import os
import pickle
import random
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from collections import Counter
from pathlib import Path

from support.paths import ROOT
from support.tool import run

sys.path.insert(0, str(ROOT / "capture" / "python"))
import gpustrata  # noqa: E402

PROGRAMS = Path(os.environ["GPUSTRATA_DRIVER_PROGRAMS"])
PRELOADED = os.environ["GPUSTRATA_PRELOADED"]
PROGRAM = PROGRAMS / "driver_program"
HOST = {"host", "hostalloc", "managed"}
FREE = ["free_requested", "free_completed", "segment_free"]
MANY = 2_000_000  # calls: more than it lives for


class Driver(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.lists = self.folder / "lists"
        self.lists.mkdir()

    def command(self, *words, options=("-o", "run.gpustrata")):
        return [sys.executable, "-m", "gpustrata", "run", *options, *map(str, words)]

    def environment(self, **more):
        return {**os.environ, "PYTHONPATH": str(ROOT / "capture" / "python"), **more}

    def run_it(self, *words, options=("-o", "run.gpustrata"), code=0, **more):
        done = subprocess.run(self.command(*words, options=options), cwd=self.folder, env=self.environment(**more),
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def journals(self):
        return sorted(path.name for path in self.folder.glob("*.gpustrata"))

    def has_begun(self):
        """The journal has its header: before that nothing has returned."""
        try:
            with open(self.folder / "run.gpustrata", "rb") as file:
                return file.read(1) == b"\x93"
        except FileNotFoundError:
            return False

    def rows(self, name="run.gpustrata"):
        """(place, action, address, size, stream, metadata, pool) in order, of the device and of the host."""
        rows = []
        with gpustrata.open(self.folder / name) as file:
            for place in (0, "host"):
                try:
                    table = file.events(place).to_pydict()
                except ValueError:  # it has none
                    continue
                rows += [("host" if place else "device", *row) for row in
                         zip(table["action"], table["address"], table["size"], table["stream"], table["user_metadata"],
                             table["pool"])]
        return rows

    def listed(self):
        """What the program wrote: allocations as (place, address, size), what it gave back, what it was giving back."""
        given, freed, freeing = Counter(), Counter(), Counter()
        for path in self.lists.iterdir():
            for line in path.read_text().splitlines(keepends=True):
                if not line.endswith("\n"):
                    continue
                kind, address, *size = line.split()
                if kind == "freed":
                    freed[int(address)] += 1
                elif kind == "freeing":
                    freeing[int(address)] += 1
                else:
                    given["host" if kind in HOST else "device", int(address), int(size[0])] += 1
        return given, freed, freeing

    def recorded(self, rows):
        """The same of a journal, whose events must be in the order of truth."""
        given, freed, live = Counter(), Counter(), {}
        pending = {}
        for place, action, address, size, *_ in rows:
            at = place, address
            if action == "segment_alloc":
                self.assertNotIn(at, live)
                live[at] = size
                pending[at] = ["alloc"]
                continue
            self.assertEqual(live.get(at), size)
            expected = pending.get(at) or list(FREE)
            self.assertEqual(action, expected.pop(0))
            pending[at] = expected
            if action == "alloc":
                given[place, address, size] += 1
            elif action == "segment_free":
                freed[address] += 1
                del live[at], pending[at]
        self.assertFalse(any(pending.values()))
        return given, freed

    def test_each_way_of_a_program_to_the_driver_is_heard_on_eight_threads(self):
        for way in ("linked", "loaded", "asked", "streams"):
            with self.subTest(way=way):
                for old in [*self.lists.iterdir(), *self.folder.glob("*.gpustrata")]:
                    old.unlink()
                program = PROGRAMS / "driver_program_linked" if way == "linked" else PROGRAM
                done = self.run_it(program, "random", way, self.lists, 1, 300, 8)
                rows = self.rows()
                given, freed = self.recorded(rows)
                listed, listed_freed, _ = self.listed()
                self.assertEqual(given, listed)
                self.assertEqual(freed, listed_freed)
                self.assertGreater(sum(listed.values()), 1000)
                self.assertIn(f"{self.folder}/run.gpustrata: {len(rows):,} events of the CUDA driver", done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1)
                owners = {metadata for place, action, *_, metadata, _ in rows if action == "alloc"}
                self.assertEqual(owners, {program.name, "managed"})
                streams = {stream for _, action, _, _, stream, _, _ in rows if action == "alloc"}
                self.assertEqual(streams, {0, *range(16, 24)})
                pools = {tuple(pool.split(":")) if pool else None for *_, pool in rows}
                self.assertLessEqual({("0", "1"), ("0", str(0x77))}, pools)

    def test_killed_at_any_moment_what_returned_is_in_the_file(self):
        chosen = random.Random(7)
        for round_ in range(30):
            for old in [*self.lists.iterdir(), *self.folder.glob("*.gpustrata")]:
                old.unlink()
            process = subprocess.Popen(self.command(PROGRAM, "random", "asked", self.lists, round_, MANY, 8), cwd=self.folder,
                                       env=self.environment(), stderr=subprocess.DEVNULL)
            while not self.has_begun():
                time.sleep(0.001)
            time.sleep(chosen.random() * 0.2)
            process.send_signal(signal.SIGKILL)
            process.wait()
            with gpustrata.open(self.folder / "run.gpustrata") as file:
                self.assertEqual(list(file.diagnostics), [])
            given, freed = Counter(), Counter()
            for place, action, address, size, *_ in self.rows():
                if action == "alloc":
                    given[place, address, size] += 1
                elif action == "free_completed":
                    freed[address] += 1
            listed, listed_freed, freeing = self.listed()
            self.assertEqual(listed - given, Counter())
            self.assertEqual(listed_freed - freed, Counter())
            # Beyond that: at most a call of each thread that had not returned, or whose line was not written.
            self.assertLessEqual(sum((given - listed).values()), 8)
            self.assertEqual(freed - freeing, Counter())

    def test_physical_memory_counts_where_it_is_mapped(self):
        start = int(self.run_it(PROGRAM, "mapped", "asked").stdout)
        page = 2 << 20
        told = [(action, (address - start) // page) for _, action, address, size, *_ in self.rows()]
        take = ["segment_alloc", "alloc"]
        self.assertEqual(told, [(one, 0) for one in take] + [(one, 1) for one in take] + [(one, 0) for one in FREE]
                         + [(one, 3) for one in take] + [(one, 1) for one in FREE])
        with gpustrata.open(self.folder / "run.gpustrata") as file:
            self.assertEqual(file.segments(0).to_pydict()["address"], [start + 3 * page])

    def test_memory_ends_with_its_context(self):
        self.run_it(PROGRAM, "reset", "asked")
        take = ["segment_alloc", "alloc"]
        rows = self.rows()
        self.assertEqual([row[1] for row in rows if row[0] == "device"], [*take * 2, *FREE * 2, *take])
        self.assertEqual([row[1] for row in rows if row[0] == "host"], [*take, *FREE])
        self.assertEqual([row[6] for row in rows if row[1] == "segment_free" and row[0] == "device"], ["0:0", "0:1"])
        with gpustrata.open(self.folder / "run.gpustrata") as file:
            self.assertEqual(file.segments(0).to_pydict()["total_size"], [8192])

    def test_out_of_memory_says_what_was_free_and_the_program_goes_on(self):
        self.run_it(PROGRAM, "full", "loaded", code=7, FAKE_CUDA_MEMORY=str(3 << 20))
        self.assertEqual([row[1:4] for row in self.rows()][2:], [("oom", 2 << 20, 1 << 40)])

    def test_a_child_by_fork_writes_nothing(self):
        self.run_it(PROGRAM, "fork", "loaded")
        self.assertEqual([row[1] for row in self.rows()], ["segment_alloc", "alloc", *FREE])
        self.assertEqual(self.journals(), ["run.gpustrata"])

    def test_ranges_of_nvtx_are_regions(self):
        self.run_it(PROGRAM, "ranges", "asked", PRELOADED)
        run("convert", self.folder / "run.gpustrata", "-o", self.folder / "run.pickle")
        marks = [(mark["stage"], mark["name"]) for mark in pickle.loads((self.folder / "run.pickle").read_bytes())["external_annotations"]]
        self.assertEqual(marks, [("START", "step"), ("START", "forward"), ("END", "forward"), ("END", "step")])

    def test_without_the_driver_there_is_no_file_and_one_line(self):
        done = self.run_it(PROGRAM, "nothing", "3", code=3)
        self.assertEqual(done.stderr, "gpustrata: nothing was recorded in this process: it asked the CUDA driver for no memory\n")
        self.assertEqual(self.journals(), [])

    def test_programs_that_read_an_ended_pipe_and_signals_are_as_without_us(self):
        done = self.run_it("--", "sh", "-c", "kill -SEGV $$", code=-signal.SIGSEGV)
        self.assertEqual(done.stdout, "")
        process = subprocess.Popen(self.command(PROGRAM, "random", "loaded", self.lists, 1, 10, 1), cwd=self.folder,
                                   env=self.environment(), stderr=subprocess.PIPE)
        process.stderr.close()
        self.assertEqual(process.wait(), 0)

    def test_what_is_preloaded_already_is_kept_and_ours_is_there_once(self):
        other = self.folder / "other.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", other], input=b"int other_is_here = 1;", check=True)
        preloaded = next(line.partition("=")[2] for line in self.run_it("--", "env", LD_PRELOAD=str(other)).stdout.splitlines()
                         if line.startswith("LD_PRELOAD="))
        self.assertEqual(preloaded.split(":"), [PRELOADED, str(other)])
        nested = self.run_it("--", *self.command("--", "env"), LD_PRELOAD=str(other)).stdout
        self.assertIn(f"LD_PRELOAD={PRELOADED}:{other}\n", nested)
        self.run_it(PROGRAM, "random", "asked", self.lists, 1, 20, 1, LD_PRELOAD=str(other))
        self.assertEqual(self.journals(), ["run.gpustrata"])

    def test_a_library_that_stands_between_is_asked_and_nothing_is_told_twice(self):
        other = self.folder / "other.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", other], check=True, input=b"""
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <stdio.h>
            static int calls;
            int cuMemAlloc_v2(unsigned long long* address, unsigned long bytes) {
              int (*next)(unsigned long long*, unsigned long) = dlsym(RTLD_NEXT, "cuMemAlloc_v2");
              ++calls;
              return next == cuMemAlloc_v2 ? 999 : next(address, bytes);
            }
            __attribute__((destructor)) static void end(void) { printf("%d\\n", calls); }
        """)
        done = self.run_it(PROGRAMS / "driver_program_linked", "random", "linked", self.lists, 1, 100, 1, LD_PRELOAD=str(other))
        given, freed = self.recorded(self.rows())
        listed, listed_freed, _ = self.listed()
        self.assertEqual((given, freed), (listed, listed_freed))
        self.assertGreater(int(done.stdout), 0)

    def test_exit_in_the_handler_of_a_signal_ends_the_program(self):
        for _ in range(20):
            for old in self.folder.glob("*.gpustrata"):
                old.unlink()
            process = subprocess.Popen(self.command(PROGRAM, "ended", "asked", self.lists, 1, MANY), cwd=self.folder,
                                       env=self.environment(), stderr=subprocess.DEVNULL)
            while not self.journals():
                time.sleep(0.001)
            time.sleep(0.02)
            process.terminate()
            self.assertEqual(process.wait(timeout=20), 9)

    def test_the_environment_alone_does_the_same(self):
        environment = {**os.environ, "LD_PRELOAD": PRELOADED, "GPUSTRATA_DRIVER": str(self.folder / "{rank}-{pid}.gpustrata"),
                       "GPUSTRATA_DRIVER_MAX_SIZE": str(1 << 20), "RANK": "3"}
        environment.pop("GPUSTRATA_CAPTURE")  # it lies beside
        process = subprocess.Popen([PROGRAM, "random", "asked", self.lists, "1", "100", "2"], env=environment, stderr=subprocess.DEVNULL)
        self.assertEqual(process.wait(), 0)
        self.assertEqual(self.journals(), [f"3-{process.pid}.gpustrata"])
        self.assertEqual(self.recorded(self.rows(self.journals()[0])), self.listed()[:2])

    def test_two_of_one_name_are_two_files(self):
        for _ in range(2):
            self.run_it(PROGRAM, "random", "asked", self.lists, 1, 20, 1)
        self.assertEqual(self.journals(), ["run-2.gpustrata", "run.gpustrata"])

    def test_a_folder_that_takes_nothing(self):
        done = self.run_it(PROGRAM, "random", "asked", self.lists, 1, 20, 1, options=("-o", "/proc/run.gpustrata"),
                           TMPDIR=str(self.folder))
        self.assertIn(f"gpustrata: {self.folder}/run.gpustrata: ", done.stderr)
        done = self.run_it(PROGRAM, "random", "asked", self.lists, 1, 20, 1, options=("-o", "/proc/run.gpustrata"), TMPDIR="/proc")
        self.assertEqual(done.stderr, "gpustrata: the driver is not recorded: /proc/run.gpustrata: No such file or directory\n")

    def test_programs_into_which_nothing_can_be_preloaded_run(self):
        done = self.run_it(PROGRAMS / "driver_program_static", code=5)
        self.assertEqual(done.stdout, "static\n")
        self.assertIn("driver_program_static is linked statically, which leaves no place for it\n", done.stderr)
        checked = self.folder / "checked"
        subprocess.run(["cc", "-fsanitize=address", "-xc", "-", "-o", checked], input=b"int main(void) { return 4; }", check=True)
        self.assertIn("checked has AddressSanitizer, before which nothing may be preloaded\n", self.run_it(checked, code=4).stderr)
        other = self.folder / "of_another"
        other.write_bytes(PROGRAM.read_bytes())
        other.chmod(stat.S_ISUID | 0o755)
        done = self.run_it(other, "nothing")
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("of_another runs with another user's rights (setuid)", done.stderr)

    def test_without_stacks_the_caller_is_known(self):
        self.run_it(PROGRAM, "random", "asked", self.lists, 1, 20, 1, options=("-o", "run.gpustrata", "--stacks", "none"))
        with gpustrata.open(self.folder / "run.gpustrata") as file:
            table = file.events(0).to_pydict()
            self.assertEqual({frames or "" for frames in map(str, file.stacks().to_pydict()["frames"])} - {"[]", ""}, set())
        owners = {owner for action, owner in zip(table["action"], table["user_metadata"]) if action == "alloc"}
        self.assertEqual(owners, {"driver_program"})

    def test_stacks_begin_in_the_program(self):
        self.run_it(PROGRAM, "random", "asked", self.lists, 1, 20, 1)
        with gpustrata.open(self.folder / "run.gpustrata") as file:
            stacks = [frames for frames in file.stacks().to_pydict()["frames"] if frames]
        self.assertTrue(stacks)
        for frames in stacks:
            self.assertTrue(frames[0]["name"].startswith("driver_program+0x"), frames[0])

    def test_a_python_only_where_it_is_asked_for(self):
        (self.folder / "program.py").write_text(textwrap.dedent("""
            import ctypes
            cuda = ctypes.CDLL("libcuda.so.1")
            context, address = ctypes.c_void_p(), ctypes.c_uint64()
            assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
            assert cuda.cuCtxSetCurrent(context) == 0
            assert cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(4096)) == 0
            print(address.value)
        """))
        self.run_it("program.py")
        self.assertEqual(self.journals(), [])
        done = self.run_it("program.py", options=("--driver", "-o", "run.pickle"))
        self.assertEqual(self.journals(), ["run-driver.gpustrata"])
        self.assertEqual([row[1:4] for row in self.rows("run-driver.gpustrata")],
                         [(action, int(done.stdout), 4096) for action in ("segment_alloc", "alloc")])

    def test_the_options_of_a_journal_are_the_drivers(self):
        self.run_it(PROGRAM, "random", "asked", self.lists, 1, 4000, 2, options=("--max-size", "1MiB", "-o", "{rank}.pickle"), RANK="4")
        self.assertEqual(self.journals(), ["4.gpustrata"])
        self.assertLessEqual((self.folder / "4.gpustrata").stat().st_size, 1 << 20)
        self.assertIn("1 MiB or more", self.run_it(PROGRAM, "nothing", options=("--max-size", "1"), code=1).stderr)

    def test_the_library_needs_the_c_library_alone(self):
        needed = subprocess.run(["readelf", "-d", PRELOADED], capture_output=True, text=True, check=True).stdout
        libraries = {line.split("[")[1].rstrip("]") for line in needed.splitlines() if "(NEEDED)" in line}
        self.assertLessEqual(libraries, {"libc.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-aarch64.so.1", "ld-linux-x86-64.so.2"})


if __name__ == "__main__":
    unittest.main()
