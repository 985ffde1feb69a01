"""`gpustrata tracker` against a second computation on pickles that Python writes as MemoryTracker does."""
import collections
import json
import os
import pickle
import random

from support.folders import InAFolder
from support.snapshots import MIB
from support.tool import answer, run


def statistics(samples, markers, retries):
    """`samples`: (name, allocated, active, reserved) in MiB, as MemoryTracker keeps them."""
    tables = [collections.defaultdict() for _ in range(3)]
    for op, (name, *sizes) in enumerate(samples):
        for table, size in zip(tables, sizes):
            table[op] = (name, size)
    kept = collections.defaultdict(int)
    kept.update(markers)
    keys = ("memories_allocated", "memories_active", "memories_reserved")
    return {**dict(zip(keys, tables)), "markers": kept, "num_alloc_retries": retries}


def as_the_original_prints(stats, top):
    """The lines of MemoryTracker.summary(), from its definition: differences from operator 1 on, most first."""
    allocated = stats["memories_allocated"]
    difference = {}
    for op in range(1, len(allocated)):
        difference[allocated[op][0]] = allocated[op][1] - allocated[op - 1][1]
    ranked = sorted(difference.items(), key=lambda item: item[1], reverse=True)
    return [f"{name}: {size}MB" for name, size in ranked[:top]]


def module_of(name):
    return name.rpartition(".forward.")[0]


def operator_of(name):
    rest = name.rpartition(".forward.")[2]
    return rest.lstrip(".").rpartition("_")[0]


def expected(stats, top):
    allocated = stats["memories_allocated"]
    size = [round(allocated[op][1] * MIB) for op in range(len(allocated))]
    name = [allocated[op][0] for op in range(len(allocated))]
    delta = [0] + [b - a for a, b in zip(size, size[1:])]
    order = sorted(range(1, len(size)), key=lambda op: -delta[op])
    modules = {}
    for op, module in enumerate(map(module_of, name)):
        ops, total = modules.get(module, (0, 0))
        modules[module] = (ops + 1, total + delta[op])
    peak = max(range(len(size)), key=lambda op: (size[op], -op), default=None)
    return {
        "ops": len(size),
        "retries": stats["num_alloc_retries"],
        "markers": dict(stats["markers"]),
        "peak": None if peak is None else {"allocated_bytes": size[peak], "op": peak},
        "top": [{"op": op, "name": name[op], "delta_bytes": delta[op]} for op in order[:top]],
        "modules": [{"module": m, "ops": n, "delta_bytes": d} for m, (n, d) in modules.items()],
    }


