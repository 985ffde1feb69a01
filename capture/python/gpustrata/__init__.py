"""See where GPU memory goes.

    import gpustrata
    f = gpustrata.open("snapshot.pickle")     # any file the viewer opens
    f.events(), f.blocks(), f.lives()         # tables for pandas, polars, pyarrow, duckdb
    f.summary(), f.top(), f.report()          # what the command says, as dicts
    f.show()                                  # the viewer, in a notebook
    gpustrata.fit({"b4.pickle": {"batch": 4}, "b8.pickle": {"batch": 8}}, capacity=80 << 30)    # the largest batch

    with gpustrata.record("run-{rank}.pickle"):   # PyTorch's own allocator, observed; or: gpustrata run train.py
        train()

    with gpustrata.estimate(device="80GiB") as e:   # the memory of a program, with no GPU
        train()
    e.report()

    gpustrata.install()                       # gpustrata's allocator instead of PyTorch's
    gpustrata.record_memory_history()
    gpustrata.dump_snapshot("run.pickle")

Importing this module loads nothing: modules and libraries come with the first use.
"""
TYPE_CHECKING = False  # as typing's, which takes longer to import than all of this
if TYPE_CHECKING:
    from gpustrata._errors import FileError
    from gpustrata._estimate.estimate import Estimate, estimate
    from gpustrata._file import File, Snapshot, fit, open
    from gpustrata._recorder import (
        CaptureError, annotate, cpp_unwinder, devices, dump_at_exit, dump_on_oom, dump_snapshot, empty_cache, free,
        install, is_recording_allocator, journal, malloc, max_memory_allocated, max_memory_reserved, memory_allocated,
        memory_reserved, memory_stats, memory_summary, metadata, record_memory_history, region,
        reset_accumulated_memory_stats, reset_peak_memory_stats, set_allocator_settings, snapshot,
        use_simulated_device)
    from gpustrata._run.record import record
    from gpustrata._table import Table
    from gpustrata.profiler import GPUMemoryProfiler
    from gpustrata.tracker import MemoryTracker

__version__ = "0.1.0"
__all__ = [
    "CaptureError", "Estimate", "File", "FileError", "GPUMemoryProfiler", "MemoryTracker", "Snapshot", "Table", "annotate",
    "cpp_unwinder", "devices", "dump_at_exit", "dump_on_oom", "dump_snapshot", "empty_cache", "estimate", "fit", "free", "install",
    "is_recording_allocator", "journal", "malloc", "max_memory_allocated", "max_memory_reserved", "memory_allocated",
    "memory_reserved", "memory_stats", "memory_summary", "metadata", "open", "record", "record_memory_history",
    "region", "reset_accumulated_memory_stats", "reset_peak_memory_stats", "set_allocator_settings", "snapshot",
    "use_simulated_device",
]
_HOME = {
    "FileError": "_errors", "estimate": "_estimate.estimate", "Estimate": "_estimate.estimate", "File": "_file", "Snapshot": "_file", "fit": "_file", "open": "_file", "record": "_run.record",
    "Table": "_table", "GPUMemoryProfiler": "profiler", "MemoryTracker": "tracker",
}


if not TYPE_CHECKING:  # else every name would be one

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module 'gpustrata' has no attribute {name!r}")
        import importlib

        value = getattr(importlib.import_module("gpustrata." + _HOME.get(name, "_recorder")), name)
        globals()[name] = value
        return value


def load_ipython_extension(shell: object) -> None:
    """`%load_ext gpustrata`: the magic of cells `%%gpustrata`."""
    from gpustrata._run import cell

    cell.load(shell)


def __dir__() -> "list[str]":
    return sorted({*globals(), *__all__})
