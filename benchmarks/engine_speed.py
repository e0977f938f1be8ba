"""How fast the engine is beside the bare encoder, in one run: python -m benchmarks.engine_speed.

Everything is timed in CPU seconds of one thread, interleaved, best of several rounds; ratios within
one run are what counts, because other work on the machine slows all of it alike.
"""

import argparse
import json
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from benchmarks.engine_data import DATA_FOLDER, read_dataset
from benchmarks.engine_peer import N_EPOCHS, peer_runs
from mtl_engine.batching import by_length
from mtl_engine.config import EngineConfig
from mtl_engine.features import open_features
from mtl_engine.model import MultiTaskModel, new_model
from mtl_engine.prediction import score
from mtl_engine.prediction.predict import BATCH_TOKENS
from mtl_engine.training import End, train
from mtl_engine.types import Example, TaskSpec

RESULTS = Path(__file__).parent / "results" / "engine.md"
WANTED = {
    "training.full_over_peer": "3",
    "training.fast_4_over_peer": "8",
    "scoring.full_over_bare": ".9",
    "scoring.full_over_peer": "3",
    "scoring.fast_4_over_peer": "8",
    "bare_step.ours_over_bare": ".85",
}


def in_markdown(report: Mapping[str, Mapping[str, float]]) -> str:
    """Return the measurements as a page."""
    lines = [
        "# The engine's speed",
        "",
        "`python -m benchmarks.engine_speed --peer FOLDER`: CPU seconds of one thread, all runs",
        "interleaved, best of three. ATIS, the bundled encoder. The peer is small-text's own loop",
        "on the same sentences; its epoch is a third of a fit of three epochs. `fast_N` freezes",
        "the embeddings and N layers, with their outputs kept.",
        "",
        "| what | measured | wanted |",
        "|---|---|---|",
    ]
    for part, values in report.items():
        for name, value in values.items():
            wanted = WANTED.get(f"{part}.{name}", "")
            lines.append(
                f"| {part}: {name.replace('_', ' ')} | {value} | {wanted and '>= ' + wanted} |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the measurements as JSON, and write them down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA_FOLDER)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer", type=Path, help="where small-text is installed, to run it too")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    splits, tasks = read_dataset("atis", arguments.data)
    pool = [example.tokens for example in splits["train"][:400]]
    examples = splits["train"][:100]
    peer: dict[str, Callable[[], Any]] = {}
    if arguments.peer:
        peer = peer_runs(arguments.peer, examples, pool, tasks[1].labels)
    report = {
        "training": training(tasks, examples, arguments.rounds, peer),
        "scoring": scoring(tasks, pool, arguments.rounds, peer),
        "bare_step": bare_step(tasks, arguments.rounds),
        "memory": memory(tasks, pool),
    }
    print(json.dumps(report, indent=1))
    RESULTS.write_text(in_markdown(report), encoding="utf-8")


def scoring(
    tasks: Sequence[TaskSpec],
    pool: Sequence[Any],
    rounds: int,
    peer: Mapping[str, Callable[[], Any]],
) -> dict[str, float]:
    """Return sentences per CPU second of a pool of 400, beside the bare encoder's forward."""
    full = new_model(config(frozen_layers=-1), tasks).eval()
    with tempfile.TemporaryDirectory() as folder:
        fast = {}
        for n_layers in (2, 4):
            model = new_model(config(frozen_layers=n_layers), tasks).eval()
            store = open_features(model.encoder, folder)
            score(model, pool, features=store)
            fast[n_layers] = (model, store)
        best = interleaved(
            {
                "bare": lambda: bare_forward(full, pool),
                "full": lambda: score(full, pool),
                "fast_2": lambda: score(fast[2][0], pool, features=fast[2][1]),
                "fast_4": lambda: score(fast[4][0], pool, features=fast[4][1]),
                **({"peer": peer["scoring"]} if peer else {}),
            },
            rounds,
        )
    speed = {name: len(pool) / seconds for name, seconds in best.items()}
    return {
        **{f"{name}_sentences_per_cpu_s": round(value, 1) for name, value in speed.items()},
        "full_over_bare": round(speed["full"] / speed["bare"], 3),
        **over_peer(best),
    }


def over_peer(seconds: Mapping[str, float]) -> dict[str, float]:
    """Return how many times faster than the peer each run is."""
    return {
        f"{name}_over_peer": round(seconds["peer"] / own, 2)
        for name, own in seconds.items()
        if "peer" in seconds and name != "peer"
    }


@torch.no_grad()
def bare_forward(model: MultiTaskModel, pool: Sequence[Any]) -> None:
    """Run the Hugging Face encoder alone over the same length-sorted batches, padded."""
    encoder, _ = model.encoder.original
    encoder.eval()
    pieces = model.encoder.read(pool)
    for rows in by_length([len(sentence) for sentence in pieces], BATCH_TOKENS):
        ids, mask = padded([pieces[row].ids for row in rows])
        encoder(input_ids=ids, attention_mask=mask)


