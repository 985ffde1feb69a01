"""`gpustrata estimate`: a program, from its first line to its last, in an estimate."""
from __future__ import annotations

import argparse
import json
import os
import re
import runpy
import sys
import traceback
from typing import Any, NoReturn

from gpustrata._estimate import told
from gpustrata._estimate.estimate import Estimate, estimate
from gpustrata._estimate.operators import EstimateError

__all__ = ["main"]

_WRONG_USAGE, _FAILED = 1, 2


class _WrongUsage(ValueError):
    """In words."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _WrongUsage(message)


_TAKING_A_WORD = ("--device", "--conf", "--margin", "-o", "--output")


def _parser() -> _Parser:
    it = _Parser(prog="gpustrata estimate", allow_abbrev=False, add_help=False, formatter_class=argparse.RawDescriptionHelpFormatter,
                 usage="gpustrata estimate --device SIZE [OPTIONS] PROGRAM.py [ARGUMENTS...]\n"
                       "       gpustrata estimate --device SIZE [OPTIONS] -m MODULE [ARGUMENTS...]",
                 description="Estimates the memory of a PyTorch program without a GPU: its tensors have shapes and no values, and\n"
                             "what it would allocate runs through a simulated allocator. Needs PyTorch 2.8 or newer, and\n"
                             "no driver.")
    it.add_argument("--device", metavar="SIZE", help="memory of the device, as 80GiB")
    it.add_argument("--conf", default="", metavar="TEXT", help="settings as in PYTORCH_CUDA_ALLOC_CONF")
    it.add_argument("--margin", default="1GiB", metavar="SIZE",
                    help="what of the device PyTorch's allocator does not get: CUDA's context, other processes, what "
                         "kernels take inside (default: 1GiB)")
    it.add_argument("-o", "--output", metavar="FILE", help="write the snapshot to this file; it opens as any recording")
    it.add_argument("--whole", action="store_true", help="do not end the snapshot where the device is full")
    it.add_argument("--json", action="store_true", help="one JSON object on one line")
    it.add_argument("-h", "--help", action="store_true", help="show this and end")
    return it


def _divided(words: list[str]) -> tuple[list[str], list[str]]:
    """The options, and the program behind them: it begins with a name or -m."""
    index = 0
    while index < len(words) and words[index].startswith("-") and words[index] != "-" and not words[index].startswith("-m"):
        index += 2 if words[index] in _TAKING_A_WORD else 1
    return words[:index], words[index:]


def _device_behind(program: list[str]) -> tuple[str | None, list[str]]:
    """`train.py --device 80GiB`: a memory, with its unit, is not what a program means by --device. The program, without it."""
    for index, word in enumerate(program):
        name, equals, value = word.partition("=")
        taken = 1 if equals else 2
        if name == "--device" and re.fullmatch(r"[0-9.]+ ?[KMGT]i?B", value if equals else "".join(program[index + 1:index + 2])):
            return value if equals else program[index + 1], program[:index] + program[index + taken:]
    return None, program


def _failed(message: str, code: int = _WRONG_USAGE) -> int:
    print(f"gpustrata estimate: {message}", file=sys.stderr)
    return code


def _run(program: list[str]) -> None:
    """As `python PROGRAM` does it."""
    if program[0].startswith("-m"):
        name, arguments = (program[0][2:], program[1:]) if len(program[0]) > 2 else (program[1], program[2:])
        sys.argv = [name, *arguments]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    else:
        sys.argv = list(program)
        sys.path.insert(0, os.path.dirname(os.path.abspath(program[0])))
        runpy.run_path(program[0], run_name="__main__")


def _own_part(error: BaseException) -> Any:
    """The traceback from the program on."""
    trace = error.__traceback__
    while trace is not None and ("runpy" in trace.tb_frame.f_code.co_filename or trace.tb_frame.f_code.co_filename == __file__):
        trace = trace.tb_next
    return trace


def _finish(answer: Estimate, given: argparse.Namespace) -> int:
    if given.output:
        try:
            answer.save(given.output, whole=given.whole)
        except OSError as error:
            return _failed(f"{given.output}: {error.strerror}", _FAILED)
    sys.stdout.flush()
    if given.json:
        print(json.dumps(answer.summary(), separators=(",", ":"), ensure_ascii=False))
    elif given.output:
        print(told.answer(answer.summary(), given.output))
    else:
        answer.report()
    return 0


def main(words: list[str]) -> int:
    own, program = _divided(words)
    if any(word in ("-h", "--help") for word in own):
        print(_parser().format_help(), end="")
        return 0
    try:
        given = _parser().parse_args(own)
        if program in ([], ["-m"]):
            raise _WrongUsage("name a program: gpustrata estimate --device 80GiB train.py")
        if not program[0].startswith("-m") and not os.path.isfile(program[0]):
            raise _WrongUsage(f"there is no file {program[0]}")
        if given.device is None:
            given.device, program = _device_behind(program)
        if given.device is None:
            also = " Options come before the program; what follows it is the program's." if "--device" in program else ""
            raise _WrongUsage(f"name the memory of the device: gpustrata estimate --device 80GiB {program[0]}.{also}")
        answer = estimate(given.device, given.conf, margin=given.margin)
    except ValueError as error:
        return _failed(f"{error}" if not isinstance(error, _WrongUsage) else f"{error}; gpustrata estimate --help lists the options")
    code = 0
    try:
        with answer:
            try:
                _run(program)
            except SystemExit as ending:
                code = ending.code if isinstance(ending.code, int) else 0 if ending.code is None else 1
                if isinstance(ending.code, str):
                    print(ending.code, file=sys.stderr)
            except EstimateError as error:
                code = _failed(str(error), _FAILED)
            except BaseException as error:
                traceback.print_exception(type(error), error, _own_part(error))
                code = 1
    except ImportError as error:
        return _failed(str(error), _FAILED)
    if code:
        print("gpustrata estimate: the program ended early; the estimate is of what it did until then", file=sys.stderr)
    return _finish(answer, given) or code
