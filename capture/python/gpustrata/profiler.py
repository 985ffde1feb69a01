"""GPUMemoryProfiler: the memory of functions and blocks of code, on the allocator's own counters.

    profiler = gpustrata.GPUMemoryProfiler(device=0)
    result = profiler.profile_function(train_step, batch)
    with profiler.profile_context("evaluation"):
        evaluate()
    print(profiler.get_summary())
    profiler.export("profile.json")

The interface by name of gpumemprof's class of the same name (later Stormlog), whose files gpustrata and those tools
open. What differs: the peak and what was asked for in all are counted at every allocation, by gpustrata's allocator or
by PyTorch's, never sampled; nested measurements do not disturb each other; a result is kept when the function raises;
with gpustrata's recorder running, results say which stacks asked.
"""
from __future__ import annotations

import contextlib
import csv
import functools
import gc
import json
import os
import sys
import threading
import time
import traceback
import warnings
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from typing import Any, Callable, Iterator

from gpustrata import _recorder
from gpustrata._counters import Counters, Span, process_bytes

__all__ = ["Alert", "GPUMemoryProfiler", "MemorySnapshot", "ProfileResult", "profile_function"]

_MOST_STACKS = 20
_SHOWN_FRAMES = 5


@dataclass
class MemorySnapshot:
    """Counters of a device at a moment, in bytes."""

    timestamp: float
    allocated_memory: int
    reserved_memory: int
    max_memory_allocated: int
    max_memory_reserved: int
    active_memory: int
    inactive_memory: int
    cpu_memory: int  # resident memory of this process; 0 if it is not tracked
    device_id: int = 0
    operation: str | None = None
    stack_trace: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class ProfileResult:
    """What one call, or one block of code, did with memory. Bytes."""

    function_name: str
    execution_time: float  # seconds
    memory_before: MemorySnapshot
    memory_after: MemorySnapshot
    memory_peak: MemorySnapshot
    memory_allocated: int  # net, if it grew
    memory_freed: int  # net, if it shrank
    tensors_created: int  # net, of those that the garbage collector knows
    tensors_deleted: int
    call_count: int = 1
    memory_gross: int = 0  # asked for in all, whatever was given back
    allocations: int = 0  # how many
    raised: str | None = None  # the exception that ended it
    stacks: list[dict[str, Any]] = field(default_factory=list)  # {bytes, blocks, frames} by gross bytes, largest first

    def memory_diff(self) -> int:
        return self.memory_after.allocated_memory - self.memory_before.allocated_memory

    def peak_memory_usage(self) -> int:
        """The highest level of the device during it."""
        return self.memory_peak.allocated_memory

    def peak_over_entry(self) -> int:
        """How much of that came on top of what was there before: what must be free to run it."""
        return max(0, self.peak_memory_usage() - self.memory_before.allocated_memory)

    def to_dict(self) -> dict[str, Any]:
        return {
            "function_name": self.function_name, "execution_time": self.execution_time,
            "memory_before": self.memory_before.to_dict(), "memory_after": self.memory_after.to_dict(),
            "memory_peak": self.memory_peak.to_dict(), "memory_allocated": self.memory_allocated,
            "memory_freed": self.memory_freed, "memory_diff": self.memory_diff(),
            "peak_memory_usage": self.peak_memory_usage(), "tensors_created": self.tensors_created,
            "tensors_deleted": self.tensors_deleted, "call_count": self.call_count,
        }


@dataclass
class Alert:
    """A rule that a measurement broke."""

    timestamp: float
    rule: str
    message: str
    value: int


