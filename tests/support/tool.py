"""The command line tool, as a user runs it. GPUSTRATA_TOOL names another one than that of the optimised build."""
import json
import os
import shutil
import subprocess
from pathlib import Path

from support.paths import ROOT

SUCCESS, USAGE, UNREADABLE = 0, 1, 2


def found():
    path = Path(os.environ.get("GPUSTRATA_TOOL") or ROOT / "build" / "native-checked" / "bin" / "gpustrata").resolve()
    if not os.access(path, os.X_OK):
        raise FileNotFoundError(f"There is no command {path}. Build it (cmake --preset native-checked; cmake --build --preset "
                                "native-checked --target gpustrata), or name another one in GPUSTRATA_TOOL.")
    return str(path)


TOOL = found()
# A sanitizer's runtime that is in front of everything in Python is none for the command, which brings its own.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}

# In front of a command: root may read everything, without its capabilities it may what the owner of its files may.
WITHOUT_PRIVILEGES = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []


def needed(program, package):
    """The path of a program that a test needs beside the command; without it the test fails."""
    path = shutil.which(program)
    assert path, f"There is no {program} here: apt-get install {package}"
    return path


def run(*arguments, stdin=None, text=False, timeout=300, **options):
    """What one run of the command says. `stdin`: bytes, or a text with `text`; by default nothing."""
    if "stdout" not in options:
        options["capture_output"] = True
    return subprocess.run([TOOL, *map(str, arguments)], input=("" if text else b"") if stdin is None else stdin, text=text,
                          timeout=timeout, **{"env": ENVIRONMENT, **options})


def out_of(*arguments, code=SUCCESS, **options):
    """The text that it prints; the exit code must be `code`."""
    done = run(*arguments, text=True, **options)
    assert done.returncode == code, f"exit code {done.returncode} of {arguments}: {done.stdout}{done.stderr}"
    return done.stdout


def answers(*arguments, **options):
    """What it prints with --json, a value for each line."""
    return [json.loads(line) for line in out_of(*arguments, "--json", **options).splitlines()]


def answer(*arguments, **options):
    (only,) = answers(*arguments, **options)
    return only
