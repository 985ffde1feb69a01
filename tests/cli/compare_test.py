"""compare: small snapshots with numbers worked out by hand, and real ones against a second computation in Python."""
import copy
import json
import unittest
import xml.etree.ElementTree as ElementTree

from reference import blocks_of, load, snapshots_in, usable_events, usable_segments

from support.folders import InAFolder
from support.paths import SNAPSHOTS, needs_shared_data
from support.snapshots import BASE, MIB, block, event, frame, live, segment
from support.stacks import lines_of
from support.tool import UNREADABLE, USAGE, answer, run


class Device:
    """Blocks side by side in segments, each with its alloc event."""

    def __init__(self, device=0):
        self.device, self.segments, self.trace = device, [], []

    def segment(self, offset, size):
        self.segments.append((BASE + offset, size, []))
        return self

    def alloc(self, requested, *names):
        start, _, blocks = self.segments[-1]
        frames = [frame(name, 7, f"/src/{name}.py") for name in names]
        self.trace.append(event("alloc", start + sum(b["size"] for b in blocks), requested, frames=frames))
        blocks.append(live(requested, address=self.trace[-1]["addr"], frames=frames))
        return self

    def finished(self):
        """Its segments: what is left of each is free."""
        for start, size, blocks in self.segments:
            used = sum(b["size"] for b in blocks)
            yield segment(start, [*blocks, block(size - used, address=start + used, requested_size=0, frames=[])], self.device,
                          segment_type="small", segment_pool_id=(0, 0))


def snapshot(*devices):
    traces = [[] for _ in range(max(d.device for d in devices) + 1)]
    for device in devices:
        traces[device.device] = device.trace
    return {"segments": [s for d in devices for s in d.finished()], "device_traces": traces}


# Two weights stay, three leaks of 4096 bytes come (in a segment of their own), a temporary of 500 is gone.
def before():
    return Device().segment(0, 2 * MIB).alloc(1000, "weight", "main").alloc(1000, "weight", "main").alloc(500, "temp", "main")


def after():
    device = Device().segment(0, 2 * MIB).alloc(1000, "weight", "main").alloc(1000, "weight", "main")
    device.segment(64 * MIB, 20 * MIB)
    for _ in range(3):
        device.alloc(4096, "leak", "main")
    return device