def training(
    tasks: Sequence[TaskSpec],
    examples: Sequence[Example],
    rounds: int,
    peer: Mapping[str, Callable[[], Any]],
) -> dict[str, float]:
    """Return CPU seconds of an epoch over 100 sentences, after a first epoch."""
    settings = (("full", -1), ("fast_2", 2), ("fast_4", 4))
    runs = {name: epochs(tasks, examples, n_layers) for name, n_layers in settings}
    timed: dict[str, Callable[[], Any]] = {n: lambda run=run: next(run) for n, run in runs.items()}
    best = interleaved({**timed, **({"peer": peer["training"]} if peer else {})}, rounds)
    if peer:
        best["peer"] /= N_EPOCHS
    return {
        **{f"{name}_cpu_s_per_epoch": round(seconds, 3) for name, seconds in best.items()},
        **over_peer(best),
    }


def epochs(tasks: Sequence[TaskSpec], examples: Sequence[Example], n_layers: int) -> Iterator[None]:
    """Train one epoch each time it is asked."""
    events = train(examples, [], tasks, config(frozen_layers=n_layers, epochs=1000))
    step_of_epoch = -(-len(examples) // 8)
    while True:
        for _ in range(step_of_epoch):
            assert not isinstance(next(events), End)
        yield


def bare_step(tasks: Sequence[TaskSpec], rounds: int) -> dict[str, float]:
    """Return sub-words per CPU second of fine-tuning on 32 x 20 of them, bare and ours."""
    rng = np.random.default_rng(0)
    words = ("flight", "from", "boston", "to", "denver", "on", "monday", "please")
    sentences = [tuple(rng.choice(words, 18)) for _ in range(32)]
    labels = {"slots": [[2, 3, tasks[0].labels[0]]], "intent": tasks[1].labels[0]}
    examples = [Example(tokens, labels) for tokens in sentences]
    settings = config(frozen_layers=-1, batch_size=32, epochs=1000)
    ours = train(examples, [], tasks, settings)
    model = new_model(settings, tasks)
    bare = bare_steps(model, sentences, len(tasks[0].labels) * 2 + 1)
    best = interleaved({"ours": lambda: next(ours), "bare": lambda: next(bare)}, 3 * rounds)
    speed = {name: 32 * 20 / seconds for name, seconds in best.items()}
    return {
        **{f"{name}_tokens_per_cpu_s": round(value, 1) for name, value in speed.items()},
        "ours_over_bare": round(speed["ours"] / speed["bare"], 3),
    }


def bare_steps(model: MultiTaskModel, sentences: Sequence[Any], n_tags: int) -> Iterator[None]:
    """Fine-tune the Hugging Face encoder with a linear layer, one step each time it is asked."""
    encoder, _ = model.encoder.original
    encoder.train()
    linear = torch.nn.Linear(model.encoder.width, n_tags)
    weights = [*encoder.parameters(), *linear.parameters()]
    optimizer = torch.optim.AdamW(weights, lr=1e-5, fused=True)
    ids, mask = padded([pieces.ids for pieces in model.encoder.read(sentences)])
    target = torch.zeros(ids.numel(), dtype=torch.long)
    while True:
        optimizer.zero_grad(set_to_none=True)
        states = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        torch.nn.functional.cross_entropy(linear(states).flatten(0, 1), target).backward()
        torch.nn.utils.clip_grad_norm_([w for w in weights if w.grad is not None], 1.0)
        optimizer.step()
        yield


def memory(tasks: Sequence[TaskSpec], pool: Sequence[Any]) -> dict[str, float]:
    """Return how many MB the peak grows from scoring 4,000 sentences to scoring 20,000."""
    model = new_model(config(frozen_layers=4), tasks).eval()
    peaks = []
    with tempfile.TemporaryDirectory() as folder:
        store = open_features(model.encoder, folder)
        for n in (4_000, 20_000):
            score(model, (pool[i % len(pool)] for i in range(n)), features=store)
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return {"peak_mb_4000": round(peaks[0]), "growth_mb_to_20000": round(peaks[1] - peaks[0], 1)}


def config(*, frozen_layers: int, **training_keys: Any) -> EngineConfig:
    """Return the default settings with some layers frozen."""
    return EngineConfig.from_dict(
        {"encoder": {"frozen_layers": frozen_layers}, "training": training_keys}
    )


def padded(ids: Sequence[np.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ids and mask (B, T) as transformers reads them."""
    width = max(map(len, ids))
    rows = torch.zeros(len(ids), width, dtype=torch.long)
    mask = torch.zeros(len(ids), width, dtype=torch.long)
    for row, values in enumerate(ids):
        rows[row, : len(values)] = torch.from_numpy(values.astype(np.int64))
        mask[row, : len(values)] = 1
    return rows, mask


def interleaved(runs: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the least CPU seconds of each run over several rounds, after one to warm up."""
    best = dict.fromkeys(runs, float("inf"))
    for number in range(rounds + 1):
        for name, run in runs.items():
            start = time.process_time()
            run()
            seconds = time.process_time() - start
            if number:
                best[name] = min(best[name], seconds)
    return best


if __name__ == "__main__":
    main()
