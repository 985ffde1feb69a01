"""Every operator as the dispatcher sees it, below autograd and autocast: what it makes, and what it cannot know."""
from __future__ import annotations

from typing import Any

from gpustrata._estimate import temporaries

__all__ = ["EstimateError", "Notes", "watch"]


class EstimateError(RuntimeError):
    """What the program does cannot be foretold; the text says what, where and what to do."""


class Notes:
    """What the answer has to say beside the numbers: by kind, how often at which line."""

    def __init__(self, place_now: Any) -> None:
        self._place_now = place_now
        self.values: dict[tuple[str, str], int] = {}   # operator, place: a value that nobody knows was taken as 0
        self.unknown: dict[tuple[str, str], int] = {}  # operator, place: takes memory inside that is not known

    def value(self, name: str) -> None:
        key = name, self._place_now()
        self.values[key] = self.values.get(key, 0) + 1

    def inside(self, name: str) -> None:
        key = name, self._place_now()
        self.unknown[key] = self.unknown.get(key, 0) + 1


# Their kernels come from libraries that take workspaces: cuBLAS, cuDNN, flash attention.
_WITH_WORKSPACE = ("mm", "addmm", "bmm", "baddbmm", "addmv", "mv", "_scaled_mm", "convolution", "convolution_backward", "_cudnn_rnn",
                   "_cudnn_rnn_backward", "_scaled_dot_product_flash_attention", "_scaled_dot_product_flash_attention_backward",
                   "_scaled_dot_product_efficient_attention", "_scaled_dot_product_efficient_attention_backward",
                   "_scaled_dot_product_cudnn_attention", "_scaled_dot_product_cudnn_attention_backward",
                   "sort", "topk", "cumsum", "embedding_dense_backward", "index_put_", "_fft_c2c", "_fft_r2c", "_fft_c2r")


def watch(torch: Any, storages: Any, notes: Notes, sums: Any, requests: Any) -> Any:
    from torch._subclasses.fake_tensor import (
        DataDependentOutputException, DynamicOutputShapeException, FakeTensor, UnsupportedOperatorException)
    from torch.utils._python_dispatch import TorchDispatchMode

    aten = torch.ops.aten
    with_workspace = set()
    for name in _WITH_WORKSPACE:
        packet = getattr(aten, name, None)
        with_workspace.update(getattr(packet, one) for one in packet.overloads()) if packet is not None else None
    tensor, inside = torch.Tensor, temporaries.known(torch)

    # The results that lie on the device, in the order in which a kernel makes them, where it is not that of the results.
    known_outputs = {aten.native_dropout.default: lambda out: (out[1], out[0])}
    # The seed and the offset of dropout: first on the device, or on the host.
    known_outputs[aten._scaled_dot_product_efficient_attention.default] = (
        (lambda out: (*out[2:], *out[:2])) if temporaries.is_new(torch) else (lambda out: out[:2]))

    def see(out: Any) -> None:
        if isinstance(out, tensor):
            if isinstance(out, FakeTensor) and out.fake_device.type == "cuda":
                if out.fake_device.index not in (0, None):
                    raise EstimateError(f"{requests.place_now()}: a tensor on {out.fake_device}. An estimate has one device, cuda:0: give "
                                        "each rank an estimate of its own.")
                storages.see(out)
        elif isinstance(out, (list, tuple)):
            for one in out:
                see(one)

    no_kernel = ("{}: the operator {} has no fake kernel, so that nobody knows the shape of its result. Register one "
                 "(torch.library.register_fake), or leave this part out of the estimate.")

    class Operators(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), named: Any = None) -> Any:
            named = named or {}
            try:
                if function is aten.add.Tensor and sums.is_in_place(arguments, named):
                    return sums.in_place(arguments)
                out = function(*arguments, **named)
            except DataDependentOutputException:
                return self.value(function, arguments)
            except DynamicOutputShapeException:
                name = function._schema.name.replace("aten::", "")
                raise EstimateError(
                    f"{requests.place_now()}: how large the result of {name} is depends on values, which an estimate does not have. Use a form "
                    "of fixed size there (torch.where, a mask, a padded batch), or leave this part out of the estimate.") from None
            except UnsupportedOperatorException:
                raise EstimateError(no_kernel.format(requests.place_now(), function._schema.name)) from None
            except RuntimeError as error:
                if "no fake impl registered" in str(error):
                    raise EstimateError(no_kernel.format(requests.place_now(), function._schema.name)) from None
                raise
            seen = known_outputs[function](out) if function in known_outputs else out
            if storages.closed:
                return out
            taken = inside[function](arguments, out) if function in inside else None
            if taken is not None:
                held = storages.take(taken.before)
                see(seen)
                later = storages.take(taken.after)
                storages.give_back(later if taken.in_order else later[::-1])
                storages.give_back(held[::-1])
                return out
            if function in with_workspace and any(isinstance(one, FakeTensor) and one.fake_device.type == "cuda" for one in arguments):
                notes.inside(function._schema.name.replace("aten::", ""))
            see(seen)
            return out

        def value(self, function: Any, arguments: Any) -> Any:
            """Of item() and its like: 0, so that the program goes on. A gradient scaler takes it for "nothing is infinite"."""
            name = function._schema.name.replace("aten::", "")
            notes.value({"_local_scalar_dense": "item", "is_nonzero": "bool"}.get(name, name))
            if name == "_local_scalar_dense":
                dtype = arguments[0].dtype
                return False if dtype is torch.bool else 0j if dtype.is_complex else 0.0 if dtype.is_floating_point else 0
            if name in ("equal", "allclose", "is_nonzero"):
                return False
            raise EstimateError(f"{requests.place_now()}: what {name} gives depends on values, which an estimate does not have. Leave this part out of "
                                "the estimate.")

    return Operators()
