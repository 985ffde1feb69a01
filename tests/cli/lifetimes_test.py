"""Categories of a profiler's trace by when blocks live (engine/analysis/categories/category_rules.h): a step made by hand, with a block for each."""

from support.folders import InOneFolder
from support.tool import answer, out_of

FORWARD, BACKWARD = 1, 2  # threads

# (name, its category, size, (time, thread) of its allocation, of its free; None = none)
BLOCKS = [
    ("there before", "preexisting", 1 << 10, None, (5, FORWARD)),
    ("weight", "persistent", 1 << 11, (1, FORWARD), None),
    ("batch", "input", 1 << 12, (3, FORWARD), (95, FORWARD)),
    ("copy of no host", "other", 1 << 13, (25, FORWARD), (96, FORWARD)),
    ("saved", "activation", 1 << 14, (12, FORWARD), (45, BACKWARD)),
    ("inside of linear", "temporary", 1 << 15, (13, FORWARD), (14, FORWARD)),
    ("gradient", "gradient", 1 << 16, (42, BACKWARD), (82, FORWARD)),
    ("gradient that stays", "gradient", 1 << 17, (53, BACKWARD), None),
    ("from node to node", "backward_scratch", 1 << 18, (43, BACKWARD), (52, BACKWARD)),
    ("on the thread of the nodes", "backward_scratch", 1 << 19, (47, BACKWARD), (54, BACKWARD)),
    ("momentum", "optimizer_state", 1 << 20, (66, FORWARD), None),
    ("step", "optimizer_scratch", 1 << 21, (68, FORWARD), (72, FORWARD)),
    ("of the step, freed behind it", "other", 1 << 22, (69, FORWARD), (90, FORWARD)),
    ("late", "other", 1 << 23, (91, FORWARD), None),
    # A second step: another backward pass, whose thread saw nothing else.
    ("second saved", "activation", 1 << 24, (112, FORWARD), (126, BACKWARD)),
    ("second scratch", "backward_scratch", 1 << 25, (122, BACKWARD), (127, BACKWARD)),
]
SPANS = [  # (category, name, thread, begin, end)
    ("user_annotation", "ProfilerStep#0", FORWARD, 0, 100),
    ("cpu_op", "aten::to", FORWARD, 2, 8),
    ("cuda_runtime", "cudaMemcpyAsync", FORWARD, 6, 7),
    ("cpu_op", "aten::linear", FORWARD, 10, 20),
    ("cpu_op", "aten::addmm", FORWARD, 11, 19),
    ("cpu_op", "aten::to", FORWARD, 24, 28),  # copies nothing from the host
    ("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", BACKWARD, 40, 46),
    ("cpu_op", "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", BACKWARD, 50, 60),
    ("user_annotation", "Optimizer.step#SGD.step", FORWARD, 65, 75),
    ("cpu_op", "aten::empty", FORWARD, 66, 67),
    ("cpu_op", "aten::mul", FORWARD, 68, 70),
    ("cpu_op", "aten::add_", FORWARD, 71, 73),
    ("user_annotation", "Optimizer.zero_grad#SGD.zero_grad", FORWARD, 80, 85),
    ("user_annotation", "ProfilerStep#1", FORWARD, 100, 140),
    ("cpu_op", "aten::linear", FORWARD, 110, 115),
    ("cpu_op", "AddmmBackward", BACKWARD, 120, 125),  # as older versions name them
    ("cpu_op", "AccumulateGrad Backward", BACKWARD, 126, 130),
]


def trace():
    events = [{"ph": "X", "cat": cat, "name": name, "pid": 9, "tid": tid, "ts": begin, "dur": end - begin}
              for cat, name, tid, begin, end in SPANS]
    for number, (_, _, size, made, freed) in enumerate(BLOCKS):
        for sign, moment in ((1, made), (-1, freed)):
            if moment:
                events.append({"ph": "i", "name": "[memory]", "pid": 9, "tid": moment[1], "ts": moment[0],
                               "args": {"Addr": 4096 + number * (1 << 26), "Bytes": sign * size, "Device Type": 1, "Device Id": 0}})
    return {"traceEvents": events}


class Lifetimes(InOneFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path = cls.file(trace(), "trace.json")

    def bytes_of(self, category, event):
        (top,) = answer("top", self.path, "--filter", "category:" + category, "--at", event)["tops"]
        return top["requested_bytes"]

    def test_every_block_is_what_the_rules_say(self):
        moments = sorted(moment[0] for _, _, _, made, freed in BLOCKS for moment in (made, freed) if moment)
        categories = sorted({category for _, category, *_ in BLOCKS})
        for event in (-1, moments.index(13), moments.index(25), moments.index(53), moments.index(69), moments.index(122),
                      len(moments) - 1):
            at = -1 if event < 0 else moments[event]
            for category in categories:
                alive = sum(size for _, of, size, made, freed in BLOCKS
                            if of == category and (made is None or made[0] <= at) and (freed is None or freed[0] > at))
                with self.subTest(time=at, category=category):
                    self.assertEqual(self.bytes_of(category, event), alive)

    def test_they_are_named_as_what_they_are(self):
        text = out_of("report", self.path)
        self.assertIn("By lifetime: ", text)
        self.assertNotIn("a guess", text)
