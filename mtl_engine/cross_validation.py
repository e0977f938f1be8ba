"""Answers judged by models that were trained without them."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from mtl_engine.active_learning.train import learnable_tasks, task_groups, with_span_width
from mtl_engine.batching import by_length
from mtl_engine.config import EngineConfig
from mtl_engine.devices import AUTO
from mtl_engine.documents import DocumentWords
from mtl_engine.encoders.pack import collate
from mtl_engine.errors import EngineError
from mtl_engine.examples import only_tasks, read_examples
from mtl_engine.features import Features, open_features
from mtl_engine.heads import JudgedItem
from mtl_engine.kinds import KINDS, Answer
from mtl_engine.model import MultiTaskModel
from mtl_engine.prediction import fit_temperatures
from mtl_engine.prediction.predict import BATCH_TOKENS
from mtl_engine.training import End, train
from mtl_engine.types import Example, TaskSpec

DEV_SHARE = 10  # every so many-th sentence of a training is kept to choose among epochs


@dataclass(frozen=True)
class Judged:
    """An item of a sentence's answer, judged by a model that did not learn from the sentence."""

    row: int
    task: str
    item: JudgedItem
    version: int = 0  # of the answers: 0 = those learned from, k = the k-th of others


def cross_validate(
    examples: Sequence[Example],
    tasks: Sequence[TaskSpec],
    config: EngineConfig,
    *,
    others: Sequence[Sequence[Example]] = (),
    n_folds: int = 5,
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
    cache_dir: Path | None = None,
    device: str = AUTO,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Judged]:
    """Return a judgement of every item of every answer.

    The sentences come in ``n_folds`` parts; each is judged by a model of the others. Sentences of
    one group, as those of a document, stay together. With the architecture ST there is a model per
    task and part. ``others`` are other answers to the same sentences, which the same models judge
    and never learn from.
    """
    fold = _folds(groups or list(range(len(examples))), n_folds, seed)
    learnable = learnable_tasks(tasks, examples)
    if not learnable:
        raise EngineError("No task has answers and labels: there is nothing to judge.")
    parts = task_groups(learnable, config.model.architecture)
    found: list[Judged] = []
    for number in range(n_folds):
        held = np.flatnonzero(fold == number).tolist()
        rest = np.flatnonzero(fold != number).tolist()
        for part, group in enumerate(parts):
            if on_progress is not None:
                on_progress(number * len(parts) + part, n_folds * len(parts))
            own = only_tasks(examples, group)
            taught = [own[row] for row in rest if own[row].labels]
            if not held or not taught:
                continue
            training = [e for i, e in enumerate(taught) if i % DEV_SHARE]
            dev = taught[::DEV_SHARE]
            wide = with_span_width(config, group, training)
            *_, end = train(training, dev, group, wide, cache_dir=cache_dir, device=device)
            assert isinstance(end, End)
            features = open_features(end.model.encoder, cache_dir)
            temperatures = fit_temperatures(end.model, dev, features)
            for version, answers in enumerate((own, *(only_tasks(o, group) for o in others))):
                asked = [answers[row] for row in held]
                judged = judge_answers(end.model, asked, temperatures, features)
                found += [Judged(held[one.row], one.task, one.item, version) for one in judged]
    return found


@torch.no_grad()
def judge_answers(
    model: MultiTaskModel,
    examples: Sequence[Example],
    temperatures: Mapping[str, float],
    features: Features | None = None,
) -> list[Judged]:
    """Return a judgement of every item of the answers to the model's tasks."""
    model.eval()
    data = read_examples(model, examples)
    names = model.with_parents([task.name for task in model.tasks])
    sizes = [len(pieces) for pieces in data.pieces]
    found: list[Judged] = []
    for batch in by_length(sizes, BATCH_TOKENS) if sizes else []:
        pieces = [data.pieces[row] for row in batch]
        bottom = None if features is None else features.rows(pieces)
        states = model.states(collate(pieces, model.device), names, bottom)
        for task in model.tasks:
            places = [k for k, row in enumerate(batch) if row in data.targets[task.name]]
            if not places:
                continue
            rows = [int(batch[place]) for place in places]
            own = {name: states[name].select(places) for name in model.with_parents([task.name])}
            parents = [task.spans_among(_below(task, examples[row])) for row in rows]
            judged = model.head(task.name).judge_items(
                model.scores_of(own)[task.name],
                [_learned(task, examples[row]) for row in rows],
                parents=parents,
                temperature=temperatures.get(task.name, 1.0),
            )
            for row, items in zip(rows, judged, strict=True):
                tokens = examples[row].tokens
                found += [Judged(row, task.name, _in_words(task, i, tokens)) for i in items]
    return found


def _below(task: TaskSpec, example: Example) -> Mapping[str, Answer]:
    """Return the answers that links stand on: a document's are known of its sentences."""
    words = example.tokens
    return words.spans if task.is_document and isinstance(words, DocumentWords) else example.labels


def _learned(task: TaskSpec, example: Example) -> Answer:
    return KINDS[task.kind].to_learned(example.labels[task.name], example.tokens)


def _in_words(task: TaskSpec, judged: JudgedItem, tokens: Sequence[str]) -> JudgedItem:
    """Return a judgement with items as people answer them, where the head learns others."""
    kind = KINDS[task.kind]
    if not kind.brings_classes:
        return judged
    given, expected = (
        item and (item[0], *kind.from_learned([item[-1]], [tokens[item[0]]]))
        for item in (judged.given, judged.expected)
    )
    return replace(judged, given=given, expected=expected)


def _folds(groups: Sequence[Hashable], n_folds: int, seed: int) -> np.ndarray:
    """Return (n,) the part of each sentence, groups whole and drawn by chance."""
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    if n_folds < 2 or len(numbers) < n_folds:
        raise EngineError(
            f"{len(numbers)} sentences or documents cannot be cut into {n_folds} parts: at least 2 "
            "parts, and one sentence or document in each."
        )
    part = np.random.default_rng(seed).permutation(len(numbers)) % n_folds
    return np.array([part[numbers[group]] for group in groups])
