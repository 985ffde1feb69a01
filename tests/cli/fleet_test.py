"""facts and fleet: made-up ranks whose numbers are worked out by hand, files that are none, the same bytes twice."""
import base64
import gzip
import json
import os
import pickle
import shutil
import subprocess

from support.folders import InOneFolder, write
from support.paths import SAMPLE
from support.snapshots import MIB, block, event, frame, segment, snapshot
from support.tool import TOOL, answer, needed, out_of, run

START = 1_700_000_000_000_000  # microseconds
STEPS = 8


def line(**known):
    """A line of facts of which nothing is known but this."""
    return json.dumps({"gpustrata_facts": 1, "file": "x", "device": 0, **known}) + "\n"


def rank_snapshot(activations=2, leak=0, extra=0, oom=False, late=0):
    """100 MiB of weights, then steps that take and give back `activations` times 50 MiB, one after the other.

    leak: bytes that every step keeps. extra: bytes that live during the last step. Every event is 1 ms after the one before.
    """
    trace, marks, live = [], [], {}
    clock = [START + late]

    def note(action, address, size, line):
        clock[0] += 1000
        trace.append(event(action, address, size, time_us=clock[0], frames=[frame(f"line{line}", line, "train.py")]))

    def alloc(address, size, line):
        live[address] = (size, line)
        note("alloc", address, size, line)

    def give_back(address):
        size, line = live.pop(address)
        note("free_completed", address, size, line)

    reserved = 512 * MIB
    note("segment_alloc", 0x10000000, reserved, 1)
    alloc(0x10000000, 100 * MIB, 10)
    for step in range(STEPS):
        marks.append({"name": f"ProfilerStep#{step}", "stage": "START", "device": 0, "time_us": clock[0] + 500})
        if leak:
            alloc(0x20000000 - (step + 1) * MIB, leak, 99)
        if extra and step == STEPS - 1:
            alloc(0x1F000000, extra, 77)
        for i in range(activations):
            alloc(0x17000000 + i * 50 * MIB, 50 * MIB, 20 + i)
        if oom and step == STEPS - 1:
            note("oom", 1 << 30, 4 << 30, 30)
        for i in range(activations):
            give_back(0x17000000 + i * 50 * MIB)
        if extra and step == STEPS - 1:
            give_back(0x1F000000)
        marks.append({"name": f"ProfilerStep#{step}", "stage": "END", "device": 0, "time_us": clock[0] + 500})
    blocks, at = [], 0x10000000
    for address, (size, _) in sorted(live.items()):
        if address > at:
            blocks.append(block(address - at, address=at, requested_size=0, frames=[]))
        blocks.append(block(size, "active_allocated", address=address, requested_size=size, frames=[]))
        at = address + size
    blocks.append(block(0x10000000 + reserved - at, address=at, requested_size=0, frames=[]))
    used = sum(size for size, _ in live.values())
    whole = segment(0x10000000, blocks, segment_type="large", allocated_size=used, active_size=used, segment_pool_id=(0, 0),
                    is_expandable=False, frames=[])
    return snapshot([whole], trace, allocator_settings={}, external_annotations=marks)


