"""Sentences as fixed vectors: what the bundled encoder says of them, frozen."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from mtl_engine.batching import by_equal_length
from mtl_engine.config import EncoderConfig
from mtl_engine.encoders import new_encoder
from mtl_engine.encoders.pack import collate

ALL_LAYERS = 99
BATCH_TOKENS = 1024
Vectors = NDArray[np.float32]


@torch.no_grad()
def sentence_vectors(
    sentences: Sequence[Sequence[str]], config: EncoderConfig, cache_dir: Path
) -> Vectors:
    """Return (n, width) the mean vectors of sentences, kept on disk for the next run."""
    text = repr((config, [tuple(s) for s in sentences]))
    path = cache_dir / f"{hashlib.sha256(text.encode()).hexdigest()[:20]}.npy"
    if path.exists():
        return np.asarray(np.load(path))
    encoder = new_encoder(config, (word for s in sentences for word in s))
    encoder.freeze(ALL_LAYERS)
    encoder.eval()
    pieces = encoder.read(sentences)
    vectors = np.empty((len(pieces), encoder.width), dtype=np.float32)
    for numbers in by_equal_length([len(p) for p in pieces], BATCH_TOKENS):
        pack = collate([pieces[number] for number in numbers])
        vectors[list(numbers)] = pack.pool(encoder.bottom(pack), "mean").numpy()
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, vectors)
    return vectors


def principal(vectors: Vectors, width: int) -> Vectors:
    """Return (n, width) the largest principal components, each of unit variance."""
    centred = vectors - vectors.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    kept = min(width, int((sizes > 1e-6 * sizes[0]).sum()))
    return np.asarray(left[:, :kept] * np.sqrt(len(vectors)), dtype=np.float32)
