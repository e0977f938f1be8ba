"""The stages of a round on a project's data: train, score, select, open.

The steps are those of ``mtl_engine.active_learning``. Between them everything is kept, so that what
is finished is never done again, whoever dies. A round can be computed again from its manifest and
compared with what it asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from typing import Any

import numpy as np
from django.db import transaction
from django.utils import timezone

from annotation.bridge import task_specs
from annotation.errors import Refused
from annotation.jobs.insights import queue_insights
from annotation.jobs.services import Progress, add_to_log, check_claim, hold_claim
from annotation.models import Job, Round
from annotation.queue.selectors import cost_model
from annotation.rounds import services
from annotation.rounds.data import held_out, open_pool, without_word_answers
from annotation.rounds.selection_stage import (
    TestNeed,
    make_choice,
    scored_tasks,
    select_stage,
    wanted_overlap,
)
from annotation.rounds.selectors import earlier_scores, previous_model
from annotation.rounds.settings import RoundSettings, stored_settings
from annotation.rounds.training_stage import load_models, train_models, train_stage
from annotation.rounds.workspace import (
    CHOICE,
    EXAMPLES,
    SCORES,
    ScoredPool,
    Workspace,
    ask_to_dict,
)
from config import VERSION
from mtl_engine.active_learning.choose import TEST_SLICE
from mtl_engine.active_learning.evaluate import TaskEvaluation, task_needs
from mtl_engine.active_learning.pool import DEV, TRAIN
from mtl_engine.active_learning.price import price_pool
from mtl_engine.active_learning.score import PoolScores, score_pool, sentence_vectors, unscored
from mtl_engine.ensemble import Ensemble

LOOKS = ("second", "adjudicate", "repair")  # asks that the strategy has not chosen
PACKAGES = ("torch", "transformers", "tokenizers", "numpy", "scipy", "mip", "safetensors")
Ask = tuple[int, list[str], bool]  # sentence, tasks, is_blind


@dataclass(frozen=True)
class ScoringReport:
    """What the scoring stage found."""

    n_pool: int  # open sentences
    n_scored: int  # of which so many were looked at
    pool_hash: str
    tasks: Sequence[str]
    unit: str  # of the prices
    needs: Mapping[str, float] = field(default_factory=dict)  # what tasks can gain; 0 = solved


def run_round(job: Job, progress: Progress) -> None:
    """Carry a round through the stages that it has not finished, then open its queue."""
    round = Round.objects.select_related("project").get(pk=job.arguments["round"])
    if round.stages or job.is_resumed:
        services.note_resumed(round=round)
    workspace = Workspace.of(round, check=lambda: check_claim(job=job))
    try:
        _run_stages(round, job, workspace, progress)
    finally:
        if not Round.objects.filter(pk=round.pk).exists():  # its project was deleted meanwhile
            workspace.remove()
    queue_insights(project=round.project)


def _run_stages(round: Round, job: Job, workspace: Workspace, progress: Progress) -> None:
    """Do the stages that are not kept, and all that come after one that had to be done."""
    is_kept = True
    for name, state, stage in (
        ("training", Round.State.TRAINING, train_stage),
        ("scoring", Round.State.SCORING, score_stage),
        ("selecting", Round.State.SELECTING, select_stage),
    ):
        is_kept = is_kept and name in round.stages and _is_kept(name, workspace, round)
        if is_kept:
            continue
        with transaction.atomic():
            hold_claim(job=job)
            services.enter_stage(round=round, state=state)
        progress(name, 0, None)
        report: Any = stage(round, workspace, progress)
        files = workspace.publish()
        with transaction.atomic():
            hold_claim(job=job)
            services.keep_stage(round=round, name=name, facts=asdict(report), files=files)
        workspace.recorded(files)
        add_to_log(job=job, text=f"{timezone.now():%H:%M:%S} {name} is done")
    open_stage(round, job, workspace)


def score_stage(round: Round, workspace: Workspace, progress: Progress) -> ScoringReport:
    """Score and price the open sentences, of very many a sample, and keep all of it."""
    settings = stored_settings(round)
    everything = open_pool(round.project, task_specs(round.project))
    rng = np.random.default_rng([settings.seed, round.number])
    pool = everything.sample(settings.pool_sample, rng)
    if settings.word_asks != "off":
        pool = replace(without_word_answers(round.project, pool), dev=held_out(pool.ids))
    if round.stages["training"]["is_seed"]:
        scores = unscored(pool)
    else:
        scores = score_pool(
            load_models(workspace),
            pool,
            settings,
            seed=settings.seed,
            known=workspace.examples().part(TRAIN),
            held_out=workspace.examples().part(DEV),
            on_progress=lambda n_done: progress("scoring", n_done, len(pool)),
        )
    model = cost_model(round.project, pool.names)
    prices = price_pool(pool, scores.n_expected, settings, model, scores.n_words)
    workspace.save_scored(ScoredPool(pool, scores, prices))
    return ScoringReport(
        n_pool=len(everything),
        n_scored=len(pool),
        pool_hash=pool.fingerprint(),
        tasks=list(pool.names),
        unit=prices.unit,
        needs=measured_needs(round, settings),
    )


def open_stage(round: Round, job: Job, workspace: Workspace) -> None:
    """Swap the new queue in, with its suggestions, keep the manifest, and finish the job."""
    settings = stored_settings(round)
    asks, suggestions = workspace.choice()
    services.keep_manifest(round=round, manifest=build_manifest(round, workspace))
    services.open_labelling(
        round=round,
        job=job,
        rows=asks,
        suggestions=suggestions,
        test_sentences=[a.sentence_id for a in asks if a.reason["source"] == TEST_SLICE],
        overlap=wanted_overlap(round, settings),
        budget_minutes=settings.amount if settings.unit == "minutes" else None,
        now=timezone.now(),
    )


def build_manifest(round: Round, workspace: Workspace) -> dict[str, Any]:
    """Return the seeds, settings, versions, hashes and asks of a round that has chosen."""
    asks, _ = workspace.choice()
    return {
        "version": VERSION,
        "packages": {name: metadata.version(name) for name in PACKAGES},
        "seed": round.config["seed"],
        "config": round.config,
        "pool_hash": round.stages["scoring"]["pool_hash"],
        "labels_hash": workspace.file_hash(EXAMPLES),
        "model_hash": workspace.model_hash(),
        "scores_hash": workspace.file_hash(SCORES),
        "asks": [ask_to_dict(ask) for ask in asks],
    }


def _is_kept(name: str, workspace: Workspace, round: Round) -> bool:
    """Return whether a finished stage's files can be had, as they were written."""
    if name == "training" and not round.stages["training"]["is_seed"]:
        return workspace.has_whole_model and workspace.is_whole(EXAMPLES)
    return workspace.is_whole({"training": EXAMPLES, "scoring": SCORES, "selecting": CHOICE}[name])


