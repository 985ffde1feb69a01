"""Operators that PyTorch takes apart in another way for CUDA, as CUDA does it: C++ chooses by the device, which it does not see here."""
from __future__ import annotations

from typing import Any

__all__ = ["begin"]

_KEY = "AutogradCUDA"


def begin(torch: Any) -> Any:
    """A library of kernels; _destroy() takes them away."""
    library = torch.library.Library("aten", "IMPL")
    aten = torch.ops.aten
    halves = (torch.float16, torch.bfloat16)

    def first(results: Any) -> Any:
        """The others go in the order in which C++ drops them."""
        left = list(results)
        del results
        while len(left) > 1:
            del left[1]
        return left[0]

    def dropout(input: Any, p: float, train: bool) -> Any:
        # is_fused_kernel_acceptable (native/Dropout.cpp).
        if train and 0 < p < 1 and input.numel() > 0:
            return first(aten.native_dropout(input, p, train))
        if p == 0 or not train or input.numel() == 0:
            return input
        return input.mul(torch.zeros((), dtype=input.dtype, device=input.device))  # p is 1

    def softmax(half_to_float: Any, general: Any) -> Any:
        def run(input: Any, dim: int, dtype: Any = None) -> Any:
            # One kernel makes float32 of float16, and of nothing else (native/SoftMax.cpp).
            if input.dtype is torch.float16 and dtype is torch.float32:
                return half_to_float(input, dim, True)
            return general(input if dtype is None else input.to(dtype), dim, False)

        return run

    library.impl("dropout", dropout, _KEY)
    library.impl("softmax.int", softmax(aten._softmax, aten._softmax), _KEY)
    library.impl("log_softmax.int", softmax(aten._log_softmax, aten._log_softmax), _KEY)

    def attention(query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, *,
                  scale: float | None = None, enable_gqa: bool = False) -> Any:
        """The kernel that a device of capability 8.0 or newer takes, of those that the program lets it take."""
        size = query.shape[-1]
        plain = query.dim() == key.dim() == value.dim() == 4 and min(query.numel(), key.numel(), value.numel()) > 0
        same = query.dtype == key.dtype == value.dtype and size == key.shape[-1] == value.shape[-1]
        heads = query.shape[-3] == key.shape[-3] == value.shape[-3] if plain else False
        backends = torch.backends.cuda
        if scale is None:
            scale = size ** -0.5  # of the size before it is padded
        if backends.flash_sdp_enabled() and plain and same and query.dtype in halves and attn_mask is None and size <= 256 \
                and (heads or enable_gqa):
            missing = -size % 8
            if missing:
                query, key, value = (torch.nn.functional.pad(one, (0, missing)) for one in (query, key, value))
            out = first(aten._scaled_dot_product_flash_attention(query, key, value, dropout_p, is_causal, False, scale=scale))
            return out[..., :size] if missing else out
        aligned = size % (8 if query.dtype in halves else 4) == 0 and value.shape[-1] % (8 if query.dtype in halves else 4) == 0
        if backends.mem_efficient_sdp_enabled() and plain and aligned and heads and (query.dtype in halves or query.dtype is torch.float32):
            needs = torch.is_grad_enabled() and (query.requires_grad or key.requires_grad or value.requires_grad)
            bias = None if attn_mask is None else _bias(attn_mask, query, key)
            return first(aten._scaled_dot_product_efficient_attention(query, key, value, bias, needs, dropout_p, is_causal, scale=scale))
        return first(aten._scaled_dot_product_attention_math(query, key, value, attn_mask, dropout_p, is_causal, scale=scale,
                                                             enable_gqa=enable_gqa))

    def _bias(mask: Any, query: Any, key: Any) -> Any:
        """As numbers to be added, each row aligned to 8 of them (pad_bias), one for each head and element of the batch."""
        if mask.dtype is torch.bool:
            like = {"dtype": query.dtype, "device": query.device}
            mask = aten.where.self(mask, aten.scalar_tensor(0.0, **like), aten.scalar_tensor(float("-inf"), **like))
        missing = -mask.shape[-1] % 8
        if missing:
            mask = torch.nn.functional.pad(mask, (0, missing))[..., :mask.shape[-1]]
        return mask.expand(query.shape[0], query.shape[1], query.shape[2], key.shape[2])

    library.impl("scaled_dot_product_attention", attention, _KEY)
    return library
