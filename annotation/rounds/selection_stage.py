"""The third stage of a round: asks are chosen within the budget, explained, given suggestions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from annotation.bridge import task_specs
from annotation.jobs.services import Progress
from annotation.models import Ask, Round
from annotation.queue.asks import AskRow
from annotation.rounds import services
from annotation.rounds.data import (
    documents_among,
    in_known_languages,
    tokens_of,
    unanswered_test_sentences,
)
from annotation.rounds.market import prepare_looks, trade
from annotation.rounds.settings import RoundSettings, stored_settings
from annotation.rounds.training_stage import load_models
from annotation.rounds.workspace import (
    ScoredPool,
    StoredSuggestion,
    Workspace,
    round_to,
    whole_tenths,
)
from mtl_engine.active_learning.choose import (
    TEST_SLICE,
    Choice,
    Selected,
    budget_of,
    choose,
    choose_by_chance,
    draw_test_rows,
    interleaved,
    with_blind_share,
    without_rows,
)
from mtl_engine.active_learning.explain import TESTED, explain_choice, explain_seed_set
from mtl_engine.active_learning.pool import TEST, Rows
from mtl_engine.active_learning.score import PoolScores, sentence_vectors
from mtl_engine.active_learning.suggest import suggest
from mtl_engine.ensemble import (
    Ensemble,
)
from mtl_engine.languages import is_multilingual
from mtl_engine.selection.coverage import length_classes, length_names
from mtl_engine.types import TaskSpec

TEST_SHARE = 0.25  # of a round's budget, at most, until the test slice is large enough
TEST_SEED = 1  # tells the draw of test sentences from the choice of the others


@dataclass(frozen=True)
class TestNeed:
    """What the test slice wants of a round: new sentences, beside those that it asks again."""

    n_wanted: int
    spent: float  # on sentences that are asked again, in the unit of the prices


@dataclass(frozen=True)
class SelectingReport:
    """What the selecting stage found."""

    n_asks: int
    n_random: int
    n_blind: int
    n_test: int  # asked to test models, of all asks
    test: TestNeed
    cost: float  # of everything that is asked
    value: float | None
    is_optimal: bool | None
    worth: Mapping[str, float] = field(default_factory=dict)  # in random batches, by task
    chance_share: float | None = None  # of the strategy's cost that it left to chance
    minutes: Mapping[str, float] = field(default_factory=dict)  # share of the cost, by task
    lengths: Mapping[str, Any] = field(default_factory=dict)  # of the asks, beside the pool's
    market: Sequence[Mapping[str, Any]] = ()  # how the time is split among purposes


def select_stage(round: Round, workspace: Workspace, progress: Progress) -> SelectingReport:
    """Choose the asks, explain them, and prepare the models' suggestions."""
    progress("selecting", 0, None)
    settings = stored_settings(round)
    is_seed = round.stages["training"]["is_seed"]
    tasks = scored_tasks(round)
    scored = workspace.scored(tasks, round.stages["scoring"]["unit"])
    again, test = _tests_again(round, workspace, scored, settings)
    choice, drawn = make_choice(
        scored,
        settings,
        round.number,
        is_seed=is_seed,
        n_answers=wanted_overlap(round, settings),
        test=test,
        vectors=lambda rows: sentence_vectors(load_models(workspace), scored.pool, rows),
        needs=round.stages["scoring"].get("needs", {}),
    )
    tests = [*again, *_test_asks(drawn, scored)]
    looks: Sequence[AskRow] = ()
    market: Sequence[Mapping[str, Any]] = ()
    checks: Mapping[int, str] = {}
    if settings.buys_looks and not is_seed:
        prepare_looks(round.project, lambda stage, *done: progress("selecting", *done))
        needs = round.stages["scoring"].get("needs", {})
        asked = {ask.sentence_id for ask in tests}
        traded = trade(round.project, scored, choice, needs, tests=asked)
        choice, looks, market = traded.choice, traded.looks, traded.split
        checks = traded.checks
    chosen = [
        _as_check(ask, checks[ask.sentence_id]) if ask.sentence_id in checks else ask
        for ask in _asks(choice, scored, settings, is_seed)
    ]
    asks = interleaved(chosen, tests)
    taken = {ask.sentence_id for ask in asks}
    asks = interleaved(asks, [look for look in looks if look.sentence_id not in taken])
    answers = []
    if settings.shows_suggestions and not is_seed:
        new = [ask for ask in asks if ask.purpose == Ask.Purpose.LABEL]
        wanted = [ask.sentence_id for ask in new if ask.reason["source"] != TEST_SLICE]
        if not is_multilingual(settings.encoder):
            wanted = in_known_languages(round.project, wanted)
        answers = suggestions_for(load_models(workspace), wanted)
    blind = {ask.sentence_id for ask in asks if ask.is_blind}
    workspace.save_choice(
        asks,
        [one for one in answers if one.sentence not in blind],
        [one for one in answers if one.sentence in blind],
    )
    return SelectingReport(
        n_asks=len(asks),
        n_random=sum(ask.is_random for ask in asks),
        n_blind=sum(ask.is_blind for ask in asks),
        n_test=len(tests),
        test=test,
        cost=choice.cost
        + test.spent
        + sum(scored.cost(one) for one in drawn)
        + sum(look.predicted_seconds or 0.0 for look in looks),
        market=[dict(row) for row in market],
        value=choice.value,
        is_optimal=choice.is_optimal,
        minutes=_shares(choice, scored),
        lengths=length_shares(scored.pool.n_tokens, [one.row for one in choice.selected]),
        **_worth(choice, scored.pool.names),
    )


