"""Record a PyTorch run's GPU memory with gpustrata's allocator.

    import gpustrata_torch as gpustrata
    gpustrata.install()                      # before the first CUDA tensor
    gpustrata.record_memory_history()
    ...
    gpustrata.dump_snapshot("run.pickle")    # open it in gpustrata's viewer

One file, standard library only; the package in python/ holds it, too. It talks to libgpustrata_capture.so,
which is looked for in GPUSTRATA_CAPTURE (a path), beside this file, in build/native-release/lib of the checkout, then
by the system's loader. `torch` is imported by install() only.
"""
import atexit
import contextlib
import ctypes
import json
import operator
import os
import re
import sys
import threading

__all__ = [
    "CaptureError", "install", "devices", "cpp_unwinder", "record_memory_history", "snapshot", "dump_snapshot",
    "dump_on_oom", "journal",
    "dump_at_exit", "memory_stats", "memory_summary", "memory_allocated", "max_memory_allocated",
    "memory_reserved", "max_memory_reserved", "reset_peak_memory_stats", "reset_accumulated_memory_stats",
    "empty_cache", "set_allocator_settings", "region", "metadata", "annotate", "use_simulated_device", "malloc",
    "free", "is_recording_allocator",
]

_LIBRARY = "libgpustrata_capture.so"
_UNLIMITED = sys.maxsize
# (name, result, arguments). Status functions return 0 or a reason for CaptureError.
_STATUS = ctypes.c_int
_POINTER, _SIZE, _TEXT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
_FUNCTIONS = [
    ("gpustrata_last_error", _TEXT, []),
    ("gpustrata_device_count", ctypes.c_int, []),
    ("gpustrata_describe_devices", _SIZE, [_TEXT, _SIZE]),
    ("gpustrata_use_simulated_device", _STATUS, [ctypes.c_int64]),
    ("gpustrata_alloc", _POINTER, [_SIZE, ctypes.c_int, _POINTER]),
    ("gpustrata_free", None, [_POINTER, _SIZE, ctypes.c_int, _POINTER]),
    ("gpustrata_cpp_unwinder", _TEXT, []),
    ("gpustrata_empty_cache", _STATUS, []),
    ("gpustrata_set_allocator_settings", _STATUS, [_TEXT]),
    ("gpustrata_set_free_order", _STATUS, [_TEXT]),
    ("gpustrata_record_memory_history", _STATUS, [_POINTER]),
    ("gpustrata_set_user_metadata", _STATUS, [_TEXT]),
    ("gpustrata_region_begin", _STATUS, [_TEXT, ctypes.c_int]),
    ("gpustrata_region_end", _STATUS, [ctypes.c_int]),
    ("gpustrata_annotate", _STATUS, [_POINTER, _TEXT]),
    ("gpustrata_dump_snapshot", _STATUS, [_TEXT]),
    ("gpustrata_snapshot", _STATUS, [_POINTER, _POINTER]),
    ("gpustrata_free_bytes", None, [_POINTER]),
    ("gpustrata_stop_python_stacks", None, []),
    ("gpustrata_set_oom_dump", _STATUS, [_TEXT]),
    ("gpustrata_journal", _STATUS, [_TEXT, ctypes.c_int64]),
    ("gpustrata_memory_stats", _SIZE, [ctypes.c_int, _TEXT, _SIZE]),
    ("gpustrata_memory_summary", _SIZE, [ctypes.c_int, ctypes.c_int, _TEXT, _SIZE]),
    ("gpustrata_reset_peak_memory_stats", _STATUS, [ctypes.c_int]),
    ("gpustrata_reset_accumulated_memory_stats", _STATUS, [ctypes.c_int]),
    # Of gpustrata._run.observe.
    ("gpustrata_learn_python", _STATUS, []),
    ("gpustrata_observe", _STATUS, [_POINTER, ctypes.c_int, ctypes.c_int64]),
    ("gpustrata_observe_to_journal", _STATUS, [_POINTER, ctypes.c_int, _TEXT, ctypes.c_int64]),
    ("gpustrata_observed_journal_events", ctypes.c_int64, [ctypes.c_int]),
    ("gpustrata_observed_journal_is_cut", ctypes.c_int, []),
    ("gpustrata_observe_end", _STATUS, []),
    ("gpustrata_observation_take", _STATUS, [_POINTER]),
    ("gpustrata_observation_events", ctypes.c_int64, [_POINTER, ctypes.c_int]),
    ("gpustrata_observation_segments", ctypes.c_int64, [_POINTER, ctypes.c_int]),
    ("gpustrata_observation_lost", ctypes.c_int64, [_POINTER]),
    ("gpustrata_observation_write", _STATUS, [_POINTER, _TEXT]),
    ("gpustrata_observation_free", None, [_POINTER]),
]
# Setters of CUDAPluggableAllocator's object and the hooks they get. A PyTorch without one goes on without, but for
# those of pools: memory of CUDA graphs would come from the common pool, and other code would write into it.
_NEEDED = {"set_begin_allocate_to_pool", "set_end_allocate_to_pool_fn", "set_release_pool"}
_HOOKS = [
    ("set_init_fn", "gpustrata_hook_init"),
    ("set_reset_fn", "gpustrata_hook_reset"),
    ("set_memory_fraction_fn", "gpustrata_hook_memory_fraction"),
    ("set_base_alloc_fn", "gpustrata_hook_base_alloc"),
    ("set_record_stream_fn", "gpustrata_hook_record_stream"),
    ("set_begin_allocate_to_pool", "gpustrata_hook_begin_allocate_to_pool"),
    ("set_end_allocate_to_pool_fn", "gpustrata_hook_end_allocate_to_pool"),
    ("set_release_pool", "gpustrata_hook_release_pool"),
]


