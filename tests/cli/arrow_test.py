"""`gpustrata convert --to arrow`: what does not need a library to look at. Every value is compared in
tests/python/arrow_test.py.
"""
import gzip
import json
import os
import pickle

from support.folders import InAFolder, limited_to
from support.paths import SAMPLE
from support.tool import SUCCESS, UNREADABLE as FAILED, USAGE, run

TABLES = ["events", "blocks", "segments", "lives", "stacks"]


def convert(*arguments, **options):
    return run("convert", *arguments, **options)


class Arrow(InAFolder):
    def told(self, *arguments, code=SUCCESS, **options):
        done = convert(*arguments, "--json", **options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def left(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))

    def test_every_table_is_a_file_of_the_format(self):
        rows = {"events": 3168, "blocks": 136, "segments": 42, "lives": 1104, "stacks": None}
        for table in TABLES:
            out = self.folder / f"{table}.arrow"
            told = self.told(SAMPLE, "-o", out, "--table", table)
            bytes_ = out.read_bytes()
            self.assertEqual((told["to"], told["table"], told["bytes"]), ("arrow", table, len(bytes_)))
            if rows[table] is not None and table != "lives":
                self.assertEqual(told["rows"], rows[table])
            self.assertEqual((bytes_[:8], bytes_[-6:]), (b"ARROW1\0\0", b"ARROW1"))
            self.assertEqual((len(bytes_) - 6 - 4 - int.from_bytes(bytes_[-10:-6], "little")) % 8, 0)
        said = convert(SAMPLE, "-o", self.folder / "events.arrow").stdout.decode()
        self.assertRegex(said, r"events\.arrow: .*, 3,168 rows of the table events\n")

    def test_two_runs_give_the_same_bytes_also_through_a_pipe(self):
        for table in TABLES:
            out = self.folder / f"{table}.arrow"
            self.told(SAMPLE, "-o", out, "--table", table)
            piped = convert("-", "-o", "-", "--to", "arrow", "--table", table, stdin=SAMPLE.read_bytes())
            self.assertEqual(piped.returncode, SUCCESS, piped.stderr)
            self.assertEqual(piped.stdout, out.read_bytes())

    def test_a_partition(self):
        told = self.told(SAMPLE, "-o", self.folder, "--run", "70b/a b%", "--rank", 12)
        path = self.folder / "run=70b%2Fa%20b%25" / "rank=12" / "events.arrow"
        self.assertEqual(told["output"], str(path))
        self.assertEqual(self.left(), ["run=70b%2Fa%20b%25", "run=70b%2Fa%20b%25/rank=12",
                                       "run=70b%2Fa%20b%25/rank=12/events.arrow"])
        before = path.read_bytes()
        # A second attempt, another rank, another table: each has its own file.
        self.told(SAMPLE, "-o", f"{self.folder}/", "--run", "70b/a b%", "--rank", 12)
        self.assertEqual(path.read_bytes(), before)
        self.told(SAMPLE, "-o", self.folder, "--run", "70b/a b%", "--rank", 13, "--table", "stacks")
        self.told(SAMPLE, "-o", self.folder, "--rank", 0, "--to", "arrow")
        self.assertEqual([name for name in self.left() if name.endswith(".arrow")], [
            "rank=0/events.arrow", "run=70b%2Fa%20b%25/rank=12/events.arrow", "run=70b%2Fa%20b%25/rank=13/stacks.arrow"])

    def test_wrong_usage_is_told_in_words_and_writes_nothing(self):
        for arguments, words in (
                (["-o", self.folder / "x.parquet"], "pip install 'gpustrata[arrow]'"),
                (["-o", self.folder / "x", "--to", "parquet", "--table", "lives"], 'table=\\"lives\\"'),
                (["-o", self.folder / "x.csv", "--table", "lives"], "csv has events or blocks"),
                (["-o", self.folder / "x.json", "--table", "lives"], "Only csv and arrow have tables"),
                (["-o", self.folder / "x.csv", "--rank", "1"], "Only arrow is written in partitions"),
                (["-o", self.folder / "x.arrow", "--rank", "1"], "a folder that is there"),
                (["-o", self.folder / "x.arrow", "--hex-addresses"], "integers of 64 bits"),
                (["-o", self.folder / "x.arrow", "--at", "end"], "one device at one moment"),
                (["-o", self.folder / "x.arrow", "--device", "7"], "There is no device 7 in this snapshot. Devices: 0."),
                (["-o", self.folder / "x.arrow", "--device", "gpu"], "is no device"),
                (["-o", self.folder / "x.arrow", "--device", "host"], "There is no device host"),
                (["-o", self.folder], "Say with --to")):
            with self.subTest(words):
                done = convert(SAMPLE, *arguments)
                self.assertEqual(done.returncode, USAGE)
                self.assertIn(words.replace('\\"', '"'), done.stderr.decode())
                self.assertEqual(self.left(), [])
        self.assertEqual(convert(SAMPLE, "-o", self.folder, "--rank", "-1").returncode, USAGE)
        self.assertEqual(convert(SAMPLE, "-o", SAMPLE, "--to", "arrow").returncode, USAGE)

    def test_a_full_disk_leaves_what_was_there(self):
        for table in TABLES:
            out = self.folder / f"{table}.arrow"
            self.told(SAMPLE, "-o", out, "--table", table)
            before = out.read_bytes()
            for size in (0, 7, 8, 1000, len(before) // 2, len(before) - 1):
                told = self.told(SAMPLE, "-o", out, "--table", table, code=FAILED, preexec_fn=limited_to(size))
                self.assertEqual(told["error"]["code"], "unwritable")
                self.assertEqual(out.read_bytes(), before)
        if os.path.exists("/dev/full"):
            self.assertEqual(convert(SAMPLE, "-o", "/dev/full", "--to", "arrow").returncode, FAILED)
        self.assertEqual(self.left(), [f"{table}.arrow" for table in sorted(TABLES)])

    def test_a_file_that_is_none_writes_nothing(self):
        for name, bytes_ in (("empty", b""), ("text", b"no snapshot"), ("zip", b"PK\3\4" + b"\0" * 40)):
            path = self.folder / name
            path.write_bytes(bytes_)
            told = self.told(path, "-o", self.folder / "out.arrow", code=FAILED)
            self.assertIn("code", told["error"])
            self.assertFalse((self.folder / "out.arrow").exists())

    def test_a_cut_file_becomes_what_was_read(self):
        whole = SAMPLE.read_bytes()
        for part in range(1, 20):
            path = self.folder / "cut.pickle"
            path.write_bytes(whole[: len(whole) * part // 20])
            for table in TABLES:
                done = convert(path, "-o", self.folder / "out.arrow", "--table", table, "--json")
                self.assertIn(done.returncode, (SUCCESS, FAILED))
                if done.returncode == SUCCESS:
                    self.assertTrue(json.loads(done.stdout)["diagnostics"])

    def test_a_small_file_that_stands_for_much(self):
        # 300 stacks that share 20,000 frames: 6 batches by their frames.
        frames = [{"name": "f", "filename": "a.py", "line": line} for line in range(20_000)]
        events = [{"action": "alloc", "addr": 4096 + 512 * i, "size": 512, "stream": 0,
                   "frames": [{"name": f"g{i}", "filename": "b.py", "line": 1}, *frames]} for i in range(300)]
        path = self.folder / "deep.pickle.gz"
        path.write_bytes(gzip.compress(pickle.dumps({"segments": [], "device_traces": [events]}), 1))
        told = self.told(path, "-o", self.folder / "out.arrow", "--table", "stacks")
        self.assertEqual(told["rows"], 300)
        self.assertGreater(told["bytes"], 300 * 20_000 * 12)

    def test_no_events_still_are_a_table(self):
        path = self.folder / "nothing.pickle"
        path.write_bytes(pickle.dumps({"segments": [], "device_traces": []}))
        for table in TABLES:
            self.assertEqual(self.told(path, "-o", self.folder / "out.arrow", "--table", table)["rows"], 0)
