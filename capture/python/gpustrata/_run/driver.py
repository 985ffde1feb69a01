"""Programs without Python: libgpustrata_driver.so, preloaded, hears what they take from the CUDA driver.

It is in every process of the run and records where a process uses the driver; in Pythons only if that is asked for, since there
PyTorch's allocator is recorded. What it is told by the environment is in capture/preload/recorder.cpp.
"""
from __future__ import annotations

import mmap
import os
import shutil
import stat
import struct
import sys
from dataclasses import dataclass

from gpustrata._run.options import Options

__all__ = ["environment", "is_program", "library", "of_command", "why_not"]

OUTPUT = "GPUSTRATA_DRIVER"
STACKS = "GPUSTRATA_DRIVER_STACKS"
MAX_SIZE = "GPUSTRATA_DRIVER_MAX_SIZE"
IN_PYTHONS = "GPUSTRATA_DRIVER_PYTHON"
_NVTX = "NVTX_INJECTION64_PATH"
_LIBRARY = "libgpustrata_driver.so"
_INTERPRETER, _HEAD = 3, 64  # PT_INTERP; bytes of the header of a 64-bit file


def library() -> str | None:
    """Beside the recorder's own library."""
    from gpustrata import _recorder

    for place in _recorder._candidates():
        path = os.path.join(os.path.dirname(os.path.abspath(place)), _LIBRARY)
        if os.path.exists(path):
            return path
    return None


@dataclass(frozen=True)
class Elf:
    bits: int
    machine: int
    is_static: bool


def _elf(path: str) -> Elf | None:
    """None: it is no program of this kind, or cannot be read."""
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD)
            if len(head) < _HEAD or head[:4] != b"\x7fELF":
                return None
            if head[4] != 2 or head[5] != 1:
                return Elf(32 if head[4] == 1 else 64, 0, False)
            machine, = struct.unpack_from("<H", head, 18)
            table, = struct.unpack_from("<Q", head, 32)
            size, count = struct.unpack_from("<HH", head, 54)
            file.seek(table)
            rows = file.read(size * count)
    except OSError:
        return None
    kinds = [struct.unpack_from("<I", rows, row * size)[0] for row in range(count) if (row + 1) * size <= len(rows)]
    return Elf(64, machine, _INTERPRETER not in kinds)


def is_program(path: str) -> bool:
    """A file that the system begins without an interpreter of scripts."""
    return os.access(path, os.X_OK) and os.path.isfile(path) and _elf(path) is not None


def of_command(word: str) -> str | None:
    """The file that the shell would begin."""
    return shutil.which(word)


def _privileges(path: str) -> bool:
    try:
        return bool(os.stat(path).st_mode & (stat.S_ISUID | stat.S_ISGID))
    except OSError:
        return False


def _wants_to_be_first(path: str) -> bool:
    """GCC's AddressSanitizer ends a program into which anything is preloaded before it."""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(b"\0libasan.so") >= 0
    except (OSError, ValueError):
        return False


def why_not(path: str) -> str | None:
    """Why nothing can be preloaded into this program; None: it can."""
    elf, own = _elf(path), _elf(sys.executable)
    if elf is None:
        return None  # a script: what it begins may be recorded
    if elf.is_static:
        return f"{path} is linked statically, which leaves no place for it"
    if own is not None and (elf.bits, elf.machine) != (own.bits, own.machine):
        return f"{path} is for another processor than this Python"
    if _wants_to_be_first(path):
        return f"{path} has AddressSanitizer, before which nothing may be preloaded"
    if _privileges(path):
        return f"{path} runs with another user's rights (setuid), where nothing may be preloaded"
    return None


def environment(chosen: Options, before: dict[str, str], path: str, in_pythons: bool) -> dict[str, str]:
    """`before` and what is added: the library stands before what is preloaded already, of which nothing is lost."""
    preloaded = [word for word in before.get("LD_PRELOAD", "").replace(":", " ").split() if word != path]
    added = {**before, "LD_PRELOAD": ":".join([path, *preloaded]), OUTPUT: chosen.output,
             STACKS: "none" if chosen.stacks == "none" else "native"}
    if chosen.max_size is not None:
        added[MAX_SIZE] = str(chosen.max_size)
    if in_pythons:
        added[IN_PYTHONS] = "1"
    added.setdefault(_NVTX, path)  # another tool's stays
    return added
