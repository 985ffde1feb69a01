"""Rows of torch_cases.py: what programs do with PyTorch, under the hooks and under the companion, against PyTorch itself."""
import json
import pathlib
import sys

from proof_table import FAILED, NOT_MEASURED, run_child

HERE = pathlib.Path(__file__).resolve().parent
# What the table of capture/README.md says, where it is not "ok": under PyTorch, the hooks, the companion.
OTHERWISE = {
    "out_of_memory": ("OutOfMemoryError", "RuntimeError", "OutOfMemoryError"),
    "convolution": ("ok", "RuntimeError", "ok"),
    "compile_reduce_overhead": ("ok", "RuntimeError", "ok"),
    "mem_pool": ("ok", "ok or RuntimeError", "ok"),  # 2.5.1 or 2.15
}
WORDS = {  # one row each for the hooks and the companion
    "graph": "a CUDA graph replayed beside eager code",
    "out_of_memory": "out of memory, caught and survived",
    "convolution": "convolution with cudnn.benchmark",
    "compile_default": "torch.compile",
    "compile_reduce_overhead": "torch.compile, reduce-overhead",
    "record_stream": "record_stream on side streams",
    "fork": "workers of a data loader are forked",
    "second_device": "copies to a second device, expandable segments",
    "exit_with_tensors": "the end of a process that holds tensors",
    "mem_pool": "MemPool()",
    "viewer": "_memory_viz.py reads the dump",
}
MODES = ("pytorch", "hooks", "companion")


def answer_of(answer):
    """(the object of the last line, "") or (None, why there is none)."""
    if answer.why:
        return None, answer.why
    try:
        told = json.loads(answer.last_line())
        return (told, "") if isinstance(told, dict) and "outcome" in told else (None, f"it said {answer.last_line()[:100]!r}")
    except ValueError:
        return None, f"it said {answer.last_line()[:100]!r}"


def judge(table, name, answers):
    """Two rows of three Answers, in the order of MODES. Where PyTorch itself cannot do it nothing is measured."""
    wanted = OTHERWISE.get(name, ("ok",) * 3)
    theirs, why = answer_of(answers[0])
    if theirs is None or theirs["outcome"] != wanted[0]:
        why = why or f"PyTorch itself: {theirs['outcome']}"
    for mode, outcome, answer in zip(MODES[1:], wanted[1:], answers[1:]):
        what = f"{WORDS[name]}, {mode}"
        if why:
            table.add(what, "", "", NOT_MEASURED, why)
            continue
        ours, broken = answer_of(answer)
        if ours is None:
            table.add(what, theirs["outcome"], "", FAILED, broken)
            continue
        same = ours.get("value") == theirs.get("value") or ours["outcome"] != "ok"
        table.add(what, theirs["outcome"], ours["outcome"] if same else f"another result: {ours.get('value')}",
                  same and ours["outcome"] in outcome.split(" or "))


def cases(table, names=WORDS, seconds=600):
    for name in names:
        judge(table, name, [run_child([sys.executable, HERE / "torch_cases.py", name, mode, table.folder], seconds)
                            for mode in MODES])
