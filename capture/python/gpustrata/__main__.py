"""python -m gpustrata: the command. `run`, `dump` and `estimate` are here, all others are the program that comes with the package."""
from __future__ import annotations

import os
import signal
import sys


def main(words: list[str]) -> int:
    if words[:1] == ["run"]:
        from gpustrata._run import command

        return command.main(words[1:])
    if words[:1] == ["dump"]:
        from gpustrata._run import dump

        return dump.main(words[1:])
    if words[:1] == ["estimate"]:
        from gpustrata._estimate import command as estimating

        return estimating.main(words[1:])
    from gpustrata._command import find

    program = find()
    if program is None:
        print("gpustrata: the command is not here: install the package, build it "
              "(cmake --preset native-release && cmake --build --preset native-release), or put it into PATH", file=sys.stderr)
        return 1
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores: a program of its own does not
        signal.signal(number, signal.SIG_DFL)
    os.execv(program, ["gpustrata", *words])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
