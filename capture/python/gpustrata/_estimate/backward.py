"""Sums of gradients: autograd adds in place where nobody else sees the sum so far (InputBuffer::accumulate).

With fake tensors it never does, because it adds out of place for every subclass of tensor. So each such sum comes here, and is made
as for a plain tensor: in place if the sum so far is dense and the engine holds the last reference to it.
"""
from __future__ import annotations

import sys
from typing import Any

__all__ = ["Sums"]


class Sums:
    """calibrate() comes first: how many references the engine and the way to here hold differs between versions of PyTorch."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._engine = torch.autograd.graph._engine_run_backward.__code__
        self._counts: tuple[int, int] | None = None
        self._calibrating = False

    def calibrate(self) -> None:
        """By a sum that the engine alone holds. Within the modes; what it allocates is not to be recorded."""
        torch = self._torch
        self._calibrating = True
        with torch.enable_grad():
            x = torch.empty(2, 2, device="cuda:0", requires_grad=True)
            (torch.mm(x, x.detach()) + torch.mm(x, x.detach())).backward(torch.empty(2, 2, device="cuda:0"))
        self._calibrating = False
        if self._counts is None:
            raise RuntimeError(f"gpustrata.estimate does not know how this PyTorch ({torch.__version__}) adds gradients")

    def is_in_place(self, arguments: Any, named: Any) -> bool:
        """Of add(one, other) without more."""
        torch = self._torch
        if named or len(arguments) != 2 or torch._C._current_graph_task_id() == -1 or torch.is_grad_enabled():
            return False
        one, other = arguments
        if not isinstance(other, torch.Tensor) or one.shape != other.shape or one.dtype != other.dtype or not self._is_asked_by_engine():
            return False
        counts = one._use_count(), torch._C._storage_Use_Count(one.untyped_storage()._cdata)
        if self._calibrating:
            self._counts = counts
            return False
        return counts == self._counts and self._is_dense(one)

    def in_place(self, arguments: Any) -> Any:
        return self._torch.ops.aten.add_.Tensor(*arguments)

    def _is_asked_by_engine(self) -> bool:
        """No Python between the engine and the hook: neither a function of the program's nor a hook of its own."""
        frame = sys._getframe(2)
        for _ in range(8):
            frame = frame.f_back  # type: ignore[assignment]
            if frame is None:
                return False
            if frame.f_code is self._engine:
                return True
        return False

    @staticmethod
    def _is_dense(tensor: Any) -> bool:
        """Its elements lie side by side, in any order of the dimensions, and none twice."""
        if tensor.is_contiguous():
            return True
        expected = 1
        for stride, size in sorted(zip(tensor.stride(), tensor.shape)):
            if size == 1:
                continue
            if stride != expected:
                return False
            expected *= size
        return True
