"""Predictions of very many sentences as pieces on disk: each appears whole and is computed once.

A piece is a gzipped JSONL file of ``[sentence, {task: [value, confidence, items]}]`` lines, named
by its place. Whoever was killed goes on with the first piece that is missing.
"""

import gzip
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from annotation.corpora.exports import Predicted
from annotation.formats.records import Confidence
from config.home import replaced_file

if TYPE_CHECKING:  # loads torch
    from annotation.predictions.predictor import Answers

SIZE = 1_000  # sentences
IDS = "sentences.npy"


class Pieces:
    """A folder of predictions for the sentences of one list, in the order of the list."""

    def __init__(self, folder: Path, source: str) -> None:
        self.folder, self.source = folder, source
        self._ids: NDArray[np.int64] | None = None
        self._last: tuple[int, dict[int, dict[str, Predicted]]] = (-1, {})

    @property
    def has_sentences(self) -> bool:
        return (self.folder / IDS).exists()

    def set_sentences(self, ids: NDArray[np.int64]) -> None:
        """Keep which sentences are predicted: the same ones whoever goes on."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        out = io.BytesIO()
        np.save(out, ids, allow_pickle=False)
        with replaced_file(self.folder / IDS) as file:
            file.write(out.getvalue())

    def sentences(self) -> NDArray[np.int64]:
        """Return the ids of the sentences that are predicted."""
        if self._ids is None:
            self._ids = np.load(self.folder / IDS, allow_pickle=False)
        return self._ids

    def missing(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield the number and the sentences of each piece that is not there yet."""
        ids = self.sentences()
        for number in range(-(-len(ids) // SIZE)):
            if not self._path(number).exists():
                yield number, ids[number * SIZE : (number + 1) * SIZE]

    def save(self, number: int, ids: Sequence[int], answers: "Sequence[Answers]") -> None:
        """Keep a piece."""
        out = io.BytesIO()
        with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=3, mtime=0) as file:
            for sentence_id, found in zip(ids, answers, strict=True):
                row = {
                    task: [one["value"], one["confidence"], one["items"]]
                    for task, one in found.items()
                }
                line = json.dumps([int(sentence_id), row], ensure_ascii=False)
                file.write(line.encode() + b"\n")
        with replaced_file(self._path(number)) as file:
            file.write(out.getvalue())

    def rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield each sentence with its answers as they are kept."""
        for number in range(-(-len(self.sentences()) // SIZE)):
            yield from self._read(number)

    def answers(self, sentences: Sequence[int]) -> Mapping[int, Mapping[str, Predicted]]:
        """Return the answers to sentences; asking in the order of the list reads it once."""
        found: dict[int, dict[str, Predicted]] = {}
        for number in self._numbers(sentences):
            if self._last[0] != number:
                self._last = (number, dict(map(self._predicted, self._read(number))))
            piece = self._last[1]
            found |= {i: piece[i] for i in sentences if i in piece}
        return found

    def _numbers(self, sentences: Sequence[int]) -> list[int]:
        places = np.flatnonzero(np.isin(self.sentences(), np.asarray(sentences, dtype=np.int64)))
        return [int(number) for number in np.unique(places // SIZE)]

    def _predicted(self, row: tuple[int, dict[str, Any]]) -> tuple[int, dict[str, Predicted]]:
        sentence_id, answers = row
        return sentence_id, {
            task: Predicted(
                value,
                Confidence(confidence, tuple(item["confidence"] for item in items)),
                self.source,
            )
            for task, (value, confidence, items) in answers.items()
        }

    def _read(self, number: int) -> Iterator[tuple[int, dict[str, Any]]]:
        with gzip.open(self._path(number), "rt", encoding="utf-8") as file:
            for line in file:
                sentence_id, answers = json.loads(line)
                yield sentence_id, answers

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:06}.jsonl.gz"
