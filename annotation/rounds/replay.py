"""A round computed again from its manifest, and compared with what it asked."""

import shutil
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.bridge import task_specs
from annotation.errors import Refused
from annotation.models import Round
from annotation.round_config import RoundConfig
from annotation.rounds.learning import learn
from annotation.rounds.scoring import score_pool, sentence_vectors, unscored_pool
from annotation.rounds.stages import make_choice, previous_model, wanted_overlap
from annotation.rounds.workspace import Workspace
from annotation.selectors.pool import Pool


@dataclass(frozen=True)
class Replay:
    """Whether a round came out the same, and where it first did not."""

    n_asks: int
    difference: str = ""  # empty: the same batch

    @property
    def is_same(self) -> bool:
        return not self.difference


def replay_round(round: Round) -> Replay:
    """Train, score and choose again from the kept labels and pool; compare with the manifest."""
    original = Workspace(round.pk)
    if not round.manifest or not original.has("scores.npz"):
        raise Refused(
            f"Round {round.number} has no manifest with scores on this machine to replay from."
        )
    scratch = Workspace.scratch()
    try:
        return _replay(round, original, scratch)
    finally:
        shutil.rmtree(scratch.directory, ignore_errors=True)


def _replay(round: Round, original: Workspace, scratch: Workspace) -> Replay:
    config = RoundConfig.from_dict(round.manifest["config"])
    if original.file_hash("examples.jsonl.gz") != round.manifest["labels_hash"]:
        return Replay(0, "The kept labels are not those of the manifest.")
    kept = original.arrays("scores")
    tasks = tuple(round.stages["scoring"]["tasks"])
    pool = Pool(kept["ids"], kept["n_tokens"], kept["is_closed"], tasks)
    is_seed = round.stages["training"]["is_seed"]
    arrays = (
        unscored_pool(pool) if is_seed else _score_again(round, config, original, scratch, pool)
    )
    choice = make_choice(
        {**arrays, "read": kept["read"], "label": kept["label"]},
        tasks,
        config,
        round.number,
        is_seed=is_seed,
        overlap=wanted_overlap(round),
        vectors=lambda rows: sentence_vectors(scratch, pool.ids[rows]),
    )
    again = [
        (int(pool.ids[ask.row]), [tasks[c] for c in ask.tasks], ask.is_blind) for ask in choice.asks
    ]
    asked = [
        (ask["sentence"], ask["tasks"], ask["is_blind"])
        for ask in round.manifest["asks"]
        if ask["reason"]["source"] != "test"
    ]
    difference = _first_difference(asked, again)
    if difference:
        difference += _score_difference(kept["confidence"], arrays["confidence"])
    return Replay(len(asked), difference)


def _score_again(
    round: Round, config: RoundConfig, original: Workspace, scratch: Workspace, pool: Pool
) -> dict[str, Any]:
    scratch.save_examples(original.examples())
    facts = learn(
        scratch,
        task_specs(round.project),
        config.engine_config(),
        policy_weights=round.stages["training"].get("policy_weights"),
        warm_start=previous_model(round) if config.is_warm_start else None,
        has_temperature=config.has_temperature,
        report=lambda stage, n_done, n_total: None,
    )
    return score_pool(
        scratch,
        pool,
        method=config.confidence,
        temperatures=facts["temperatures"],
        seed=config.seed,
        report=lambda stage, n_done, n_total: None,
    )


def _first_difference(asked: list[Any], again: list[Any]) -> str:
    for place, (before, now) in enumerate(zip(asked, again, strict=False), 1):
        if before != now:
            return f"Ask {place} was {before}, now it is {now}."
    if len(asked) != len(again):
        return f"The round asked {len(asked)} sentences, now it asks {len(again)}."
    return ""


def _score_difference(before: Any, now: Any) -> str:
    gap = np.nanmax(np.abs(before - now)) if before.size else 0.0
    return f" The confidences differ by at most {gap:.2g}."
