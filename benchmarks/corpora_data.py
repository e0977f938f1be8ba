"""Sentences for the benchmarks of imports and exports, made by chance from a seed."""

import json
import random
from collections.abc import Iterator

WORDS = (
    "the harbour pilot waited for a vessel from Rotterdam until dawn because heavy fog closed "
    "channel and nobody knew when it would lift or who had ordered cargo of grain and steel"
).split()
SPEC = {
    "name": "Corpora",
    "tasks": [
        {"name": "ner", "kind": "spans", "labels": ["PER", "ORG", "LOC"]},
        {"name": "topic", "kind": "classes", "labels": ["delay", "arrival", "closure"]},
        {"name": "tree", "kind": "tree", "labels": []},
    ],
}


def plain_lines(n: int, *, seed: int = 1) -> Iterator[str]:
    """Yield n sentences of 8 to 30 words, one a line."""
    rng = random.Random(seed)
    for i in range(n):
        yield " ".join(rng.choices(WORDS, k=rng.randint(7, 29))) + f" {i}\n"


def labelled_jsonl(n: int, *, seed: int = 2) -> Iterator[str]:
    """Yield n sentences as JSONL, each with up to four entities and a topic."""
    rng = random.Random(seed)
    for i, line in enumerate(plain_lines(n, seed=seed)):
        tokens = line.split()
        labels = {"ner": _spans(len(tokens), rng), "topic": rng.choice(["delay", "arrival"])}
        yield json.dumps({"id": f"s{i}", "tokens": tokens, "labels": labels}) + "\n"


def labelled_conll(n: int, *, seed: int = 3) -> Iterator[str]:
    """Yield n sentences in the four columns of CoNLL-2003 with their entities."""
    rng = random.Random(seed)
    for line in plain_lines(n, seed=seed):
        tokens = line.split()
        tags = ["O"] * len(tokens)
        for start, end, label in _spans(len(tokens), rng):
            tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
        rows = (f"{t} NN B-NP {tag}\n" for t, tag in zip(tokens, tags, strict=True))
        yield "".join(rows) + "\n"


def labelled_conllu(n: int, *, seed: int = 4) -> Iterator[str]:
    """Yield n sentences as CoNLL-U with trees and entities."""
    rng = random.Random(seed)
    for i, line in enumerate(plain_lines(n, seed=seed)):
        tokens = line.split()
        tags = ["O"] * len(tokens)
        for start, end, label in _spans(len(tokens), rng):
            tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
        rows = [f"# sent_id = s{i}\n# text = {line}"]
        for j, token in enumerate(tokens):
            head = 0 if j == 0 else rng.randint(1, j)
            label = "root" if j == 0 else rng.choice(["nsubj", "obj", "obl", "det", "case"])
            rows.append(f"{j + 1}\t{token}\t_\tNOUN\t_\t_\t{head}\t{label}\t_\tNER={tags[j]}\n")
        yield "".join(rows) + "\n"


def _spans(m: int, rng: random.Random) -> list[list[int | str]]:
    """Return some spans of one to three tokens that do not overlap."""
    spans: list[list[int | str]] = []
    at = 0
    while at < m - 3 and len(spans) < 4:
        start = at + rng.randint(0, 4)
        end = min(start + rng.randint(1, 3), m)
        if start < end:
            spans.append([start, end, rng.choice(["PER", "ORG", "LOC"])])
        at = end + 1
    return spans
