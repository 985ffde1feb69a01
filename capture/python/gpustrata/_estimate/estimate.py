"""gpustrata.estimate: the `with` block."""
from __future__ import annotations

import os
import tempfile
import threading
from typing import Any

from gpustrata._estimate import simulated
from gpustrata._estimate.patches import Patches
from gpustrata._estimate.requests import Requests
from gpustrata._sizes import bytes_of

__all__ = ["Estimate", "estimate"]

_OLDEST = (2, 8)  # older ones were not tried
_DEFAULT_MARGIN = 1 << 30
_running: "Estimate | None" = None
_lock = threading.Lock()


class Estimate:
    """The answer, once the block has ended."""

    def __init__(self, device: Any, conf: str, margin: Any) -> None:
        self.device_bytes = bytes_of(device, "device")
        self.margin_bytes = bytes_of(margin, "margin")
        if self.margin_bytes >= self.device_bytes:
            raise ValueError(f"the margin takes all of the device: {self.margin_bytes} of {self.device_bytes} bytes")
        if not isinstance(conf, str):
            raise TypeError(f'conf is a text as in PYTORCH_CUDA_ALLOC_CONF, but it is {conf!r}')
        self.conf = conf
        simulated.check(self.usable_bytes, conf)
        self._ended = False
        self._torch: Any = None
        self._answer: dict[str, Any] | None = None
        self._runs: tuple[simulated.Run, simulated.Run] | None = None
        self._stats: tuple[int, dict[str, int]] = (-1, {})

    @property
    def usable_bytes(self) -> int:
        """What the allocator may take: the device less the margin."""
        return self.device_bytes - self.margin_bytes

    # -- The block

    def __enter__(self) -> Estimate:
        global _running
        if self._torch is not None:
            raise RuntimeError("an estimate is made once: ask gpustrata.estimate() for another")
        torch = _torch()
        with _lock:
            if _running is not None:
                raise RuntimeError("an estimate is being made already: estimates are not nested, and only one is made at a time")
            _running = self
        self._torch = torch
        try:
            self._begin(torch)
        except BaseException:
            self._end()
            raise
        return self

    def _begin(self, torch: Any) -> None:
        from gpustrata._estimate import around, autocast, backward, composites, cuda, fake, operators
        from gpustrata._estimate.storages import Storages

        self.version = str(torch.__version__)
        self._order = _free_order(torch)
        self._patches, self._modes = Patches(), []
        self.requests = Requests()
        streams = cuda.Streams()
        self._storages = Storages(self.requests, lambda: streams.current)
        self.notes = operators.Notes(self.requests.place_now)
        mode, calls = fake.begin(torch, self._patches, self._storages, lambda stream: stream.stream_id,
                                 self.notes)
        cuda.begin(torch, self._patches, streams, self.device_bytes, lambda: self.requests.add("empty"), self._memory_stats)
        around.begin(torch, self._patches, self.requests.place_now)
        self._kernels = [composites.begin(torch), autocast.begin(torch, self._patches)]
        sums = backward.Sums(torch)
        watch = operators.watch(torch, self._storages, self.notes, sums, self.requests)
        for one in (mode, watch, calls):
            one.__enter__()
            self._modes.append(one)
        sums.calibrate()
        self._storages.closed = False

    def __exit__(self, *error: Any) -> None:
        self._end()

    def _end(self) -> None:
        global _running
        if hasattr(self, "_storages"):
            self._storages.closed = True  # what the program drops later is no part of it
        while getattr(self, "_modes", None):
            self._modes.pop().__exit__(None, None, None)
        while getattr(self, "_kernels", None):
            self._kernels.pop()._destroy()
        if hasattr(self, "_patches"):
            self._patches.undo()
        self._ended = True
        _running = None

    def _memory_stats(self) -> dict[str, int]:
        """As the program would be told now, on a device with room for all."""
        count = len(self.requests.lines)
        if self._stats[0] != count:
            self._stats = count, simulated.run(self.requests, self._order, simulated.ROOMY, self.conf).stats
        return self._stats[1]

    # -- The answer

    def _both(self) -> tuple[simulated.Run, simulated.Run]:
        """On the device, and on one with room for all."""
        if not self._ended or self._torch is None:
            raise RuntimeError("the estimate is not made yet: ask after its block has ended")
        if self._runs is None:
            self._runs = (simulated.run(self.requests, self._order, self.usable_bytes, self.conf),
                          simulated.run(self.requests, self._order, simulated.ROOMY, self.conf))
        return self._runs

    def summary(self) -> dict[str, Any]:
        """The numbers. Peaks are those of the whole program, also where it does not fit."""
        limited, roomy = self._both()
        fits = limited.failed < 0
        whole = limited if fits else roomy
        return {
            "fits": fits, "device_bytes": self.device_bytes, "margin_bytes": self.margin_bytes, "conf": self.conf,
            "requested_peak_bytes": whole.peak("requested"), "allocated_peak_bytes": whole.peak("allocated"),
            "reserved_peak_bytes": whole.peak("reserved"),
            "fails_at": None if fits else self.requests.place(self.requests.stacks[limited.failed]),
            "torch": self.version,
            "values_taken_as_0": [{"operator": name, "at": place, "times": times}
                                  for (name, place), times in sorted(self.notes.values.items())],
            "memory_inside_unknown": [{"operator": name, "at": place, "times": times}
                                      for (name, place), times in sorted(self.notes.unknown.items())],
        }

    def save(self, path: str | os.PathLike[str], *, whole: bool = False) -> None:
        """A snapshot that opens as any recording. It ends where the device is full, as a recording does; `whole`: as if there were
        room for all.
        """
        limited, _ = self._both()
        failed = limited.failed
        until = len(self.requests.lines) if failed < 0 or whole else failed + 1
        simulated.write_snapshot(self.requests, until, self._order, simulated.ROOMY if whole else self.usable_bytes, self.conf,
                                 self.summary(), os.fspath(path))

    def report(self) -> None:
        """Prints what the estimate says, and what `gpustrata report` says of its snapshot."""
        from gpustrata._estimate import told

        with tempfile.TemporaryDirectory(prefix="gpustrata-") as folder:
            path = os.path.join(folder, "estimate.pickle")
            self.save(path)
            print(told.answer(self.summary(), path))

    def __repr__(self) -> str:
        if not self._ended or self._torch is None:
            return "<gpustrata.Estimate, not made yet>"
        told = self.summary()
        return (f"<gpustrata.Estimate: {told['requested_peak_bytes']:,} bytes requested, {told['reserved_peak_bytes']:,} reserved at the peak, "
                f"{'fits' if told['fits'] else 'does not fit'}>")


