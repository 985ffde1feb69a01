#!/usr/bin/env python3
"""A thousand ranks of 100,000 events: facts of every file, then the fleet, as JSON lines; see README.md.

  fleet.py [--small]      a thirtieth of the size

The ranks share 28 different files of about 31 MB (hard links), so all bytes are read but come from the page cache. Two processes at a
time, as many as the machine has cores. Spark and Ray are measured where `bash tests/run.sh --only spark` installed them.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "fleet"))
import make_ranks  # noqa: E402

SMALL = "--small" in sys.argv
RANKS, EVENTS = (100, 20_000) if SMALL else (1000, 100_000)
FOLDER = pathlib.Path(os.environ.get("GPUSTRATA_BENCH_INPUTS", ROOT / "build/bench/inputs"))
GPUSTRATA = ROOT / "build/native-release/bin/gpustrata"
LIBRARY = ROOT / "build/native-release/lib/libgpustrata_file.so"
ENVIRONMENT = ROOT / "build/fleet/bin/python"
WORKERS = os.cpu_count()


def say(work, measured, unit, goal="", met=True, **more):
    print(json.dumps({"work": work, "measured": measured, "unit": unit, "goal": goal, "met": met, **more}), flush=True)


def warm(path):
    """Into the page cache. Not by this process: what it takes counts as the least of its children, some 15 MiB as it is."""
    subprocess.run(["cat", path], stdout=subprocess.DEVNULL, check=True)


def run(command):
    """Peak resident bytes and processor seconds of a process that must succeed."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return usage.ru_maxrss << 10, usage.ru_utime + usage.ru_stime


def run_all(commands, workers=WORKERS):
    """Seconds for all, the most memory that one of them took, processor seconds of all."""
    begin = time.monotonic()
    with ThreadPoolExecutor(workers) as pool:
        told = list(pool.map(run, commands))
    return time.monotonic() - begin, max(memory for memory, _ in told), sum(busy for _, busy in told)


def inputs():
    folder = FOLDER / f"fleet-{RANKS}-{EVENTS}"
    if not folder.exists():
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        make_ranks.make(part, ranks=RANKS, events=EVENTS, files=24)
        part.rename(folder)
    return folder, sorted((folder / "run=a").glob("*.pickle"))


def counts():
    return [count for count in (1, 10, 100, 1000) if count <= RANKS]


