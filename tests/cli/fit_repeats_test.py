"""fit: programs that repeat something as often as a parameter says, recorded small and run large by the allocator itself."""
import pickle
import random

from support.folders import InAFolder
from support.paths import ROOT
from support.snapshots import KIB, MIB
from support.tool import USAGE, answer, out_of, run


class Program:
    """What one run asks for: a script of `gpustrata simulate`, and the line of code behind each of its steps."""

    def __init__(self):
        self.steps, self.lines, self.made = [], [], 0

    def new(self, line, size):
        self.made += 1
        self.steps.append(f"m b{self.made} {size}")
        self.lines.append(line)
        return f"b{self.made}"

    def free(self, *blocks):
        for block in blocks:
            self.steps.append(f"f {block}")
            self.lines.append(0)

    def empty_cache(self):
        self.steps.append("empty")
        self.lines.append(0)


def accumulation(micro, steps=2):
    """Weights of 8 MiB; each micro-batch an activation of 3 MiB, kept for its backward pass; the first makes the gradient, 8 MiB, to
    which others add one of their own; a loss of each is kept until the step's end."""
    program = Program()
    program.new(1, 8 * MIB)
    for _ in range(steps):
        gradient, losses = None, []
        for _ in range(micro):
            activation = program.new(10, 3 * MIB)
            losses.append(program.new(11, 4 * KIB))
            of_weights = program.new(12, 8 * MIB)
            program.free(activation)
            if gradient:
                program.free(of_weights)
            gradient = gradient or of_weights
        program.new(20, 8 * MIB)
        program.free(gradient, *losses)
    return program


def generation(tokens, batch=1):
    """A cache that each token makes anew, 64 KiB a token and sequence longer; 1 MiB of logits."""
    program = Program()
    program.new(1, 8 * MIB)
    for _ in range(2):
        cache = program.new(10, 64 * KIB * batch * 16)
        for token in range(tokens):
            longer = program.new(20, 64 * KIB * batch * (17 + token))
            program.free(cache)
            cache = longer
            program.free(program.new(21, MIB))
        program.free(program.new(30, 2 * MIB), cache)
    return program


def layers(count, batch=1):
    """Activations of layers are freed by the backward pass, the last first."""
    program = Program()
    for _ in range(count):
        program.new(1, 4 * MIB)
    for _ in range(2):
        saved = []
        for _ in range(count):
            saved.append(program.new(10, 2 * MIB * batch))
            program.free(program.new(11, 6 * MIB * batch))
        head = program.new(15, 5 * MIB * batch)
        for one in reversed(saved):
            of_input = program.new(20, 2 * MIB * batch)
            program.free(one, of_input)
        program.free(head)
        program.new(30, MIB)
    return program