def estimate(device: Any = "80GiB", conf: str = "", *, margin: Any = _DEFAULT_MARGIN) -> Estimate:
    """The memory that PyTorch code would take on a GPU, with no GPU: what runs in the block allocates nothing.

        with gpustrata.estimate(device="80GiB", conf="expandable_segments:True") as e:
            model = make_model(); step(model)
        e.report(); e.save("estimate.pickle")

    device: its memory. conf: as PYTORCH_CUDA_ALLOC_CONF. margin: what of the device the allocator does not get: CUDA's context, and
    what kernels take inside, which is not known. Failure: ValueError, TypeError; ImportError if PyTorch is missing or too old.
    """
    return Estimate(device, conf, margin)


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"gpustrata.estimate needs PyTorch, which cannot be imported: {error}") from None
    version = _version(torch)
    if version < _OLDEST:
        raise ImportError(f"gpustrata.estimate needs PyTorch 2.8 or newer, but this is {getattr(torch, '__version__', 'unknown')}")
    return torch


def _version(torch: Any) -> tuple[int, int]:
    import re

    numbers = re.match(r"(\d+)\.(\d+)", getattr(torch, "__version__", ""))
    return (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)


def _free_order(torch: Any) -> str:
    from gpustrata._recorder import _free_order_of

    return _free_order_of(torch)