def make_choice(
    scored: ScoredPool,
    settings: RoundSettings,
    number: int,
    *,
    is_seed: bool,
    n_answers: int,
    test: TestNeed,
    vectors: Any,
    needs: Mapping[str, float],
) -> tuple[Choice, list[Selected]]:
    """Return what the scores, the prices and the settings lead to, and the test sentences drawn.

    It is the same every time. Testing is paid out of the budget, at most ``TEST_SHARE`` of it.
    """
    rng = np.random.default_rng([settings.seed, number])
    budget = budget_of(settings, n_answers=n_answers)
    for_tests = budget.share(TEST_SHARE).spend(test.spent)
    drawn = draw_test_rows(
        scored.pool.tasks,
        scored.scores,
        scored.prices,
        budget=for_tests,
        n_wanted=test.n_wanted,
        rng=np.random.default_rng([settings.seed, number, TEST_SEED]),
    )
    budget = budget.spend(test.spent).without(drawn, scored.prices.costs)
    scores = without_rows(scored.scores, drawn)
    if is_seed:
        return choose_by_chance(scores, scored.prices, budget=budget, rng=rng), drawn
    choice = choose(
        scored.pool,
        scores,
        scored.prices,
        settings,
        budget=budget,
        vectors=vectors,
        needs=needs,
        rng=rng,
    )
    return with_blind_share(choice, settings.blind_share, rng), drawn


def suggestions_for(ensemble: Ensemble, sentences: Sequence[int]) -> list[StoredSuggestion]:
    """Return what the models would answer, also where that is withheld to measure its pull."""
    documents = documents_among(sentences)
    of_document = {task.name: task.is_document for task in ensemble.tasks}
    return [
        StoredSuggestion(
            sentences[one.row], one.task, one.value, one.confidence, {"items": list(one.items)}
        )
        for one in suggest(ensemble, tokens_of(sentences))
        if (sentences[one.row] in documents) == of_document[one.task]
    ]


def scored_tasks(round: Round) -> list[TaskSpec]:
    """Return the tasks of a round's scores, in the order of their columns."""
    tasks = {task.name: task for task in task_specs(round.project)}
    return [tasks[name] for name in round.stages["scoring"]["tasks"]]


def wanted_overlap(round: Round, settings: RoundSettings) -> int:
    """Return how many people are to answer each ask."""
    return settings.overlap or round.project.overlap


def _shares(choice: Choice, scored: ScoredPool) -> dict[str, float]:
    """Return which share of what the choice costs each task takes, reading left out."""
    costs = scored.prices.costs
    spent = np.zeros(len(scored.pool.names))
    for one in choice.selected:
        spent[list(one.tasks)] += costs.label[one.row, list(one.tasks)]
    shares = (round_to(part / choice.cost, 3) if choice.cost else 0.0 for part in spent.tolist())
    return dict(zip(scored.pool.names, shares, strict=True))


