#!/usr/bin/env python3
"""Random programs by a real PyTorch whose parameters, gradients, optimizer state and activations are known by data_ptr().

  category_programs.py SEED OUT.pickle     prints the truth as JSON

The truth: {"begins": where the recording begins, "optimizer", "moments": [{"what", "event": the last one before,
"bytes": {category: what is alive of it}}]}. An activation is what autograd saved, and no parameter: the batch, too.
What none of the tensors here has is not in it; null is what the program does not know, either. A fifth of the programs run
out of memory in their last backward pass. Odd ones out are planted: frozen layers, a teacher, an average of the weights, an optimizer that
replaces its state in each step. Runs over the made-up runtime with MADE_UP_KERNELS=nothing.
"""
import copy
import json
import random
import sys

import torch
import torch._dynamo  # an optimizer loads it: once for all
from torch.utils.checkpoint import checkpoint

from claim_programs import Layer
from leak_programs import Loss, Product, new

# Where a recording begins: in which step, before which part of it.
BEGINS = ("start", "step", "forward", "backward", "optimizer", "zero_grad")


class Replacing(torch.optim.Optimizer):
    """Adam as people write it: each step makes its state anew."""

    def __init__(self, parameters):
        super().__init__(parameters, {})

    def step(self):
        for parameter in (one for group in self.param_groups for one in group["params"]):
            if parameter.grad is None:
                continue
            state = self.state[parameter]
            first, second = state.get("first"), state.get("second")
            state["first"] = parameter.grad.mul(0.1) if first is None else first * 0.9 + parameter.grad * 0.1
            state["second"] = parameter.grad.mul(0.1) if second is None else second * 0.9 + parameter.grad ** 2


OPTIMIZERS = {
    "adam": lambda every: torch.optim.AdamW(every, lr=0.1, foreach=False),
    "adam_foreach": lambda every: torch.optim.AdamW(every, lr=0.1, foreach=True),
    "amsgrad": lambda every: torch.optim.Adam(every, lr=0.1, amsgrad=True, foreach=False),
    "momentum": lambda every: torch.optim.SGD(every, lr=0.1, momentum=0.9, foreach=False),
    "plain": lambda every: torch.optim.SGD(every, lr=0.1, foreach=False),
    "replacing": Replacing,
}


class Model(torch.nn.Module):
    def __init__(self, width, words, heads, layers):
        super().__init__()
        self.layers = torch.nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.head = torch.nn.Parameter(new(words, width))
        self.checkpoints = False

    def forward(self, x):
        for layer in self.layers:
            if self.checkpoints and torch.is_grad_enabled():
                x = checkpoint(layer, x, use_reentrant=False, preserve_rng_state=False)
            else:
                x = layer(x)
        return Product.apply(x, self.head)


