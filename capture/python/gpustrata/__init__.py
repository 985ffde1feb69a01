"""See where GPU memory goes.

    import gpustrata
    f = gpustrata.open("snapshot.pickle")     # any file the viewer opens
    f.events(), f.blocks(), f.lives()         # tables for pandas, polars, pyarrow, duckdb
    f.summary(), f.top(), f.report()          # what the command says, as dicts
    f.show()                                  # the viewer, in a notebook

    gpustrata.install()                       # record a PyTorch run with gpustrata's allocator
    gpustrata.record_memory_history()
    gpustrata.dump_snapshot("run.pickle")

Importing this module loads nothing: the libraries come with the first call.
"""
from gpustrata._errors import FileError
from gpustrata._file import File, Snapshot, open
from gpustrata._recorder import (
    CaptureError, annotate, cpp_unwinder, devices, dump_at_exit, dump_on_oom, dump_snapshot, empty_cache, free,
    install, is_recording_allocator, malloc, max_memory_allocated, max_memory_reserved, memory_allocated, memory_reserved, memory_stats,
    memory_summary, metadata, record_memory_history, region, reset_accumulated_memory_stats,
    reset_peak_memory_stats, set_allocator_settings, snapshot, use_simulated_device)
from gpustrata._table import Table

_LATER = {"GPUMemoryProfiler": "profiler", "MemoryTracker": "tracker"}


def __getattr__(name: str) -> object:
    """The profilers come with their first use."""
    if name not in _LATER:
        raise AttributeError(f"module 'gpustrata' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module("gpustrata." + _LATER[name]), name)


__version__ = "0.1.0"
__all__ = [
    "CaptureError", "File", "FileError", "GPUMemoryProfiler", "MemoryTracker", "Snapshot", "Table", "annotate",
    "cpp_unwinder", "devices", "dump_at_exit", "dump_on_oom", "dump_snapshot", "empty_cache", "free", "install",
    "malloc", "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats",
    "memory_summary", "metadata", "open", "record_memory_history", "region", "reset_accumulated_memory_stats",
    "reset_peak_memory_stats", "set_allocator_settings", "snapshot", "use_simulated_device",
]
