"""Targets and source tasks of the three applications, from files to features."""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from analysis.data.files import data_file
from analysis.data.glue import read_sources, source_files
from analysis.data.vectors import Vectors, principal, sentence_vectors
from analysis.errors import AnalysisError
from analysis.studies.surrogate.network import FeatureTask
from analysis.studies.surrogate.study import LABEL_MODELS, SurrogateStudySettings
from mtl_engine.config import EncoderConfig
from mtl_engine.metrics.dawid_skene import dawid_skene

ABSTAIN = -1
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Pool:
    """All examples of one application: features, answers, and which task each belongs to.

    ``groups`` are the groups whose worst accuracy counts; without them there is one. Parts that
    are named as a label model are no sources: they are what all sources say together.
    """

    inputs: Vectors  # (n, d)
    targets: NDArray[Any]  # (n,)
    parts: Mapping[str, Ints]  # task -> its examples
    heads: Mapping[str, int]
    n_classes: Mapping[str, int]
    groups: Ints  # (n,)

    def task(self, name: str, rows: Ints) -> FeatureTask:
        """Return some of a task's examples."""
        kind = torch.long if self.n_classes[name] else torch.float32
        return FeatureTask(
            torch.from_numpy(self.inputs[rows]),
            torch.as_tensor(self.targets[rows], dtype=kind),
            self.n_classes[name],
            self.heads[name],
            torch.from_numpy(self.groups[rows]),
        )


def read_pool(settings: SurrogateStudySettings, cache_dir: Path) -> Pool:
    """Return the examples of the application that a study's settings describe."""
    reader = READERS.get(settings.application)
    if reader is None:
        known = ", ".join(sorted(READERS))
        raise AnalysisError(f"No application '{settings.application}'. Known: {known}.")
    return reader(settings, cache_dir)


def pool_files(settings: SurrogateStudySettings) -> list[Path]:
    """Return the files that an application reads."""
    if settings.application == "text":
        return source_files(settings.sources)
    if settings.application == "weak_supervision":
        folder = data_file(settings.folder)
        return [folder / f"{part}.jsonl" for part in ("train", "dev", "test")]
    return [data_file(settings.table)]


def _weak_supervision(settings: SurrogateStudySettings, cache_dir: Path) -> Pool:
    """Labelling sources as tasks that vote on training sentences; gold labels as ``gold``."""
    rows = _weak_rows(data_file(settings.folder), settings.n_train)
    sentences = [row["text"].split() or ["."] for row in rows]
    vectors = sentence_vectors(sentences, EncoderConfig(), cache_dir)
    is_train = np.array([row["part"] == "train" for row in rows])
    votes = np.array([row["weak_labels"] for row in rows])
    votes[~is_train] = ABSTAIN
    copies = [np.arange(len(rows))]  # a sentence appears once, and again for each vote on it
    targets = [np.array([row["label"] for row in rows])]
    parts = {"gold": np.flatnonzero(~is_train)}
    for source in _busiest(votes, settings.min_votes, settings.most_sources):
        voted = np.flatnonzero(votes[:, source] != ABSTAIN)
        start = sum(len(part) for part in copies)
        parts[f"source {source}"] = np.arange(start, start + len(voted))
        copies.append(voted)
        targets.append(votes[voted, source])
    n_classes = 1 + max(int(part.max()) for part in targets)
    voted = np.flatnonzero((votes != ABSTAIN).any(axis=1))
    for model, combined in zip(LABEL_MODELS, combine_votes(votes[voted], n_classes), strict=True):
        start = sum(len(part) for part in copies)
        parts[model] = np.arange(start, start + len(voted))
        copies.append(voted)
        targets.append(combined)
    labels = np.concatenate(targets)
    return Pool(
        principal(vectors[np.concatenate(copies)], settings.n_features),
        labels,
        parts,
        dict.fromkeys(parts, 0),
        dict.fromkeys(parts, n_classes),
        np.zeros(len(labels), dtype=np.int64),
    )


def combine_votes(votes: Ints, n_classes: int) -> tuple[Ints, Ints]:
    """Return (n,) the majority's label of each row, and the one that Dawid and Skene's EM finds.

    Ties of the majority go to the label with more votes among all rows.
    """
    counts = np.stack([(votes == label).sum(axis=1) for label in range(n_classes)], axis=1)
    share = counts.sum(axis=0) / max(1, counts.sum())  # below 1: it decides ties alone
    majority = (counts + share / 2).argmax(axis=1)
    found = dawid_skene(votes, n_classes).posterior.argmax(axis=1)
    return majority.astype(np.int64), found.astype(np.int64)


def _weak_rows(folder: Path, n_train: int) -> list[dict[str, Any]]:
    """Return some training rows and all development and test rows, each with its part."""
    rows = [
        {**json.loads(line), "part": part}
        for part in ("train", "dev", "test")
        for line in (folder / f"{part}.jsonl").read_text(encoding="utf-8").split("\n")
        if line  # not splitlines: a text may hold other line breaks
    ]
    train = [i for i, row in enumerate(rows) if row["part"] == "train"]
    kept = set(np.random.default_rng(0).permutation(train)[:n_train].tolist())
    return [row for i, row in enumerate(rows) if row["part"] != "train" or i in kept]


