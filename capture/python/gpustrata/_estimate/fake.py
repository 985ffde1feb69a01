"""Fake tensors that are CUDA's to Python and to the dispatcher, on any build of PyTorch, with no driver.

FakeTensor tells C++ that its device is CUDA's. Then autograd asks the driver for streams, which ends the process or the backward pass
where there is none. Here C++ sees the meta device that the tensor really lies on, while the keys that choose kernels
(autograd, autocast, CUDA's) stay CUDA's, and so does `tensor.device`. What C++ decides by the device alone is in composites.py
and autocast.py.
"""
from __future__ import annotations

import copy
import copyreg
import threading
from typing import Any

from gpustrata._estimate.patches import Patches

__all__ = ["Asked", "begin"]


class Asked(threading.local):
    """Whether the program itself names the meta device in the call under way; else C++ means the device of a fake tensor."""

    meta = False


def begin(torch: Any, patches: Patches, storages: Any, number_of: Any, notes: Any) -> tuple[Any, Any]:
    """The mode with fake tensors, and the one that sees what the program itself asks for; to be entered in this order."""
    import torch._dynamo  # it compares signatures of what is patched below, so it has to come first
    import torch._subclasses.fake_tensor as module

    FakeTensor, Tensor = module.FakeTensor, torch.Tensor
    make_subclass = Tensor._make_subclass
    asked, first = Asked(), torch.device("cuda", 0)

    def make(cls: Any, *arguments: Any, **named: Any) -> Any:
        if cls is FakeTensor and named["device_for_backend_keys"].type == "cuda":
            named["dispatch_device"] = False
        return make_subclass(cls, *arguments, **named)

    patches.set(Tensor, "_make_subclass", staticmethod(make))
    patches.set_if_there(module, "init_gpu_context", lambda device: None)
    # An operator that fails is an exception; the log would say it a second time, with PyTorch's own frames.
    patches.set(module.log, "disabled", True)

    class Mode(module.FakeTensorMode):  # type: ignore[name-defined,misc]
        avoid_device_init = True  # else what torch.cuda.is_available() says would begin the driver

        def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), named: Any = None) -> Any:
            device = named.get("device") if named else None
            if device is not None and (device.type == "meta" and not asked.meta or device.type == "cuda" and device.index is None):
                named = {**named, "device": first}
            return super().__torch_dispatch__(function, types, arguments, named)

    mode = Mode(allow_non_fake_inputs=True)
    _as_cuda(torch, patches, mode, FakeTensor, storages, number_of, notes.value)
    _as_parameters(torch, patches, FakeTensor)
    return mode, _calls(torch, asked, notes)


