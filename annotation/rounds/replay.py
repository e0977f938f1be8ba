"""A round computed again from its manifest, and compared with what it asked."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.bridge import task_specs
from annotation.errors import Refused
from annotation.models import Round
from annotation.rounds.selection_stage import TestNeed, make_choice, scored_tasks, wanted_overlap
from annotation.rounds.selectors import previous_model
from annotation.rounds.settings import RoundSettings
from annotation.rounds.training_stage import train_models
from annotation.rounds.workspace import EXAMPLES, SCORES, ScoredPool, Workspace
from mtl_engine.active_learning.choose import TEST_SLICE
from mtl_engine.active_learning.pool import TRAIN
from mtl_engine.active_learning.score import PoolScores, score_pool, sentence_vectors, unscored
from mtl_engine.ensemble import Ensemble

Ask = tuple[int, list[str], bool]  # sentence, tasks, is_blind


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
    workspace = Workspace.of(round)
    if not round.manifest or not workspace.is_whole(SCORES):
        raise Refused(
            f"Round {round.number} has no manifest with scores on this machine to replay from."
        )
    if workspace.file_hash(EXAMPLES) != round.manifest["labels_hash"]:
        return Replay(0, "The kept labels are not those of the manifest.")
    return _replay(round, workspace)


def _replay(round: Round, workspace: Workspace) -> Replay:
    settings = RoundSettings.from_dict(round.manifest["config"])
    kept = workspace.scored(scored_tasks(round), round.stages["scoring"]["unit"])
    ensemble, scores = _score_again(round, settings, workspace, kept)
    choice, _ = make_choice(
        ScoredPool(kept.pool, scores, kept.prices),
        settings,
        round.number,
        is_seed=ensemble is None,
        n_answers=wanted_overlap(round, settings),
        test=TestNeed(**round.stages["selecting"].get("test", {"n_wanted": 0, "spent": 0.0})),
        vectors=lambda rows: sentence_vectors(ensemble, kept.pool, rows) if ensemble else None,
        needs=round.stages["scoring"].get("needs", {}),
    )
    names = kept.pool.names
    again = [
        (int(kept.pool.ids[one.row]), [names[c] for c in one.tasks], one.is_blind)
        for one in choice.selected
    ]
    asked = [
        (ask["sentence"], ask["tasks"], ask["is_blind"])
        for ask in round.manifest["asks"]
        if ask["reason"]["source"] != TEST_SLICE
    ]
    difference = _first_difference(asked, again)
    if difference:
        difference += _score_difference(kept.scores.confidence, scores.confidence)
    return Replay(len(asked), difference)


def _score_again(
    round: Round, settings: RoundSettings, workspace: Workspace, kept: ScoredPool
) -> tuple[Ensemble | None, PoolScores]:
    training = round.stages["training"]
    if training["is_seed"]:
        return None, unscored(kept.pool)
    data = workspace.examples()
    ensemble = train_models(
        data,
        task_specs(round.project),
        settings,
        policy_weights=training.get("policy_weights"),
        warm_start=previous_model(round) if settings.is_warm_start else None,
    )
    known = data.part(TRAIN)
    return ensemble, score_pool(ensemble, kept.pool, settings, seed=settings.seed, known=known)


def _first_difference(asked: list[Ask], again: list[Ask]) -> str:
    for place, (before, now) in enumerate(zip(asked, again, strict=False), 1):
        if before != now:
            return f"Ask {place} was {before}, now it is {now}."
    if len(asked) != len(again):
        return f"The round asked {len(asked)} sentences, now it asks {len(again)}."
    return ""


def _score_difference(before: Any, now: Any) -> str:
    gap = np.nanmax(np.abs(before - now)) if before.size else 0.0
    return f" The confidences differ by at most {gap:.2g}."
