"""`gpustrata ops` of the made-up run that site/guide/negative.md explains: the numbers of the page, by hand."""
import unittest

from support.folders import InAFolder
from support.paths import PROFILERS
from support.snapshots import KIB, MIB
from support.tool import USAGE, answer, out_of

GAN = PROFILERS / "gan.json"


class Overlapping(InAFolder):
    def test_ops_that_do_not_nest_make_no_stacks_of_all(self):
        # 2,000 ops begin one after another before any ends, and none lies in another: each of the records had up to 1,000
        # of them as its stack.
        events = []
        for i in range(2000):
            events.append({"ph": "X", "cat": "cpu_op", "name": f"op{i}", "pid": 1, "tid": 1, "ts": i, "dur": 2000})
            events.append({"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": i + 0.5, "args": {
                "Bytes": 512, "Addr": 4096 + 512 * i, "Device Type": 1, "Device Id": 0, "Total Allocated": 512 * (i + 1)}})
        told = answer("top", self.file({"traceEvents": events}, "trace.json"), "--at", "end", "-n", 3000)
        stacks = [row["stack"] for row in told["tops"][0]["rows"]]
        self.assertEqual(len(stacks), 2000)
        self.assertEqual(max(map(len, stacks)), 65)  # its own, and 64 that end earlier

    def test_what_nests_is_whole(self):
        events = [{"ph": "X", "cat": "cpu_op", "name": f"op{i}", "pid": 1, "tid": 1, "ts": i, "dur": 1000 - 2 * i}
                  for i in range(300)]
        events.append({"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 400, "args": {
            "Bytes": 512, "Addr": 4096, "Device Type": 1, "Device Id": 0, "Total Allocated": 512}})
        told = answer("top", self.file({"traceEvents": events}, "trace.json"), "--at", "end")
        self.assertEqual([len(row["stack"]) for row in told["tops"][0]["rows"]], [300])


class Gan(unittest.TestCase):
    def ops(self, *options):
        found = answer("ops", GAN, *options)
        return found, {op["name"]: op for op in found["ops"]}

    def test_numbers(self):
        found, ops = self.ops()
        (device,) = found["devices"]
        self.assertEqual((device["base_bytes"], device["peak_bytes"]), (64 * MIB, 76 * MIB))
        self.assertEqual(device["net_bytes"], 2 * MIB + 1536)
        expected = {  # net, self, gross, peak
            "train_discriminator": (2 * MIB + 1536, 0, 12 * MIB + 3 * KIB, 12 * MIB),
            "Generator.forward": (8 * MIB, -4 * MIB, 12 * MIB, 12 * MIB),
            "aten::addmm": (12 * MIB, 12 * MIB, 12 * MIB, 8 * MIB),
            "aten::binary_cross_entropy": (1536, -1536, 3 * KIB, 3 * KIB),
            "aten::empty": (3 * KIB, 3 * KIB, 3 * KIB, 1536),
            "Optimizer.zero_grad#Adam.zero_grad": (-6 * MIB, -6 * MIB, 0, 0),
        }
        self.assertEqual({name: (op["net"], op["self"], op["gross"], op["peak"]) for name, op in ops.items()}, expected)
        # The selfs add up to what the device gained.
        self.assertEqual(sum(op["self"] for op in ops.values()) + device["unowned_bytes"], device["net_bytes"])

    def test_freed_and_live_at_return(self):
        _, ops = self.ops()
        expected = {
            "train_discriminator": (10 * MIB + 1536, 8 * MIB + 1536),
            "Generator.forward": (4 * MIB, 8 * MIB),
            "aten::addmm": (0, 12 * MIB),  # the first one's 4 MiB are freed after it
            "aten::binary_cross_entropy": (1536, 1536),
            "aten::empty": (0, 3 * KIB),
            "Optimizer.zero_grad#Adam.zero_grad": (6 * MIB, 0),
        }
        self.assertEqual({name: (op["freed"], op["at_return"]) for name, op in ops.items()}, expected)

    def test_by_shape_of_ops_in_each_other(self):
        # This trace says no shapes: the groups are those of the names.
        _, ops = self.ops()
        _, shapes = self.ops("--by", "shape")
        self.assertEqual({name: op["net"] for name, op in shapes.items()}, {name: op["net"] for name, op in ops.items()})

    def test_a_device_that_is_not_there_is_told(self):
        self.assertNotIn("There is no device", out_of("ops", GAN, "--device", "cuda:0"))
        self.assertIn("There is no device 7 in this file.", out_of("ops", GAN, "--device", "7", code=USAGE))

    def test_pytorchs_own_table_has_the_same_negatives(self):
        _, ops = self.ops("--mode", "pytorch")
        negative = {name: op["self_device_memory_usage"] for name, op in ops.items() if op["self_device_memory_usage"] < 0}
        self.assertEqual(negative, {"Generator.forward": -4 * MIB, "aten::binary_cross_entropy": -1536,
                                    "Optimizer.zero_grad#Adam.zero_grad": -6 * MIB})  # fmt: skip
