"""One recording of a process: from its first use of a device to its end, or that of a `with` block.

CUDA is never begun here, and a fork before the first use is as without us. What goes wrong here is one line on standard
error; the program goes on.
"""
from __future__ import annotations

import atexit
import dataclasses
import importlib
import os
import sys
import threading
import weakref
from typing import Any, Callable, NamedTuple

from gpustrata._run import dump, files, history, observe, on_signal, options, start, told

__all__ = ["Recording", "of_process", "say_if_nothing", "why_no_device"]

_MOST_OOM_FILES = 10  # of a process: a search for the batch size runs out of memory many times

_recordings: list["Recording"] = []  # those that have not ended
_has_observer = False
_process: Recording | None = None    # that of the whole process
_unreported: tuple[str, int, list[str]] | None = None  # the last out of memory: its file, its device, whom to notify
_has_reported = False


def of_process(torch: Any) -> None:
    """Of this run, with the options of the environment; PyTorch has just been imported."""
    global _process
    try:
        chosen = options.of_text(os.environ.get(start.OPTIONS, ""))
    except options.WrongUsage as error:
        told.say(f"not recorded: {start.OPTIONS}: {error}")
        return
    _process = Recording(torch, chosen, folder=start.folder, replace=False)
    _process.begin()
    if chosen.dump_on_signal and not _process.failed:
        on_signal.arm(_process, options.signal_of(chosen.dump_on_signal))


def say_if_nothing() -> None:
    """At the end of the first process, when PyTorch was imported."""
    if _process is not None and not _process.began and not _process.failed:
        told.say(f"nothing was recorded in this process: {why_no_device(_process.torch)}")


def why_no_device(torch: Any) -> str:
    version = getattr(torch, "version", None)
    try:
        if not getattr(version, "cuda", None) and not getattr(version, "hip", None):
            return "this PyTorch was built without CUDA"
        if not torch.cuda.is_available():
            return "PyTorch finds no GPU or no driver for it"
    except Exception as error:
        return f"PyTorch cannot be asked for devices: {error}"
    return "it used no GPU"


class _Written(NamedTuple):
    path: str
    wanted: str   # where it would be if its folder took files
    events: int
    is_cut: bool  # older ones may be lost


