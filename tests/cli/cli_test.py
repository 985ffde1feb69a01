"""The command line tool as a user runs it."""
import base64
import gzip
import io
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile
from pathlib import Path

from support.folders import InAFolder
from support.paths import CASES, ROOT, SAMPLES, SNAPSHOTS, case, needs_shared_data, real_snapshots
from support.tool import SUCCESS, TOOL, UNREADABLE, USAGE, WITHOUT_PRIVILEGES, run
from support.viewer import VIEWER


def objects(result):
    return [json.loads(line) for line in result.stdout.decode().splitlines()]


class Usage(unittest.TestCase):
    def test_version_is_that_of_the_build(self):
        version = re.search(r"project\(gpustrata VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
        result = run("--version")
        self.assertEqual((result.returncode, result.stdout.decode().strip()), (SUCCESS, f"gpustrata {version}"))

    def test_help_names_the_command_and_the_exit_codes(self):
        result = run("--help")
        self.assertEqual(result.returncode, SUCCESS)
        self.assertIn(b"summary", result.stdout)
        self.assertIn(b"Exit codes", result.stdout)
        self.assertEqual(run("summary", "--help").returncode, SUCCESS)

    def test_wrong_usage_is_exit_code_1(self):
        for arguments in ((), ("summary",), ("explain",), ("summary", "--jsonn", "x"), ("--what",)):
            result = run(*arguments)
            self.assertEqual((arguments, result.returncode), (arguments, USAGE))
            self.assertEqual(result.stdout, b"")
            self.assertNotEqual(result.stderr, b"")

    def test_a_mistyped_command_is_told_what_was_meant(self):
        for given, meant in (("tpo", "top"), ("sumary", "summary"), ("stat", "state or stats"), ("flame", "flamegraph")):
            result = run(given, "file")
            self.assertEqual(result.returncode, USAGE)
            self.assertIn(f'There is no command "{given}". Did you mean {meant}?', result.stderr.decode())
        self.assertNotIn(b"Did you mean", run("explain").stderr)

    def test_a_wrong_word_is_told_which_ones_there_are(self):
        result = run("top", "file", "--by", "colour")
        self.assertEqual(result.returncode, USAGE)
        self.assertRegex(result.stderr.decode(), r'^gpustrata: --by: say stack, .*function or file, not "colour"\n')
        self.assertNotIn("{", run("top", "--help").stdout.decode())
        for command in ("top", "state", "stats", "flamegraph", "compare"):
            self.assertRegex(run(command, "--help").stdout.decode(), r"--at.*MOMENT")


class Refusals(InAFolder):
    """What is no snapshot is refused at once, in words, with exit code 2."""

    def setUp(self):
        super().setUp()
        self.started = time.monotonic()

    def refused(self, path):
        plain, with_json = run("summary", path), run("summary", "--json", path)
        self.assertEqual((plain.returncode, with_json.returncode), (UNREADABLE, UNREADABLE))
        self.assertEqual((plain.stdout, with_json.stderr), (b"", b""))
        found = objects(with_json)
        self.assertEqual(len(found), 1)
        self.assertEqual(set(found[0]), {"file", "error"})
        self.assertEqual(set(found[0]["error"]), {"code", "message", "offset"})
        message = found[0]["error"]["message"]
        self.assertRegex(message, r"\w+ \w+ \w+", "words")
        self.assertIn(message, plain.stderr.decode())
        self.assertIn(str(path), plain.stderr.decode())
        self.assertLess(time.monotonic() - self.started, 5)
        return found[0]["error"]

    def test_missing_file(self):
        self.assertEqual(self.refused(self.folder / "nothing")["code"], "unreadable")

    def test_folder(self):
        error = self.refused(self.folder)
        self.assertEqual(error["code"], "unreadable")
        self.assertIn("folder", error["message"])

    def test_file_without_permission(self):
        path = self.file(b"\x80\x04}.", "secret")
        path.chmod(0)
        done = subprocess.run([*WITHOUT_PRIVILEGES, TOOL, "summary", "--json", path], capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (UNREADABLE, b""))
        self.assertIn("Permission denied", objects(done)[0]["error"]["message"])

    def test_empty_file(self):
        self.assertIn("empty", self.refused(self.file(b"", "empty"))["message"])

    def test_png(self):
        self.assertIn("PNG", self.refused(self.file(b"\x89PNG\r\n\x1a\n" + bytes(1000), "picture.pickle"))["message"])

    def test_text(self):
        self.refused(self.file(b"This is only text, not a snapshot.\n" * 50, "notes.txt"))

    def test_short_files(self):
        for data in (b"\x80", b"\x80\x04", b"a", b".", b"\0", b"(", b"}", b"]."):
            self.refused(self.file(data, "short"))

    def test_ten_gigabytes_of_zeros(self):
        path = self.file(b"", "zeros")
        os.truncate(path, 10 << 30)
        self.assertIn("zero", self.refused(path)["message"])

    def test_endless_zeros_from_a_device(self):
        self.refused("/dev/zero")

    def test_pickle_of_something_else(self):
        self.assertEqual(self.refused(self.file(pickle.dumps({"lr": 0.1, "layers": [1, 2]}), "model.pkl"))["code"], "unsupported")

    def test_huge_lengths_are_not_believed(self):
        # A list of strings that claims 4 GiB, and a LONG4 of 2 GiB.
        self.refused(self.file(b"\x80\x04]X\xff\xff\xff\xffabc", "string"))
        self.refused(self.file(b"\x80\x04]\x8b\xff\xff\xff\x7fabc", "long"))
        self.refused(self.file(b"\x80\x04]\x8d" + b"\xff" * 8 + b"abc", "text"))

    def test_control_characters_of_a_name_do_not_reach_the_terminal(self):
        result = run("summary", self.file(b"", "bad\x1b[2Jname"))
        self.assertNotIn(b"\x1b", result.stderr)


class Reading(unittest.TestCase):
    whole = case("era4_settings_and_times")

    def test_human_text_names_peak_and_sizes(self):
        result = run("summary", self.whole)
        self.assertEqual((result.returncode, result.stderr), (SUCCESS, b""))
        text = result.stdout.decode()
        for part in ("Device 0", "peak", "1.5 KiB", "1,500 bytes", "reserved", "2.0 MiB", "2,097,152 bytes",
                     "1 segment", "1 different", "2023-11-14"):
            self.assertIn(part, text)

    def test_out_of_memory_comes_first(self):
        text = run("summary", case("era3_expandable_and_oom")).stdout.decode()
        self.assertRegex(text, r"Device 0\n    OUT OF MEMORY +64\.0 MiB +67,108,864 bytes  asked for, event 4\n"
                               r"    free on device +3\.0 MiB +3,145,728 bytes  at that event\n    peak ")
        # 2 MiB and 20 MiB are mapped, then the 20 MiB unmapped.
        self.assertRegex(text, r"reserved peak +22\.0 MiB +23,068,672 bytes\n(.*\n)* +reserved at end +2\.0 MiB +2,097,152 bytes")
        self.assertNotIn("OUT OF MEMORY", run("summary", self.whole).stdout.decode())

    def test_a_summary_has_80_columns(self):
        paths = [p / "input.pickle" for p in sorted(CASES.iterdir()) if (p / "input.pickle").exists()] + sorted(SNAPSHOTS.glob("*"))
        for line in run("summary", *paths).stdout.decode().splitlines():
            if not line.startswith("/") and not re.match("    (info|warning|error) ", line):  # paths and sentences are as they are
                self.assertLessEqual(len(line), 80, line)

    def test_standard_input(self):
        data = self.whole.read_bytes()
        for arguments in (("summary", "--json", "-"), ("summary", "-", "--json")):
            piped = objects(run(*arguments, stdin=data))[0]
            named = objects(run("summary", "--json", self.whole))[0]
            self.assertEqual({**piped, "file": ""}, {**named, "file": ""})
            self.assertEqual(piped["file"], "-")

    def test_standard_input_byte_by_byte(self):
        process = subprocess.Popen([TOOL, "summary", "--json", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        for byte in self.whole.read_bytes():
            process.stdin.write(bytes([byte]))
        process.stdin.close()
        self.assertEqual(json.loads(process.stdout.read())["snapshots"], objects(run("summary", "--json", self.whole))[0]["snapshots"])
        self.assertEqual(process.wait(), SUCCESS)
        process.stdout.close()

    def test_one_unreadable_file_does_not_hide_the_others(self):
        result = run("summary", "--json", self.whole, "/nonexistent/file", self.whole)
        self.assertEqual(result.returncode, UNREADABLE)
        self.assertEqual(["error" in o for o in objects(result)], [False, True, False])
        text = run("summary", "/nonexistent/file", self.whole)
        self.assertEqual(text.returncode, UNREADABLE)
        self.assertIn(b"Device 0", text.stdout)
        self.assertIn(b"/nonexistent/file", text.stderr)

    def test_file_names_that_look_like_options(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "--json").write_bytes(self.whole.read_bytes())
            result = run("summary", "--json", "--", "--json", cwd=folder)
            self.assertEqual(objects(result)[0]["file"], "--json")

    def test_no_progress_when_nobody_watches(self):
        self.assertEqual(run("summary", self.whole).stderr, b"")

    def test_damaged_file_is_exit_code_0_and_says_so(self):
        result = run("summary", case("truncated_in_the_trace"))
        self.assertEqual(result.returncode, SUCCESS)
        self.assertIn(b"too early", result.stdout)


class Truncated(unittest.TestCase):
    """Cut anywhere: a summary of what was there or a refusal in words, never a crash; more bytes, not fewer events."""

    def cut_everywhere(self, data, places):
        before = 0
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for length in places:
                path = Path(folder, f"{length:08d}")
                path.write_bytes(data[:length])
                paths.append(path)
            found = []
            for start in range(0, len(paths), 500):
                result = run("summary", "--json", *paths[start:start + 500], timeout=300)
                self.assertIn(result.returncode, (SUCCESS, UNREADABLE), result.stderr[-2000:])
                found += objects(result)
        self.assertEqual(len(found), len(places))
        for cut in found:
            if "error" in cut:
                self.assertEqual(before, 0, f"{cut} after {before} events were seen in a shorter piece")
                self.assertTrue(cut["error"]["message"])
                continue
            self.assertIn("truncated", [d["name"] for d in cut["diagnostics"]], cut["file"])
            events = sum(d["events"] for s in cut["snapshots"] for d in s["devices"])
            self.assertGreaterEqual(events, before, cut["file"])
            before = events
        return before

    def test_at_every_byte_of_small_cases(self):
        for name, most in (("era8_host_memory_and_annotate", 6), ("protocol0", 5), ("protocol4", 5), ("cpp_writer", 300),
                           ("wrapper_dict", 6)):
            with self.subTest(name):
                data = (CASES / name / "input.pickle").read_bytes()
                step = max(1, len(data) // 400)
                self.assertGreaterEqual(self.cut_everywhere(data, range(0, len(data), step)), most - 1)

    @needs_shared_data
    def test_at_many_places_of_real_files(self):
        for name in ("cs336_97_events", "octree_nca_a"):
            data = (SNAPSHOTS / f"{name}.pickle").read_bytes()
            self.cut_everywhere(data, range(0, len(data), len(data) // 97))


class Simulate(unittest.TestCase):
    """gpustrata simulate: what the reference cases (unit and wasm tests) do not see."""

    def test_text_shows_steps_segments_and_the_summary(self):
        result = run("simulate", "-", stdin=b"m a 2097152\nm b 512\nf a\n")
        text = result.stdout.decode()
        self.assertEqual(result.returncode, SUCCESS)
        self.assertIn("S0+0, block of 2.0 MiB (2,097,152 bytes)", text)
        self.assertIn("  S0+0 L@0: -20971520\n  S1+0 S@0: A512 -2096640\n", text)
        self.assertIn("PyTorch CUDA memory summary, device ID 0", text)

    def test_json_from_a_file_with_device_and_settings(self):
        with tempfile.NamedTemporaryFile() as script:
            script.write(b"m a 31457280; m b 41943040 2")
            script.flush()
            result = run("simulate", script.name, "--json", "--device", 67108864, "--conf", "max_split_size_mb:40")
        self.assertEqual(result.returncode, SUCCESS)
        (report,) = objects(result)
        keys = ["trace", "bytes", "count", "peak", "ctr", "layout", "oom", "stats", "results"]
        self.assertEqual(list(report), keys)
        self.assertEqual(report["trace"][-1], "oom free=35651584 41943040 @2")
        self.assertEqual(len(report["stats"]), 123)
        self.assertEqual(list(report["stats"]), sorted(report["stats"]))
        self.assertEqual(report["stats"]["max_split_size"], 41943040)
        self.assertIn("CUDA out of memory", report["results"][1]["oom"])

    def test_a_wrong_step_is_named_by_its_line_with_exit_code_2(self):
        for script, where in ((b"m a 1\n\nf b", "line 3"), (b"m a 1\nx", "line 2"), (b"m a", "line 1")):
            result = run("simulate", "-", stdin=script)
            self.assertEqual((result.returncode, result.stdout), (UNREADABLE, b""))
            self.assertIn(where, result.stderr.decode())
            result = run("simulate", "-", "--json", stdin=script)
            self.assertEqual(result.returncode, UNREADABLE)
            self.assertIn(where, objects(result)[0]["error"]["message"])
            self.assertIn(where, result.stderr.decode())

    def test_control_characters_of_a_script_do_not_reach_the_terminal(self):
        result = run("simulate", "-", stdin=b"m \x1b[31m 1; f \x1b[31m; q\x1b[0m")
        self.assertNotIn(b"\x1b", result.stdout + result.stderr)
        result = run("simulate", "-", stdin=b"m \x1b[31m 1")
        self.assertEqual(result.returncode, SUCCESS)
        self.assertNotIn(b"\x1b", result.stdout)

    def test_wrong_settings_and_devices_are_wrong_usage(self):
        for options in (("--conf", "foo:1"), ("--device", "0"), ("--device", "-5"), ("--device", "much")):
            result = run("simulate", "-", *options, stdin=b"m a 1")
            self.assertEqual((options, result.returncode), (options, USAGE))
            self.assertNotEqual(result.stderr, b"")

    def test_a_missing_script_cannot_be_read(self):
        self.assertEqual(run("simulate", "/nonexistent/script").returncode, UNREADABLE)
        self.assertEqual(run("simulate", tempfile.gettempdir()).returncode, UNREADABLE)
        self.assertEqual(run("simulate").returncode, USAGE)


class Inputs(unittest.TestCase):
    def test_a_pasted_list_of_paths(self):
        pasted = f"  {case('protocol4')}\n\n\"{case('gzipped')}\"\r\n/nothing/here\n".encode()
        result = run("summary", "--json", "--paths-from", "-", stdin=pasted)
        self.assertEqual(result.returncode, UNREADABLE)
        self.assertEqual([o.get("format", o.get("error", {}).get("code")) for o in objects(result)],
                         ["pickle", "pickle in gzip", "unreadable"])

    def test_a_list_of_paths_instead_of_a_file_is_told_how(self):
        for arguments in ((), ("--json",)):
            result = run("summary", "-", *arguments, stdin=f"{case('protocol4')}\n".encode())
            self.assertEqual(result.returncode, UNREADABLE)
            self.assertIn(b"--paths-from -", result.stdout + result.stderr)

    def test_no_files_at_all_is_wrong_usage(self):
        self.assertEqual(run("summary", "--paths-from", "-", stdin=b"\n").returncode, USAGE)
        self.assertEqual(run("top", "--paths-from", "/nothing/here").returncode, USAGE)

    def test_archives_come_from_a_pipe_too(self):
        result = run("summary", "--json", "-", stdin=case("zip_streamed").read_bytes())
        names = [s["name"] for s in objects(result)[0]["snapshots"]]
        self.assertEqual(names, ["run/rank0.pickle", "run/rank1.pickle.gz", "run/rank2.json"])


class Top(unittest.TestCase):
    """The small run of the golden cases: allocs of 1000 and 500 from the same stack, the first is freed at the end."""

    def top(self, *arguments, name="protocol4"):
        result = run("top", "--json", case(name), *arguments)
        self.assertEqual(result.returncode, SUCCESS, result.stderr)
        return objects(result)[0]["tops"]

    def test_peak_end_and_start(self):
        stack = ["a.py:10:leaf", "a.py:20:main"]
        for at, event, size, blocks in (("peak", 2, 1500, 2), ("end", 4, 500, 1), ("3", 3, 1500, 2), ("1", 1, 1000, 1)):
            (top,) = self.top("--at", at)
            self.assertEqual((top["event"], top["requested_bytes"], top["blocks"], top["groups"]), (event, size, blocks, 1))
            self.assertEqual(top["rows"], [{"bytes": size, "blocks": blocks, "share": 1.0, "stack": stack}])
        (top,) = self.top("--at", "start")
        self.assertEqual((top["event"], top["requested_bytes"], top["rows"]), (-1, 0, []))

    def test_line_function_and_file(self):
        self.assertEqual(self.top("--by", "line")[0]["rows"],
                         [{"bytes": 1500, "blocks": 2, "share": 1.0, "function": "leaf", "file": "a.py", "line": 10}])
        self.assertEqual(self.top("--by", "function")[0]["rows"],
                         [{"bytes": 1500, "blocks": 2, "share": 1.0, "function": "leaf", "file": "a.py"}])
        self.assertEqual(self.top("--by", "file")[0]["rows"], [{"bytes": 1500, "blocks": 2, "share": 1.0, "file": "a.py"}])

    def test_rows_beyond_the_limit_are_one(self):
        leak = SAMPLES / "leak.pickle.gz"
        (top,) = objects(run("top", "--json", "--at", "end", "-n", "1", leak))[0]["tops"]
        # 8 weights of 24 MiB; 24 steps leave 3 MiB and 4 bytes each.
        self.assertEqual((top["rows"][0]["bytes"], top["rows"][0]["blocks"]), (8 * 24 << 20, 8))
        self.assertEqual(top["other"], {"bytes": 24 * ((3 << 20) + 4), "blocks": 48})

    def test_every_snapshot_of_an_archive(self):
        self.assertEqual([t["snapshot"] for t in self.top(name="zip_several_ranks")],
                         ["run/rank0.pickle", "run/rank1.pickle.gz", "run/rank2.json"])

    def test_the_sum_at_the_peak_is_the_peak_of_the_summary(self):
        for path in real_snapshots()[:12]:
            devices = objects(run("summary", "--json", path))[0]["snapshots"][0]["devices"]
            for by in ("stack", "line", "function", "file"):
                tops = objects(run("top", "--json", "--by", by, "-n", "3", path))[0]["tops"]
                for device, top in zip(devices, tops, strict=True):
                    self.assertEqual(top["requested_bytes"], device["peak"]["requested_bytes"], path)
                    rows = sum(r["bytes"] for r in top["rows"]) + top["other"]["bytes"]
                    self.assertEqual(rows, top["requested_bytes"], path)

    def test_table(self):
        text = run("top", case("protocol4")).stdout.decode()
        self.assertRegex(text, r"Device 0 at the peak, after event 2 \(the last is 4\)\n  1\.5 KiB \(1,500 bytes\) in 2 blocks")
        self.assertRegex(text, r"1\.5 KiB +100\.0% +2  leaf  a\.py:10\n +main  a\.py:20\n")

    def test_own_frames_come_first_and_tables_have_80_columns(self):
        library = "/usr/lib/python3/site-packages/torch/nn/modules/linear.py"
        frames = [("", "c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(unsigned long, CUstream_st*)", 0),
                  (library, "forward", 125), ("/home/user/a_project_with_a_long_name/models/transformer/attention.py", "attend", 40),
                  (library, "__call__", 12), ("/home/user/train.py", "main", 9)]
        stack = [{"filename": file, "name": name, "line": line} for file, name, line in frames]
        event = {"action": "alloc", "addr": 512, "size": 3 << 20, "stream": 0, "frames": stack}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "a.pickle")
            path.write_bytes(pickle.dumps({"segments": [], "device_traces": [[event]]}))
            table = run("top", path).stdout.decode().split("\n\n")[-1].splitlines()
            wide = run("top", path, "--wide").stdout.decode()
            line = run("top", path, "--by", "line").stdout.decode()
        self.assertRegex(table[1], r"    3\.0 MiB  100\.0%        1  attend  …/models/transformer/attention\.py:40$")
        self.assertRegex(table[2], r"^ +main  /home/user/train\.py:9$")
        self.assertRegex(table[3], r"^ +\(\d more frames?\)$")
        self.assertIn("attend  /home/user/a_project_with_a_long_name/models/transformer/attention.py:40", wide)
        self.assertRegex(line, r"attend  …/models/transformer/attention\.py:40\n")
        for path in real_snapshots()[:6]:
            for by in ("stack", "line", "function", "file"):
                for line in run("top", path, "--by", by).stdout.decode().splitlines()[1:]:
                    self.assertLessEqual(len(line), 80, line)

    def test_what_is_not_there_is_exit_code_1(self):
        for arguments in (("--at", "later"), ("--at", "99"), ("--device", "7"), ("--by", "colour"), ("-n", "0")):
            self.assertEqual((arguments, run("top", case("protocol4"), *arguments).returncode), (arguments, USAGE))


class Html(InAFolder):
    def setUp(self):
        super().setUp()
        self.viewer = self.folder / "viewer.html"
        self.viewer.write_bytes(VIEWER)
        self.out = self.folder / "out.html"

    def test_the_page_is_the_viewer_and_the_snapshot(self):
        for name in ("cpp_writer", "gzipped", "zip_several_ranks", "json_text"):
            result = run("html", case(name), "-o", self.out, "--viewer", self.viewer, "--json")
            self.assertEqual(result.returncode, SUCCESS, result.stdout)
            answer = objects(result)[0]
            page = self.out.read_bytes()
            self.assertEqual((answer["bytes"], answer["output"]), (len(page), str(self.out)))
            before, rest = page.split(b'<script type="application/octet-stream" id="gpustrata-snapshot" data-name="input.pickle">')
            inside, after = rest.split(b"</script>\n", 1)
            # What links name the file by is told behind it.
            told, after = after.split(b"</template>\n", 1)
            self.assertRegex(told, rb'^<template id="gpustrata-snapshot-hash" data-hash="[0-9a-f]{16}">$')
            self.assertEqual(before + after, VIEWER)
            packed = base64.b64decode(inside, validate=True)
            self.assertEqual(len(packed), answer["packed_bytes"])
            original = case(name).read_bytes()
            self.assertEqual(packed if name in ("gzipped", "zip_several_ranks") else gzip.decompress(packed), original)
            self.assertLess(len(page), 1.4 * len(packed) + len(VIEWER) + 1000)
            again = objects(run("summary", "--json", self.out))[0]
            first = objects(run("summary", "--json", case(name)))[0]
            self.assertEqual([s["devices"] for s in again["snapshots"]], [s["devices"] for s in first["snapshots"]])

    def test_what_is_lost_is_told(self):
        result = run("html", case("zip_broken_member"), "-o", self.out, "--viewer", self.viewer)
        self.assertRegex(result.stdout.decode(), r"    error    Files in the archive could not be read.*broken\.pickle")
        told = objects(run("html", case("zip_broken_member"), "-o", self.out, "--viewer", self.viewer, "--json"))[0]
        self.assertEqual(told["diagnostics"], objects(run("convert", case("zip_broken_member"), "-o", self.folder / "a.json", "--json"))[0]["diagnostics"])
        self.assertEqual([d["name"] for d in told["diagnostics"]], ["member_not_read"])

    def test_names_cannot_leave_their_attribute(self):
        path = self.folder / 'a"><b>&.pickle'
        path.write_bytes(case("protocol4").read_bytes())
        self.assertEqual(run("html", path, "-o", self.out, "--viewer", self.viewer).returncode, SUCCESS)
        self.assertIn(b'data-name="a&quot;&gt;&lt;b&gt;&amp;.pickle">', self.out.read_bytes())

    def test_nothing_is_left_of_a_failure(self):
        other = self.folder / "other.txt"
        other.write_bytes(b"no snapshot")
        for arguments, code in (((other, "-o", self.out, "--viewer", self.viewer), UNREADABLE),
                                ((case("protocol4"), "-o", "/nothing/here.html", "--viewer", self.viewer), UNREADABLE),
                                ((case("protocol4"), "-o", self.out, "--viewer", other), USAGE),
                                ((case("protocol4"), "-o", self.out, "--viewer", "/nothing"), USAGE)):
            result = run("html", *arguments)
            self.assertEqual((arguments, result.returncode), (arguments, code))
            self.assertNotEqual(result.stderr, b"")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["other.txt", "viewer.html"])


class Samples(unittest.TestCase):
    """What each sample of the page is to show."""

    @staticmethod
    def contents(path):
        """What is in a sample, without its packing, which another zlib does otherwise."""
        data = path.read_bytes()
        if path.suffix == ".zip":
            with zipfile.ZipFile(io.BytesIO(data)) as members:
                return {name: pickle.loads(members.read(name)) for name in members.namelist()}
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        return json.loads(data) if ".json" in path.name else pickle.loads(data)

    @classmethod
    def setUpClass(cls):
        cls.paths = sorted(path for path in SAMPLES.iterdir() if path.suffix not in (".py", ".pyc", ""))
        cls.snapshots = {path.name.split(".")[0]: cls.contents(path) for path in cls.paths}

    def test_they_are_what_the_script_makes(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, SAMPLES / "make_samples.py", folder], check=True, capture_output=True)
            made = sorted(Path(folder).iterdir())
            self.assertEqual([path.name for path in made], [path.name for path in self.paths])
            for path in made:
                self.assertEqual(self.contents(path), self.snapshots[path.name.split(".")[0]], path.name)

    def test_all_eight_are_read_without_a_finding_and_are_small(self):
        self.assertEqual(len(self.paths), 8)
        result = run("summary", "--json", *self.paths)
        self.assertEqual(result.returncode, SUCCESS)
        for answer in objects(result):
            self.assertEqual(answer["diagnostics"], [], answer["file"])
        for path in self.paths:
            self.assertLess(path.stat().st_size, 350_000)

    def test_out_of_memory_ends_with_an_oom_that_could_not_fit(self):
        trace = self.snapshots["out_of_memory"]["device_traces"][0]
        self.assertEqual([e["action"] for e in trace].count("oom"), 1)
        self.assertEqual(trace[-1]["action"], "oom")
        self.assertGreater(trace[-1]["size"], trace[-1]["device_free"])
        self.assertIn("segment_free", [e["action"] for e in trace], "cached segments were given back first")
        reserved = sum(s["total_size"] for s in self.snapshots["out_of_memory"]["segments"])
        self.assertEqual(reserved + trace[-1]["device_free"], 6144 << 20)

    def test_leak_grows_by_the_same_each_step(self):
        snapshot = self.snapshots["leak"]
        ends = [a["time_us"] for a in snapshot["external_annotations"] if a["stage"] == "END"]
        levels = []
        for end in ends:
            live = {}
            for e in snapshot["device_traces"][0]:
                if e["time_us"] > end:
                    break
                if e["action"] == "alloc":
                    live[e["addr"]] = e["size"]
                elif e["action"] == "free_completed":
                    del live[e["addr"]]
            levels.append(sum(live.values()))
        self.assertEqual({b - a for a, b in zip(levels, levels[1:])}, {(3 << 20) + 4})

    def test_fragmentation_reserves_much_more_than_it_uses(self):
        segments = self.snapshots["fragmentation"]["segments"]
        reserved, allocated = sum(s["total_size"] for s in segments), sum(s["allocated_size"] for s in segments)
        self.assertGreater(reserved, 8 * allocated)
        in_use = [s for s in segments if any(b["state"] == "active_allocated" for b in s["blocks"])]
        self.assertGreater(sum(s["total_size"] for s in in_use), 0.8 * reserved, "little of it can be given back")