class Fleet(InOneFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        planted = {3: {"extra": 10 * MIB, "oom": True}, 5: {"activations": 3}, 6: {"leak": MIB // 2}}
        cls.ranks = cls.folder / "run=a"
        for rank in range(7):
            cls.file(rank_snapshot(**planted.get(rank, {})), f"run=a/rank{rank}.pickle")
        (cls.ranks / "copy").mkdir()
        shutil.copy(cls.ranks / "rank2.pickle", cls.ranks / "copy" / "rank_2.pickle")
        cls.file(b"nothing that anybody reads", "run=a/rank8.pickle")
        cls.file(b"", "run=a/rank9.pickle")

    def rank(self, number):
        return self.ranks / f"rank{number}.pickle"

    def facts(self, *arguments):
        return [json.loads(line) for line in out_of("facts", *arguments).splitlines()]

    def fleet(self, *arguments, code=0):
        return answer("fleet", *arguments, code=code)

    def column(self, fleet, name):
        return next(one["values"] for one in fleet["columns"] if one["name"] == name)

    # -- facts
    def test_numbers_of_a_rank(self):
        (one,) = self.facts(self.rank(0))
        self.assertEqual((one["gpustrata_facts"], one["file"], one["run"], one["rank"]), (1, "rank0.pickle", "a", 0))
        self.assertEqual((one["start_requested"], one["peak_requested"], one["end_requested"]), (0, 200 * MIB, 100 * MIB))
        self.assertEqual((one["peak_reserved"], one["end_reserved"], one["end_allocated"]),
                         (512 * MIB, 512 * MIB, 100 * MIB))
        # Events: segment_alloc, weights, then 4 of each step; the first peak is after two of step 0.
        self.assertEqual((one["events"], one["peak_event"], one["peak_us"]), (2 + 4 * STEPS, 3, START + 4000))
        self.assertEqual((one["first_us"], one["last_us"]), (START + 1000, START + 1000 * (2 + 4 * STEPS)))
        self.assertEqual((one["ooms"], one["oom_us"], one["leaks"], one["damaged"]), (0, None, 0, False))
        # 412 MiB are free, all held back by the weights, but in one piece.
        self.assertEqual((one["cached"], one["held_back"], one["fragmentation"]), (412 * MIB, 412 * MIB, 0.0))
        self.assertEqual([stack["requested"] for stack in one["peak_stacks"]], [100 * MIB, 50 * MIB, 50 * MIB])
        self.assertEqual(one["step_count"], STEPS)
        self.assertEqual(one["steps"][1], {"step": 1, "first_us": START + 7000, "peak_requested": 200 * MIB,
                                           "end_requested": 100 * MIB})
        named = {stack["stack"]: stack for stack in one["stacks"]}
        self.assertEqual(len(named), 3)
        weights = named[one["peak_stacks"][0]["stack"]]
        self.assertEqual(weights["who"], "line10 train.py:10")
        self.assertEqual(weights["frames"], [{"filename": "train.py", "line": 10, "name": "line10"}])

    def test_leak_and_out_of_memory(self):
        (leaking,) = self.facts(self.rank(6))
        self.assertEqual((leaking["leaks"], leaking["leak_bytes"]), (1, STEPS * MIB // 2))
        self.assertEqual(leaking["leak_stacks"][0]["bytes_per_step"], MIB // 2)
        (out,) = self.facts(self.rank(3))
        self.assertEqual((out["ooms"], out["oom_requested"], out["oom_device_free"]), (1, 4 << 30, 1 << 30))
        who = {stack["stack"]: stack["who"] for stack in out["stacks"]}
        self.assertEqual(who[out["oom_stack"]], "line30 train.py:30")

    def test_stacks_of_two_ranks_join(self):
        hashes = [self.facts(self.rank(rank))[0]["peak_stacks"] for rank in (0, 1)]
        self.assertEqual(*[[stack["stack"] for stack in one] for one in hashes])

    def test_curve_of_a_sample(self):
        """Against a replay of its own."""
        (one,) = self.facts(SAMPLE)
        with open(SAMPLE, "rb") as file:
            trace = pickle.load(file)["device_traces"][0]
        allocated, reserved, levels = 0, 0, []
        for event in trace:
            sign = {"alloc": 1, "free_completed": -1}.get(event["action"], 0)
            allocated += sign * event["size"]
            reserved += {"segment_alloc": 1, "segment_free": -1}.get(event["action"], 0) * event["size"]
            levels.append((event["time_us"], allocated, reserved))
        begin, extent = levels[0][0], levels[-1][0] - levels[0][0] + 1
        expected = [[0] * 256, [0] * 256]
        for kind in (0, 1):
            level, at = 0, 0
            for time, *values in levels:
                column = (time - begin) * 256 // extent
                for passed in range(at + 1, column + 1):
                    expected[kind][passed] = level
                at, level = column, values[kind]
                expected[kind][at] = max(expected[kind][at], level)
        self.assertEqual(one["curve"]["allocated"], expected[0])
        self.assertEqual(one["curve"]["reserved"], expected[1])

    def test_the_same_bytes_wherever_it_lies(self):
        other = self.folder / "elsewhere" / "run=a"
        other.mkdir(parents=True)
        shutil.copy(self.rank(5), other)
        for out, folder in (("one.json", self.ranks), ("two.json", other)):
            done = run("facts", folder / "rank5.pickle", "-o", self.folder / out, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertEqual((self.folder / "one.json").read_bytes(), (self.folder / "two.json").read_bytes())

    def test_rank_run_and_host_from_names_and_options(self):
        folder = self.folder / "names" / "run=b" / "host=node7"
        folder.mkdir(parents=True)
        for name, rank in (("job_rank-03.pickle", 3), ("global_rank_12.dump.pickle", 12), ("frank5.pickle", None),
                           ("rank.pickle", None), ("rank99999999999.pickle", None), ("RANK=4.pickle", 4)):
            shutil.copy(self.rank(0), folder / name)
            (one,) = self.facts(folder / name)
            self.assertEqual((one["run"], one["host"], one["rank"]), ("b", "node7", rank), name)
        (one,) = self.facts(folder / "rank.pickle", "--run", "c", "--host", "h", "--rank", "9",
                            "--world-size", "16")
        self.assertEqual((one["run"], one["host"], one["rank"], one["world_size"]), ("c", "h", 9, 16))

    def test_folders_of_the_output_where_those_of_the_file_say_nothing(self):
        folder = self.folder / "plain" / "a"
        folder.mkdir(parents=True)
        for name in ("rank4.pickle", "dump.pickle"):
            shutil.copy(self.rank(0), folder / name)
        out = self.folder / "outs" / "run=100%25 b%2Fc" / "host=h" / "rank=7" / "deep" / "er" / "x.json"
        for name, rank in (("rank4.pickle", 4), ("dump.pickle", 7)):  # the file's own name counts more
            done = run("facts", folder / name, "-o", out, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            one = json.loads(out.read_text())
            self.assertEqual((one["run"], one["host"], one["rank"]), ("100% b/c", "h", rank))
        done = run("facts", self.rank(0), "--host", "mine", "-o", out, text=True)
        one = json.loads(out.read_text())
        self.assertEqual((one["run"], one["host"], one["rank"]), ("a", "mine", 0))
        missing = run("facts", folder / "none.pickle", "-o", out, text=True)
        one = json.loads(out.read_text())
        self.assertEqual((missing.returncode, one["run"], one["rank"], one["error"]["code"]),
                         (2, "100% b/c", 7, "unreadable"))

    def test_the_recipe_with_two_runs(self):
        """The guide's lines, of files with the same names: nothing is overwritten, nothing is taken for the other run's."""
        work = self.folder / "recipe"
        for name in ("a", "b"):
            (work / "runs" / name).mkdir(parents=True)
            for rank in (0, 1):
                shutil.copy(self.rank(rank), work / "runs" / name)
            recipe = f"find runs/{name} -name 'rank*.pickle' | xargs -P 2 -I {{}} {TOOL} facts {{}} -o facts/run={name}/{{}}.facts.json"
            self.assertEqual(subprocess.run(recipe, shell=True, cwd=work).returncode, 0)
        recipe = f"find runs -name '*.pickle' | xargs -P 2 -I {{}} {TOOL} facts {{}} -o all/{{}}.facts.json"
        self.assertEqual(subprocess.run(recipe, shell=True, cwd=work).returncode, 0)
        found = sorted(str(path.relative_to(work)) for path in (work / "all").rglob("*") if path.is_file())
        self.assertEqual(found, [f"all/runs/{name}/rank{rank}.pickle.facts.json" for name in "ab" for rank in (0, 1)])
        fleet = self.fleet(work / "facts")
        self.assertEqual((self.column(fleet, "run"), self.column(fleet, "rank")), (["a", "a", "b", "b"], [0, 1, 0, 1]))
        self.assertEqual([one["duplicates"] for one in fleet["coverage"]], [0, 0])
        # Without a word on the runs one is left out, and it is said how to tell them apart.
        fleet = self.fleet(work / "all")
        self.assertEqual(fleet["coverage"][0]["duplicates"], 2)
        self.assertIn("a folder run=NAME", "".join(fleet["says"]))

    def test_folders_of_facts_say_what_their_lines_do_not(self):
        folder = self.folder / "hive" / "run=a%20b" / "host=h1" / "rank=5"
        folder.mkdir(parents=True)
        write(folder / "part.json", line(file="y") + line(run="own", host="own", rank=6) + line(run="", host="", rank=None, file="z"))
        fleet = self.fleet(self.folder / "hive")
        # y and z are twice the same rank.
        self.assertEqual([(run, rank, host) for run, rank, host in zip(*(self.column(fleet, name) for name in ("run", "rank", "host")))],
                         [("a b", 5, "h1"), ("own", 6, "own")])
        nothing = self.folder / "hive2" / "run=__HIVE_DEFAULT_PARTITION__" / "rank=__HIVE_DEFAULT_PARTITION__"
        nothing.mkdir(parents=True)
        write(nothing / "rank3.json", line())
        fleet = self.fleet(self.folder / "hive2")
        self.assertEqual((self.column(fleet, "run"), self.column(fleet, "rank")), ([""], [None]))

    def test_folders_that_cannot_be_made(self):
        file = self.folder / "a file"
        write(file, b"")
        for out, word in ((file / "x" / "y.json", "Not a directory"), ("/proc/none/y.json", "cannot be made")):
            done = run("facts", self.rank(0), "-o", out, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""), out)
            self.assertIn(word, done.stderr)

    def test_standard_input(self):
        data = self.rank(5).read_bytes()

        def piped(*arguments):
            return run("facts", *arguments, stdin=data)

        one = json.loads(piped("-").stdout)
        self.assertEqual((one["file"], one["run"], one["rank"]), ("", "", None))
        named = piped("-", "--name", "s3://bucket/run=a/rank5.pickle")
        write(self.folder / "by name.json", named.stdout)
        done = run("facts", self.rank(5), text=True)
        self.assertEqual(named.stdout.decode(), done.stdout)
        done = run("facts", self.rank(5), "--name", "rank6", text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("names standard input", done.stderr)

    def test_rank_of_a_trace(self):
        memory = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 5,
                  "args": {"Addr": 4096, "Bytes": 512, "Device Type": 1, "Device Id": 0, "Total Allocated": 512,
                           "Total Reserved": 1024}}
        for info, rank, size in (({"backend": "nccl", "rank": 5, "world_size": 8, "pg_config": [{"rank": 7}]}, 5, 8),
                                 ({"rank": -1, "world_size": "8"}, 2, None), ("rank", 2, None)):
            path = self.folder / "rank2.pt.trace.json"
            write(path, {"schemaVersion": 1, "distributedInfo": info, "traceEvents": [memory]})
            (one,) = self.facts(path)
            self.assertEqual((one["rank"], one["world_size"]), (rank, size), info)

    def test_groups_of_a_trace(self):
        """As PyTorch writes them; here of 8 ranks, tp=2, dp=2, pp=2."""
        def config(desc, ranks, **more):
            return {"pg_name": "1", "pg_desc": desc, "backend_config": "cuda:nccl", "pg_size": len(ranks), "ranks": ranks, **more}

        paths = []
        for rank in range(8):
            memory = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 5,
                      "args": {"Addr": 4096, "Bytes": (rank + 1) << 20, "Device Type": 1, "Device Id": 0}}
            tp, dp, pp = rank // 2 * 2, rank // 4 * 4 + rank % 2, rank % 4
            info = {"backend": "nccl", "rank": rank, "world_size": 8, "pg_count": 6, "nccl_version": "2.26.6", "pg_config": [
                config("default_pg", list(range(8))), config("mesh_tp", [tp, tp + 1]), config("mesh_dp", [dp, dp + 2]),
                config("PIPELINE_MODEL_PARALLEL_GROUP", [pp, pp + 4]), config("undefined", [0, 1]), config("Mesh_Own", [rank]),
                config("not_mine", [rank ^ 1, (rank + 2) % 8])]}
            paths.append(self.folder / f"rank{rank}.pt.trace.json")
            write(paths[-1], {"schemaVersion": 1, "distributedInfo": info, "traceEvents": [memory]})
        (five,) = self.facts(paths[5])
        self.assertEqual({one["kind"]: one["name"] for one in five["groups"]}, {"tp": "4", "dp": "5", "pp": "1"})
        groups = {(one["kind"], one["name"]): one["rows_of"] for one in self.fleet(*paths)["groups"]}
        self.assertEqual(groups, {("tp", "0"): [0, 1], ("tp", "2"): [2, 3], ("tp", "4"): [4, 5], ("tp", "6"): [6, 7],
                                  ("dp", "0"): [0, 2], ("dp", "1"): [1, 3], ("dp", "4"): [4, 6], ("dp", "5"): [5, 7],
                                  ("pp", "0"): [0, 1, 2, 3], ("pp", "1"): [4, 5, 6, 7]})
        groups = {one["kind"] for one in self.fleet(*paths, "--layout", "tp=8")["groups"]}
        self.assertEqual(groups, {"tp", "dp", "pp"})

    def test_odd_groups_of_a_trace(self):
        memory = {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 5,
                  "args": {"Addr": 4096, "Bytes": 512, "Device Type": 1, "Device Id": 0}}
        # Older ones write no ranks where all are in a group: that tells a stage only.
        every = [{"pg_desc": "mesh_pp", "ranks": [], "group_size": 4}, {"pg_desc": "mesh_dp", "ranks": []}]
        for config, groups in ((every, [{"kind": "pp", "name": "3"}]), ([1, "x", [], {}, {"ranks": {}}], None),
                               ("[", None), ([{"pg_desc": "mesh_tp", "ranks": [3, "4", -1, 1e30, None, 2**70]}], None),
                               ([{"pg_desc": "mesh_" + "x" * 65, "ranks": [2, 3]}], None),
                               ([{"pg_desc": "mesh_tp", "ranks": [2, 3]}, {"pg_desc": "mesh_tp", "ranks": [3, 9]}],
                                [{"kind": "tp", "name": "2"}]),
                               ([{"pg_desc": f"own{i}", "ranks": [3, 9]} for i in range(999)],
                                [{"kind": f"own{i}", "name": "3"} for i in range(64)])):
            path = self.folder / "odd.pt.trace.json"
            write(path, {"schemaVersion": 1, "distributedInfo": {"rank": 3, "pg_config": config}, "traceEvents": [memory]})
            (one,) = self.facts(path)
            self.assertEqual(one.get("groups"), groups, config)

    def test_a_file_that_is_none_is_a_line(self):
        out = self.folder / "failed.json"
        done = run("facts", self.rank(8), "-o", out, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("rank8.pickle", done.stderr)
        line = json.loads(out.read_text())
        self.assertEqual((line["gpustrata_facts"], line["file"], line["rank"], set(line["error"])),
                         (1, "rank8.pickle", 8, {"code", "message", "offset"}))

    # -- fleet
    def test_planted_ranks_are_the_first_findings(self):
        fleet = self.fleet(self.ranks, code=2)
        self.assertEqual(self.column(fleet, "rank"), list(range(7)))
        self.assertEqual(self.column(fleet, "peak_requested"),
                         [size * MIB for size in (200, 200, 200, 210, 200, 250, 204)])
        found = [(one["kind"], one["rows"]) for one in fleet["findings"]]
        self.assertEqual(found[:3], [("oom", [3]), ("outlier", [5]), ("leak", [6])])
        oom, outlier, leak = fleet["findings"][:3]
        self.assertEqual(oom["stacks"][0]["who"], "line77 train.py:77")
        self.assertEqual((oom["stacks"][0]["value"], oom["stacks"][0]["median"]), (10 * MIB, 0))
        self.assertIn("It asked for 4.0 GiB at line30 train.py:30, with 1.0 GiB free on the device", oom["text"])
        self.assertIn("250.0 MiB, 50.0 MiB above the median of 7 ranks like it (200.0 MiB)", outlier["text"])
        self.assertIn("line99 train.py:99 keeps 512.0 KiB more in every step, 4.0 MiB at the end; 1 of 7", leak["text"])

    def test_what_is_not_as_it_should_be_is_said(self):
        fleet = self.fleet(self.ranks, code=2)
        (run_a,) = fleet["coverage"]
        self.assertEqual((run_a["run"], run_a["rows"], run_a["duplicates"]), ("a", 7, 1))
        self.assertEqual(fleet["unreadable_count"], 2)
        self.assertEqual([os.path.basename(one["file"]) for one in fleet["unreadable"]], ["rank8.pickle", "rank9.pickle"])
        text = run("fleet", self.ranks, text=True)
        self.assertEqual(text.returncode, 2)
        self.assertIn("1 line of a rank and device that others tell of, too", text.stdout)
        self.assertIn("2 files could not be read", text.stdout)

    def test_missing_ranks(self):
        files = [self.rank(rank) for rank in (0, 2, 5)]
        parts = []
        for file in files:
            parts.append(self.folder / f"{file.name}.facts.json")
            self.assertEqual(run("facts", file, "--world-size", "9", "-o", parts[-1], text=True).returncode, 0)
        fleet = self.fleet(*parts)
        self.assertEqual(fleet["coverage"][0]["missing"], "1, 3 to 4, 6 to 8")

    def test_facts_and_snapshots_give_the_same(self):
        files = [self.rank(rank) for rank in range(7)]
        together = self.folder / "all.facts.json"
        self.assertEqual(run("facts", *files, "-o", together, text=True).returncode, 0)
        straight, reduced = self.fleet(*files, "--title", "t"), self.fleet(together, "--title", "t")
        self.assertEqual(straight, reduced)
        out = self.folder / "reduced.fleet.json"
        self.assertEqual(run("fleet", together, "--title", "t", "-o", out, text=True).returncode, 0)
        with open(out) as file:
            self.assertEqual(json.load(file), reduced)
        # Other commands say what such a file is, and where to look at it.
        for command in ("summary", "report"):
            self.assertIn("A reduced fleet: facts of many ranks", out_of(command, out))
        self.assertEqual(answer("summary", out)["fleets"], 1)

    def test_keys_in_any_order(self):
        """As another writer of JSON may order them."""
        path = self.folder / "sorted.json"
        with open(path, "w") as out:
            for rank in (0, 1):
                (one,) = self.facts(self.rank(rank))
                out.write(json.dumps(one, sort_keys=True) + "\n")
        self.assertEqual(self.column(self.fleet(path), "rank"), [0, 1])

    def test_heat_map_on_one_clock(self):
        fleet = self.fleet(self.ranks, code=2)
        curves = fleet["curves"]
        self.assertEqual((curves["clock"], curves["scale"], curves["buckets"]), ("common", 512 * MIB, 128))
        self.assertEqual(curves["from_us"], START + 1000)
        allocated = base64.b64decode(curves["allocated"])
        reserved = base64.b64decode(curves["reserved"])
        self.assertEqual((len(allocated), len(reserved)), (7 * 128, 7 * 128))
        row = allocated[:128]
        # 100 MiB of 512 is 49.8 of 255, 200 MiB 99.6; the first bucket is a third of a millisecond: the empty segment.
        self.assertEqual((row[0], max(row), row[-1]), (0, 100, 0))
        # Rank 5 has the most events: 16 ms more than rank 0 of 49 ms, in which nothing is known of that.
        self.assertEqual(reserved[0], 255)
        self.assertEqual(reserved[127], 0)
        self.assertEqual(reserved[5 * 128 + 127], 255)

    def test_clocks_that_have_nothing_in_common(self):
        folder = self.folder / "clocks"
        folder.mkdir(parents=True)
        for rank in range(3):
            write(folder / f"rank{rank}.pickle", rank_snapshot(late=rank * 3_600_000_000))
        fleet = self.fleet(folder)
        self.assertEqual((fleet["curves"]["clock"], fleet["curves"]["from_us"]), ("each", 0))
        self.assertTrue(any("no moment in common" in one for one in fleet["says"]))
        rows = base64.b64decode(fleet["curves"]["allocated"])
        self.assertEqual(rows[:128], rows[128:256])

    def test_a_bucket_of_the_heat_map_has_the_most_of_all_its_columns(self):
        # 256 columns of a line and 128 buckets of the time of rank 0: two columns each, of rank 1, half as long, four. Only the
        # last of those that lie in the second bucket has something.
        path = self.folder / "curves.json"
        write(path, "".join(
            line(rank=rank, curve={"from_us": 0, "to_us": 256_000 // (rank + 1),
                                   "allocated": [255 if i == last else 0 for i in range(256)], "reserved": [0] * 256})
            for rank, last in ((0, 3), (1, 7))))
        allocated = base64.b64decode(self.fleet(path)["curves"]["allocated"])
        for rank in (0, 1):
            self.assertEqual(list(allocated[rank * 128:(rank + 1) * 128]), [0, 255] + [0] * 126)

    def test_a_table_of_groups_may_name_runs(self):
        path, table = self.folder / "two_runs.json", self.folder / "groups_of_runs.csv"
        write(path, "".join(line(run=run, rank=rank, file=f"{run}{rank}") for run in "ab" for rank in (0, 1)))
        write(table, "run,rank,kind,name\na,0,host,x\na,1,host,x\nb,1,host,y\n")
        groups = self.fleet(path, "--groups", table)["groups"]
        self.assertEqual([(one["run"], one["name"], one["rows_of"]) for one in groups], [("a", "x", [0, 1]), ("b", "y", [3])])

    def test_only_uneven_tensor_parallel_groups_are_findings(self):
        # Ranks 4 and 5 peak at 200 and 250 MiB, 2 and 3 at 200 and 210: that is less than a twentieth.
        found = self.fleet(*[self.rank(rank) for rank in range(7)], "--layout", "tp=2,pp=4")["findings"]
        titles = [one["title"] for one in found if one["kind"] == "group"]
        self.assertEqual([title for title in titles if title.startswith("Tensor-parallel")],
                         ["Tensor-parallel group 4 is uneven"])

    def test_groups_by_layout_and_by_table(self):
        files = [self.rank(rank) for rank in range(7)]
        groups = {(one["kind"], one["name"]): one for one in self.fleet(*files, "--layout", "tp=2,pp=4")["groups"]}
        self.assertEqual(groups["tp", "4"]["rows_of"], [4, 5])
        self.assertEqual((groups["tp", "4"]["least_peak"], groups["tp", "4"]["most_peak"]), (200 * MIB, 250 * MIB))
        self.assertEqual(groups["pp", "1"]["rows_of"], [2, 3])
        write(self.folder / "groups.csv", "rank,kind,name\n0,host,\"a, left\"\n1,host,b\n5,host,b\n")
        groups = self.fleet(*files, "--groups", self.folder / "groups.csv")["groups"]
        self.assertEqual([(one["name"], one["rows_of"]) for one in groups], [("b", [1, 5]), ("a, left", [0])])
        for wrong in (["--layout", "tp=0"], ["--layout", "tp"], ["--layout", "tp=2,tp=2"], ["--layout", "a=1000,b=1001"]):
            self.assertEqual(run("fleet", *files, *wrong, text=True).returncode, 1, wrong)
        write(self.folder / "wrong.csv", "rank,kind,name\nfirst,host,a\n")
        done = run("fleet", *files, "--groups", self.folder / "wrong.csv", text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("Line 2: \"first\" is no rank", done.stderr)

    def test_hostile_lines(self):
        good = run("facts", self.rank(0), text=True).stdout
        lines = {
            "no json": "{\"gpustrata_facts\"",
            "a list": "[1]",
            "newer": good.replace("\"gpustrata_facts\":1", "\"gpustrata_facts\":2"),
            "a text for a number": good.replace("\"peak_requested\":", "\"peak_requested\":\"9\",\"x\":"),
            "a number for a share": good.replace("\"fragmentation\":0.0", "\"fragmentation\":\"much\""),
            "no version": "{}",
            "no device, no file": "{\"gpustrata_facts\":1}",
            "no device": "{\"gpustrata_facts\":1,\"file\":\"x\"}",
            "no file": good.replace("\"file\":", "\"x\":", 1),
            "a number for a name": good.replace("\"file\":", "\"file\":7,\"x\":", 1),
        }
        for name, line in lines.items():
            path = self.folder / "hostile.facts.json"
            write(path, "{\"gpustrata_facts\":1,\"run\":\"a\",\"rank\":1,\"file\":\"x\",\"device\":0}\n" + line.strip() + "\n" + good)
            fleet = self.fleet(path, code=2)
            self.assertEqual(fleet["unreadable_count"], 1, name)
            self.assertTrue(fleet["unreadable"][0]["message"].startswith("Line 2: "), name)
            self.assertEqual(fleet["says"][0], "1 line of a file of facts could not be read.", name)
            self.assertEqual(self.column(fleet, "rank"), [0, 1], name)
        with open(path, "w") as out:
            out.write("{\"gpustrata_facts\":1,\"device\":0,\"rank\":1,\"file\":\"'); DROP TABLE lines; --\",\"curve\":{\"allocated\":[1e300,"
                      "-5,\"x\",null,[1]],\"from_us\":9,\"to_us\":1},\"peak_stacks\":[7,null,{\"stack\":5}]}\n")
        self.assertEqual(self.column(self.fleet(path), "file"), ["'); DROP TABLE lines; --"])

    def test_files_and_lines_are_counted_as_what_they_are(self):
        folder = self.folder / "bad lines"
        folder.mkdir(parents=True)
        for name, bad in (("one.json", 9), ("two.json", 1)):
            write(folder / name, line(rank=1) + "{}\n" * bad)
            fleet = self.fleet(folder / name, code=2)
            self.assertIn(f"{bad} line{'s' if bad > 1 else ''} of a file of facts could not be read.", fleet["says"])
            self.assertEqual((fleet["findings"][-1]["title"], fleet["unreadable_count"]), (fleet["says"][0][:-1], bad))
        write(folder / "three.json", "{\"gpustrata_facts\":1,\"file\":\"rank9\",\"error\":{\"message\":\"gone\"}}\n")
        write(folder / "four.pickle", b"")
        fleet = self.fleet(folder, code=2)
        self.assertEqual(fleet["says"][0], "2 files and 10 lines of 2 files of facts could not be read.")
        self.assertEqual((fleet["unreadable_count"], len(fleet["unreadable"])), (12, 12))
        self.assertEqual(fleet["unreadable"][2]["message"][:8], "Line 3: ")

    def test_packed_facts(self):
        folder = self.folder / "packed" / "run=a"
        folder.mkdir(parents=True)
        lines = [run("facts", self.rank(rank), text=True).stdout for rank in range(4)]
        with open(folder / "0.facts.json.gz", "wb") as out:
            out.write(gzip.compress(lines[0].encode()) + gzip.compress(lines[1].encode()))  # as cat joins them
        write(folder / "2.json", lines[2])  # whatever the name
        subprocess.run([needed("zstd", "zstd"), "-q", "-o", folder / "3.facts.json.zst"], input=lines[3].encode(), check=True)
        plain = self.folder / "packed.json"
        write(plain, "".join(lines))
        reduced = self.folder / "packed" / "all.fleet.json"
        self.assertEqual(run("fleet", folder, "-o", reduced, text=True).returncode, 0)
        packed = self.file(gzip.compress(reduced.read_bytes()), "packed/all.fleet.json.gz")
        wanted = self.fleet(plain, "--title", "t")
        self.assertEqual(self.fleet(self.folder / "packed", "--title", "t"), wanted)  # reduced files are passed by
        named = self.fleet(folder, packed, "--title", "t", code=2)
        self.assertIn("reduced file already", named["unreadable"][0]["message"])

    def test_packed_facts_that_end_early_or_are_damaged(self):
        path = self.folder / "cut.facts.json.gz"
        data = gzip.compress("".join(line(rank=rank, file=f"{rank}-" + os.urandom(40_000).hex()) for rank in range(20)).encode())
        for wrong, word in ((data[: len(data) // 2], "end early"), (data[:-8] + bytes(8), "damaged"), (data + b"x" * 99, "damaged")):
            write(path, wrong)
            fleet = self.fleet(path, code=2)
            self.assertEqual(fleet["unreadable_count"], 1, word)
            self.assertIn(word, fleet["unreadable"][0]["message"])
            ranks = self.column(fleet, "rank")
            self.assertEqual(ranks, list(range(len(ranks))))
            self.assertGreater(len(ranks), 3)
        write(path, gzip.compress(b"{\"gpustrata_facts\":1") + gzip.compress(bytes(100_000_000)) * 15)  # 1.5 GB of one line in 1.5 MB
        done = run("fleet", path, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("unpacks to too much", done.stderr)
        os.unlink(path)

    def test_findings_join_only_what_is_alike(self):
        def steps(*peaks):
            return [{"step": i, "peak_requested": peak * MIB} for i, peak in enumerate(peaks)]

        up, down = steps(*range(100, 400, 50)), steps(*range(400, 100, -50))
        path = self.folder / "drifts.json"
        write(path, "".join(line(rank=rank, steps=peaks) for rank, peaks in enumerate((up, up, down))))
        rises, falls = [one for one in self.fleet(path)["findings"] if one["kind"] == "drift"]
        self.assertEqual((rises["title"], rises["rows"], rises["bad"]), ("The peaks of rank 0 are higher in its last steps than in its first", [0, 1], True))
        self.assertTrue(rises["text"].endswith(" Likewise rank 1."), rises["text"])
        self.assertEqual((falls["title"], falls["rows"], falls["bad"]), ("The peaks of rank 2 are lower in its last steps than in its first", [2], False))
        # Rank 0 has much at the end, rank 1 a low peak, ranks 2 and 3 a high one; of the peak of rank 3 that is told, not its end.
        with open(path, "w") as out:
            for rank in range(12):
                peak = {1: 100, 2: 9000, 3: 8000}.get(rank, 1000)
                out.write(line(rank=rank, peak_requested=peak * MIB, end_requested={0: 900, 3: 150}.get(rank, 10) * MIB))
        found = [one for one in self.fleet(path)["findings"] if one["kind"] == "outlier"]
        self.assertEqual([one["rows"] for one in found], [[0], [2, 3], [1]])
        self.assertIn("Its memory at the end is 900.0 MiB", found[0]["text"])
        self.assertTrue(found[1]["text"].endswith("(1000.0 MiB). Likewise rank 3."), found[1]["text"])
        self.assertIn("Its peak is 100.0 MiB, 900.0 MiB below", found[2]["text"])

    def test_a_file_that_is_none_of_facts_is_given_up(self):
        # 10 KB of gzip with 5 million lines: behind 1,000 bad ones nobody looks.
        path = self.folder / "bad.jsonl.gz"
        write(path, gzip.compress((line(rank=0) + "x\n" * 5_000_000 + line(rank=1)).encode()))
        fleet = self.fleet(path, code=2)
        self.assertEqual(self.column(fleet, "rank"), [0])
        self.assertEqual(fleet["unreadable_count"], 1002)  # 1,001 lines, and the file that was given up
        done = run("fleet", path, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("1,001 lines", done.stdout)
        # 1,000 are still passed over one by one.
        write(path, gzip.compress((line(rank=0) + "x\n" * 1000 + line(rank=1)).encode()))
        self.assertEqual(self.column(self.fleet(path, code=2), "rank"), [0, 1])

    def test_a_line_said_ten_thousand_times(self):
        path = self.folder / "again.jsonl.gz"
        write(path, gzip.compress((line(rank=0) * 10_002 + line(rank=1)).encode()))
        fleet = self.fleet(path, code=2)
        self.assertEqual(self.column(fleet, "rank"), [0])
        self.assertIn("More than 10,000 of its lines repeat others", fleet["unreadable"][0]["message"])
        self.assertIn("10,001", " ".join(fleet["says"]))  # duplicates

    def test_a_step_behind_all_events_has_no_time(self):
        # The time of the event after the last one was read: of nothing, or of another device.
        mark = {"name": "ProfilerStep#1", "stage": "START", "device": 0, "time_us": START + 10}
        for history in ([], [event("alloc", 1 << 32, 512, time_us=START, frames=[])]):
            made = snapshot([segment(1 << 32, [block(2 * MIB)])], history, external_annotations=[mark])
            (one,) = self.facts(write(self.folder / "late.pickle", made))
            self.assertEqual([step["first_us"] for step in one["steps"]], [None], one["steps"])

    def test_what_is_not_known_is_no_0(self):
        path = self.folder / "unknown.json"
        with open(path, "w") as out:
            out.write(line(rank=0) + line(rank=1, peak_requested=0, peak_reserved=0) + line(rank=2, peak_requested=5, ooms=1, oom_us=3,
                                                                                         oom_stack="s")
                      + line(rank=3, ooms=1, oom_us=1, oom_requested=7))
        fleet = self.fleet(path)
        self.assertEqual(self.column(fleet, "peak_requested"), [None, 0, 5, None])
        self.assertEqual(self.column(fleet, "ooms"), [None, None, 1, 1])
        self.assertEqual(fleet["findings"][0]["text"], "It asked for 7 B. 2 ranks ran out of memory in all.")
        rows = [row.split()[:4] for row in run("fleet", path, text=True).stdout.split("device  file\n")[1].splitlines()]
        self.assertEqual(rows, [["5", "B", "-", "2"], ["0", "B", "0", "B"], ["-", "-", "0", "0"], ["-", "-", "3", "0"]])

    def test_which_rank_failed_first_is_not_sure_where_clocks_have_nothing_in_common(self):
        path = self.folder / "clocks.json"
        with open(path, "w") as out:
            out.write("".join(line(rank=rank, ooms=1, oom_us=1 + day, oom_requested=7, first_us=day, last_us=day + 10)
                              for rank, day in enumerate((0, 86_400_000_000))))
        found = self.fleet(path)["findings"][0]
        self.assertEqual(found["title"], "Rank 0 ran out of memory")
        self.assertEqual(found["text"],
                         "It asked for 7 B. 2 ranks ran out of memory in all. Their clocks have no moment in common, so which was first "
                         "is not sure.")

    def test_a_damaged_rank_is_listed_as_damaged_and_compared_with_none(self):
        """Its start is 26 GiB only because its end is missing."""
        path = self.folder / "damaged.json"
        whole = [line(rank=rank, file=f"rank{rank}", start_requested=4 << 30, peak_requested=8 << 30, peak_reserved=9 << 30,
                      ooms=int(rank == 1), oom_us=5) for rank in range(4)]
        cut = line(rank=4, file="rank4", damaged=True, start_requested=26 << 30, peak_requested=34 << 30, peak_reserved=None)
        write(path, "".join([*whole, cut]))
        fleet = self.fleet(path)
        out, damaged = fleet["findings"]
        self.assertEqual(out["title"], "Rank 1 ran out of memory first")
        self.assertTrue(out["text"].endswith(
            "Its peak is 8.0 GiB, the median of the others 8.0 GiB. No other recording shows one."), out["text"])
        self.assertEqual((damaged["kind"], damaged["title"], damaged["rows"]), ("coverage", "Damaged: rank 4", [4]))
        rows = run("fleet", path, text=True).stdout.split("device  file\n")[1].splitlines()
        self.assertEqual([row.split() for row in (rows[0], rows[-1])],
                         [["8.0", "GiB", "9.0", "GiB", "0", "0", "rank0"], ["-", "-", "4", "0", "rank4", "(damaged)"]])

    def test_nothing_to_reduce(self):
        empty = self.folder / "empty"
        empty.mkdir(parents=True)
        done = run("fleet", empty, text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("gpustrata facts FILE", done.stderr)
        done = run("fleet", self.folder / "not there", text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("No such file", done.stderr)
