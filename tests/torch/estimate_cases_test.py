#!/usr/bin/env python3
"""What people write inside gpustrata.estimate: it goes on, with the memory that it takes worked out by hand, or ends in a sentence.

  estimate_cases_test.py        with a PyTorch, without any runtime or device
"""
import copy
import io
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

import gpustrata
from gpustrata._estimate.operators import EstimateError

MIB = 1 << 20
HERE = os.path.basename(__file__)


def of(program, **more):
    """The estimate of a function."""
    with gpustrata.estimate(device="1TiB", margin=0, **more) as estimate:
        program()
    return estimate


def peak(program):
    return of(program).summary()["requested_peak_bytes"]


def line_of(text):
    """The first line of this file that has it."""
    lines = Path(__file__).read_text().splitlines()
    return f"{HERE}:{1 + next(i for i, line in enumerate(lines) if text in line)}"


class Bytes(unittest.TestCase):
    """1024 x 1024 numbers of float32 are 4 MiB."""

    def test_views_share_and_the_last_one_frees(self):
        def program():
            x = torch.empty(1024, 1024, device="cuda")
            y = x.view(-1)[10:]
            del x
            z = torch.empty(1024, 1024, device="cuda")
            del y
            del z
            torch.empty(1024, 1024, device="cuda")

        self.assertEqual(peak(program), 8 * MIB)

    def test_a_resized_storage(self):
        def program():
            x = torch.empty(1024, 1024, device="cuda")
            x.untyped_storage().resize_(0)
            torch.empty(1024, 1024, device="cuda")

        self.assertEqual(peak(program), 4 * MIB)

    def test_adamw_holds_five_numbers_a_parameter_in_its_step(self):
        # The parameter, its gradient, two of state, and the denominators of the foreach form.
        def program():
            model = nn.Linear(1024, 1024, bias=False, device="cuda")
            optimizer = torch.optim.AdamW(model.parameters())
            model(torch.empty(1, 1024, device="cuda")).sum().backward()
            optimizer.step()

        told = peak(program)
        self.assertGreaterEqual(told, 20 * MIB)
        self.assertLess(told, 20 * MIB + 32 * 1024)  # activations of one row

    def test_a_module_moved_to_the_device_is_there_once(self):
        for move in (lambda m: m.cuda(), lambda m: m.to("cuda"), lambda m: m.to(torch.device("cuda", 0)), lambda m: m.to("cuda").to("cuda")):
            self.assertEqual(peak(lambda: move(nn.Linear(1024, 1024, bias=False))), 4 * MIB)
        self.assertEqual(peak(lambda: nn.Linear(1024, 1024)), 0)  # the host's memory is none of the device's
        self.assertEqual(peak(lambda: nn.Linear(1024, 1024, device="meta")), 0)

    def test_one_copy_more_for_half_of_it(self):
        # .half() makes the copy before the parameter goes.
        self.assertEqual(peak(lambda: nn.Linear(1024, 1024, bias=False, device="cuda").half()), 6 * MIB)

    def test_autocast_casts_a_weight_once(self):
        # Input and weight in float32 (8 MiB), both cast (4), two products (4): the second cast of the weight is the kept one.
        def program():
            weight = torch.empty(1024, 1024, device="cuda", requires_grad=True)
            x = torch.empty(1024, 1024, device="cuda")
            with torch.autocast("cuda", torch.bfloat16):
                y = F.linear(F.linear(x, weight), weight)
            self.assertEqual(y.dtype, torch.bfloat16)

        estimate = of(program)
        self.assertEqual(sum(line.startswith("m ") for line in estimate.requests.lines), 6)
        self.assertEqual(estimate.summary()["requested_peak_bytes"], 16 * MIB)

    def test_gradients_are_summed_in_place_where_nobody_else_sees_them(self):
        # x, two products and their gradients are the program's; the sum of x's two gradients takes no third one.
        def program():
            x = torch.empty(1024, 1024, device="cuda", requires_grad=True)
            one, other = torch.empty(1024, 1024, device="cuda"), torch.empty(1024, 1024, device="cuda")
            (gradient,) = torch.autograd.grad([x @ one, x @ other], x, [one, other])
            del gradient

        adds = of(program).requests.lines
        # x, one, other, two products, two gradients.
        self.assertEqual(sum(line.startswith("m ") for line in adds), 7)

    def test_streams_have_pools_of_their_own(self):
        def program():
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                x = torch.empty(1024, 1024, device="cuda")
            x.record_stream(torch.cuda.current_stream())
            del x
            torch.empty(1024, 1024, device="cuda")

        told = of(program).summary()
        self.assertEqual((told["requested_peak_bytes"], told["reserved_peak_bytes"]), (4 * MIB, 40 * MIB))  # two segments of 20 MiB

    def test_loaders_with_workers(self):
        def program():
            for (x,) in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.zeros(64, 1024)), batch_size=16, num_workers=2,
                                                    pin_memory=True, shuffle=True):
                x.cuda()

        self.assertEqual(peak(program), 16 * 1024 * 4)  # one batch at a time

    def test_what_the_program_asks_is_answered(self):
        def program():
            x = torch.empty(1024, 1024, device="cuda")
            self.assertEqual((torch.cuda.memory_allocated(), torch.cuda.memory_reserved()), (4 * MIB, 20 * MIB))
            del x
            self.assertEqual((torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()), (0, 4 * MIB))
            torch.cuda.empty_cache()
            self.assertEqual(torch.cuda.memory_reserved(), 0)

        of(program)