class Recording:
    """`path`: of the last file that was written, None before.

    replace     a file of the name may be overwritten; else the name gets a number
    folder      where relative names begin
    """

    def __init__(self, torch: Any, chosen: options.Options, folder: str, replace: bool) -> None:
        self.torch, self.options = torch, chosen
        self.path: str | None = None
        self.began = False      # a device is used
        self.failed = False     # it was said why
        self._folder, self._replace = folder, replace
        self._pid = 0           # of the process that uses the device
        self._is_on = False     # events are recorded
        self._source: Any = history  # where they come from: that, or observe
        self._ended = False
        self._taken_over = ""   # where the program began the history itself
        self._rank: str | None = None
        self._steps = 0         # that the optimizer has made
        self._optimizer: Any = None
        self._hook: Any = None
        self._ooms = 0
        self._oom_path: str | None = None
        self._writing = threading.Lock()
        self._cancel: Callable[[], None] = lambda: None

    # --- Begin

    def begin(self) -> None:
        """As soon as the process uses a device, or now if it does. Raises nothing."""
        self._safely(self._begin)

    def _begin(self) -> None:
        cuda = self.torch.cuda
        lazily = getattr(cuda, "_lazy_call", None)
        if lazily is None or not hasattr(cuda, "memory") or not hasattr(cuda.memory, "_record_memory_history"):
            self._fail(f"this PyTorch ({getattr(self.torch, '__version__', 'unknown')}) keeps no history of its memory")
            return
        _recordings.append(self)
        history.watch(self.torch, _history_changed)
        if cuda.is_initialized():
            self._device_is_used()
        else:
            lazily(lambda: self._safely(self._device_is_used))

    def _device_is_used(self) -> None:
        """Called by PyTorch in the process that begins CUDA, before its first allocation."""
        if self._ended:
            return
        self.began, self._pid = True, os.getpid()
        if _has_own_allocator():
            self._fail("the program uses gpustrata's allocator (gpustrata.install()), which has a recorder of its own")
            self._ended = True
            _recordings.remove(self)
            return
        self._rank = files.rank_of_process(self.torch)
        self._choose_source()
        _observe_out_of_memory(self.torch)
        if self.options.has_steps():
            self._count_steps()
        if self.options.first_step == 0:
            self._turn_on()
        self._cancel = _at_the_end_of_this_process(self._end_of_process)  # also of a block that nobody left
        if self is _process:
            try:
                dump.listen(self)
            except OSError as error:
                told.say(f"gpustrata dump cannot reach this process: {error}")

    def _choose_source(self) -> None:
        to_journal = self.options.is_journal
        if not self.options.observe and not to_journal:
            return
        why = observe.why_not(self.torch, self.options.stacks, to_journal)
        if why is None:
            self._source = observe.ToJournal(self._journal_place, self.options.max_size or 0) if to_journal else observe
        else:
            self._use_history(why)

    def _use_history(self, why: str) -> None:
        self._source = history
        at_the_end = ""
        if self.options.is_journal:
            output = self.options.output[:-len(options.JOURNAL)] + ".pickle"
            self.options = dataclasses.replace(self.options, output=output, max_size=None)
            at_the_end = ", whose file is written when the program ends"
        if self.options.stacks == "native":
            self.options = dataclasses.replace(self.options, stacks="all")
        told.say(f"not observed, so PyTorch's own history is used{at_the_end}: {why}")

    def _turn_on(self) -> None:
        self._is_on = True
        if self._taken_over and self._source is history:
            return
        if self._source.is_on(self.torch):
            others = [one for one in _recordings if one is not self and one._is_on and one._source is self._source]
            told.say(("PyTorch's history" if self._source is history else "Observing") + " is on already"
                     + (", by another recording of gpustrata" if others else ", begun by the program")
                     + ": it is used as it is, with what came before")
            return
        try:
            self._source.begin(self.torch, self.options.stacks, self.options.max_events)
        except Exception as error:
            if self._source is history:
                raise
            self._use_history(" ".join(str(error).split())[:300])
            self._turn_on()

    # --- Steps

    def _count_steps(self) -> None:
        optimizer = importlib.import_module("torch.optim.optimizer")  # torch.optim has no such attribute
        register = getattr(optimizer, "register_optimizer_step_post_hook", None)
        if register is None:
            told.say("this PyTorch does not tell of an optimizer's steps: all of them are recorded")
            if self.options.first_step > 0:
                self._turn_on()
            return
        self._hook = register(lambda optimizer, *_: self._safely(lambda: self._step(optimizer)))

    def _step(self, optimizer: Any) -> None:
        """Steps are those of the optimizer that steps first: of two that take turns one counts."""
        counted = self._optimizer() if self._optimizer is not None else None
        if counted is None:
            self._optimizer = weakref.ref(optimizer)
        elif counted is not optimizer:
            return
        if self._ended or os.getpid() != self._pid:
            return
        self._steps += 1
        if self._steps == self.options.first_step:
            self._turn_on()
        if self._steps == self.options.end_step:
            self.end()

    # --- The program's own history

    def history_changes(self, on: bool, where: str) -> None:
        """Before it does. What observes is not concerned."""
        if self._ended or self._source is not history:
            return
        if on:
            if not self._taken_over:
                told.say(f"the program records its memory itself ({where}): that is used from there on")
                if self._is_on and not self.options.on_oom and os.getpid() == self._pid:
                    self._write("-before", None)
            self._taken_over = where
        elif not self.began:
            self._taken_over = ""
        elif self._is_on and os.getpid() == self._pid:
            told.say(f"the program ends PyTorch's history ({where}): this recording ends, too")
            self.end()

    # --- Out of memory

    def out_of_memory(self) -> str | None:
        """Called by PyTorch before the error is raised. The path of the file with it, None if there is none."""
        if self._ended or os.getpid() != self._pid or not self._writing.acquire(timeout=60):
            return None
        try:
            if not self._is_on:
                told.say(f"out of memory in step {self._steps}, which is not recorded")
                return None
            self._ooms += 1
            if isinstance(self._source, observe.ToJournal):
                return self._source.path
            if self._ooms > _MOST_OOM_FILES:
                if self._ooms == _MOST_OOM_FILES + 1:
                    told.say(f"out of memory for the {self._ooms}th time: from now on that is in the file at the end only")
                return None
            self._oom_path = self._write("" if self.options.on_oom else "-oom", self._oom_path, "out of memory: ")
            return self._oom_path
        finally:
            self._writing.release()

    def out_of_memory_safely(self) -> str | None:
        paths: list[str | None] = [None]
        self._safely(lambda: paths.append(self.out_of_memory()))
        return paths[-1]

    # --- End

    def end_safely(self, ends_by: BaseException | None = None) -> None:
        """`ends_by`: what the block or the program ends with. Raises nothing."""
        self._safely(lambda: self.end(ends_by))

    def end(self, ends_by: BaseException | None = None) -> None:
        """Writes the file, if it is to be kept, and ends the history if it was begun here."""
        if self._ended or self.began and os.getpid() != self._pid:
            return
        self._ended = True
        self._cancel()
        if self is _process and self.began:
            dump.forget()
        if self._hook is not None:
            self._hook.remove()
        if self in _recordings:
            _recordings.remove(self)
        if not self.began or self.failed and not self._is_on:
            return
        if not self._is_on:
            told.say(f"nothing was recorded: the optimizer made {self._steps} steps, "
                     f"and {self.options.first_step} come before the recording")
            return
        if isinstance(self._source, observe.ToJournal):
            self._end_journal(self._source, ends_by)
            return
        with self._writing:
            has_all = 0 < self._ooms <= _MOST_OOM_FILES and self._oom_path is not None
            is_oom = _is_out_of_memory(ends_by, self.torch)
            if self.options.on_oom:
                if self._ooms and not has_all:
                    self._write("", self._oom_path)
            elif not (has_all and is_oom):
                self._write("", None)
            if has_all and is_oom:
                _report()  # it ends the program, and an earlier one was reported
        if not any(one._is_on and one._source is self._source for one in _recordings):
            self._source.end(self.torch)

    # --- A journal

    def _journal_name(self, devices: list[int] | None) -> str:
        name = files.filled(self.options.output, devices, files.rank_in_words(self._rank))
        return os.path.join(self._folder, os.path.expanduser(name))

    def _journal_place(self) -> str:
        """By what is known when it begins. Failure: OSError."""
        return files.place(self._journal_name(None), self._replace)

    def _end_journal(self, source: observe.ToJournal, ends_by: BaseException | None) -> None:
        """It stays, by the name that is known now, if it is to be kept."""
        global _unreported
        with self._writing:
            taken, path = source.take(self.torch, 0), str(source.path)
            source.end(self.torch)
            if not taken.events or self.options.on_oom and not self._ooms:
                os.unlink(path)
                if not taken.events:
                    told.say("no file was written: nothing was allocated")
                return
            begun_as = self._journal_name(None)
            self._rank = files.rank_of_process(self.torch) or self._rank
            name = self._journal_name(taken.devices)
            self.path = path if name == begun_as else files.moved(path, os.path.basename(name), self._replace)
            if _unreported is not None and _unreported[0] == path:
                _unreported = (self.path, *_unreported[1:])
            lost = " (the newest: older ones are gone, as --max-size says)" if taken.is_cut else ""
            told.say(f"{self.path}: {taken.events:,} events{lost}, {source.HOW}")
            if _is_out_of_memory(ends_by, self.torch):
                _report()  # it ends the program, and an earlier one was reported

    def _end_of_process(self) -> None:
        self.end_safely(getattr(sys, "last_value", None))  # what it ended with, where that was printed

    def _write(self, suffix: str, before: str | None, why: str = "") -> str | None:
        """The path, None if that was not possible, which is said after `why`. `before`: the file that this one replaces."""
        try:
            written = self._file(self.options.output, suffix, before, self._replace)
        except OSError as error:
            told.say(f"{why}no file was written: {error}")
            return None
        if written is None:
            if suffix != "-before":
                told.say("no file was written: nothing was allocated")
            return None
        self.path = written.path
        lost = ""
        if not self._taken_over and written.is_cut:
            lost = f" (the {self.options.max_events:,} that are kept: older ones may be lost)"
        folder = os.path.dirname(written.wanted)
        elsewhere = "" if os.path.dirname(written.path) == folder else f" ({folder} takes no files)"
        told.say(f"{why}{written.path}{elsewhere}: {written.events:,} events{lost}, {self._source.HOW}")
        return self.path

    def _file(self, pattern: str, suffix: str, before: str | None, replace: bool) -> _Written | None:
        """None if nothing was allocated. Failure: OSError."""
        with files.without_collector():
            taken: files.Taken = self._source.take(self.torch, self.options.max_events)
            if not taken.devices:
                return None
            self._rank = files.rank_of_process(self.torch) or self._rank
            name = files.beside(files.filled(pattern, taken.devices, files.rank_in_words(self._rank)), suffix)
            wanted = os.path.join(self._folder, os.path.expanduser(name))
            path = files.write(taken, before or wanted, replace or before is not None)
            return _Written(path, wanted, taken.events, taken.is_cut)

    # --- On demand

    def dump(self, pattern: str | None) -> str:
        """The path of a snapshot, taken now on another thread than the program's. Failure: ValueError in words, OSError."""
        with self._writing:
            if not self.began:
                raise ValueError("no device is used yet")
            if self._ended or os.getpid() != self._pid:
                raise ValueError("its recording has ended")
            if not self._is_on:
                raise ValueError(f"step {self._steps} is not recorded")
            if pattern and self.options.is_journal != pattern.endswith(options.JOURNAL):
                raise ValueError(f"name the file ...{options.JOURNAL}: its recording is a journal" if self.options.is_journal
                                 else f"its recording is no journal, so no file is named ...{options.JOURNAL}")
            written = self._file(pattern or self.options.output, "" if pattern else "-dump", None, replace=False)
            if written is None:
                raise ValueError("nothing was allocated")
            return written.path

    # --- Faults

    def _fail(self, reason: str) -> None:
        self.failed = True
        told.say(f"not recorded: {reason}")

    def _safely(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # the program goes on
            self._fail(f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")


def _has_own_allocator() -> bool:
    return any(getattr(sys.modules.get(name), "_installed", False) for name in ("gpustrata._recorder", "gpustrata_torch"))


def _is_out_of_memory(error: BaseException | None, torch: Any) -> bool:
    """Also as the cause of another."""
    kind = getattr(torch, "OutOfMemoryError", None) or torch.cuda.OutOfMemoryError
    for _ in range(20):
        if error is None or isinstance(error, kind):
            break
        error = error.__cause__ or error.__context__
    return isinstance(error, kind)


def _history_changed(on: bool, where: str) -> None:
    for one in list(_recordings):
        one._safely(lambda one=one: one.history_changes(on, where))  # type: ignore[misc]


def _observe_out_of_memory(torch: Any) -> None:
    """Once a process: what was attached cannot be detached."""
    global _has_observer
    if _has_observer:
        return
    _has_observer = True
    torch._C._cuda_attach_out_of_memory_observer(_out_of_memory)


def _out_of_memory(device: int, *_: int) -> None:
    """The first time with a report, of the outermost recording that has a file; later ones may be caught many times."""
    global _unreported, _has_reported
    try:
        paths = [one.out_of_memory_safely() for one in list(_recordings)]
        path = next((path for path in paths if path), None)
        if path is None:
            return
        _unreported = (path, device, [one.options.notify for one in _recordings if one.options.notify])
        if not _has_reported:
            _report()
        _has_reported = True
    except Exception as error:  # the program's own error follows
        told.say(f"out of memory, without a report: {type(error).__name__}: {error}")


def _report() -> None:
    """Of the last out of memory, if it was not reported."""
    global _unreported
    if _unreported is not None:
        told.report_out_of_memory(*_unreported)
    _unreported = None


def _at_the_end_of_this_process(work: Callable[[], None]) -> Callable[[], None]:
    """Of children of multiprocessing, too, which end without atexit before Python 3.14. `work` may be called twice. Returns
    what takes it back."""
    atexit.register(work)
    finalizer: Any = None
    multiprocessing = sys.modules.get("multiprocessing.process")
    if multiprocessing is not None and multiprocessing.parent_process() is not None:
        from multiprocessing import util

        finalizer = util.Finalize(None, work, exitpriority=-1)

    def cancel() -> None:
        atexit.unregister(work)
        if finalizer is not None and finalizer.still_active():
            finalizer.cancel()

    return cancel
