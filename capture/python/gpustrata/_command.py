"""Where the `gpustrata` command is."""
from __future__ import annotations

import glob
import os
import shutil
import sys
import sysconfig

__all__ = ["find", "in_words"]

_HERE = os.path.dirname(os.path.abspath(__file__))


def find() -> str | None:
    """In GPUSTRATA_TOOL (a path); where an installer of this package put it; in the build folders of a checkout; in PATH."""
    named = os.environ.get("GPUSTRATA_TOOL")
    if named:
        return named
    packages = os.path.dirname(_HERE)
    places = [os.path.join(packages, "bin")]  # pip --target
    if os.path.basename(packages) in ("site-packages", "dist-packages"):
        places.append(os.path.abspath(os.path.join(packages, "..", "..", "..", "bin")))
    places += [os.path.dirname(sys.executable or ""), sysconfig.get_path("scripts")]
    if "posix_user" in sysconfig.get_scheme_names():
        places.append(sysconfig.get_path("scripts", "posix_user"))
    places += sorted(glob.glob(os.path.join(_HERE, "..", "..", "..", "build", "*", "bin")))
    for place in places:
        path = os.path.join(place, "gpustrata")
        if place and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return shutil.which("gpustrata")


def in_words() -> str:
    """What a person types to get it."""
    return "gpustrata" if shutil.which("gpustrata") else f"{os.path.basename(sys.executable or 'python3')} -m gpustrata"
