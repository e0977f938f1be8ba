"""Readers of the public corpora that the engine's benchmarks are run on."""

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

from mtl_engine.metrics import read_chunks
from mtl_engine.types import Example, TaskSpec

DATA_FOLDER = Path(os.environ.get("TANDEM_DATA") or "data")
Split = dict[str, list[Example]]


def read_dataset(name: str, folder: Path) -> tuple[Split, list[TaskSpec]]:
    """Return the train, dev and test sentences of a dataset and its tasks."""
    readers = {"atis": _slots, "mtod_en": _slots, "ewt_ner": _trees, "scierc": _relations}
    splits = {
        split: list(readers[name](folder / name, split)) for split in ("train", "dev", "test")
    }
    return splits, _tasks(name, [example for split in splits.values() for example in split])


def _tasks(name: str, examples: list[Example]) -> list[TaskSpec]:
    def labels(task: str, place: int | None = None) -> tuple[str, ...]:
        answers = [example.labels[task] for example in examples]
        found = answers if place is None else [item[place] for a in answers for item in a]
        return tuple(sorted(set(found)))

    if name == "ewt_ner":
        return [
            TaskSpec("entities", "spans", labels("entities", 2)),
            TaskSpec("syntax", "tree", labels("syntax", 1)),
        ]
    if name == "scierc":
        return [
            TaskSpec("entities", "spans", labels("entities", 2), is_nested=True),
            TaskSpec("relations", "relations", labels("relations", 4), parent="entities"),
        ]
    return [
        TaskSpec("slots", "spans", labels("slots", 2)),
        TaskSpec("intent", "classes", labels("intent")),
    ]


def _slots(folder: Path, split: str) -> Iterator[Example]:
    text = (folder / f"{split}.conll").read_text(encoding="utf-8")
    for block in text.strip().split("\n\n"):
        first, *lines = block.split("\n")
        tokens, tags = zip(*(line.split("\t") for line in lines), strict=True)
        intent = first.removeprefix("# intent = ")
        spans = [list(chunk) for chunk in read_chunks(tags)]
        yield Example(tokens, {"slots": spans, "intent": intent})


def _trees(folder: Path, split: str) -> Iterator[Example]:
    path = folder / f"{split}.conllu"
    text = path.read_text(encoding="utf-8") if path.exists() else _unpacked(path)
    for block in text.strip().split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if not line.startswith("#")]
        rows = [row for row in rows if row[0].isdigit()]
        tags = [dict(item.split("=", 1) for item in row[9].split("|"))["NER"] for row in rows]
        yield Example(
            tuple(row[1] for row in rows),
            {
                "syntax": [[int(row[6]), row[7]] for row in rows],
                "entities": [list(chunk) for chunk in read_chunks(tags)],
            },
        )


def _unpacked(path: Path) -> str:
    with gzip.open(f"{path}.gz", "rt", encoding="utf-8") as file:
        return file.read()


def _relations(folder: Path, split: str) -> Iterator[Example]:
    """Yield sentences; ends are inclusive and counted from the document's start in the file."""
    for line in (folder / f"{split}.jsonl").read_text(encoding="utf-8").splitlines():
        document = json.loads(line)
        start = 0
        for tokens, entities, relations in zip(
            document["sentences"], document["ner"], document["relations"], strict=True
        ):
            spans = sorted([s - start, e - start + 1, label] for s, e, label in entities)
            links = sorted(
                [a - start, b - start + 1, c - start, d - start + 1, label]
                for a, b, c, d, label in relations
            )
            yield Example(tuple(tokens), {"entities": spans, "relations": links})
            start += len(tokens)