class CaptureError(RuntimeError):
    """What the library says went wrong. Nothing that was recorded is lost by it."""


class _History(ctypes.Structure):
    _fields_ = [
        ("enabled", _TEXT), ("context", _TEXT), ("stacks", _TEXT), ("max_entries", ctypes.c_int64),
        ("clear_history", ctypes.c_int), ("skip_actions", _TEXT),
    ]


_loaded = None
_installed = False
_simulated = False  # there is a device without a driver
_instead = None  # torch, whose own recorder is used because install() could not


def _candidates():
    if os.environ.get("GPUSTRATA_CAPTURE"):
        return [os.environ["GPUSTRATA_CAPTURE"]]
    here = os.path.dirname(os.path.realpath(__file__))
    built = os.path.join(os.path.dirname(here), "build", "native-release", "lib", _LIBRARY)
    return [path for path in (os.path.join(here, _LIBRARY), built) if os.path.exists(path)] + [_LIBRARY]


def _library():
    global _loaded
    if _loaded is None:
        reasons = []
        for path in _candidates():
            try:
                # CDLL releases the interpreter's lock during calls, so that a dump does not stop other threads.
                library = ctypes.CDLL(path)
                break
            except OSError as error:
                reasons.append(str(error))
        else:
            raise CaptureError(
                f"cannot load {_LIBRARY}: {'; '.join(reasons)}. Build it (cmake --preset native-release && cmake "
                "--build --preset native-release) or name its path in GPUSTRATA_CAPTURE.")
        for name, result, arguments in _FUNCTIONS:
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        # Threads that ask for the interpreter's lock while it ends would be killed in the middle of their work.
        if _is_main_interpreter():
            atexit.register(library.gpustrata_stop_python_stacks)
        _loaded = library
    return _loaded


def _is_main_interpreter():
    function = ctypes.PYFUNCTYPE(ctypes.c_void_p)
    try:
        return (function(("PyInterpreterState_Get", ctypes.pythonapi))()
                == function(("PyInterpreterState_Main", ctypes.pythonapi))())
    except AttributeError:  # Python before 3.9
        return True


def _call(name, *arguments):
    library = _library()
    if getattr(library, name)(*arguments) != 0:
        raise CaptureError(library.gpustrata_last_error().decode(errors="replace"))