def measure_map(paths, parts):
    """Facts of 1, 10, ... ranks, each count into a folder of its own; seconds and processor seconds of a rank."""
    for count in counts():
        into = parts / str(count)
        into.mkdir(parents=True)
        some = paths[:: len(paths) // count][:count]
        seconds, memory, busy = run_all([[GPUSTRATA, "facts", path, "-o", into / f"{path.stem}.facts.json"] for path in some])
        size = sum(path.stat().st_size for path in some)
        written = sum(path.stat().st_size for path in into.iterdir())
        what = f"facts of {count:,} ranks x {EVENTS:,} events"
        say(f"{what}, {WORKERS} processes", seconds, "s", ratio=f"{count / seconds:.1f} files/s, {size / seconds / 1e6:.0f} MB/s")
        if count == counts()[-1]:
            say(f"{what}: time of the processor for a rank", busy / count, "s", ratio=f"{size / busy / 1e6:.0f} MB/s")
            say(f"{what}: memory of a process, most", memory / 2**20, "MiB")
            say(f"{what}: written for a rank", written / count / 1e3, "KB")
    return seconds / count, busy / count


def measure_pickle(paths, ours):
    """What people do: pickle.load in the same map, of as many files."""
    count = max(one for one in counts() if one <= 10)
    script = "import pickle, sys; data = pickle.load(open(sys.argv[1], 'rb')); print(max(e['size'] for e in data['device_traces'][0]))"
    seconds, memory, busy = run_all([[sys.executable, "-c", script, path] for path in paths[:: len(paths) // count][:count]])
    for what, one, other in zip(("", ", time of the processor"), ours, (seconds, busy)):
        say(f"facts of a rank in that map{what}", one, "s", reference="`pickle.load` and the largest size",
            reference_value=other / count, ratio=f"{other / count / one:.1f} x")
    say("memory of a process with `pickle.load`", memory / 2**20, "MiB")


def measure_large():
    """The constant of the model in engine/fleet/README.md: one file of a million events, one process."""
    events = 30_000 if SMALL else 1_000_000
    path = FOLDER / "fleet-large.pickle"
    script = f"import make_ranks; make_ranks.Rank(0, 0, {events}, 1).write({str(path)!r})"
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT / "tests" / "fleet")
    size = path.stat().st_size
    warm(path)
    seconds, memory, _ = min(run_all([[GPUSTRATA, "facts", path, "-o", path.with_suffix(".json")]]) for _ in range(3))
    say(f"facts of one file of {events:,} events, {size / 1e6:.0f} MB, best of 3", seconds, "s",
        ratio=f"{size / seconds / 1e6:.0f} MB/s, {memory / 2**20:.0f} MiB")
    path.unlink()
    path.with_suffix(".json").unlink()


def measure_reduce(groups, parts):
    for count in counts():
        out = parts / f"{count}.fleet.json"
        begin = time.monotonic()
        memory, busy = run([GPUSTRATA, "fleet", parts / str(count), "--groups", groups, "-o", out])
        seconds = time.monotonic() - begin
        say(f"`gpustrata fleet` over the facts of {count:,} ranks", seconds, "s",
            ratio=f"{busy:.2f} s of the processor, {memory / 2**20:.0f} MiB, {out.stat().st_size / 1e3:.0f} KB written")


IN_PYTHON = """
import json, pathlib, sys, time, os, resource
sys.path[:0] = [{root!r} + "/capture/python"]
os.environ["GPUSTRATA_FILE"] = {library!r}
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["PYTHONPATH"] = sys.path[0]
from gpustrata import fleet
paths, groups, parts = json.loads(sys.argv[1])

def pickles(path):
    import pickle
    return max(event["size"] for event in pickle.load(open(path, "rb"))["device_traces"][0])

def pickle_in_arrow(batches):
    import pyarrow
    for batch in batches:
        for path in batch.column("path").to_pylist():
            yield pyarrow.RecordBatch.from_pydict(dict(size=[pickles(path)]))

def pickle_batch(files):
    return dict(size=[pickles(path) for path in files["path"]])

def timed(work):
    begin = time.monotonic()
    work()
    return time.monotonic() - begin

def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
"""
DUCKDB = """
def everything():
    database = fleet.reduce(parts, groups=groups)
    for name in fleet.queries():
        fleet.query(database, name).fetchall()
taken = timed(lambda: fleet.read(paths))
print(json.dumps([taken, timed(everything), most()]))
"""
SPARK = """
from pyspark.sql import SparkSession
spark = (SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
         .config("spark.ui.showConsoleProgress", "false").config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
         .config("spark.executorEnv.GPUSTRATA_FILE", os.environ["GPUSTRATA_FILE"]).getOrCreate())
spark.sparkContext.setLogLevel("OFF")
frame = spark.createDataFrame([(path,) for path in paths], "path string").repartition(len(paths))
frame.limit(2).mapInArrow(fleet.map_in_arrow, fleet.spark_schema()).count()  # workers are there
rows = []
ours = timed(lambda: rows.extend(frame.mapInArrow(fleet.map_in_arrow, fleet.spark_schema()).collect()))
assert len(rows) == len(paths)
print(json.dumps([ours, timed(lambda: frame.mapInArrow(pickle_in_arrow, "size bigint").collect())]))
"""
RAY = """
import ray
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=512 << 20,
         runtime_env=dict(env_vars=dict(PYTHONPATH=os.environ["PYTHONPATH"], GPUSTRATA_FILE=os.environ["GPUSTRATA_FILE"])))
ray.data.DataContext.get_current().enable_progress_bars = False
files = ray.data.from_items([dict(path=path) for path in paths], override_num_blocks=len(paths))
files.limit(2).map_batches(fleet.map_batch, batch_format="pyarrow", batch_size=1).count()
rows = []
ours = timed(lambda: rows.extend(files.map_batches(fleet.map_batch, batch_format="pyarrow", batch_size=1).take_all()))
assert len(rows) == len(paths)
print(json.dumps([ours, timed(lambda: files.map_batches(pickle_batch, batch_size=1).take_all())]))
"""


def in_python(script, paths, groups, parts):
    text = IN_PYTHON.format(root=str(ROOT), library=str(LIBRARY)) + script
    done = subprocess.run([ENVIRONMENT, "-c", text, json.dumps([list(map(str, paths)), str(groups), str(parts)])],
                          capture_output=True, check=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure_engines(paths, groups, parts):
    if not ENVIRONMENT.exists():
        print("Spark and Ray are not installed: bash tests/run.sh --only spark", file=sys.stderr)
        return
    most = counts()[-1]
    hundred = paths[:: len(paths) // min(100, len(paths))][:100]
    read, reduced, memory = in_python(DUCKDB, hundred, groups, parts / str(most))
    say(f"`fleet.read` of {len(hundred)} ranks, {WORKERS} threads", read, "s", ratio=f"{len(hundred) / read:.1f} files/s")
    say(f"DuckDB: {most:,} ranks loaded and all questions asked", reduced, "s", ratio=f"{memory:.0f} MiB with the above")
    for name, script in (("Spark, two workers", SPARK), ("Ray, two workers", RAY)):
        try:
            ours, theirs = in_python(script, hundred, groups, parts)
        except subprocess.CalledProcessError as error:  # a machine that others use, too, may not start Ray in time
            print(f"{name}: {(error.stderr or '')[-400:]}", file=sys.stderr)
            continue
        say(f"{name}: facts of {len(hundred)} ranks", ours, "s", reference="`pickle.load` in the same map", reference_value=theirs,
            ratio=f"{theirs / ours:.1f} x")


def main():
    folder, paths = inputs()
    parts = FOLDER / "fleet-parts"
    shutil.rmtree(parts, ignore_errors=True)
    for path in {path.stat().st_ino: path for path in paths}.values():
        warm(path)
    ours = measure_map(paths, parts)
    measure_pickle(paths, ours)
    measure_large()
    measure_reduce(folder / "groups.csv", parts)
    measure_engines(paths, folder / "groups.csv", parts)
    shutil.rmtree(parts)


if __name__ == "__main__":
    main()
