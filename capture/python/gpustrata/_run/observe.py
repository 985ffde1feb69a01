"""PyTorch's own allocator, observed: libgpustrata_capture hears of each event as it happens, and keeps it or writes a journal.

What hears is observer.cpp, compiled against the PyTorch that is here: for released ones the package has it (observers/), else it
is compiled once, which needs a C++ compiler and CUDA's headers, and kept in TORCH_EXTENSIONS_DIR or the user's cache; its name
tells versions apart. Nothing of PyTorch is replaced, and PyTorch's own history is left to the program.
"""
from __future__ import annotations

import atexit
import ctypes
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Literal

from gpustrata._run import dump, files, history, told

__all__ = ["ToJournal", "begin", "end", "is_on", "take", "why_not"]

HOW = "observed in PyTorch's allocator"
_HERE = Path(__file__).resolve().parents[1]
_SOURCE = _HERE / "observer.cpp"
# The library's header: beside the package's modules in a wheel, in capture/ of a source tree.
_HEADERS = _HERE if (_HERE / "gpustrata.h").exists() else _HERE.parents[1]
_OBSERVERS = Path(os.environ.get("GPUSTRATA_OBSERVERS") or _HERE / "observers")  # compiled before: COMMIT.so
_SECONDS = 300  # for the compiler
_STACKS = {"none": 0, "python": 1, "native": 2, "all": 3}  # gpustrata_observed_stacks

_on: "Literal['', 'memory', 'journal']" = ""  # where events go
_allocator: Any = None  # a gpustrata_observable, once it is attached
_kept: Any = None       # the compiled library


# --- Compile


def _folder() -> Path:
    """Where compiled observers are kept: this user's alone. Failure: OSError."""
    named = os.environ.get("TORCH_EXTENSIONS_DIR")
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    for place in ([Path(named)] if named else []) + [Path(cache) / "gpustrata"]:
        try:
            place.mkdir(parents=True, exist_ok=True)
            if os.access(place, os.W_OK):
                return place
        except OSError:  # a home that takes nothing
            pass
    return Path(dump.folder())


def _command(torch: Any, target: str) -> list[str]:
    """Failure: RuntimeError in words."""
    from gpustrata import _companion

    root = Path(torch.__file__).resolve().parent
    headers = [str(root / "include"), str(root / "include/torch/csrc/api/include"), str(_HEADERS), *_companion._cuda_folders(torch)]
    return [os.environ.get("CXX", "c++"), "-std=c++2a", "-O2", "-fPIC", "-shared", "-w",
            f"-D_GLIBCXX_USE_CXX11_ABI={int(_cxx11_abi(torch))}",
            *[f"-I{one}" for one in headers], str(_SOURCE), f"-L{root / 'lib'}", "-lc10_cuda", "-ltorch_cpu", "-o", target]


def _build(torch: Any) -> str:
    """The path of the compiled observer. Failure: OSError, RuntimeError, subprocess.SubprocessError."""
    told_apart = [_SOURCE.read_bytes(), (_HEADERS / "gpustrata.h").read_bytes(), torch.__version__.encode(),
                  str(getattr(torch.version, "git_version", "")).encode(), os.fsencode(torch.__file__)]
    path = _folder() / f"gpustrata_observer_{hashlib.sha256(b'|'.join(told_apart)).hexdigest()[:16]}.so"
    if path.exists():
        return str(path)
    with open(f"{path}.lock", "w", encoding="utf-8") as lock:  # ranks of a host wait for the first
        fcntl.flock(lock, fcntl.LOCK_EX)
        if path.exists():
            return str(path)
        part = f"{path}.{os.getpid()}"
        command = _command(torch, part)
        told.say(f"compiling the observer for PyTorch {torch.__version__}, once")
        # What is preloaded into the program is not meant for the compiler.
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, env=environment)
        if done.returncode != 0:
            lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise RuntimeError(next((line for line in lines if "error" in line), (lines or ["the compiler says nothing"])[-1]))
        os.replace(part, path)
    return str(path)


def _cxx11_abi(torch: Any) -> bool:
    return bool(getattr(torch._C, "_GLIBCXX_USE_CXX11_ABI", True))


def _load(torch: Any) -> Any:
    """Failure: OSError, RuntimeError, subprocess.SubprocessError."""
    mode = getattr(os, "RTLD_NOW", 2)
    # The same commit of PyTorch, so the same structures; the version alone would not tell a build of someone's own.
    ready = _OBSERVERS / f"{getattr(torch.version, 'git_version', None)}.so"
    if ready.exists() and _cxx11_abi(torch):
        try:
            return ctypes.CDLL(str(ready), mode=mode)
        except OSError:  # a function is missing: it was changed all the same
            pass
    return ctypes.CDLL(_build(torch), mode=mode)


# --- Attach


def _learn_python(recorder: Any) -> None:
    """Where this Python keeps its frames: learnt with one stack, compared with another. Failure: CaptureError in words."""
    def called_from_c(_: int) -> None:
        recorder._call("gpustrata_learn_python")

    def deeper(number: int) -> None:
        return called_from_c(number) if number == 0 else deeper(number - 1)

    list(map(called_from_c, [0]))
    list(map(deeper, [3]))


