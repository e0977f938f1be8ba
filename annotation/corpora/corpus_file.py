"""Reading a file onto a stage: which layer answers which task, then row by row."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import BinaryIO

from annotation.corpora.report import ImportChoices
from annotation.corpora.staging import Findings, Stage, stage_records
from annotation.formats.format import Format
from annotation.formats.layers import match_layers
from annotation.formats.records import ReadOptions, SentenceRecord, layer_spec
from mtl_engine.kinds import TaskSpec

Progress = Callable[[str, int, int], None]  # stage, done, total; may raise to stop the work
PROGRESS_EVERY = 2_000  # sentences
FIRST = 50  # sentences that show what a file has


class CorpusFile:
    """A file that can be read again where a later line changes which layer answers a task."""

    def __init__(
        self,
        stream: BinaryIO,
        *,
        name: str,
        format: Format,
        options: ReadOptions | None = None,
        progress: Progress | None = None,
        choices: ImportChoices | None = None,
        known_texts: Callable[[], set[bytes]] = set,
    ) -> None:
        self.stream, self.name, self.format = stream, name, format
        self.options, self.progress = options or ReadOptions(), progress
        self.choices, self.known_texts = choices or ImportChoices(), known_texts
        self.size = stream.seek(0, 2)

    def read(
        self, stage: Stage, tasks: Iterable[TaskSpec], mapping: Mapping[str, str]
    ) -> tuple[dict[str, str], Findings]:
        """Fill the stage and return the layer of each task in the file, and what was found.

        A format with layers of its own is matched by them, any other by those in the file. A plain
        column of a table, or key of an object, is a layer only where the mapping says so.
        """
        tasks = list(tasks)
        self.options = replace(self.options, fields=tuple(mapping.values()))
        layers: Sequence[TaskSpec] = self.format.layers or self._layers_of_first_sentence()
        names = {layer.name for layer in layers}
        here = {task: layer for task, layer in mapping.items() if layer in names}
        matched = match_layers(self._certain(layers, mapping), tasks, here)
        while True:
            found = self._stage(stage, [task for task in tasks if task.name in matched], matched)
            layers = self.format.layers or tuple(found.layers.values())
            again = match_layers(self._certain(layers, mapping), tasks, mapping)
            if again == matched:
                found.fields = self._fields()
                found.columns = self._columns()
                return matched, found
            matched = again
            stage.clear()

    def sha256(self) -> str:
        """Return the hash of the file as it lies on the disk."""
        self.stream.seek(0)
        digest = hashlib.sha256()
        while piece := self.stream.read(1 << 20):
            digest.update(piece)
        return digest.hexdigest()

    def _stage(
        self, stage: Stage, tasks: Sequence[TaskSpec], layers: Mapping[str, str]
    ) -> Findings:
        self.stream.seek(0)
        return stage_records(
            self.format.read(self.stream, file_name=self.name, options=self.options),
            format=self.format,
            tasks=tasks,
            layers=layers,
            stage=stage,
            file_name=self.name,
            on_sentence=self._report,
            choices=self.choices,
            known_texts=self.known_texts(),
        )

    def _layers_of_first_sentence(self) -> list[TaskSpec]:
        """Return what is a good guess, as most files have the same layers on each sentence."""
        first = self._first_sentence()
        layers = first.layers if first else {}
        return [layer_spec(name, layer.kind, layer.parent) for name, layer in layers.items()]

    def _fields(self) -> list[str]:
        """Return the keys of the first objects that might hold answers, if somebody says so."""
        kept = [item.extra.get(self.format.name, {}) for item in self._sentences(FIRST)]
        fields = [item for extra in kept for item in extra.get("fields", {}).items()]
        return list(dict.fromkeys(name for name, value in fields if isinstance(value, str | list)))

    def _columns(self) -> list[str]:
        self.stream.seek(0)
        return self.format.columns(self.stream, file_name=self.name, options=self.options)

    def _first_sentence(self) -> SentenceRecord | None:
        return next(self._sentences(1), None)

    def _sentences(self, n: int) -> Iterator[SentenceRecord]:
        self.stream.seek(0)
        items = self.format.read(self.stream, file_name=self.name, options=self.options)
        return islice((item for item in items if isinstance(item, SentenceRecord)), n)

    def _certain(
        self, layers: Sequence[TaskSpec], mapping: Mapping[str, str]
    ) -> Sequence[TaskSpec]:
        """Return the layers that are no chance columns: stated, with a kind, or written by us."""
        if not self.format.loose_kind or self._is_own_table:
            return layers
        stated = set(mapping.values())
        loose = self.format.loose_kind
        return [layer for layer in layers if layer.kind != loose or layer.name in stated]

    @cached_property
    def _is_own_table(self) -> bool:
        """Return whether a table has the column of words that our exports write."""
        if self.options.columns:
            return "tokens" in self.options.columns
        first = self._first_sentence()
        kept = first.extra.get(self.format.name, {}) if first else {}
        return "tokens" in kept.get("columns", ())

    def _report(self, n_sentences: int) -> None:
        if self.progress and n_sentences % PROGRESS_EVERY == 0:
            self.progress("reading", min(self.stream.tell(), self.size), self.size)
