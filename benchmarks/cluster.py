"""How much faster two Ray nodes score than one: python -m benchmarks.cluster.

Nodes of one core each on this machine, the bundled encoder. One node, both nodes, and, as what the
machine itself allows at that time, one and two plain processes, all interleaved: only ratios within
a repetition are compared, so that other work on the machine weighs on all of them alike.
"""

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from benchmarks.engine_data import DATA_FOLDER, read_dataset
from mtl_engine.config import EngineConfig
from mtl_engine.executors import RayExecutor
from mtl_engine.model import MultiTaskModel, new_model
from mtl_engine.prediction import score

RESULTS = Path(__file__).parent / "results" / "cluster.md"
Sentences = list[tuple[str, ...]]


def main() -> None:
    """Measure, print as JSON and write down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA_FOLDER)
    parser.add_argument("--sentences", type=int, default=6144)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    splits, tasks = read_dataset("atis", arguments.data)
    sentences = [example.tokens for split in splits.values() for example in split]
    sentences = (sentences * (1 + arguments.sentences // len(sentences)))[: arguments.sentences]
    model = new_model(EngineConfig(), tasks).eval()
    rows = measure(model, sentences, arguments.repetitions)
    print(json.dumps(rows, indent=1))
    arguments.results.write_text(in_markdown(rows, len(sentences)), encoding="utf-8")


def measure(model: MultiTaskModel, sentences: Sentences, n: int) -> list[dict[str, float]]:
    """Return the seconds of each way, per repetition."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    executor = RayExecutor(cluster.address)
    rows = []
    for _ in range(n):
        row = {"one_process": _processes(model, sentences, 1)}
        row["one_node"] = _on(executor, model, sentences)
        second = cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
        row["two_nodes"] = _on(executor, model, sentences)
        cluster.remove_node(second)
        row["two_processes"] = _processes(model, sentences, 2)
        rows.append({name: round(seconds, 2) for name, seconds in row.items()})
    cluster.shutdown()
    return rows


def _on(executor: RayExecutor, model: MultiTaskModel, sentences: Sentences) -> float:
    """Return the seconds of scoring on the nodes; their processes are warm."""
    score(model, sentences[:2048], executor=executor)
    return _seconds(lambda: score(model, sentences, executor=executor))


def _processes(model: MultiTaskModel, sentences: Sentences, n: int) -> float:
    """Return the seconds that processes need which divide the sentences and share nothing."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(n, initializer=_prepare, initargs=(model,)) as pool:
        pool.map(_score, [sentences[:64]] * n, chunksize=1)
        shares = [sentences[number::n] for number in range(n)]
        return _seconds(lambda: pool.map(_score, shares, chunksize=1))


_own: list[MultiTaskModel] = []  # of a process


def _prepare(model: MultiTaskModel) -> None:
    torch.set_num_threads(1)
    _own.append(model)


def _score(sentences: Sentences) -> int:
    return len(score(_own[0], sentences).confidence)


def _seconds(compute: Callable[[], Any]) -> float:
    start = time.perf_counter()
    compute()
    return time.perf_counter() - start


def in_markdown(rows: list[dict[str, float]], n_sentences: int) -> str:
    """Return the measurements as a page."""
    ratios = np.array([row["one_node"] / row["two_nodes"] for row in rows])
    allowed = np.array([row["one_process"] / row["two_processes"] for row in rows])
    lines = [
        "# Two Ray nodes beside one",
        "",
        f"`python -m benchmarks.cluster`: {n_sentences:,} sentences of ATIS scored for slots and",
        "intent on nodes of one core each, on one machine of two cores, and by one and two plain",
        "processes that share nothing, which is what the machine allows at that time. Seconds, all",
        "ways interleaved; other work on the machine weighs on all of them.",
        "",
        "| repetition | one node | two nodes | ratio | one process | two processes | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for number, row in enumerate(rows):
        lines.append(
            f"| {number + 1} | {row['one_node']} | {row['two_nodes']} | {ratios[number]:.2f} | "
            f"{row['one_process']} | {row['two_processes']} | {allowed[number]:.2f} |"
        )
    lines += [
        "",
        f"Median ratio of nodes **{np.median(ratios):.2f}** (wanted: 1.7), of processes "
        f"{np.median(allowed):.2f}.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