def _text(name, *arguments):
    library = _library()
    function = getattr(library, name)
    # Most texts fit at once. What changed meanwhile may be longer by a few digits.
    size = 16384
    while True:
        buffer = ctypes.create_string_buffer(size + 256)
        size = function(*arguments, buffer, len(buffer))
        if size == 0:
            raise CaptureError(library.gpustrata_last_error().decode(errors="replace"))
        if size < len(buffer):
            return buffer.value.decode(errors="replace")


def _bytes(text):
    if text is None:
        return None
    return _text_of(os.fsencode(text) if isinstance(text, os.PathLike) else str(text).encode())


def _text_of(data):
    """Bytes as a text of C, which ends at a zero byte: one inside is a ValueError."""
    if b"\0" in data:
        raise ValueError(f"a text must not have a zero byte, but it is {data[:100]!r}")
    return data


def _whole(number, kind=ctypes.c_int64):
    """The number, if this type of ctypes holds it; else an OverflowError: ctypes alone leaves out the upper bits."""
    number = operator.index(number)
    if kind(number).value != number:
        raise OverflowError(f"{number} does not fit into {8 * ctypes.sizeof(kind)} bits")
    return number


def _device(device):
    """An ordinal from None (the current device), an int, "cuda", "cuda:1" or a torch.device."""
    if isinstance(device, int) and not isinstance(device, bool):
        if device < 0:
            raise ValueError(f"a device counts from 0, but it is {device}")
        return _whole(device, ctypes.c_int)
    if isinstance(device, str):
        kind, colon, number = device.partition(":")
        index = int(number) if number.isascii() and number.isdigit() else None
        if kind != "cuda" or bool(colon) != (index is not None):
            raise ValueError(f'only CUDA devices have memory here ("cuda", "cuda:1"), but it is {device!r}')
    elif device is None:
        index = None
    else:
        kind, index = getattr(device, "type", None), getattr(device, "index", None)
        if kind != "cuda":
            raise ValueError(f'a device is None, a number, "cuda:1" or a torch.device of CUDA, but it is {device!r}')
    if index is not None:
        return _whole(index, ctypes.c_int)
    torch = sys.modules.get("torch")
    return torch.cuda.current_device() if torch is not None and torch.cuda.is_initialized() else 0


def _path(path):
    """With the rank and the process id in it, so that processes do not overwrite each other's files."""
    if path is None:
        return None
    text = os.fsdecode(path)
    if "{pid}" in text:
        text = text.replace("{pid}", str(os.getpid()))
    return text.replace("{rank}", _rank()) if "{rank}" in text else text


def _rank():
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return str(distributed.get_rank())
    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
        if os.environ.get(name, "").isdigit():
            return os.environ[name]
    return "0"


def devices():
    """In words: which driver and how many devices, or why there are none."""
    return _text("gpustrata_describe_devices")


def cpp_unwinder():
    """What gathers C++ stacks: "libunwind", or the compiler's "libgcc", which is 20 times slower."""
    return _library().gpustrata_cpp_unwinder().decode()


def use_simulated_device(size):
    """Device 0 is then one of `size` bytes that has addresses but no memory: to try things without a GPU."""
    global _simulated
    _call("gpustrata_use_simulated_device", _whole(size))
    _simulated = True


def malloc(size, device=0):
    """The address of `size` bytes of device memory, for programs without PyTorch; free() gives them back."""
    pointer = _library().gpustrata_alloc(_whole(size, _SIZE), _device(device), None)
    if not pointer and size:
        raise CaptureError(_library().gpustrata_last_error().decode(errors="replace"))
    return pointer or 0


def free(pointer, device=0):
    _library().gpustrata_free(_whole(pointer or 0, _SIZE), 0, _device(device), None)


