"""Labelled corpora of studies, read from files in any format that the server imports."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from analysis.data.labelled import LabelledCorpus
from analysis.errors import AnalysisError
from annotation.formats.format import get_format
from annotation.formats.records import Problem, SentenceRecord
from mtl_engine.errors import EngineError
from mtl_engine.kinds import KINDS
from mtl_engine.types import Example, TaskSpec

TEST_SEED = 0  # the same random test sentences for every run of every study


def read_corpus(
    train: Path,
    test: Path,
    *,
    format: str,
    tasks: Sequence[str],
    test_size: int = 0,
    max_words: int = 0,
) -> LabelledCorpus:
    """Return the sentences of two files with the layers that are named, as tasks.

    ``max_words`` leaves out longer sentences, ``test_size`` draws some of the rest to test on.
    The label sets are those of both files, as they would be in a project's settings.
    """
    pool, tested = read_records(train, format), read_records(test, format)
    names = list(tasks) or _all_layers(pool)
    specs = tuple(_spec(name, pool, tested) for name in names)
    taught, kept = _short(pool, max_words), _short(tested, max_words)
    if test_size and len(kept) > test_size:
        rng = np.random.default_rng(TEST_SEED)
        kept = [kept[i] for i in sorted(rng.choice(len(kept), size=test_size, replace=False))]
    ordered = tuple(sorted(specs, key=lambda spec: spec.parent is not None))
    return LabelledCorpus(
        ordered,
        tuple(_example(i, record, names) for i, record in enumerate(taught)),
        tuple(_example(i, record, names) for i, record in enumerate(kept)),
    )


def read_records(path: Path, format: str) -> list[SentenceRecord]:
    """Return the sentences of a file; the first bad row is an error."""
    if not path.exists():
        raise AnalysisError(f"No file {path}.")
    try:
        reader = get_format(format)
    except EngineError as error:
        raise AnalysisError(str(error)) from error
    records = []
    with path.open("rb") as stream:
        for item in reader.read(stream, file_name=str(path)):
            if isinstance(item, Problem):
                raise AnalysisError(str(item))
            records.append(item)
    return records


def _short(records: Sequence[SentenceRecord], max_words: int) -> list[SentenceRecord]:
    return [record for record in records if not max_words or len(record.tokens) <= max_words]


def _all_layers(records: Sequence[SentenceRecord]) -> list[str]:
    return list(dict.fromkeys(name for record in records for name in record.layers))


def _example(number: int, record: SentenceRecord, names: Sequence[str]) -> Example:
    labels = {name: record.layers[name].value for name in names if name in record.layers}
    return Example(tuple(record.tokens), labels, number)


def _spec(name: str, pool: Sequence[SentenceRecord], tested: Sequence[SentenceRecord]) -> TaskSpec:
    layers = [record.layers[name] for record in pool if name in record.layers]
    if not layers:
        known = ", ".join(_all_layers(pool)) or "none"
        raise AnalysisError(f"No sentence has the layer '{name}'. Known: {known}.")
    kind = Counter(layer.kind for layer in layers if layer.value != []).most_common(1)[0][0]
    everything = [*layers, *(r.layers[name] for r in tested if name in r.layers)]
    labels = sorted({label for layer in everything for label in KINDS[kind].labels_of(layer.value)})
    parents = {layer.parent for layer in layers if layer.parent}
    return TaskSpec(
        name=name,
        kind=kind,
        labels=tuple(labels),
        parent=parents.pop() if KINDS[kind].parent_kind and parents else None,
        is_nested=KINDS[kind].may_nest and any(_overlap(layer.value) for layer in layers),
    )


def _overlap(spans: Sequence[Sequence[Any]]) -> bool:
    ordered = sorted((span[0], span[1]) for span in spans)
    return any(a[1] > b[0] for a, b in pairwise(ordered))
