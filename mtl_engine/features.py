"""What the frozen bottom of an encoder computes, kept: training and scoring then start above it.

Features are computed in batches of equally long sentences, so no padding enters and a sentence's
features are the same bits whoever its neighbours were. They are keyed by the frozen weights and by
what the encoder reads of the text.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mtl_engine.batching import by_equal_length
from mtl_engine.encoders.interface import Encoder
from mtl_engine.encoders.pack import Pieces, collate
from mtl_engine.errors import EngineError
from mtl_engine.feature_store import DiskStore, FeatureStore, MemoryStore

BATCH_TOKENS = 1024
FEWEST_ROWS = 16  # below, matrix products take another path with other roundings
MEMORY_LIMIT = 2**30


class Features:
    """The frozen part's output for sentences, computed where it is not kept yet."""

    def __init__(self, encoder: Encoder, store: FeatureStore) -> None:
        self.encoder = encoder
        self.store = store

    @torch.no_grad()
    def rows(self, pieces: Sequence[Pieces]) -> Tensor:
        """Return (N, width): what the frozen part says of the sentences, one after another."""
        keys = [_key(sentence) for sentence in pieces]
        found = {key: self.store.get(key) for key in keys}
        missing = {key: p for key, p in zip(keys, pieces, strict=True) if found[key] is None}
        if missing:
            computed = dict(zip(missing, self._compute(list(missing.values())), strict=True))
            self.store.put(list(computed.items()))
            found.update(computed)
        return torch.from_numpy(np.concatenate([found[key] for key in keys]))

    def require_of(self, encoder: Encoder) -> None:
        """Refuse another model's encoder, whose frozen part may compute something else."""
        if encoder is not self.encoder:
            raise EngineError(
                "The features belong to another model; open them with this model's encoder: "
                "open_features(model.encoder, cache_dir)."
            )

    def _compute(self, pieces: list[Pieces]) -> list[np.ndarray]:
        computed: list[np.ndarray] = [np.empty(0)] * len(pieces)
        for numbers in by_equal_length(_batch_keys(pieces), BATCH_TOKENS):
            group = [pieces[number] for number in numbers]
            size = len(group[0])
            repeats = -(-FEWEST_ROWS // (size * len(group)))
            rows = self.encoder.bottom(collate(group * repeats)).numpy()
            for place, number in enumerate(numbers):
                computed[number] = rows[place * size : (place + 1) * size].copy()
        return computed


def open_features(
    encoder: Encoder, cache_dir: Path | str | None, *, limit_bytes: int = 20 * 2**30
) -> Features | None:
    """Return the encoder's frozen features; None if nothing is frozen.

    Without a directory they are kept in memory, at most 1 GiB of them.
    """
    if not encoder.is_frozen:
        return None
    if cache_dir is None:
        return Features(encoder, MemoryStore(min(limit_bytes, MEMORY_LIMIT)))
    folder = Path(cache_dir) / encoder.fingerprint()
    return Features(encoder, DiskStore(folder, encoder.width, limit_bytes))


def _batch_keys(pieces: Sequence[Pieces]) -> list[int]:
    """Return sizes, by which sentences of one window batch; longer ones are each alone."""
    return [
        len(sentence) if len(sentence.windows) == 1 else -number
        for number, sentence in enumerate(pieces, start=1)
    ]


def _key(pieces: Pieces) -> bytes:
    digest = hashlib.blake2b(pieces.ids.tobytes(), digest_size=16)
    digest.update(pieces.windows.tobytes())
    return digest.digest()
