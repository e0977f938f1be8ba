"""Where tensors live: on the processor, on a graphics card, on Apple's chip.

Every tensor is made on the device of those it meets: ``tensor_of`` and ``array_of`` are the only
ways between numpy and a device.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from mtl_engine.errors import EngineError

AUTO = "auto"
NAMES = re.compile(r"auto|cpu|mps|cuda(:\d+)?")


def find_device(name: str = AUTO) -> torch.device:
    """Return a device that this machine has; "auto" prefers a graphics card, then Apple's chip."""
    if not NAMES.fullmatch(name):
        raise EngineError(
            f"The device is {name!r}; allowed: auto, cpu, cuda, cuda:0, cuda:1, ..., mps."
        )
    n_cards = torch.cuda.device_count() if torch.cuda.is_available() else 0
    has_mps = torch.backends.mps.is_available()
    if name == AUTO:
        return torch.device("cuda:0" if n_cards else "mps" if has_mps else "cpu")
    device = torch.device(name)
    if device.type == "cuda" and (device.index or 0) >= n_cards:
        raise EngineError(
            f"The device is {name!r}, but torch sees {n_cards} graphics cards here; choose auto or "
            "cpu, or install a torch that is built for the card."
        )
    if device.type == "mps" and not has_mps:
        raise EngineError("The device is 'mps', but this is no Apple chip; choose auto or cpu.")
    return torch.device("cuda:0") if name == "cuda" else device


def tensor_of(array: np.ndarray, like: Tensor | torch.device) -> Tensor:
    """Return an array as a tensor on a device, or on that of another tensor."""
    device = like.device if isinstance(like, Tensor) else like
    return torch.from_numpy(array).to(device)


def array_of(tensor: Tensor) -> np.ndarray:
    """Return the numbers of a tensor, wherever it lives."""
    array: np.ndarray = tensor.detach().cpu().numpy()
    return array


@contextmanager
def seeded(seed: int | None, device: torch.device) -> Iterator[None]:
    """Draw from a seed inside, on the processor and on the device; leave no trace outside."""
    cards = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=cards):
        if seed is not None:
            torch.manual_seed(seed)
        yield


def free_memory(device: torch.device) -> None:
    """Give back what is kept for later, after memory has run out."""
    if device.type != "cpu":
        torch.accelerator.empty_cache()
