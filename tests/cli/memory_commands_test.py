"""stats, trace, flamegraph and state of a small snapshot, with numbers worked out by hand."""
import copy
import json
import xml.etree.ElementTree as ElementTree

from support.folders import InAFolder, InOneFolder
from support.snapshots import BASE, MIB, block, event, frame, live, segment, snapshot
from support.tool import SUCCESS, USAGE, out_of, run


def stack(*names):
    return [frame(name, 7, f"/src/{name}.py") for name in names]


def at(offset, action, size, *names):
    return event(action, BASE + offset, size, frames=stack(*names))


def in_segment(offset, kind, *blocks, **more):
    return segment(BASE + offset, list(blocks), segment_type=kind, **more)


# 40 MiB segment: 30 MiB in use, 10 MiB free; a 2 MiB one with 1000 bytes in 1024.
SNAPSHOT = snapshot([
    in_segment(0, "large", live(30 * MIB, frames=stack("inner", "outer")), block(10 * MIB), segment_pool_id=(0, 0)),
    in_segment(40 * MIB, "small", live(1000, frames=stack("small;<")), block(2 * MIB - 1024), segment_pool_id=(0, 0)),
], [
    at(0, "segment_alloc", 40 * MIB, "outer"), at(0, "alloc", 30 * MIB, "inner", "outer"),
    at(30 * MIB, "alloc", 8 * MIB, "peak", "outer"), at(30 * MIB, "free_requested", 8 * MIB),
    at(30 * MIB, "free_completed", 8 * MIB),
])


class OfOneFile(InOneFolder):
    """A snapshot, and what a command says of it."""

    snapshot = SNAPSHOT

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path = cls.file(cls.snapshot, "s.pickle")

    def run_it(self, command, *options, code=SUCCESS):
        return out_of(command, self.path, *options, code=code)


