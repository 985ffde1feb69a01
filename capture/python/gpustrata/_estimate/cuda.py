"""torch.cuda where there is no device: one device of the size that is told, streams that are numbers, no time that passes."""
from __future__ import annotations

import contextlib
import threading
from types import SimpleNamespace
from typing import Any, Callable, Iterator

from gpustrata._estimate.patches import Patches

__all__ = ["Streams", "begin"]

_STREAMS = 32  # PyTorch hands out so many of one priority, then the first again


class Streams(threading.local):
    """`current`: its number; 0 is the default one."""

    current = 0
    made = 0


def _classes(streams: Streams, device: Any) -> tuple[type, type]:
    class Event:
        def __init__(self, *_: Any, **__: Any) -> None:
            pass

        def record(self, stream: Any = None) -> None:
            pass

        def wait(self, stream: Any = None) -> None:
            pass

        def query(self) -> bool:
            return True

        def synchronize(self) -> None:
            pass

        def elapsed_time(self, end: Any) -> float:
            return 1.0  # ms: not 0, by which programs divide

    class Stream:
        def __init__(self, device: Any = None, priority: int = 0, number: int | None = None, **_: Any) -> None:
            if number is None:
                number = 1 + streams.made % _STREAMS
                streams.made += 1
            self.stream_id = self.cuda_stream = number
            self.priority = priority
            self.device, self.device_index = _device, 0
            self._before: list[int] = []

        def __enter__(self) -> Any:
            self._before.append(streams.current)
            streams.current = self.stream_id
            return self

        def __exit__(self, *_: object) -> None:
            streams.current = self._before.pop()

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Stream) and other.stream_id == self.stream_id

        def __hash__(self) -> int:
            return hash(self.stream_id)

        def wait_event(self, event: Any) -> None:
            pass

        def wait_stream(self, stream: Any) -> None:
            pass

        def record_event(self, event: Any = None) -> Any:
            return event or Event()

        def query(self) -> bool:
            return True

        def synchronize(self) -> None:
            pass

    _device = device
    return Stream, Event


