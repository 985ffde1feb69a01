"""Sizes as people write them: 80GiB, 1.5 GB, 512."""
from __future__ import annotations

import re
from typing import Any

__all__ = ["bytes_of", "in_words"]

_UNITS = {"": 1, "B": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40,
          "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_LARGEST = (1 << 63) - 1


def bytes_of(size: Any, what: str) -> int:
    """Failure: ValueError, TypeError."""
    if isinstance(size, int) and not isinstance(size, bool):
        found = size
    elif isinstance(size, str):
        parts = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", size, re.ASCII)
        unit = _UNITS.get(parts[2].upper()) if parts else None
        if parts is None or unit is None or len(parts[1]) > 30:
            raise ValueError(f'{what} is a size like "80GiB", "1.5GB" or a number of bytes, but it is {size!r}')
        found = int(parts[1]) * unit if parts[1].isdecimal() else int(float(parts[1]) * unit)
    else:
        raise TypeError(f'{what} is a size like "80GiB" or a number of bytes, but it is {size!r}')
    if not 0 <= found <= _LARGEST:
        raise ValueError(f"{what} is from 0 to 2^63 - 1 bytes, but it is {size!r}")
    return found


def in_words(size: int) -> str:
    value, unit = float(size), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    return f"{int(value)} B" if unit == "B" else f"{value:.1f} {unit}"