def install(companion=False):
    """Makes gpustrata PyTorch's CUDA allocator. To be called before the first use of CUDA, which it does not begin: a
    later fork and a later CUDA_VISIBLE_DEVICES are as without it.

    torch.cuda.memory_stats() and the other questions about memory, torch.cuda.memory._record_memory_history(),
    _snapshot() and _dump_snapshot() are answered by gpustrata then; PyTorch's own would raise. Out of memory is a
    RuntimeError "CUDA out of memory. Tried to allocate ...", not torch.OutOfMemoryError.
    companion=True (or GPUSTRATA_COMPANION=1): as a class that is compiled for this PyTorch, once. Then out of memory is
    torch.OutOfMemoryError, and MemPool(), checkpoints of graph pools, cuDNN's benchmark, memory of other processes and the
    profiler's view of memory work, too. Where it cannot be compiled a message says why, and the hooks are used.
    Returns True, or False with a message on stderr: the program goes on with PyTorch's own allocator, and the functions
    here with PyTorch's own recorder.
    """
    global _installed, _instead
    if _installed:
        return True
    try:
        library = _library()
        if not _simulated:
            _find_driver()
        import torch

        if torch.cuda.is_initialized():
            raise CaptureError("CUDA is in use already; call install() before the first CUDA tensor")
        if not _simulated:
            _call("gpustrata_set_free_order", _free_order_of(torch).encode())
        if (companion or os.environ.get("GPUSTRATA_COMPANION") == "1") and _install_companion(torch, library._name):
            _installed, _instead = True, None
            _redirect(torch)
            return True
        allocator = torch.cuda.memory.CUDAPluggableAllocator(
            library._name, "gpustrata_alloc_or_throw", "gpustrata_free")
        # The hooks are set on the object that PyTorch calls.
        target = allocator.allocator()
        missing = sorted(name for name in _NEEDED if not hasattr(target, name))
        if missing:
            raise CaptureError(f"this PyTorch ({getattr(torch, '__version__', 'unknown')}) is too old: its pluggable "
                               f"allocator has no {missing[0]}, without which memory of graphs would be overwritten")
        for setter, hook in _HOOKS:
            if hasattr(target, setter):
                getattr(target, setter)(ctypes.cast(getattr(library, hook), ctypes.c_void_p).value)
        torch.cuda.memory.change_current_allocator(allocator)
    except (CaptureError, ImportError, RuntimeError, AttributeError) as error:
        print(f"gpustrata: not installed, PyTorch's own allocator stays: {error}", file=sys.stderr)
        _instead = sys.modules.get("torch")
        return False
    _installed, _instead = True, None
    _redirect(torch)
    return True


def _free_order_of(torch):
    """Which of two free blocks of one size this version of PyTorch takes."""
    numbers = re.match(r"(\d+)\.(\d+)", getattr(torch, "__version__", ""))
    version = (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)
    return "address" if version < (2, 12) else "block_number" if version < (2, 13) else "segment_age"


def _install_companion(torch, library):
    try:
        from gpustrata import _companion
    except ImportError:
        print("gpustrata: the companion is part of the package, which is not installed; hooks are used", file=sys.stderr)
        return False
    try:
        _companion.install(torch, library)
        return True
    except RuntimeError as error:
        print(f"gpustrata: {error}; hooks are used", file=sys.stderr)
        return False


def is_recording_allocator():
    """Whether device memory of this process comes from gpustrata."""
    return _installed or _simulated


