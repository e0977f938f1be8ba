"""How good ST, SMT and CMT are with cross-entropy and label smoothing.

python -m benchmarks.engine_quality --dataset atis --seeds 0 1 2 --results FILE.jsonl

Each run trains on a random sample drawn with its seed, chooses the epoch on random development
sentences and is scored once on all test sentences, with the engine's own settings. Finished runs
are appended to the results file, and are not run again; ``--report`` prints the table of a results
file, ``--reachable`` the most that classes can reach where a sample lacks some of them. Settings
are tuned with ``--set training.batch_words=96 --score-on dev``, which scores on dev sentences that
the training has not seen and never looks at the test sentences.
"""

import argparse
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from benchmarks.engine_data import DATA_FOLDER, read_dataset
from mtl_engine.confidence import overconfidence_error
from mtl_engine.config import BY_TASKS, EngineConfig
from mtl_engine.evaluation import evaluate
from mtl_engine.training import End, train
from mtl_engine.types import Example, TaskSpec


@dataclass(frozen=True)
class Protocol:
    """How a dataset is used."""

    n_train: int
    n_dev: int


PROTOCOLS = {
    "atis": Protocol(500, 100),
    "mtod_en": Protocol(300, 100),
    "ewt_ner": Protocol(1250, 200),
    "scierc": Protocol(600, 150),
}
MODELS = ("ST", "SMT", "CMT")
LOSSES = ("CE", "LS")
FROZEN = {BY_TASKS: "as many layers frozen as suits the tasks", -1: "nothing frozen"}


def main() -> None:
    """Run what is missing, or print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", choices=PROTOCOLS, default="atis")
    parser.add_argument("--data", type=Path, default=DATA_FOLDER)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--models", choices=MODELS, nargs="+", default=MODELS)
    parser.add_argument("--losses", choices=LOSSES, nargs="+", default=LOSSES)
    parser.add_argument("--train", type=int, help="sentences to learn from, not the protocol's")
    parser.add_argument("--frozen-layers", type=int, default=BY_TASKS)
    parser.add_argument("--lora-rank", type=int, default=0)
    parser.add_argument("--encoder", choices=["transformer", "tiny"], default="transformer")
    parser.add_argument("--limit", type=int, help="sentences of each split, for a quick try")
    parser.add_argument("--epochs", type=int, help="instead of as many as suit the words")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=JSON")
    parser.add_argument("--score-on", choices=["test", "dev"], default="test")
    parser.add_argument("--results", type=Path, default=Path("engine_quality.jsonl"))
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--reachable", action="store_true", help="of each seed; trains nothing")
    arguments = parser.parse_args()
    if arguments.report:
        print(table(read_results(arguments.results)))
        return
    if arguments.reachable:
        for seed in arguments.seeds:
            print(seed, reachable(arguments, seed))
        return
    torch.set_num_threads(1)
    run_missing(arguments)


def run_missing(arguments: argparse.Namespace) -> None:
    """Run each combination that the results file does not have yet, and append it."""
    splits, tasks = read_dataset(arguments.dataset, arguments.data)
    for seed in arguments.seeds:
        sample = draw(splits, protocol(arguments), seed, arguments.limit)
        if arguments.score_on == "dev":
            all_dev = draw({**splits, "test": splits["dev"]}, protocol(arguments), seed, None)
            sample["test"] = unseen(all_dev["test"], sample["dev"])
        for loss in arguments.losses:
            for model in arguments.models:
                key = {
                    "dataset": arguments.dataset,
                    "n": len(sample["train"]),
                    "model": model,
                    "loss": loss,
                    "frozen_layers": arguments.frozen_layers,
                    "lora_rank": arguments.lora_rank,
                    "seed": seed,
                    **({"set": arguments.set} if arguments.set else {}),
                    **({"scored_on": "dev"} if arguments.score_on == "dev" else {}),
                }
                if any(key.items() <= row.items() for row in read_results(arguments.results)):
                    continue
                row = {**key, **run(sample, tasks, settings(arguments, model, loss, seed))}
                with arguments.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")


def reachable(arguments: argparse.Namespace, seed: int) -> dict[str, float]:
    """Return per task of classes the share of test sentences, in %, whose class a sample has."""
    splits, tasks = read_dataset(arguments.dataset, arguments.data)
    sample = draw(splits, protocol(arguments), seed, arguments.limit)
    found = {}
    for name in (task.name for task in tasks if task.kind == "classes"):
        known = {example.labels[name] for example in sample["train"]}
        hits = [example.labels[name] in known for example in sample["test"]]
        found[name] = round(100 * float(np.mean(hits)), 1)
    return found


def protocol(arguments: argparse.Namespace) -> Protocol:
    """Return how a dataset is used."""
    usual = PROTOCOLS[arguments.dataset]
    return Protocol(arguments.train or usual.n_train, usual.n_dev)


def draw(
    splits: dict[str, list[Example]], protocol: Protocol, seed: int, limit: int | None
) -> dict[str, list[Example]]:
    """Return this seed's training and dev sentences, and the test sentences of all seeds."""
    sizes = {"train": protocol.n_train, "dev": protocol.n_dev, "test": len(splits["test"])}
    sample = {}
    for number, (name, size) in enumerate(sizes.items()):
        rng = np.random.default_rng([0 if name == "test" else seed, number])
        rows = rng.permutation(len(splits[name]))[: min(size, limit or size)]
        sample[name] = [splits[name][row] for row in rows]
    return sample