def _busiest(votes: Ints, least: int, most: int) -> list[int]:
    """Return the sources with enough votes, the busiest first."""
    counts = (votes != ABSTAIN).sum(axis=0)
    order = np.argsort(-counts, kind="stable")
    return [int(source) for source in order if counts[source] >= least][:most]


def _text(settings: SurrogateStudySettings, cache_dir: Path) -> Pool:
    """Sentence tasks with their own labels and heads on the same encoder's vectors."""
    sentences: list[tuple[str, ...]] = []
    targets: list[float] = []
    parts, heads, n_classes = {}, {}, {}
    for number, source in enumerate(read_sources(settings.sources)):
        rng = np.random.default_rng(0)
        name, labels = source.task.name, list(source.task.labels)
        drawn = [source.train[i] for i in rng.permutation(len(source.train))[: source.n_train]]
        drawn += [source.dev[i] for i in rng.permutation(len(source.dev))[: source.n_dev]]
        parts[name] = np.arange(len(sentences), len(sentences) + len(drawn))
        sentences += [example.tokens for example in drawn]
        answers = [example.labels[name] for example in drawn]
        targets += [labels.index(a) if labels else a for a in answers]
        heads[name], n_classes[name] = number, len(labels)
    return Pool(
        _pair_features(sentences, settings.n_features, cache_dir),
        np.array(targets),
        parts,
        heads,
        n_classes,
        np.zeros(len(targets), dtype=np.int64),
    )


def _pair_features(sentences: Sequence[tuple[str, ...]], width: int, cache_dir: Path) -> Vectors:
    """Return (n, 4 * width + 1): u, v, |u - v|, u * v and their cosine, each column standardised.

    The two sentences of a pair are read apart, as Sentence-BERT does (Reimers and Gurevych 2019);
    where there is only one, everything but u is 0.
    """
    from mtl_engine.encoders.subwords import PAIR_SEPARATOR

    firsts, seconds = [], []
    for words in sentences:
        at = words.index(PAIR_SEPARATOR) if PAIR_SEPARATOR in words else len(words)
        firsts.append(words[:at] or (".",))
        seconds.append(words[at + 1 :] or (".",))
    is_pair = np.array([PAIR_SEPARATOR in words for words in sentences])
    vectors = sentence_vectors([*firsts, *seconds], EncoderConfig(), cache_dir)
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    n = len(sentences)
    cosine = (vectors[:n] * vectors[n:]).sum(axis=1, keepdims=True)
    parts = principal(vectors, width)
    u, v = parts[:n], parts[n:]
    pair = np.concatenate([v, np.abs(u - v), u * v, cosine], axis=1)
    pair[is_pair] = _standardised(pair[is_pair])
    pair[~is_pair] = 0
    return np.concatenate([u, pair], axis=1).astype(np.float32)


def _standardised(columns: NDArray[Any]) -> NDArray[Any]:
    spread = columns.std(axis=0)
    return np.asarray((columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _groups(settings: SurrogateStudySettings, cache_dir: Path) -> Pool:
    """Rows of a table: one column's values are the tasks, others' values the groups."""
    with data_file(settings.table).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, skipinitialspace=True))
    by = [row[settings.by] for row in rows]
    n_most = settings.n_train
    rng = np.random.default_rng(0)
    order = rng.permutation(len(rows))
    parts = {
        name: np.array([i for i in order if by[i] == name][:n_most])
        for name in sorted(set(by))
        if by.count(name) >= settings.min_votes
    }
    outcome = [row[settings.outcome] for row in rows]
    is_positive = _outcome(outcome, settings)
    keys = ["/".join(row[name] for name in settings.group_by) for row in rows]
    return Pool(
        _columns(rows, settings.inputs),
        is_positive,
        parts,
        dict.fromkeys(parts, 0),
        dict.fromkeys(parts, 2),
        np.unique(keys, return_inverse=True)[1].astype(np.int64),
    )


def _outcome(values: Sequence[str], settings: SurrogateStudySettings) -> Ints:
    if settings.positive:
        return np.array([value == settings.positive for value in values], dtype=np.int64)
    return np.array([float(value) > settings.threshold for value in values], dtype=np.int64)


def _columns(rows: Sequence[Mapping[str, str]], names: Sequence[str]) -> Vectors:
    """Return numbers standardised and words as one column a value; a name ending in * is words."""
    columns = []
    for name in names:
        values = [row[name.rstrip("*")] for row in rows]
        if name.endswith("*"):
            columns += [
                np.array([v == kind for v in values], dtype=float) for kind in sorted(set(values))
            ]
        else:
            numbers = np.array([float(v) for v in values])
            columns.append((numbers - numbers.mean()) / (numbers.std() or 1.0))
    return np.stack(columns, axis=1).astype(np.float32)


READERS = {"weak_supervision": _weak_supervision, "text": _text, "groups": _groups}
