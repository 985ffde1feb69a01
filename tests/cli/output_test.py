"""What commands write, and what becomes of it when they fail, are killed, or are told to write over their input."""
import base64
import fcntl
import gzip
import json
import os
import pickle
import pty
import re
import signal
import struct
import subprocess
import tempfile
import termios
import threading
import time
from pathlib import Path

from support.folders import InAFolder, limited_to, write
from support.paths import SAMPLES, case
from support.tool import SUCCESS, TOOL, UNREADABLE as FAILED, USAGE, run
from support.viewer import VIEWER

SMALL = case("protocol4")
OTHER = case("cpp_writer")


class Terminal(InAFolder):
    def widest(self, columns):
        """The length of the longest line of a table in a terminal of so many columns."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([TOOL, "top", SAMPLES / "training_run.pickle"], stdout=theirs)
        os.close(theirs)
        written = b""
        try:
            while piece := os.read(ours, 1 << 16):
                written += piece
        except OSError:
            pass  # how a terminal ends
        os.close(ours)
        self.assertEqual(process.wait(), SUCCESS)
        return max(len(line.rstrip()) for line in re.sub(r"\x1b\[[\d;]*m", "", written.decode()).splitlines())

    def test_tables_fit_into_a_narrow_terminal(self):
        self.assertLess(self.widest(60), 66)
        self.assertGreater(self.widest(132), 66)


class WithInput(InAFolder):
    def setUp(self):
        super().setUp()
        self.viewer = self.folder / "viewer.html"
        self.viewer.write_bytes(VIEWER)
        self.input = self.folder / "in.pickle"
        self.input.write_bytes(SMALL.read_bytes())
        self.script = self.folder / "script"
        self.script.write_text("m a 2097152\nf a\n")

    def writers(self, out, source=None):
        """Every command that writes a file, so that it writes `out`."""
        source = source or self.input
        return {
            "flamegraph": ("flamegraph", source, "-o", out, "--at", "peak"),
            "flamegraph --folded": ("flamegraph", source, "--folded", "-o", out, "--at", "peak"),
            "flamegraph --json": ("flamegraph", source, "--json", "-o", out, "--at", "peak"),
            "compare": ("compare", source, OTHER, "-o", out),
            "convert": ("convert", source, "-o", out, "--to", "json"),
            "html": ("html", source, "-o", out, "--viewer", self.viewer),
            "simulate": ("simulate", self.script, "--dump", out),
        }

    def names(self):
        return sorted(p.name for p in self.folder.iterdir())


class Outputs(WithInput):
    def test_a_full_disk_leaves_the_old_file_and_nothing_else(self):
        out = self.folder / "out"
        for name, command in self.writers(out).items():
            with self.subTest(name):
                out.write_bytes(b"old")
                before = self.names()
                result = run(*command, preexec_fn=limited_to(10))
                self.assertEqual(result.returncode, FAILED, result.stderr)
                self.assertIn(b"File too large", result.stderr + result.stdout)
                self.assertIn(b"out", result.stderr + result.stdout)
                self.assertEqual((out.read_bytes(), self.names()), (b"old", before))

    def test_devices_and_folders_that_cannot_be_written_are_exit_code_2(self):
        for out in ("/dev/full", "/nothing/here", self.folder):
            for name, command in self.writers(out).items():
                with self.subTest((out, name)):
                    result = run(*command)
                    self.assertEqual(result.returncode, FAILED)
                    self.assertNotEqual(result.stderr + result.stdout, b"")

    def test_a_device_is_written_as_it_is(self):
        for name, command in self.writers("/dev/null").items():
            self.assertEqual((name, run(*command).returncode), (name, SUCCESS))

    def test_no_input_is_replaced(self):
        twin = self.folder / "twin"
        os.link(self.input, twin)
        link = self.folder / "link"
        link.symlink_to("twin")
        for out in (self.input, twin, link):
            for name, command in self.writers(out).items():
                if name == "simulate":
                    continue
                with self.subTest((out.name, name)):
                    result = run(*command)
                    self.assertEqual(result.returncode, USAGE)
                    self.assertIn(b"This is the file that is read", result.stderr + result.stdout)
        self.assertEqual(self.input.read_bytes(), SMALL.read_bytes())
        for command in (("compare", OTHER, self.input, "-o", self.input), ("html", OTHER, "--viewer", self.viewer, "-o", self.viewer),
                        ("simulate", self.script, "--dump", self.script)):
            self.assertEqual(run(*command).returncode, USAGE)
        self.assertEqual((self.input.read_bytes(), self.viewer.read_bytes()), (SMALL.read_bytes(), VIEWER))

    def test_nothing_that_is_read_is_replaced(self):
        # Beside the file itself: a trace, a table of groups, a list of paths, a file in a folder, each also by another name.
        trace = write(self.folder / "trace.json", {"traceEvents": [
            {"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]})
        groups = write(self.folder / "groups.csv", "rank,kind,name\n0,tp,a\n")
        paths = write(self.folder / "paths", f"{self.input}\n")
        ranks = self.folder / "ranks"
        facts = ranks / "r0.facts.json"
        facts.parent.mkdir()
        self.assertEqual(run("facts", self.input, "--rank", 0, "-o", facts).returncode, SUCCESS)
        twin = self.folder / "ranks_twin.json"
        os.link(facts, twin)
        for out, command in ((trace, ("convert", self.input, "--to", "pickle", "--with", trace, "-o")),
                             (groups, ("fleet", ranks, "--groups", groups, "-o")),
                             (facts, ("fleet", ranks, "-o")), (twin, ("fleet", ranks, "-o")),
                             (paths, ("facts", "--paths-from", paths, "-o"))):
            with self.subTest((out.name, *command[:1])):
                before = out.read_bytes()
                result = run(*command, out)
                self.assertEqual(result.returncode, USAGE, result.stderr)
                self.assertIn(b"This is the file that is read", result.stderr + result.stdout)
                self.assertEqual(out.read_bytes(), before)
                self.assertEqual(run(*command, self.folder / "another").returncode, SUCCESS)

    def test_standard_output(self):
        for name, command in self.writers("-").items():
            with self.subTest(name):
                result = run(*command, cwd=self.folder)
                self.assertEqual(result.returncode, SUCCESS, result.stderr)
                self.assertFalse((self.folder / "-").exists())
                named = self.folder / "named"
                self.assertEqual(run(*self.writers(named)[name]).returncode, SUCCESS)
                self.assertEqual(result.stdout, named.read_bytes())

    def test_a_link_to_nothing_yet_stays_and_its_target_is_made(self):
        (self.folder / "deep").mkdir()
        link = self.folder / "out"
        for name, command in self.writers(link).items():
            with self.subTest(name):
                link.symlink_to("deep/target")
                self.assertEqual(run(*command).returncode, SUCCESS)
                self.assertTrue(link.is_symlink())
                self.assertTrue((self.folder / "deep" / "target").is_file())
                (self.folder / "deep" / "target").unlink()
                link.unlink()
        link.symlink_to("out")  # to itself
        self.assertEqual(run("flamegraph", self.input, "-o", link).returncode, FAILED)

    def test_a_new_file_has_the_usual_mode(self):
        out = self.folder / "out"
        subprocess.run(["sh", "-c", f"umask 027; exec '{TOOL}' flamegraph '{self.input}' -o '{out}'"], check=True)
        self.assertEqual(out.stat().st_mode & 0o777, 0o640)

    def test_a_failure_as_json(self):
        for command in (("flamegraph", self.input, "--json", "-o", self.folder), ("html", self.input, "--viewer", self.viewer, "--json", "-o", self.folder),
                        ("convert", self.input, "--to", "json", "--json", "-o", self.folder)):
            result = run(*command)
            self.assertEqual((result.returncode, result.stderr), (FAILED, b""))
            self.assertEqual(json.loads(result.stdout)["error"]["code"], "unwritable")


class Killed(WithInput):
    """A page is begun when its snapshot comes from a pipe; then the command is killed in the middle."""

    def test_by_any_signal_nothing_is_left_and_the_old_file_stays(self):
        out = self.folder / "out.html"
        out.write_bytes(b"old")
        before = self.names()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
            with self.subTest(number):
                process = subprocess.Popen([TOOL, "html", "-", "-o", out, "--viewer", self.viewer], stdin=subprocess.PIPE)
                process.stdin.write(SMALL.read_bytes()[:50])
                process.stdin.flush()
                time.sleep(0.3)
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=20), -number)
                process.stdin.close()
                self.assertEqual((out.read_bytes(), self.names()), (b"old", before))

    def test_the_rest_of_an_earlier_run_is_in_nobodys_way(self):
        # In a container every run has the same process id; bash keeps its id when it becomes the command.
        out = self.folder / "out.json"
        script = f": > '{out}.part-'$$; exec '{TOOL}' convert '{self.input}' -o '{out}'"
        self.assertEqual(subprocess.run(["bash", "-c", script], capture_output=True).returncode, SUCCESS)
        self.assertEqual(len(json.loads(out.read_bytes())["device_traces"]), 1)


class Pages(WithInput):
    def snapshot_of(self, page):
        inside = page.split(b'id="gpustrata-snapshot"', 1)[1].split(b">", 1)[1].split(b"</script>", 1)[0]
        return gzip.decompress(base64.b64decode(inside, validate=True))

    def test_from_standard_input(self):
        out = self.folder / "out.html"
        result = run("html", "-", "-o", out, "--viewer", self.viewer, stdin=SMALL.read_bytes())
        self.assertEqual(result.returncode, SUCCESS, result.stderr)
        self.assertEqual(self.snapshot_of(out.read_bytes()), SMALL.read_bytes())
        self.assertIn(b'data-name="snapshot"', out.read_bytes())
        self.assertEqual(run("html", "-", "--viewer", self.viewer, stdin=SMALL.read_bytes(), cwd=self.folder).returncode, SUCCESS)
        self.assertEqual(self.snapshot_of((self.folder / "snapshot.html").read_bytes()), SMALL.read_bytes())

    def test_from_a_pipe_with_a_name(self):
        fifo, out = self.folder / "fifo", self.folder / "out.html"
        os.mkfifo(fifo)
        data = pickle.dumps({"segments": [], "device_traces": [[{"action": "alloc", "addr": i, "size": 512, "stream": 0} for i in range(100_000)]]})
        writer = threading.Thread(target=lambda: fifo.write_bytes(data))
        writer.start()
        result = run("html", fifo, "-o", out, "--viewer", self.viewer)
        writer.join()
        self.assertEqual(result.returncode, SUCCESS, result.stderr)
        self.assertEqual(self.snapshot_of(out.read_bytes()), data)

    def test_what_comes_after_the_snapshot_is_kept(self):
        # The reader needs no byte after the end of the pickle; the page holds the file.
        for more in (b"more", bytes(20 << 20)):
            data = SMALL.read_bytes() + more
            path, out = self.folder / "long.pickle", self.folder / "out.html"
            path.write_bytes(data)
            for source, stdin in ((path, b""), ("-", data)):
                self.assertEqual(run("html", source, "-o", out, "--viewer", self.viewer, stdin=stdin).returncode, SUCCESS)
                self.assertEqual(self.snapshot_of(out.read_bytes()), data)

    def test_what_is_no_snapshot_leaves_nothing(self):
        out = self.folder / "out.html"
        for data in (b"", b"text that is no snapshot\n" * 100):
            result = run("html", "-", "-o", out, "--viewer", self.viewer, stdin=data)
            self.assertEqual(result.returncode, FAILED)
            self.assertFalse(out.exists())


class Endless(WithInput):
    """A file without an end is refused when it is too long to be what it should be."""

    def run_watched(self, *arguments):
        """Stopped when it holds 1 GiB. No limit of the system: a build with sanitizers reserves terabytes of addresses."""
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen([TOOL, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=errors, cwd=self.folder)
            status = Path(f"/proc/{process.pid}/status")
            most = 0
            while process.poll() is None:
                resident = next((line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmRSS")), 0)
                most = max(most, int(resident) << 10)
                if most > 1 << 30:
                    process.kill()
                time.sleep(0.01)
            self.assertLess(most, 1 << 30)
            errors.seek(0)
            return process.returncode, errors.read()

    def test_viewer_list_of_paths_and_script(self):
        for command, code in ((("html", self.input, "--viewer", "/dev/zero"), USAGE), (("summary", "--paths-from", "/dev/zero"), USAGE),
                              (("top", "--paths-from", "/dev/zero"), USAGE)):
            returned, errors = self.run_watched(*command)
            self.assertEqual(returned, code, errors)
            self.assertIn(b"may have up to", errors)
        self.assertEqual(self.names(), ["in.pickle", "script", "viewer.html"])

    def test_a_list_of_paths_that_is_no_text(self):
        result = run("summary", "--paths-from", "-", stdin=b"\0\0\n")
        self.assertEqual(result.returncode, USAGE)
        self.assertIn(b"no text", result.stderr)


class Terminals(WithInput):
    """Nothing that a terminal would act on, or not show, reaches it."""

    EVIL = "a\u202eb\u2066c\u200bd\ufeffe\u061cf\u2028g\x9bh\x1b[2Ji\U000e0041j"

    def assert_clean(self, output):
        for character in "\u202e\u2066\u200b\ufeff\u061c\u2028\x9b\x1b\x7f\U000e0041":
            self.assertNotIn(character.encode(), output)

    def test_arguments_are_made_printable(self):
        for arguments in ((self.EVIL,), ("--" + self.EVIL,), ("summary", "--" + self.EVIL, "x"), ("summary", self.EVIL), ("top", self.input, "--by", self.EVIL),
                          ("top", self.input, "--at", self.EVIL), ("top", self.input, "-n", self.EVIL), ("state", self.input, "--event", self.EVIL),
                          ("state", self.input, "--event", "0", "--device", self.EVIL), ("stats", self.input, "--at", self.EVIL),
                          ("stats", self.input, "--snapshot", self.EVIL), ("convert", self.input, "-o", "x.json", "--snapshot", self.EVIL),
                          ("convert", self.input, "-o", self.EVIL), ("convert", self.input, "-o", "x", "--to", self.EVIL),
                          ("summary", "--paths-from", self.EVIL), ("html", self.input, "--viewer", self.EVIL), ("simulate", self.EVIL),
                          ("simulate", self.script, "--conf", self.EVIL), ("compare", self.EVIL, self.EVIL), ("trace", self.EVIL)):
            with self.subTest(arguments):
                result = run(*arguments, cwd=self.folder)
                self.assertNotEqual(result.returncode, SUCCESS)
                self.assertNotEqual(result.stderr, b"")
                self.assert_clean(result.stdout + result.stderr)

    def test_texts_of_a_file_are_made_printable(self):
        frame = {"name": self.EVIL, "filename": f"/home/{self.EVIL}.py", "line": 1}
        trace = [{"action": "alloc", "addr": 512, "size": 512, "stream": 0, "frames": [frame], "time_us": 1},
                 {"action": "snapshot", "addr": 0, "size": 0, "stream": 0, "user_metadata": self.EVIL}]
        block = {"size": 512, "requested_size": 500, "address": 512, "state": "active_allocated", "frames": [frame]}
        segment = {"device": 0, "address": 512, "total_size": 512, "allocated_size": 512, "active_size": 512, "stream": 0, "segment_type": "small", "blocks": [block]}
        path = self.folder / f"{self.EVIL}.pickle"
        path.write_bytes(pickle.dumps({self.EVIL: {"segments": [segment], "device_traces": [trace], "allocator_settings": {self.EVIL: self.EVIL}}}))
        for arguments in (("summary", path), ("top", path), ("top", path, "--by", "function"), ("top", path, "--by", "file"), ("state", path, "--event", "0"),
                          ("stats", path), ("trace", path), ("flamegraph", path, "--folded"), ("compare", path, SMALL), ("compare", path, path),
                          ("convert", path, "-o", self.EVIL + ".json"), ("html", path, "--viewer", self.viewer, "-o", self.EVIL)):
            with self.subTest(arguments[0]):
                result = run(*arguments, cwd=self.folder)
                self.assertEqual(result.returncode, SUCCESS, result.stderr)
                self.assert_clean(result.stdout + result.stderr)

    def test_a_report_that_cannot_be_written_is_a_failure(self):
        with open("/dev/full", "wb") as full:
            for command in (*self.writers(self.folder / "out").values(), ("summary", self.input), ("top", self.input), ("stats", self.input), ("trace", self.input),
                            ("state", self.input, "--event", "0"), ("compare", self.input, OTHER), ("--help",), ("summary", "/nothing", "--json")):
                if command[0] == "flamegraph":
                    continue  # says nothing
                with self.subTest(command):
                    result = run(*command, stdout=full, stderr=subprocess.PIPE)
                    self.assertEqual(result.returncode, FAILED)
                    self.assertIn(b"could not be written", result.stderr)
