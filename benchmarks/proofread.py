"""How many planted errors the layers find in each other: tables of benchmarks/results/proofread.md.

    TANDEM_DATA=... python -m benchmarks.proofread [--corpora atis ewt scierc] [--seeds 21 22 23]

Plants errors in 5 % of the items of every layer, has the product suspect them, and looks at the
most suspected first. For comparison: how likely each answer is to a model of its task alone.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from analysis.methods.label_errors import Judgement, proofread
from mtl_engine.active_learning.train import task_groups
from mtl_engine.kinds import KINDS, TaskSpec
from mtl_engine.kinds.tree import is_tree
from mtl_engine.types import Example

if TYPE_CHECKING:
    from mtl_engine.config import EngineConfig

RESULTS = Path(__file__).parent / "results"
ROWS = RESULTS / "proofread.jsonl"
SHARE = 0.05
N_SENTENCES = 500
CORPORA: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "atis": ("atis/train.conll", "atis/test.conll", "slu", ("slots", "intent")),
    "ewt": ("ewt_ner/dev.conllu", "ewt_ner/test.conllu", "conllu", ("ner", "upos", "tree")),
    "scierc": ("scierc/train.jsonl", "scierc/test.jsonl", "ie", ("entities", "relations")),
}


@dataclass(frozen=True)
class Planted:
    """Where an answer was made wrong."""

    row: int
    task: str
    place: tuple[Any, ...]  # of the right item and of the wrong one together


def main() -> None:
    """Measure what is missing and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", nargs="*", default=list(CORPORA))
    parser.add_argument("--seeds", nargs="*", type=int, default=[21, 22, 23, 24, 25])
    parser.add_argument("--report", action="store_true", help="only write the report")
    arguments = parser.parse_args()
    if not arguments.report:
        for corpus in arguments.corpora:
            for seed in arguments.seeds:
                for row in measured(corpus, seed):
                    with ROWS.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")
                    print(row, flush=True)
    report = as_markdown([json.loads(line) for line in ROWS.read_text("utf-8").splitlines()])
    (RESULTS / "proofread.md").write_text(report, encoding="utf-8")
    print(report)


def measured(name: str, seed: int, *, n: int = N_SENTENCES) -> list[dict[str, Any]]:
    """Return a row per method and task: precision, and the share found in the first tenth."""
    tasks, examples = read(name, n, seed)
    wrong, planted = plant(examples, tasks, seed)
    with tempfile.TemporaryDirectory(prefix="tandem-proofread-") as cache:
        started = time.process_time()
        is_one = len(task_groups(tasks, "ST")) == 1
        single = [] if is_one else single_task(wrong, tasks, seed, Path(cache))
        between = time.process_time()
        found = [one.judgement for one in proofread(wrong, tasks, config_of("SMT"), seed=seed,
                                                    cache_dir=Path(cache))]  # fmt: skip
        seconds = {"single": between - started, "product": time.process_time() - between}
    return rows_of(name, seed, tasks, planted, found if is_one else single, found, seconds)


def rows_of(
    name: str,
    seed: int,
    tasks: Sequence[TaskSpec],
    planted: Sequence[Planted],
    single: Sequence[Judgement],
    found: Sequence[Judgement],
    seconds: dict[str, float],
) -> list[dict[str, Any]]:
    """Return the rows of three orders of looking."""
    orders = {
        "single": sorted(single, key=lambda one: one.likelihood),
        "joint": sorted(found, key=lambda one: one.likelihood),
        "product": found,
    }
    rows = []
    for method, order in orders.items():
        for task in (*(task.name for task in tasks), "all"):
            own = [one for one in order if task in ("all", one.task)]
            there = [p for p in planted if task in ("all", p.task)]
            rows.append(
                {
                    "corpus": name,
                    "seed": seed,
                    "method": method,
                    "task": task,
                    "n_items": len(own),
                    "n_planted": len(there),
                    **looked_at(own, there),
                    "cpu_s": round(seconds.get(method, 0.0), 1),
                }
            )
    return rows


def read(name: str, n: int, seed: int) -> tuple[tuple[TaskSpec, ...], list[Example]]:
    """Return n sentences of a corpus, drawn by chance."""
    from analysis.data.corpora import read_corpus
    from analysis.data.files import data_file

    train, test, format, tasks = CORPORA[name]
    corpus = read_corpus(
        data_file(train), data_file(test), format=format, tasks=tasks, test_size=10, max_words=50
    )
    drawn = np.random.default_rng(seed).permutation(len(corpus.pool))[:n]
    return corpus.tasks, [corpus.pool[i] for i in sorted(drawn.tolist())]


def config_of(architecture: str) -> "EngineConfig":
    """Return the engine's settings: the bundled encoder, wholly frozen."""
    from mtl_engine.config import EngineConfig

    return EngineConfig.from_dict(
        {"encoder": {"frozen_layers": 6}, "model": {"architecture": architecture}}
    )