def _find_driver():
    """Raises if there is none. Loading it begins nothing: that is done when PyTorch begins to use CUDA."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise CaptureError(f"no CUDA driver: {error}") from None


def _redirect(torch):
    """torch.cuda's questions, which PyTorch does not answer for a pluggable allocator, to this library."""
    ours = {
        "memory_stats": memory_stats, "memory_stats_as_nested_dict": _nested_stats,
        "memory_summary": memory_summary, "memory_allocated": memory_allocated,
        "max_memory_allocated": max_memory_allocated, "memory_reserved": memory_reserved,
        "max_memory_reserved": max_memory_reserved, "memory_cached": memory_reserved,
        "max_memory_cached": max_memory_reserved, "reset_peak_memory_stats": reset_peak_memory_stats,
        "reset_max_memory_allocated": reset_peak_memory_stats, "reset_max_memory_cached": reset_peak_memory_stats,
        "reset_accumulated_memory_stats": reset_accumulated_memory_stats,
        "memory_snapshot": lambda *_, **__: snapshot()["segments"], "_snapshot": lambda *_, **__: snapshot(),
        "_dump_snapshot": lambda filename="dump_snapshot.pickle", *_, **__: dump_snapshot(filename),
        "_record_memory_history": _record_as_pytorch, "_set_allocator_settings": set_allocator_settings,
        "_set_memory_metadata": _set_metadata_as_pytorch, "_annotate_tensor": annotate,
        "_get_memory_metadata": lambda: getattr(metadata._current, "text", ""),
        "_memory_metadata_supported": lambda: True,
    }
    for place in (torch.cuda, torch.cuda.memory):
        for name, function in ours.items():
            if hasattr(place, name):
                setattr(place, name, function)


def _record_as_pytorch(enabled="all", *arguments, **named):
    """Its older form begins with a truth value and has other arguments."""
    if isinstance(enabled, bool):
        record_memory_history("all" if enabled else None)
    else:
        record_memory_history(enabled, *arguments, **{name: value for name, value in named.items()
                                                      if name in ("context", "stacks", "max_entries", "device",
                                                                  "clear_history", "skip_actions")})


def _set_metadata_as_pytorch(text):
    metadata(json.dumps(text, separators=(",", ":")) if isinstance(text, dict) else text)


def _nested_stats(device=None):
    nested = {}
    for name, value in memory_stats(device).items():
        *folders, last = name.split(".")
        place = nested
        for folder in folders:
            if folder[0].isdigit():  # of a private pool: "0_1" is (0, 1)
                folder = tuple(int(part) for part in folder.split("_"))
            place = place.setdefault(folder, {})
        place[last] = value
    return nested


def record_memory_history(enabled="all", context="all", stacks="all", max_entries=_UNLIMITED, device=None,
                          clear_history=False, skip_actions=None):
    """As torch.cuda.memory._record_memory_history(); `device` is ignored there, too. enabled=None stops.

    max_entries: the newest events kept of each device; 0 keeps one, as there.
    """
    if max_entries < 0:
        raise ValueError(f"max_entries is not negative, but it is {max_entries}")
    if _instead is not None:
        more = {"clear_history": True} if clear_history else {}
        if skip_actions:
            more["skip_actions"] = skip_actions
        return _instead.cuda.memory._record_memory_history(enabled, context=context, stacks=stacks,
                                                           max_entries=max_entries, device=device, **more)
    history = _History(_bytes(enabled), _bytes(context), _bytes(stacks), min(max(max_entries, 1), _UNLIMITED), int(clear_history),
                       _bytes(",".join(skip_actions or [])))
    _call("gpustrata_record_memory_history", ctypes.byref(history))


def snapshot():
    """The dict of torch.cuda.memory._snapshot()."""
    if _instead is not None:
        return _instead.cuda.memory._snapshot()
    import pickle  # takes a quarter of the time of importing this module

    data, size = ctypes.c_void_p(), ctypes.c_size_t()
    _call("gpustrata_snapshot", ctypes.byref(data), ctypes.byref(size))
    try:
        return pickle.loads(ctypes.string_at(data, size.value))
    finally:
        _library().gpustrata_free_bytes(data)


def dump_snapshot(filename="dump_snapshot.pickle"):
    """Writes a snapshot file: complete, or not at all. "{rank}" and "{pid}" in its name are those of this process."""
    if _instead is not None:
        return _instead.cuda.memory._dump_snapshot(_path(filename))
    _call("gpustrata_dump_snapshot", _bytes(_path(filename)))


def dump_on_oom(path):
    """From now on every out of memory leaves a snapshot at `path` (then path.1, .2, ...); None stops it.

    "{rank}" and "{pid}" in its name are those of this process.
    """
    if _instead is not None:
        if path:
            _instead._C._cuda_attach_out_of_memory_observer(lambda *_: dump_snapshot(path))
        return
    _call("gpustrata_set_oom_dump", _bytes(_path(path) or ""))


