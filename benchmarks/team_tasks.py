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
genres      EWT: the genre of a document (answers, email, ...), as one class of the document
across      SciERC: relations of documents; ``Same-As`` links a mention to the one before it in
            its coreference cluster, at most two sentences away; ``--train`` counts documents
"""

import argparse
import gzip
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from benchmarks.engine_data import DATA_FOLDER, read_dataset
from mtl_engine.config import EngineConfig, TrainingConfig
from mtl_engine.documents import DocumentWords
from mtl_engine.evaluation import evaluate
from mtl_engine.kinds import KINDS
from mtl_engine.kinds.kind import DEFAULT_WINDOW
from mtl_engine.metrics import relation_f1
from mtl_engine.model import MultiTaskModel
from mtl_engine.prediction import predict
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
    parser.add_argument("--epochs", type=int, default=0, help="0: as the recipe has it")
    parser.add_argument("--show", type=int, default=0, help="links of documents to print")
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
        config = replace(EngineConfig(), training=TrainingConfig(seed=seed, epochs=args.epochs))
        *_, end = train(taught, dev, specs, config, device="cpu")
        assert isinstance(end, End)
        seconds = time.process_time() - started
        for name, result in evaluate(end.model, splits["test"]).items():
            scores = ", ".join(f"{key} {100 * value:.1f}" for key, value in result.metrics.items())
            kind = next(spec.kind for spec in specs if spec.name == name)
            row = (args.case, seed, len(taught), name, kind, scores, f"{seconds:.0f}")
            print(f"| {' | '.join(map(str, row))} |", flush=True)
        for spec in specs:
            if spec.kind == "relations" and spec.is_document:
                _tell_of_documents(end.model, splits["test"], spec.name, seed, args.show)


def _draw(examples: Sequence[Example], n: int, rng: np.random.Generator) -> list[Example]:
    documents = sorted({str(e.id) for e in examples if e.id})
    if documents:
        drawn = set(rng.choice(documents, min(n, len(documents)), replace=False))
        return [example for example in examples if example.id in drawn]
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


def _genres(folder: Path) -> Case:
    splits = {split: list(_ewt_documents(folder, split)) for split in SPLITS}
    return splits, [_spec("genre", "classes", splits, is_document=True)]


def _ewt_documents(folder: Path, split: str) -> Iterator[Example]:
    path = folder / "ewt_ner" / f"{split}.conllu"
    packed = path.with_name(f"{path.name}.gz")
    content = path.read_bytes() if path.exists() else gzip.decompress(packed.read_bytes())
    for document in content.decode().split("# newdoc id = ")[1:]:
        name, *lines = document.splitlines()
        rows = [line.split("\t") for line in lines]
        words = tuple(row[1] for row in rows if row[0].isdecimal())
        yield Example(words, {"genre": name.partition("-")[0]})


def _across(folder: Path) -> Case:
    splits = {split: list(_documents_and_sentences(folder, split)) for split in SPLITS}
    spans = _spec("entities", "spans", splits, is_nested=True)
    links = _spec("links", "relations", splits, parent="entities", is_document=True)
    return splits, [spans, links]


def _documents_and_sentences(folder: Path, split: str) -> Iterator[Example]:
    """Yield the sentences of each document with their entities, and itself with its links."""
    for document in _read(folder, split):
        words = DocumentWords.of(document["sentences"])
        spans, start = [], 0
        for tokens, entities in zip(document["sentences"], document["ner"], strict=True):
            own = _spans(entities, start)
            yield Example(tuple(tokens), {"entities": own}, document["doc_key"])
            spans += [[s + start, e + start, label] for s, e, label in own]
            start += len(tokens)
        known = DocumentWords(words, words.starts, {"entities": spans})
        links = {
            (a, b + 1, c, d + 1, label)
            for relations in document["relations"]
            for a, b, c, d, label in relations
        }
        places = {(s, e) for s, e, _ in spans}
        for cluster in document["clusters"]:
            mentions = sorted({(s, e + 1) for s, e in cluster if (s, e + 1) in places})
            for (a, b), (c, d) in pairwise(mentions):
                if words.sentence_of(c) - words.sentence_of(a) < DEFAULT_WINDOW:
                    links.add((c, d, a, b, "Same-As"))
        yield Example(known, {"links": sorted(map(list, links))}, document["doc_key"])


def _tell_of_documents(
    model: MultiTaskModel, test: Sequence[Example], task: str, seed: int, n_shown: int
) -> None:
    """Print F1 of links in and across sentences, on spans that are known and on predicted ones."""
    documents = [e for e in test if task in e.labels]
    for name, words in (
        ("known spans", [e.tokens for e in documents]),
        ("predicted spans", [DocumentWords(e.tokens, e.tokens.starts) for e in documents]),
    ):
        found = [one.answers[task] for one in predict(model, words, tasks=[task])]
        for where, is_across in (("all", None), ("in a sentence", False), ("across", True)):
            sides = [
                [
                    [link for link in answer if is_across in (None, _crosses(link, e.tokens))]
                    for answer, e in zip(answers, documents, strict=True)
                ]
                for answers in ([e.labels[task] for e in documents], found)
            ]
            f1 = relation_f1(*sides)
            n = sum(map(len, sides[0]))
            words_of = f"f1 {100 * f1.f1:.1f}, p {100 * f1.precision:.1f}, r {100 * f1.recall:.1f}"
            print(f"| {task} | {seed} | {name} | {where} | {n} | {words_of} |", flush=True)
        shown = [(e, link) for e, answer in zip(documents, found, strict=True) for link in answer]
        rng = np.random.default_rng(seed)
        for number in rng.permutation(len(shown))[:n_shown].tolist():
            example, (a, b, c, d, label) = shown[number]
            is_right = [a, b, c, d, label] in example.labels[task]
            first, second = (" ".join(example.tokens[s:e]) for s, e in ((a, b), (c, d)))
            where = "across" if _crosses([a, b, c, d], example.tokens) else "within"
            mark = "right" if is_right else "wrong"
            print(f"    {mark} {where} {example.id}: {first} -> {label} -> {second}")


def _crosses(link: Sequence[Any], words: Any) -> bool:
    return bool(words.sentence_of(link[0]) != words.sentence_of(link[2]))


def _spec(name: str, kind: str, splits: dict[str, list[Example]], **options: Any) -> TaskSpec:
    every = [example.labels for examples in splits.values() for example in examples]
    answers = [labels[name] for labels in every if name in labels]
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
    "genres": _genres,
    "across": _across,
}

if __name__ == "__main__":
    main()
