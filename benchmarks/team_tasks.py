"""How well the tasks that teams bring are learned: several classes, attributes, documents.

python -m benchmarks.team_tasks intents --train 500
python -m benchmarks.team_tasks attributes --train 200

Every case trains one model with the recipe on a random sample (``--train``), chooses the epoch on
random development data, and scores it on all test data:

intents     ATIS: slots, and intents as several classes (``atis_flight#atis_airfare``)
attributes  SciERC: entities, and of each whether it is ``repeated`` (in a coreference cluster) and
            ``related`` (an end of some relation)
two         SciERC: relations from spans of one task (Method) to those of another (all other types)
documents   SciERC: the types of entities that a document has, as several classes of the document
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from benchmarks.engine_data import DATA_FOLDER, read_dataset
from mtl_engine.config import EngineConfig, TrainingConfig
from mtl_engine.evaluation import evaluate
from mtl_engine.kinds import KINDS
from mtl_engine.training import End, train
from mtl_engine.types import Example, TaskSpec

SPLITS = ("train", "dev", "test")
FIRST = frozenset({"Method"})
Case = tuple[dict[str, list[Example]], list[TaskSpec]]


def main() -> None:
    """Train, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--data", type=Path, default=DATA_FOLDER)
    parser.add_argument("--train", type=int, default=200)
    parser.add_argument("--dev", type=int, default=80)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    args = parser.parse_args()
    torch.set_num_threads(1)
    splits, specs = CASES[args.case](args.data)
    print("| case | seed | taught | task | kind | scores on test | CPU s |")
    print("|---|---|---|---|---|---|---|")
    for seed in args.seeds:
        rng = np.random.default_rng(seed)
        taught = _draw(splits["train"], args.train, rng)
        dev = _draw(splits["dev"], args.dev, rng)
        started = time.process_time()
        config = replace(EngineConfig(), training=TrainingConfig(seed=seed))
        *_, end = train(taught, dev, specs, config, device="cpu")
        assert isinstance(end, End)
        seconds = time.process_time() - started
        for name, result in evaluate(end.model, splits["test"]).items():
            scores = ", ".join(f"{key} {100 * value:.1f}" for key, value in result.metrics.items())
            kind = next(spec.kind for spec in specs if spec.name == name)
            row = (args.case, seed, len(taught), name, kind, scores, f"{seconds:.0f}")
            print(f"| {' | '.join(map(str, row))} |", flush=True)


def _draw(examples: Sequence[Example], n: int, rng: np.random.Generator) -> list[Example]:
    chosen = rng.choice(len(examples), min(n, len(examples)), replace=False)
    return [examples[i] for i in chosen]


def _intents(folder: Path) -> Case:
    splits, (slots, _) = read_dataset("atis", folder)
    parted = {
        split: [
            replace(e, labels={**e.labels, "intent": sorted(e.labels["intent"].split("#"))})
            for e in examples
        ]
        for split, examples in splits.items()
    }
    return parted, [slots, _spec("intent", "multiclasses", parted)]


def _attributes(folder: Path) -> Case:
    def labels(document: dict[str, Any], number: int, start: int) -> dict[str, Any]:
        spans = _spans(document["ner"][number], start)
        repeated = {tuple(m) for cluster in document["clusters"] for m in cluster}
        related = {tuple(link[k : k + 2]) for link in document["relations"][number] for k in (0, 2)}
        facts = [
            [s, e, label]
            for s, e, _ in spans
            for label, among in (("related", related), ("repeated", repeated))
            if (s + start, e + start - 1) in among
        ]
        return {"entities": spans, "facts": sorted(map(list, set(map(tuple, facts))))}

    splits = {split: list(_sentences(folder, split, labels)) for split in SPLITS}
    spans = _spec("entities", "spans", splits, is_nested=True)
    return splits, [spans, _spec("facts", "attributes", splits, parent="entities")]


def _two(folder: Path) -> Case:
    def labels(document: dict[str, Any], number: int, start: int) -> dict[str, Any]:
        spans = _spans(document["ner"][number], start)
        methods = [span for span in spans if span[2] in FIRST]
        others = [span for span in spans if span[2] not in FIRST]
        places = [{(s, e) for s, e, _ in part} for part in (methods, others)]
        links = [
            [a - start, b - start + 1, c - start, d - start + 1, label]
            for a, b, c, d, label in document["relations"][number]
        ]
        kept = [
            link for link in links if tuple(link[:2]) in places[0] and tuple(link[2:4]) in places[1]
        ]
        return {"methods": methods, "others": others, "links": sorted(kept)}

    splits = {split: list(_sentences(folder, split, labels)) for split in SPLITS}
    return splits, [
        _spec("methods", "spans", splits, is_nested=True),
        _spec("others", "spans", splits, is_nested=True),
        _spec("links", "relations", splits, parent="methods", second_parent="others"),
    ]


def _documents(folder: Path) -> Case:
    splits = {}
    for split in SPLITS:
        splits[split] = [
            Example(
                tuple(token for sentence in document["sentences"] for token in sentence),
                {"types": sorted({label for row in document["ner"] for *_, label in row})},
            )
            for document in _read(folder, split)
        ]
    return splits, [_spec("types", "multiclasses", splits, is_document=True)]


def _spec(name: str, kind: str, splits: dict[str, list[Example]], **options: Any) -> TaskSpec:
    answers = [example.labels[name] for examples in splits.values() for example in examples]
    labels = {label for answer in answers for label in KINDS[kind].labels_of(answer)}
    return TaskSpec(name, kind, tuple(sorted(labels)), **options)


def _read(folder: Path, split: str) -> Iterator[dict[str, Any]]:
    text = (folder / "scierc" / f"{split}.jsonl").read_text(encoding="utf-8")
    yield from map(json.loads, text.splitlines())


def _sentences(
    folder: Path, split: str, labels: Callable[[dict[str, Any], int, int], dict[str, Any]]
) -> Iterator[Example]:
    for document in _read(folder, split):
        start = 0
        for number, tokens in enumerate(document["sentences"]):
            yield Example(tuple(tokens), labels(document, number, start))
            start += len(tokens)


def _spans(entities: Sequence[Sequence[Any]], start: int) -> list[list[Any]]:
    """Return spans of a sentence; in the file ends are inclusive and counted in the document."""
    return sorted([s - start, e - start + 1, label] for s, e, label in entities)


CASES: dict[str, Callable[[Path], Case]] = {
    "intents": _intents,
    "attributes": _attributes,
    "two": _two,
    "documents": _documents,
}

if __name__ == "__main__":
    main()