class Compare(InAFolder):
    def run_it(self, a, b, *options, code=0):
        done = run("compare", self.file(a, "a.pickle"), self.file(b, "b.pickle"), *options, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stdout + done.stderr

    def compared(self, a, b, *options):
        return json.loads(self.run_it(a, b, "--json", *options))

    def test_growth_by_stack(self):
        (device,) = self.compared(snapshot(before()), snapshot(after()))["devices"]
        self.assertEqual(device["requested_bytes"], {"before": 2500, "after": 14288, "growth": 11788})
        self.assertEqual(device["blocks"], {"before": 3, "after": 5, "growth": 2})
        self.assertEqual((device["groups_changed"], device["groups_unchanged"]), (2, 1))
        self.assertEqual(device["reserved_bytes"], {"before": 2 * MIB, "after": 22 * MIB})
        self.assertEqual(device["rows"], [
            {"bytes": {"before": 0, "after": 12288, "growth": 12288}, "blocks": {"before": 0, "after": 3, "growth": 3},
             "stack": ["/src/leak.py:7:leak", "/src/main.py:7:main"]},
            {"bytes": {"before": 500, "after": 0, "growth": -500}, "blocks": {"before": 1, "after": 0, "growth": -1},
             "stack": ["/src/temp.py:7:temp", "/src/main.py:7:main"]}])
        self.assertEqual(device["notes"], [])

    def test_segments_of_one_only(self):
        (device,) = self.compared(snapshot(before()), snapshot(after()))["devices"]
        self.assertEqual(device["segments"], {
            "in_both": 1, "in_both_bytes": 2 * MIB, "only_before_bytes": 0, "only_after_bytes": 20 * MIB,
            "only_before": [], "only_after": [{"address": hex(BASE + 64 * MIB), "total_size": 20 * MIB}]})
        # The same address with another size is another segment.
        kept = Device().segment(64 * MIB, 20 * MIB).alloc(1000, "weight", "main")
        small = copy.deepcopy(kept).segment(0, 2 * MIB).alloc(1000, "weight", "main")
        larger = kept.segment(0, 4 * MIB).alloc(1000, "weight", "main")
        (device,) = self.compared(snapshot(small), snapshot(larger))["devices"]
        self.assertEqual([len(device["segments"][k]) for k in ("only_before", "only_after")], [1, 1])

    def test_two_runs_are_compared_at_their_peaks(self):
        """Before: 2500 at once, 500 at the end. After: 14288. Elsewhere in memory, so of another process."""
        def elsewhere(one, offset):
            one = copy.deepcopy(one)
            for segment in one["segments"]:
                segment["address"] += offset
                for block in segment["blocks"]:
                    block["address"] += offset
            for trace in one["device_traces"]:
                for event in trace:
                    event["addr"] += offset
            return one

        first = snapshot(before())
        kept = first["segments"][0]["blocks"]
        for block in kept[:2]:  # freed at the end
            first["device_traces"][0] += [{**event(action, block["address"], block["requested_size"]), "stream": 0}
                                          for action in ("free_requested", "free_completed")]
            block["state"] = "inactive"
        first["segments"][0]["blocks"] = [{**kept[0], "size": kept[0]["size"] + kept[1]["size"]}, *kept[2:]]
        answer = self.compared(first, elsewhere(snapshot(after()), 1 << 40))
        (device,) = answer["devices"]
        self.assertEqual(answer["at"], "peak")
        self.assertEqual(device["requested_bytes"], {"before": 2500, "after": 14288, "growth": 11788})
        self.assertIsNone(device["segments"])
        text = self.run_it(first, elsewhere(snapshot(after()), 1 << 40))
        self.assertIn("Nothing shows that these come from one run", text)
        self.assertNotIn("0x", text)
        answer = self.compared(first, snapshot(after()))  # of one run
        self.assertEqual((answer["at"], answer["devices"][0]["requested_bytes"]["before"]), ("end", 500))

    def test_rows_beyond_the_limit(self):
        (device,) = self.compared(snapshot(before()), snapshot(after()), "-n", "1")["devices"]
        self.assertEqual([r["stack"][0] for r in device["rows"]], ["/src/leak.py:7:leak"])
        self.assertEqual(device["other"]["bytes"], {"before": 500, "after": 0, "growth": -500})
        self.assertIn("(1 more that changed; see -n)", self.run_it(snapshot(before()), snapshot(after()), "-n", "1"))

    def test_other_moments(self):
        # Before its first event AFTER holds nothing.
        (device,) = self.compared(snapshot(before()), snapshot(after()), "--at", "start")["devices"]
        self.assertEqual(device["requested_bytes"]["growth"], 0)
        (device,) = self.compared(snapshot(before()), snapshot(after()), "--at", "1")["devices"]
        self.assertEqual((device["groups_changed"], device["event"]), (0, {"before": 1, "after": 1}))
        self.assertIn("There is no event", self.run_it(snapshot(before()), snapshot(after()), "--at", "3", code=1))

    def test_by_function(self):
        (device,) = self.compared(snapshot(before()), snapshot(after()), "--by", "function")["devices"]
        self.assertEqual([(r["function"], r["file"], r["bytes"]["growth"]) for r in device["rows"]],
                         [("leak", "/src/leak.py", 12288), ("temp", "/src/temp.py", -500)])

    def test_table(self):
        text = self.run_it(snapshot(before()), snapshot(after()))
        self.assertRegex(text, r"Growth: \+11\.5 KiB, \+2 blocks; reserved \+20\.0 MiB")
        self.assertRegex(text, r"\+12\.0 KiB +0 B +12\.0 KiB +\+3  leak  /src/leak\.py:7\n +main  /src/main\.py:7\n")
        self.assertRegex(text, r"-500 B +500 B +0 B +-1  temp  /src/temp\.py:7\n")
        self.assertIn("(1 unchanged)", text)
        self.assertIn(f"only after   {BASE + 64 * MIB:#x}    20.0 MiB", text)
        self.assertIn("Nothing changed", self.run_it(snapshot(after()), snapshot(after())))

    def test_flame_graph(self):
        folded = dict(line.rsplit(" ", 1)
                      for line in self.run_it(snapshot(before()), snapshot(after()), "--folded").splitlines())
        root = "stream_0;active_allocated;main.py:7:main;"
        self.assertEqual(folded, {f"only_after;{root}leak.py:7:leak": "12288", f"only_before;{root}temp.py:7:temp": "500",
                                  f"only_before;{root}temp.py:7:temp;<gaps>": "12"})
        out = self.folder / "x.svg"
        self.assertIn("Growth", self.run_it(snapshot(before()), snapshot(after()), "-o", out))
        titles = [e.text for e in ElementTree.parse(out).getroot().iter() if e.tag.endswith("title")]
        self.assertIn("only_after: 12.0 KiB (12,288 bytes)", titles)
        segments = self.run_it(snapshot(before()), snapshot(after()), "--folded", "--segments")
        self.assertIn(f"only_after;stream_0;seg_{BASE + 64 * MIB:#x};active_allocated;", segments)

    def test_devices(self):
        two = snapshot(after(), Device(1).segment(0, 2 * MIB).alloc(64, "other"))
        answer = self.compared(snapshot(before()), two)
        self.assertEqual([d["device"] for d in answer["devices"]], [{"before": 0, "after": 0}])
        self.assertEqual((answer["devices_only_before"], answer["devices_only_after"]), ([], [1]))
        self.assertIn("Device 1 is only in the file after.", self.run_it(snapshot(before()), two))
        # Ranks: each file has one device, which is another one.
        rank1 = snapshot(Device(1).segment(0, 2 * MIB).alloc(64, "other"))
        self.assertEqual([d["device"] for d in self.compared(snapshot(before()), rank1)["devices"]], [{"before": 0, "after": 1}])
        self.assertIn("b.pickle: There is no device \"0\"", self.run_it(snapshot(before()), rank1, "--device", "0", code=1))
        self.assertIn("No device is in both", self.run_it(two, snapshot(Device(2).segment(0, 2 * MIB).alloc(1, "x")), code=1))
        folded = self.run_it(snapshot(before(), Device(1).segment(0, 2 * MIB)), two, "--folded")
        self.assertIn("only_after;device 1;stream_0;", folded)

    def test_words_where_the_recordings_are_of_different_kinds(self):
        bare = copy.deepcopy(snapshot(after()))
        bare["device_traces"] = []
        bare["allocator_settings"] = {"expandable_segments": False}
        for segment in bare["segments"]:
            segment["address"] += 1 << 40
            for block in segment["blocks"]:
                block["address"] += 1 << 40
                del block["frames"]
        (device,) = self.compared(snapshot(before()), bare)["devices"]
        said = " ".join(device["notes"])
        for words in ("Only the recording before has a history", "Only the recording before has stacks", "settings",
                      "Nothing shows that these come from one run"):
            self.assertIn(words, said)
        self.assertEqual(device["requested_bytes"], {"before": 2500, "after": 14288, "growth": 11788})

    def test_stacks_of_what_is_gone_are_stacks_of_the_recording(self):
        # The trace before has frames, the only block that is alive at its end has none.
        bare = copy.deepcopy(snapshot(before()))
        for segment in bare["segments"]:
            for block in segment["blocks"]:
                block.pop("frames", None)
        events = bare["device_traces"][0]
        for event in events:
            if event["action"] == "alloc" and any(b["address"] == event["addr"] and b["state"] == "active_allocated"
                                                  for s in bare["segments"] for b in s["blocks"]):
                event.pop("frames", None)
        events.insert(0, {"action": "alloc", "addr": 1 << 44, "size": 512, "stream": 0, "frames": [{"filename": "a.py", "line": 1, "name": "f"}]})
        events.insert(1, {"action": "free_completed", "addr": 1 << 44, "size": 512, "stream": 0, "frames": []})
        (device,) = self.compared(bare, snapshot(after()))["devices"]
        said = " ".join(device["notes"])
        self.assertIn("What is alive before has no stacks, though that recording has some", said)
        self.assertNotIn("Only the recording after", said)

    def test_what_cannot_be_read(self):
        good = self.file(snapshot(before()), "good.pickle")
        for names in ((good, "/nothing"), ("/nothing", good)):
            done = run("compare", *names, "--json")
            self.assertEqual((done.returncode, json.loads(done.stdout)["file"]), (UNREADABLE, "/nothing"))
        self.assertEqual(run("compare", good).returncode, USAGE)


def alive_at_the_end(device, value):
    """stack -> [bytes, blocks], from the file alone."""
    events = usable_events(value["device_traces"][device]) if value.get("device_traces") else []
    alive = {}
    for event in events:
        if event["action"] == "alloc":
            alive[event["addr"]] = (event["size"], event.get("frames"))
        elif event["action"] == "free_completed":
            alive.pop(event["addr"], None)
    for segment in usable_segments(value):
        if segment.get("device", 0) != device:
            continue
        for (address, _, state, requested), block in zip(blocks_of(segment), segment["blocks"], strict=True):
            if state != "active_allocated":
                continue
            old = block.get("history")
            frames = block.get("frames") or (old[0].get("frames") if old else None)
            if address not in alive:
                alive[address] = (requested, frames)
            elif not alive[address][1]:
                alive[address] = (alive[address][0], frames)
    groups = {}
    for size, frames in alive.values():
        group = groups.setdefault(lines_of(frames) if frames else None, [0, 0])
        group[0] += size
        group[1] += 1
    return groups


class Bounds(InAFolder):
    def test_parts_that_would_be_a_gigabyte_of_text(self):
        # 300 stacks of 400 frames, each of which has a name of 1 KB: 120 MB as text, in 0.5 MB of a pickle.
        shared = [frame("f" * 1000 + str(i)) for i in range(400)]
        blocks = [live(1000, address=BASE + 4096 * i, frames=[frame(f"own{i}"), *shared]) for i in range(300)]
        path = self.file({"segments": [segment(BASE, blocks)], "device_traces": [[]]}, "deep.pickle")
        self.assertLess(path.stat().st_size, 1_000_000)
        done = run("compare", path, path, "--json", "-n", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(len(done.stdout), 70_000_000)
        told = json.loads(done.stdout)
        self.assertEqual((told["before_bytes"], told["after_bytes"]), (300_000, 300_000))
        self.assertGreater(len(told["parts"]), 100)
        self.assertEqual(len(told["parts"]) + told["parts_left_out"], 300)


@needs_shared_data
class RealPairs(unittest.TestCase):
    PAIRS = [("nanobatch_vanilla_physical_mappings", "nanobatch_ckpt_physical_mappings"),
             ("cs336_ctx512_forward_mixed", "cs336_ctx128_forward"), ("cs336_2.7b_forward", "cs336_ctx512_forward_segment_free"),
             ("octree_nca_a", "octree_nca_allocs_before_history"), ("memoryviz_adam", "linear_grad"),
             ("torchtitan_fsdp_oom_rank0", "tomi_small"), ("select_n_no_time", "attention_blocks_with_stacks_no_history")]

    def test_rows_are_those_of_a_second_computation(self):
        for pair in self.PAIRS:
            with self.subTest(pair):
                paths = [SNAPSHOTS / f"{name}.pickle" for name in pair]
                devices = answer("compare", *paths, "--at", "end", "-n", "1000000")["devices"]
                self.assertTrue(devices)
                for device in devices:
                    self.check(device, [snapshots_in(load(p.read_bytes()))[0][1] for p in paths])

    def check(self, device, values):
        a, b = (alive_at_the_end(device["device"][side], value) for side, value in zip(("before", "after"), values))
        nothing = [0, 0]
        expected = {}
        for stack in a.keys() | b.keys():
            x, y = a.get(stack, nothing), b.get(stack, nothing)
            if x != y:
                expected[stack] = ({"before": x[0], "after": y[0], "growth": y[0] - x[0]},
                                   {"before": x[1], "after": y[1], "growth": y[1] - x[1]})
        got = {tuple(r["stack"]) if r["stack"] is not None else None: (r["bytes"], r["blocks"]) for r in device["rows"]}
        self.assertEqual(len(got), len(device["rows"]))
        self.assertEqual(got, expected)
        self.assertEqual(device["groups_unchanged"], len(a.keys() | b.keys()) - len(expected))
        growths = [r["bytes"]["growth"] for r in device["rows"]]
        self.assertEqual(growths, sorted(growths, reverse=device["requested_bytes"]["growth"] >= 0))
        if device["segments"] is None:  # nothing shows that they are of one run
            return
        segments = [{(s["address"], s["total_size"]) for s in usable_segments(v) if s.get("device", 0) == device["device"][side]}
                    for side, v in zip(("before", "after"), values)]
        for name, only in (("only_before", segments[0] - segments[1]), ("only_after", segments[1] - segments[0])):
            self.assertEqual({(int(s["address"], 16), s["total_size"]) for s in device["segments"][name]}, only)