def begin(torch: Any, patches: Patches, streams: Streams, device_bytes: int, empty: Callable[[], None],
          stats: Callable[[], dict[str, int]]) -> None:
    """`empty`: the cache is emptied; `stats`: as torch.cuda.memory_stats() gives them, now."""
    cuda = torch.cuda
    device = torch.device("cuda", 0)
    Stream, Event = _classes(streams, device)
    # A name that a program has never heard of is none it asks for; compute capability 9.0 chooses as an H100 does.
    properties = SimpleNamespace(name="gpustrata estimate", total_memory=device_bytes, major=9, minor=0, multi_processor_count=132,
                                 warp_size=32, max_threads_per_multi_processor=2048, regs_per_multiprocessor=65536,
                                 shared_memory_per_block=49152, shared_memory_per_block_optin=232448, is_integrated=0,
                                 is_multi_gpu_board=0, gcnArchName="", L2_cache_size=50 << 20, uuid="0", pci_bus_id=0)

    def nothing(*_: Any, **__: Any) -> None:
        pass

    @contextlib.contextmanager
    def on(stream: Any) -> Iterator[Any]:
        if stream is None:
            yield None
            return
        with stream:
            yield stream

    def set_stream(stream: Any) -> None:
        streams.current = stream.stream_id if stream is not None else 0

    class Chosen:
        """torch.cuda.device(0): there is no other."""

        def __init__(self, index: Any = 0) -> None:
            self.idx, self.prev_idx = 0, -1

        def __enter__(self) -> None:
            pass

        def __exit__(self, *_: object) -> None:
            pass

    def nested() -> Any:
        found: dict[str, Any] = {}
        for name, value in stats().items():
            *path, last = name.split(".")
            place = found
            for part in path:
                place = place.setdefault(part, {})
            place[last] = value
        return found

    def of_stats(name: str) -> Callable[..., int]:
        return lambda device=None: stats().get(name, 0)

    def free_and_total(device: Any = None) -> tuple[int, int]:
        return max(device_bytes - stats().get("reserved_bytes.all.current", 0), 0), device_bytes

    def no_graphs(*_: Any, **__: Any) -> Any:
        from gpustrata._estimate.operators import EstimateError

        raise EstimateError("An estimate has no CUDA graphs. Run the part that they capture without them.")

    answers: dict[str, Any] = {
        "is_available": lambda: True, "is_initialized": lambda: True, "init": nothing, "_lazy_init": nothing,
        "device_count": lambda: 1, "current_device": lambda: 0, "set_device": nothing, "synchronize": nothing,
        "get_device_properties": lambda device=None: properties, "get_device_name": lambda device=None: properties.name,
        "get_device_capability": lambda device=None: (properties.major, properties.minor), "ipc_collect": nothing,
        "can_device_access_peer": lambda *_: False, "is_bf16_supported": lambda including_emulation=True: True,
        "is_tf32_supported": lambda: True, "get_arch_list": lambda: ["sm_90"], "_sleep": nothing,
        "current_stream": lambda device=None: Stream(number=streams.current), "default_stream": lambda device=None: Stream(number=0),
        "stream": on, "StreamContext": on, "set_stream": set_stream, "Stream": Stream, "Event": Event, "ExternalStream": Stream,
        "device": Chosen, "device_of": Chosen, "_DeviceGuard": Chosen, "graph": no_graphs, "CUDAGraph": no_graphs,
        "make_graphed_callables": no_graphs, "is_current_stream_capturing": lambda: False,
        "manual_seed": nothing, "manual_seed_all": nothing, "seed": nothing, "seed_all": nothing, "initial_seed": lambda: 0,
        "get_rng_state": lambda device="cuda": torch.empty(16, dtype=torch.uint8, device="cpu"), "set_rng_state": nothing,
        "get_rng_state_all": lambda: [], "set_rng_state_all": nothing,
        "utilization": lambda device=None: 0, "memory_usage": lambda device=None: 0,
    }
    for name, value in answers.items():
        patches.set_if_there(cuda, name, value)
    memory: dict[str, Any] = {
        "empty_cache": empty, "memory_stats": lambda device=None: dict(stats()), "memory_stats_as_nested_dict": lambda device=None: nested(),
        "memory_allocated": of_stats("allocated_bytes.all.current"), "max_memory_allocated": of_stats("allocated_bytes.all.peak"),
        "memory_reserved": of_stats("reserved_bytes.all.current"), "max_memory_reserved": of_stats("reserved_bytes.all.peak"),
        "memory_cached": of_stats("reserved_bytes.all.current"), "max_memory_cached": of_stats("reserved_bytes.all.peak"),
        # Peaks are those of the whole block: what comes out is one recording.
        "reset_peak_memory_stats": nothing, "reset_max_memory_allocated": nothing, "reset_max_memory_cached": nothing,
        "reset_accumulated_memory_stats": nothing, "mem_get_info": free_and_total, "set_per_process_memory_fraction": nothing,
        "_record_memory_history": nothing, "_dump_snapshot": nothing, "memory_summary": lambda device=None, abbreviated=False: "",
    }
    for name, value in memory.items():
        patches.set_if_there(cuda, name, value)
        patches.set_if_there(cuda.memory, name, value)
    patches.set_if_there(cuda.graphs, "is_current_stream_capturing", lambda: False)
    for name in ("range_push", "range_pop", "mark"):
        patches.set_if_there(cuda.nvtx, name, lambda *_: 0)
    accelerator = getattr(torch, "accelerator", None)  # since 2.6
    if accelerator is not None:
        for name, value in {"is_available": lambda: True, "device_count": lambda: 1, "current_device_index": lambda: 0,
                            "current_device_idx": lambda: 0, "set_device_index": nothing, "set_device_idx": nothing,
                            "synchronize": nothing, "current_accelerator": lambda check_available=False: torch.device("cuda"),
                            "empty_cache": empty}.items():
            patches.set_if_there(accelerator, name, value)
