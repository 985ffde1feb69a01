"""Files that `gpustrata convert --to arrow` and write_parquet() write, read by pyarrow and duckdb."""
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import duckdb
import gpustrata
import pyarrow
import pyarrow.compute
import pyarrow.dataset
import pyarrow.parquet
from support.folders import InAFolder
from support.paths import SAMPLE, SNAPSHOTS, needs_shared_data
from support.snapshots import event, frame, snapshot
from support.tool import out_of, run

TABLES = ["events", "blocks", "segments", "lives", "stacks"]


def convert(path, out, *arguments):
    done = run("convert", path, "-o", out, "--json", *arguments)
    return done.returncode, json.loads(done.stdout)


def read(path):
    with pyarrow.ipc.open_file(path) as file:
        table = file.read_all()
    table.validate(full=True)
    return table


def taken(table):
    arrow = pyarrow.table(table)
    arrow.validate(full=True)
    return arrow


def plain(table):
    """Columns as lists: however texts are counted."""
    return table.to_pydict()


def real_files():
    return sorted(path for path in SNAPSHOTS.iterdir() if path.is_file() and not path.name.startswith("NOT_"))


def of_python(file, snapshot, table):
    """What the package gives, pinned host memory last."""
    parts = [taken(getattr(snapshot, table)())]
    if table != "stacks":
        try:
            parts.append(taken(getattr(snapshot, table)("host")))
        except ValueError as error:
            if "There is no device host" not in str(error):
                raise
    return parts