class GPUMemoryProfiler:
    """device: None (the current CUDA device; the process itself where there is none), a number, "cuda:1", "cpu" or a
    torch.device. max_bytes, max_growth: rules; what breaks one is in `alerts`, and warned of once each.
    """

    def __init__(self, device: Any = None, track_tensors: bool = True, track_cpu_memory: bool = True,
                 collect_stack_traces: bool = False, *, max_bytes: int | None = None,
                 max_growth: int | None = None) -> None:
        self._counters = Counters(_ordinal(device))
        self.device = _named(self._counters.ordinal)
        self.track_tensors = track_tensors
        self.track_cpu_memory = track_cpu_memory
        self.collect_stack_traces = collect_stack_traces
        self.max_bytes, self.max_growth = max_bytes, max_growth
        self.results: list[ProfileResult] = []
        self.snapshots: list[MemorySnapshot] = []
        self.alerts: list[Alert] = []
        self._stop: threading.Event | None = None
        self._monitor: threading.Thread | None = None
        self._lock = threading.Lock()
        self._baseline = self._snapshot("baseline")

    # -- Measuring.
    def profile_function(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> ProfileResult:
        """Calls it. What it returns is dropped: wrap() keeps it. An exception goes on; its result is in `results`."""
        name = getattr(func, "__name__", None) or str(func)
        with self.profile_context(name) as measured:
            func(*args, **kwargs)
        return measured.result

    def wrap(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """A function that does the same and adds a result for each call; also as a decorator."""

        @functools.wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self.profile_context(func.__name__):
                return func(*args, **kwargs)

        return wrapped

    @contextlib.contextmanager
    def profile_context(self, name: str = "context") -> Iterator[_Measured]:
        """A block of code. Gives an object whose `result` is there afterwards."""
        measured = _Measured()
        tensors = self._tensors()
        self._counters.synchronize()
        traced = self._traced()
        span = Span(self._counters)
        before = self._of(span.before, f"before_{name}")
        began = time.perf_counter()
        raised = None
        try:
            yield measured
            self._counters.synchronize()
        except BaseException as error:
            raised = type(error).__name__
            raise
        finally:
            took = time.perf_counter() - began
            span.end()
            after = self._of(span.after, f"after_{name}")
            measured.result = self._result(name, took, span, before, after, tensors, raised, traced)
            with self._lock:
                self.results.append(measured.result)
            self._check(after, measured.result)

    def _result(self, name: str, took: float, span: Span, before: MemorySnapshot, after: MemorySnapshot,
                tensors: int, raised: str | None, traced: int | None) -> ProfileResult:
        peak = self._of(span.after, f"peak_{name}")
        peak.allocated_memory = peak.max_memory_allocated = span.peak("allocated")
        peak.reserved_memory = peak.max_memory_reserved = span.peak("reserved")
        peak.active_memory = span.peak("active")
        change = after.allocated_memory - before.allocated_memory
        more_tensors = self._tensors() - tensors
        return ProfileResult(
            function_name=name, execution_time=took, memory_before=before, memory_after=after, memory_peak=peak,
            memory_allocated=max(0, change), memory_freed=max(0, -change), tensors_created=max(0, more_tensors),
            tensors_deleted=max(0, -more_tensors), memory_gross=span.gross(), allocations=span.count("allocated"),
            raised=raised, stacks=self._stacks_since(traced))

    # -- Watching.
    def start_monitoring(self, interval: float = 0.1) -> None:
        """Adds a snapshot every `interval` seconds, on a thread of its own, until stop_monitoring()."""
        if self._monitor is not None:
            return
        if not interval > 0:
            raise ValueError(f"the interval is above 0 seconds, but it is {interval}")
        self._stop = threading.Event()
        self._monitor = threading.Thread(target=self._watch, args=(self._stop, interval), daemon=True,
                                         name="gpustrata monitor")
        self._monitor.start()

    def stop_monitoring(self) -> None:
        if self._monitor is None or self._stop is None:
            return
        self._stop.set()
        self._monitor.join()
        self._monitor = None

    def _watch(self, stop: threading.Event, interval: float) -> None:
        while not stop.is_set():
            try:
                snapshot = self._snapshot("monitor")
            except Exception as error:  # the program that is watched must not suffer
                warnings.warn(f"gpustrata: the monitor ends: {error}", RuntimeWarning, stacklevel=1)
                return
            with self._lock:
                self.snapshots.append(snapshot)
            self._check(snapshot, None)
            stop.wait(interval)

    # -- Answers.
    def get_summary(self) -> dict[str, Any]:
        with self._lock:
            results = list(self.results)
        current = self._snapshot("current")
        by_name: dict[str, list[ProfileResult]] = defaultdict(list)
        for result in results:
            by_name[result.function_name].append(result)
        allocated = sum(result.memory_allocated for result in results)
        freed = sum(result.memory_freed for result in results)
        summary = {
            "device": self.device,
            "total_functions_profiled": len(by_name),
            "total_function_calls": len(results),
            "total_execution_time": sum(result.execution_time for result in results),
            "total_memory_allocated": allocated,
            "total_memory_freed": freed,
            "net_memory_change": allocated - freed,
            "peak_memory_usage": max((result.peak_memory_usage() for result in results), default=0),
            "current_memory_usage": current.allocated_memory,
            "baseline_memory_usage": self._baseline.allocated_memory,
            "memory_change_from_baseline": current.allocated_memory - self._baseline.allocated_memory,
            "function_summaries": {name: _function_summary(of) for name, of in by_name.items()},
            "monitoring_active": self._monitor is not None,
            "snapshots_collected": len(self.snapshots),
        }
        if not results:
            summary["message"] = "No profiling results available"
        return summary

    def clear_results(self) -> None:
        with self._lock:
            self.results.clear()
            self.snapshots.clear()
            self.alerts.clear()
        self._baseline = self._snapshot("baseline")

    def export(self, path: str | os.PathLike[str]) -> list[str]:
        """Results and snapshots: .json as one file, .csv as NAME_results.csv and NAME_snapshots.csv. The paths."""
        name = os.fspath(path)
        base, suffix = os.path.splitext(name)
        with self._lock:
            results, snapshots = list(self.results), list(self.snapshots)
        if suffix == ".json":
            _write(name, lambda file: json.dump({
                "metadata": {"export_time": time.strftime("%Y-%m-%dT%H:%M:%S"), "num_results": len(results),
                             "num_snapshots": len(snapshots)},
                "results": [one.to_dict() for one in results],
                "snapshots": [one.to_dict() for one in snapshots]}, file, indent=2))
            return [name]
        if suffix != ".csv":
            raise ValueError(f'export() writes .json or .csv, but the name is "{name}"')
        tables = [
            (f"{base}_results.csv", ["function_name", "execution_time", "memory_allocated", "memory_freed",
                                     "peak_memory", "memory_diff", "tensors_created", "tensors_deleted"],
             [{**one.to_dict(), "peak_memory": one.peak_memory_usage()} for one in results]),
            (f"{base}_snapshots.csv", ["timestamp", "operation", "allocated_memory", "reserved_memory", "active_memory",
                                       "inactive_memory", "device_id"], [one.to_dict() for one in snapshots])]
        for file_name, columns, rows in tables:
            def write(file: Any, columns: list[str] = columns, rows: list[dict[str, Any]] = rows) -> None:
                writer = csv.DictWriter(file, columns, extrasaction="ignore")
                writer.writeheader()
                writer.writerows(rows)

            _write(file_name, write)
        return [file_name for file_name, _, _ in tables]

    def __enter__(self) -> GPUMemoryProfiler:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop_monitoring()

    # -- Inside.
    def _snapshot(self, operation: str) -> MemorySnapshot:
        return self._of(self._counters.stats(), operation)

    def _of(self, stats: dict[str, int], operation: str) -> MemorySnapshot:
        def of(name: str) -> int:
            return int(stats.get(name, 0))

        trace = "".join(traceback.format_stack()[:-2][-_SHOWN_FRAMES:]) if self.collect_stack_traces else None
        return MemorySnapshot(
            time.time(), of("allocated_bytes.all.current"), of("reserved_bytes.all.current"),
            of("allocated_bytes.all.peak"), of("reserved_bytes.all.peak"), of("active_bytes.all.current"),
            of("inactive_split_bytes.all.current"), process_bytes() if self.track_cpu_memory else 0,
            -1 if self._counters.ordinal is None else self._counters.ordinal, operation, trace)

    def _tensors(self) -> int:
        torch = sys.modules.get("torch")
        if not self.track_tensors or torch is None:
            return 0
        gc.collect()
        kind = "cpu" if self._counters.ordinal is None else "cuda"
        # Asking odd objects for their class may run their code.
        return sum(1 for one in gc.get_objects()
                   if issubclass(type(one), torch.Tensor) and one.device.type == kind)

    def _traced(self) -> int | None:
        """Where the recorder's history of the device is; None without stacks."""
        if not self.collect_stack_traces or self._counters.ordinal is None or not self._counters.are_ours():
            return None
        return time.time_ns() // 1000

    def _stacks_since(self, time_us: int | None) -> list[dict[str, Any]]:
        if time_us is None or self._counters.ordinal is None:
            return []
        traces = _recorder.snapshot()["device_traces"]
        found: dict[tuple[Any, ...], list[Any]] = {}
        for event in traces[self._counters.ordinal] if self._counters.ordinal < len(traces) else []:
            if event["action"] != "alloc" or event.get("time_us", 0) < time_us:
                continue
            frames = event.get("frames") or []
            key = tuple((frame["filename"], frame["line"], frame["name"]) for frame in frames)
            held = found.setdefault(key, [0, 0, frames])
            held[0] += event["size"]
            held[1] += 1
        rows = sorted(found.values(), key=lambda row: -row[0])[:_MOST_STACKS]
        return [{"bytes": size, "blocks": blocks, "frames": frames} for size, blocks, frames in rows]

    def _check(self, now: MemorySnapshot, result: ProfileResult | None) -> None:
        broken = []
        level = max(now.allocated_memory, result.peak_memory_usage() if result else 0)
        if self.max_bytes is not None and level > self.max_bytes:
            broken.append(("max_bytes", f"{level:,} bytes are allocated, the rule allows {self.max_bytes:,}", level))
        growth = now.allocated_memory - self._baseline.allocated_memory
        if self.max_growth is not None and growth > self.max_growth:
            broken.append(("max_growth", f"{growth:,} bytes more than at the beginning, the rule allows "
                                         f"{self.max_growth:,}", growth))
        for rule, message, value in broken:
            with self._lock:
                is_first = all(alert.rule != rule for alert in self.alerts)
                self.alerts.append(Alert(now.timestamp, rule, message, value))
            if is_first:
                warnings.warn(f"gpustrata: {message}", RuntimeWarning, stacklevel=3)


class _Measured:
    result: ProfileResult


def profile_function(func: Callable[..., Any] | None = None, **options: Any) -> Any:
    """A decorator whose profiler is the function's attribute `profiler`."""
    if func is None:
        return functools.partial(profile_function, **options)
    profiler = GPUMemoryProfiler(**options)
    wrapped = profiler.wrap(func)
    wrapped.profiler = profiler  # type: ignore[attr-defined]
    return wrapped


def _function_summary(results: list[ProfileResult]) -> dict[str, Any]:
    seconds = sum(result.execution_time for result in results)
    allocated = sum(result.memory_allocated for result in results)
    return {
        "call_count": len(results), "total_time": seconds, "avg_time": seconds / len(results),
        "total_memory_allocated": allocated, "avg_memory_allocated": allocated / len(results),
        "peak_memory": max(result.peak_memory_usage() for result in results),
    }


def _write(path: str, fill: Callable[[Any], None]) -> None:
    """Complete, or not there."""
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        with open(beside, "w", encoding="utf-8", newline="") as file:
            fill(file)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise


def _named(ordinal: int | None) -> str:
    return "cpu" if ordinal is None else f"cuda:{ordinal}"


def _ordinal(device: Any) -> int | None:
    """None = the process itself."""
    ours = _recorder.is_recording_allocator()
    torch = sys.modules.get("torch")
    if device is None and not ours and (torch is None or not torch.cuda.is_available()):
        return None
    if str(device) == "cpu":
        return None
    ordinal = _recorder._device(device)
    count = _recorder._library().gpustrata_device_count() if ours else torch.cuda.device_count() if torch else 0
    if ordinal >= count:
        raise ValueError(f"there is no device {device!r} here: CUDA devices are counted from 0, and there are {count}")
    return ordinal
