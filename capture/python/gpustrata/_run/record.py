"""gpustrata.record: what `gpustrata run` does for a program, for a part of it."""
from __future__ import annotations

import functools
import importlib
import inspect
import os
from types import TracebackType
from typing import Any, Callable, TypeVar

from gpustrata._run import options, recording, told

__all__ = ["record"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_said_nothing = False


class record:
    """Records what PyTorch's own allocator does, as a `with` block or a decorator.

        with gpustrata.record("run-{rank}.pickle"):
            train()

        @gpustrata.record(on_oom="oom-{rank}.pickle")
        def main(): ...

    path        of the file; "{rank}", "{host}", "{device}" and "{pid}" are those of the process when it is written. A
                file that is there is replaced. "run-{rank}.gpustrata": a journal, observed and written as it happens, which
                is whole if the process is killed
    on_oom      True, or a path instead: a file only when memory runs out
    steps       (3, 6): only steps 3, 4 and 5 of the optimizer inside, counted from 0
    stacks      "python", "all" (with C++), "none"
    max_events  the newest kept of each device
    max_size    of a journal, 1 << 30 or "1GiB": its oldest events go. 256 MiB if it is not given
    notify      a command of the shell when memory runs out: the report is its input, GPUSTRATA_SNAPSHOT the name of the file; it is
                not waited for
    observe     True: hear of events in PyTorch's allocator instead of turning on its history, which takes a fraction of the
                time; stacks may also be "native" (C++ alone). Where that cannot be a line says why, and the history is used

    When memory runs out a short report goes to standard error. `path` afterwards: the file that was written, or None. What
    goes wrong here is one line there: what is inside runs in any case. Wrong arguments: ValueError.
    """

    def __init__(self, path: "str | os.PathLike[str]" = "run-{rank}.pickle", *,
                 on_oom: "bool | str | os.PathLike[str]" = False, steps: "tuple[int, int | None] | None" = None,
                 stacks: str = "python", max_events: int = options.DEFAULT_EVENTS, observe: bool = False,
                 max_size: "int | str | None" = None, notify: str = "") -> None:
        if not isinstance(on_oom, bool):
            path, on_oom = on_oom, True
        first, end = steps or (0, None)
        if first < 0 or end is not None and end <= first:
            raise options.WrongUsage(f"steps are the first and the one after the last, but they are {steps!r}")
        self._options = options.checked(options.Options(os.fspath(path), on_oom, first, end, stacks, max_events, observe,
                                                        options.size_of(max_size), notify))
        self._recording: recording.Recording | None = None
        self.path: str | None = None

    def __enter__(self) -> "record":
        if self._recording is not None:
            raise RuntimeError("this recording has begun already; make another one")
        try:
            torch = importlib.import_module("torch")
        except ImportError as error:
            _say_once(f"nothing is recorded: {error}")
            return self
        self._recording = recording.Recording(torch, self._options, folder=os.getcwd(), replace=True)
        self._recording.begin()
        return self

    def __exit__(self, kind: "type[BaseException] | None", error: "BaseException | None",
                 _: "TracebackType | None") -> None:
        own, self._recording = self._recording, None
        if own is None:
            return
        own.end_safely(error)
        self.path = own.path
        if not own.began and not own.failed:
            _say_once(f"nothing is recorded: {recording.why_no_device(own.torch)}")

    @classmethod
    def of_options(cls, chosen: options.Options) -> "record":
        one = cls.__new__(cls)
        one._options, one._recording, one.path = chosen, None, None
        return one

    def _another(self) -> "record":
        """The same once more: calls may be inside of calls."""
        return record.of_options(self._options)

    def __call__(self, function: _Function) -> _Function:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"{function.__name__} is a generator: use `with gpustrata.record(...)` inside of it")
        if inspect.iscoroutinefunction(function):
            @functools.wraps(function)
            async def awaited(*arguments: Any, **named: Any) -> Any:
                one = self._another()
                try:
                    with one:
                        return await function(*arguments, **named)
                finally:
                    self.path = one.path
            return awaited  # type: ignore[return-value]

        @functools.wraps(function)
        def called(*arguments: Any, **named: Any) -> Any:
            one = self._another()
            try:
                with one:
                    return function(*arguments, **named)
            finally:
                self.path = one.path
        return called  # type: ignore[return-value]


def _say_once(text: str) -> None:
    global _said_nothing
    if not _said_nothing:
        told.say(text)
    _said_nothing = True
