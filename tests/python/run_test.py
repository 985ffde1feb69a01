"""`gpustrata run` and gpustrata.record where there is no PyTorch, or none that can be recorded: the program is as without us.

What is recorded of a real PyTorch: tests/torch/run_test.py.
"""
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import types
import unittest
import unittest.mock
from pathlib import Path

import gpustrata
from gpustrata._run import files, history, observe, options

TOOL = os.environ["GPUSTRATA_TOOL"]
# What a process is like: printed by the program once as it is, and once in a run.
LIKE = """
    import __main__, json, os, sys
    print(json.dumps({
        "argv": sys.argv, "path": sys.path, "name": __name__, "file": __file__, "main": __main__.__file__,
        "site": "sitecustomize" in sys.modules, "finders": [str(type(one)) for one in sys.meta_path],
        "input": sys.stdin.read(), "flags": str(sys.flags), "orig": getattr(sys, "orig_argv", [""])[1:],
        "warnings": sys.warnoptions, "folder": os.getcwd(), "package": __package__, "parent": os.getppid()}))
"""
ERROR = "import sys\ndef inner():\n    raise KeyError('wrong')\ninner()\n"


class Program(unittest.TestCase):
    """A folder with programs; each run leaves nothing in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    def start(self, *words, **environment):
        return subprocess.Popen([str(word) for word in words], cwd=self.folder, text=True, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environment},
                                # Ignored where the tests were begun in the background.
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def do(self, *words, stdin="", **environment):
        process = self.start(*words, **environment)
        out, error = process.communicate(stdin, timeout=120)
        return subprocess.CompletedProcess(words, process.returncode, out, error)

    def python(self, *words, **more):
        return self.do(sys.executable, *words, **more)

    def run_(self, *words, flags=(), **more):
        return self.python(*flags, "-m", "gpustrata", "run", *words, **more)


class IsAsWithoutUs(Program):
    def like(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        # Waiting for PyTorch is all that there is; the command's own options are not the program's.
        told["finders"] = [name for name in told["finders"] if "_UntilTorch" not in name]
        return told

    def test_a_script_is_itself(self):
        self.write("programs/like.py", LIKE)
        words = ["programs/like.py", "--steps", "1", "-m", "a b"]
        for flags in ([], ["-u", "-O"], ["-W", "error::ImportWarning"], ["-X", "dev"], ["-bB"]):
            with self.subTest(flags=flags):
                plain = self.like(self.python(*flags, *words, stdin="text"))
                self.assertEqual(plain["input"], "text")
                self.assertEqual(self.like(self.run_(*words, flags=flags, stdin="text")), plain)

    def test_a_module_is_itself(self):
        self.write("package/__init__.py", "")
        self.write("package/like.py", LIKE)
        plain = self.like(self.python("-m", "package.like", "x"))
        self.assertEqual(self.like(self.run_("-m", "package.like", "x")), plain)

    def test_a_command_is_itself(self):
        self.write("like.py", LIKE)
        plain = self.like(self.python("like.py"))
        self.assertEqual(self.like(self.run_("--", sys.executable, "like.py")), plain)

    def test_a_sitecustomize_of_the_user_s_still_runs(self):
        place = self.write("own/sitecustomize.py", "import sys\nsys.own = 5\n").parent
        self.write("a.py", "import sys, sitecustomize\nprint(sys.own, sitecustomize.__file__)\n")
        both = os.pathsep.join([str(place), os.environ["PYTHONPATH"]])
        plain = self.python("a.py", PYTHONPATH=both)
        self.assertEqual(plain.stdout, f"5 {place / 'sitecustomize.py'}\n")
        self.assertEqual(self.run_("a.py", PYTHONPATH=both).stdout, plain.stdout)

    def test_the_exit_code_is_the_program_s(self):
        self.write("a.py", "import sys\nsys.exit(int(sys.argv[1]))\n")
        for code in (0, 3, 77):
            self.assertEqual(self.run_("a.py", code).returncode, code)
        self.write("b.py", "import os\nos._exit(9)\n")
        self.assertEqual(self.run_("b.py").returncode, 9)

    def test_a_traceback_is_the_program_s(self):
        self.write("a.py", ERROR)
        plain, run = self.python("a.py"), self.run_("a.py")
        self.assertEqual(run.returncode, plain.returncode)
        self.assertIn("KeyError: 'wrong'", plain.stderr)
        self.assertTrue(run.stderr.startswith(plain.stderr), run.stderr)

    def test_signals_reach_the_program(self):
        self.write("a.py", """
            import signal, sys, time
            if sys.argv[1] == "catch":
                signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))
            print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, flush=True)
            time.sleep(60)
        """)
        for how, number, code in (("catch", signal.SIGTERM, 5), ("no", signal.SIGTERM, -signal.SIGTERM),
                                  ("no", signal.SIGINT, -signal.SIGINT), ("no", signal.SIGKILL, -signal.SIGKILL)):
            with self.subTest(how=how, number=number):
                process = self.start(sys.executable, "-m", "gpustrata", "run", "a.py", how)
                self.assertEqual(process.stdout.readline(), "True\n")
                process.send_signal(number)
                process.communicate(timeout=60)
                self.assertEqual(process.returncode, code)

    def test_the_native_command_begins_the_same(self):
        self.write("like.py", LIKE)
        path = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
        plain = self.like(self.do("python3", "like.py", "--help", PATH=path))
        run = self.like(self.do(TOOL, "run", "--stacks", "none", "like.py", "--help", PATH=path))
        self.assertEqual(run, plain)

    def test_both_helps_name_the_same_options(self):
        def named(text):
            return set(re.findall(r"--[a-z-]+", text))

        for command in ("run", "dump", "estimate"):
            native = subprocess.run([TOOL, command, "--help"], capture_output=True, text=True, check=True).stdout
            self.assertEqual(named(native), named(self.python("-m", "gpustrata", command, "--help").stdout))


class NothingToRecord(Program):
    def test_a_program_without_pytorch_says_so_once(self):
        self.write("a.py", "import subprocess, sys\nprint(1)\nif len(sys.argv) < 2:\n"
                           "    subprocess.run([sys.executable, 'a.py', 'child'], check=True)\n")
        done = self.run_("a.py")
        self.assertEqual(done.stdout, "1\n1\n")
        self.assertEqual(done.stderr, "gpustrata: nothing was recorded in this process: it did not import PyTorch\n")
        self.assertEqual([one.name for one in self.folder.iterdir()], ["a.py"])

    def test_by_the_environment_alone(self):
        """GPUSTRATA_RUN in a container, where the package is installed: gpustrata.pth begins it."""
        line = (Path(gpustrata.__file__).parents[1] / "gpustrata.pth").read_text()
        program = f"exec({line!r})\nimport sys\nprint('gpustrata' in sys.modules)\n"
        self.write("a.py", program)
        self.assertEqual(self.python("a.py").stdout, "False\n")
        self.assertEqual(self.python("a.py", GPUSTRATA_RUN="0").stdout, "False\n")
        done = self.python("a.py", GPUSTRATA_RUN="--on-oom")
        self.assertEqual((done.stdout, done.stderr),
                         ("True\n", "gpustrata: nothing was recorded in this process: it did not import PyTorch\n"))

    def test_a_pytorch_that_keeps_no_history(self):
        self.write("torch.py", "__version__ = '0.9'\nclass cuda: pass\n")
        self.write("a.py", "import torch\nprint(torch.__version__, torch.__spec__.loader is torch.__loader__)\n"
                           "print([one for one in __import__('sys').meta_path if 'UntilTorch' in str(one)])\n")
        done = self.run_("a.py")
        self.assertEqual((done.returncode, done.stdout), (0, "0.9 True\n[]\n"))
        self.assertEqual(done.stderr, "gpustrata: not recorded: this PyTorch (0.9) keeps no history of its memory\n")

    def test_a_pytorch_that_fails_to_import_at_first(self):
        self.write("torch.py", """
            import os
            if not os.path.exists("libcudart"):
                raise ImportError("libcudart.so.99 is not here")
            class cuda: pass
        """)
        self.write("a.py", """
            try:
                import torch
            except ImportError as error:
                print(error)
            open("libcudart", "w").close()
            import torch
        """)
        done = self.run_("a.py")
        self.assertEqual((done.returncode, done.stdout), (0, "libcudart.so.99 is not here\n"))
        self.assertEqual(done.stderr, "gpustrata: not recorded: this PyTorch (unknown) keeps no history of its memory\n")

    def test_wrong_options_in_the_environment_are_one_line(self):
        self.write("torch.py", "class cuda: pass\n")
        self.write("a.py", "import gpustrata._run.start as start\nstart.begin()\nimport torch\nprint(1)\n")
        for text, reason in (("--stacks perl", "invalid choice"), ("--steps 5:2", "no step in '5:2'"),
                             ("-o 'a", "No closing quotation"), ("--max-events 0", "at least one event")):
            done = self.python("a.py", GPUSTRATA_RUN=text)
            self.assertEqual((done.returncode, done.stdout), (0, "1\n"))
            self.assertRegex(done.stderr, rf"^gpustrata: not recorded: GPUSTRATA_RUN: .*{reason}.*\n$")

    def test_record_without_pytorch_runs_what_is_inside(self):
        self.write("a.py", """
            import gpustrata

            @gpustrata.record(on_oom="oom.pickle")
            def main(x):
                "what it does"
                return x + 1

            with gpustrata.record("a.pickle") as one:
                print(main(1), main.__doc__, one.path)
            try:
                with gpustrata.record("a.pickle"):
                    raise KeyError(3)
            except KeyError as error:
                print(error)
        """)
        done = self.python("a.py")
        self.assertEqual(done.stdout, "2 what it does None\n3\n", done.stderr)
        self.assertEqual(done.stderr, "gpustrata: nothing is recorded: No module named 'torch'\n")


@unittest.skipUnless(importlib.util.find_spec("IPython"), "no IPython")
class Cell(Program):
    """`%%gpustrata` in IPython's own shell."""

    def cells(self, *cells):
        """What each gave, and what was printed."""
        self.write("cells.py", f"""
            from IPython.core.interactiveshell import InteractiveShell
            shell = InteractiveShell.instance(colors="nocolor")
            shell.run_cell("%load_ext gpustrata").raise_error()
            for cell in {cells!r}:
                done = shell.run_cell(cell, store_history=True)
                print(repr(done.result), type(done.error_in_exec).__name__)
        """)
        return self.python("cells.py", HOME=str(self.folder))

    def test_the_cell_runs_as_without_the_magic(self):
        done = self.cells("%%gpustrata\nx = 20\nx + 1", "%%gpustrata --on-oom\nx += 1", "%%gpustrata\n!echo $x\nx;",
                          "%%gpustrata\ndef f():\n    raise KeyError('once')\nf()")
        self.assertEqual([line for line in done.stdout.splitlines() if line.endswith("NoneType") or line.endswith("Error")],
                         ["21 NoneType", "None NoneType", "21 NoneType", "None KeyError"], done.stdout)
        self.assertEqual(done.stdout.count("KeyError: 'once'"), 1, done.stdout)
        self.assertIn("raise KeyError", done.stdout)  # the traceback knows the cell's source
        self.assertIn("\n21\n", done.stdout)
        self.assertNotIn("_run/cell.py", done.stdout.split("KeyError: 'once'")[0].split("Cell In")[-1])
        self.assertEqual(done.stderr, "gpustrata: nothing is recorded: No module named 'torch'\n")

    def test_wrong_options_run_nothing(self):
        done = self.cells("%%gpustrata --stacks some\nprint('ran')", "%%gpustrata 'a\nprint('ran')", "%%gpustrata --help\n1",
                          "%%gpustrata --dump-on-signal USR2\nprint('ran')")
        self.assertNotIn("ran\n", done.stdout)
        self.assertRegex(done.stderr, r"^gpustrata: .*some.*\ngpustrata: No closing quotation.*\ngpustrata: --dump-on-signal is of gpustrata run.*\n$")
        self.assertIn("%%gpustrata [OPTIONS]", done.stdout)

    def test_its_help_names_the_options_of_run(self):
        done = self.cells("%gpustrata")
        for option in re.findall(r"--[a-z-]+", options.parser().format_help()):
            self.assertTrue(option in ("--help",) or option in done.stdout, option)


