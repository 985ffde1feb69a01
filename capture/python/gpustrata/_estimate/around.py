"""What of PyTorch works otherwise in an estimate, or not at all: loaders with workers, compiled code, checkpoints."""
from __future__ import annotations

from typing import Any, Callable

from gpustrata._estimate.operators import EstimateError
from gpustrata._estimate.patches import Patches

__all__ = ["begin"]


def begin(torch: Any, patches: Patches, place_now: Callable[[], str]) -> None:
    import torch.utils.data.dataloader as loading

    def in_this_process(loader: Any) -> Any:
        """A worker would give real tensors, or be a copy of this process with its modes."""
        before = {name: loader.__dict__.get(name) for name in ("num_workers", "timeout", "prefetch_factor", "_DataLoader__multiprocessing_context")}
        loader.__dict__.update(num_workers=0, timeout=0, prefetch_factor=None)
        try:
            return loading._SingleProcessDataLoaderIter(loader)
        finally:
            loader.__dict__.update(before)

    def compile(*_: Any, **__: Any) -> Any:
        raise EstimateError(f"{place_now()}: what code of torch.compile allocates is decided by its compiler. Leave torch.compile out of the "
                            "estimate; compiled code usually needs less.")

    def save(obj: Any, f: Any, *_: Any, **__: Any) -> None:
        """There is nothing to be kept; a file that the program wrote before stays."""

    def parallel(*_: Any, **__: Any) -> Any:
        raise EstimateError(f"{place_now()}: DistributedDataParallel reads values of its parameters, which an estimate does not have. Leave it out: "
                            "beside what one process takes it has buckets as large as all gradients.")

    patches.set(torch.nn.parallel, "DistributedDataParallel", parallel)
    patches.set(torch, "save", save)
    patches.set(loading, "_MultiProcessingDataLoaderIter", in_this_process)
    patches.set(torch, "compile", compile)
    patches.set(torch.nn.Module, "compile", compile)
    # Memory of the host is none of the device's, pinned or not.
    patches.set(torch.Tensor, "pin_memory", lambda self, device=None: self)
