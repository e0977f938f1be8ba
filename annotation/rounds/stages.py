"""The stages of a round on the project's data."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from django.utils import timezone

from annotation.bridge import task_specs
from annotation.models import Ask, Round, Sentence, Suggestion, Task
from annotation.round_config import RoundConfig
from annotation.rounds.choosing import Budget, Choice, choose, choose_by_chance
from annotation.rounds.learning import learn, learn_control
from annotation.rounds.manifest import build_manifest
from annotation.rounds.policy import learned_weights
from annotation.rounds.pricing import price_pool, seconds_of
from annotation.rounds.reasons import reasons_of
from annotation.rounds.scoring import score_pool, sentence_vectors, unscored_pool
from annotation.rounds.splitting import split_sentences
from annotation.rounds.suggesting import suggest
from annotation.rounds.workspace import TEST, TRAIN, WITHHELD, Workspace
from annotation.selectors.pool import open_pool
from annotation.selectors.round_plan import LEAST_TO_LEARN
from annotation.selectors.training_set import labelled_sentences
from annotation.services import rounds
from annotation.services.asking import AskRow
from mtl_engine.costs import Costs
from mtl_engine.selection.batches import Vectors

Report = Callable[[str, int, int | None], None]
FILES = {"training": "examples.jsonl.gz", "scoring": "scores.npz", "selecting": "choice.json"}


def is_kept(name: str, workspace: Workspace, round: Round) -> bool:
    """Return whether a finished stage's files are on this machine."""
    if name == "training" and not round.stages["training"]["is_seed"]:
        return workspace.model.exists()
    return workspace.has(FILES[name])


def train_stage(round: Round, workspace: Workspace, report: Report) -> dict[str, Any]:
    """Freeze the test slice and the labels, then train if there is something to learn."""
    config = RoundConfig.from_dict(round.config)
    rounds.freeze_test_slice(project=round.project, size=config.test_size, seed=config.seed)
    tasks = task_specs(round.project)
    if not workspace.has(FILES["training"]):
        workspace.save_examples(split_sentences(labelled_sentences(round.project), tasks))
    n_train = sum(kept.split == TRAIN for kept in workspace.examples())
    if n_train < LEAST_TO_LEARN:
        return {"is_seed": True, "n_train": n_train}
    facts = learn(
        workspace,
        tasks,
        config.engine_config(),
        policy_weights=learned_weights(round.project) if config.policy == "learned" else None,
        warm_start=previous_model(round) if config.is_warm_start else None,
        has_temperature=config.has_temperature,
        report=report,
    )
    control = None
    if config.has_control:
        control = learn_control(workspace, tasks, config.engine_config(), report=report)
    return {"is_seed": False, **facts, "control": control}


def score_stage(round: Round, workspace: Workspace, report: Report) -> dict[str, Any]:
    """Score every open sentence, and keep all scores."""
    config = RoundConfig.from_dict(round.config)
    pool = open_pool(round.project, [task.name for task in task_specs(round.project)])
    training = round.stages["training"]
    arrays = (
        unscored_pool(pool)
        if training["is_seed"]
        else score_pool(
            workspace,
            pool,
            method=config.confidence,
            temperatures=training["temperatures"],
            seed=config.seed,
            report=report,
        )
    )
    read, label, unit = price_pool(round.project, pool, arrays, config)
    workspace.save_arrays("scores", {**arrays, "read": read, "label": label})
    return {
        "n_pool": len(pool.ids),
        "pool_hash": pool.fingerprint(),
        "tasks": list(pool.tasks),
        "unit": unit,
    }


def select_stage(round: Round, workspace: Workspace, report: Report) -> dict[str, Any]:
    """Choose the asks, explain them, and prepare the model's suggestions."""
    report("selecting", 0, None)
    config = RoundConfig.from_dict(round.config)
    arrays = workspace.arrays("scores")
    tasks = tuple(round.stages["scoring"]["tasks"])
    is_seed = round.stages["training"]["is_seed"]
    choice = make_choice(
        arrays,
        tasks,
        config,
        round.number,
        is_seed=is_seed,
        overlap=wanted_overlap(round),
        vectors=lambda rows: sentence_vectors(workspace, arrays["ids"][rows]),
    )
    asks = [*_test_asks(round, tasks), *_strategy_asks(choice, arrays, tasks, config, round)]
    answers = [] if is_seed or not config.shows_suggestions else _answers(round, workspace, asks)
    blind = {ask["sentence"] for ask in asks if ask["is_blind"]}
    workspace.save_json(WITHHELD, [answer for answer in answers if answer["sentence"] in blind])
    shown = [answer for answer in answers if answer["sentence"] not in blind]
    workspace.save_json("choice", {"asks": asks, "suggestions": shown})
    return {
        "n_asks": len(asks),
        "n_random": sum(ask["is_random"] for ask in asks),
        "n_blind": sum(ask["is_blind"] for ask in asks),
        "n_test": sum(ask["reason"]["source"] == TEST for ask in asks),
        "cost": choice.cost,
        "value": choice.value,
        "is_optimal": choice.is_optimal,
    }