def single_task(
    examples: Sequence[Example], tasks: Sequence[TaskSpec], seed: int, cache: Path
) -> list[Judgement]:
    """Return cross-validated judgements by a model per task."""
    from mtl_engine.cross_validation import cross_validate

    judged = cross_validate(examples, tasks, config_of("ST"), seed=seed, cache_dir=cache)
    return [
        Judgement(one.row, one.task, *(getattr(one.item, key) for key in FIELDS)) for one in judged
    ]


FIELDS = ("given", "expected", "likelihood", "best", "presence")


def looked_at(order: Sequence[Judgement], planted: Sequence[Planted]) -> dict[str, Any]:
    """Return the precision of as many looks as errors, and the share found in a tenth of looks."""
    by_cell: dict[tuple[int, str], list[Planted]] = {}
    for one in planted:
        by_cell.setdefault((one.row, one.task), []).append(one)
    hits = [[p for p in by_cell.get((one.row, one.task), ()) if meets(p, one)] for one in order]
    first = hits[: len(planted)]
    tenth = {id(p) for found in hits[: len(order) // 10] for p in found}
    return {
        "precision": round(sum(map(bool, first)) / max(1, len(first)), 4),
        "found": round(len(tenth) / max(1, len(planted)), 4),
    }


def meets(planted: Planted, judged: Judgement) -> bool:
    """Return whether whoever looks at an item sees the planted error."""
    place = judged.place
    if len(planted.place) == 2:  # spans
        return bool(place[0] < planted.place[1] and planted.place[0] < place[1])
    return place[: len(planted.place)] == planted.place


def plant(
    examples: Sequence[Example], tasks: Sequence[TaskSpec], seed: int
) -> tuple[list[Example], list[Planted]]:
    """Return the sentences with a share of each layer's items made wrong, and where."""
    rng = np.random.default_rng(1000 + seed)
    labels = {example_row: dict(example.labels) for example_row, example in enumerate(examples)}
    planted: list[Planted] = []
    for task in tasks:
        if task.parent is not None or not task.labels:
            continue
        planted += _plant_task(task, tasks, examples, labels, rng)
    for task in tasks:
        if task.parent is not None:
            planted += _plant_task(task, tasks, examples, labels, rng)
    return [replace(e, labels=labels[row]) for row, e in enumerate(examples)], planted


def _plant_task(
    task: TaskSpec,
    tasks: Sequence[TaskSpec],
    examples: Sequence[Example],
    labels: dict[int, dict[str, Any]],
    rng: np.random.Generator,
) -> list[Planted]:
    kind = KINDS[task.kind]
    cells = [
        (row, number)
        for row, own in labels.items()
        for number in range(len(kind.items(own[task.name])) if task.name in own else 0)
    ]
    used = [kind.items(labels[row][task.name])[number][-1] for row, number in cells]
    drawn = rng.permutation(len(cells))[: round(SHARE * len(cells))]
    linked = [other.name for other in tasks if other.parent == task.name]
    planted = []
    by_row: dict[int, list[int]] = {}
    for place in drawn:
        by_row.setdefault(cells[place][0], []).append(cells[place][1])
    for row, numbers in sorted(by_row.items()):
        items = kind.items(labels[row][task.name])
        n_tokens = len(examples[row].tokens)
        for number in sorted(numbers, reverse=True):
            before = items[number]
            others = [label for label in used if label != before[-1]]
            label = others[rng.integers(len(others))]
            change = rng.random()
            where = before[:-1]
            if task.kind == "spans" and change < 0.2 and not linked:
                items.pop(number)
            elif task.kind == "spans" and change < 0.4 and not linked:
                longer = (before[0], min(n_tokens, before[1] + 1), before[2])
                clashes = any(s < longer[1] and before[1] <= s for s, *_ in items)
                if clashes or longer == before:
                    items[number] = (*before[:-1], label)
                else:
                    items[number], where = longer, longer[:2]
            elif task.kind == "relations" and change < 0.3:
                items.pop(number)
            elif task.kind == "tree" and change < 0.5:
                items[number] = _other_head(items, number, rng) or (*before[:-1], label)
                where = (before[0],)
            else:
                items[number] = (*before[:-1], label)
            if task.kind == "tree":
                where = (before[0],)
            planted.append(Planted(row, task.name, tuple(where)))
        labels[row][task.name] = kind.answer_of(items, n_tokens)
    return planted


def _other_head(items: Sequence[Any], number: int, rng: np.random.Generator) -> Any:
    word, _, label = items[number]
    for head in rng.permutation(len(items)) + 1:
        heads = [h for _, h, _ in items]
        heads[number] = int(head)
        if int(head) != word + 1 and heads[number] != items[number][1] and is_tree(heads):
            return (word, int(head), label)
    return None


def as_markdown(rows: Sequence[dict[str, Any]]) -> str:
    """Return the report."""
    newest = {(r["corpus"], r["seed"], r["method"], r["task"]): r for r in rows if "model" not in r}
    lines = [
        "# Layers that proofread each other: planted errors",
        "",
        f"`python -m benchmarks.proofread`: {N_SENTENCES} random sentences of each corpus (50 "
        f"words at most), {100 * SHARE:.0f} % of the items of every layer made wrong (another "
        "label by its frequency; spans also dropped or a word longer, arcs at another head, "
        "relations dropped), five-fold cross-validation, the bundled encoder wholly frozen. "
        "*Single-task* ranks by the likelihood of the answer in a model of its task alone; *joint* "
        "does so in one model of all tasks; *product* is what people see under suspected errors: "
        "a regression per task over the joint model's likelihoods, those usual for labels, what "
        "the place foretells (cross-validated regressions of labels, and of the heads of words, on "
        "words and other layers) and contradictions with words and layers, learned from errors "
        "that the product plants "
        "itself on top of the answers as they are, wrong ones included. Its planted errors are of "
        "the same kinds (labels by frequency, dropped, borders, heads), drawn by other code and "
        "at other places: errors of people are of more kinds than these.",
        "",
        "The regression and its features were chosen on seed 11 (labels that the place foretells "
        "on SciERC, heads on EWT); no seed of the table was looked at before. Precision is of as "
        "many looks "
        "as there are planted errors; found is the share of them in the first tenth of all looks. "
        "Errors that the corpora have themselves count as false. The goal is twice the precision "
        "of single-task, and 60 % found; *most possible* is what a precision of 1 would be: where "
        "single-task is above .5 nothing can be twice as precise. *False looks* are the rest, "
        "single-task and product. "
        "Relations are learned with the entities that they "
        "link, so that the single-task model of SciERC is the joint one.",
        "",
        "| corpus (seeds) | layer | items | planted | single-task | joint | product "
        "| times single-task | most possible | false looks | found: single-task | found: product |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    keys = dict.fromkeys((r["corpus"], r["task"]) for r in newest.values())
    for corpus, task in keys:
        own = [r for r in newest.values() if (r["corpus"], r["task"]) == (corpus, task)]

        def mean(method: str, key: str, own: Any = own) -> float:
            return float(np.mean([r[key] for r in own if r["method"] == method]))

        seeds = {r["seed"] for r in own}
        single, product = mean("single", "precision"), mean("product", "precision")
        lines.append(
            f"| {corpus} ({len(seeds)}) | {task} | {mean('product', 'n_items'):.0f} "
            f"| {mean('product', 'n_planted'):.0f} | {single:.2f} "
            f"| {mean('joint', 'precision'):.2f} | {product:.2f} "
            f"| {product / max(single, 1e-9):.1f} | {1 / max(single, 1e-9):.1f} "
            f"| {1 - single:.0%}, {1 - product:.0%} "
            f"| {mean('single', 'found'):.0%} | {mean('product', 'found'):.0%} |"
        )
    seconds = {(r["corpus"], r["seed"], r["method"]): r["cpu_s"] for r in newest.values()}
    lines += ["", f"{sum(seconds.values()):.0f} CPU seconds in all."]
    lines += _before([row for row in rows if "model" in row])
    return "\n".join(lines) + "\n"


def _before(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the table of the fixed weights that came before the learned detector."""
    if not rows:
        return []
    lines = [
        "",
        "## Before errors were planted to learn from",
        "",
        "The same task, other seeds: confident learning in the joint model with contradictions "
        "between layers, at fixed weights. Corpora that are only here were not measured with the "
        "detector of today.",
        "",
        "| corpus (seeds) | layer | single-task | fixed weights | times single-task "
        "| found: single-task | found: fixed weights |",
        "|---|---|---|---|---|---|---|",
    ]
    for corpus, task in dict.fromkeys((r["corpus"], r["task"]) for r in rows):
        own = [r for r in rows if (r["corpus"], r["task"]) == (corpus, task)]

        def mean(model: str, method: str, key: str, own: Any = own) -> float:
            values = [r[key] for r in own if (r["model"], r["method"]) == (model, method)]
            return float(np.mean(values))

        single, layers = (
            mean("ST", "likelihood", "precision"),
            mean("SMT", "layers", "precision"),
        )
        lines.append(
            f"| {corpus} ({len({r['seed'] for r in own})}) | {task} | {single:.2f} | {layers:.2f} "
            f"| {layers / max(single, 1e-9):.1f} | {mean('ST', 'likelihood', 'found'):.0%} "
            f"| {mean('SMT', 'layers', 'found'):.0%} |"
        )
    return lines


if __name__ == "__main__":
    main()
