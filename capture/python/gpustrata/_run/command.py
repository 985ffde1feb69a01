"""gpustrata run: puts the options into the environment and the program in place of this process.

The program is begun as its user would begin it: its process id, sys.argv, sys.path, `__main__`, exit code, signals and
tracebacks are its own. Its Pythons, and those that they begin, find site/sitecustomize.py by PYTHONPATH.
"""
from __future__ import annotations

import dataclasses
import os
import shlex
import shutil
import subprocess
import sys

from gpustrata._run import driver, options, start

__all__ = ["main"]

_WRONG_USAGE = 1
_NOT_FOUND = 127  # as a shell
_SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "site")
_PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _failed(message: str, code: int = _WRONG_USAGE) -> int:
    print(f"gpustrata run: {message}", file=sys.stderr)
    return code


def _environment(chosen: options.Options) -> dict[str, str]:
    before = os.environ.get("PYTHONPATH")
    if not chosen.is_journal:  # these are of the driver's then
        stacks = "all" if chosen.stacks == "native" and not chosen.observe else chosen.stacks
        chosen = dataclasses.replace(chosen, max_size=None, stacks=stacks)
    return {**os.environ, start.OPTIONS: shlex.join(chosen.words()), start.FIRST: str(os.getpid()),
            "PYTHONPATH": _SITE + (os.pathsep + before if before else "")}


def _file_of(program: list[str]) -> str | None:
    """The program's file, if it is begun as it is; None: a Python begins it."""
    if program[:1] == ["--"]:
        return driver.of_command(program[1]) if program[1:] else None
    return program[0] if program and driver.is_program(program[0]) else None


def _is_python(path: str) -> bool:
    return any(os.path.basename(name).startswith("python") for name in (path, os.path.realpath(path)))


def _with_driver(chosen: options.Options, environment: dict[str, str], file: str | None) -> dict[str, str]:
    """Where the driver is to be recorded and can be."""
    reason = driver.why_not(file) if file is not None else None
    path = driver.library()
    if reason is None and path is None:
        reason = "libgpustrata_driver.so is not beside libgpustrata_capture.so"
    if reason is None and path is not None and any(one in path for one in " :"):
        reason = f"{path} has a space or a colon in its name, which LD_PRELOAD cannot have"
    if reason is not None or path is None:
        print(f"gpustrata: the driver is not recorded: {reason}", file=sys.stderr)
        return environment
    return driver.environment(chosen, environment, path, chosen.driver)


def interpreter_options() -> list[str]:
    """What stands between `python` and `-m gpustrata`: -u, -X dev, -W error, ..."""
    original = getattr(sys, "orig_argv", None)  # since 3.10
    if original is None:
        return list(subprocess._args_from_interpreter_flags())  # type: ignore[attr-defined]
    own = list(original[1:len(original) - len(sys.argv) + 1])
    if own[-2:-1] == ["-c"]:  # as the native command begins it
        return own[:-2]
    if own and own[-1] == "gpustrata":
        own.pop()
    elif own and own[-1].endswith("mgpustrata"):
        own[-1] = own[-1][:-len("gpustrata")]
    else:
        return list(subprocess._args_from_interpreter_flags())  # type: ignore[attr-defined]
    last = own.pop()[:-1]  # "-m", or several in one: "-um"
    return own if last in ("", "-") else [*own, last]


def _is_deaf() -> str | None:
    """Why Pythons begun with these options do not see the environment; None: they do."""
    if sys.flags.no_site:
        return "-S leaves out what begins the recording"
    if sys.flags.ignore_environment and not os.path.exists(os.path.join(_PACKAGES, "gpustrata.pth")):
        return "-E and -I leave out what begins the recording, where the package is not installed"
    return None


def main(words: list[str]) -> int:
    """Returns only if the program cannot be begun, or there is none: the exit code."""
    own, program = options.divided(words)
    if any(word in ("-h", "--help") for word in own):
        print(options.parser().format_help(), end="")
        return 0
    file = _file_of(program)
    has_driver = file is not None and driver.is_program(file) and not _is_python(file)
    try:
        chosen = options.of_words(own, has_journal=has_driver)
    except options.WrongUsage as error:
        return _failed(f"{error}; gpustrata run --help lists the options")
    if program in ([], ["--"], ["-m"]):
        return _failed("name a program: gpustrata run train.py, gpustrata run ./a.out, gpustrata run -m MODULE, "
                       "gpustrata run -- COMMAND")
    chosen = dataclasses.replace(chosen, output=os.path.join(os.getcwd(), os.path.expanduser(chosen.output)))
    environment = _environment(chosen)
    if has_driver or chosen.driver:
        environment = _with_driver(chosen, environment, file)
    sys.stdout.flush()
    if program[0] == "--":
        command = program[1:]
    elif file is not None:
        command = [os.path.join(".", file), *program[1:]]
    else:
        if not program[0].startswith("-m") and not os.path.exists(program[0]) and shutil.which(program[0]):
            return _failed(f"there is no file {program[0]}; a command has two dashes before it: "
                           f"gpustrata run -- {program[0]} ...")
        reason = _is_deaf()
        if reason:
            print(f"gpustrata: not recorded: {reason}", file=sys.stderr)
        command = [sys.executable, *interpreter_options(), *program]
    try:
        os.execvpe(command[0], command, environment)
    except OSError as error:
        return _failed(f"{command[0]}: {error.strerror}", _NOT_FOUND)
