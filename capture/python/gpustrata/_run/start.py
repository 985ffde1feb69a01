"""The first thing that a Python of a run does: wait until PyTorch is imported.

GPUSTRATA_RUN holds the options as on the command line; "" and "1" are all defaults, "0" is off. Nothing is imported here that
Python has not imported already: most processes of a run never see a device.
"""
from __future__ import annotations

import atexit
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

OPTIONS = "GPUSTRATA_RUN"
FIRST = "GPUSTRATA_RUN_FIRST"  # id of the first process of the run, which says when there was nothing to record
folder = ""  # where the process began: relative names of files are meant from there
_begun = False


def begin() -> None:
    """Does nothing without GPUSTRATA_RUN, and the second time."""
    global _begun, folder
    text = os.environ.get(OPTIONS, "0")
    if _begun or text.strip() == "0":
        return
    _begun = True
    try:
        folder = os.getcwd()
    except OSError:  # it is gone
        folder = "/"
    own = str(os.getpid())
    if os.environ.setdefault(FIRST, own) == own:
        atexit.register(_say_if_nothing)
    if "torch" in sys.modules:
        _record(sys.modules["torch"])
    else:
        sys.meta_path.insert(0, _UntilTorch())


class _UntilTorch:
    """Finds nothing itself: lets the others find PyTorch, and is told when it has been imported."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "torch":
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, self)  # type: ignore[assignment]
                return spec
        return None


class _Loader:
    """PyTorch's own loader until it runs; then the module has that one, and no trace of this."""

    def __init__(self, loader: Any, finder: _UntilTorch) -> None:
        self._loader, self._finder = loader, finder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        found: ModuleType | None = self._loader.create_module(spec)
        return found

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        try:
            self._loader.exec_module(module)
        except BaseException:
            sys.meta_path.insert(0, self._finder)  # the program may try again
            raise
        _record(module)


def _record(torch: ModuleType) -> None:
    try:
        from gpustrata._run import recording

        recording.of_process(torch)
    except Exception as error:  # the program goes on
        print(f"gpustrata: not recorded: {type(error).__name__}: {error}", file=sys.stderr)


def _say_if_nothing() -> None:
    """At the end of the first process only: workers of loaders and launchers use no device either."""
    if os.environ.get(FIRST) != str(os.getpid()):  # a child by fork
        return
    if "torch" not in sys.modules:
        print("gpustrata: nothing was recorded in this process: it did not import PyTorch", file=sys.stderr)
        return
    if "gpustrata._run.recording" in sys.modules:
        from gpustrata._run import recording

        recording.say_if_nothing()
