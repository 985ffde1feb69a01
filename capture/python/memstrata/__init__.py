"""GPU memory of a Python program: memstrata's recorder, and profilers of functions and operators.

    import memstrata

    memstrata.install()                       # a PyTorch run with memstrata's allocator
    memstrata.record_memory_history()
    memstrata.dump_snapshot("run.pickle")

    profiler = memstrata.GPUMemoryProfiler()
    print(profiler.profile_function(train_step).peak_over_entry())

Importing this module loads nothing: the library comes with the first call.
"""
from memstrata._recorder import (
    CaptureError, annotate, cpp_unwinder, devices, dump_at_exit, dump_on_oom, dump_snapshot, empty_cache, free,
    install, is_recording_allocator, malloc, max_memory_allocated, max_memory_reserved, memory_allocated,
    memory_reserved, memory_stats, memory_summary, metadata, record_memory_history, region,
    reset_accumulated_memory_stats, reset_peak_memory_stats, set_allocator_settings, snapshot, use_simulated_device)

__all__ = [
    "CaptureError", "GPUMemoryProfiler", "MemoryTracker", "annotate", "cpp_unwinder", "devices", "dump_at_exit",
    "dump_on_oom", "dump_snapshot", "empty_cache", "free", "install", "is_recording_allocator", "malloc",
    "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats",
    "memory_summary", "metadata", "record_memory_history", "region", "reset_accumulated_memory_stats",
    "reset_peak_memory_stats", "set_allocator_settings", "snapshot", "use_simulated_device",
]


_LATER = {"GPUMemoryProfiler": "profiler", "MemoryTracker": "tracker"}


def __getattr__(name: str) -> object:
    """The profilers come with their first use."""
    if name not in _LATER:
        raise AttributeError(f"module 'memstrata' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module("memstrata." + _LATER[name]), name)
