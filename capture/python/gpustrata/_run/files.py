"""Names of the files of a recording, and how they are written: whole or not at all, and never over another's."""
from __future__ import annotations

import gc
import os
import sys
import tempfile
from contextlib import contextmanager
from typing import Any, Iterator, Protocol

__all__ = ["Taken", "filled", "moved", "place", "rank_of_process", "without_collector", "write"]

_MOST_NUMBERS = 100_000


def rank_of_process(torch: Any) -> str | None:
    """The rank as PyTorch or the launcher tells it; None: nobody does."""
    distributed = getattr(torch, "distributed", None)
    try:
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            return str(distributed.get_rank())
    except Exception:  # a group that is being destroyed
        pass
    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
        if os.environ.get(name, "").isdigit():
            return os.environ[name]
    return None


def rank_in_words(rank: str | None) -> str:
    """A program alone is rank 0; of a process that another one of Python began it is not known."""
    if rank is not None:
        return rank
    multiprocessing = sys.modules.get("multiprocessing")
    parent = getattr(multiprocessing, "parent_process", lambda: None)()
    return "0" if parent is None else "unknown"


class Taken(Protocol):
    """What was recorded up to a moment, and is to be written."""

    devices: "list[int]"  # those that the process used
    events: int           # of all devices
    is_cut: bool          # older ones may be lost

    def write(self, path: str) -> None:
        """Failure: OSError."""


def filled(pattern: str, devices: "list[int] | None", rank: str) -> str:
    """The pattern with the fields of this process; devices that are not known yet are "cuda". Other braces stay."""
    device = "nodevice" if devices == [] else "cuda" + "+".join(str(one) for one in devices or ())
    host = os.uname().nodename.partition(".")[0].replace("/", "_") or "localhost"
    for field, value in (("host", host), ("rank", rank), ("device", device), ("pid", str(os.getpid()))):
        pattern = pattern.replace("{" + field + "}", value)
    return pattern


def beside(path: str, suffix: str) -> str:
    """run.pickle and "-oom": run-oom.pickle."""
    stem, extension = os.path.splitext(path)
    return stem + suffix + extension


@contextmanager
def without_collector() -> Iterator[None]:
    """Making a million dicts makes the collector look at all of them again and again: two thirds of the time."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def write(taken: Taken, path: str, replace: bool) -> str:
    """The path that it has now. `replace`: what is there goes; else the name gets the first number that is free.

    Where the folder takes nothing the file goes to the system's folder for temporary ones. Failure: OSError.
    """
    try:
        return _write(taken, path, replace)
    except OSError:
        elsewhere = os.path.join(tempfile.gettempdir(), os.path.basename(path))
        if os.path.abspath(elsewhere) == os.path.abspath(path):
            raise
        try:
            return _write(taken, elsewhere, replace=False)
        except OSError:
            pass
        raise  # why it did not go where it was meant to


def _write(taken: Taken, path: str, replace: bool) -> str:
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    part = f"{path}.{os.getpid()}.part"
    try:
        taken.write(part)
        if not replace:
            path = _taken(path)
        os.replace(part, path)
        return path
    except BaseException:
        try:
            os.unlink(part)
        except OSError:
            pass
        raise


def place(path: str, replace: bool) -> str:
    """A path for a file that is begun now, in the folder for temporary ones where its own takes nothing; it is there, and empty,
    unless `replace`. Failure: OSError."""
    folder = os.path.dirname(path) or "."
    try:
        os.makedirs(folder, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(f"{folder} takes no files")
    except OSError:
        path, replace = os.path.join(tempfile.gettempdir(), os.path.basename(path)), False
    return path if replace else _taken(path)


def moved(path: str, name: str, replace: bool) -> str:
    """The path of a file that gets another name where it is. Failure: OSError."""
    wanted = os.path.join(os.path.dirname(path), name)
    if not replace:
        wanted = _taken(wanted)
    os.replace(path, wanted)
    return wanted


def _taken(path: str) -> str:
    """A name that nobody has, and that nobody else takes from now on."""
    for number in range(1, _MOST_NUMBERS):
        name = path if number == 1 else beside(path, f"-{number}")
        try:
            os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            return name
        except FileExistsError:
            continue
    raise FileExistsError(f"{path}: and {_MOST_NUMBERS:,} more of this name")