def _as_cuda(torch: Any, patches: Patches, mode: Any, FakeTensor: Any, storages: Any, number_of: Any, value_of: Any) -> None:
    """Methods of tensors that ask C++ for the device."""
    Tensor = torch.Tensor
    first, plain = torch.device("cuda", 0), Tensor.to

    def to(self: Any, *arguments: Any, **named: Any) -> Any:
        given, more = arguments, dict(named)
        copy = named.pop("copy", False)
        if arguments and isinstance(arguments[0], Tensor):
            other = arguments[0]
            arguments = (other.device, other.dtype, *arguments[1:])
        elif "other" in named:
            other = named.pop("other")
            named.update(device=other.device, dtype=other.dtype)
        device, dtype, non_blocking, memory_format = torch._C._nn._parse_to(*arguments, **named)
        if device is not None and device.type == "cuda" and device.index is None:
            device = first
        same = (device is None or device == self.device) and (dtype is None or dtype == self.dtype)
        if same and not copy and memory_format in (None, torch.preserve_format):
            return self
        if not isinstance(self, FakeTensor):
            if device is None or device.type != "cuda":
                return plain(self, *given, **more)
            self = mode.from_tensor(self)  # PyTorch would move it for real
        return torch.ops.aten._to_copy(self, dtype=dtype, device=device or self.device, non_blocking=non_blocking,
                                       memory_format=memory_format)

    def cuda(self: Any, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Any:
        device = first if device is None else torch.device("cuda", device) if isinstance(device, int) else torch.device(device)
        return to(self, device, non_blocking=non_blocking, memory_format=memory_format)

    def record_stream(self: Any, stream: Any) -> None:
        storages.use_on(self, number_of(stream))

    # Also of plain tensors, which become fake ones on the way.
    patches.set(Tensor, "to", to)
    patches.set(Tensor, "cuda", cuda)
    patches.set(Tensor, "cpu", lambda self, memory_format=None: to(self, "cpu", memory_format=memory_format))
    patches.set(Tensor, "type_as", lambda self, other: to(self, other))
    patches.set(FakeTensor, "record_stream", record_stream)
    patches.set(FakeTensor, "new_tensor", lambda self, data, *, dtype=None, device=None, requires_grad=False: torch.tensor(
        data, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad))
    patches.set(FakeTensor, "is_cuda", property(lambda self: self.fake_device.type == "cuda"))
    patches.set(FakeTensor, "is_cpu", property(lambda self: self.fake_device.type == "cpu"))
    patches.set(FakeTensor, "is_meta", property(lambda self: self.fake_device.type == "meta"))
    patches.set(FakeTensor, "get_device", lambda self: -1 if self.fake_device.type == "cpu" else self.fake_device.index)
    patches.set(FakeTensor, "is_pinned", lambda self, device=None: False)
    def format_(self: Any, form: str) -> str:
        return format(self.item(), form) if self.dim() == 0 and form else object.__format__(self, form)

    def numpy(self: Any, *_: Any, **__: Any) -> Any:
        value_of("numpy")
        import numpy as np

        name = str(self.dtype).rpartition(".")[2]
        return np.zeros(tuple(self.shape), dtype=getattr(np, {"bool": "bool_"}.get(name, name)))

    patches.set(FakeTensor, "__format__", format_)
    patches.set(FakeTensor, "numpy", numpy)
    patches.set(FakeTensor, "__array__", numpy)
    class Generator(torch.Generator):  # type: ignore[name-defined,misc]
        def __new__(cls, device: Any = "cpu") -> Any:
            return super().__new__(cls, "cpu")

    patches.set(torch, "Generator", Generator)
    resize = torch.UntypedStorage.resize_

    def resize_(self: Any, size: int) -> Any:
        found = resize(self, size)
        storages.resized(self)
        return found

    patches.set(torch.UntypedStorage, "resize_", resize_)


def _as_parameters(torch: Any, patches: Patches, FakeTensor: Any) -> None:
    """Optimizers and modules treat a fake parameter as a plain one."""
    import importlib

    for name in ("torch.optim.optimizer", "torch.utils._foreach_utils"):  # torch.optim deletes the name of its module
        module = importlib.import_module(name)
        patches.set(module, "_foreach_supported_types", [*module._foreach_supported_types, FakeTensor])
    from torch.utils import _foreach_utils

    by_device = _foreach_utils._group_tensors_by_device_and_dtype

    def grouped(*arguments: Any, **named: Any) -> Any:
        """C++ groups by the device that it sees."""
        found = {}
        for (device, dtype), rows in by_device(*arguments, **named).items():
            first = next((one for column in rows[0] for one in column if one is not None), None)
            found[first.device if first is not None else device, dtype] = rows
        return found

    for name in ("torch.utils._foreach_utils", "torch.optim.optimizer", "torch.nn.utils.clip_grad"):
        patches.set_if_there(importlib.import_module(name), "_group_tensors_by_device_and_dtype", grouped)
    swap, slots = torch.utils.swap_tensors, copyreg._slotnames(FakeTensor)  # type: ignore[attr-defined]

    def swap_tensors(one: Any, other: Any) -> None:
        """Module._apply() gives fake parameters what they are on the other device so. PyTorch's own refuses where anything has a weak
        reference to the parameter, which an optimizer or a fake mode may have.
        """
        if not (isinstance(one, FakeTensor) and isinstance(other, FakeTensor)):
            return swap(one, other)  # type: ignore[no-any-return]
        one.__dict__, other.__dict__ = other.__dict__, one.__dict__
        for name in slots:
            before = getattr(one, name)
            setattr(one, name, getattr(other, name))
            setattr(other, name, before)
        torch._C._swap_tensor_impl(one, other)
        return None

    patches.set(torch.utils, "swap_tensors", swap_tensors)
    def deepcopy(self: Any, memo: dict[int, Any]) -> Any:
        """PyTorch's copies the storage of a fake tensor, with which 2.8 ends the process."""
        if id(self) in memo:
            return memo[id(self)]
        if not self.is_leaf:
            raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.")
        with torch.no_grad():
            made = self.clone()
            if isinstance(self, torch.nn.Parameter):
                made = torch.nn.Parameter(made, self.requires_grad)
            else:
                made.requires_grad_(self.requires_grad)
        memo[id(self)] = made
        if self.grad is not None:
            made.grad = copy.deepcopy(self.grad, memo)
        return made

    patches.set(FakeTensor, "__deepcopy__", deepcopy)
    compatible, plain = torch._has_compatible_shallow_copy_type, torch.Tensor.data
    patches.set(torch, "_has_compatible_shallow_copy_type",
                lambda one, other: isinstance(one, FakeTensor) == isinstance(other, FakeTensor) and compatible(one, other))

    def set_data(self: Any, value: Any) -> None:
        if isinstance(value, FakeTensor) and value.device != self.device:
            swap_tensors(self, value.detach().requires_grad_(self.requires_grad))
        else:
            plain.__set__(self, value)

    patches.set(FakeTensor, "data", property(plain.__get__, set_data))


def _calls(torch: Any, asked: Asked, notes: Any) -> Any:
    from torch.overrides import TorchFunctionMode

    # On a device these are cuDNN's, in one piece; here they go step by step.
    recurrent = {getattr(torch, name) for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")}

    class Calls(TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, arguments: Any = (), named: Any = None) -> Any:
            if function in recurrent:
                notes.inside(f"{function.__name__} (estimated step by step, not as cuDNN runs it)")
            if not named:
                return function(*arguments)
            device = named.get("device")
            if device is None or torch.device(device).type != "meta":
                return function(*arguments, **named)
            before, asked.meta = asked.meta, True
            try:
                return function(*arguments, **named)
            finally:
                asked.meta = before

    return Calls()
