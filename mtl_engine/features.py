"""What the frozen bottom of an encoder computes, kept: training and scoring then start above it.

Features are computed in batches of equally long sentences, so no padding enters and a sentence's
features are the same bits whoever its neighbours were. They are keyed by the frozen weights and by
what the encoder reads of the text.
"""

import hashlib
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mtl_engine.batching import by_equal_length
from mtl_engine.devices import array_of, tensor_of
from mtl_engine.encoders.interface import Encoder
from mtl_engine.encoders.pack import Pieces, collate
from mtl_engine.errors import EngineError
from mtl_engine.feature_store import DiskStore, FeatureStore, MemoryStore

BATCH_TOKENS = 1024
FEWEST_ROWS = 16  # below, matrix products take another path with other roundings
MEMORY_LIMIT = 2**30
RECENT_SECONDS = 24 * 3600


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
        return tensor_of(np.concatenate([found[key] for key in keys]), self.encoder.device)

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
            pack = collate(group * repeats, self.encoder.device)
            rows = array_of(self.encoder.bottom(pack))
            for place, number in enumerate(numbers):
                computed[number] = rows[place * size : (place + 1) * size].copy()
        return computed


def open_features(
    encoder: Encoder, cache_dir: Path | str | None, *, limit_bytes: int = 20 * 2**30
) -> Features | None:
    """Return the encoder's frozen features; None if no layer is frozen.

    Embeddings alone are looked up faster than they are kept.

    Without a directory they are kept in memory, at most 1 GiB of them. What other encoders left in
    the directory long ago makes room when all of them together hold more than the limit.
    """
    if encoder.n_frozen < 1:
        return None
    if cache_dir is None:
        return Features(encoder, MemoryStore(min(limit_bytes, MEMORY_LIMIT)))
    folder = Path(cache_dir) / encoder.fingerprint()
    make_room(folder, limit_bytes)
    return Features(encoder, DiskStore(folder, encoder.width, limit_bytes))


def make_room(folder: Path, limit_bytes: int) -> None:
    """Remove the features of other encoders beside a folder, the oldest first, down to the limit.

    Those of the last day stay: somebody may be reading them.
    """
    sizes = {
        path.parent: (path.stat().st_mtime, path.stat().st_size)
        for path in folder.parent.glob(f"*/{DiskStore.ROWS}")
    }
    total = sum(size for _, size in sizes.values())
    for other, (written_at, size) in sorted(sizes.items(), key=lambda item: item[1]):
        if total <= limit_bytes or written_at > time.time() - RECENT_SECONDS:
            return
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
            total -= size


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