class Usage(Program):
    def test_wrong_words(self):
        for words, reason in (([], "name a program"), (["--"], "name a program"), (["-m"], "name a program"),
                              (["--stack", "a.py"], "unrecognized"), (["--steps", "a", "a.py"], "steps are FIRST:END"),
                              (["--steps", "6:3", "a.py"], "no step"), (["--stacks", "no", "a.py"], "invalid choice"),
                              (["--max-events", "-1", "a.py"], "at least one"), (["-o", "", "a.py"], "name of the file"),
                              (["--max-size", "1GiB", "a.py"], "does not end with .gpustrata"),
                              (["-o", "a.gpustrata", "--max-size", "1048575", "a.py"], "1 MiB or more"),
                              (["-o", "a.gpustrata", "--max-size", "much", "a.py"], "is a size like"),
                              (["--dump-on-signal", "KILL", "a.py"], "no signal that a program can handle"),
                              (["--dump-on-signal", "Signals", "a.py"], "no signal that a program can handle"),
                              (["sh", "-c", "true"], "gpustrata run -- sh")):
            with self.subTest(words=words):
                done = self.run_(*words)
                self.assertEqual(done.returncode, 1)
                self.assertIn(reason, done.stderr)
                self.assertEqual(done.stdout, "")

    def test_a_command_that_is_not_there(self):
        done = self.run_("--", "no-such-command")
        self.assertEqual(done.returncode, 127)
        self.assertEqual(done.stderr, "gpustrata run: no-such-command: No such file or directory\n")

    def test_options_and_program_are_told_apart(self):
        for words, own in ((["a.py", "-o", "x"], 0), (["-o", "x", "a.py"], 2), (["--on-oom", "-m", "a", "--on-oom"], 1),
                           (["--output=x", "--", "-o"], 1), (["-ox", "-"], 1), (["--steps", "3:6", "-mpkg"], 2)):
            self.assertEqual(options.divided(words), (words[:own], words[own:]))

    def test_options_survive_the_environment(self):
        import shlex

        for given in (options.Options(), options.Options("/a b/{rank}'.pickle", True, 3, 6, "all", 7),
                      options.Options(first_step=2), options.Options(end_step=4, stacks="none"), options.Options(stacks="native", observe=True),
                      options.Options("/a/{rank}.gpustrata", stacks="native", max_size=5 << 30),
                      options.Options(notify="cat > 'a b'; true", dump_on_signal="USR2")):
            self.assertEqual(options.of_text(shlex.join(given.words())), given)
        for text in ("", "1"):
            self.assertEqual(options.of_text(text), options.Options())

    def test_wrong_arguments_of_record(self):
        for arguments in ({"steps": (3, 3)}, {"steps": (-1, 2)}, {"stacks": "perl"}, {"stacks": "native"}, {"max_events": 0}, {"path": ""},
                          {"max_size": "1GiB"}, {"path": "a.gpustrata", "max_size": 1.5}, {"path": "a.gpustrata", "max_size": 100}):
            with self.assertRaises(ValueError):
                gpustrata.record(**arguments)
        with self.assertRaises(TypeError):
            @gpustrata.record()
            def items():
                yield 1

    def test_an_interpreter_that_sees_no_environment_is_said(self):
        self.write("a.py", "print(1)\n")
        done = self.run_("a.py", flags=["-S"])
        self.assertEqual((done.returncode, done.stdout), (0, "1\n"))
        self.assertEqual(done.stderr, "gpustrata: not recorded: -S leaves out what begins the recording\n")


