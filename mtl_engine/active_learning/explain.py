"""The explaining step: why each sentence was selected, in numbers and in plain words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mtl_engine.active_learning.choose import (
    CHANCE,
    STRATEGY,
    TEST_SLICE,
    Choice,
    Source,
    with_duplicates,
)
from mtl_engine.active_learning.pool import Pool
from mtl_engine.active_learning.price import Prices
from mtl_engine.active_learning.score import PoolScores
from mtl_engine.active_learning.settings import ActiveLearningSettings
from mtl_engine.kinds import KINDS
from mtl_engine.selection import CellReason, explain, explain_batch, in_words

SEED_WORDS = "Drawn by chance: the first sentences teach the first model."
TEST_WORDS = "Drawn by chance to test the model; never trained on."

SELDOM = 0.07  # of what a cell covers is wrong: no reason that a person would give
PARTS = (
    (0.85, "nearly all"),
    (0.6, "about two thirds"),
    (0.42, "about half"),
    (0.29, "about a third"),
    (0.22, "about a quarter"),
    (0.15, "about a fifth"),
    (SELDOM, "about one in ten"),
    (0.0, "few"),
)  # from this share on


@dataclass(frozen=True)
class Reason:
    """Why a sentence is asked for."""

    source: Source
    why: str  # for annotators
    numbers: Mapping[str, Any] = field(default_factory=dict)  # for tables, plain JSON

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**self.numbers, "source": self.source, "why": self.why}


TESTED = Reason(TEST_SLICE, TEST_WORDS)


def explain_choice(
    choice: Choice,
    pool: Pool,
    scores: PoolScores,
    prices: Prices,
    settings: ActiveLearningSettings,
) -> list[Reason]:
    """Return a reason for each selected sentence, in the order of asking."""
    if not choice.selected:
        return []
    found = explain(
        scores.confidence,
        np.array([one.row for one in choice.selected]),
        strategy=settings.strategy,
        tasks=list(pool.names),
        ask=choice.cells(scores.confidence.shape),
        costs=prices.costs,
        sources=["strategy" if one.source == STRATEGY else "random" for one in choice.selected],
    )
    covered = _covered(choice, pool, scores)
    return [
        Reason(one.source, in_words(numbers), numbers)
        if one.row not in covered
        else _covering_reason(covered[one.row], {**numbers, "frontier": None}, one.source)
        for one, numbers in zip(choice.selected, found, strict=True)
    ]


def explain_seed_set(choice: Choice) -> list[Reason]:
    """Return a reason for each sentence that was drawn before there was a model."""
    return [Reason(CHANCE, SEED_WORDS) for _ in choice.selected]


def _covered(choice: Choice, pool: Pool, scores: PoolScores) -> dict[int, list[dict[str, Any]]]:
    """Return for each row that MT-EEC has chosen what its cells cover, as plain JSON values."""
    if choice.coverage is None or scores.units is None:
        return {}
    units = scores.units
    is_open = ~np.isnan(scores.confidence)
    drawn = [one.row for one in choice.selected if one.source == CHANCE]
    is_open[with_duplicates(drawn, units.groups)] = False
    found: dict[int, list[dict[str, Any]]] = {}
    reasons = explain_batch(choice.coverage, units, is_open)
    rows = np.unique([reason.row for reason in reasons])
    tokens = dict(zip(rows.tolist(), pool.read_tokens(rows), strict=True))
    for reason in reasons:
        found.setdefault(reason.row, []).append(_cell(reason, pool, units.names, tokens))
    return found


def _cell(
    reason: CellReason,
    pool: Pool,
    names: Sequence[Sequence[str]],
    tokens: Mapping[int, Sequence[str]],
) -> dict[str, Any]:
    task = pool.tasks[reason.task]
    is_about_words = KINDS[task.kind].labels_on != "sentence"
    return {
        "task": task.name,
        "share": round(reason.share, 4),
        "is_by_chance": reason.is_by_chance,
        "features": [
            {
                "words": [tokens[reason.row][place] for place in feature.places]
                if is_about_words
                else [],
                "like": names[reason.task][feature.cluster] if names else "",
                "pool": feature.pool,
                "labelled": feature.labelled,
                "expected_wrong": feature.expected_wrong,
                "share": feature.share,
            }
            for feature in reason.features
        ],
    }


def _covering_reason(
    cells: Sequence[Mapping[str, Any]], numbers: Mapping[str, Any], source: Source
) -> Reason:
    drawn = [cell["task"] for cell in cells if cell["is_by_chance"]]
    words = [f"Drawn at random for {', '.join(drawn)}."] if drawn else []
    chosen = sorted((c for c in cells if not c["is_by_chance"]), key=lambda c: -c["share"])
    telling = [cell for cell in chosen if cell["features"]]
    often = [cell for cell in telling if _share_wrong(cell) >= SELDOM]
    telling = often if often or drawn else telling
    words += [_in_words(alike) for alike in _by_what_they_cover(telling)]
    along = [cell["task"] for cell in chosen if cell not in telling]
    if along:  # few errors are expected there: it costs little beside the others
        words.append(f"{', '.join(along)}: asked along with the others.")
    return Reason(source, " ".join(words), {**numbers, "covers": list(cells)})


def _share_wrong(cell: Mapping[str, Any]) -> float:
    """Return how much of what a cell covers first of all the model gets wrong."""
    return float(cell["features"][0]["expected_wrong"])


def _by_what_they_cover(cells: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Return cells that cover something, those together that cover the same first of all."""
    found: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for cell in cells:
        for feature in cell["features"][:1]:
            words = tuple(dict.fromkeys(map(str.casefold, feature["words"])))
            same = (words or cell["task"], feature["pool"], feature["like"], feature["labelled"])
            found.setdefault(same, []).append(cell)
    return list(found.values())


def _in_words(cells: Sequence[Mapping[str, Any]]) -> str:
    """Return what cells cover first of all, and how much of that the model gets wrong.

    A sentence per call, so that it can be said in other languages as a whole.
    """
    feature = cells[0]["features"][0]
    tasks = ", ".join(cell["task"] for cell in cells)
    n, known = f"{feature['pool']:,}", "none labelled"
    if feature["labelled"]:
        known = f"{feature['labelled']:,} labelled"
    shares = [_share_wrong(cell) for cell in cells]
    least, most = _how_many(min(shares)), _how_many(max(shares))
    wrong = f"the model gets {most} of them wrong"
    if least != most:
        wrong = f"the model gets {least} to {most} of them wrong"
    words: dict[str, str] = {}
    for word in feature["words"]:
        words.setdefault(word.casefold(), f"'{word}'")
    if not words:
        return f"{tasks}: covers {n} sentences like it; {wrong}, {known}."
    named = ", ".join(words.values())
    like = f" ({feature['like']})" if feature["like"] else ""
    if len(words) == 1:
        return f"{tasks}: {named} covers {n} words like it{like}; {wrong}, {known}."
    return f"{tasks}: {named} cover {n} words like them{like}; {wrong}, {known}."


def _how_many(share: float) -> str:
    """Return a share as people say it."""
    return next(words for least, words in PARTS if share >= least)