class Known:
    def __init__(self, seed):
        rng = random.Random(seed)
        pick, chance = rng.choice, lambda share: rng.random() < share
        self.begins, self.optimizer_name = BEGINS[seed % len(BEGINS)], pick(sorted(OPTIMIZERS))
        self.width, self.words, self.heads = pick((256, 384, 512)), pick((1000, 4000)), pick((0, 4))
        self.count, self.batch, self.length = pick((2, 3, 5)), pick((1, 3, 8)), pick((64, 128, 256))
        self.steps, self.micro, self.begin_step = rng.randint(4, 6), pick((1, 1, 2)), rng.randint(1, 2)
        self.frozen, self.teacher, self.average = chance(0.25), chance(0.15), chance(0.15)
        self.checkpoints, self.clips, self.infers = chance(0.25), chance(0.3), chance(0.1)
        self.zeroes, self.zero_first = pick(("none", "none", "set", "by_hand")), chance(0.4)
        self.fails = seed % 5 == 4 and not self.infers
        self.moments, self.recording = [], False
        self.saved, self.input = {}, None

    def record(self, where, step):
        if self.recording or not (where == self.begins and step in (-1, self.begin_step)):
            return
        self.recording = True
        torch.cuda.memory._record_memory_history(max_entries=2_000_000, stacks="python")

    def of(self, tensors):
        return {one.untyped_storage().data_ptr(): one.untyped_storage().nbytes() for one in tensors if one is not None}

    def moment(self, what):
        if not self.recording:
            return
        trace = torch.cuda.memory._snapshot()["device_traces"][0]
        parameters = self.of([*self.model.parameters(), *(self.other.parameters() if self.other else ())])
        gradients = self.of(one.grad for one in self.model.parameters())
        states = [value for state in self.optimizer.state.values() for value in state.values()
                  if torch.is_tensor(value) and value.is_cuda] if self.optimizer else []
        activations = {at: size for at, size in self.saved.items() if at not in parameters}
        self.moments.append({"what": what, "event": len(trace) - 1, "bytes": {
            "parameter": sum(parameters.values()), "gradient": sum(gradients.values()),
            "optimizer_state": sum(self.of(states).values()),
            "activation": None if what == "failure" else sum(activations.values())}})  # autograd lets go of them one by one

    def pack(self, tensor):
        self.saved.update(self.of([tensor]))
        return tensor

    def zero(self):
        if self.zeroes == "by_hand":
            for one in self.model.parameters():
                one.grad = None
        else:
            self.optimizer.zero_grad(set_to_none=self.zeroes == "none")

    def step(self, step):
        self.record("step", step)
        if self.zero_first:
            self.zero()
        for micro in range(self.micro):
            self.input = new(self.batch, self.length, self.width).requires_grad_()
            if self.teacher:
                with torch.no_grad():
                    self.other(self.input)
            self.record("forward", step)
            self.saved = {}
            with torch.autograd.graph.saved_tensors_hooks(self.pack, lambda tensor: tensor):
                loss = Loss.apply(self.model(self.input))
            if micro == self.micro - 1:
                self.moment("forward")
            self.record("backward", step)
            if self.fails and step == self.steps - 1 and micro == self.micro - 1:
                self.no_more()
            loss.backward(new())
            self.saved, self.input.grad, loss = {}, None, None  # its graph holds the batch
        self.input = None
        self.moment("backward")
        if self.clips:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0, foreach=False)
        self.record("optimizer", step)
        self.optimizer.step()
        if self.average:
            for mine, one in zip(self.other.parameters(), self.model.parameters()):
                mine.detach().mul_(0.9).add_(one.detach(), alpha=0.1)
        self.moment("optimizer")
        self.record("zero_grad", step)
        if not self.zero_first:
            self.zero()
            self.moment("zero_grad")

    def no_more(self):
        """From here on the device gives nothing."""
        torch._C._cuda_attach_out_of_memory_observer(lambda *_: self.moment("failure"))
        torch.cuda.empty_cache()
        reserved, (_, total) = torch.cuda.memory_reserved(), torch.cuda.mem_get_info()
        torch.cuda.set_per_process_memory_fraction(reserved / total)

    def infer(self):
        self.model.requires_grad_(False)
        for step in range(self.steps):
            for where in ("step", "forward"):
                self.record(where, step)
            self.input = new(self.batch, self.length, self.width)
            self.model(self.input)
            self.moment("inference")
            self.input = None

    def run(self):
        self.record("start", -1)
        self.model = Model(self.width, self.words, self.heads, self.count)
        self.model.checkpoints = self.checkpoints
        self.other, self.optimizer = None, None
        if self.infers:
            return self.infer()
        if self.frozen:
            self.model.layers[: self.count // 2 + 1].requires_grad_(False)
        if self.teacher or self.average:
            self.other = copy.deepcopy(self.model)
            self.other.requires_grad_(False)
        self.optimizer = OPTIMIZERS[self.optimizer_name]([one for one in self.model.parameters() if one.requires_grad])
        for step in range(self.steps):
            self.step(step)


def run(seed, out):
    program = Known(seed)
    torch.cuda.init()
    try:
        program.run()
    except torch.OutOfMemoryError:
        assert program.fails
    if program.recording:
        torch.cuda.memory._dump_snapshot(out)
    return {"seed": seed, "begins": program.begins, "optimizer": program.optimizer_name, "moments": program.moments,
            **{name: getattr(program, name) for name in ("frozen", "teacher", "average", "checkpoints", "infers",
                                                         "zeroes", "zero_first", "micro", "fails")}}


if __name__ == "__main__":
    print(json.dumps(run(int(sys.argv[1]), sys.argv[2])))
