"""MemoryTracker: the memory after every operator of a PyTorch program, and the highest inside of each.

    tracker = gpustrata.MemoryTracker()
    tracker.start_monitor(model)
    for batch in batches: ...
    tracker.stop()
    tracker.summary(top=20)
    tracker.save_stats("memory.trace")

The interface by name of torch.distributed._tools.memory_tracker.MemoryTracker, whose files both open (and `gpustrata
tracker FILE`). What differs: the highest level inside each operator; markers of every iteration; operators of the
backward pass are named by the module whose gradients they compute, those of the optimizer as such, those of a parent as
the parent's after a child has returned; the first operator counts; a loaded file can be summed up; the cache is not
emptied, which would change what is measured.
"""
from __future__ import annotations

import os
import pickle
import threading
import weakref
from collections import Counter, defaultdict
from typing import Any

from gpustrata._counters import Counters, Span
from gpustrata.profiler import _ordinal, _write

__all__ = ["MemoryTracker"]

_MIB = 1 << 20
_TABLES = {"memories_allocated": "allocated", "memories_active": "active", "memories_reserved": "reserved"}
_COLOURS = {"memories_allocated": "#3d6fb4", "memories_active": "#d08a2e", "memories_reserved": "#6b6b6b",
            "memories_peak": "#b03a48"}


