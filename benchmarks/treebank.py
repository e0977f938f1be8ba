"""How well the layers of a treebank are learned: lemmas, tags, features and enhanced arcs.

python -m benchmarks.treebank --train 500 --seeds 0

Trains one model of all layers on a random sample of EWT (``--data``), chooses the epoch on random
development sentences, and scores it on all test sentences. Beside it stands the lookup: what a word
got most often in the training sentences, and where it is new the word itself (lemma) or what is
most frequent. Words that the training has not seen are counted apart. The enhanced arcs (``deps``)
are made of the tree by Universal Dependencies' simple rules, since EWT comes here without them;
beside them stands the tree itself with its labels, read as a graph.
"""

import argparse
import os
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from analysis.data.corpora import read_records
from benchmarks.engine_data import DATA_FOLDER
from mtl_engine.config import EngineConfig, TrainingConfig
from mtl_engine.evaluation import evaluate
from mtl_engine.kinds import KINDS
from mtl_engine.training import End, train
from mtl_engine.types import Example, TaskSpec

KIND_OF = {"lemma": "lemmas", "upos": "tags", "xpos": "tags", "feats": "features", "deps": "graph"}
CASES = {"nmod": "case", "obl": "case", "advcl": "mark", "acl": "mark", "conj": "cc"}


def main() -> None:
    """Train, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA_FOLDER / "ewt_ner")
    parser.add_argument("--train", type=int, default=500)
    parser.add_argument("--dev", type=int, default=100)
    parser.add_argument("--test", type=int, default=0, help="0 = all")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--tasks", nargs="+", default=list(KIND_OF)[:-1], choices=KIND_OF)
    args = parser.parse_args()
    torch.set_num_threads(1)
    pool, dev, test = (
        _examples(args.data / name, args.tasks)
        for name in ("train.conllu.gz", "dev.conllu", "test.conllu")
    )
    test = test[: args.test or None]
    specs = [_spec(name, [*pool, *dev, *test]) for name in args.tasks]
    print("| seed | layer | metric | model | lookup | model, new words | lookup, new | CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    for seed in args.seeds:
        _run(args, specs, pool, dev, test, seed)


def _examples(path: Path, names: Sequence[str]) -> list[Example]:
    found = []
    for i, record in enumerate(read_records(path, "conllu")):
        values = {name: layer.value for name, layer in record.layers.items()}
        if "deps" in names:
            values["deps"] = enhanced(values["tree"], values["lemma"])
        found.append(Example(tuple(record.tokens), {n: values[n] for n in names if n in values}, i))
    return found


def enhanced(tree: Sequence[Sequence[Any]], lemmas: Sequence[str]) -> list[list[str]]:
    """Return the arcs that Universal Dependencies' simple rules make of a tree.

    Modifiers are told apart by their case or conjunction (``obl:in``, ``conj:and``); what has a
    conjunct hangs its head on the conjuncts as well, and they share its subject where they have
    none (universaldependencies.org, enhanced syntax).
    """
    below = defaultdict(list)
    for word, (head, label) in enumerate(tree, 1):
        below[head].append((word, label))

    def named(word: int, label: str) -> str:
        marks = [w for w, x in below[word] if x == CASES.get(label.partition(":")[0])]
        fitting = "".join(c for c in lemmas[marks[0] - 1].lower() if c.isalpha()) if marks else ""
        return f"{label}:{fitting}" if fitting else label

    arcs = {(word, head, named(word, label)) for word, (head, label) in enumerate(tree, 1)}
    for word, (head, label) in enumerate(tree, 1):
        if label != "conj":
            continue
        above, its = tree[head - 1]
        if above and its != "root":
            arcs.add((word, above, named(head, its)))
        subjects = {x for _, x in below[word] if x.startswith("nsubj")}
        if not subjects:
            arcs |= {(w, word, x) for w, x in below[head] if x.startswith("nsubj")}
    return KINDS["graph"].answer_of(((w - 1, h, x) for w, h, x in arcs), len(tree))


def _spec(name: str, examples: Sequence[Example]) -> TaskSpec:
    kind = KINDS[KIND_OF[name]]
    labels = {
        label for e in examples if name in e.labels for label in kind.labels_of(e.labels[name])
    }
    return TaskSpec(name, kind.name, tuple(sorted(labels)))


def _run(
    args: argparse.Namespace,
    specs: Sequence[TaskSpec],
    pool: Sequence[Example],
    dev: Sequence[Example],
    test: Sequence[Example],
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    taught = [pool[i] for i in rng.choice(len(pool), args.train, replace=False)]
    chosen = [dev[i] for i in rng.choice(len(dev), args.dev, replace=False)]
    config = replace(EngineConfig(), training=TrainingConfig(seed=seed))
    started = time.process_time()
    *_, end = train(taught, chosen, specs, config, device="cpu")
    assert isinstance(end, End)
    seconds = time.process_time() - started
    seen = {token for example in taught for token in example.tokens}
    for name, result in evaluate(end.model, test).items():
        gold = [test[row] for row in result.rows]
        if name == "deps":
            metrics = ", ".join(f"{key} {100 * v:.1f}" for key, v in result.metrics.items())
            print(
                f"| {seed} | {name} | {metrics} | | | | | {seconds:.0f} (all layers) |", flush=True
            )
            continue
        looked_up = _lookup(name, taught, gold)
        plain, plain_new = _accuracy(name, gold, looked_up, seen)
        main, new = _accuracy(name, gold, result.predicted, seen)
        more = "".join(
            f", {key} {100 * value:.1f}"
            for key, value in result.metrics.items()
            if key.startswith("f1")
        )
        print(
            f"| {seed} | {name} | accuracy{more} | {main:.1f} | {plain:.1f} | {new:.1f} | "
            f"{plain_new:.1f} | {seconds:.0f} (all layers) |",
            flush=True,
        )


def _lookup(name: str, taught: Sequence[Example], test: Sequence[Example]) -> list[list[str]]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    overall: Counter[str] = Counter()
    for example in taught:
        for token, value in zip(example.tokens, example.labels.get(name, ()), strict=False):
            counts[token][value] += 1
            overall[value] += 1
    usual = overall.most_common(1)[0][0]

    def best(token: str) -> str:
        if token in counts:
            return counts[token].most_common(1)[0][0]
        return token if name == "lemma" else usual

    return [[best(token) for token in example.tokens] for example in test]


def _accuracy(
    name: str, gold: Sequence[Example], found: Sequence[Sequence[str]], seen: set[str]
) -> tuple[float, float]:
    """Return the share of right words in per cent, of all and of those that are new."""
    right: list[bool] = []
    is_new: list[bool] = []
    for example, answer in zip(gold, found, strict=True):
        right += [a == b for a, b in zip(example.labels[name], answer, strict=True)]
        is_new += [token not in seen for token in example.tokens]
    hits, new = np.array(right), np.array(is_new)
    return 100 * float(hits.mean()), 100 * float(hits[new].mean())


if __name__ == "__main__":
    main()
