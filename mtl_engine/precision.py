"""Reduced precision only where it is measured to be faster: on most CPUs it is far slower."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Literal

import torch

Precision = Literal["float32", "auto"]


@contextmanager
def chosen_precision(precision: Precision, device: torch.device) -> Iterator[None]:
    """Let matrix products run in bfloat16, if asked for and measured faster on this device."""
    is_reduced = precision == "auto" and is_bfloat16_faster(device)
    with torch.autocast(device.type, dtype=torch.bfloat16, enabled=is_reduced):
        yield


def training_precision(device: torch.device) -> Precision:
    """Return the precision to learn in: on a processor the full one, so that bits repeat."""
    return "float32" if device.type == "cpu" else "auto"


@cache
def is_bfloat16_faster(device: torch.device) -> bool:
    """Return whether an encoder-sized product takes less than 80 % of its time in bfloat16."""
    rows = torch.ones(256, 384, device=device)
    weight = torch.ones(1536, 384, device=device)
    plain = _seconds(lambda: torch.nn.functional.linear(rows, weight), device)
    half_rows, half_weight = rows.bfloat16(), weight.bfloat16()
    half = _seconds(lambda: torch.nn.functional.linear(half_rows, half_weight), device)
    return half < 0.8 * plain


@torch.no_grad()
def _seconds(product: Callable[[], object], device: torch.device) -> float:
    """Return the least of three times: of this process's CPU, or of waiting for a device."""
    is_cpu = device.type == "cpu"
    clock = time.process_time if is_cpu else time.perf_counter
    product()
    times = []
    for _ in range(3):
        start = clock()
        product()
        if not is_cpu:
            torch.accelerator.synchronize(device)
        times.append(clock() - start)
    return min(times)