def measured_needs(round: Round, settings: RoundSettings) -> dict[str, float]:
    """Return what each task can still gain, by a round's scores and the targets of today."""
    scores = {
        name: TaskEvaluation.from_dict(found)
        for name, found in round.stages["training"].get("scores", {}).items()
    }
    targets = dict(round.project.tasks.values_list("name", "target_score"))
    return task_needs(scores, targets, settings.task_need, earlier_scores(round))


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
        if ask["reason"]["source"] != TEST_SLICE and ask.get("purpose") not in LOOKS
    ]
    if settings.buys_looks:  # what was traded for looks hung on answers that may have changed
        chosen, kept_asks = {one[0] for one in again}, {one[0] for one in asked}
        again = [one for one in again if one[0] in kept_asks]
        asked = [one for one in asked if one[0] in chosen]
    difference = _first_difference(asked, again)
    if difference:
        difference += _score_difference(kept.scores.confidence, scores.confidence)
        difference += _version_difference(round.manifest)
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


def _version_difference(manifest: Mapping[str, Any]) -> str:
    """Return which versions chose then and now, where they are not the same."""
    versions: dict[str, tuple[Any, str | None]] = {"Tandem": (manifest.get("version"), VERSION)}
    for name, before in manifest.get("packages", {}).items():
        versions[name] = (before, metadata.version(name) if name in PACKAGES else None)
    changed = [f"{name} {a} then, {b} now" for name, (a, b) in versions.items() if a != b]
    return f" Versions differ: {'; '.join(changed)}." if changed else ""


def _score_difference(before: Any, now: Any) -> str:
    gap = np.nanmax(np.abs(before - now)) if before.size else 0.0
    return f" The confidences differ by at most {gap:.2g}."
