"""Pre-trained word vectors: the bundled encoder's, or those of a file."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mtl_engine.errors import EngineError


def bundled_table() -> tuple[Any, np.ndarray]:
    """Return the bundled encoder's tokenizer and its sub-word embeddings (n, v)."""
    from safetensors.numpy import load_file

    from mtl_engine.encoders.transformer import bundled_folder, load_tokenizer

    folder = bundled_folder()
    table = load_file(folder / "model.safetensors")["embeddings.word_embeddings.weight"]
    return load_tokenizer(folder), table


def bundled_vectors(words: Sequence[str]) -> np.ndarray:
    """Return the mean of the bundled encoder's sub-word embeddings of each word."""
    from mtl_engine.encoders.transformer import vocabulary_of

    tokenizer, table = bundled_table()
    vocabulary = vocabulary_of(tokenizer)
    pieces = vocabulary.split(list(words))
    rows = [table[ids or [vocabulary.unknown]].mean(0) for ids in pieces]
    return np.array(rows, dtype=np.float32).reshape(len(words), table.shape[1])


def file_vectors(path: Path, words: Sequence[str]) -> np.ndarray:
    """Return vectors of the words from a file; absent words get zeros."""
    number = {word: row for row, word in enumerate(words)}
    table: np.ndarray | None = None
    for place, word, values in _entries(path):
        if table is None:
            table = np.zeros((len(words), len(values)), dtype=np.float32)
        if word in number:
            table[number[word]] = _floats(values, place)
    if table is None:
        raise EngineError(f"{path.name} holds no word vectors.")
    return table


def whole_file(path: Path) -> tuple[list[str], np.ndarray]:
    """Return all words of a file and their vectors (n, v)."""
    found: dict[str, np.ndarray] = {}
    for place, word, values in _entries(path):
        found[word] = np.array(_floats(values, place), dtype=np.float32)
        if not np.isfinite(found[word]).all():
            raise EngineError(f"{place} gives '{word}' a number that is not finite.")
    if not found:
        raise EngineError(f"{path.name} holds no word vectors.")
    return list(found), np.stack(list(found.values()))


def _entries(path: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Yield where each line of a word and its numbers stands, the word, and the numbers."""
    width: int | None = None
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line_number, line in enumerate(lines, start=1):
            word, _, numbers = line.rstrip("\n").partition(" ")
            values = numbers.split()
            if line_number == 1 and len(values) == 1:
                continue  # word2vec's header: how many words, how wide
            place = f"{path.name}:{line_number}"
            width = len(values) if width is None else width
            if len(values) != width:
                raise EngineError(
                    f"{place} has {len(values)} numbers; the lines before have {width}."
                )
            yield place, word, values


def _floats(values: list[str], place: str) -> list[float]:
    try:
        return [float(value) for value in values]
    except ValueError as error:
        raise EngineError(f"{place} is not a word and its numbers: {error}.") from error