def journal(path, max_size=256 << 20):
    """From now on what record_memory_history() records is in this file as well, as it happens; None ends it.

    Killed or not, the program leaves every event there; `max_size` bytes at most, the oldest events go. C++ frames are told as
    "library.so+0x1234". "{rank}" and "{pid}" in its name are those of this process.
    """
    if _instead is not None:
        raise CaptureError("a journal is written of gpustrata's own allocator alone, and PyTorch's is in use: see install()")
    _call("gpustrata_journal", _bytes(_path(path) or ""), max_size)


def dump_at_exit(path):
    """Leaves a snapshot at `path` when the interpreter ends, after an uncaught exception too."""

    def dump():
        try:
            dump_snapshot(path)
        except (CaptureError, RuntimeError, OSError) as error:
            print(f"gpustrata: {error}", file=sys.stderr)

    atexit.register(dump)


def memory_stats(device=None):
    """The dict of torch.cuda.memory_stats()."""
    if _instead is not None:
        return _instead.cuda.memory_stats(device)
    return json.loads(_text("gpustrata_memory_stats", _device(device)))


def memory_summary(device=None, abbreviated=False):
    """The table of torch.cuda.memory_summary()."""
    if _instead is not None:
        return _instead.cuda.memory_summary(device, abbreviated)
    return _text("gpustrata_memory_summary", _device(device), int(abbreviated))


def memory_allocated(device=None):
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device=None):
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device=None):
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device=None):
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


def reset_peak_memory_stats(device=None):
    if _instead is not None:
        return _instead.cuda.reset_peak_memory_stats(device)
    _call("gpustrata_reset_peak_memory_stats", _device(device))


def reset_accumulated_memory_stats(device=None):
    if _instead is not None:
        return _instead.cuda.reset_accumulated_memory_stats(device)
    _call("gpustrata_reset_accumulated_memory_stats", _device(device))


def empty_cache():
    if _instead is not None:
        return _instead.cuda.empty_cache()
    _call("gpustrata_empty_cache")


def set_allocator_settings(settings):
    """As PYTORCH_CUDA_ALLOC_CONF, for requests from now on."""
    if _instead is not None:
        return _instead.cuda.memory._set_allocator_settings(settings)
    _call("gpustrata_set_allocator_settings", _bytes(settings))


@contextlib.contextmanager
def region(name, device=None):
    """Names a part of the program; shown above the timeline."""
    if _instead is not None:
        with _instead.profiler.record_function(name):
            yield
        return
    ordinal = _device(device)
    _call("gpustrata_region_begin", _bytes(name), ordinal)
    try:
        yield
    finally:
        _call("gpustrata_region_end", ordinal)


class metadata:
    """metadata(text): put on this thread's events from now on; "" = none. As a `with` block: until its end."""

    _current = threading.local()

    def __init__(self, text):
        self._before = getattr(self._current, "text", "")
        self._set(text)

    def _set(self, text):
        if _instead is not None:
            tell = getattr(_instead.cuda.memory, "_set_memory_metadata", None)  # PyTorch since 2026
            if tell is not None:
                tell(text or "")
            self._current.text = text or ""
            return
        _call("gpustrata_set_user_metadata", _bytes(text or ""))
        self._current.text = text or ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._set(self._before)


def annotate(tensor_or_pointer, text):
    """A text in the history of one live allocation: a tensor, or the address of its memory."""
    if _instead is not None:
        tell = getattr(_instead.cuda.memory, "_annotate_tensor", None)  # PyTorch since 2026
        if tell is not None and hasattr(tensor_or_pointer, "untyped_storage"):
            tell(tensor_or_pointer, text)
        return
    if hasattr(tensor_or_pointer, "untyped_storage"):
        pointer = tensor_or_pointer.untyped_storage().data_ptr()
    else:
        pointer = int(tensor_or_pointer)
    _call("gpustrata_annotate", _whole(pointer, _SIZE), _bytes(text))
