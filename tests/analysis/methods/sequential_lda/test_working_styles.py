"""Annotators' actions as mixtures of shared ways of working."""

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.methods.sequential_lda.working_styles import ActionSequence, find_working_styles

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
ACCEPTING = ("look", "accept", "look", "accept", "look", "accept", "submit")
CORRECTING = ("look", "edit", "look", "accept", "edit", "look", "edit", "submit")


def day(annotator, number, *works):
    """Sequences of one annotator on one day."""
    when = MONDAY + timedelta(days=number)
    return [
        ActionSequence(annotator, when + timedelta(minutes=i), actions)
        for i, actions in enumerate(works)
    ]


@pytest.fixture(scope="module")
def found():
    work = []
    for number in range(3):
        work += day("ana", number, *[ACCEPTING] * 9, CORRECTING)
        work += day("bo", number, *[CORRECTING] * 9, ACCEPTING)
        work += day("cy", number, *[ACCEPTING] * 10)
        work += day("cy", number + 7, *[CORRECTING] * 10)
    work += day("dee", 0, ACCEPTING, ())
    return find_working_styles(work, n_styles=2, seed=0)


def style_marked_by(found, action):
    return next(s.number for s in found.styles if any(m[0] == action for m in s.marks))


def mixture(found, annotator):
    return next(one for one in found.annotators if one.annotator == annotator)


def test_two_ways_of_working_are_told_apart(found):
    accepting, correcting = (style_marked_by(found, a) for a in ("accept", "edit"))
    assert accepting != correcting
    assert found.styles[accepting].typical[0].steps == list(ACCEPTING)
    assert found.styles[correcting].typical[0].steps == list(CORRECTING)
    assert found.styles[accepting].mean_length == pytest.approx(7.0, abs=0.3)
    assert sum(style.share for style in found.styles) == pytest.approx(1.0)


def test_each_annotator_is_a_mixture_with_intervals(found):
    accepting = style_marked_by(found, "accept")
    assert mixture(found, "ana").shares[accepting].mean == pytest.approx(0.9, abs=0.07)
    assert mixture(found, "bo").shares[accepting].mean == pytest.approx(0.1, abs=0.07)
    for one in found.annotators:
        for share in one.shares:
            assert 0 <= share.low <= share.mean <= share.high <= 1


def test_change_over_time_is_seen_by_period(found):
    accepting = style_marked_by(found, "accept")
    weeks = [one for one in found.periods if one.annotator == "cy"]
    assert [one.start for one in weeks] == [MONDAY, MONDAY + timedelta(days=7)]
    assert weeks[0].shares[accepting].mean > 0.8
    assert weeks[1].shares[accepting].mean < 0.2


def test_only_a_change_beyond_doubt_is_told_and_little_work_is_not_described(found):
    assert {change.annotator for change in found.changes} == {"cy"}
    fallen = next(c for c in found.changes if c.style == style_marked_by(found, "accept"))
    assert (fallen.early, fallen.late) == (MONDAY, MONDAY + timedelta(days=7))
    assert fallen.before > 0.8
    assert fallen.after < 0.2
    assert not mixture(found, "dee").is_described


def test_a_style_has_all_its_actions_and_its_pace():
    work = day("ana", 0, *[ACCEPTING] * 10) + day("bo", 0, *[CORRECTING] * 10)
    timed = [
        ActionSequence(one.annotator, one.when, one.actions, 5.0 if one.annotator == "ana" else 9.0)
        for one in work
    ]
    found = find_working_styles(timed, n_styles=2, seed=0)
    styles = {dict(style.actions)["edit"] > 0.1: style for style in found.styles}
    assert dict(styles[False].actions)["accept"] == pytest.approx(3 / 7, abs=0.02)
    assert dict(styles[True].actions)["edit"] == pytest.approx(3 / 8, abs=0.02)
    assert styles[False].mean_seconds == pytest.approx(5.0, abs=0.2)
    assert styles[True].mean_seconds == pytest.approx(9.0, abs=0.2)


def test_the_number_of_styles_is_chosen_from_the_work():
    rng = np.random.default_rng(0)
    work = []
    for annotator, share in (("ana", 0.9), ("bo", 0.1), ("cy", 0.5)):
        works = [ACCEPTING if rng.random() < share else CORRECTING for _ in range(20)]
        work += day(annotator, 0, *works)
    assert len(find_working_styles(work).styles) >= 2
    assert len(find_working_styles(work[:9]).styles) == 1


def test_the_result_is_plain_json(found):
    plain = json.loads(json.dumps(found.as_json()))
    assert plain["periods"][0]["start"].startswith("2026-03-02")
    assert plain["annotators"][0]["is_described"] is True


def test_no_actions_at_all_are_refused():
    with pytest.raises(AnalysisError, match="no actions yet"):
        find_working_styles(day("ana", 0, ()))
