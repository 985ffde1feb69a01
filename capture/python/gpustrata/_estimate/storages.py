"""Storages of fake tensors as requests: made when an operator gives out a new one, freed when its last tensor goes."""
from __future__ import annotations

import weakref
from typing import Any, Callable, Sequence

from gpustrata._estimate.requests import Requests

__all__ = ["Storages"]


class _Known:
    """A storage that lives."""

    __slots__ = ("number", "size", "stream", "streams", "reference")

    def __init__(self, number: int, size: int, stream: int) -> None:
        self.number, self.size, self.stream = number, size, stream
        self.streams: list[int] = []  # other ones that use it, by record_stream
        self.reference: Any = None


class Storages:
    """`stream()` is the number of the stream that is current."""

    def __init__(self, requests: Requests, stream: Callable[[], int]) -> None:
        self._requests, self._stream = requests, stream
        self._known: dict[int, _Known] = {}  # by the address of the C++ object
        self._count = 0
        self.closed = True  # nothing is recorded

    def see(self, tensor: Any) -> None:
        """A fake tensor of the device that an operator gave out."""
        if self.closed:
            return
        storage = tensor.untyped_storage()
        address, size = storage._cdata, storage.nbytes()
        known = self._known.get(address)
        if known is None:
            known = _Known(self._next(), size, self._stream())
            known.reference = weakref.ref(storage, lambda _, address=address: self._gone(address))
            self._known[address] = known
            self._allocate(known)
        elif known.size != size:
            self._resize(known, size)

    def resized(self, storage: Any) -> None:
        """By the program itself, past all operators."""
        known = self._known.get(storage._cdata)
        if known is not None and known.size != storage.nbytes():
            self._resize(known, storage.nbytes())

    def use_on(self, tensor: Any, stream: int) -> None:
        known = self._known.get(tensor.untyped_storage()._cdata)
        if known is not None and stream != known.stream and stream not in known.streams:
            known.streams.append(stream)
            if known.size:
                self._requests.add(f"rs {known.number} {stream}")

    def take(self, sizes: Sequence[int]) -> list[int]:
        """Memory that a kernel takes inside: numbers for give_back()."""
        numbers = []
        for size in sizes:
            if size:
                numbers.append(self._next())
                self._requests.add(f"m {numbers[-1]} {size} {self._stream()}")
        return numbers

    def give_back(self, numbers: list[int]) -> None:
        for number in numbers:
            self._requests.add(f"f {number}")

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _allocate(self, known: _Known) -> None:
        if known.size:
            self._requests.add(f"m {known.number} {known.size} {known.stream}")

    def _free(self, known: _Known) -> None:
        if not known.size:
            return
        self._requests.add(f"f {known.number}")
        # When the other stream will be done nobody can know; here it is by the next request.
        for stream in known.streams:
            self._requests.add(f"done {stream}")

    def _resize(self, known: _Known, size: int) -> None:
        # As resize_bytes_cuda: the new memory is there before the old one goes.
        before = _Known(known.number, known.size, known.stream)
        before.streams = known.streams
        known.number, known.size, known.stream, known.streams = self._next(), size, self._stream(), []
        self._allocate(known)
        self._free(before)

    def _gone(self, address: int) -> None:
        known = self._known.pop(address, None)
        if known is not None and not self.closed:
            self._free(known)
