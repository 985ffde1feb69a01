"""Memory that kernels take inside and give back before they return, where it is certain: read in PyTorch's sources and seen so in runs of
its allocator (tests/torch/estimate_test.py).
"""
from __future__ import annotations

from typing import Any, Callable, NamedTuple

__all__ = ["Inside", "is_new", "known"]


class Inside(NamedTuple):
    """Bytes of the requests, in order."""

    before: tuple[int, ...] = ()  # the results are made
    after: tuple[int, ...] = ()
    in_order: bool = False        # what is asked for after the results goes as it came; else the last goes first


_CHUNK = 65536  # elements that one block of a multi-tensor kernel takes (kChunkSize)


def _parts(value: int, size: int) -> int:
    return -(-value // size)


def is_new(torch: Any) -> bool:
    """Whether kernels are those of 2.15. Where between 2.8 and it they changed was not tried; it is about some bytes."""
    return tuple(int(one) for one in torch.__version__.split(".")[:2]) > (2, 8)


def known(torch: Any) -> dict[Any, Callable[[Any, Any], Inside | None]]:
    """By operator: from its arguments and its result; None: of these it is not certain."""
    aten = torch.ops.aten

    def flash_backward(arguments: Any, out: Any) -> Inside:
        # mha_bwd: the sums of the gradient by row, and dq in float32.
        batch, heads, length, size = arguments[1].shape
        rows, columns = 128 * _parts(length, 128), 32 * _parts(size, 32) if size <= 128 else 192 if size <= 192 else 256
        return Inside(after=(batch * heads * rows * 4, batch * rows * heads * columns * 4))

    def efficient_backward(arguments: Any, out: Any) -> Inside | None:
        # delta, and dq in float32 by blocks of rows, each with a header of 16 bytes.
        query = arguments[1]
        batch, heads, length, size = query.shape
        if size > 128 or query.dtype is torch.float32:
            return None
        block = _parts(length, 64) * (64 * 64 * 4 + 16) if size <= 64 else _parts(length, 128) * (128 * 128 * 4 + 16)
        return Inside(after=(batch * heads * length * 4, batch * heads * block), in_order=True)

    def norms(arguments: Any, out: Any) -> Inside:
        # foreach_tensor_norm_cuda: a number for each chunk, in the type of the sum.
        tensors = arguments[0]
        chunks = [_parts(one.numel(), _CHUNK) for one in tensors]
        width = 8 if tensors[0].dtype is torch.float64 else 4
        if is_new(torch):  # and where those of each tensor begin
            return Inside(before=((len(tensors) + 1) * 8, sum(chunks) * width))
        return Inside(before=(len(tensors) * max(chunks) * width,))

    def softmax_backward(arguments: Any, out: Any) -> Inside:
        # The gradient times the result.
        gradient, output = arguments[:2]
        return Inside(after=(output.numel() * torch.promote_types(gradient.dtype, output.dtype).itemsize,))

    return {
        aten._foreach_norm.Scalar: norms,
        aten._softmax_backward_data.default: softmax_backward,
        aten._scaled_dot_product_flash_attention_backward.default: flash_backward,
        aten._scaled_dot_product_efficient_attention_backward.default: efficient_backward,
    }
