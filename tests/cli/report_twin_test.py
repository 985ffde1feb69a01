"""The report of random recordings against a naive second implementation (report_twin.py)."""
import os

from report_twin import MOST_LISTED, World, rules_in, usual_rules

from support.folders import InOneFolder
from support.tool import answers

ROUNDS = 40 * int(os.environ.get("GPUSTRATA_ROUNDS", "1"))
OWN_RULES = """# rules of a user
mine      0.25  frame:model.py:forward|model.py:scale  freed
labelled  0.75  label:Parameter
held      0.5   kept in_module
late      1     outlives_backward
"""


class Twin(InOneFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.worlds = []
        for seed in range(ROUNDS):
            world = World(seed)
            world.run(3 + seed % 9)
            cls.worlds.append(world)
        paths = [cls.file(world.snapshot(), f"{seed}.pickle") for seed, world in enumerate(cls.worlds)]
        cls.reports = [said["devices"][0] for said in answers("report", *paths)]
        rules = cls.file(OWN_RULES, "rules.txt")
        cls.own = [said["devices"][0] for said in answers("report", *paths, "--rules", rules)]

    def each(self):
        for seed, (world, device) in enumerate(zip(self.worlds, self.reports, strict=True)):
            with self.subTest(seed=seed):
                yield world, device

    def same_of(self, got, wanted):
        """The members that the twin knows are equal."""
        self.assertEqual({key: got[key] for key in wanted}, wanted)

    def test_parts_of_the_peak(self):
        for world, device in self.each():
            event, level, parts = world.peak()
            peak = device["peak"]
            self.assertEqual((peak["event"], peak["requested_bytes"], peak["blocks"]),
                             (event, level, sum(count for _, count in parts.values())))
            got = {None if p["stack"] is None else tuple(p["stack"]): [p["bytes"], p["blocks"]] for p in peak["parts"]}
            self.assertEqual(got, parts)  # there are fewer stacks than are listed
            self.assertEqual((peak["rest_bytes"], peak["rest_parts"]), (0, 0))

    def test_out_of_memory(self):
        failures = 0
        for world, device in self.each():
            wanted = world.out_of_memory()
            failures += len(wanted)
            self.assertEqual(device["oom_left_out"] + len(device["oom"]), len(wanted))
            for got, one in zip(device["oom"], wanted[device["oom_left_out"]:], strict=True):
                self.same_of(got, one)
        self.assertGreater(failures, ROUNDS // 2)

    def test_fragmentation(self):
        pinned = 0
        for world, device in self.each():
            wanted, got = world.fragmentation(), device["fragmentation"]
            pins, share = wanted.pop("pins"), wanted.pop("share")
            self.same_of(got, wanted)
            self.assertAlmostEqual(got["share"], share, places=4)
            self.assertEqual(len(got["pins"]), len(pins))
            for one, other in zip(got["pins"], pins, strict=True):
                self.same_of(one, other)
            pinned += wanted["pinned_segments"]
        self.assertGreater(pinned, ROUNDS)

    def test_segments_that_were_never_full(self):
        full = 0
        for world, device in self.each():
            wanted, got = world.never_full(), device["fragmentation"]["never_full"]
            worst = wanted.pop("worst")
            self.same_of(got, wanted)
            self.assertEqual(len(got["worst"]), len(worst))
            for one, other in zip(got["worst"], worst, strict=True):
                self.same_of(one, other)
            full += wanted["all_segments"] - wanted["segments"]
        self.assertGreater(full, 0)

    def test_categories(self):
        for reports, rules in ((self.reports, usual_rules()), (self.own, rules_in(OWN_RULES))):
            seen = set()
            for seed, (world, device) in enumerate(zip(self.worlds, reports, strict=True)):
                with self.subTest(seed=seed, rules=len(rules)):
                    wanted = world.categories(rules, device["peak"]["event"]) if device["steps"]["from"] == "annotations" else None
                    if wanted is None:
                        continue
                    seen |= wanted.keys()
                    got = {c["name"]: (c["bytes_at_peak"], c["blocks"]) for c in device["categories"]}
                    self.assertEqual(got, {name: (size, count) for name, (size, count, _) in wanted.items()})
                    for one in device["categories"]:
                        self.assertAlmostEqual(one["sure"], wanted[one["name"]][2], places=3)
            # Every category is decided for some block.
            self.assertEqual(seen - {"unknown"}, {name for name, _, _ in rules})

    def test_the_list_ends(self):
        self.assertTrue(any(len(d["fragmentation"]["pins"]) == MOST_LISTED for d in self.reports) or
                        all(d["fragmentation"]["pinned_segments"] <= MOST_LISTED for d in self.reports))