SNAPSHOT = {"segments": [], "device_traces": [[{"action": "alloc"}], [{"action": "snapshot"}], [{"action": "oom"}]]}


class Files(Program):
    def test_names(self):
        host = os.uname().nodename.partition(".")[0]
        self.assertEqual(files.filled("a-{host}-{rank}-{device}-{pid}-{x}", [0, 2], "3"),
                         f"a-{host}-3-cuda0+2-{os.getpid()}-{{x}}")
        self.assertEqual((files.filled("{device}", None, "3"), files.filled("{device}", [], "3")), ("cuda", "nodevice"))
        self.assertEqual(files.beside("/a.b/run-0.pickle", "-oom"), "/a.b/run-0-oom.pickle")
        self.assertEqual(history.Snapshot(SNAPSHOT, 2).devices, [0, 2])
        self.assertEqual(history.Snapshot({**SNAPSHOT, "segments": [{"device": 1}]}, 2).devices, [0, 1, 2])

    def test_a_file_that_is_begun_has_its_place_and_may_get_another_name(self):
        path = str(self.folder / "new" / "run.gpustrata")
        self.assertEqual(files.place(path, replace=True), path)
        self.assertFalse(os.path.exists(path))
        self.assertEqual(files.place(path, replace=False), path)
        second = files.place(path, replace=False)
        self.assertEqual(os.path.basename(second), "run-2.gpustrata")
        Path(second).write_text("second")
        third = files.moved(second, "run.gpustrata", replace=False)  # those two names are not free
        self.assertEqual(sorted(os.listdir(self.folder / "new")), ["run-3.gpustrata", "run.gpustrata"])
        self.assertEqual(files.moved(third, "run.gpustrata", replace=True), path)
        self.assertEqual(Path(path).read_text(), "second")
        blocked = str(self.folder / "new" / "run.gpustrata" / "a.gpustrata")  # a file is no folder
        elsewhere = files.place(blocked, replace=True)
        self.addCleanup(os.unlink, elsewhere)
        self.assertEqual(os.path.dirname(elsewhere), tempfile.gettempdir())

    def test_no_file_is_overwritten_by_sixteen_processes(self):
        path = str(self.folder / "new" / "run.pickle")
        children = []
        for _ in range(16):
            child = os.fork()
            if child == 0:
                try:
                    files.write(history.Snapshot(SNAPSHOT, 2), path, replace=False)
                finally:
                    os._exit(0)
            children.append(child)
        for child in children:
            os.waitpid(child, 0)
        self.assertEqual(sorted(one.name for one in Path(path).parent.iterdir()),
                         sorted(["run.pickle"] + [f"run-{number}.pickle" for number in range(2, 17)]))
        self.assertEqual(len({one.stat().st_size for one in Path(path).parent.iterdir()} - {0}), 1)

    def test_replace(self):
        path = self.write("a.pickle", "old")
        self.assertEqual(files.write(history.Snapshot(SNAPSHOT, 2), str(path), replace=True), str(path))
        self.assertNotEqual(path.read_bytes(), b"old")
        self.assertEqual([one.name for one in self.folder.iterdir()], ["a.pickle"])

    def test_a_folder_that_takes_nothing(self):
        self.write("file", "")
        temporary = self.folder / "temporary"
        temporary.mkdir()
        code = "import sys\nfrom gpustrata._run import files, history\n" \
               "print(files.write(history.Snapshot({'segments': [], 'device_traces': []}, 2), sys.argv[1], False))\n"
        done = self.python("-c", code, self.folder / "file" / "run.pickle", TMPDIR=str(temporary))
        self.assertEqual(done.stdout, f"{temporary / 'run.pickle'}\n", done.stderr)
        self.assertEqual([one.name for one in temporary.iterdir()], ["run.pickle"])

    def test_a_full_disk_leaves_no_half_file(self):
        code = """
            import resource, sys
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
            import signal
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            from gpustrata._run import files, history
            try:
                files.write(history.Snapshot({"segments": [{"x": "x" * 1000}], "device_traces": []}, 2), sys.argv[1], False)
            except OSError as error:
                print(error)
        """
        done = self.python("-c", textwrap.dedent(code), self.folder / "run.pickle", TMPDIR=str(self.folder))
        self.assertEqual(done.stdout, "[Errno 27] File too large\n", done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_ranks(self):
        names = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
        before = {name: os.environ.pop(name, None) for name in names}
        try:
            self.assertIsNone(files.rank_of_process(None))
            os.environ["SLURM_PROCID"] = "7"
            self.assertEqual(files.rank_of_process(None), "7")
            os.environ["RANK"] = "5"
            self.assertEqual(files.rank_of_process(None), "5")
        finally:
            for name in names:
                os.environ.pop(name, None)
            os.environ.update({name: value for name, value in before.items() if value is not None})
        self.assertEqual(files.rank_in_words("3"), "3")
        self.assertEqual(files.rank_in_words(None), "0")


class Observers(unittest.TestCase):
    """Which library hears of PyTorch's events. It is loaded, not called: the stand-in has none to tell."""

    def load(self, commit, abi=True):
        torch = types.SimpleNamespace(version=types.SimpleNamespace(git_version=commit), _C=types.SimpleNamespace(_GLIBCXX_USE_CXX11_ABI=abi))
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(os.environ["GPUSTRATA_FILE"], Path(folder) / "a1cb3c.so")
            (Path(folder) / "0fabc3.so").write_bytes(b"for another processor")
            built = ["built"]
            with unittest.mock.patch.multiple(observe, _OBSERVERS=Path(folder), _build=lambda _: built.pop() and os.environ["GPUSTRATA_FILE"]):
                name = observe._load(torch)._name
        self.assertEqual(name != os.environ["GPUSTRATA_FILE"], bool(built))
        return Path(name).name if built else "built"

    def test_that_of_the_commit_that_runs(self):
        self.assertEqual(self.load("a1cb3c"), "a1cb3c.so")

    def test_else_it_is_compiled(self):
        for commit, abi in (("b2dc4d", True), (None, True), ("a1cb3c", False), ("0fabc3", True)):
            with self.subTest(commit=commit, abi=abi):
                self.assertEqual(self.load(commit, abi), "built")


class Dump(Program):
    """The socket of a recorded process; what answers is a stand-in, since no device is here (tests/torch has a real one)."""

    SERVER = """
        import sys, time
        from gpustrata._run import dump
        class Recording:
            def dump(self, pattern):
                if pattern == "/bad":
                    raise ValueError("step 1 is not recorded")
                return pattern or "default.pickle"
        dump.listen(Recording())
        print("ready", flush=True)
        time.sleep(60)
    """

    def setUp(self):
        super().setUp()
        self.environment = {"TMPDIR": str(self.folder)}
        self.home = self.folder / f"gpustrata-{os.getuid()}"

    def listening(self):
        process = self.start(sys.executable, "-c", textwrap.dedent(self.SERVER), **self.environment)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def dump(self, *words):
        return self.python("-m", "gpustrata", "dump", *words, **self.environment)

    def test_asked_and_answered(self):
        one = self.listening()
        self.assertEqual(self.dump(one.pid).stdout, "default.pickle\n")
        self.assertEqual(self.dump(one.pid, "-o", "a.pickle").stdout, f"{self.folder}/a.pickle\n")
        listed = self.dump()
        self.assertRegex(listed.stdout, rf"^{one.pid}  .*python")
        bad = self.dump(one.pid, "-o", "/bad")
        self.assertEqual((bad.returncode, bad.stdout), (2, ""))
        self.assertEqual(bad.stderr, f"gpustrata dump: process {one.pid}: ValueError: step 1 is not recorded\n")

    def test_nobody_there(self):
        none = self.dump()
        self.assertEqual((none.returncode, none.stderr), (0, "gpustrata dump: no process of this user is recorded here\n"))
        done = self.dump(os.getpid())
        self.assertEqual(done.returncode, 2)
        self.assertIn("it is not recorded by gpustrata", done.stderr)
        self.assertEqual(self.dump("one").returncode, 1)

    def test_what_a_killed_process_left_is_removed(self):
        one = self.listening()
        one.kill()
        one.wait()
        self.assertEqual([path.name for path in self.home.iterdir()], [f"{one.pid}.socket"])
        self.dump()
        self.assertEqual(list(self.home.iterdir()), [])

    def test_any_bytes_are_answered_or_passed_over(self):
        one = self.listening()
        for data in (b"", b"\n", b"{}\n", b"[1]\n", b'{"output": 3}\n', b"\xff\xfe\n", b"x" * 100_000, b'{"output": "a\\ud800"}\n'):
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(self.home / f"{one.pid}.socket"))
                try:
                    connection.sendall(data)
                    connection.shutdown(socket.SHUT_WR)
                    self.assertLessEqual({*json.loads(connection.recv(4096) or b'{"error": 0}')}, {"error", "path"})
                except (BrokenPipeError, ConnectionResetError):
                    pass
        self.assertEqual(self.dump(one.pid).stdout, "default.pickle\n")

    def test_a_folder_that_others_may_enter_is_not_used(self):
        self.home.mkdir()
        self.home.chmod(0o755)
        done = self.dump()
        self.assertEqual(done.returncode, 2)
        self.assertIn("is not a folder of this user alone", done.stderr)
        self.home.rmdir()
        self.home.symlink_to("/tmp")
        self.assertIn("is not a folder of this user alone", self.dump().stderr)


class Package(unittest.TestCase):
    def test_importing_it_loads_nothing(self):
        code = "import sys; before = set(sys.modules); import gpustrata; print(sorted(set(sys.modules) - before))"
        self.assertEqual(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout,
                         "['gpustrata']\n")

    def test_every_name_is_there_and_told(self):
        for name in gpustrata.__all__:
            self.assertIsNotNone(getattr(gpustrata, name))
        self.assertTrue(set(gpustrata.__all__) <= set(dir(gpustrata)))
        with self.assertRaises(AttributeError):
            gpustrata.recrod  # noqa: B018

    def test_the_command_by_python(self):
        done = subprocess.run([sys.executable, "-m", "gpustrata", "--version"], capture_output=True, text=True)
        self.assertEqual(done.stdout, subprocess.run([TOOL, "--version"], capture_output=True, text=True).stdout)
