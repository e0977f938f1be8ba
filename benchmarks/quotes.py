"""How often quotes hold: hindcasts on learning curves of real corpora.

    python -m benchmarks.quotes

From the first one, two, ... points of each curve in benchmarks/results/forecast_curves.jsonl the
sentences to every later score that was a new best are quoted; the prior is learned from the curves
of the other corpora. What the method takes for granted (``Doubt``) is chosen on all curves but
those of one corpus and judged on these. Writes benchmarks/results/quotes.md.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.methods.quote import (
    DOUBT,
    FARTHEST,
    LEVEL,
    N_DRAWS,
    Curve,
    Doubt,
    Interval,
    draw_courses,
    interval_of,
    learn_prior,
)
from benchmarks.forecast import curves_of, read_rows

RESULTS = Path(__file__).parent / "results"
TRIED = [
    Doubt(noise, looks, own_curves)
    for noise, looks, own_curves in itertools.product(
        (0.01, 0.015, 0.02, 0.03), (3, 5, 8), (2.0, 4.0, 8.0, 16.0)
    )
]
BEFORE = Doubt(noise=0.015, looks=3, own_curves=2.0)  # until 0.2.0
N_DRAWS_TRIED = 1000


@dataclass(frozen=True)
class Hindcast:
    """A quote in sentences beside what was needed."""

    curve: str
    n_known: int
    last_known: float
    quoted: Interval
    needed: float

    @property
    def holds(self) -> bool:
        """Return whether the interval held what was needed."""
        return self.quoted.low <= self.needed <= self.quoted.high

    @property
    def corpus(self) -> str:
        """Return the corpus of the curve."""
        return self.curve.split()[0]

    @property
    def penalty(self) -> float:
        """Return the interval score (Gneiting & Raftery 2007) of the logarithm; small is good.

        It adds to the width what is missed, weighed so that the honest interval is the best.
        """
        low, high, needed = (
            math.log1p(min(n / self.last_known, FARTHEST))
            for n in (self.quoted.low, self.quoted.high, self.needed)
        )
        return high - low + 2 / (1 - LEVEL) * (max(0.0, low - needed) + max(0.0, needed - high))


def main() -> None:
    """Write the report."""
    held_out = list(chosen_elsewhere())
    before = list(hindcasts(BEFORE))
    report = as_markdown(list(hindcasts()), held_out, before)
    (RESULTS / "quotes.md").write_text(report, encoding="utf-8")
    print(report)


def chosen_elsewhere() -> Iterator[tuple[str, Doubt, list[Hindcast]]]:
    """Yield for each corpus what the other corpora's curves choose, and how it does here."""
    for corpus in dict.fromkeys(name.split()[0] for name in known_curves()):
        penalties = [
            penalty(list(hindcasts(doubt, without=corpus, n_draws=N_DRAWS_TRIED)))
            for doubt in TRIED
        ]
        best = TRIED[penalties.index(min(penalties))]
        yield corpus, best, [h for h in hindcasts(best) if h.corpus == corpus]


def penalty(made: Sequence[Hindcast]) -> float:
    """Return the mean penalty of curves, each counted alike."""
    rows: dict[str, list[float]] = {}
    for one in made:
        rows.setdefault(one.curve, []).append(one.penalty)
    return sum(sum(values) / len(values) for values in rows.values()) / len(rows)


def known_curves() -> dict[str, Curve]:
    """Return the curves by their names: corpus and task."""
    return {
        name: Curve(
            tuple(p["n"] for p in points),
            tuple(p["score"] for p in points),
            tuple(p["spread"] for p in points),
        )
        for name, points in curves_of(read_rows()).items()
    }


def hindcasts(
    doubt: Doubt = DOUBT, *, without: str = "", n_draws: int = N_DRAWS
) -> Iterator[Hindcast]:
    """Yield a quote for every later best score from every beginning of every curve.

    What is known of a corpus that is left out is not used for the others either.
    """
    curves = {name: c for name, c in known_curves().items() if name.split()[0] != without}
    for name, curve in curves.items():
        corpus = name.split()[0]
        others = [c for other, c in curves.items() if other.split()[0] != corpus]
        prior = learn_prior(others, doubt=doubt)
        for k in range(1, len(curve.n)):
            known = Curve(curve.n[:k], curve.scores[:k], curve.spreads[:k])
            draws = draw_courses(known, prior, n=n_draws, doubt=doubt)
            for later in range(k, len(curve.n)):
                target = curve.scores[later]
                if target <= max(curve.scores[:later]):
                    continue  # it was reached before
                quoted = interval_of(draws.sentences(target), draws.weight)
                yield Hindcast(name, k, curve.n[k - 1], quoted, curve.n[later] - curve.n[k - 1])


