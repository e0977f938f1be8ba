"""Random states for heads to read, and heads to read them."""

import numpy as np
import torch

from mtl_engine.config import ModelConfig
from mtl_engine.heads import States, new_head

WIDTH = 6


def states_of(*counts, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return States(
        words=torch.randn(sum(counts), WIDTH, generator=generator),
        counts=np.array(counts),
        pooled=torch.randn(len(counts), WIDTH, generator=generator),
    )


def head_for(task, *others, **config):
    torch.manual_seed(0)
    return new_head(task, [task, *others], WIDTH, ModelConfig(**config)).eval()
