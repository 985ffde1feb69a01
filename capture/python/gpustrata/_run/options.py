"""What is recorded and where it goes: the options of `gpustrata run`, also in GPUSTRATA_RUN and of gpustrata.record()."""
from __future__ import annotations

import argparse
import shlex
import signal
from dataclasses import dataclass
from typing import NoReturn

from gpustrata import _sizes

__all__ = ["Options", "WrongUsage", "divided", "of_text", "of_words", "parser"]

DEFAULT_OUTPUT = "gpustrata-{host}-rank{rank}-{device}.pickle"
# Beyond it the oldest are lost. An event with its Python stack takes about half a KB of the process's memory.
DEFAULT_EVENTS = 1_000_000
STACKS = ("python", "native", "all", "none")
JOURNAL = ".gpustrata"         # a file of this name is written as it happens
LEAST_SIZE = 1 << 20           # of a journal


class WrongUsage(ValueError):
    """In words."""


@dataclass(frozen=True)
class Options:
    output: str = DEFAULT_OUTPUT
    on_oom: bool = False            # a file only when memory runs out
    first_step: int = 0             # steps of the optimizer, counted from 0
    end_step: int | None = None     # the first that is not recorded; None: to the end of the program
    stacks: str = "python"
    max_events: int = DEFAULT_EVENTS
    observe: bool = False           # without PyTorch's history, where that can be
    max_size: int | None = None     # bytes of a journal; None: the library's, 256 MiB
    notify: str = ""                # a shell's command, when memory runs out
    dump_on_signal: str = ""        # of a run: "USR2"
    driver: bool = False            # also what Pythons take from the CUDA driver, in a journal of its own

    def words(self) -> list[str]:
        """The options that give the same again."""
        words = ["--output", self.output, "--stacks", self.stacks, "--max-events", str(self.max_events)]
        if self.has_steps():
            words += ["--steps", f"{self.first_step}:{'' if self.end_step is None else self.end_step}"]
        if self.max_size is not None:
            words += ["--max-size", str(self.max_size)]
        if self.notify:
            words += ["--notify", self.notify]
        if self.dump_on_signal:
            words += ["--dump-on-signal", self.dump_on_signal]
        flags = (("--on-oom", self.on_oom), ("--observe", self.observe), ("--driver", self.driver))
        return words + [name for name, is_on in flags if is_on]

    @property
    def is_journal(self) -> bool:
        """Observed, and written as it happens."""
        return self.output.endswith(JOURNAL)

    def has_steps(self) -> bool:
        return self.first_step > 0 or self.end_step is not None


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise WrongUsage(message)


def parser(output: str = "name of the files; {host}, {rank}, {device} and {pid} are those of the process. A file that "
           f"is there stays: the name gets a number (default: {DEFAULT_OUTPUT}). NAME{JOURNAL}: a journal, observed and written as "
           "it happens, which is whole if the process is killed") -> argparse.ArgumentParser:
    """`output`: what is said of the option."""
    it = _Parser(
        prog="gpustrata run", allow_abbrev=False, add_help=False, formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="gpustrata run [OPTIONS] PROGRAM.py [ARGUMENTS...]\n"
              "       gpustrata run [OPTIONS] -m MODULE [ARGUMENTS...]\n"
              "       gpustrata run [OPTIONS] PROGRAM [ARGUMENTS...]\n"
              "       gpustrata run [OPTIONS] -- COMMAND [ARGUMENTS...]",
        description="Runs a program and records what PyTorch's own allocator does, without a change to the program:\n"
                    "a file for each process that uses a device, and a report when memory runs out.\n"
                    "Of a program without Python, what it takes from the CUDA driver: a journal for each process.")
    it.add_argument("-o", "--output", default=DEFAULT_OUTPUT, metavar="FILE", help=output)
    it.add_argument("--on-oom", action="store_true", help="leave a file only when memory runs out")
    it.add_argument("--steps", metavar="FIRST:END", help="record only these steps of the optimizer: 3:6 is 3, 4 and 5, "
                                                         "counted from 0")
    it.add_argument("--stacks", choices=STACKS, default="python",
                    help="frames of each event; all: also C++ (PyTorch may take minutes to name them); native: C++ alone, with "
                         "--observe (default: python)")
    it.add_argument("--max-events", type=int, default=DEFAULT_EVENTS, metavar="N",
                    help=f"the newest events kept of each device (default: {DEFAULT_EVENTS})")
    it.add_argument("--observe", action="store_true",
                    help="hear of events in PyTorch's allocator instead of turning on its history: takes a fraction of the "
                         "time; for a PyTorch that the package brings no library for a small one is compiled, once. Where that cannot be "
                         "a line says why, and the history is used")
    it.add_argument("--driver", action="store_true",
                    help="in Pythons, too, record what is taken from the CUDA driver, by PyTorch's allocator and beside it: a "
                         f"journal of its own, NAME-driver{JOURNAL}")
    it.add_argument("--max-size", metavar="SIZE", help="of a journal, as 1GiB: its oldest events go (default: 256MiB)")
    it.add_argument("--notify", metavar="CMD", default="", help="run this by the shell when memory runs out: the report is its input, "
                                                                "and GPUSTRATA_SNAPSHOT the name of the file. The program does not wait for it")
    it.add_argument("--dump-on-signal", metavar="NAME", default="", help="this signal, as USR2, writes a snapshot, as gpustrata dump does")
    it.add_argument("-h", "--help", action="store_true", help="show this and end")
    return it


