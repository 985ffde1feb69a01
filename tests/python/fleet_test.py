"""gpustrata.fleet: facts of a file however it comes, files that are none, and the tables in Arrow and DuckDB."""
import gzip
import io
import json
import os
import tempfile
import threading
import unittest
from pathlib import Path

import gpustrata
import pyarrow
import pyarrow.parquet
from gpustrata import fleet
from support.paths import SAMPLE


class OneByte:
    """A stream without readinto, name and size, which gives little at a time."""

    def __init__(self, data, most=1000):
        self.stream, self.most = io.BytesIO(data), most

    def read(self, size):
        return self.stream.read(min(size, self.most))


class Facts(unittest.TestCase):
    def test_from_wherever_they_are_the_same(self):
        data = SAMPLE.read_bytes()
        wanted = fleet.facts(SAMPLE, run="a", rank=3)
        self.assertEqual([(row["run"], row["rank"], row["file"], row["input_bytes"], row["events"]) for row in wanted],
                         [("a", 3, "training_run.pickle", len(data), 3168)])
        name = "job/run=a/rank=3/training_run.pickle"
        for source in (data, bytearray(data), memoryview(data), io.BytesIO(data), OneByte(data)):
            self.assertEqual(fleet.facts(source, name=name), wanted)
        with open(SAMPLE, "rb") as stream:
            self.assertEqual(fleet.facts(stream, run="a", rank=3), wanted)
            self.assertFalse(stream.closed)
        packed = fleet.facts(OneByte(gzip.compress(data, mtime=0)), name=name + ".gz")
        self.assertEqual((packed[0]["format"], packed[0]["peak_requested"]), ("pickle in gzip", wanted[0]["peak_requested"]))

    def test_bytes_behind_the_pickle_count_however_they_come(self):
        data = SAMPLE.read_bytes() + bytes(9_000_000)
        sizes = {fleet.facts(source)[0]["input_bytes"] for source in (data, io.BytesIO(data), OneByte(data, 1 << 20))}
        self.assertEqual(sizes, {len(data)})

    def test_a_pipe(self):
        out, into = os.pipe()

        def fill():
            with os.fdopen(into, "wb") as stream:
                stream.write(SAMPLE.read_bytes())

        writer = threading.Thread(target=fill)
        writer.start()
        self.assertEqual(fleet.facts(f"/dev/fd/{out}", name="rank7")[0]["rank"], 7)
        writer.join()
        os.close(out)

    def test_what_is_no_snapshot(self):
        for data, word, code in ((b"", "empty", "invalid_format"), (b"\x7fELF" + bytes(99), "ELF", "unsupported"),
                                 (b"garbage" * 9, "Unrecognised", "invalid_format")):
            with self.assertRaises(gpustrata.FileError) as caught:
                fleet.facts(data, name="rank3")
            self.assertIn(word, str(caught.exception))
            row, = fleet.facts(data, name="run=a/rank3", errors="row")
            self.assertEqual((row["file"], row["run"], row["rank"], row["error"]["code"]),
                             ("rank3", "a", 3, code))
        row, = fleet.facts("/nowhere/run=a/rank-05.pickle", errors="row")
        self.assertEqual((row["run"], row["rank"], row["error"]["code"]), ("a", 5, "unreadable"))
        with self.assertRaises(FileNotFoundError):
            fleet.facts("/nowhere/rank3")
        with self.assertRaises(IsADirectoryError):
            fleet.facts(tempfile.gettempdir())

    def test_half_a_file_is_damaged_and_a_stream_that_breaks_off_is_an_error(self):
        data = SAMPLE.read_bytes()
        row, = fleet.facts(data[: len(data) // 2])
        self.assertTrue(row["damaged"])

        class BreaksOff(OneByte):
            size = len(data)

        row, = fleet.facts(BreaksOff(data[:-5000]), name="rank3", errors="row")
        self.assertEqual((row["rank"], row["error"]["code"]), (3, "unreadable"))
        self.assertIn("ended after", row["error"]["message"])

    def test_too_little_memory(self):
        row, = fleet.facts(SAMPLE, memory_limit=100_000, errors="row")
        if "error" in row:
            self.assertEqual(row["error"]["code"], "limit_exceeded")
        else:
            self.assertTrue(row["damaged"])

    def test_wrong_options(self):
        for wrong, words in (({"rank": "x"}, "^--rank: Value x not in range"), ({"rank": -1}, "^--rank: Value -1 not in range"),
                             ({"errors": "quiet"}, '^errors is "raise" or "row"'), ({"name": "a\0b"}, "^a name has no NUL")):
            with self.assertRaisesRegex(ValueError, words):
                fleet.facts(SAMPLE.read_bytes(), **wrong)
        with self.assertRaises(ValueError):
            fleet.sql("../../secret")
        with self.assertRaises(ValueError):
            fleet.read_groups([{"rank": "x", "kind": "pp", "name": "0"}])
        self.assertEqual(fleet.read_groups([{"rank": "3", "kind": "pp", "name": 0}]), [("", 3, "pp", "0")])

    def test_the_questions_are_there(self):
        self.assertEqual(len(fleet.queries()), 11)
        self.assertTrue(all("SELECT" in fleet.sql(name) for name in [*fleet.queries(), "facts"]))

    def test_files_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("run=a/rank1.pickle", "run=a/[x]/rank2.pickle", "run=b/rank1.json"):
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
            self.assertEqual([os.path.relpath(path, folder) for path in fleet.find(folder)],
                             ["run=a/[x]/rank2.pickle", "run=a/rank1.pickle", "run=b/rank1.json"])
            self.assertEqual(len(fleet.find(Path(folder, "run=a/[x]"))), 1)
            self.assertEqual(len(fleet.find(folder + "/run=*/rank1.*")), 2)


class Tables(unittest.TestCase):
    def test_rows_in_arrow_are_the_dicts(self):
        rows = fleet.facts(SAMPLE)
        self.assertEqual(fleet.read([SAMPLE]).to_pylist(), [{"groups": None, **row, "error": None} for row in rows])
        known = set(fleet.schema().names)
        self.assertLessEqual(set(rows[0]), known)
        batch = fleet.record_batch(json.dumps({**rows[0], "of_a_newer_version": 1}))
        self.assertEqual(batch.schema, fleet.schema())
        self.assertEqual(fleet.record_batch("").num_rows, 0)

    def test_a_file_that_is_none_is_a_row(self):
        table = fleet.read([SAMPLE, "/nowhere/rank9.pickle"])
        self.assertEqual([row and row["code"] for row in table.column("error").to_pylist()], [None, "unreadable"])

    def test_facts_are_written_below_their_run_and_rank(self):
        table = pyarrow.concat_tables([fleet.read([SAMPLE], run="a/b", rank=3, host="node 1"), fleet.read([SAMPLE])])
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(2):  # the second time over the first
                written = fleet.write(table, Path(folder, "new", "parts"))
            self.assertEqual([os.path.relpath(path, folder) for path in written],
                             ["new/parts/run=a%2Fb/rank=3/node 1-training_run.pickle.parquet",
                              "new/parts/run=__HIVE_DEFAULT_PARTITION__/rank=__HIVE_DEFAULT_PARTITION__/"
                              "training_run.pickle.parquet"])
            self.assertEqual(sorted(path for path in map(str, Path(folder).rglob("*.*")) if path not in written), [])
            read = [pyarrow.parquet.ParquetFile(path).read() for path in written]
            self.assertEqual(pyarrow.concat_tables(read).to_pylist(), table.to_pylist())
            answers = fleet.reduce(Path(folder, "new")).sql("SELECT run, rank FROM facts ORDER BY run").fetchall()
            self.assertEqual(answers, [("", None), ("a/b", 3)])

    def test_what_is_no_fact_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            row = json.dumps(fleet.facts(SAMPLE, rank=1)[0])
            newer = json.dumps({"gpustrata_facts": 2, "file": "rank2", "rank": 2})
            Path(folder, "a.json").write_text(f'{row}\n{{"half": \n[1]\n{newer}\n{{"file": 7}}\n')
            Path(folder, "b.json.gz").write_bytes(gzip.compress((row + "\n").encode()))
            database = fleet.reduce(folder)
            self.assertEqual(fleet.query(database, "coverage").fetchall()[0][:8], ("", 1, 1, 1, 1, None, 1, 0))
            self.assertEqual(sorted(database.sql("SELECT file, code FROM unreadable").fetchall()),
                             [("a.json", "invalid_format")] * 3 + [("rank2", "unsupported")])

    def test_a_line_without_device_or_file_is_no_fact(self):
        with tempfile.TemporaryDirectory() as folder:
            row = fleet.facts(SAMPLE, rank=1)[0]
            lines = [row, {"gpustrata_facts": 1}, {"gpustrata_facts": 1, "file": "rank2"}, {"gpustrata_facts": 1, "device": 0},
                     {"x": 1}, {"gpustrata_facts": "1", "file": "x", "device": 0}]
            Path(folder, "a.json").write_text("".join(json.dumps(line) + "\n\n" for line in lines))
            database = fleet.reduce(folder)
            self.assertEqual(database.sql("SELECT rank FROM facts").fetchall(), [(1,)])
            self.assertEqual(database.sql("SELECT file, code FROM unreadable").fetchall(), [("a.json", "invalid_format")] * 5)
            # Rows of a table that somebody made are not lost either.
            table = pyarrow.Table.from_pylist([{**row, "error": None}, {"gpustrata_facts": 1, "file": "y"}, {"file": "z", "device": 1}],
                                              fleet.schema())
            database = fleet.reduce(table)
            self.assertEqual(database.sql("SELECT rank FROM facts").fetchall(), [(1,)])
            self.assertEqual(sorted(database.sql("SELECT file, code FROM unreadable").fetchall()),
                             [("y", "invalid_format"), ("z", "invalid_format")])

    def test_folders_say_what_lines_of_facts_do_not(self):
        with tempfile.TemporaryDirectory() as folder:
            row = fleet.facts(SAMPLE)[0]
            for run in ("a", "b%2Fc"):
                path = Path(folder, f"run={run}", "host=h", "rank=4")
                path.mkdir(parents=True)
                Path(path, "part.json").write_text(json.dumps(row) + "\n" + json.dumps({**row, "run": "own", "rank": 9}) + "\n")
            nothing = Path(folder, "run=__HIVE_DEFAULT_PARTITION__")
            nothing.mkdir()
            lacks = {key: value for key, value in row.items() if key not in ("run", "host", "rank")}
            Path(nothing, "part.json.gz").write_bytes(gzip.compress((json.dumps(lacks) + "\n").encode()))
            database = fleet.reduce(folder)
            self.assertEqual(database.sql("SELECT run, rank, host FROM facts ORDER BY place").fetchall(),
                             [("", None, ""), ("a", 4, "h"), ("b/c", 4, "h"), ("own", 9, "h")])
