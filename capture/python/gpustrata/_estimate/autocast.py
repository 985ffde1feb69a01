"""torch.autocast("cuda"): which operator casts its arguments to what, by the lists of the PyTorch that is there.

C++ asks whether an argument is CUDA's by its device, which it does not see here (fake.py). So its kernels have stand-ins in Python. The
lists are macros of ATen/autocast_mode.h, which every package of PyTorch has.
"""
from __future__ import annotations

import os
import re
import weakref
from typing import Any, Callable

from gpustrata._estimate.operators import EstimateError
from gpustrata._estimate.patches import Patches

__all__ = ["begin"]

_KEY = "AutocastCUDA"


def _lists(torch: Any) -> dict[str, list[str]]:
    """By macro, the operators as "name" or "name.overload"; empty without the header."""
    path = os.path.join(os.path.dirname(torch.__file__), "include", "ATen", "autocast_mode.h")
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return {}
    found = {}
    for name in ("LOWER_PRECISION_FP", "FP32", "FP32_SET_OPT_DTYPE", "PROMOTE"):
        macro = re.search(rf"#define AT_FORALL_{name}\(_\)((?:.*\\\n)*.*\n)", text)
        rows = re.findall(r"_\((\w+)(?:, (\w+))?\)", macro[1]) if macro else []
        found[name] = [one + ("." + overload if overload else "") for one, overload in rows]
    return found


def begin(torch: Any, patches: Patches) -> Any:
    """A library of kernels; _destroy() takes them away."""
    library = torch.library.Library("aten", "IMPL")
    kept: dict[int, tuple[Any, Any]] = {}  # by id: the parameter, weakly, and what it was cast to
    excluded = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCUDA)
    Tensor, single = torch.Tensor, torch.float32

    def is_eligible(one: Any) -> bool:
        return isinstance(one, Tensor) and one.is_cuda and one.is_floating_point() and one.dtype is not torch.float64

    def cast(one: Any, dtype: Any) -> Any:
        if isinstance(one, (list, tuple)):
            return [cast(each, dtype) for each in one]
        if not is_eligible(one) or one.dtype is dtype:
            return one
        keeps = (dtype is not single and one.dtype is single and one.requires_grad and one.is_leaf and not one._is_view()
                 and torch.is_autocast_cache_enabled())
        if keeps and id(one) in kept and kept[id(one)][0]() is one:
            return kept[id(one)][1]
        made = torch.ops.aten._to_copy(one, dtype=dtype)
        if keeps:
            kept[id(one)] = weakref.ref(one), made
        return made

    def with_all(op: Any, arguments: Any, named: Any, dtype: Any) -> Any:
        # As the compiler of PyTorch's packages has it: the last argument is cast first, and what was cast last goes first.
        made = {name: cast(one, dtype) for name, one in reversed(named.items())}
        left = [cast(one, dtype) for one in reversed(arguments)][::-1]
        del arguments
        found = op(*left, **made)
        while left:
            del left[0]
        return found

    def lower(op: Any, arguments: Any, named: Any) -> Any:
        return with_all(op, arguments, named, torch.get_autocast_dtype("cuda"))

    def full(op: Any, arguments: Any, named: Any) -> Any:
        return with_all(op, arguments, named, single)

    def set_dtype(op: Any, arguments: Any, named: Any) -> Any:
        """The result is float32, unless the program says what it is."""
        place = next((i for i, one in enumerate(op._schema.arguments) if one.name == "dtype"), None)
        if place is None or not is_eligible(arguments[0]):
            return op(*arguments, **named)
        if op._schema.arguments[place].kwarg_only:
            return op(*arguments, **{**named, "dtype": single if named.get("dtype") is None else named["dtype"]})
        if place < len(arguments) and arguments[place] is not None:
            return op(*arguments, **named)
        return op(*arguments[:place], *(one.default_value for one in op._schema.arguments[len(arguments):place]), single, *arguments[place + 1:], **named)

    def widest(op: Any, arguments: Any, named: Any) -> Any:
        flat = [one for each in arguments for one in (each if isinstance(each, (list, tuple)) else [each])]
        dtype = single if any(is_eligible(one) and one.dtype is single for one in flat) else torch.get_autocast_dtype("cuda")
        return with_all(op, arguments, named, dtype)

    def kernel(op: Any, policy: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **named: Any) -> Any:
            with torch._C._ExcludeDispatchKeyGuard(excluded):
                return policy(op, arguments, named)

        return run

    policies = {"LOWER_PRECISION_FP": lower, "FP32": full, "FP32_SET_OPT_DTYPE": set_dtype, "PROMOTE": widest}
    lists = _lists(torch)
    if not all(lists.get(macro) for macro in policies):

        def refuse(*_: Any, **__: Any) -> Any:
            raise EstimateError("torch.autocast cannot be estimated with this PyTorch: its package has no include/ATen/autocast_mode.h with the "
                                "lists of operators.")

        patches.set(torch, "autocast", refuse)
    for macro, names in lists.items():
        for name in names:
            packet, _, overload = name.partition(".")
            op = getattr(getattr(torch.ops.aten, packet, None), overload or "default", None)
            if op is not None and torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", _KEY):
                library.impl(name, kernel(op, policies[macro]), _KEY)
    clear = torch.clear_autocast_cache

    def clear_both() -> None:
        kept.clear()
        clear()

    patches.set(torch, "clear_autocast_cache", clear_both)
    return library