def divided(words: list[str]) -> tuple[list[str], list[str]]:
    """The options, and the program behind them: it begins with a name, -m or --."""
    taking_a_word = {"-o", "--output", "--steps", "--stacks", "--max-events", "--max-size", "--notify",
                     "--dump-on-signal"}
    index = 0
    while index < len(words) and words[index].startswith("-") and words[index] not in ("-", "--") \
            and not words[index].startswith("-m"):
        index += 2 if words[index] in taking_a_word else 1
    return words[:index], words[index:]


def steps_of(text: str | None) -> tuple[int, int | None]:
    """"3:6" as 3 and 6, "3:" as 3 and None."""
    if text is None:
        return 0, None
    first, colon, end = text.partition(":")
    if not colon or not (first.isdecimal() or not first) or not (end.isdecimal() or not end):
        raise WrongUsage(f"steps are FIRST:END, as 3:6, but they are {text!r}")
    steps = int(first or 0), int(end) if end else None
    if steps[1] is not None and steps[1] <= steps[0]:
        raise WrongUsage(f"there is no step in {text!r}: the second number is the first step that is not recorded")
    return steps


def size_of(size: int | str | None) -> int | None:
    try:
        return None if size is None else _sizes.bytes_of(size, "max_size")
    except (ValueError, TypeError) as error:
        raise WrongUsage(str(error)) from None


def signal_of(name: str) -> signal.Signals:
    """Of "USR2", "SIGUSR2"."""
    found = getattr(signal, name if name.startswith("SIG") else f"SIG{name}", None)
    if not isinstance(found, signal.Signals) or found in (signal.SIGKILL, signal.SIGSTOP):
        raise WrongUsage(f"{name!r} is no signal that a program can handle; USR2 is one")
    return found


def of_words(words: list[str], *, has_journal: bool = False) -> Options:
    """`has_journal`: there is one whatever the file is called. Failure: WrongUsage."""
    given = parser().parse_args(words)
    first, end = steps_of(given.steps)
    return checked(Options(given.output, given.on_oom, first, end, given.stacks, given.max_events, given.observe,
                           size_of(given.max_size), given.notify, given.dump_on_signal, given.driver), has_journal)


def checked(options: Options, has_journal: bool = False) -> Options:
    if not options.output or "\0" in options.output:
        raise WrongUsage(f"the name of the file is {options.output!r}")
    if options.stacks not in STACKS:
        raise WrongUsage(f"stacks are one of {', '.join(STACKS)}, but it is {options.stacks!r}")
    if options.stacks == "native" and not options.observe and not options.is_journal and not has_journal:
        raise WrongUsage("PyTorch's history has no C++ stacks without those of Python: native needs observe")
    if options.max_size is not None and not options.is_journal and not options.driver and not has_journal:
        raise WrongUsage(f"max_size is of a journal, but {options.output!r} does not end with {JOURNAL}")
    if options.max_size is not None and options.max_size < LEAST_SIZE:
        raise WrongUsage(f"a journal has 1 MiB or more, but max_size is {options.max_size}")
    if options.dump_on_signal:
        signal_of(options.dump_on_signal)
    if not 1 <= options.max_events < 2**63:
        raise WrongUsage(f"at least one event is kept, but max_events is {options.max_events}")
    return options


def of_text(text: str) -> Options:
    """Of GPUSTRATA_RUN. Failure: WrongUsage."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise WrongUsage(f"{text!r}: {error}") from None
    return of_words([] if words == ["1"] else words)
