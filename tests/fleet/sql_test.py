"""The SQL of engine/fleet: numbers worked out by hand, and random facts against a plain implementation (twin.py), in
SQLite and in DuckDB.

GPUSTRATA_ROUNDS=20: as many times the random facts.
"""
import json
import os
import random
import unittest

import tables
import twin
from tables import empty_line

from support.paths import ROOT
from support.snapshots import GIB, MIB

ENGINES = [tables.sqlite, tables.duckdb]


class ByHand(unittest.TestCase):
    def ask(self, query, lines, groups=()):
        """Of all engines the same rows."""
        found = [tables.ask(engine(lines, groups), query) for engine in ENGINES]
        for one in found[1:]:
            self.assertEqual(one, found[0])
        return found[0]

    def test_facts_has_one_line_for_each_rank_and_device(self):
        lines = [
            empty_line(run="a", rank=1, file="b.pickle"),
            empty_line(run="a", rank=1, file="a.pickle", damaged=True),  # its name is before, but it is damaged
            empty_line(run="a", rank=1, file="c.pickle"),
            empty_line(run="a", rank=1, file="a.pickle", device=1, damaged=True),  # the only one of its device
            empty_line(run="a", file="x"), empty_line(run="a", file="x"),  # without a rank: kept each
            empty_line(run="", rank=0, file="z"),
        ]
        rows = self.ask("facts", lines)
        self.assertEqual([row["id"] for row in rows], [6, 4, 5, 3, 0])  # run "", then nulls, then a.pickle before b.pickle
        self.assertEqual([row["place"] for row in rows], [0, 1, 2, 3, 4])

    def test_coverage_and_missing(self):
        lines = [empty_line(run="a", rank=rank, file=f"rank{rank}", world_size=8 if rank == 2 else None,
                            first_us=None if rank == 5 else 100 + rank, last_us=200 + rank) for rank in (2, 3, 5)]
        lines += [empty_line(run="a", rank=5, file="rank5 (1)", last_us=999), empty_line(run="a", file="who", damaged=True),
                  empty_line(run="b", file="nobody", world_size=4)]
        self.assertEqual(self.ask("coverage", lines), [
            {"run": "a", "rows": 4, "ranks": 3, "lowest_rank": 2, "highest_rank": 5, "world_size": 8, "duplicates": 1,
             "without_rank": 1, "damaged": 1, "without_times": 2, "first_us": 102, "last_us": 205},
            {"run": "b", "rows": 1, "ranks": 0, "lowest_rank": None, "highest_rank": None, "world_size": 4, "duplicates": 0,
             "without_rank": 1, "damaged": 0, "without_times": 1, "first_us": None, "last_us": None}])
        self.assertEqual(self.ask("missing", lines), [
            {"run": "a", "from_rank": 0, "to_rank": 1}, {"run": "a", "from_rank": 4, "to_rank": 4},
            {"run": "a", "from_rank": 6, "to_rank": 7}])

    def test_a_world_smaller_than_its_ranks_misses_nothing_beyond(self):
        lines = [empty_line(rank=0, world_size=2), empty_line(rank=3)]
        self.assertEqual(self.ask("missing", lines), [{"run": "", "from_rank": 1, "to_rank": 2}])

    def test_the_largest_numbers_are_not_added_up(self):
        most = (1 << 63) - 1
        lines = [empty_line(rank=0, world_size=most, peak_requested=most), empty_line(rank=most, peak_requested=most)]
        lines[0]["peak_stacks"] = lines[1]["peak_stacks"] = [{"stack": "s", "requested": most, "blocks": 1}]
        self.assertEqual(self.ask("missing", lines), [{"run": "", "from_rank": 1, "to_rank": most - 1}])
        self.assertEqual(self.ask("stack_shares", lines)[0]["share"], 1.0)

    def test_outliers_of_an_even_number(self):
        # 1,000 .. 1,004 MiB and 1,200: the median is 1,002.5, deviations 2.5 1.5 0.5 0.5 1.5 197.5, their median 1.5;
        # 1.4826 x 1.5 MiB is less than 1 % of the median, 10.025 MiB: 197.5 / 10.025 = 19.70.
        lines = [empty_line(rank=i, peak_requested=size * MIB)
                 for i, size in enumerate([1000, 1001, 1002, 1003, 1004, 1200])]
        row, = self.ask("outliers", lines)
        self.assertEqual((row["fact"], row["id"], row["value"], row["median"], row["mad"], row["peers"]),
                         ("peak_requested", 5, 1200 * MIB, 1002.5 * MIB, 1.5 * MIB, 6))
        self.assertAlmostEqual(row["score"], 197.5 / 10.025, places=12)

    def test_outliers_below_and_of_small_sizes(self):
        # Median 8 MiB, mad 0: the scale is 1 MiB. 2 MiB is 6 below; 13 MiB is 5 above, which is not enough.
        lines = [empty_line(rank=i, end_requested=size * MIB) for i, size in enumerate([8, 8, 8, 8, 2, 13, 8])]
        row, = self.ask("outliers", lines)
        self.assertEqual((row["fact"], row["id"], row["score"]), ("end_requested", 4, -6.0))

    def test_the_page_calls_the_same_odd(self):
        """tests/web/odd.test.ts asks the page about the same numbers."""
        for case in json.loads((ROOT / "tests/data/odd.json").read_text()):
            for fact in ("peak_requested", "end_requested"):
                lines = [empty_line(rank=i, **{fact: size * MIB}) for i, size in enumerate(case["mib"])]
                self.assertEqual(sorted(row["id"] for row in self.ask("outliers", lines)), case["odd"], case["why"])

    def test_few_peers_say_nothing(self):
        lines = [empty_line(rank=i, peak_requested=size * GIB) for i, size in enumerate([1, 1, 50])]
        self.assertEqual(self.ask("outliers", lines), [])

    def test_a_damaged_file_is_compared_with_none(self):
        # Whole ones hold 8 GiB; the damaged one says 40, which is too much because its end is missing.
        def line(rank, size, **more):
            return empty_line(run="b", rank=rank, peak_requested=size, start_requested=size, fragmentation=size / 2**37,
                              first_us=2, peak_stacks=[{"stack": "s", "requested": size, "blocks": 1}], **more)

        lines = [line(rank, 8 << 30) for rank in range(4)] + [line(4, 40 << 30, damaged=True)]
        lines[1].update(ooms=1, oom_us=7)
        lines += [empty_line(run="a", rank=rank, peak_requested=8 << 30, first_us=1) for rank in (3, 4)]
        groups = [{"run": "b", "rank": rank, "kind": "tp", "name": "0"} for rank in (3, 4)]
        self.assertEqual(self.ask("outliers", lines), [])
        self.assertEqual(self.ask("stragglers", lines), [])
        self.assertEqual(self.ask("first_oom", lines)[0]["median_peak"], 8 << 30)
        self.assertEqual(self.ask("first_oom_stacks", lines)[0]["median"], 8 << 30)
        group, = self.ask("groups", lines, groups)
        self.assertEqual((group["rows"], group["most_peak"], group["most_id"]), (2, 8 << 30, 3))
        run, = self.ask("drift_runs", lines)
        self.assertEqual((run["rows"], run["most_drift"]), (1, 0))
        # If it fails first, nothing is said of its own numbers.
        lines[4].update(ooms=1, oom_us=6)
        first, = self.ask("first_oom", lines)
        self.assertEqual((first["id"], first["peak_requested"]), (4, None))
        self.assertEqual(self.ask("first_oom_stacks", lines), [])

    def test_peers_are_of_one_stage(self):
        # Two stages of five ranks, 10 and 40 GiB. Together nobody stands out (mad 15 GiB); in its stage rank 9 does.
        lines = [empty_line(run="a", rank=i, peak_requested=(10 if i < 5 else 40) * GIB) for i in range(10)]
        lines[9]["peak_requested"] = 60 * GIB
        self.assertEqual(self.ask("outliers", lines), [])
        groups = [{"run": "", "rank": i, "kind": "pp", "name": str(i // 5)} for i in range(10)]
        row, = self.ask("outliers", lines, groups)
        self.assertEqual((row["rank"], row["median"], row["peers"]), (9, 40.0 * GIB, 5))
        self.assertEqual(row["score"], 20 * GIB / (0.01 * 40 * GIB))
        # What is said of this run goes before what is said of all.
        groups += [{"run": "a", "rank": 9, "kind": "pp", "name": "7"}]
        self.assertEqual(self.ask("outliers", lines, groups), [])

    def test_stragglers_are_only_those_above(self):
        shares = [0.10, 0.10, 0.10, 0.10, 0.10, 0.02, 0.30]  # mad 0, so the scale is 0.01
        lines = [empty_line(rank=i, fragmentation=share, held_back=int(share * 100) * GIB) for i, share in enumerate(shares)]
        row, = self.ask("stragglers", lines)
        self.assertEqual((row["id"], row["median"], row["mad"], row["held_back"]), (6, 0.1, 0.0, 30 * GIB))
        self.assertAlmostEqual(row["score"], 20, places=9)

    def oom_lines(self):
        a, b, c = "a" * 32, "b" * 32, "c" * 32

        def stacks(**sizes):
            return [{"stack": {"a": a, "b": b, "c": c}.get(k), "requested": v * MIB, "blocks": 1} for k, v in sizes.items()]

        lines = [empty_line(rank=0, peak_requested=100 * MIB, peak_stacks=stacks(a=60, b=40)),
                 empty_line(rank=1, peak_requested=300 * MIB, peak_stacks=stacks(a=200, c=90, rest=10), ooms=3, oom_us=50,
                            oom_requested=7, oom_device_free=5, oom_stack=c,
                            stacks=[{"stack": c, "who": "train.py:7 grow", "category": "activation"}]),
                 empty_line(rank=2, peak_requested=110 * MIB, peak_stacks=stacks(a=70, c=40)),
                 empty_line(rank=3, peak_requested=400 * MIB, ooms=1, oom_us=60),
                 empty_line(rank=4, peak_requested=500 * MIB, ooms=1)]
        return lines, a, c

    def test_first_out_of_memory(self):
        lines, a, c = self.oom_lines()
        self.assertEqual(self.ask("first_oom", lines), [
            {"run": "", "id": 1, "rank": 1, "device": 0, "oom_us": 50, "oom_requested": 7, "oom_device_free": 5,
             "oom_stack": c, "who": "train.py:7 grow", "peak_requested": 300 * MIB, "median_peak": 105.0 * MIB,
             "rows_out": 3, "in_stage": 0}])
        # Of ranks 0 and 2: a 60 and 70, c 0 and 40.
        self.assertEqual(self.ask("first_oom_stacks", lines), [
            {"run": "", "id": 1, "stack": a, "who": None, "requested": 200.0 * MIB, "median": 65.0 * MIB,
             "difference": 135.0 * MIB},
            {"run": "", "id": 1, "stack": c, "who": "train.py:7 grow", "requested": 90.0 * MIB, "median": 20.0 * MIB,
             "difference": 70.0 * MIB}])

    def test_where_all_ran_out_the_first_is_compared_with_the_others(self):
        lines, a, c = self.oom_lines()
        row, = self.ask("first_oom", [one for one in lines if one["ooms"]])
        self.assertEqual((row["median_peak"], row["rows_out"]), (450.0 * MIB, 3))
        row, = self.ask("first_oom", lines[1:2])
        self.assertEqual((row["median_peak"], row["rows_out"]), (None, 1))
        self.assertEqual([one["median"] for one in self.ask("first_oom_stacks", lines[1:2])], [0.0, 0.0])

    def test_the_first_is_compared_with_its_stage(self):
        lines, a, c = self.oom_lines()
        # Rank 1 with rank 2 (given for this run, before what is given for all); then with those that ran out, too.
        groups = [{"run": "", "rank": i, "kind": "pp", "name": str(i % 2)} for i in range(5)]
        groups += [{"run": "", "rank": 2, "kind": "pp", "name": "1"}, {"run": "", "rank": 2, "kind": "tp", "name": "9"}]
        groups = [one for one in groups if (one["rank"], one["name"]) != (2, "0")]
        row, = self.ask("first_oom", lines, groups)
        self.assertEqual((row["median_peak"], row["in_stage"]), (110.0 * MIB, 1))
        self.assertEqual([one["median"] for one in self.ask("first_oom_stacks", lines, groups)], [70.0 * MIB, 40.0 * MIB])
        row, = self.ask("first_oom", lines, [one for one in groups if one["rank"] != 2])
        self.assertEqual((row["median_peak"], row["in_stage"]), (400.0 * MIB, 1))
        row, = self.ask("first_oom", lines, [{"run": "", "rank": 1, "kind": "pp", "name": "0"}])  # alone in its stage
        self.assertEqual((row["median_peak"], row["in_stage"]), (105.0 * MIB, 0))

    def test_groups_that_the_lines_say(self):
        lines = [empty_line(run="a", rank=i, peak_requested=i * MIB,
                            groups=[{"kind": "tp", "name": str(i // 2 * 2)}, {"kind": "dp", "name": str(i % 2)}])
                 for i in range(4)]
        given = [{"run": "", "rank": 3, "kind": "dp", "name": "x"}]
        found = [(one["kind"], one["name"], one["rows"], one["median_peak"]) for one in self.ask("groups", lines, given)]
        self.assertEqual(found, [("dp", "x", 1, 3.0 * MIB), ("tp", "0", 2, 0.5 * MIB), ("tp", "2", 2, 2.5 * MIB)])

    def test_stack_shares(self):
        lines, a, c = self.oom_lines()
        first, second, third = self.ask("stack_shares", lines)
        self.assertEqual(first, {"run": "", "stack": a, "who": None, "rows": 3, "total": 330.0 * MIB, "share": 330 / 1410,
                                 "median": 70.0 * MIB, "most": 200.0 * MIB, "most_id": 1})
        self.assertEqual((second["stack"], second["total"], second["median"]), (c, 130.0 * MIB, 65.0 * MIB))
        self.assertEqual((third["rows"], third["total"]), (1, 40.0 * MIB))

    def test_drift_of_steps(self):
        def steps(*peaks):
            return [{"step": i, "first_us": None, "peak_requested": peak * MIB, "end_requested": 0}
                    for i, peak in enumerate(peaks)]

        lines = [empty_line(rank=0, steps=steps(10, 12, 11, 13, 14, 13, 20, 22)),  # thirds of two: 11 and 21
                 empty_line(rank=1, steps=steps(10, 12, 11, 13, 20)),  # five steps are too few
                 empty_line(rank=2, steps=steps(1000, 1000, 0, 0, 1009, 1009)),  # less than 1 %
                 empty_line(rank=3, steps=steps(50, 50, 60, 60, 60, 60, 60, 70, 20))]  # thirds of three: 50 and 60
        self.assertEqual(self.ask("drift_steps", lines), [
            {"id": 0, "run": "", "rank": 0, "device": 0, "steps": 8, "first_third": 11.0 * MIB, "last_third": 21.0 * MIB,
             "drift": 10.0 * MIB, "share": 10 / 11},
            {"id": 3, "run": "", "rank": 3, "device": 0, "steps": 9, "first_third": 50.0 * MIB, "last_third": 60.0 * MIB,
             "drift": 10.0 * MIB, "share": 0.2}])

    def test_drift_of_runs(self):
        lines = [empty_line(run=run, rank=rank, first_us=start + rank, peak_requested=peak * MIB)
                 for run, start, peaks in (("new", 500, [110, 130, 90]), ("old", 100, [100, 100, 100, 100]))
                 for rank, peak in enumerate(peaks)]
        self.assertEqual(self.ask("drift_runs", lines), [
            {"run": "new", "before": "old", "rows": 3, "median_peak": 110.0 * MIB, "median_before": 100.0 * MIB,
             "drift": 10.0 * MIB, "share": 0.1, "most_drift": 30.0 * MIB, "most_id": 1}])

    def test_leaks(self):
        lines = [empty_line(rank=i) for i in range(4)]
        lines[1]["leak_stacks"] = [{"stack": "x", "bytes_per_step": 10, "live_bytes": 100, "steps": 10}]
        lines[3]["leak_stacks"] = [{"stack": "x", "bytes_per_step": 30, "live_bytes": 300, "steps": 10},
                                   {"stack": None, "bytes_per_step": 1, "live_bytes": 999, "steps": 3}]
        self.assertEqual(self.ask("leaks", lines), [
            {"run": "", "stack": "x", "who": None, "rows": 2, "of_rows": 4, "live_bytes": 400.0, "most_live": 300.0,
             "bytes_per_step": 30.0, "most_id": 3}])

    def test_groups(self):
        lines = [empty_line(run="a", rank=i, peak_requested=(i + 1) * MIB, ooms=i // 3) for i in range(4)]
        groups = [{"run": "", "rank": i, "kind": "tp", "name": str(10 - i // 2)} for i in range(4)]
        groups += [groups[0], {"run": "b", "rank": 0, "kind": "dp", "name": "x"}]  # twice the same; another run
        self.assertEqual(self.ask("groups", lines, groups), [
            {"run": "a", "kind": "tp", "name": "9", "rows": 2, "median_peak": 3.5 * MIB, "least_peak": 3.0 * MIB,
             "most_peak": 4.0 * MIB, "most_id": 3, "ooms": 1},
            {"run": "a", "kind": "tp", "name": "10", "rows": 2, "median_peak": 1.5 * MIB, "least_peak": 1.0 * MIB,
             "most_peak": 2.0 * MIB, "most_id": 1, "ooms": 0}])

    def test_nothing_at_all(self):
        for name in tables.names():
            self.assertEqual(self.ask(name, []), [], name)


def some(rng, value, share=0.9):
    return value if rng.random() < share else None


def random_lines(rng):
    """Facts that meet often: few names, few sizes, ties and gaps."""
    stacks = [f"{i:032x}" for i in range(8)]
    runs = rng.choice([[""], ["a", "b"], ["a", "", "c"]])
    coarse = rng.choice([MIB, 64 * MIB, 3])
    lines = []
    for _ in range(rng.choice([0, 1, 7, 40])):
        rank = some(rng, rng.randrange(14), 0.95)
        steps = [{"step": i, "first_us": None, "peak_requested": some(rng, rng.randrange(40) * coarse, 0.95),
                  "end_requested": 0} for i in range(rng.choice([0, 5, 6, 7, 11, 20]))]
        rng.shuffle(steps)
        ooms = rng.choice([0, 0, 0, 2, None])
        lines.append(empty_line(
            run=rng.choice(runs), rank=rank, host=rng.choice(["", "h1"]), file=f"rank{rank}{rng.choice(['', ' (1)'])}",
            snapshot=rng.choice(["", "after"]), device=rng.choice([0, 0, 0, 1, -1]), world_size=some(rng, 12, 0.1),
            damaged=rng.random() < 0.2, events=rng.randrange(3), input_bytes=rng.randrange(3),
            first_us=some(rng, rng.randrange(9)), last_us=some(rng, rng.randrange(10, 19)),
            peak_requested=some(rng, rng.choice([10, 10, 11, 12, 40, 90]) * coarse), ooms=ooms,
            peak_reserved=some(rng, rng.randrange(99) * coarse), end_requested=some(rng, rng.randrange(9) ** 3 * coarse),
            start_requested=some(rng, rng.randrange(4) * coarse), held_back=some(rng, rng.randrange(9) * coarse),
            fragmentation=some(rng, rng.choice([0.0, 0.1, 0.11, 0.12, 0.5, 1.0])),
            oom_us=some(rng, rng.randrange(5), 0.7) if ooms else None, oom_stack=some(rng, rng.choice(stacks)) if ooms else None,
            peak_stacks=[{"stack": stack, "requested": rng.randrange(20) * coarse, "blocks": 1}
                         for stack in rng.sample([*stacks, None], rng.randrange(9))],
            leak_stacks=[{"stack": stack, "bytes_per_step": rng.randrange(3), "live_bytes": rng.randrange(3) * coarse,
                          "steps": 3} for stack in rng.sample([*stacks[:3], None], rng.choice([0, 0, 1, 3]))],
            groups=[{"kind": rng.choice(["pp", "dp"]), "name": str(rng.randrange(3))} for _ in range(rng.choice([0, 0, 2]))],
            steps=steps, stacks=[{"stack": stack, "who": f"line {stack[-1]}", "category": "other"} for stack in stacks[2:]]))
    groups = [{"run": rng.choice(["", "", *runs]), "rank": rng.randrange(16), "kind": rng.choice(["pp", "pp", "tp"]),
               "name": str(rng.randrange(9, 12))} for _ in range(rng.choice([0, 0, 30]))]
    return lines, groups


class Property(unittest.TestCase):
    def test_random_facts_against_the_definitions(self):
        for seed in range(30 * int(os.environ.get("GPUSTRATA_ROUNDS", "1"))):
            lines, groups = random_lines(random.Random(seed))
            wanted = twin.answers(lines, groups)
            self.assertEqual(sorted(wanted), tables.names())
            for engine in ENGINES:
                connection = engine(lines, groups)
                for name, rows in wanted.items():
                    with self.subTest(seed=seed, engine=engine.__name__, query=name):
                        found = [tuple(row.values()) for row in tables.ask(connection, name)]
                        if name == "facts":
                            found = [(row[0], row[-1]) for row in found]
                        self.same(found, rows)

    def same(self, found, wanted):
        self.assertEqual(len(found), len(wanted), (found, wanted))
        for one, other in zip(found, wanted):
            for value, expected in zip(one, other, strict=True):
                if isinstance(expected, float):  # sums of shares may differ in the last digit
                    self.assertAlmostEqual(value, expected, delta=1e-12 * abs(expected))
                else:
                    self.assertEqual(value, expected, (one, other))

    def test_the_order_of_lines_does_not_matter(self):
        for seed in range(20):
            rng = random.Random(seed)
            lines, groups = random_lines(rng)
            order = list(range(len(lines)))
            rng.shuffle(order)
            first, second = tables.sqlite(lines, groups), tables.sqlite([lines[i] for i in order], groups)
            for name in tables.names():
                rows = tables.ask(second, name)
                for row in rows:
                    for key in ("id", "most_id"):
                        if row.get(key) is not None:
                            row[key] = order[row[key]]
                before = tables.ask(first, name)
                if self.interchangeable(lines):
                    before, rows = self.without_ids(before), self.without_ids(rows)
                self.assertEqual(rows, before, (seed, name))

    @staticmethod
    def interchangeable(lines):
        keys = ("run", "rank", "host", "file", "snapshot", "device", "events", "input_bytes", "first_us", "peak_requested",
                "end_requested")
        return len({tuple(line[key] for key in keys) for line in lines}) < len(lines)

    @staticmethod
    def without_ids(rows):
        return [{key: value for key, value in row.items() if key not in ("id", "most_id")} for row in rows]
