"""`gpustrata ops` of the made-up run that site/guide/negative.md explains: the numbers of the page, by hand."""
import unittest

from support.paths import PROFILERS
from support.snapshots import KIB, MIB
from support.tool import USAGE, answer, out_of

GAN = PROFILERS / "gan.json"


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

    def test_a_device_that_is_not_there_is_told(self):
        self.assertNotIn("There is no device", out_of("ops", GAN, "--device", "cuda:0"))
        self.assertIn("There is no device 7 in this file.", out_of("ops", GAN, "--device", "7", code=USAGE))

    def test_pytorchs_own_table_has_the_same_negatives(self):
        _, ops = self.ops("--mode", "pytorch")
        negative = {name: op["self_device_memory_usage"] for name, op in ops.items() if op["self_device_memory_usage"] < 0}
        self.assertEqual(negative, {"Generator.forward": -4 * MIB, "aten::binary_cross_entropy": -1536,
                                    "Optimizer.zero_grad#Adam.zero_grad": -6 * MIB})  # fmt: skip
