"""report, check and the parts of compare: made-up runs with numbers that are known, and real files against a second
computation in Python.
"""
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import runs
from reference import blocks_of, device_summary, load, snapshots_in, usable_events, usable_segments
from reference_state import Irregular, states

from support.folders import InAFolder
from support.paths import PROFILERS, SNAPSHOTS, needs_shared_data, real_snapshots
from support.snapshots import BASE, MIB, NOW, block, event, frame, free, live, segment, snapshot
from support.stacks import lines_of
from support.tool import answer, answers, out_of

GIB = 1024 * MIB
CATEGORIES = {"parameter", "gradient", "optimizer_state", "activation", "temporary", "workspace", "communication", "input",
              "unknown"}


class WithFiles(InAFolder):
    def report_of(self, snapshot):
        (device,) = answer("report", self.file(snapshot, "x.pickle"))["devices"]
        self.check_sums(device)
        return device

    def check_sums(self, device):
        peak = device["peak"]
        self.assertEqual(sum(p["bytes"] for p in peak["parts"]) + peak["rest_bytes"], peak["requested_bytes"])
        self.assertEqual(sum(p["blocks"] for p in peak["parts"]) + peak["rest_blocks"], peak["blocks"])
        sizes = [p["bytes"] for p in peak["parts"]]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.assertEqual(sum(c["bytes_at_peak"] for c in device["categories"]), peak["requested_bytes"])
        self.assertEqual(sum(c["blocks"] for c in device["categories"]), peak["blocks"])
        self.assertLessEqual({c["name"] for c in device["categories"]}, CATEGORIES)
        leaks = [leak["live_bytes"] for leak in device["leaks"]]
        self.assertEqual(leaks, sorted(leaks, reverse=True))
        for pin in device["fragmentation"]["pins"]:
            self.assertEqual(pin["free_bytes"] + pin["pinned_bytes"], pin["segment_bytes"])
            self.assertLessEqual(pin["held_back_bytes"], pin["free_bytes"])
        for oom in device["oom"]:
            self.assertIn(oom["verdict"], {"too_big", "full", "fragmented", "elsewhere", "too_late", "limit", "unknown"})
            self.assertEqual(oom["reserved_bytes"], oom["allocated_bytes"] + oom["pending_bytes"] + oom["cached_bytes"])
            known = [r for r in oom["remedies"] if r["bytes"] is not None]
            trivial = [r for r in known if r["name"] == "smaller_request" and r["bytes"] > oom["requested_bytes"] // 2]
            looks = [r for r in known if r["name"] == "largest_holder"]  # no effect of its own
            others = [r for r in known if r not in trivial and r not in looks]
            # Of a request that never fits it is all that helps.
            first = trivial if oom["verdict"] == "too_big" else []
            self.assertEqual(known, [*first, *others, *looks, *([] if first else trivial)])
            if oom["verdict"] == "too_big":
                self.assertNotIn("use_less", [r["name"] for r in known])
            if oom["needed_at_least"] is None:
                sizes = [r["bytes"] for r in others]
                self.assertEqual(sizes, sorted(sizes, reverse=True))
            self.assertTrue(all(r["text"] for r in oom["remedies"]))


class Leaks(WithFiles):
    def test_clean_runs_raise_nothing(self):
        made = runs.clean_runs()
        made.update({f"cut_{seed}_{annotate}": runs.train(seed, annotate=annotate, cut_last=True, steps=9)[0]
                     for seed in range(3) for annotate in ("profiler", "region", None)})
        paths = [self.file(snapshot, f"{name}.pickle") for name, snapshot in made.items()]
        told = answers("report", *paths)
        self.assertEqual(len(told), len(made))
        alarms = [(Path(a["file"]).stem, leak["stack"], leak["confidence"])
                  for a in told for leak in a["devices"][0]["leaks"]]
        self.assertEqual(alarms, [])
        for one in told:
            self.assertTrue(one["devices"][0]["steps"]["count"], one["file"])

    def test_planted_leaks_are_found_first_and_exactly(self):
        for seed in range(6):
            for kind in ("one", "many"):
                for annotate, said in (("profiler", "annotations"), ("region", "regions"), (None, "loop")):
                    options = {"steps": 6 + 3 * seed, "deep": seed % 2 == 1, "annotate": annotate, "leak": kind,
                               "leak_from": seed % 3, "evaluate_every": (0, 3)[seed % 2], "warm_up": seed % 4,
                               "queue": seed % 3}
                    with self.subTest(seed=seed, **options):
                        snapshot, (frames, size, blocks, steps) = runs.train(seed, **options)
                        device = self.report_of(snapshot)
                        self.assertEqual(device["steps"]["from"], said)
                        self.assertEqual(device["steps"]["count"], options["steps"])
                        self.assertEqual(len(device["leaks"]), 1)
                        leak = device["leaks"][0]
                        self.assertEqual(tuple(leak["stack"]), lines_of(frames))
                        self.assertEqual((leak["bytes_per_step"], leak["blocks_per_step"]), (size, blocks))
                        self.assertEqual((leak["steps"], leak["first_step"]), (steps, options["leak_from"]))
                        self.assertEqual(leak["live_bytes"], size * steps)
                        self.assertGreater(leak["confidence"], 0.5)

    def test_steps_until_full_are_said_where_a_failure_told_the_capacity(self):
        snapshot, (_, size, _, steps) = runs.train(4, steps=10, leak="one")
        begins = [a["time_us"] for a in snapshot["external_annotations"] if a["stage"] == "START"]
        trace = snapshot["device_traces"][0]
        in_use = sum((one["action"] == "alloc") * one["size"] - (one["action"] == "free_completed") * one["size"]
                     for one in trace if one["time_us"] < begins[-1])
        # It was caught in the fifth step; all is in one segment of 64 GiB.
        at = next(i for i, one in enumerate(trace) if one["time_us"] > begins[4])
        trace.insert(at, event("oom", 0, 70 * GIB, time_us=trace[at]["time_us"], device_free=GIB))
        left = (65 * GIB - in_use) // (size * steps // 10) + 1
        said = f"At this rate the 65.0 GiB available to this process are full after {left:,} more steps at most."
        self.assertIn(said, " ".join(out_of("report", self.file(snapshot, "x.pickle")).split()))
        trace.pop(at)
        self.assertNotIn("are full in", " ".join(out_of("report", self.file(snapshot, "x.pickle")).split()))

    def test_growth_is_that_of_a_second_computation(self):
        # Live bytes of every stack at the beginning of every step, from the trace alone.
        snapshot, _ = runs.train(3, steps=10, leak="one", annotate="profiler", warm_up=3)
        begins = [a["time_us"] for a in snapshot["external_annotations"] if a["stage"] == "START"]
        end = snapshot["external_annotations"][-1]["time_us"]
        growing = None
        before = {}
        for start in [*begins[1:], end]:
            live, size_of = {}, {}
            for event in snapshot["device_traces"][0]:
                if event["time_us"] >= start:
                    break
                if event["action"] == "alloc":
                    size_of[event["addr"]] = (lines_of(event["frames"]), event["size"])
                elif event["action"] == "free_completed":
                    size_of.pop(event["addr"])
            for stack, size in size_of.values():
                live[stack] = live.get(stack, 0) + size
            grown = {stack for stack, size in live.items() if size > before.get(stack, 0)}
            growing = grown if growing is None else growing & grown
            before = live
        self.assertEqual({tuple(leak["stack"]) for leak in self.report_of(snapshot)["leaks"]}, growing)


class OutOfMemory(WithFiles):
    def test_verdicts(self):
        for kind in ("full", "too_big", "limit", "fragmented", "elsewhere", "private"):
            with self.subTest(kind):
                snapshot, said = runs.out_of_memory(kind)
                (oom,) = self.report_of(snapshot)["oom"]
                self.assertEqual({key: oom[key] for key in said}, said)
                self.assertIn("loss loss.py:9", oom["text"])

    def test_remedies_of_a_fragmented_device(self):
        # 700 MiB asked, 300 on the device, 4 x 256 cached in 2 segments. Joined: 1024 MiB of pieces. Freeing what is in
        # one segment gives 1,024 back, but no segment is mostly free. The largest piece is that of the device: 300 MiB, so
        # 400 less in one piece would have been served.
        (oom,) = self.report_of(runs.out_of_memory("fragmented")[0])["oom"]
        remedies = {r["name"]: r["bytes"] for r in oom["remedies"]}
        self.assertEqual(remedies, {"expandable_segments": 1024 * MIB, "smaller_request": 400 * MIB,
                                    "other_processes": None})

    def test_a_recording_that_ends_at_the_failure_says_so_first(self):
        failed = self.file(runs.out_of_memory("fragmented")[0], "failed.pickle")
        self.assertIs(answer("report", failed)["devices"][0]["complete"], False)
        self.assertIs(answer("whatif", failed)["complete"], False)
        self.assertIn("no allocation on this device after this request", " ".join(out_of("report", failed).split()))
        for more in ((), ("--smallest",)):
            self.assertIn("what came after may not be in it, and may need more.", " ".join(out_of("whatif", failed, *more).split()))
        whole = self.file(runs.train(1)[0], "whole.pickle")
        self.assertIs(answer("report", whole)["devices"][0]["complete"], True)
        self.assertIs(answer("whatif", whole)["complete"], True)
        self.assertNotIn("has no allocation after", out_of("whatif", whole))

    def test_a_file_alone_is_reported(self):
        file = self.file(runs.train(1)[0], "whole.pickle")
        self.assertEqual(out_of(file), out_of("report", file))
        self.assertEqual(out_of(file, "--json"), out_of("report", file, "--json"))

    def test_page(self):
        page = out_of("report", self.file(runs.out_of_memory("fragmented")[0], "x.pickle"))
        self.assertIn("Device 0 ran out of memory", page)
        self.assertIn("enough was free, but in pieces", page)
        self.assertTrue(all(len(line) <= 80 for line in page.splitlines()), page)


    def test_what_the_way_out_frees_was_in_use(self):
        # 30 MiB of a module's forward are in use when 40 are refused, and freed by the exception: no temporary memory.
        module = [frame("forward", 3, "/home/me/model.py"), frame("_call_impl", 9, "/x/torch/nn/modules/module.py")]
        ask = [frame("loss", 9, "/home/me/loss.py")]

        def run(*after):
            trace = [event("segment_alloc", BASE, 30 * MIB), event("alloc", BASE, 30 * MIB, frames=module),
                     {"action": "oom", "device_free": MIB, "size": 40 * MIB, "stream": 0, "frames": ask},
                     *free(BASE, 30 * MIB, frames=ask), *after]
            return snapshot([segment(BASE, [block(30 * MIB)])], [{**e, "time_us": NOW + i} for i, e in enumerate(trace)])

        def categories(made):
            return {c["name"]: c["bytes_at_peak"] for c in self.report_of(made)["categories"] if c["bytes_at_peak"]}

        self.assertEqual(categories(run()), {"activation": 30 * MIB})
        went_on = run(event("alloc", BASE, 8, frames=ask), *free(BASE, 8))
        self.assertEqual(categories(went_on), {"temporary": 30 * MIB})


class Fragmentation(WithFiles):
    def test_only_where_it_does_harm_it_is_a_finding(self):
        # 20 MiB, of which 2 stay in the middle: at the end 18 are free in pieces and held back. The peak was full. A request that
        # fails then, or is served by a flush, meets the pieces.
        make = [frame("forward", 3, "/home/me/model.py")]
        pieces = [(0, 9), (9, 2), (11, 9)]
        trace = [event("segment_alloc", BASE, 20 * MIB),
                 *(event("alloc", BASE + at * MIB, size * MIB, frames=make) for at, size in pieces),
                 *free(BASE, 9 * MIB), *free(BASE + 11 * MIB, 9 * MIB)]
        oom = {"action": "oom", "device_free": 0, "size": 12 * MIB, "stream": 0, "frames": make}
        flush = [event("segment_alloc", BASE + GIB, 2 * MIB), event("segment_free", BASE + GIB, 2 * MIB, frames=make),
                 event("segment_alloc", BASE + 2 * GIB, 12 * MIB, frames=make)]
        rest = [segment(BASE, [block(9 * MIB), live(2 * MIB, frames=make), block(9 * MIB)], segment_type="large")]
        more = [segment(BASE + 2 * GIB, [block(12 * MIB)], segment_type="large")]

        def told(segments, events):
            made = snapshot(segments, [{**e, "time_us": NOW + i} for i, e in enumerate(events)])
            self.assertEqual(self.report_of(made)["fragmentation"]["held_back_bytes"], 18 * MIB)
            return out_of("report", self.file(made, "pieces.pickle"))

        self.assertNotIn("ragment", told(rest, trace))
        self.assertIn("Fragmentation after event 8: 9.0 MiB of 20.0 MiB", told(rest, [*trace, oom]))
        self.assertIn("is fragmented", told(rest + more, trace + flush))

    def test_planted_pins_are_found_first_and_exactly(self):
        for seed in range(4):
            snapshot, planted = runs.fragmented(seed)
            found = self.report_of(snapshot)["fragmentation"]
            got = [(int(p["segment"], 16), p["segment_bytes"], p["free_bytes"], p["pinned_bytes"]) for p in found["pins"]]
            self.assertEqual(got, planted[:20])
            self.assertEqual(found["pinned_segments"], len(planted))
            self.assertEqual(found["cached_bytes"], sum(p[2] for p in planted))
            self.assertEqual(found["largest_free_bytes"], planted[0][2])
            self.assertEqual({p["blocks"] for p in found["pins"]}, {1})

    def test_free_pages_of_an_expandable_segment_pin_nothing(self):
        # Pages of 20 MiB: 10 used, 10 + 20 + 20 free; two pages can go back, 10 MiB cannot.
        pages = segment(runs.BASE, [live(10 * MIB), block(50 * MIB)], segment_type="large", is_expandable=True)
        found = self.report_of(snapshot([pages]))["fragmentation"]
        self.assertEqual(found["held_back_bytes"], 10 * MIB)
        self.assertEqual([(p["free_bytes"], p["held_back_bytes"]) for p in found["pins"]], [(50 * MIB, 10 * MIB)])
        self.assertEqual(found["event"], -1)


class Findings(WithFiles):
    def test_what_went_wrong_comes_first_and_quiet_runs_say_little(self):
        first = {"oom": runs.out_of_memory("full")[0], "leaks": runs.train(1, leak="one")[0]}
        for kind, snapshot in first.items():
            finding = self.report_of(snapshot)["findings"][0]
            self.assertEqual((finding["kind"], finding["bad"]), (kind, True))
        quiet = self.report_of(runs.train(1)[0])
        self.assertEqual([f["kind"] for f in quiet["findings"] if f["bad"]], [])
        peak = next(f for f in quiet["findings"] if f["kind"] == "peak")
        self.assertEqual(peak["bytes"], quiet["peak"]["requested_bytes"])
        self.assertLessEqual(sum(part["bytes"] for part in peak["parts"]), peak["bytes"])

    def test_where_reserved_memory_goes_adds_up(self):
        for seed in range(4):
            use = self.report_of(runs.train(seed)[0])["reserved_peak"]
            self.assertEqual(use["requested_bytes"] + use["rounding_bytes"] + use["cached_bytes"], use["reserved_bytes"])


class Categories(WithFiles):
    def test_labels_and_rules_of_a_user(self):
        device = runs.Device()
        frames = [{"filename": "/home/me/model.py", "line": 3, "name": "build"}]
        for label, size in (("parameter", 100), ("Gradient", 200), ("", 400)):
            device.alloc(size, frames)
            device.trace[-1]["user_metadata"] = label
        path = self.file(device.snapshot(), "x.pickle")
        shares = {c["name"]: c["bytes_at_peak"] for c in answers("report", path)[0]["devices"][0]["categories"]}
        self.assertEqual(shares, {"parameter": 100, "gradient": 200, "unknown": 400})
        rules = self.file(b"mine 0.5 frame:model.py:build|other kept  # everything\n", "rules.txt")
        said = answer("report", path, "--rules", rules)
        self.assertEqual(said["devices"][0]["categories"],
                         [{"name": "mine", "bytes_at_peak": 700, "blocks": 3, "sure": 0.5}])
        wrong = self.file(b"mine 0.5 frame:x sometimes\n", "wrong.txt")
        self.assertIn("line 1", out_of("report", path, "--rules", wrong, "--json", code=1))


class Parts(WithFiles):
    def test_parts_add_up_and_moved_lines_match(self):
        before, _ = runs.train(1, deep=True)
        after, _ = runs.train(1, deep=True)
        moved = set()
        for owner in [*after["device_traces"][0], *after["segments"][0]["blocks"]]:
            for frame in owner.get("frames", ()):
                if id(frame) not in moved and frame["filename"].endswith("model.py"):
                    moved.add(id(frame))
                    frame["line"] += 1000
        a, b = self.file(before, "a.pickle"), self.file(after, "b.pickle")
        said = answer("compare", a, b)
        peak = [d["devices"][0]["peak"]["requested_bytes"] for d in answers("report", a, b)]
        self.assertEqual([said["before_bytes"], said["after_bytes"]], peak)
        self.assertEqual(sum(p["before_bytes"] for p in said["parts"]), peak[0])
        self.assertEqual(sum(p["after_bytes"] for p in said["parts"]), peak[1])
        self.assertEqual({p["matched"] for p in said["parts"]}, {"functions"})
        at_end = answer("compare", a, b, "--at", "end")
        self.assertEqual(at_end["before_bytes"], at_end["devices"][0]["requested_bytes"]["before"])

    def test_a_planted_regression_comes_first(self):
        before, _ = runs.train(2, steps=6)
        after, planted = runs.train(2, steps=6, leak="one")
        said = answer("compare", self.file(before, "a.pickle"), self.file(after, "b.pickle"))
        first = said["parts"][0]
        self.assertEqual(tuple(first["stack"]), lines_of(planted[0]))
        self.assertEqual((first["before_bytes"], first["after_bytes"] % planted[1], first["matched"]), (0, 0, None))


class Words(WithFiles):
    def test_of_half_a_file_the_damage_comes_first(self):
        whole = self.file(runs.train(1)[0], "whole.pickle")
        half = self.folder / "half.pickle"
        half.write_bytes(whole.read_bytes()[:whole.stat().st_size // 2])
        page = out_of("report", half)
        self.assertLess(page.index("the file ends too early"), page.index("The peak"))
        self.assertNotIn("at most in", page)
        self.assertNotIn("before the first event", page)  # what came later would tell
        self.assertIn("at most in", out_of("report", whole))

    def test_a_profile_gets_no_advice_for_recorders(self):
        page = out_of("report", PROFILERS / "trace.json")
        self.assertIn("it was allocated before the first event", page.replace("\n    ", " "))
        self.assertNotIn("_record_memory_history", page)
        # It tells the sum of what was there before, not its blocks.
        self.assertIn("96.0 KiB at the end\n", page.split("From before")[1][:80])
        self.assertNotIn("records of a GPU", page)
        trace = json.loads((PROFILERS / "trace.json").read_text())
        for one in trace["traceEvents"]:
            if "Device Type" in one.get("args", {}):
                one["args"]["Device Type"] = 0  # the processor
        rest = self.file(json.dumps(trace).encode(), "processor.json")
        self.assertIn("The file has no memory records of a GPU.", out_of("report", rest))


    def test_numbers_over_time_are_said_instead_of_blocks(self):
        for name in ("timeline.json", "tracker.pickle", "telemetry.json"):
            page, summary = (out_of(command, PROFILERS / name) for command in ("report", "summary"))
            self.assertNotIn("No device", page)
            self.assertEqual(page.split("\n", 2)[2], summary.split("\n", 2)[2])


class Check(WithFiles):
    def test_rules(self):
        leaking = self.file(runs.train(1, leak="one")[0], "leak.pickle")
        clean = self.file(runs.train(1)[0], "clean.pickle")
        failed = self.file(runs.out_of_memory("full")[0], "oom.pickle")
        pinned = self.file(runs.fragmented(1)[0], "pins.pickle")
        out_of("check", clean, "--no-leak", "--no-oom", "--max-peak", "64GiB", "--max-reserved", "64GiB")
        self.assertIn("broken  no_leak", out_of("check", leaking, "--no-leak", code=3))
        self.assertIn("remember", out_of("check", leaking, "--no-leak", "--json", code=3))
        self.assertIn("broken  no_oom", out_of("check", failed, "--no-oom", code=3))
        self.assertIn("broken  max_peak", out_of("check", clean, "--max-peak", "1MiB", code=3))
        self.assertIn("broken  max_fragmentation", out_of("check", pinned, "--max-fragmentation", "0.2", code=3))
        out_of("check", clean, "--max-fragmentation", "0.2")
        out_of("check", clean, "--baseline", clean, "--max-growth", "0%")
        self.assertIn("broken  max_growth", out_of("check", leaking, "--baseline", clean, "--max-growth", "1%", code=3))
        junit = self.folder / "x.xml"
        out_of("check", leaking, "--no-leak", "--no-oom", "--junit", junit, code=3)
        suite = ElementTree.parse(junit).getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("2", "1"))
        self.assertEqual([c.find("failure") is not None for c in suite], [False, True])

    def test_what_the_file_does_not_show_is_not_green(self):
        def undecided(file, *rules):
            said = answer("check", file, *rules, code=4)
            self.assertIsNone(said["kept"])
            return [rule["undecided"] for rule in said["rules"]]

        whole = runs.train(1)[0]
        file = self.file(whole, "whole.pickle")
        no_history = dict(whole, device_traces=[[]])
        self.assertEqual(undecided(self.file(no_history, "state.pickle"), "--no-leak", "--no-oom", "--max-peak", "64GiB",
                                   "--max-reserved", "64GiB"), ["no_history"] * 4)
        no_steps = dict(whole, external_annotations=[])
        self.assertIn(undecided(self.file(no_steps, "steps.pickle"), "--no-leak")[0], ("no_steps", "guessed_steps"))
        # A recorder that wrote over its oldest events says so; what is there may break a rule all the same.
        lost = self.file(dict(whole, trace_alloc_max_entries=[123], trace_alloc_overflowed=[True]), "lost.pickle")
        self.assertEqual(undecided(lost, "--max-peak", "64GiB", "--max-reserved", "64GiB", "--no-oom"), ["events_lost"] * 3)
        self.assertIn("broken  max_peak", out_of("check", lost, "--max-peak", "1MiB", code=3))
        self.assertIn("The history lacks its beginning", " ".join(out_of("report", lost).split()))
        for value in (True, [True]):  # where some builds have it
            settings = dict(whole, allocator_settings={"trace_alloc_overflowed": value})
            self.assertEqual(undecided(self.file(settings, "settings.pickle"), "--no-oom"), ["events_lost"])
        kept = self.file(dict(whole, trace_alloc_max_entries=[123], trace_alloc_overflowed=[False]), "kept.pickle")
        self.assertEqual(answer("check", kept, "--max-peak", "64GiB")["kept"], True)
        half = self.folder / "half.pickle"
        half.write_bytes(file.read_bytes()[:file.stat().st_size // 2])
        self.assertEqual(undecided(half, "--no-leak", "--no-oom", "--max-peak", "1MiB", "--max-fragmentation", "1"), ["incomplete"] * 4)
        # A request that failed is broken, however little of the file is left.
        failed = self.file(runs.out_of_memory("full")[0], "oom.pickle")
        cut = self.folder / "cut.pickle"
        cut.write_bytes(failed.read_bytes()[:-2])
        self.assertIn("broken  no_oom", out_of("check", cut, "--no-oom", code=3))
        # What the run needs that died there, nobody knows; more than is there it needs for sure.
        self.assertEqual(undecided(failed, "--max-peak", "64GiB", "--max-reserved", "64GiB"), ["ends_out_of_memory"] * 2)
        self.assertIn("broken  max_peak", out_of("check", failed, "--max-peak", "1MiB", code=3))
        self.assertEqual(undecided(file, "--baseline", failed, "--max-growth", "90000%"), ["baseline"])
        # Nothing is told of the baseline's run but its end.
        self.assertEqual(undecided(file, "--baseline", self.folder / "state.pickle", "--max-growth", "900%"), ["baseline"])
        junit = self.folder / "x.xml"
        out_of("check", half, "--no-oom", "--junit", junit, code=4)
        suite = ElementTree.parse(junit).getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("errors")), ("1", "0", "1"))
        self.assertIn("ends too early", suite[0].find("error").get("message"))

    @needs_shared_data
    def test_real_files_without_history_or_steps(self):
        for name, why in (("docubox_no_history.pickle", "no_history"), ("torchtitan_fsdp_oom_rank0.pickle", "no_steps")):
            said = answer("check", SNAPSHOTS / name, "--no-leak", code=4)
            self.assertEqual({rule["undecided"] for rule in said["rules"]}, {why}, name)
        # 596 events of device 1, which failed; the other two went no further.
        said = answer("check", SNAPSHOTS / "code_location_3gpu_expandable_oom.pickle", "--max-peak", "200GiB", code=4)
        self.assertEqual([rule["undecided"] for rule in said["rules"]], ["ends_out_of_memory"] * 3)

    def test_wrong_usage(self):
        clean = self.file(runs.train(1)[0], "clean.pickle")
        for arguments in ((), ("--max-peak", "much"), ("--max-growth", "2%"), ("--baseline", clean), ("--device", "7", "--no-oom")):
            out_of("check", clean, *arguments, code=1)
        out_of("check", "/nothing", "--no-oom", code=2)


def alive_at(events, segments, moment):
    """stack -> [bytes, blocks] of what is alive after an event, from the file alone."""
    kinds = {e["action"] for e in events}
    ends = {"free_completed", "free"} if kinds & {"free_completed", "free"} else {"free_requested"}
    final = {a: (requested, block) for s in segments for (a, _, state, requested), block in
             zip(blocks_of(s), s["blocks"], strict=True) if state == "active_allocated"}

    def stack_of(address, frames, last):
        block = final[address][1] if last and address in final else {}
        old = block.get("history")
        frames = frames or block.get("frames") or (old[0].get("frames") if old else None)
        return lines_of(frames) if frames else None

    lives, open_at = [], {}  # [address, size, born, freed, frames]
    for i, event in enumerate(events):
        if event["action"] == "alloc":
            if event["addr"] in open_at:
                open_at[event["addr"]][3] = i
            open_at[event["addr"]] = one = [event["addr"], event["size"], i, len(events), event.get("frames")]
            lives.append(one)
        elif event["action"] in ends:
            if event["addr"] in open_at:
                open_at.pop(event["addr"])[3] = i
            else:
                lives.append([event["addr"], event["size"], -1, i, event.get("frames")])
    lives += [[a, requested, -1, len(events), None] for a, (requested, _) in final.items() if a not in open_at]
    groups = {}
    for address, size, born, freed, frames in lives:
        if born <= moment < freed:
            group = groups.setdefault(stack_of(address, frames, freed == len(events)), [0, 0])
            group[0] += size
            group[1] += 1
    return groups


@needs_shared_data
class RealFiles(WithFiles):
    def test_numbers_are_those_of_a_second_computation(self):
        paths = real_snapshots()
        for path, told in zip(paths, answers("report", *paths), strict=True):
            (_, snapshot), *_ = snapshots_in(load(path.read_bytes()))
            for device in told["devices"]:
                with self.subTest(path.name, device=device["device"]):
                    self.check_sums(device)
                    self.check(snapshot, device)

    def check(self, snapshot, device):
        number = device["device"]
        summary = device_summary(snapshot, number)
        peak = device["peak"]
        self.assertEqual({k: peak[k] for k in ("event", "requested_bytes")}, summary["peak"])
        traces = snapshot.get("device_traces") or []
        events = usable_events(traces[number]) if number < len(traces) else []
        segments = [s for s in usable_segments(snapshot) if s.get("device", 0) == number]
        alive = alive_at(events, segments, peak["event"])
        for part in peak["parts"]:
            stack = None if part["stack"] is None else tuple(part["stack"])
            if stack is not None and stack in alive:  # stacks of frees are not looked at here
                self.assertEqual([part["bytes"], part["blocks"]], alive[stack])
        if not device["leaks"] and device["fragmentation"]["event"] < 0 and events:
            self.fail("a device with events is looked at after one")
        wanted = sorted({device["fragmentation"]["event"], *(o["event"] for o in device["oom"])})
        try:
            found = {state["event"]: state for state in states(snapshot, number, wanted)}
        except Irregular:
            return
        for one in [device["fragmentation"], *device["oom"]]:
            state = found.get(one["event"])
            if state is None:
                continue
            free = [b["size"] for s in state["segments"] for b in s["blocks"] if b["state"] == "inactive"]
            self.assertEqual((one["reserved_bytes"], one["allocated_bytes"], one["cached_bytes"], one["largest_free_bytes"]),
                             (state["reserved_bytes"], state["allocated_bytes"], sum(free), max(free, default=0)))
        for oom in device["oom"]:
            event = events[oom["event"]]
            self.assertEqual((oom["requested_bytes"], oom["device_free_bytes"]), (event["size"], event["device_free"]))

    def test_three_real_runs_that_ended_at_their_failure(self):
        for name in ("torchtitan_fsdp_oom_rank0", "torchtitan_fsdp_oom_rank1", "code_location_3gpu_expandable_oom"):
            for device in answer("report", SNAPSHOTS / f"{name}.pickle")["devices"]:
                self.assertIs(device["complete"], False, (name, device["device"]))

    def test_the_failures_are_explained(self):
        verdicts = {("torchtitan_fsdp_oom_rank0", 0): "fragmented", ("torchtitan_fsdp_oom_rank1", 1): "fragmented",
                    ("code_location_3gpu_expandable_oom", 1): "full"}
        for (name, number), verdict in verdicts.items():
            told = answer("report", SNAPSHOTS / f"{name}.pickle")
            (device,) = [d for d in told["devices"] if d["device"] == number]
            self.assertEqual([o["verdict"] for o in device["oom"]], [verdict])
            self.assertEqual(device["findings"][0]["kind"], "oom")
            tried = {r["confirmed"] for r in device["oom"][0]["remedies"] if r["name"] == "expandable_segments"}
            # `gpustrata whatif --conf expandable_segments:True` says the same: not out of memory.
            self.assertEqual(tried, {True} if verdict == "fragmented" else set())

    def test_no_false_alarms(self):
        # None of these runs leaks: single steps, forward passes, inference.
        alarms = [(a["file"], leak["who"]) for a in answers("report", *real_snapshots()) for d in a["devices"]
                  for leak in d["leaks"]]
        self.assertEqual(alarms, [])