class Random:
    """A program whose body is drawn: what each turn keeps, hands to the next, or leaves to the end."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.setup = [draw.randint(1, 40) * 256 * KIB for _ in range(draw.randint(1, 4))]
        self.body = []
        for _ in range(draw.randint(2, 12)):
            constant, by_batch, by_turn = draw.choice(((1, 0, 0), (0, 1, 0), (0, 1, 0), (2, 1, 0), (1, 0, 1)))
            unit = draw.randint(1, 4_000) * 512
            self.body.append((unit * constant, unit * by_batch, unit * by_turn, draw.choice(
                ("here", "here", "here", "next", "end", "first", "later"))))
        self.after = [draw.randint(1, 8) * MIB for _ in range(draw.randint(1, 10))]
        self.per, self.more = draw.choice((1, 1, 2)), draw.choice((0, 0, 1))
        self.empties = draw.random() < 0.2
        self.steps = draw.randint(1, 3)

    def turns(self, batch):
        return batch // self.per + self.more

    def at(self, batch):
        program = Program()
        for i, size in enumerate(self.setup):
            program.new(100 + i, size)
        for _ in range(self.steps):
            handed, at_end, lagging = [], [], []
            for turn in range(self.turns(batch)):
                here, next_handed = [], []
                for i, (constant, by_batch, by_turn, until) in enumerate(self.body):
                    block = program.new(200 + i, constant + by_batch * batch + by_turn * turn)
                    (here if until == "here" or (until == "first" and turn > 0) else next_handed if until == "next"
                     else at_end if until in ("end", "first") else lagging).append(block)
                    if i == len(self.body) // 2:
                        program.free(*handed)
                        while len(lagging) > 2:
                            program.free(lagging.pop(0))
                handed = next_handed
                program.free(*here)
                if self.empties:
                    program.empty_cache()
            held = [program.new(300 + i, size) for i, size in enumerate(self.after)]
            program.free(*handed, *at_end, *lagging, *held)
        return program


class Repeats(InAFolder):
    def recorded(self, name, program):
        path = self.folder / name
        script = self.file("\n".join(program.steps) + "\n", name + ".script")
        out_of("simulate", script, "--device", 1 << 40, "--dump", path)
        dump = pickle.loads(path.read_bytes())
        for event in dump["device_traces"][0]:
            event["frames"] = [{"name": "step", "filename": "train.py", "line": program.lines[frame["line"] - 1]}
                               for frame in event.get("frames", ())]
        path.write_bytes(pickle.dumps(dump))
        return path

    def true_peaks(self, program):
        stats = answer("simulate", self.file("\n".join(program.steps) + "\n", "true.script"), "--device", 1 << 40)["stats"]
        return stats["requested_bytes.all.peak"], stats["reserved_bytes.all.peak"]

    def files(self, make, name, values):
        return [f"{self.recorded(f'{name}{value}', make(value))}:{name}={value}" for value in values]

    def expect_to_the_byte(self, make, name, files, values, also_reserved=True):
        told = answer("fit", *files, *(f"--at={name}={value}" for value in values))
        for one, value in zip(told["at"], values, strict=True):
            requested, reserved = self.true_peaks(make(value))
            self.assertEqual(one["requested_peak_bytes"], requested, value)
            if also_reserved:
                self.assertEqual(one["reserved_peak_bytes"], reserved, value)
        return told

    def test_gradient_accumulation(self):
        told = self.expect_to_the_byte(accumulation, "batch", self.files(accumulation, "batch", (4, 8)), (4, 5, 8, 30))
        # The last of 30 in the second step: weights, what the first step left, gradient, its own gradient, activation, 30 losses.
        self.assertEqual(told["at"][3]["requested_peak_bytes"], (8 + 8 + 8 + 8 + 3) * MIB + 30 * 4 * KIB)
        self.assertEqual([(one["requests"], one["times"], one["grows"]) for one in told["repeats"]], 2 * [(3, [4, 8], "batch")])
        self.assertEqual(told["at"][3]["times"], [30, 30])
        self.assertFalse(told["exact"])  # by two recordings
        three = self.expect_to_the_byte(accumulation, "batch", self.files(accumulation, "batch", (3, 5, 9)), (40,))
        self.assertTrue(three["exact"])
        self.assertEqual([one["foretold_peak_bytes"] for one in three["recordings"]],
                         [one["requested_peak_bytes"] for one in three["recordings"]])

    def test_a_cache_that_each_token_makes_larger(self):
        told = self.expect_to_the_byte(generation, "tokens", self.files(generation, "tokens", (6, 10, 13)), (6, 13, 100, 400))
        # The last token's cache and the one before: 64 KiB of 416 and 415.
        self.assertEqual(told["at"][3]["requested_peak_bytes"], 8 * MIB + 64 * KIB * (416 + 415))

    def test_layers(self):
        self.expect_to_the_byte(layers, "layers", self.files(layers, "layers", (3, 5)), (3, 4, 24))

    def test_two_parameters(self):
        points = [(4, 1), (8, 1), (4, 3)]
        files = [f"{self.recorded(f't{tokens}b{batch}', generation(tokens, batch))}:tokens={tokens},batch={batch}"
                 for tokens, batch in points]
        told = answer("fit", *files, "--at", "tokens=50,batch=7")
        self.assertEqual((told["at"][0]["requested_peak_bytes"], told["at"][0]["reserved_peak_bytes"]),
                         self.true_peaks(generation(50, 7)))

    def test_the_largest_that_fits(self):
        files = self.files(accumulation, "batch", (4, 8))
        capacity = 64 * MIB
        told = answer("fit", *files, "--capacity", capacity)["largest_that_fits"]
        # Each loss takes 4 KiB of a segment of 2 MiB: with 40 MiB for the rest there is room for some thousands of them.
        fits = told["value"]

        def fails(batch):
            script = self.file("\n".join(accumulation(batch).steps) + "\n", "true.script")
            return answer("simulate", script, "--device", capacity)["stats"]["num_ooms"] > 0

        self.assertFalse(fails(fits))
        self.assertTrue(fails(fits + 1))

    def test_what_no_parameter_makes_larger_is_not_tried_without_end(self):
        def make(batch):
            program = Program()
            program.new(1, MIB)
            for _ in range(batch):
                program.free(program.new(10, MIB))
            program.new(20, MIB)
            return program

        told = answer("fit", *self.files(make, "batch", (4, 8)), "--capacity", "1GiB")["largest_that_fits"]
        self.assertEqual((told["at_least"], told["unbounded"]), (True, False))
        self.assertGreater(told["value"], 1_000_000)

    def test_numbers_that_are_not_whole_are_not_told(self):
        def make(batch):
            return accumulation(batch // 4)

        files = self.files(make, "batch", (8, 16, 32))
        self.expect_to_the_byte(make, "batch", files, (8, 12, 40))
        done = run("fit", *files, "--at", "batch=18", text=True)
        self.assertEqual((done.returncode, done.stdout), (USAGE, ""))
        self.assertIn("cannot be told at batch=18: train.py:10:step is repeated 2, 4, 8 times", done.stderr)
        told = answer("fit", *files, "--capacity", "44MiB")["largest_that_fits"]
        self.assertEqual((told["step"], told["value"] % 4), (4, 0))

    def test_a_real_generation_is_foretold_to_the_byte(self):
        # By PyTorch 2.15.0 (seed 8 of tests/torch/fit_programs.py), whose own counts at 60 tokens these are.
        files = [f"{ROOT}/tests/data/fit/tokens{tokens}.pickle.gz:tokens={tokens}" for tokens in (6, 9, 13)]
        told = answer("fit", *files, "--at", "tokens=60")
        self.assertEqual((told["at"][0]["requested_peak_bytes"], told["at"][0]["reserved_peak_bytes"]), (36_651_008, 48_234_496))
        self.assertTrue(told["exact"])
        self.assertEqual([(one["requests"], one["times"], one["grows"]) for one in told["repeats"]], 4 * [(12, [6, 9, 13], "tokens")])

    def test_what_no_rule_explains_is_refused(self):
        def uneven(batch):
            program = Program()
            for turn in range(batch):
                program.free(program.new(10, MIB * (turn * turn + 1)))
            program.new(20, MIB)
            return program

        def forgotten(batch):
            program, kept = Program(), []
            for turn in range(batch):
                kept.append(program.new(10, MIB))
                if turn % 3 == 2:
                    program.free(kept.pop(0))
            program.new(20, MIB)
            return program

        def sometimes(batch):
            return accumulation({4: 4, 8: 5, 16: 8}[batch])

        for make, values, said in ((uneven, (6, 12), "train.py:10:step"), (forgotten, (9, 18), "train.py:10:step"),
                                   (sometimes, (4, 8, 16), "4, 5, 8 times in the recordings")):
            with self.subTest(said, make=make.__name__):
                done = run("fit", *self.files(make, "batch", values), "--at", "batch=20", text=True)
                self.assertEqual((done.returncode, done.stdout), (USAGE, ""))
                self.assertIn("cannot be told", done.stderr)
                self.assertIn(said, done.stderr)

    def test_recordings_of_more_steps_repeat_nothing(self):
        files = [f"{self.recorded(f's{batch}', accumulation(3, steps))}:batch={batch}" for batch, steps in ((4, 2), (8, 4))]
        done = run("fit", *files, "--at", "batch=9", text=True)
        told = done.stderr if done.returncode else answer("fit", *files, "--at", "batch=9")
        if done.returncode:
            self.assertIn("Record as many steps", told)
        else:
            self.assertEqual((told["repeats"], told["requests"]["left_out"]), ([], 20))

    def test_random_programs(self):
        exact = 0
        for seed in range(60):
            with self.subTest(seed=seed):
                program = Random(seed)
                files = self.files(program.at, "batch", (4, 8, 12) if seed % 2 else (6, 14))
                done = run("fit", *files, "--at", "batch=10", text=True)
                if done.returncode:
                    self.assertIn("cannot be told", done.stderr)
                    continue
                # A flush that finds nothing leaves no trace, and may find something at another size.
                self.expect_to_the_byte(program.at, "batch", files, (8, 14, 40), not program.empties)
                exact += 1
        self.assertGreater(exact, 45)
