"""`gpustrata convert --to trace|speedscope|folded|pprof`, opened by readers that know nothing of this program."""
import gzip
import json
import pickle
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

from support.folders import write
from support.paths import PROFILERS, TRACES, case, needs_shared_data
from support.snapshots import BASE, MIB, block, live, segment, snapshot
from support.tool import answer, out_of, run


def convert(file, to, *options):
    done = run("convert", file, "-o", "-", "--to", to, *options)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout if to == "pprof" else done.stdout.decode()


class Message:
    """Fields of a protocol buffer, from its definition: varints and byte strings."""

    def __init__(self, data):
        self.fields, at = {}, 0
        while at < len(data):
            key, at = self.varint(data, at)
            if key & 7 == 0:
                value, at = self.varint(data, at)
            else:
                assert key & 7 == 2, f"wire type {key & 7}"
                size, at = self.varint(data, at)
                value, at = data[at : at + size], at + size
            self.fields.setdefault(key >> 3, []).append(value)

    @staticmethod
    def varint(data, at):
        value = shift = 0
        while True:
            value |= (data[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 0x80:
                return value, at

    @classmethod
    def packed(cls, data):
        found, at = [], 0
        while at < len(data):
            value, at = cls.varint(data, at)
            found.append(value)
        return found

    def one(self, field, default=0):
        return self.fields.get(field, [default])[0]

    def all(self, field):
        return self.fields.get(field, [])


def stacks_of_pprof(data):
    """{stack, outermost first: bytes} of a profile.proto."""
    profile = Message(data)
    texts = [text.decode() for text in profile.all(6)]
    assert texts[0] == ""
    functions = {m.one(1): texts[m.one(2)] for m in map(Message, profile.all(5))}
    locations = {}
    for location in map(Message, profile.all(4)):
        locations[location.one(1)] = functions[Message(location.one(4)).one(1)]
    kinds = [Message(kind) for kind in profile.all(1)]
    assert [(texts[kind.one(1)], texts[kind.one(2)]) for kind in kinds] == [("inuse_space", "bytes")]
    stacks = {}
    for sample in map(Message, profile.all(2)):
        names = [locations[number] for number in Message.packed(sample.one(1, b""))]
        (value,) = Message.packed(sample.one(2))
        stacks[tuple(reversed(names))] = value
    return stacks


def stacks_of_folded(text):
    lines = (line.rpartition(" ") for line in text.splitlines())
    return {tuple(stack.split(";")): int(size) for stack, _, size in lines}


def counters(trace, name):
    found = [e for e in trace["traceEvents"] if e["ph"] == "C" and e["name"] == name]
    return [(e["pid"], Decimal(str(e["ts"])), e["args"]["bytes"]) for e in found]


class Stacks(unittest.TestCase):
    def files(self):
        return [case("private_pool"), case("pending_blocks"), PROFILERS / "trace.json"]

    def test_all_forms_say_what_the_flame_graph_says(self):
        for file in self.files():
            with self.subTest(file=file):
                flame = answer("flamegraph", file)["stacks"]
                expected = {tuple(stack.split(";")): size for stack, size in flame.items()}
                self.assertGreater(len(expected), 0)
                self.assertEqual(stacks_of_folded(convert(file, "folded")), expected)
                self.assertEqual(stacks_of_pprof(convert(file, "pprof")), expected)
                speedscope = json.loads(convert(file, "speedscope"))
                (profile,) = speedscope["profiles"]
                names = [frame["name"] for frame in speedscope["shared"]["frames"]]
                stacks = [tuple(names[i] for i in sample) for sample in profile["samples"]]
                self.assertEqual(dict(zip(stacks, profile["weights"])), expected)
                self.assertEqual((profile["type"], profile["unit"]), ("sampled", "bytes"))
                self.assertEqual(profile["endValue"] - profile["startValue"], sum(profile["weights"]))

    def test_a_moment_can_be_chosen(self):
        file = case("private_pool")
        at_end = stacks_of_folded(out_of("flamegraph", file, "--folded", "--at", "end"))
        self.assertEqual(stacks_of_pprof(convert(file, "pprof", "--at", "end")), at_end)

    def test_the_name_of_the_output_says_what_to_write(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a.pb", "a.folded", "a.speedscope.json", "a.trace.json"):
                out_of("convert", PROFILERS / "trace.json", "-o", Path(folder) / name)
            self.assertIn("traceEvents", json.loads((Path(folder) / "a.trace.json").read_text()))
            self.assertIn("profiles", json.loads((Path(folder) / "a.speedscope.json").read_text()))
            stacks = stacks_of_pprof((Path(folder) / "a.pb").read_bytes())
            self.assertEqual(stacks, stacks_of_folded((Path(folder) / "a.folded").read_text()))

    def test_what_has_no_stacks_says_so(self):
        refused = run("convert", PROFILERS / "timeline.json", "-o", "-", "--to", "pprof")
        self.assertNotEqual(refused.returncode, 0)
        self.assertEqual(refused.stdout, b"")
        self.assertGreater(len(refused.stderr), 20)
        self.assertEqual(run("convert", PROFILERS / "trace.json", "-o", "-", "--to", "trace", "--at", "end").returncode, 1)


class Traces(unittest.TestCase):
    def test_levels_of_a_snapshot_are_counters(self):
        for name in ("private_pool", "pending_blocks", "json_as_python_writes_it"):
            file = case(name)
            with self.subTest(case=name):
                summary = answer("summary", file)
                device = summary["snapshots"][0]["devices"][0]
                trace = json.loads(convert(file, "trace"))
                levels = counters(trace, "allocated")
                first = min(pid for pid, *_ in levels)
                levels = [size for pid, _, size in levels if pid == first]
                self.assertEqual(max(levels), device["peak"]["requested_bytes"])
                self.assertEqual(levels[0], device["initial_requested_bytes"])
                self.assertEqual(levels[-1], device["final_requested_bytes"])

    def test_records_add_up_to_their_totals(self):
        file = case("private_pool")
        level = None
        for event in json.loads(convert(file, "trace"))["traceEvents"]:
            if event.get("name") != "[memory]":
                continue
            said = event["args"]
            if level is not None:
                self.assertEqual(said["Total Allocated"], level + said["Bytes"])
            level = said["Total Allocated"]
        self.assertIsNotNone(level)

    def test_private_pools_have_counters_of_their_own(self):
        trace = json.loads(convert(case("private_pool"), "trace"))
        names = {event["name"] for event in trace["traceEvents"] if event["ph"] == "C"}
        self.assertTrue(any(name.startswith("pool ") for name in names), names)

    def test_pools_of_a_snapshot_without_a_history_have_no_time(self):
        segments = [segment(BASE + at * 2 * MIB, [live(MIB), block(MIB)], segment_pool_id=(0, at)) for at in (1, 2)]
        with tempfile.TemporaryDirectory() as folder:
            file = write(Path(folder) / "a.pickle", pickle.dumps(snapshot(segments)))
            trace = json.loads(convert(file, "trace"))
        self.assertEqual([event for event in trace["traceEvents"] if event["ph"] == "C" and event["name"].startswith("pool")], [])

    def same_ops(self, file):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "copy.trace.json"
            out_of("convert", file, "-o", copy)
            before, after = answer("ops", file), answer("ops", copy)
        self.assertGreater(len(before["ops"]), 0)
        self.assertEqual(after["devices"], before["devices"])
        self.assertEqual(after["ops"], before["ops"])

    def test_a_trace_written_and_read_again_tells_the_same_of_its_ops(self):
        self.same_ops(PROFILERS / "trace.json")

    @needs_shared_data
    def test_so_does_a_real_one(self):
        file = TRACES / "tracelens_h100_bert_small.json.gz"
        self.same_ops(file)
        original = json.loads(gzip.decompress(file.read_bytes()))
        spans = sum(event.get("ph") == "X" for event in original["traceEvents"])
        written = json.loads(convert(file, "trace"))["traceEvents"]
        self.assertEqual(sum(event["ph"] == "X" for event in written), spans)

    def test_counters_of_telemetry_keep_their_times(self):
        trace = json.loads(convert(PROFILERS / "telemetry.json", "trace"), parse_float=Decimal)
        self.assertEqual(trace["baseTimeNanoseconds"], 1_700_000_000_000_000_000)
        found = [(at, size) for _, at, size in counters(trace, "allocated 0")]
        self.assertEqual(found, [(i * 100_000, size * MIB) for i, size in enumerate([100, 300, 300, 150])])

    def test_operators_and_functions_are_slices(self):
        slices = lambda file: [e for e in json.loads(convert(PROFILERS / file, "trace"))["traceEvents"] if e["ph"] == "X"]
        operators = slices("tracker.pickle")
        self.assertEqual([(e["name"], e["ts"], e["dur"]) for e in operators][:2],
                         [("layer1.forward.mm.default_0", 0, 1), ("layer1.forward.relu.default_0", 1, 1)])  # fmt: skip
        self.assertEqual([(e["name"], e["dur"]) for e in slices("functions.json")], [("train_step", 500_000), ("evaluate", 500_000)])
