"""A graphics card that is not there: tensors on it are kept apart from those that are not.

Numbers are computed on the processor as ever, so that results can be compared to the bit, but each
tensor is marked with the device it would live on. What a real card refuses is refused: an operation
on tensors of two devices, and numpy on a tensor that has not been brought back.
"""

from contextlib import contextmanager
from unittest.mock import patch

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_map

CPU = torch.device("cpu")
DEVICE = Tensor.device.__get__
MAY_MIX = {Tensor.copy_, Tensor.to, Tensor.cpu}
TO_NUMPY = {Tensor.numpy, Tensor.__array__, Tensor.tolist}


class FakeDevices(TorchFunctionMode):
    """Lets tensors be put on "cuda:0", and refuses what a card would refuse."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if func is torch.device:
            return func(*args, **kwargs)
        if func == DEVICE:
            return device_of(args[0])
        if func == Tensor.grad.__get__:
            return mark(func(*args), device_of(args[0]))
        if func in TO_NUMPY and device_of(args[0]) != CPU:
            raise TypeError(f"can't convert {device_of(args[0])} device type tensor to numpy")
        found, wanted = devices_among(args, kwargs)
        if func not in MAY_MIX and len(found) > 1:
            raise RuntimeError(f"{func} got tensors on {sorted(map(str, found))}")
        args, kwargs = on_processor(args), on_processor(kwargs)
        if func is Tensor.to and wanted:
            kwargs["copy"] = True  # another device has its own tensor
            return mark(func(*args, **kwargs), wanted)
        result = func(*args, **kwargs)
        if func is Tensor.copy_:
            return result
        if func is Tensor.cpu:
            return mark(result.clone(), CPU)
        return tree_map(lambda item: mark(item, wanted or min(found, key=str, default=CPU)), result)


def device_of(tensor):
    return tensor.__dict__.get("fake_device", CPU)


def mark(item, device):
    if isinstance(item, Tensor):
        item.__dict__["fake_device"] = device
    return item


def devices_among(args, kwargs):
    """Return the devices of all tensors but single numbers, and the one that is asked for."""
    leaves = tree_flatten((args, kwargs))[0]
    tensors = {device_of(leaf) for leaf in leaves if isinstance(leaf, Tensor) and leaf.dim() > 0}
    if not tensors:
        tensors = {device_of(leaf) for leaf in leaves if isinstance(leaf, Tensor)}
    named = [torch.device(leaf) for leaf in leaves if is_device(leaf)]
    return tensors, named[0] if named else None


def is_device(leaf):
    return leaf in ("cpu", "cuda:0") if isinstance(leaf, str) else isinstance(leaf, torch.device)


def on_processor(values):
    return tree_map(lambda leaf: CPU if is_device(leaf) and "cuda" in str(leaf) else leaf, values)


@contextmanager
def fake_card():
    """Let torch believe in one graphics card while inside."""
    with (
        patch("torch.cuda.is_available", lambda: True),
        patch("torch.cuda.device_count", lambda: 1),
        patch("mtl_engine.precision.is_bfloat16_faster", lambda device: False),
        patch("mtl_engine.devices.free_memory", lambda device: None),
        patch("torch.random.fork_rng", own_fork),
        patch("torch.nn.Module.to", moved),
        FakeDevices(),
    ):
        yield


def moved(module, device):
    """Mark all of a module's tensors, whose numbers stay where they are."""
    for tensor in (*module.parameters(), *module.buffers()):
        mark(tensor, torch.device(device))
    return module


@contextmanager
def own_fork(devices=()):
    state = torch.get_rng_state()
    try:
        yield
    finally:
        torch.set_rng_state(state)
