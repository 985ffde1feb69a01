"""How far reading is, on standard error, where somebody watches."""
from __future__ import annotations

import sys
import time

__all__ = ["Progress"]

_WIDTH = 30


class Progress:
    """shown=None: if standard error is a terminal and it takes longer than a moment."""

    def __init__(self, name: str, shown: bool | None) -> None:
        self._name = name
        try:
            self._wanted = sys.stderr.isatty() if shown is None else shown
        except (AttributeError, ValueError):  # none, or closed
            self._wanted = False
        self._next = time.monotonic() + (0.3 if shown is None else 0.0)
        self._is_shown = False

    def show(self, done: int, total: int) -> None:
        if not self._wanted or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + 0.1
        mib = f"{done / (1 << 20):,.0f} MiB"
        if total > 0:
            filled = min(_WIDTH, _WIDTH * done // total)
            text = f"{100 * done // total:3d}% |{'#' * filled}{'.' * (_WIDTH - filled)}| {mib}"
        else:
            text = mib
        print(f"\r{self._name}: {text}", end="", file=sys.stderr, flush=True)
        self._is_shown = True

    def close(self) -> None:
        if self._is_shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