class Commands(OfOneFile):
    def test_state(self):
        first, last = map(json.loads, self.run_it("state", "--json", "--event=-1,2").splitlines())
        self.assertEqual([first["reserved_bytes"], first["allocated_bytes"]], [2 * MIB, 1024])
        self.assertEqual(last["allocated_bytes"], 38 * MIB + 1024)
        self.assertEqual([b["size"] for b in last["segments"][0]["blocks"]], [30 * MIB, 8 * MIB, 2 * MIB])

    def test_state_of_an_event_that_is_not_there(self):
        self.assertIn("There is no event 5", self.run_it("state", "--json", "--event=5", code=1))

    def owner(self, address, *options):
        return json.loads(out_of("owner", address, self.path, "--json", *options))

    def test_owner(self):
        # 1 MiB into the 8 MiB of event 2, which are behind the first 30; freed with events 3 and 4.
        address = BASE + 31 * MIB
        at_2 = self.owner(hex(address), "--at=2")
        self.assertEqual([at_2["holder"][key] for key in ("address", "size", "offset", "alloc_event", "free_completed_event")],
                         [hex(BASE + 30 * MIB), 8 * MIB, MIB, 2, 4])
        self.assertEqual(at_2["holder"]["allocated_by"], "peak peak.py:7")
        at_end = self.owner(str(address))  # in decimal; without a moment the end is meant
        self.assertEqual([at_end["event"], at_end["holder"], len(at_end["before"])], [4, None, 1])
        self.assertEqual(at_end["free"], {"address": hex(BASE + 30 * MIB), "size": 10 * MIB})
        self.assertEqual(at_end["below"]["distance"], MIB + 1)
        beyond = self.owner(hex(BASE + 42 * MIB))
        self.assertEqual([beyond["known"], beyond["below"]["name"][:2], beyond["below"]["distance"]], [False, "s'", 1])
        self.assertIn("Before: block b'", out_of("owner", hex(address), self.path))

    def test_owner_of_what_is_no_address(self):
        for wrong in ("7f3c", "0x", "0x1ffffffffffffffff", "here"):
            self.assertIn("Say the address as 0x7f3c00001200", out_of("owner", wrong, self.path, "--json", code=USAGE))
        self.assertIn("There is no event 99", out_of("owner", "1", self.path, "--json", "--at=99", code=USAGE))

    def test_without_a_moment_the_peak_is_meant(self):
        peak = 38 * MIB + 1024
        self.assertEqual(json.loads(self.run_it("state", "--json"))["allocated_bytes"], peak)
        self.assertEqual(json.loads(self.run_it("stats", "--json"))["allocated"], peak)
        stacks = json.loads(self.run_it("flamegraph", "--json"))["stacks"]
        self.assertEqual(sum(size for stack, size in stacks.items() if "active_allocated" in stack), peak)
        self.assertIn("at the peak, after event", self.run_it("flamegraph"))
        for command in ("state", "stats", "flamegraph"):
            for at in ("peak", "end", "start", "0", "-1"):
                self.run_it(command, f"--at={at}")
            self.assertEqual(self.run_it(command, "--json"), self.run_it(command, "--json", "--at", "peak"))
        both = self.run_it("state", "--json", "--at", "start,end").splitlines()
        self.assertEqual([json.loads(line)["event"] for line in both], [-1, 4])

    def test_stats(self):
        stats = json.loads(self.run_it("stats", "--json", "--at", "end"))
        self.assertEqual([stats["reserved"], stats["allocated"], stats["requested"], stats["rounding"], stats["free"]],
                         [42 * MIB, 30 * MIB + 1024, 30 * MIB + 1000, 24, 12 * MIB - 1024])
        self.assertEqual([s["bar"] for s in stats["segments"]], ["a", "aa"])
        self.assertIn("[aa] 40.0 MiB, 10.0 MiB free", self.run_it("stats", "--at", "end"))

    def test_trace(self):
        lines = self.run_it("trace").splitlines()
        self.assertEqual(lines[1:6], [
            "s0 = cudaMalloc(0x7f0000000000, 40.0 MiB)", "b0 = s0[0x0:30.0 MiB]", "b1 = s0[0x1e00000:8.0 MiB]",
            "del b1  # 8.0 MiB", "# free completed for b1  8.0 MiB"])
        self.assertEqual(lines[-1], f"TOTAL MEM: {30 * MIB + 1024} bytes allocated, {42 * MIB} reserved")
        rows = json.loads(self.run_it("trace", "--json"))["events"]
        self.assertEqual([r["action"] for r in rows], [e["action"] for e in SNAPSHOT["device_traces"][0]])

    def test_flame_graph(self):
        folded = dict(line.rsplit(" ", 1) for line in self.run_it("flamegraph", "--folded", "--at", "end").splitlines())
        self.assertEqual(folded, {
            "stream_0;active_allocated;outer.py:7:outer;inner.py:7:inner": str(30 * MIB),
            "stream_0;active_allocated;small:<.py:7:small:<": "1000",
            "stream_0;active_allocated;small:<.py:7:small:<;<gaps>": "24",
            "stream_0;inactive": str(12 * MIB - 1024)})
        peak = self.run_it("flamegraph", "--folded", "--at", "peak")
        self.assertIn(f"outer.py:7:outer;peak.py:7:peak {8 * MIB}", peak)
        self.assertIn("stream_0;seg_0x7f0000000000;active_allocated;", self.run_it("flamegraph", "--folded", "--segments"))

    def test_flame_graph_is_a_picture_without_script(self):
        path = self.folder / "out.svg"
        self.assertEqual(self.run_it("flamegraph", "--at", "end", "-o", path), "")
        root = ElementTree.parse(path).getroot()
        self.assertEqual({e.tag.split("}")[1] for e in root.iter()}, {"svg", "rect", "text", "g", "title"})
        titles = [e.text for e in root.iter() if e.tag.endswith("title")]
        self.assertIn(f"inner.py:7:inner: 30.0 MiB ({30 * MIB:,} bytes)", titles)


HOST_SEGMENTS = [
    in_segment(0, "large", live(MIB, frames=stack("pinned")), device=-1),
    in_segment(MIB, "small", block(128), device=-1),
]
HOST_TRACE = [
    at(0, "alloc", MIB, "pinned"), at(MIB, "alloc", 128, "staging"), at(MIB, "free_requested", 128),
    at(MIB, "free_completed", 128),
]