def random_run(seed, count):
    rng = random.Random(seed)
    samples, calls, level = [], collections.Counter(), 0
    for _ in range(count):
        op = rng.choice(["mm.default", "_foreach_add_.List", "relu.default", "add.Tensor"])
        module = rng.choice(["", "layer1", "layer1.0.conv", "forward.forward", "\u00e9t\u00e9"])
        level = max(0, level + rng.choice([0, 512, 1024, -512, 3 << 20, -(2 << 20), rng.randrange(1 << 33)]))
        samples.append((f"{module}.forward.{op}_{calls[op]}", level / MIB, level / MIB, (level + 512) / MIB))
        calls[op] += 1
    return statistics(samples, {"fw_start": 0, "fw_bw_boundary": count // 2}, rng.randrange(9))


EXAMPLE = statistics(
    [
        ("layer1.forward.mm.default_0", 10.0, 10.0, 20.0),
        ("layer1.forward.relu.default_0", 14.5, 14.5, 20.0),
        ("layer2.forward.mm.default_1", 30.0, 30.0, 42.0),
        ("layer2.forward.sum.default_0", 30.0, 30.0, 42.0),
        ("layer2.forward.mm.default_2", 22.0, 22.0, 42.0),
    ],
    {"fw_start": 0, "fw_bw_boundary": 4},
    0,
)


class Tracker(InAFolder):
    def check(self, stats, protocol=5, top=20):
        path = self.file(pickle.dumps(stats, protocol))
        got = answer("tracker", path, "--top", top)
        want = expected(stats, top)
        self.assertEqual({key: got.get(key) for key in want}, want)
        self.assertEqual(got["file"], str(path))
        return got

    def test_worked_example(self):
        content = pickle.dumps(EXAMPLE, 5)
        self.assertEqual((len(content), content[:12].hex()), (583, "8005953c020000000000007d"))
        got = self.check(EXAMPLE)
        self.assertEqual(got["diagnostics"], [])
        printed = [f"{row['name']}: {row['delta_bytes'] / MIB}MB" for row in got["top"]]
        self.assertEqual(printed, as_the_original_prints(EXAMPLE, 20))
        self.assertEqual(printed[0], "layer2.forward.mm.default_1: 15.5MB")
        self.assertEqual(got["peak"], {"allocated_bytes": 30 * MIB, "op": 2})
        # reserved - allocated is 20 MiB after op 4, of 42
        self.assertEqual(got["unused"], {"bytes": 20 * MIB, "op": 4, "reserved_bytes": 42 * MIB})
        # forward: ops 0 to 3, +20 MiB after the first sample; backward: op 4, -8 MiB
        phases = [(p["name"], p["first_op"], p["last_op"], p["delta_bytes"] / MIB) for p in got["phases"]]
        self.assertEqual(phases, [("forward", 0, 3, 20.0), ("backward", 4, 4, -8.0)])

    def test_every_protocol(self):
        for protocol in range(6):
            with self.subTest(protocol=protocol):
                self.check(EXAMPLE, protocol)

    def test_random(self):
        for seed in range(8):
            for top in (1, 7, 1000):
                with self.subTest(seed=seed, top=top):
                    self.check(random_run(seed, 200), 2 + seed % 4, top)

    def test_more_operators_than_a_dict_of_other_things_may_have(self):
        got = self.check(random_run(99, 70_000))
        self.assertEqual(got["diagnostics"], [])

    def test_written_back_the_original_reads_the_same(self):
        for stats in (EXAMPLE, random_run(11, 3000)):
            out = self.folder / "out.pickle"
            ran = run("convert", self.file(pickle.dumps(stats)), "-o", out)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            again = pickle.loads(out.read_bytes())
            self.assertEqual(again, stats)
            self.assertEqual(list(again), list(stats))
            for key in ("memories_allocated", "memories_active", "memories_reserved"):
                self.assertIsNone(again[key].default_factory)
                self.assertEqual(list(again[key]), list(stats[key]))
            self.assertIs(again["markers"].default_factory, int)
            self.check(again)

    def test_points_as_a_table(self):
        out = self.folder / "out.csv"
        self.assertEqual(run("convert", self.file(pickle.dumps(EXAMPLE)), "-o", out).returncode, 0)
        lines = out.read_text().splitlines()
        self.assertEqual(lines[:2], ["series,device,time,value,label,note", "allocated,,0,10485760,layer1.forward.mm.default_0,"])
        self.assertEqual(len(lines), 1 + 3 * 5 + 2)

    def test_empty(self):
        got = self.check(statistics([], {}, 0))
        self.assertIsNone(got["peak"])

    def test_before_any_module_ran(self):
        got = self.check(statistics([(".mm.default_0", 1.0, 1.0, 2.0), (".forward.mm.default_1", 2.0, 2.0, 2.0)], {}, 3))
        self.assertEqual(got["modules"], [{"module": "", "ops": 2, "delta_bytes": MIB}])

    def names_of(self, got):
        return {d["name"]: d["count"] for d in got["diagnostics"]}

    def test_bad_values_are_counted(self):
        stats = pickle.loads(pickle.dumps(EXAMPLE))
        table = stats["memories_allocated"]
        table[1] = ("layer1.forward.relu.default_0", float("nan"))
        table[3] = "no sample"
        table["four"] = ("x", 1.0)
        table[5] = ("a.forward.b.c_0", -1.0)
        table[6] = ("a.forward.b.c_1", 1e300)
        table[7] = ("a.forward.b.c_2", 0.3)
        stats["markers"]["odd"] = "no number"
        stats["more"] = [1, 2]
        got = answer("tracker", self.file(pickle.dumps(stats)))
        self.assertEqual(got["ops"], 5)  # 0, 2, 4, 5, 7
        self.assertEqual(got["markers"], {"fw_start": 0, "fw_bw_boundary": 4})
        found = self.names_of(got)
        self.assertEqual(
            {name: found.get(name) for name in ("not_finite", "integer_out_of_range", "negative_size")},
            {"not_finite": 1, "integer_out_of_range": 1, "negative_size": 1},
        )
        self.assertEqual(found["not_whole_bytes"], 1)  # 0.3 MiB = 314572.8 bytes
        self.assertEqual(found["sample_incomplete"], 3)  # ops 1, 3, 6
        self.assertEqual(found["wrong_type"], 2)  # the key "four", the marker
        self.assertEqual(found["unknown_entry"], 1)
        self.assertEqual(got["peak"], {"allocated_bytes": 30 * MIB, "op": 2})

    def test_other_classes_are_refused_by_name(self):
        class Evil:
            def __reduce__(self):
                return (os.system, ("touch " + str(folder / "run"),))

        folder = self.folder
        for value in (Evil(), collections.OrderedDict(a=1), {1, 2}):
            stats = dict(EXAMPLE, extra=value)
            ran = run("tracker", self.file(pickle.dumps(stats, 2)), "--json")
            if isinstance(value, Evil):
                self.assertIn("system", json.loads(ran.stdout)["error"]["message"])
            self.assertEqual(ran.returncode, 2)
            self.assertGreater(json.loads(ran.stdout)["error"]["offset"], 0)
        self.assertFalse((folder / "run").exists())

    def test_two_runs(self):
        def calls_of(stats):
            rows, seen, last = {}, collections.Counter(), None
            for op in range(len(stats["memories_allocated"])):
                name, size = stats["memories_allocated"][op]
                size = round(size * MIB)
                key = (module_of(name), operator_of(name))
                rows[(*key, seen[key])] = (op, 0 if last is None else size - last)
                seen[key] += 1
                last = size
            return rows

        for seed in range(4):
            first, second = random_run(seed, 150), random_run(seed + 50, 170)
            got = answer(
                "tracker",
                self.file(pickle.dumps(first), "a"),
                self.file(pickle.dumps(second), "b"),
                "--top",
                1000,
            )
            a, b = calls_of(first), calls_of(second)
            both = a.keys() & b.keys()
            changed = {
                key: b.get(key, (0, 0))[1] - a.get(key, (0, 0))[1]
                for key in a.keys() | b.keys()
                if b.get(key, (0, 0))[1] != a.get(key, (0, 0))[1]
            }
            self.assertEqual(
                got["calls"],
                {
                    "matched": len(both),
                    "only_before": len(a) - len(both),
                    "only_after": len(b) - len(both),
                    "changed": len(changed),
                },
            )
            rows = {(r["module"], r["operator"], r["ordinal"]): r["bytes"]["growth"] for r in got["changes"]}
            self.assertEqual(rows, changed)
            self.assertEqual([r["bytes"]["growth"] for r in got["changes"]], sorted(rows.values(), reverse=True))