class GoesOn(unittest.TestCase):
    def test_common_code(self):
        def moments():
            model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.ConvTranspose2d(8, 4, 2)).cuda()
            model = model.to(memory_format=torch.channels_last)
            model(torch.randn(2, 3, 16, 16, device="cuda")).mean().backward()
            average = copy.deepcopy(model)
            average.load_state_dict(model.state_dict())
            torch.save(model.state_dict(), io.BytesIO())

        def scaler():
            model = nn.Linear(8, 8).cuda()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            scale = torch.amp.GradScaler("cuda")
            with torch.autocast("cuda", torch.float16):
                loss = model(torch.randn(2, 8, device="cuda")).sum()
            scale.scale(loss).backward()
            scale.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scale.step(optimizer)
            scale.update()

        def values():
            x = torch.randn(3, device="cuda")
            text = f"{x.mean():.3f} {float(x[0])} {x.tolist()} {x.cpu().numpy()} {bool(x.sum() > 1)}"
            self.assertEqual(text, "0.000 0.0 [0.0, 0.0, 0.0] [0. 0. 0.] False")

        def recurrent():
            nn.LSTM(8, 16, 2, device="cuda")(torch.randn(5, 2, 8, device="cuda"))[0].sum().backward()
            nn.TransformerEncoderLayer(16, 2, device="cuda")(torch.randn(5, 2, 16, device="cuda")).sum().backward()

        def places():
            torch.set_default_device("cuda")
            try:
                self.assertTrue(torch.randn(3).is_cuda)
            finally:
                torch.set_default_device(None)
            with torch.device("meta"):
                model = nn.Linear(4, 4)
            self.assertTrue(model.weight.is_meta)
            self.assertTrue(model.to_empty(device="cuda").weight.is_cuda)
            self.assertEqual(torch.tensor(3.0, device="cuda").new_tensor([1.0]).device, torch.device("cuda", 0))
            torch.randn(3, generator=torch.Generator(device="cuda"), device="cuda")

        for program in (moments, scaler, values, recurrent, places):
            with self.subTest(program.__name__):
                of(program)

    def test_tensors_and_modules_made_before(self):
        model, x = nn.Linear(4, 4), torch.ones(2, 4)
        of(lambda: model.cuda()(x.cuda()).sum().backward())
        self.assertEqual(x.sum().item(), 8.0)  # as before

    def test_all_is_as_before_afterwards(self):
        before = torch.cuda.is_available(), torch.Tensor.to, torch.compile, torch.cuda.Stream, torch.save
        of(lambda: torch.empty(3, device="cuda"))
        with self.assertRaises(KeyError), gpustrata.estimate():
            raise KeyError
        self.assertEqual((torch.cuda.is_available(), torch.Tensor.to, torch.compile, torch.cuda.Stream, torch.save), before)
        self.assertEqual(F.dropout(torch.ones(3), 0.5, False).sum().item(), 3.0)


