"""Where numbers about a device come from: gpustrata's allocator if it runs, else PyTorch's own.

Both answer with the keys of torch.cuda.memory_stats(). Peaks of nested measurements: each asks for the highest level
since it began, although the allocator keeps one peak: whoever resets it hands what it was to all that are open.
"""
from __future__ import annotations

import os
import sys
import threading
from typing import Any

from gpustrata import _recorder

__all__ = ["Counters", "Span", "process_bytes"]

_PEAKS = ("allocated_bytes.all.peak", "reserved_bytes.all.peak", "active_bytes.all.peak")
_lock = threading.RLock()
_open: dict[int, list[Span]] = {}  # by device


def process_bytes() -> int:
    """Memory of this process that is resident."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


class Counters:
    """Of one device: `ordinal` counts CUDA devices, None is the process itself (device "cpu")."""

    def __init__(self, ordinal: int | None) -> None:
        self.ordinal = ordinal

    @staticmethod
    def are_ours() -> bool:
        return _recorder.is_recording_allocator()

    def stats(self) -> dict[str, int]:
        if self.ordinal is None:
            held = process_bytes()
            return {f"{what}_bytes.all.{kind}": held for what in ("allocated", "reserved", "active")
                    for kind in ("current", "peak")}
        if self.are_ours():
            return _recorder.memory_stats(self.ordinal)
        torch = sys.modules.get("torch")
        return dict(torch.cuda.memory_stats(self.ordinal)) if torch is not None else {}

    def reset_peak(self) -> None:
        if self.ordinal is None:
            return
        if self.are_ours():
            _recorder.reset_peak_memory_stats(self.ordinal)
        else:
            sys.modules["torch"].cuda.reset_peak_memory_stats(self.ordinal)

    def synchronize(self) -> None:
        """Frees of other streams count when the device is done."""
        torch = sys.modules.get("torch")
        if self.ordinal is not None and torch is not None and torch.cuda.is_initialized():
            torch.cuda.synchronize(self.ordinal)


class Span:
    """From now on to end(): the numbers before and after, the highest in between, and what was asked for in all."""

    def __init__(self, counters: Counters) -> None:
        self._counters = counters
        self._key = -1 if counters.ordinal is None else counters.ordinal
        self._peaks: dict[str, int] = {}
        with _lock:
            self.before = counters.stats()
            self._share(self.before)
            counters.reset_peak()
            _open.setdefault(self._key, []).append(self)

    def _share(self, stats: dict[str, int]) -> None:
        for span in _open.get(self._key, []):
            for name in _PEAKS:
                span._peaks[name] = max(span._peaks.get(name, 0), stats.get(name, 0))

    def end(self) -> None:
        with _lock:
            self.after = self._counters.stats()
            self._share(self.after)
            _open[self._key].remove(self)
            if self._counters.ordinal is None:  # without a counter of the highest, the ends are known
                for name in _PEAKS:
                    self._peaks[name] = max(self.before.get(name, 0), self.after.get(name, 0))
            elif _open[self._key]:
                self._counters.reset_peak()

    def peak(self, what: str = "allocated") -> int:
        return self._peaks.get(f"{what}_bytes.all.peak", 0)

    def gross(self) -> int:
        """Bytes that were handed out, whatever came back."""
        name = "allocated_bytes.all.allocated"
        return self.after.get(name, 0) - self.before.get(name, 0)

    def count(self, which: str) -> int:
        """Allocations that were "allocated" or "freed"."""
        name = f"allocation.all.{which}"
        return self.after.get(name, 0) - self.before.get(name, 0)