class Files(InAFolder):
    def compare(self, path):
        """Every table of every snapshot of a file; how many."""
        compared = 0
        try:
            file = gpustrata.open(path)
        except ValueError:
            self.assertEqual(convert(path, self.folder / "t.arrow")[0], 2)
            return 0
        with file:
            for index, snapshot in enumerate(file.snapshots):
                for table in TABLES:
                    out = self.folder / "t.arrow"
                    code, told = convert(path, out, "--table", table, "--snapshot", index)
                    if code != 0:  # numbers over time
                        self.assertIn("are written as csv", told["error"]["message"])
                        continue
                    found, parts = read(out), of_python(file, snapshot, table)
                    self.assertEqual(found.num_rows, told["rows"])
                    self.assertTrue(found.schema.equals(parts[0].schema), f"{found.schema}\n{parts[0].schema}")
                    rows = sum(part.num_rows for part in parts)
                    self.assertEqual(found.num_rows, rows)
                    for name in found.column_names:
                        wanted = [value for part in parts for value in part.column(name).to_pylist()]
                        if name == "segment" and len(parts) > 1:  # rows of this file's segments
                            before = taken(snapshot.segments()).num_rows
                            wanted = wanted[: parts[0].num_rows] + [one + before for one in wanted[parts[0].num_rows :]]
                        self.assertEqual(found.column(name).to_pylist(), wanted, f"{table}.{name}")
                    first = out.read_bytes()
                    convert(path, out, "--table", table, "--snapshot", index)
                    self.assertEqual(out.read_bytes(), first)
                    compared += 1
        return compared

    def test_they_are_the_tables_of_the_package(self):
        self.assertEqual(self.compare(SAMPLE), len(TABLES))

    @needs_shared_data
    def test_on_every_real_file(self):
        compared = 0
        for path in real_files():
            with self.subTest(path.name):
                compared += self.compare(path)
        self.assertGreater(compared, 200)

    def test_many_batches(self):
        # 200,000 events are 4 batches; texts, nulls and an unknown action across their borders.
        events = [{**event("alloc" if i % 2 == 0 else "free_completed", 4096 + 512 * (i // 2), 512, time_us=i,
                           frames=[frame(f"f{i % 1000}", i % 7)]), "stream": i % 3} for i in range(200_000)]
        for i in range(0, len(events), 65_537):
            events[i]["user_metadata"] = f"note {i}"
        events[70_000]["action"] = "something_new"
        path = self.file(snapshot([], events), "many.pickle")
        self.assertEqual(self.compare(path), len(TABLES))
        convert(path, self.folder / "t.arrow")
        with pyarrow.ipc.open_file(self.folder / "t.arrow") as file:
            self.assertEqual([file.get_batch(i).num_rows for i in range(file.num_record_batches)],
                             [65_536, 65_536, 65_536, 3_392])

    def test_several_snapshots_have_a_column_with_their_names(self):
        one = pickle.loads(SAMPLE.read_bytes())
        path = self.file({"all": one, "little": snapshot([], [event("alloc", 4096, 10, frames=[])])}, "two.pickle")
        convert(path, self.folder / "t.arrow")
        found = read(self.folder / "t.arrow")
        names = found.column("snapshot").to_pylist()
        self.assertEqual(names, ["all"] * 3168 + ["little"])
        with gpustrata.open(path) as file:
            for name, one in zip(("all", "little"), file.snapshots):
                mask = pyarrow.array([text == name for text in names])
                self.assertEqual(plain(found.filter(mask).drop_columns(["snapshot"])), plain(taken(one.events())))
        convert(path, self.folder / "t.arrow", "--table", "stacks")
        self.assertNotIn("snapshot", read(self.folder / "t.arrow").column_names)

    def test_hashes_join_files(self):
        """The same stack has the same hash in another file, whatever number it has there; others have others."""
        frames = [[frame(name, line)] for name in "fgh" for line in (1, 2)]

        def file_of(order):
            path = self.file(snapshot([], [event("alloc", 4096 * i, 10, frames=frames[which])
                                           for i, which in enumerate(order, 1)]), "x.pickle")
            with gpustrata.open(path) as file:
                return {(row["name"], row["line"]): one for one, (row,) in
                        zip(*(file.stacks().to_pydict()[name] for name in ("hash", "frames")))}

        first, second = file_of([0, 1, 2, 3, 4, 5]), file_of([5, 3, 1, 0, 2, 4])
        self.assertEqual(first, second)
        self.assertEqual(len(set(first.values())), 6)
        for one in first.values():
            self.assertRegex(one, r"^[0-9a-f]{32}$")

    def test_hashes_are_those_of_the_facts(self):
        named = {stack["stack"] for line in out_of("facts", SAMPLE).splitlines() for stack in json.loads(line)["stacks"]}
        with gpustrata.open(SAMPLE) as file:
            self.assertLessEqual(named, set(file.stacks().to_pydict()["hash"]))
        self.assertGreater(len(named), 3)

    def test_partitions_are_read_back_as_columns(self):
        for rank in (0, 1):
            self.assertEqual(convert(SAMPLE, self.folder, "--run", "7 b", "--rank", rank)[0], 0)
        found = pyarrow.dataset.dataset(self.folder, format="ipc", partitioning="hive").to_table(columns=["run", "rank"])
        self.assertEqual(set(zip(*found.to_pydict().values())), {("7 b", 0), ("7 b", 1)})
        self.assertEqual(found.num_rows, 2 * 3168)


class Parquet(InAFolder):
    def setUp(self):
        super().setUp()
        self.file = gpustrata.open(SAMPLE)
        self.addCleanup(self.file.close)

    def test_every_table(self):
        for table in TABLES:
            path = self.folder / f"{table}.parquet"
            self.assertEqual(self.file.write_parquet(path, table=table), str(path))
            self.assertEqual(plain(pyarrow.parquet.read_table(path)), plain(taken(getattr(self.file, table)())))
            before = path.read_bytes()
            self.file.write_parquet(path, table=table)
            self.assertEqual(path.read_bytes(), before)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o666 & ~current_umask())
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), sorted(f"{table}.parquet" for table in TABLES))

    def test_a_partition(self):
        for rank in (0, 1):
            written = self.file.write_parquet(self.folder, run="a/b c~", rank=rank)
            self.assertEqual(written, str(self.folder / "run=a%2Fb%20c%7E" / f"rank={rank}" / "events.parquet"))
        # The same folder as the command's.
        self.assertEqual(convert(SAMPLE, self.folder, "--run", "a/b c~", "--rank", 1)[1]["output"],
                         written.replace(".parquet", ".arrow"))
        Path(written.replace(".parquet", ".arrow")).unlink()
        found = pyarrow.dataset.dataset(self.folder, format="parquet", partitioning="hive").to_table(columns=["run", "rank"])
        self.assertEqual(set(zip(*found.to_pydict().values())), {("a/b c~", 0), ("a/b c~", 1)})
        rows = duckdb.sql(f"select rank, count(*) from read_parquet('{self.folder}/*/*/events.parquet', "
                          "hive_partitioning=true) group by rank order by rank").fetchall()
        self.assertEqual(rows, [(0, 3168), (1, 3168)])
        self.assertEqual(self.file.write_parquet(self.folder, table="stacks"), str(self.folder / "stacks.parquet"))

    def test_wrong_arguments(self):
        for wrong in ({"table": "frames"}, {"rank": -1}, {"rank": True}, {"run": ""}, {"device": 7}):
            with self.assertRaises(ValueError):
                self.file.write_parquet(self.folder, **wrong)
        with self.assertRaisesRegex(ValueError, "a folder that is there"):
            self.file.write_parquet(self.folder / "x.parquet", rank=1)
        with self.assertRaisesRegex(ValueError, "is the file that is read"):
            self.file.write_parquet(SAMPLE)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_full_disk_leaves_what_was_there(self):
        path = self.folder / "events.parquet"
        path.write_bytes(b"before")
        code = ("import gpustrata, resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
                "f = gpustrata.open(sys.argv[1]); resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); "
                "f.write_parquet(sys.argv[2])")
        done = subprocess.run([sys.executable, "-c", code, SAMPLE, path], capture_output=True, text=True)
        self.assertIn("OSError", done.stderr)
        self.assertEqual(path.read_bytes(), b"before")
        self.assertEqual([one.name for one in self.folder.iterdir()], ["events.parquet"])


class WithoutArrow(InAFolder):
    def test_it_is_told_how_to_get_it(self):
        code = ("import sys; sys.modules['pyarrow'] = None; import gpustrata\n"
                "gpustrata.open(sys.argv[1]).write_parquet(sys.argv[2])")
        done = subprocess.run([sys.executable, "-c", code, SAMPLE, self.folder / "events.parquet"], capture_output=True, text=True)
        self.assertRegex(done.stderr, r"ImportError: .*pip install 'gpustrata\[arrow\]'")
        self.assertEqual(os.listdir(self.folder), [])


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
