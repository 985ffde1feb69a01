"""fit: small programs recorded at several sizes, with numbers worked out by hand; what is refused."""
import gzip
import pickle
from pathlib import Path

from support.folders import InAFolder
from support.paths import ROOT
from support.snapshots import GIB, KIB, MIB
from support.tool import USAGE, answer, out_of, run

# Weights, an activation of 3 MiB for each of a batch, its gradient; the state of an optimizer.
PROGRAM = """m weight {weight}
m input {input}
m scores {scores}
m gradient {input}
f scores
f gradient
f input
m state {weight}
"""


def sizes(batch):
    return {"weight": 40 * MIB, "input": 3 * MIB * batch, "scores": 64 * KIB * batch * batch}


class Fit(InAFolder):
    def recorded(self, name, script, device=1 << 40, edit=None, **numbers):
        """A script run by the allocator itself; its stacks are the steps without their sizes."""
        path = self.folder / name
        lines = self.file(script.format(**numbers), name + ".script")
        out_of("simulate", lines, "--device", device, "--dump", path)
        dump = pickle.loads(path.read_bytes())
        for event in dump["device_traces"][0]:
            for frame in event.get("frames", ()):
                frame["name"], frame["filename"] = " ".join(frame["name"].split()[:2]), "train.py"
        if edit:
            edit(dump)
        path.write_bytes(pickle.dumps(dump))
        return path

    def of_batch(self, batch, script=PROGRAM, **options):
        return f"{self.recorded(f'b{batch}', script, **sizes(batch), **options)}:batch={batch}"

    def refused(self, *arguments):
        done = run("fit", *arguments, text=True)
        self.assertEqual((done.returncode, done.stdout), (USAGE, ""))
        return done.stderr

    def test_the_peak_is_foretold(self):
        told = answer("fit", self.of_batch(4), self.of_batch(8), "--at", "batch=4", "--at", "batch=10")
        # weight, input, scores, gradient at batch 10: 40 + 30 + 6.25 + 30 MiB. Each has a segment of its own, of whole 2 MiB: of
        # scores, below 10 MiB, one of 20 MiB. Then no free one is large enough for state, 40 MiB.
        four, ten = told["at"]
        self.assertEqual(ten["requested_peak_bytes"], 106.25 * MIB)
        self.assertEqual(ten["reserved_peak_bytes"], (40 + 30 + 20 + 30 + 40) * MIB)
        self.assertEqual(four["requested_peak_bytes"], (40 + 40) * MIB)  # weight and state: more than 40 + 12 + 1 + 12
        self.assertIsNone(ten["fits"])
        self.assertTrue(told["exact"])
        self.assertEqual(told["requests"]["confirmed"], 5)
        self.assertEqual([(term["grows"], term["bytes"]) for term in told["terms"]],
                         [("constant", 40 * MIB), ("batch", 30 * MIB), ("batch", 30 * MIB), ("batch^2", 6.25 * MIB)])

    def test_a_real_run_is_foretold_to_the_byte(self):
        # A training program (seed 2 of tests/torch/fit_programs.py) by PyTorch 2.8.0, whose own counts these are.
        two, four = (f"{ROOT}/tests/data/fit/batch{batch}.pickle.gz:batch={batch}" for batch in (2, 4))
        told = answer("fit", two, four, "--at", "batch=16")
        self.assertEqual((told["at"][0]["requested_peak_bytes"], told["at"][0]["reserved_peak_bytes"]),
                         (106_000_388, 125_829_120))

    def test_a_guess_from_one_recording(self):
        # The same program: what its blocks are for tells what grows. The truth lies between the ends.
        path = f"{ROOT}/tests/data/fit/batch4.pickle.gz"
        told = answer("fit", path, "--scale", "batch=4", "--at", "batch=16", "--at", "batch=4")
        guessed, same = told["at"]
        self.assertLessEqual(guessed["low"]["requested_peak_bytes"], 106_000_388)
        self.assertGreaterEqual(guessed["high"]["requested_peak_bytes"], 106_000_388)
        # At its own size it gives itself back: 35,516,420 bytes, as `top` counts them.
        self.assertEqual({same[end]["requested_peak_bytes"] for end in ("low", "high")}, {35_516_420})
        self.assertFalse(told["exact"])
        self.assertEqual(told["guessed"]["grow"] + told["guessed"]["stay"] + told["guessed"]["unknown"], 207)
        text = out_of("fit", path, "--scale", "batch=4", "--at", "batch=16")
        self.assertIn("This is a guess from one recording", text)

    def test_a_guess_from_a_run_that_failed_is_a_lower_bound(self):
        path = f"{ROOT}/site/samples/out_of_memory.pickle.gz"
        told = answer("fit", path, "--scale", "batch=8", "--at", "batch=8", "--at", "batch=1", "--at", "batch=16", "--capacity", "6GiB")
        self.assertFalse(told["complete"])
        self.assertEqual([one["fits"] for one in told["at"]], [False, None, False])
        self.assertIn("every peak is a lower bound", " ".join(out_of(
            "fit", path, "--scale", "batch=8", "--at", "batch=16").split()))

    def test_a_guess_that_nothing_supports_is_refused(self):
        # Stacks that say nothing of what a block is for.
        path = self.of_batch(4).rsplit(":", 1)[0]
        self.assertIn("cannot be told from batch=4 alone", self.refused(path, "--scale", "batch=4", "--at", "batch=9"))
        for arguments, said in (
                ([path, path, "--scale", "batch=4", "--at", "batch=9"], "from one recording"),
                ([path, "--scale", "batch=4,seq=8", "--at", "batch=9"], "the one parameter"),
                ([path, "--scale", "batch=0", "--at", "batch=9"], "the one parameter"),
                ([path, "--scale", "batch=4", "--at", "seq=9"], "no parameter seq"),
                ([path, "--scale", "batch=4"], "--at batch=16, --capacity")):
            with self.subTest(said):
                self.assertIn(said, self.refused(*arguments))

    def test_the_largest_that_fits(self):
        # 128 MiB: 40 + 3 b + 20 + 3 b, whole 2 MiB each: at 11 34 + 34, 128 in all; at 12 36 + 36, 4 MiB too much. Then weight and
        # state, 80 MiB: all else is given back first.
        told = answer("fit", self.of_batch(4), self.of_batch(8), "--capacity", "128MiB")
        self.assertEqual((told["largest"], told["largest_that_fits"]["value"]), (11, 11))
        self.assertEqual(told["largest_that_fits"]["next_failure"],
                         {"requested_bytes": 36 * MIB, "who": "m gradient train.py:4"})
        text = out_of("fit", self.of_batch(4), self.of_batch(8), "--capacity", "128MiB")
        self.assertTrue(text.startswith("batch 11 fits 128.0 MiB ("), text)
        words = " ".join(text.split())
        self.assertIn(told["answer"], words)
        self.assertIn(f"How sure {told['sure']} No recording is left", words)

    def test_two_parameters(self):
        script = "m scores {scores}\nm table {table}\n"
        points = [(2, 128), (4, 128), (2, 300)]
        files = [f"{self.recorded(f'b{batch}l{length}', script, scores=batch * length**2 * 4, table=length * 999)}"
                 f":batch={batch},seq={length}" for batch, length in points]
        told = answer("fit", *files, "--at", "batch=7,seq=1000")
        self.assertEqual(told["at"][0]["requested_peak_bytes"], 7 * 1000**2 * 4 + 999_000)
        self.assertEqual([term["grows"] for term in told["terms"]], ["batch*seq^2", "seq"])

    def test_a_recording_is_left_out_to_check_it(self):
        files = [self.of_batch(batch) for batch in (2, 4, 8)]
        told = answer("fit", *files, "--at", "batch=16")
        self.assertEqual([one["foretold_peak_bytes"] for one in told["recordings"]],
                         [one["requested_peak_bytes"] for one in told["recordings"]])
        self.assertIn("batch=8: to the byte", out_of("fit", *files, "--at", "batch=16"))

    def test_a_request_that_one_recording_does_not_have_is_not_explained(self):
        scratch = PROGRAM.replace("m gradient", "m scratch 1000000\nf scratch\nm gradient")
        def numbered(dump):
            for event in dump["device_traces"][0]:
                for frame in event.get("frames", ()):
                    number = {"m weight": 1, "m input": 2, "m scores": 3, "m gradient": 4, "f scores": 5, "f gradient": 6,
                              "f input": 7, "m state": 8}
                    frame["line"] = number.get(frame["name"], 99)

        told = answer("fit", self.of_batch(4, edit=numbered), self.of_batch(8, scratch, edit=numbered), "--at", "batch=16")
        self.assertEqual((told["requests"]["unmatched"], told["requests"]["unexplained"]), (1, 1))
        self.assertEqual(told["unexplained"][0]["recorded_bytes"], [0, 1000000])
        self.assertFalse(told["exact"])

    def test_other_programs_are_refused_with_the_first_request_that_differs(self):
        other = PROGRAM.replace("scores", "hidden")
        said = self.refused(self.of_batch(4), f"{self.recorded('o', other.replace('{hidden}', '7'), **sizes(8))}:batch=8",
                            "--at", "batch=9")
        self.assertIn("not of one program", said)
        self.assertIn("batch=4 asks for 1048576 bytes by way of train.py:3:m scores, but batch=8 asks for 7 bytes", said)

    def test_what_is_refused(self):
        four, eight = self.of_batch(4), self.of_batch(8)
        path = four.rsplit(":", 1)[0]
        failed = self.recorded("failed", PROGRAM.split("f scores")[0], device=100 * MIB, **sizes(16))
        for arguments, said in (
                ([four, "--at", "batch=9"], "2 to 16 recordings"),
                ([four, path, "--at", "batch=9"], "a file, a colon"),
                ([four, path + ":batch=0", "--at", "batch=9"], "a file, a colon"),
                ([four, path + ":batch=-8", "--at", "batch=9"], "a file, a colon"),
                ([four, path + ":batch=99999999999999999999", "--at", "batch=9"], "a file, a colon"),
                ([four, eight, "--at", "batch=-1"], "whole numbers from 1"),
                ([four, eight, "--at", "batch=2147483649"], "whole numbers from 1"),
                ([four, path + ":batch=4", "--at", "batch=9"], "two recordings are of batch=4"),
                ([four, path + ":batch=5,batch=6", "--at", "batch=9"], "batch is given twice"),
                ([path + ":batch=5,batch=6", four, "--at", "batch=9"], "batch is given twice"),
                ([four, path + ":seq=5", "--at", "batch=9"], "no parameter seq"),
                ([four + ",seq=5", eight + ",seq=5", "--at", "batch=9,seq=7"], "seq is 5 in every recording"),
                ([four + ",seq=5", eight + ",seq=10", "--at", "batch=9,seq=7"], "grow together"),
                ([four, eight], "--at batch=16, --capacity"),
                ([four, eight, "--at", "batch=2147483648"], "no device has so many"),
                ([four, eight, "--at", "batch=9", "--conf", "nonsense:1"], "nonsense"),
                ([four, f"{failed}:batch=16", "--at", "batch=20"], "ends at a request that failed")):
            with self.subTest(said):
                self.assertIn(said, self.refused(*arguments))

    def test_files_that_say_too_little_or_too_much(self):
        four = f"{ROOT}/tests/data/fit/batch4.pickle.gz"
        dump = pickle.loads(gzip.decompress(Path(four).read_bytes()))
        first = next(event for event in dump["device_traces"][0] if event["action"] == "alloc")
        first["size"] = 1 << 62
        huge = self.folder / "huge"
        huge.write_bytes(pickle.dumps(dump))
        cut = self.folder / "cut"
        cut.write_bytes(gzip.decompress(Path(four).read_bytes())[:5000])
        none = f"{ROOT}/tests/golden/torch_snapshot/no_traces/input.pickle"
        two = f"{ROOT}/tests/data/fit/batch2.pickle.gz:batch=2"
        for path, said in ((huge, "beyond 2^60 bytes"), (cut, "is damaged or ends too early"), (none, "has no history")):
            with self.subTest(said):
                done = run("fit", two, f"{path}:batch=4", "--at", "batch=9", text=True)
                self.assertEqual((done.returncode != 0, done.stdout), (True, ""))
                self.assertIn(said, done.stderr)

    def test_a_longer_recording_counts_as_far_as_the_shorter_one(self):
        told = answer("fit", self.of_batch(4), self.of_batch(8, PROGRAM + "f state\nm more 5\n"), "--at", "batch=10")
        self.assertEqual((told["requests"]["left_out"], told["at"][0]["requested_peak_bytes"]), (1, 106.25 * MIB))
        higher = PROGRAM + f"m more {GIB}\n"
        self.assertIn("has its peak among them", self.refused(self.of_batch(4), self.of_batch(8, higher), "--at", "batch=9"))