def unseen(dev: Sequence[Example], used: Sequence[Example]) -> list[Example]:
    """Return the first 400 dev sentences that were not used."""
    known = {id(example) for example in used}
    return [example for example in dev if id(example) not in known][:400]


def settings(arguments: argparse.Namespace, model: str, loss: str, seed: int) -> EngineConfig:
    """Return the configuration of one run."""
    training = {"seed": seed, "epochs": arguments.epochs or 0}
    if loss == "CE":
        training["label_smoothing"] = 0.0
    values: dict[str, dict[str, Any]] = {
        "encoder": {
            "kind": arguments.encoder,
            "frozen_layers": arguments.frozen_layers,
            "lora_rank": arguments.lora_rank,
        },
        "model": {"architecture": model},
        "training": training,
    }
    for assignment in arguments.set:
        key, value = assignment.split("=", 1)
        section, name = key.split(".", 1)
        values[section][name] = json.loads(value)
    return EngineConfig.from_dict(values)


def run(
    sample: dict[str, list[Example]], tasks: Sequence[TaskSpec], config: EngineConfig
) -> dict[str, Any]:
    """Return the test scores, overconfidence and CPU seconds of one architecture."""
    found: dict[str, Any] = {"scores": {}, "oe": {}, "confidence": {}, "accuracy": {}, "cpu_s": 0.0}
    for group, judged in task_groups(tasks, config.model.architecture):
        start = time.process_time()
        names = {task.name for task in group}
        train_set, dev, test = (only(sample[name], names) for name in ("train", "dev", "test"))
        *_, end = train(train_set, dev, group, config)
        assert isinstance(end, End)
        found["cpu_s"] += time.process_time() - start
        results = evaluate(end.model, test)
        for name in judged:
            result = results[name]
            found["scores"][name] = {k: round(100 * v, 2) for k, v in result.metrics.items()}
            oe = overconfidence_error(result.confidence, result.accuracy)
            found["oe"][name] = round(oe, 4)
            found["confidence"][name] = round(float(result.confidence.mean()), 3)
            found["accuracy"][name] = round(float(result.accuracy.mean()), 3)
    return {**found, "cpu_s": round(found["cpu_s"], 1)}


def task_groups(
    tasks: Sequence[TaskSpec], architecture: str
) -> Iterator[tuple[list[TaskSpec], list[str]]]:
    """Yield the tasks that learn together and those judged on that model.

    In ST each task learns alone, relations with their spans.
    """
    if architecture != "ST":
        yield list(tasks), [task.name for task in tasks]
        return
    for task in tasks:
        group = [other for other in tasks if other.name in (task.name, task.parent)]
        yield group, [task.name]


def only(examples: Sequence[Example], names: set[str]) -> list[Example]:
    """Return the sentences with the answers to some tasks only."""
    return [
        Example(e.tokens, {name: a for name, a in e.labels.items() if name in names}, e.id)
        for e in examples
    ]


def read_results(path: Path) -> list[dict[str, Any]]:
    """Return the finished runs."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return Markdown tables: all seeds' main scores and overconfidence errors, and their mean."""
    keys = ("dataset", "n", "frozen_layers", "lora_rank")
    parts: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        parts.setdefault(tuple(row[key] for key in keys), []).append(row)
    return "\n".join(_part(some) for some in parts.values())


def _part(rows: Sequence[dict[str, Any]]) -> str:
    """Return the table of one dataset with one number of frozen layers."""
    first = rows[0]
    tasks = sorted(first["scores"])
    heads = [f"{task} {list(first['scores'][task])[-1]} | OE" for task in tasks]
    frozen = first["frozen_layers"]
    lines = [
        f"\n{first['dataset']}, n = {first['n']}, "
        + FROZEN.get(frozen, f"embeddings and {frozen} layers frozen")
        + (f", LoRA of rank {first['lora_rank']}" if first["lora_rank"] else ""),
        "",
        f"| model | loss | {' | '.join(heads)} | CPU s |",
        "|---|---|" + "---|---|" * len(tasks) + "---|",
    ]
    for model, loss in dict.fromkeys((row["model"], row["loss"]) for row in rows):
        some = [row for row in rows if (row["model"], row["loss"]) == (model, loss)]
        cells = []
        for task in tasks:
            cells.append(_cell([list(row["scores"][task].values())[-1] for row in some], 1))
            cells.append(_cell([row["oe"][task] for row in some], 3))
        cells.append(_cell([row["cpu_s"] for row in some], 0))
        lines.append(f"| {model} | {loss} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(values: Sequence[float], digits: int) -> str:
    each = " / ".join(f"{value:.{digits}f}" for value in values)
    return f"{np.mean(values):.{digits}f} ({each})"


if __name__ == "__main__":
    main()