def make_choice(
    arrays: dict[str, Any],
    tasks: tuple[str, ...],
    config: RoundConfig,
    number: int,
    *,
    is_seed: bool,
    overlap: int,
    vectors: Vectors,
) -> Choice:
    """Return what the scores, the costs and the configuration lead to; the same every time."""
    rng = np.random.default_rng([config.seed, number])
    costs = Costs(arrays["read"], arrays["label"])
    budget = _budget(config, overlap)
    if is_seed:
        asks = choose_by_chance(arrays["confidence"], costs, budget, rng)
        return Choice(tuple(asks), sum(costs.read[a.row] + costs.label[a.row].sum() for a in asks))
    return choose(
        arrays["confidence"],
        arrays["information"],
        costs,
        budget,
        config,
        tasks,
        vectors=vectors,
        rng=rng,
    )


def open_stage(round: Round, workspace: Workspace) -> None:
    """Swap the new queue in, with its suggestions, and keep the manifest."""
    config = RoundConfig.from_dict(round.config)
    choice = workspace.json("choice")
    now = timezone.now()
    task_ids = dict(Task.objects.filter(project=round.project).values_list("name", "id"))
    rounds.keep_manifest(round=round, manifest=build_manifest(round, workspace))
    rounds.open_labelling(
        round=round,
        rows=[
            AskRow(
                sentence_id=ask["sentence"],
                tasks=ask["tasks"],
                reason=ask["reason"],
                confidences=ask["confidences"],
                predicted_seconds=ask["predicted_seconds"],
                is_random=ask["is_random"],
                is_blind=ask["is_blind"],
            )
            for ask in choice["asks"]
        ],
        suggestions=[
            Suggestion(
                sentence_id=row["sentence"],
                task_id=task_ids[row["task"]],
                value=row["value"],
                confidence=row["confidence"],
                details=row["details"],
                source=f"round {round.number}",
                round=round,
                created_at=now,
            )
            for row in choice["suggestions"]
        ],
        overlap=wanted_overlap(round),
        budget_minutes=config.amount if config.unit == "minutes" else None,
        now=now,
    )


def _budget(config: RoundConfig, overlap: int) -> Budget:
    amount = config.amount * 60 if config.unit == "minutes" else config.amount
    return Budget(amount if config.is_by_count else amount / overlap, config.is_by_count)


def wanted_overlap(round: Round) -> int:
    """Return how many people are to answer each ask."""
    return int(round.config["overlap"]) or round.project.overlap


def _strategy_asks(
    choice: Choice,
    arrays: dict[str, Any],
    tasks: tuple[str, ...],
    config: RoundConfig,
    round: Round,
) -> list[dict[str, Any]]:
    is_seed = round.stages["training"]["is_seed"]
    unit = round.stages["scoring"]["unit"]
    reasons = reasons_of(choice, arrays, tasks, config, is_seed=is_seed)
    asks = []
    for chosen, reason in zip(choice.asks, reasons, strict=True):
        confidences = {
            name: round_number(arrays["confidence"][chosen.row, column])
            for column, name in enumerate(tasks)
            if not is_seed and not np.isnan(arrays["confidence"][chosen.row, column])
        }
        asks.append(
            {
                "sentence": int(arrays["ids"][chosen.row]),
                "tasks": [tasks[column] for column in chosen.tasks],
                "is_random": reason["source"] != "strategy",
                "is_blind": chosen.is_blind,
                "confidences": confidences,
                "predicted_seconds": seconds_of(chosen, arrays, unit),
                "reason": reason,
            }
        )
    return asks


def round_number(value: float) -> float:
    """Return a confidence with the digits that are shown and compared."""
    return float(np.round(value, 4))


def _test_asks(round: Round, tasks: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the sentences of the test slice that still need labels, without suggestions."""
    answered = {
        kept.example.id: set(kept.example.labels)
        for kept in Workspace(round.pk).examples()
        if kept.split == TEST
    }
    asked = set(
        Ask.objects.filter(queue__project=round.project, queue__round__isnull=False).values_list(
            "sentence_id", flat=True
        )
    )
    rows = Sentence.objects.filter(project=round.project, is_test=True).order_by("id")
    asks = []
    for sentence_id in rows.values_list("id", flat=True):
        missing = [name for name in tasks if name not in answered.get(sentence_id, ())]
        if missing and sentence_id not in asked:
            asks.append(
                {
                    "sentence": sentence_id,
                    "tasks": missing,
                    "is_random": True,
                    "is_blind": True,
                    "confidences": {},
                    "predicted_seconds": None,
                    "reason": {
                        "source": TEST,
                        "why": "Drawn by chance to test the model; never trained on.",
                    },
                }
            )
    return asks


def _answers(
    round: Round, workspace: Workspace, asks: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return what the model would answer, also where that is withheld to measure its pull."""
    wanted = [ask["sentence"] for ask in asks if ask["reason"]["source"] != TEST]
    tokens = dict(Sentence.objects.filter(pk__in=wanted).values_list("id", "tokens"))
    sentences = {sentence_id: tokens[sentence_id] for sentence_id in wanted}
    return suggest(workspace, sentences, round.stages["training"]["temperatures"])


def previous_model(round: Round) -> Path | None:
    """Return the model of the last round that has one on this machine."""
    earlier = Round.objects.filter(project=round.project, number__lt=round.number)
    for candidate in earlier.order_by("-number"):
        path = Workspace(candidate.pk).model
        if path.exists():
            return path
    return None
