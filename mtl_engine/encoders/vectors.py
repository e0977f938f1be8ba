"""Word vectors for the Bi-LSTM: learned from scratch, from the bundled encoder, or from a file."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mtl_engine.config import BUNDLED, RANDOM, EncoderConfig
from mtl_engine.errors import EngineError


def vectors_for(config: EncoderConfig, words: Sequence[str]) -> np.ndarray | None:
    """Return (n, v) float32 vectors of the words, or None to learn them from scratch."""
    if config.vectors == RANDOM:
        return None
    if config.vectors == BUNDLED:
        return bundled_vectors(words)
    path = Path(config.vectors)
    if not path.is_file():
        raise EngineError(
            f"EncoderConfig key 'vectors' is '{config.vectors}'; allowed: '{RANDOM}', "
            f"'{BUNDLED}', or a file of word vectors in word2vec's text format."
        )
    return file_vectors(path, words)


def bundled_vectors(words: Sequence[str]) -> np.ndarray:
    """Return the mean of the bundled encoder's sub-word embeddings of each word."""
    from safetensors.numpy import load_file

    from mtl_engine.encoders.transformer import bundled_folder, load_tokenizer, vocabulary_of

    folder = bundled_folder()
    table = load_file(folder / "model.safetensors")["embeddings.word_embeddings.weight"]
    vocabulary = vocabulary_of(load_tokenizer(folder))
    pieces = vocabulary.split(list(words))
    rows = [table[ids or [vocabulary.unknown]].mean(0) for ids in pieces]
    return np.array(rows, dtype=np.float32).reshape(len(words), table.shape[1])


def file_vectors(path: Path, words: Sequence[str]) -> np.ndarray:
    """Return vectors read from lines of a word and its numbers; absent words get zeros."""
    number = {word: row for row, word in enumerate(words)}
    table: np.ndarray | None = None
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line_number, line in enumerate(lines, start=1):
            word, _, numbers = line.rstrip("\n").partition(" ")
            values = numbers.split()
            if line_number == 1 and len(values) == 1:
                continue  # word2vec's header: how many words, how wide
            if table is None:
                table = np.zeros((len(words), len(values)), dtype=np.float32)
            if len(values) != table.shape[1]:
                raise EngineError(
                    f"{path.name}:{line_number} has {len(values)} numbers; the lines before "
                    f"have {table.shape[1]}."
                )
            if word in number:
                table[number[word]] = _floats(values, f"{path.name}:{line_number}")
    if table is None:
        raise EngineError(f"{path.name} holds no word vectors.")
    return table


def _floats(values: list[str], place: str) -> list[float]:
    try:
        return [float(value) for value in values]
    except ValueError as error:
        raise EngineError(f"{place} is not a word and its numbers: {error}.") from error