class IsSaid(unittest.TestCase):
    def test_values_that_nobody_knows(self):
        told = of(lambda: [torch.ones(3, device="cuda").sum().item() for _ in range(2)]).summary()  # here
        self.assertEqual(told["values_taken_as_0"], [{"operator": "item", "at": line_of("# here"), "times": 2}])

    def test_kernels_that_may_take_more(self):
        told = of(lambda: torch.empty(8, 8, device="cuda") @ torch.empty(8, 8, device="cuda")).summary()  # product
        self.assertEqual(told["memory_inside_unknown"], [{"operator": "mm", "at": line_of("# product"), "times": 1}])

    def test_what_does_not_fit_is_told_with_the_peak_of_all(self):
        with gpustrata.estimate(device=30 * MIB, margin=0) as estimate:
            x = torch.empty(16 * MIB, dtype=torch.uint8, device="cuda")
            y = torch.empty(16 * MIB, dtype=torch.uint8, device="cuda")  # too much
            z = torch.empty(16 * MIB, dtype=torch.uint8, device="cuda")
            del x, y, z
        told = estimate.summary()
        self.assertEqual((told["fits"], told["requested_peak_bytes"], told["fails_at"]), (False, 48 * MIB, line_of("# too much")))
        with tempfile.TemporaryDirectory() as folder:
            for whole, count, peak_bytes in ((False, 1, 16 * MIB), (True, 0, 48 * MIB)):
                path = os.path.join(folder, "e.pickle")
                estimate.save(path, whole=whole)
                with gpustrata.open(path) as file:
                    self.assertEqual(file.events().to_pydict()["action"].count("oom"), count)
                    self.assertEqual(file.summary()["snapshots"][0]["devices"][0]["peak"]["requested_bytes"], peak_bytes)

    def test_the_backward_pass_has_the_line_that_called_it(self):
        def program():
            x = torch.empty(1024, 1024, device="cuda", requires_grad=True)
            (x @ x).sum().backward()  # called

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "e.pickle")
            of(program).save(path)
            with gpustrata.open(path) as file:
                who = [one for one in file.stacks().to_pydict()["who"] if one]
                self.assertNotIn(None, file.events().to_pydict()["stack"])
        self.assertTrue(any(line_of("# called") in one for one in who), who)
        self.assertFalse(any("_estimate" in one or "fake_tensor" in one for one in who), who)


class IsRefused(unittest.TestCase):
    def refused(self, program, text):
        with self.assertRaisesRegex(EstimateError, f"^{HERE}:[0-9]+: .*{text}"):
            of(program)

    def test_sizes_that_depend_on_values(self):
        x = torch.ones(4)
        self.refused(lambda: x.cuda().nonzero(), "nonzero is depends on values")
        self.refused(lambda: x.cuda()[x.cuda() > 0], "depends on values")
        self.refused(lambda: torch.unique(x.cuda()), "depends on values")

    def test_others(self):
        self.refused(lambda: torch.compile(nn.Linear(2, 2)), "torch.compile")
        self.refused(lambda: nn.parallel.DistributedDataParallel(nn.Linear(2, 2)), "DistributedDataParallel")
        self.refused(lambda: torch.empty(3, device="cuda:1"), "one device")

    def test_an_operator_without_a_fake_kernel(self):
        @torch.library.custom_op("gpustrata_test::twice", mutates_args=())
        def twice(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        self.refused(lambda: twice(torch.ones(3, device="cuda")), "twice has no fake kernel")
        twice.register_fake(lambda x: torch.empty_like(x))
        self.assertEqual(peak(lambda: twice(torch.ones(3, device="cuda"))), 24)

    def test_nested_ones(self):
        with gpustrata.estimate() as outer:
            with self.assertRaisesRegex(RuntimeError, "not nested"), gpustrata.estimate():
                pass
            x = torch.empty(4, device="cuda")
            del x
        self.assertEqual(outer.summary()["requested_peak_bytes"], 16)
        with self.assertRaisesRegex(RuntimeError, "made once"), outer:
            pass


class Command(unittest.TestCase):
    def run_(self, text, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "train.py").write_text(textwrap.dedent(text))
            done = subprocess.run([sys.executable, "-m", "gpustrata", "estimate", "--device", "1GiB", "--margin", "0", *arguments, "train.py", "x"],
                                  cwd=folder, text=True, capture_output=True, check=False)
            return done, sorted(os.listdir(folder))

    def test_a_program(self):
        done, files = self.run_("""
            import sys, torch
            print(sys.argv, __name__)
            x = torch.empty(1 << 20, device="cuda")
        """, "-o", "e.pickle", "--json")
        self.assertEqual((done.returncode, files), (0, ["e.pickle", "train.py"]), done.stderr)
        first, last = done.stdout.splitlines()
        self.assertEqual(first, "['train.py', 'x'] __main__")
        self.assertIn('"requested_peak_bytes":4194304', last)

    def test_programs_that_end_early(self):
        for text, code, said in (("import sys\nsys.exit(3)", 3, ""), ("raise KeyError('wrong')", 1, "KeyError: 'wrong'"),
                                 ("import torch\ntorch.ones(3, device='cuda').nonzero()", 2, "train.py:2: how large")):
            done, _ = self.run_(text)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(said, done.stderr)
            self.assertIn("ended early", done.stderr)
            self.assertIn("Estimated without a GPU", done.stdout)


if __name__ == "__main__":
    unittest.main()
