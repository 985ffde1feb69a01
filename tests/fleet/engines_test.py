"""A plain loop over the command, DuckDB, a real Spark with two workers and a real Ray: the same facts, the same answers.

All of it needs duckdb, pyarrow, fsspec, pyspark (and a Java) and ray: run.sh. CTest's fleet.ranks is what needs none of them.

100 made-up ranks in several forms, and besides a cut one, one of other bytes, an empty file, a rank of another run and a rank
twice. Workers are killed in the middle. The reference is the command, file by file, and SQLite.
"""
import json
import os
import pathlib
import shutil
import signal
import tempfile
import time
import unittest

import make_ranks
import tables

from gpustrata import fleet

from support.tool import run
HERE = pathlib.Path(__file__).resolve().parent
RANKS = 100
results = []


def print_results():
    print("\n| engine | files | rows | unreadable | time | result |\n|---|---|---|---|---|---|")
    for row in results:
        print("| " + " | ".join(map(str, row)) + " |")


def make_folder(out):
    """What every engine reads; the planted ranks."""
    planted = make_ranks.make(out, ranks=RANKS, mixed=True)
    run = pathlib.Path(out, "run=a")
    cut = run / "rank00007.pickle"
    cut.write_bytes(cut.read_bytes()[: cut.stat().st_size * 2 // 3])
    (run / "rank00008.pickle").write_bytes(b"\x7fELF" + bytes(5000))
    (run / "rank00009.pickle").write_bytes(b"")
    shutil.copy(run / "rank00011.pickle", run / "rank00011 (1).pickle")
    (run.parent / "run=b").mkdir()
    shutil.copy(run / "rank00003.pickle", run.parent / "run=b" / "rank00003.pickle")
    # And a trace, which says its group itself.
    (run.parent / "run=b" / "rank00004.pt.trace.json").write_text(json.dumps({
        "distributedInfo": {"rank": 4, "pg_config": [{"pg_desc": "mesh_cp", "ranks": [3, 4]}]},
        "traceEvents": [{"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 5,
                         "args": {"Addr": 4096, "Bytes": 512, "Device Type": 1, "Device Id": 0}}]}))
    return planted


def key(row):
    return tuple(str(row[name]) for name in ("run", "rank", "file", "device") if name in row)


class Reference:
    """The command, one file after the other, and SQLite."""

    def __init__(self, paths, groups):
        self.rows = []
        for path in paths:
            done = run("facts", path)
            assert done.returncode in (0, 2), done
            self.rows += [json.loads(line) for line in done.stdout.splitlines()]
        self.rows.sort(key=lambda row: (row["run"], row["rank"], row["file"], row.get("device") or 0))
        read = [row for row in self.rows if "error" not in row]
        connection = tables.sqlite(read, fleet_groups(groups))
        self.answers = {name: named(tables.ask(connection, name), tables.ask(connection, "facts"))
                        for name in tables.names()}


def fleet_groups(path):
    return [dict(zip(("run", "rank", "kind", "name"), row)) for row in fleet.read_groups(path)]


def named(rows, facts):
    """Rows of an answer with names in place of ids, which loaders give as they like."""
    names = {row["id"]: key(row) for row in facts}
    return [{column: names[value] if column in ("id", "most_id") else value for column, value in row.items()} for row in rows]


def plain(rows):
    """Rows of facts as the command prints them: keys that are null for want of them left out."""
    found = []
    for row in sorted(rows, key=lambda row: (row["run"], row["rank"], row["file"], row["device"] or 0)):
        row = {k: v for k, v in row.items() if k not in ("id", "place") and (k != "groups" or v is not None)}
        if row.get("curve") and row["curve"].get("reserved") is None:  # a trace that does not tell what is reserved
            row["curve"] = {k: v for k, v in row["curve"].items() if k != "reserved"}
        if row["error"] is None:
            del row["error"]
        else:
            row = {k: row[k] for k in ("gpustrata_facts", "file", "run", "rank", "host", "world_size", "error")}
        found.append(row)
    return found


class Engines(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="gpustrata-fleet-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.addClassCleanup(print_results)
        cls.planted = make_folder(cls.folder / "job")
        cls.groups = cls.folder / "job" / "groups.csv"
        cls.paths = [path for run in "ab" for path in fleet.find(cls.folder / f"job/run={run}")]
        begin = time.monotonic()
        cls.reference = Reference(cls.paths, cls.groups)
        cls.told("command, a loop", cls.reference.rows, begin, "the reference")

    @classmethod
    def told(cls, engine, rows, begin, what):
        results.append((engine, len(cls.paths), len(rows), sum(bool(row.get("error")) for row in rows),
                        f"{time.monotonic() - begin:.1f} s", what))

    def same_facts(self, rows, left_out=()):
        rows = plain(rows)
        all_wanted = [row for row in self.reference.rows if row["file"] not in left_out]
        self.assertEqual([key(row) for row in rows], [key(row) for row in all_wanted])
        for row, wanted in zip(rows, all_wanted):
            self.assertEqual(row, wanted)

    def same_answers(self, ask):
        facts = ask("facts")
        for name, wanted in self.reference.answers.items():
            found = named(facts if name == "facts" else ask(name), facts)
            self.assertEqual(found, wanted, name)

    def duckdb_asks(self, connection):
        def ask(name):
            answer = fleet.query(connection, name)
            return [dict(zip(answer.columns, row)) for row in answer.fetchall()]

        return ask

    # -- The reference itself.
    def test_what_is_wrong_is_counted_and_named(self):
        files = {row["file"]: row for row in self.reference.rows}
        self.assertEqual(len(self.paths), RANKS + 3)
        self.assertEqual(len(self.reference.rows), len(self.paths))
        self.assertEqual(sorted(row["file"] for row in self.reference.rows if "error" in row),
                         ["rank00008.pickle", "rank00009.pickle"])
        self.assertTrue(files["rank00007.pickle"]["damaged"])
        a, b = self.reference.answers["coverage"]
        self.assertEqual((a["run"], a["rows"], a["ranks"], a["duplicates"], a["damaged"]), ("a", RANKS - 2, RANKS - 2, 1, 1))
        self.assertEqual((b["run"], b["rows"], b["lowest_rank"]), ("b", 2, 3))
        self.assertEqual([(row["run"], row["name"], row["rows"]) for row in self.reference.answers["groups"]
                          if row["kind"] == "cp"], [("b", "3", 1)])
        self.assertEqual([(row["run"], row["from_rank"], row["to_rank"]) for row in self.reference.answers["missing"]],
                         [("a", 8, 9), ("b", 0, 2)])
        self.assertEqual({row["format"] for row in self.reference.rows if "error" not in row},
                         {"pickle", "pickle in gzip", "pickle in zip", "json", "chrome trace"})

    def test_the_planted_ranks_are_found(self):
        answers, at = self.reference.answers, self.planted
        self.assertEqual([row["rank"] for row in answers["first_oom"]], [at["out_of_memory"]])
        self.assertEqual(answers["first_oom_stacks"][0]["who"], "logits loss.py:22")
        self.assertEqual([(row["who"], row["most_id"][1]) for row in answers["leaks"]],
                         [("remember metrics.py:77", str(at["leaking"]))])
        self.assertEqual([row["rank"] for row in answers["stragglers"]], [at["fragmented"]])
        self.assertEqual([row["rank"] for row in answers["drift_steps"]], [at["leaking"]])
        far = {row["rank"] for row in answers["outliers"] if row["fact"] in ("peak_requested", "end_requested")}
        self.assertLessEqual({at["outlier"], at["out_of_memory"]}, far)
        self.assertLessEqual(far, set(at.values()))  # and not the one whose file was cut

    def test_two_attempts_write_the_same_bytes(self):
        for path in self.paths[:5]:
            one, other = (run("facts", path).stdout
                          for _ in range(2))
            self.assertEqual(one, other)
        written = [fleet.write(fleet.read(self.paths[:5]), self.folder / f"attempt{i}") for i in range(2)]
        for one, other in zip(*written):
            self.assertEqual(pathlib.Path(one).read_bytes(), pathlib.Path(other).read_bytes())

    # -- One machine.
    def test_duckdb(self):
        begin = time.monotonic()
        table = fleet.read(self.paths)
        self.same_facts(table.to_pylist())
        self.same_answers(self.duckdb_asks(fleet.reduce(table, groups=self.groups)))
        self.told("DuckDB", table.to_pylist(), begin, "facts and answers equal")

    def test_duckdb_from_parquet_and_json(self):
        begin = time.monotonic()
        table = fleet.read(self.paths)
        parts = self.folder / "parts"
        fleet.write(table, parts)
        self.assertTrue((parts / "run=a" / "rank=42" / "rank00042.pickle.parquet").exists())
        self.same_answers(self.duckdb_asks(fleet.reduce(parts, groups=self.groups)))
        lines = self.folder / "all.facts.json"
        lines.write_text("".join(json.dumps(row) + "\n" for row in self.reference.rows))
        connection = fleet.reduce(lines, groups=self.groups)
        self.same_answers(self.duckdb_asks(connection))
        self.assertEqual(sorted(row[0] for row in connection.sql("SELECT file FROM unreadable").fetchall()),
                         ["rank00008.pickle", "rank00009.pickle"])
        self.told("DuckDB over Parquet `run=/rank=`, over JSON lines", table.to_pylist(), begin, "answers equal")

    def test_the_command_that_reduces(self):
        begin = time.monotonic()
        parts = self.folder / "command"
        parts.mkdir()
        (parts / "all.facts.json").write_text("".join(json.dumps(row) + "\n" for row in self.reference.rows))
        out = self.folder / "fleet.json"
        run("fleet", parts, "--groups", self.groups, "-o", out)
        told = json.loads(out.read_text())
        self.assertEqual([{key: row[key] for key in wanted} for row, wanted in
                          zip(told["coverage"], self.reference.answers["coverage"], strict=True)],
                         self.reference.answers["coverage"])
        self.assertEqual(told["unreadable_count"], 2)
        self.assertEqual(sorted(one["file"] for one in told["unreadable"]), ["rank00008.pickle", "rank00009.pickle"])
        self.told("`gpustrata fleet`", self.reference.rows, begin, "what it read is equal")

    def test_from_an_object_store(self):
        import fsspec

        store = fsspec.filesystem("memory")
        for path in self.paths[:5]:
            store.pipe("/" + "/".join(path.split("/")[-2:]), pathlib.Path(path).read_bytes())
        found = fleet.find("memory://run=a")
        self.assertEqual(len(found), 5)
        self.assertEqual(plain(fleet.read(found).to_pylist()), self.reference.rows[:5])

    # -- Spark.
    def test_spark(self):
        from pyspark.sql import SparkSession

        here = f"{HERE}:{os.environ['PYTHONPATH']}"
        session = (SparkSession.builder.master("local-cluster[2,1,1024]").appName("gpustrata")
                   .config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2")
                   .config("spark.ui.showConsoleProgress", "false").config("spark.local.dir", str(self.folder))
                   .config("spark.executorEnv.PYTHONPATH", here)
                   .config("spark.executorEnv.GPUSTRATA_FILE", os.environ["GPUSTRATA_FILE"])
                   .config("spark.executorEnv.GPUSTRATA_KILL", str(self.folder / "killed-spark")).getOrCreate())
        session.sparkContext.setLogLevel("OFF")
        self.addCleanup(session.stop)
        paths = session.createDataFrame([(path,) for path in self.paths], "path string").repartition(25)
        for attempt, function in enumerate((fleet.map_in_arrow, deadly_map_in_arrow)):
            begin = time.monotonic()
            out = str(self.folder / f"spark{attempt}")
            paths.mapInArrow(function, fleet.spark_schema()).write.parquet(out)
            facts = session.read.parquet(out)
            rows = [row.asDict(recursive=True) for row in facts.collect()]
            self.same_facts(rows)
            if attempt:
                self.assertTrue((self.folder / "killed-spark").exists())
                self.told("Spark, an executor killed", rows, begin, "facts equal")
                continue
            fleet.spark_tables(session, facts, groups=self.groups)
            self.same_answers(lambda name: [row.asDict() for row in fleet.query(session, name).collect()])
            self.told("Spark, local-cluster[2,1,1024]", rows, begin, "facts and answers equal")
            self.same_answers(self.duckdb_asks(fleet.reduce(out, groups=self.groups)))
        begin = time.monotonic()
        files = session.read.format("binaryFile").load([str(self.folder / "job/run=a"), str(self.folder / "job/run=b")])
        rows = [row.asDict(recursive=True) for row in
                files.select("path", "content").mapInArrow(fleet.map_in_arrow, fleet.spark_schema()).collect()]
        self.same_facts(rows, left_out=["rank00009.pickle"])
        self.told("Spark, binaryFile", rows, begin, "facts equal; Spark leaves the empty file out")

    # -- Ray.
    def test_ray(self):
        import pyarrow.parquet
        import ray

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False,
                 object_store_memory=512 << 20, _temp_dir=tempfile.mkdtemp(prefix="ray-"),
                 runtime_env={"env_vars": {"PYTHONPATH": f"{HERE}:{os.environ['PYTHONPATH']}",
                                           "GPUSTRATA_KILL": str(self.folder / "killed-ray")}})
        self.addCleanup(ray.shutdown)
        ray.data.DataContext.get_current().enable_progress_bars = False
        for attempt, function in enumerate((fleet.map_batch, deadly_map_batch)):
            begin = time.monotonic()
            out = str(self.folder / f"ray{attempt}")
            files = ray.data.from_items([{"path": path} for path in self.paths], override_num_blocks=25)
            files.map_batches(function, batch_format="pyarrow", batch_size=1).write_parquet(out)
            rows = pyarrow.parquet.read_table(out, partitioning=None).to_pylist()
            self.same_facts(rows)
            self.same_answers(self.duckdb_asks(fleet.reduce(out, groups=self.groups)))
            if attempt:
                self.assertTrue((self.folder / "killed-ray").exists())
            self.told("Ray, a worker killed" if attempt else "Ray, 2 workers", rows, begin, "facts and answers equal")
        begin = time.monotonic()
        files = ray.data.read_binary_files(self.paths, include_paths=True)
        rows = [row for row in files.map_batches(fleet.map_batch, batch_format="pyarrow", batch_size=1).take_all()]
        unpacked = next(row for row in rows if row["file"] == "rank00001.pickle.gz")
        self.assertEqual(unpacked["format"], "pickle")
        self.same_facts([row for row in rows if row is not unpacked], left_out=["rank00001.pickle.gz"])
        self.told("Ray, read_binary_files", rows, begin, "facts equal; Ray unpacks .gz itself")


def first_time():
    """Of all processes one, once."""
    try:
        os.close(os.open(os.environ["GPUSTRATA_KILL"], os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def deadly_map_in_arrow(batches):
    """As fleet.map_in_arrow, but the first process that comes to rank 42 kills its executor, the JVM above."""
    for batch in batches:
        if any("rank00042" in path for path in batch.column("path").to_pylist()) and first_time():
            daemon = os.getppid()
            executor = int(pathlib.Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2].split()[1])
            assert "java" in pathlib.Path(f"/proc/{executor}/cmdline").read_text()
            os.kill(executor, signal.SIGKILL)
            time.sleep(60)
        yield from fleet.map_in_arrow([batch])


def deadly_map_batch(files):
    """As fleet.map_batch, but the first process that comes to rank 42 dies."""
    if any("rank00042" in path for path in files.column("path").to_pylist()) and first_time():
        os.kill(os.getpid(), signal.SIGKILL)
    return fleet.map_batch(files)