class _Allowed(pickle.Unpickler):
    """Of the files: dicts and numbers, nothing that runs."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in (("collections", "defaultdict"), ("builtins", "int")):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"this file is no MemoryTracker's: it names {module}.{name}")


class MemoryTracker:
    """device: None (the current CUDA device; the process itself where there is none), a number, "cuda:1", "cpu"."""

    def __init__(self, device: Any = None) -> None:
        self._device = device
        self._hooks: list[Any] = []
        self._mode: Any = None
        self._clear()

    def _clear(self) -> None:
        # Operator call -> (name, MiB), as in the file.
        self.memories_allocated: dict[int, tuple[str, float]] = {}
        self.memories_active: dict[int, tuple[str, float]] = {}
        self.memories_reserved: dict[int, tuple[str, float]] = {}
        self.memories_peak: dict[int, tuple[str, float]] = {}  # the highest allocated inside the operator
        self.start_allocated: float | None = None  # MiB before the first operator; None = not in the file
        self.markers: dict[str, int] = {}
        self.num_alloc_retries = 0
        self._calls: Counter[str] = Counter()
        self._iterations = 0
        self._modules: list[str] = []
        self._backward: str | None = None

    # -- Recording.
    def start_monitor(self, root_module: Any) -> None:
        """From now on every operator of this thread and its backward passes. Begins anew."""
        import torch
        from torch.utils._python_dispatch import TorchDispatchMode

        if self._mode is not None:
            raise RuntimeError("the tracker is running; stop() it first")
        self._clear()
        self._counters = Counters(_ordinal(self._device))
        before = self._counters.stats()
        self.start_allocated = before.get("allocated_bytes.all.current", 0) / _MIB
        self._retries_before = before.get("num_alloc_retries", 0)
        self._owner: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._marked: set[int] = set()
        self._lock = threading.Lock()
        for name, module in root_module.named_modules():
            self._hooks.append(module.register_forward_pre_hook(self._entering(name, module is root_module)))
            self._hooks.append(module.register_forward_hook(self._leaving(name, module is root_module)))
        self._watch_optimizers()
        tracker = self

        class Mode(TorchDispatchMode):
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                if func is torch.ops.aten.detach.default:
                    return func(*args, **kwargs or {})
                span = Span(tracker._counters)
                try:
                    return func(*args, **kwargs or {})
                finally:
                    span.end()
                    tracker._add(func.__name__, span)

        self._mode = Mode()
        self._mode.__enter__()

    def stop(self) -> None:
        """Ends recording; what is known stays."""
        if self._mode is None:
            return
        self._mode.__exit__(None, None, None)
        self._mode = None
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()
        retries = self._counters.stats().get("num_alloc_retries", 0)
        self.num_alloc_retries = retries - self._retries_before

    def __enter__(self) -> MemoryTracker:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _add(self, op: str, span: Span) -> None:
        with self._lock:
            if self._modules:
                prefix = f"{self._modules[-1]}.forward."
            else:
                prefix = f"{self._backward}." if self._backward else "."
            name = f"{prefix}{op}_{self._calls[op]}"
            self._calls[op] += 1
            index = len(self.memories_allocated)
            for table, what in _TABLES.items():
                getattr(self, table)[index] = (name, span.after.get(f"{what}_bytes.all.current", 0) / _MIB)
            self.memories_peak[index] = (name, span.peak() / _MIB)

    def _entering(self, name: str, is_root: bool) -> Any:
        def hook(*_: Any) -> None:
            if is_root:
                self._backward = None
                self._mark("fw_start", self._iterations)
            self._modules.append(name)

        return hook

    def _leaving(self, name: str, is_root: bool) -> Any:
        def hook(_module: Any, _inputs: Any, output: Any) -> None:
            # After an exception inside, names of modules that never returned are above.
            while self._modules and self._modules.pop() != name:
                pass
            self._mark_backward(name, output)
            if is_root:
                self._mark("fw_bw_boundary", self._iterations)
                self._iterations += 1

        return hook

    def _mark(self, name: str, iteration: int) -> None:
        # The plain name is that of the last iteration, as PyTorch's tracker keeps it.
        self.markers[name] = self.markers[f"{name}_{iteration}"] = len(self.memories_allocated)

    def _mark_backward(self, name: str, output: Any) -> None:
        """The node that made an output runs first of its module's in the backward pass."""
        several = output.values() if isinstance(output, dict) else output
        for one in several if isinstance(output, (list, tuple, dict)) else [output]:
            node = getattr(one, "grad_fn", None)
            if node is None or not hasattr(node, "register_prehook") or "_gpustrata" in node.metadata:
                continue  # of several modules that give the same output, the innermost made it
            node.metadata["_gpustrata"] = True

            def begin(*_: Any) -> None:
                self._backward = f"{name}.backward"

            self._hooks.append(node.register_prehook(begin))

    def _watch_optimizers(self) -> None:
        try:
            from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
        except ImportError:  # before PyTorch 2.1
            return

        def begin(optimizer: Any, *_: Any) -> None:
            self._backward = f"{type(optimizer).__name__}.step"

        def end(*_: Any) -> None:
            self._backward = None

        self._hooks += [register_optimizer_step_pre_hook(begin), register_optimizer_step_post_hook(end)]

    # -- Answers.
    def changes(self) -> list[tuple[str, float]]:
        """(operator, MiB more than before it), in the order of the calls."""
        rows = [self.memories_allocated[index] for index in sorted(self.memories_allocated)]
        changes = []
        before = self.start_allocated
        for name, level in rows:
            if before is not None:
                changes.append((name, level - before))
            before = level
        return changes

    def summary(self, top: int = 20) -> list[tuple[str, float]]:
        """Prints the operators that took the most, and returns them."""
        largest = sorted(self.changes(), key=lambda row: -row[1])[:top]
        print(f"{len(self.memories_allocated)} operators, {self.num_alloc_retries} allocations were tried again")
        levels = self.memories_peak or self.memories_allocated
        peak = max(levels.values(), key=lambda row: row[1], default=None)
        if peak is not None:
            print(f"highest: {peak[1]:.1f} MiB, {'inside' if self.memories_peak else 'after'} {peak[0]}")
        for name, change in largest:
            print(f"{change:+10.1f} MiB  {name}")
        return largest

    def save_stats(self, path: str | os.PathLike[str]) -> None:
        """A file that PyTorch's tracker loads, too."""
        def table(rows: dict[int, tuple[str, float]]) -> Any:
            made: Any = defaultdict()
            made.update(rows)
            return made

        stats = {name: table(getattr(self, name)) for name in _TABLES}
        stats["markers"] = defaultdict(int, self.markers)
        stats["num_alloc_retries"] = self.num_alloc_retries
        if self.memories_peak:
            stats["memories_peak"] = table(self.memories_peak)
        if self.start_allocated is not None:
            stats["start_allocated"] = self.start_allocated
        data = pickle.dumps(stats, protocol=4)
        _write(os.fspath(path), lambda file: file.buffer.write(data))

    def load(self, path: str | os.PathLike[str]) -> None:
        """What save_stats() wrote, here or in PyTorch. Nothing in the file is run."""
        with open(path, "rb") as file:
            stats = _Allowed(file).load()
        if not isinstance(stats, dict) or not set(_TABLES) <= set(stats):
            raise ValueError(f"{os.fspath(path)} holds no statistics of a MemoryTracker")
        self._clear()
        for name in [*_TABLES, "memories_peak"]:
            setattr(self, name, dict(stats.get(name) or {}))
        self.markers = dict(stats.get("markers") or {})
        self.num_alloc_retries = int(stats.get("num_alloc_retries", 0))
        self.start_allocated = stats.get("start_allocated")

    def show_traces(self, path: str | os.PathLike[str] = "") -> Any:
        """The levels over operator calls, of `path` if it is given; a figure, with matplotlib."""
        if path:
            self.load(path)
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(12, 6))
        for name in self._shown():
            rows = getattr(self, name)
            axes.plot(sorted(rows), [rows[index][1] for index in sorted(rows)], label=name, color=_COLOURS[name])
        for name, index in self.markers.items():
            axes.axvline(index, color="red" if name.startswith("fw_bw") else "black", linewidth=0.7)
        axes.set_xlabel("operator calls")
        axes.set_ylabel("MiB")
        axes.legend()
        plt.show()
        return figure

    def save_plot(self, path: str | os.PathLike[str]) -> None:
        """The same as a picture: .svg by itself, any other kind by matplotlib."""
        name = os.fspath(path)
        if not name.endswith(".svg"):
            import matplotlib

            matplotlib.use("Agg", force=False)
            self.show_traces().savefig(name)
            return
        _write(name, lambda file: file.write(self._svg()))

    def _shown(self) -> list[str]:
        return [name for name in _COLOURS if getattr(self, name)]

    def _svg(self) -> str:
        width, height, left, bottom = 960, 480, 70, 40
        highest = max((row[1] for name in self._shown() for row in getattr(self, name).values()), default=1.0) or 1.0
        last = max(1, len(self.memories_allocated) - 1)

        def x(index: int) -> float:
            return left + (width - left - 10) * index / last

        def y(level: float) -> float:
            return height - bottom - (height - bottom - 30) * level / highest

        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
                 f'font-size="12"><rect width="{width}" height="{height}" fill="white"/>']
        for step in range(5):
            level = highest * step / 4
            parts.append(f'<path d="M{left} {y(level):.1f}H{width - 10}" stroke="#ddd"/>'
                         f'<text x="{left - 6}" y="{y(level) + 4:.1f}" text-anchor="end">{level:,.1f} MiB</text>')
        for name, index in self.markers.items():
            colour = "#c00" if name.startswith("fw_bw") else "#000"
            parts.append(f'<path d="M{x(index):.1f} 30V{height - bottom}" stroke="{colour}" stroke-width="0.7"/>')
        for place, name in enumerate(self._shown()):
            rows = getattr(self, name)
            points = " ".join(f"{x(index):.1f},{y(rows[index][1]):.1f}" for index in sorted(rows))
            parts.append(f'<polyline points="{points}" fill="none" stroke="{_COLOURS[name]}"/>'
                         f'<text x="{left + 180 * place}" y="18" fill="{_COLOURS[name]}">{name}</text>')
        parts.append(f'<text x="{width / 2}" y="{height - 10}" text-anchor="middle">operator calls, 0 to {last}</text>')
        return "".join([*parts, "</svg>"])