def length_shares(n_tokens: Rows, rows: Sequence[int]) -> dict[str, Any]:
    """Return how long asked sentences are beside those of the pool: shares by length class."""
    names = length_names()
    classes, asked = length_classes(n_tokens), n_tokens[list(rows)]

    def shares(found: Rows) -> list[float]:
        counts = np.bincount(found, minlength=len(names)) / max(1, len(found))
        return [round_to(share, 3) for share in counts.tolist()]

    return {
        "words": names,
        "asked": shares(classes[list(rows)]),
        "pool": shares(classes),
        "mean_asked": round_to(asked.mean(), 1) if len(asked) else 0.0,
        "mean_pool": round_to(n_tokens.mean(), 1) if len(n_tokens) else 0.0,
    }


def _worth(choice: Choice, tasks: Sequence[str]) -> dict[str, Any]:
    """Return what expected-error coverage promises, in random batches of the same cost."""
    if choice.coverage is None:
        return {}
    ratios = (round_to(ratio, 3) for ratio in choice.coverage.ratio.tolist())
    return {
        "worth": dict(zip(tasks, ratios, strict=True)),
        "chance_share": round_to(choice.coverage.chance_share, 3),
    }


def _asks(
    choice: Choice, scored: ScoredPool, settings: RoundSettings, is_seed: bool
) -> list[AskRow]:
    pool, scores, prices = scored.pool, scored.scores, scored.prices
    reasons = (
        explain_seed_set(choice)
        if is_seed
        else explain_choice(choice, pool, scores, prices, settings)
    )
    asks = []
    for one, reason in zip(choice.selected, reasons, strict=True):
        seconds = prices.seconds(one.row, one.tasks)
        asks.append(
            AskRow(
                sentence_id=int(pool.ids[one.row]),
                tasks=[pool.names[column] for column in one.tasks],
                reason=reason.to_dict(),
                confidences={} if is_seed else _confidences(scores, one.row, pool.names),
                predicted_seconds=None if seconds is None else whole_tenths(seconds),
                words={pool.names[column]: words for column, words in one.words.items()},
                is_random=one.source != "strategy",
                is_blind=one.is_blind,
            )
        )
    return asks


def _as_check(ask: AskRow, why: str) -> AskRow:
    """Return an ask of an outside suggestion; the strategy has a reason only for its own."""
    reason = {**ask.reason, "why": why} if why else ask.reason
    return replace(ask, purpose=Ask.Purpose.CHECK.value, reason=reason)


def _confidences(scores: PoolScores, row: int, tasks: Sequence[str]) -> dict[str, float]:
    return {
        name: round_to(value, 4)
        for name, value in zip(tasks, scores.confidence[row].tolist(), strict=True)
        if not np.isnan(value)
    }


def _tests_again(
    round: Round, workspace: Workspace, scored: ScoredPool, settings: RoundSettings
) -> tuple[list[AskRow], TestNeed]:
    """Return the test sentences that still lack answers, asked again, and what else is wanted.

    They are priced by their length, as the pool on average, and stay within the share of testing.
    """
    answered = {example.id: set(example.labels) for example in workspace.examples().part(TEST)}
    names = [task.name for task in scored.pool.tasks]
    missing = unanswered_test_sentences(round.project, scored.pool.tasks, answered)
    budget = budget_of(settings, n_answers=wanted_overlap(round, settings)).share(TEST_SHARE)
    per_token = scored.cost_per_token()
    asks: list[AskRow] = []
    spent = 0.0
    for sentence_id, (n_tokens, wanted) in missing.items():
        price = 1.0 if budget.is_count else per_token * n_tokens * len(wanted) / len(names)
        if spent + price > budget.amount:
            break
        spent += price
        seconds = whole_tenths(price) if scored.prices.unit == "seconds" else None
        asks.append(_test_ask(sentence_id, wanted, seconds))
    n_wanted = services.n_tests_wanted(project=round.project, size=settings.test_size)
    return asks, TestNeed(n_wanted, spent)


def _test_asks(drawn: Sequence[Selected], scored: ScoredPool) -> list[AskRow]:
    names, ids = scored.pool.names, scored.pool.ids
    asks = []
    for one in drawn:
        seconds = scored.prices.of_whole_sentences().seconds(one.row, one.tasks)
        asks.append(
            _test_ask(
                int(ids[one.row]),
                [names[column] for column in one.tasks],
                None if seconds is None else whole_tenths(seconds),
            )
        )
    return asks


def _test_ask(sentence_id: int, tasks: Sequence[str], seconds: float | None) -> AskRow:
    return AskRow(
        sentence_id,
        list(tasks),
        reason=TESTED.to_dict(),
        predicted_seconds=seconds,
        is_random=True,
        is_blind=True,
    )