class Host(OfOneFile):
    """Pinned host memory, whose events tell sizes of blocks: 1 MiB and 128 bytes come, the latter go."""

    snapshot = {**SNAPSHOT, "host_segments": HOST_SEGMENTS, "host_traces": HOST_TRACE}

    def test_it_is_chosen_by_name_and_by_number(self):
        for device in ("host", "-1"):
            (last,) = map(json.loads, self.run_it("state", "--json", f"--device={device}", "--event=1").splitlines())
            self.assertEqual([last["device"], last["reserved_bytes"], last["allocated_bytes"]], [-1, MIB + 128, MIB + 128])
        self.assertEqual(json.loads(self.run_it("stats", "--json", "--at", "end", "--device", "host"))["allocated"], MIB)

    def test_without_device_the_gpu_is_meant(self):
        self.assertEqual(json.loads(self.run_it("state", "--json", "--event=0"))["device"], 0)

    def test_trace_and_flame_graph(self):
        rows = json.loads(self.run_it("trace", "--device", "host", "--json"))
        self.assertEqual((rows["device"], [r["size"] for r in rows["events"]]), (-1, [MIB, 128, 128, 128]))
        folded = self.run_it("flamegraph", "--folded", "--device", "host", "--at", "peak")
        self.assertIn(f"stream_0;active_allocated;pinned.py:7:pinned {MIB}", folded)
        self.assertIn("stream_0;active_allocated;staging.py:7:staging 128", folded)

class OtherFiles(InAFolder):
    """A change to the snapshot above, and what is said of it."""

    def said(self, change, command, *options, code=SUCCESS):
        changed = copy.deepcopy(SNAPSHOT)
        change(changed)
        done = run(command, self.file(changed, "s.pickle"), *options, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout + done.stderr

    def test_events_that_contradict_the_final_segments_are_noticed(self):
        def contradicting(snapshot):
            snapshot["device_traces"] = [[at(39 * MIB, "alloc", 512), at(38 * MIB, "alloc", 512)]]

        self.assertNotIn("Noticed", self.said(lambda s: None, "state", "--at", "end"))
        said = self.said(contradicting, "state", "--at", "start,end")
        self.assertEqual(said.count("Noticed"), 1)
        self.assertIn("events contradict the final segments. They count to the end. [2 times]", said)
        self.assertIn("Allocated blocks vanish without a free", said)

    def test_a_file_without_host_memory_says_so(self):
        said = self.said(lambda s: None, "state", "--device", "host", "--event=0", code=USAGE)
        self.assertIn('There is no device "host" in this file. Devices: 0.', said)

    def test_stacks_of_blocks_are_stacks_where_no_event_has_one(self):
        def without_stacks_of_events(snapshot):
            for one in snapshot["device_traces"][0]:
                del one["frames"]

        def without_any(snapshot):
            without_stacks_of_events(snapshot)
            for segment in snapshot["segments"]:
                for block in segment["blocks"]:
                    block["frames"] = []
        self.assertRegex(self.said(lambda s: None, "summary"), r"stacks +4 different")
        self.assertRegex(self.said(without_stacks_of_events, "summary"),
                         r"stacks +none of events, those of the blocks at the end")
        self.assertRegex(self.said(without_any, "summary"), r"stacks +none\n")

    def test_the_list_of_devices_says_which_ran_out_of_memory(self):
        def two_devices(snapshot):
            oom = {"action": "oom", "addr": 5, "device_free": 5, "size": MIB, "stream": 0, "frames": []}
            snapshot["device_traces"].append([at(1 << 30, "alloc", MIB, "f"), oom])
        said = self.said(two_devices, "state", "--device", "7", code=1)
        self.assertIn('There is no device "7" in this file. Devices: 0, 1 (OOM).', said)

    def test_no_such_event_is_not_no_such_device(self):
        said = self.said(lambda s: None, "top", "--device", "0", "--at", "99", code=1)
        self.assertIn("device 0 has no event 99: it has 5", said)
        self.assertNotIn("There is no device", said)
        self.assertIn("There is no device 3 in this file.", self.said(lambda s: None, "top", "--device", "3", code=1))

    def test_a_line_end_in_a_text_makes_no_line(self):
        def two_lines(snapshot):
            snapshot["device_traces"][0].append(
                event("annotate", 0, 0, user_metadata="a\ndel b0"))
        lines = self.said(two_lines, "trace").splitlines()
        self.assertEqual(len(lines), 1 + 6 + 1)
        self.assertNotIn("del b0", lines)