def _attach(torch: Any, recorder: Any) -> Any:
    """Once a process. Failure: RuntimeError in words, OSError, subprocess.SubprocessError."""
    global _allocator, _kept
    if _allocator is not None:
        return _allocator
    if getattr(torch.version, "hip", None):
        raise RuntimeError("this PyTorch is built for ROCm")
    observer = _load(torch)
    observer.gpustrata_attach.restype = ctypes.c_char_p
    library = recorder._library()
    allocator = ctypes.c_void_p()
    problem = observer.gpustrata_attach(ctypes.cast(library.gpustrata_observed, ctypes.c_void_p),
                                        ctypes.cast(library.gpustrata_observed_region, ctypes.c_void_p),
                                        ctypes.byref(allocator))
    if problem:
        raise RuntimeError(problem.decode(errors="replace"))
    _kept, _allocator = observer, allocator
    # After every recording, which registers later: no stack is read of an interpreter that ends.
    atexit.register(end, torch)
    return allocator


def why_not(torch: Any, stacks: str, journal: bool) -> "str | None":
    """Makes ready what begin() needs; None, or in words why it cannot be."""
    from gpustrata import _recorder

    if _on and (journal or _on == "journal"):
        return "another recording observes it, and a journal has its events for itself"
    try:
        if stacks in ("python", "all"):
            _learn_python(_recorder)
        _attach(torch, _recorder)
    except (_recorder.CaptureError, RuntimeError, OSError, AttributeError, subprocess.SubprocessError) as error:
        return " ".join(str(error).split())[:300]
    return None


# --- Record


def begin(torch: Any, stacks: str, max_events: int) -> None:
    """Failure: CaptureError in words."""
    global _on
    from gpustrata import _recorder

    _recorder._call("gpustrata_observe", _attach(torch, _recorder), _STACKS[stacks], max_events)
    _on = "memory"


def end(_: Any) -> None:
    """Throws away what is in memory, closes a journal."""
    global _on
    if _on:
        _on = ""
        from gpustrata import _recorder

        _recorder._call("gpustrata_observe_end")


def is_on(_: Any) -> bool:
    return bool(_on)


class _Observation:
    """What was recorded, and the state that it led to, of one moment."""

    def __init__(self, recorder: Any) -> None:
        self._recorder = recorder
        self._taken = ctypes.c_void_p()
        recorder._call("gpustrata_observation_take", ctypes.byref(self._taken))
        self._library = recorder._library()  # which is there as long as this
        events, segments = [], []
        while self._library.gpustrata_observation_events(self._taken, len(events)) >= 0:
            segments.append(self._library.gpustrata_observation_segments(self._taken, len(events)))
            events.append(self._library.gpustrata_observation_events(self._taken, len(events)))
        self.devices = [device for device in range(len(events)) if events[device] or segments[device]]
        self.events = sum(events)
        self.is_cut = self._library.gpustrata_observation_lost(self._taken) > 0

    def __del__(self) -> None:
        if self._taken and sys is not None:
            self._library.gpustrata_observation_free(self._taken)

    def write(self, path: str) -> None:
        """Failure: OSError."""
        try:
            self._recorder._call("gpustrata_observation_write", self._taken, os.fsencode(path))
        except self._recorder.CaptureError as error:
            raise OSError(str(error)) from None


def take(torch: Any, max_events: int) -> files.Taken:
    """Events that do not lead to the state which PyTorch's allocator has are left out: a false one is worse than none."""
    from gpustrata import _recorder

    try:
        return _Observation(_recorder)
    except _recorder.CaptureError as error:
        told.say(f"only the state is in the file, without what was observed: {error}")
        return history.take(torch, max_events)


# --- A journal


class ToJournal:
    """In place of this module: what is observed goes to a file as it happens."""

    HOW = f"{HOW}, as they happened"

    def __init__(self, place: "Callable[[], str]", max_size: int) -> None:
        """`place`: gives the path when it begins. `max_size`: bytes; 0: the library's default."""
        self.path: "str | None" = None  # once it has begun
        self._place, self._max_size = place, max_size

    def begin(self, torch: Any, stacks: str, _: int) -> None:
        """Failure: CaptureError, OSError."""
        global _on
        from gpustrata import _recorder

        path = self._place()
        try:
            _recorder._call("gpustrata_observe_to_journal", _attach(torch, _recorder), _STACKS[stacks], os.fsencode(path),
                            self._max_size)
        except BaseException:
            if os.path.exists(path):
                os.unlink(path)
            raise
        self.path, _on = path, "journal"

    def is_on(self, torch: Any) -> bool:
        return is_on(torch)

    def end(self, torch: Any) -> None:
        end(torch)

    def take(self, _: Any, __: int) -> "_Copy":
        return _Copy(str(self.path))


class _Copy:
    """A journal at this moment. It may be copied while it grows: what comes meanwhile is not in the copy."""

    def __init__(self, path: str) -> None:
        from gpustrata import _recorder

        self._path = path
        library, events = _recorder._library(), []
        while library.gpustrata_observed_journal_events(len(events)) >= 0:
            events.append(library.gpustrata_observed_journal_events(len(events)))
        self.devices = [device for device, count in enumerate(events) if count]
        self.events = sum(events)
        self.is_cut = library.gpustrata_observed_journal_is_cut() != 0

    def write(self, path: str) -> None:
        """Failure: OSError."""
        shutil.copyfile(self._path, path)