def as_markdown(
    made: list[Hindcast],
    held_out: Sequence[tuple[str, Doubt, list[Hindcast]]],
    before: list[Hindcast],
) -> str:
    """Return the report."""
    lines = [
        "# Quotes: hindcasts on real learning curves",
        "",
        "`python -m benchmarks.quotes` (the curves of `benchmarks.forecast`; the prior comes from "
        "the other corpora). After the first points of a curve, the sentences to each later best "
        "score are quoted with a 90 % interval. The goal: 80 to 97 % of intervals hold.",
        "",
        "| curve | quotes | interval held | of them without an upper end | median of high / low |",
        "|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(h.curve for h in made):
        lines.append(f"| {name} | {summary([h for h in made if h.curve == name])} |")
    lines.append(f"| **all** | {summary(made)} |")
    lines += [
        "",
        "| points known | quotes | interval held | of them without an upper end "
        "| median of high / low |",
        "|---|---|---|---|---|",
    ]
    for low, high in ((1, 1), (2, 3), (4, 5), (6, 9)):
        some = [h for h in made if low <= h.n_known <= high]
        lines.append(f"| {low if low == high else f'{low} to {high}'} | {summary(some)} |")
    lines += [
        "",
        "## One corpus held out",
        "",
        "What the method takes for granted (how much trainings differ, how many scores are looked "
        "at near a target, how many curves the default prior weighs) is chosen on the curves of "
        f"the other corpora, among {len(TRIED)} combinations by the interval score of the "
        "logarithm, and judged on the corpus that was left out.",
        "",
        "| left out | noise, looks, prior | quotes | interval held | of them without an upper end "
        "| median of high / low |",
        "|---|---|---|---|---|---|",
    ]
    for corpus, doubt, own in held_out:
        words = f"{doubt.noise:g}, {doubt.looks}, {doubt.own_curves:g}"
        lines.append(f"| {corpus} | {words} | {summary(own)} |")
    lines.append(f"| **all** | | {summary([h for *_, own in held_out for h in own])} |")
    lines.append(
        f"| as it was before | {BEFORE.noise:g}, {BEFORE.looks}, {BEFORE.own_curves:g} "
        f"| {summary(before)} |"
    )
    elsewhere = [h for *_, own in held_out for h in own]
    lines += [
        "",
        "What another project may expect is the table of corpora held out: "
        f"{_by_ends(elsewhere)}. One corpus may well be outside the goal, and the quotes of one "
        "curve are not independent of each other. The first two tables are of "
        f"the product's constants ({DOUBT.noise:g}, {DOUBT.looks}, {DOUBT.own_curves:g}), chosen "
        f"on all these curves, so that they flatter it: {_by_ends(made)}. A "
        "quote without an upper end is told as 'more than' its lower one: the target may lie above "
        f"what the task can reach, or more than {FARTHEST:g} times the sentences so far away.",
    ]
    return "\n".join(lines) + "\n"


def _by_ends(made: list[Hindcast]) -> str:
    """Return how many intervals held, with and without an upper end."""
    counts = []
    for is_bounded in (True, False):
        some = [h for h in made if math.isfinite(h.quoted.high) == is_bounded]
        counts.append(f"{sum(h.holds for h in some)} of {len(some)}")
    held = sum(h.holds for h in made)
    return (
        f"{held} of {len(made)} held ({held / len(made):.0%}), {counts[0]} with an upper end and "
        f"{counts[1]} without one, which hold unless less was needed than they said"
    )


def summary(made: list[Hindcast]) -> str:
    """Return how many quotes there are, how many held, and how wide they were."""
    held = sum(h.holds for h in made)
    n_open = sum(math.isinf(h.quoted.high) for h in made)
    widths = sorted(h.quoted.high / max(h.quoted.low, 1.0) for h in made)
    width = widths[len(widths) // 2]
    words = f"{width:.0f}" if math.isfinite(width) else "no end"
    return f"{len(made)} | {held} ({held / len(made):.0%}) | {n_open} | {words}"


if __name__ == "__main__":
    main()
