"""Reading a file onto a stage: which layer answers which task, then row by row."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import BinaryIO, cast

from annotation.formats.format import Format
from annotation.formats.matching import match_layers
from annotation.formats.options import ReadOptions
from annotation.formats.records import LayerSpec, SentenceRecord
from annotation.selectors.answer_rules import TaskRules
from annotation.staging import Findings, Stage, StagedTask, stage_records
from mtl_engine.types import Kind

Progress = Callable[[str, int, int], None]  # stage, done, total; may raise to stop the work
PROGRESS_EVERY = 2_000  # sentences


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
    ) -> None:
        self.stream, self.name, self.format = stream, name, format
        self.options, self.progress = options, progress
        self.size = stream.seek(0, 2)

    def read(
        self, stage: Stage, rules: Mapping[str, TaskRules], mapping: Mapping[str, str]
    ) -> tuple[list[StagedTask], Findings]:
        """Fill the stage and return the tasks that the file answers and what was found.

        A format with layers of its own is matched by them, any other by those in the file.
        """
        specs = {name: layer_spec(name, task) for name, task in rules.items()}
        layers: Sequence[LayerSpec] = self.format.layers or self._layers_of_first_sentence()
        while True:
            matched = match_layers(layers, specs.values(), mapping)
            tasks = [
                StagedTask(task.task_id, specs[name], task.rules, matched[name])
                for name, task in rules.items()
                if name in matched
            ]
            found = self._stage(stage, tasks)
            layers = self.format.layers or tuple(found.layers.values())
            if match_layers(layers, specs.values(), mapping) == matched:
                return tasks, found
            stage.clear()

    def sha256(self) -> str:
        """Return the hash of the file as it lies on the disk."""
        self.stream.seek(0)
        digest = hashlib.sha256()
        while piece := self.stream.read(1 << 20):
            digest.update(piece)
        return digest.hexdigest()

    def _stage(self, stage: Stage, tasks: Sequence[StagedTask]) -> Findings:
        self.stream.seek(0)
        return stage_records(
            self.format.read(self.stream, file_name=self.name, options=self.options),
            format=self.format,
            tasks=tasks,
            stage=stage,
            file_name=self.name,
            on_sentence=self._report,
        )

    def _layers_of_first_sentence(self) -> list[LayerSpec]:
        """Return what is a good guess, as most files have the same layers on each sentence."""
        self.stream.seek(0)
        for item in self.format.read(self.stream, file_name=self.name, options=self.options):
            if isinstance(item, SentenceRecord):
                return [LayerSpec(n, layer.kind, layer.parent) for n, layer in item.layers.items()]
        return []

    def _report(self, n_sentences: int) -> None:
        if self.progress and n_sentences % PROGRESS_EVERY == 0:
            self.progress("reading", min(self.stream.tell(), self.size), self.size)


def layer_spec(name: str, task: TaskRules) -> LayerSpec:
    """Return a task as the formats know it."""
    return LayerSpec(name, cast(Kind, task.rules.kind), task.parent)
