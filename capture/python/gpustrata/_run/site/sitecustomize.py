"""Imported by each Python of a `gpustrata run`, which names this folder first in PYTHONPATH. It begins the recording, and
hands over to the `sitecustomize` that this one stands in front of: the module path is as without it, and where there is no
other one the name stays unknown."""
import os
import sys


def _begin() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [place for place in sys.path if os.path.abspath(place or ".") != here]
    packages = os.path.dirname(os.path.dirname(os.path.dirname(here)))
    # Where the package is not installed for this Python it comes from where the command is.
    sys.path.insert(0, packages)
    try:
        from gpustrata._run import start
    finally:
        sys.path.remove(packages)
    start.begin()


try:
    _begin()
except Exception as error:  # the program goes on
    print(f"gpustrata: not recorded: {type(error).__name__}: {error}", file=sys.stderr)
del sys.modules["sitecustomize"]
import sitecustomize  # type: ignore[import-not-found] # noqa: E402,F401  Python expects it to fail where there is none
