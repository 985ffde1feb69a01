"""--dump-on-signal: a signal writes a snapshot of the process, as `gpustrata dump` does, where nobody can call that.

Python's own handlers run on the main thread, between two of its instructions: one that waits in a collective would never come
to it. So the byte that C code writes at once (signal.set_wakeup_fd) wakes a thread. Where an event loop has that byte the
handler alone is left.
"""
from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING, Any

from gpustrata._run import told

if TYPE_CHECKING:
    from gpustrata._run.recording import Recording

__all__ = ["arm"]

_ready: tuple[int, int] | None = None  # the ends of the pipe that wakes the thread


def arm(recording: Recording, number: signal.Signals) -> None:
    """From now on, in this process and those that it forks. Whoever handles the signal itself keeps it: a line says so."""
    global _ready
    if threading.current_thread() is not threading.main_thread():
        told.say(f"{number.name} writes no snapshot: PyTorch was imported on a thread that cannot handle signals")
        return
    if signal.getsignal(number) is not signal.SIG_DFL:
        told.say(f"{number.name} writes no snapshot: the program handles it itself")
        return

    def handler(*_: Any) -> None:
        _on_the_main_thread(recording)

    signal.signal(number, handler)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    if before != -1:  # an event loop's
        signal.set_wakeup_fd(before, warn_on_full_buffer=False)
        os.close(reader)
        os.close(writer)
        return
    _ready = reader, writer
    os.register_at_fork(after_in_child=_forget)
    _begin(_wait, recording, number, handler, reader)


def _begin(work: Any, *arguments: Any) -> None:
    import _thread

    _thread.start_new_thread(work, arguments)  # not one of threading's: programs count those


def _forget() -> None:
    """In a child: its bytes would wake the parent's thread. Its handler stays, so that the signal does not end it."""
    global _ready
    if _ready is None:
        return
    reader, writer = _ready
    _ready = None
    current = signal.set_wakeup_fd(-1)
    if current not in (-1, writer):  # an event loop's
        signal.set_wakeup_fd(current, warn_on_full_buffer=False)
    os.close(reader)
    os.close(writer)


def _on_the_main_thread(recording: Recording) -> None:
    """Where the byte did not come to the thread."""
    current = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(current, warn_on_full_buffer=False)
    if _ready is None or current != _ready[1]:
        _begin(_dump, recording)


def _wait(recording: Recording, number: signal.Signals, handler: Any, reader: int) -> None:
    while True:
        try:
            woken = os.read(reader, 4096)  # of all signals, many at once are one
        except OSError:
            return
        if not woken:
            return
        if number in woken and signal.getsignal(number) is handler:  # the program may have made it its own
            _dump(recording)


def _dump(recording: Recording) -> None:
    try:
        told.say(recording.dump(None))
    except Exception as error:  # the program goes on
        told.say(f"no snapshot: {error}")
