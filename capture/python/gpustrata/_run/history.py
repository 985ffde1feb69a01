"""PyTorch's own history of its allocator: where the events come from. Nothing of PyTorch is replaced but the Python
function that begins this history, so that a program which begins it itself is noticed."""
from __future__ import annotations

import functools
import inspect
import os
import pickle
import sys
from typing import Any, Callable

__all__ = ["Snapshot", "begin", "end", "is_on", "take", "watch"]

HOW = "from PyTorch's own history"

Changed = Callable[[bool, str], None]  # (whether it is on then, "train.py:12")
_original: Any = None
_is_ours = False  # begun here, and since then neither begun anew nor ended by the program


def _function(torch: Any) -> Any:
    return _original or torch.cuda.memory._record_memory_history


def begin(torch: Any, stacks: str, max_events: int) -> None:
    """Failure: whatever this PyTorch raises."""
    global _is_ours
    function = _function(torch)
    more: dict[str, Any] = {"context": None} if stacks == "none" else {"context": "all", "stacks": stacks}
    # Regions of record_function on all threads, where this version can.
    if "global_record_annotations" in inspect.signature(function).parameters:
        more["global_record_annotations"] = True
    function("all", max_entries=max_events, **more)
    _is_ours = True


def end(torch: Any) -> None:
    """Throws it away; not one that the program began."""
    global _is_ours
    if _is_ours:
        _is_ours = False
        _function(torch)(None)


def is_on(torch: Any) -> bool:
    asked = getattr(torch._C, "_cuda_isHistoryEnabled", None)
    return bool(asked is not None and asked())


class Snapshot:
    def __init__(self, snapshot: dict[str, Any], max_events: int) -> None:
        self._snapshot = snapshot
        traces = snapshot["device_traces"]
        events = [sum(1 for event in trace if event["action"] != "snapshot") for trace in traces]
        used = {device for device, count in enumerate(events) if count}
        self.devices = sorted(used | {segment["device"] for segment in snapshot["segments"] if segment.get("device", -1) >= 0})
        self.events = sum(events)
        # PyTorch's ring counts snapshots, too.
        self.is_cut = max((len(trace) for trace in traces), default=0) >= max_events

    def write(self, path: str) -> None:
        with open(path, "wb") as file:
            pickle.dump(self._snapshot, file)


def take(torch: Any, max_events: int) -> Snapshot:
    return Snapshot(torch.cuda.memory._snapshot(), max_events)


def watch(torch: Any, changed: Changed) -> None:
    """From now on `changed` hears, before it happens, when the program begins or ends this history itself."""
    global _original
    if _original is not None:
        return
    original = torch.cuda.memory._record_memory_history

    @functools.wraps(original)
    def _record_memory_history(enabled: Any = "all", *arguments: Any, **named: Any) -> Any:
        caller = sys._getframe(1)
        changed(bool(enabled), f"{os.path.basename(caller.f_code.co_filename)}:{caller.f_lineno}")
        # PyTorch keeps the events that are there: in a ring made smaller they would be out of order.
        end(torch)
        return original(enabled, *arguments, **named)

    _original = original
    torch.cuda.memory._record_memory_history = _record_memory_history
