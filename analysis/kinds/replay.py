"""The study kind ``replay``: how fast would a strategy have brought a project where it is today?"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from analysis.active_learning.corpus import LabelledCorpus
from analysis.active_learning.settings import Protocol
from analysis.errors import AnalysisError
from analysis.kinds.active_learning import (
    ENGINE,
    PROTOCOL,
    check_sizes,
    engine_config,
    feature_cache,
    read_protocol,
)
from analysis.kinds.corpus_project import read_prices, read_project, replay_fingerprint
from analysis.sweep.kinds import Row, StudyKind, register

if TYPE_CHECKING:
    from analysis.active_learning.pricing import RecordedPrices

MOST_ROUNDS = 1000  # a replay ends when today's score is reached or nothing is left to ask
NOT_OF_REPLAY = ("budget", "n_per_round", "n_rounds", "cost_source", "pool_size")
SECONDS = 60.0


def read_replay(settings: Mapping[str, Any]) -> Protocol:
    """Return the protocol of a replay: its budget is minutes, and it goes on to the end."""
    rest = {name: PROTOCOL[name] for name in NOT_OF_REPLAY}
    rest |= {"budget": SECONDS * settings["minutes_per_round"], "n_rounds": MOST_ROUNDS}
    return read_protocol({**settings, **rest})


def _run(
    settings: Mapping[str, Any], seed: int, data: "tuple[LabelledCorpus, RecordedPrices]"
) -> Iterator[Row]:
    from analysis.active_learning.protocol import learn_everything, run_protocol

    corpus, prices = data
    protocol, config = read_replay(settings), engine_config(settings, seed)
    options: dict[str, Any] = {"seed": seed, "cache_dir": feature_cache(), "prices": prices}
    today, seconds_today = learn_everything(corpus, protocol, config, **options)
    target = settings["target"] * today["mean"]
    reached: float | None = None
    for row in run_protocol(corpus, protocol, config, **options):
        if "final" in row:
            break
        row["cost"] /= SECONDS
        yield row
        if row["mean"] >= target:
            reached = row["cost"]
        if reached is not None or not row["selected"]:
            break
    minutes_today = seconds_today / SECONDS
    needed = minutes_today if reached is None else reached
    yield {
        "final": {
            "saved minutes": minutes_today - needed,
            "needed minutes": needed,
            "minutes until today": minutes_today,
            "score today": today["mean"],
            "score reached": row["mean"],
            "is reached": float(reached is not None),
        }
    }


def _load(settings: Mapping[str, Any]) -> "tuple[LabelledCorpus, RecordedPrices]":
    part = {name: settings[name] for name in ("tasks", "test_size", "max_words")}
    corpus = read_project(settings["project"], **part)
    return corpus, read_prices(settings["project"], settings["tasks"])


def _check(settings: Mapping[str, Any]) -> None:
    check_sizes(settings)
    if settings["target"] <= 0:
        raise AnalysisError(
            f"target is {settings['target']}; the share of today's score to reach is above 0."
        )
    read_replay(settings)
    engine_config(settings, 0)


REPLAY = register(
    StudyKind(
        name="replay",
        defaults={
            "tasks": [],
            "test_size": 400,  # where no round has frozen a test slice yet
            "max_words": 0,
            "minutes_per_round": 30.0,
            "target": 1.0,  # share of today's mean score that counts as reached
            "weights": {},
            **{name: value for name, value in PROTOCOL.items() if name not in NOT_OF_REPLAY},
            **ENGINE,
        },
        required=("project",),
        run=_run,
        load=_load,
        check=_check,
        fingerprint=lambda settings: replay_fingerprint(settings["project"]),
        data_keys=("project", "tasks", "test_size", "max_words"),
    )
)
