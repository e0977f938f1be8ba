"""Flags, skips and single answers lead somewhere."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.adjudication.final import final_answers
from annotation.adjudication.review import (
    ReviewSums,
    answers_to_review,
    history_of,
    review_answer,
    review_queue,
    undo_review,
)
from annotation.adjudication.services import (
    flags_of,
    reopen_flag,
    resolve_flag,
    skipped_sentences,
)
from annotation.bridge import task_specs
from annotation.errors import Conflict, InvalidInput
from annotation.models import Annotation, Ask, Flag, Gold, Lease, Review, Role, Suggestion
from annotation.queue.asks import ask_everything, leave_out, take_back
from annotation.queue.history import answered_flags, note_seen, returned_to
from annotation.rounds.data import open_pool
from tests.annotation.queue.conftest import ANSWERS, NOON, Desk, new_project

Outcome, Decision = Flag.Outcome, Review.Decision


@pytest.fixture
def desk(db):
    project = new_project(n_sentences=3)
    ask_everything(project=project)
    return Desk(project)


@pytest.fixture
def curator(desk):
    return desk.person("cleo", Role.CURATOR)


@pytest.fixture
def ann(desk):
    return desk.person("ann")


@pytest.fixture
def flag(desk, ann):
    sentence = desk.project.sentences.order_by("id").first()
    return Flag.objects.create(
        sentence=sentence, author=ann, comment="odd one", created_at=timezone.now()
    )


def resolve(flag, curator, outcome=Outcome.CLOSED, answer="", **more):
    return resolve_flag(
        flag=flag, outcome=outcome, answer=answer, resolved_by=curator, now=NOON, **more
    )


def test_an_open_flag_waits_until_it_is_answered(desk, flag, curator, ann):
    assert flags_of(desk.project, is_open=True).count() == 1
    resolve(flag, curator, Outcome.ANSWERED, "It is a place.")
    assert flags_of(desk.project, is_open=True).count() == 0
    assert [f.answer for f in answered_flags(ann, desk.project)] == ["It is a place."]
    assert note_seen(user=ann, project=desk.project, now=NOON) == 1
    assert not answered_flags(ann, desk.project).exists()
    with pytest.raises(Conflict, match="resolved already"):
        resolve(flag, curator)
    reopen_flag(flag=flag, actor=curator)
    assert flags_of(desk.project, is_open=True).get() == flag


def test_an_answer_must_say_something_and_a_correction_must_correct(flag, curator):
    with pytest.raises(InvalidInput, match="answer"):
        resolve(flag, curator, Outcome.ANSWERED)
    with pytest.raises(InvalidInput, match="gold"):
        resolve(flag, curator, Outcome.CORRECTED)


def test_a_correction_makes_gold(desk, flag, curator):
    resolve(flag, curator, Outcome.CORRECTED, gold={"topic": ANSWERS["topic"]})
    assert Gold.objects.get().value == ANSWERS["topic"]


def test_a_sentence_that_is_left_out_is_neither_asked_nor_chosen(desk, flag, curator):
    resolve(flag, curator, Outcome.LEFT_OUT)
    assert not Ask.objects.get(sentence=flag.sentence).is_open
    tasks = task_specs(desk.project)
    assert flag.sentence_id not in open_pool(desk.project, tasks).ids
    flag.sentence.refresh_from_db()
    take_back(sentence=flag.sentence, actor=curator)
    assert flag.sentence_id in open_pool(desk.project, tasks).ids


def test_skips_are_gathered_by_sentence_with_their_reasons(desk, ann, curator):
    lease = desk.take(ann)
    Lease.objects.filter(pk=lease["id"]).update(
        state=Lease.State.SKIPPED, skip_kind=Lease.SkipKind.BROKEN, skip_reason="cut off"
    )
    (skipped,) = skipped_sentences(desk.project)
    assert skipped.sentence.pk == lease["sentence"]["id"]
    assert skipped.reasons == (("ann", "broken", "cut off"),)
    leave_out(sentence=skipped.sentence, reason="cut off", actor=curator)
    assert skipped_sentences(desk.project) == []


def test_a_skip_waits_no_longer_when_somebody_else_has_answered(desk, ann):
    lease = desk.take(ann)
    Lease.objects.filter(pk=lease["id"]).update(state=Lease.State.SKIPPED)
    Ask.objects.update(n_leases=0)
    assert len(skipped_sentences(desk.project)) == 1
    bob = desk.person("bob")
    taken = desk.take(bob)
    assert taken["sentence"]["id"] == lease["sentence"]["id"]
    desk.submit(bob, taken)
    assert skipped_sentences(desk.project) == []


@pytest.fixture
def answer(desk, ann):
    desk.submit(ann, desk.take(ann))
    return Annotation.objects.get(task__name="topic")


def review(answer, curator, decision, **more):
    return review_answer(answer=answer, decision=decision, reviewer=curator, now=NOON, **more)


def test_a_kept_answer_is_gold_by_a_second_pair_of_eyes(desk, answer, curator):
    review(answer, curator, Decision.KEPT)
    assert Gold.objects.get().source == Gold.Source.REVIEWED
    left = answers_to_review(desk.project, task="topic")
    assert not left.exists()


def test_a_corrected_answer_stays_beside_the_gold(desk, answer, curator):
    other = desk.project.tasks.get(name="topic").labels.exclude(name=answer.value).first().name
    review(answer, curator, Decision.CORRECTED, gold=other)
    assert final_answers(desk.project)[answer.sentence_id]["topic"].value == other
    answer.refresh_from_db()
    assert answer.value == ANSWERS["topic"]
    sources = [version.source for version in history_of(answer.sentence)["topic"]]
    assert set(sources) == {"answer", "reviewed"}


def test_a_returned_answer_waits_for_its_author(desk, answer, curator, ann):
    with pytest.raises(InvalidInput, match="remark"):
        review(answer, curator, Decision.RETURNED)
    review(answer, curator, Decision.RETURNED, remark="Look at the verb.")
    assert returned_to(ann, desk.project).get().remark == "Look at the verb."
    Annotation.objects.filter(pk=answer.pk).update(version=2)
    assert not returned_to(ann, desk.project).exists()


def test_answers_that_a_sure_model_contradicts_come_first(desk, answer, ann):
    desk.submit(ann, desk.take(ann))
    for row, confidence in zip(
        Annotation.objects.filter(task__name="topic"), (0.6, 0.9), strict=True
    ):
        Suggestion.objects.create(
            sentence=row.sentence, task=row.task, value="other", confidence=confidence,
            source="round 1", created_at=NOON,
        )  # fmt: skip
    found = review_queue(answers_to_review(desk.project, task="topic"))
    assert [row.suggestion.confidence for row in found.rows] == [0.9, 0.6]
    assert (found.n_answers, found.n_contradicted) == (2, 2)
    assert found.pairs == [("travel", "other", 2)]
    sure = review_queue(answers_to_review(desk.project, task="topic"), least=0.7)
    assert [row.suggestion.confidence for row in sure.rows] == [0.9]


def test_undoing_a_review_brings_back_the_gold_that_there_was(desk, answer, curator):
    with pytest.raises(Conflict, match="nothing to undo"):
        undo_review(project=desk.project, reviewer=curator)
    review(answer, curator, Decision.KEPT)
    other = desk.project.tasks.get(name="topic").labels.exclude(name=answer.value).first().name
    later = NOON + timedelta(minutes=1)
    review_answer(
        answer=answer, decision=Decision.CORRECTED, reviewer=curator, now=later, gold=other
    )
    undo_review(project=desk.project, reviewer=curator)
    gold = Gold.objects.get()
    assert (gold.value, gold.version, gold.versions.count()) == (answer.value, 1, 0)
    undo_review(project=desk.project, reviewer=curator)
    assert not Gold.objects.exists()
    assert not Review.objects.exists()


def test_undoing_never_touches_gold_that_somebody_changed_since(desk, answer, curator, ann):
    review(answer, curator, Decision.KEPT)
    Gold.objects.update(decided_by=ann)
    with pytest.raises(Conflict, match="changed since"):
        undo_review(project=desk.project, reviewer=curator)
    assert Review.objects.count() == 1


def test_kept_relations_take_their_spans_along(desk, ann, answer, curator):
    links = Annotation.objects.get(task__name="links")
    review(links, curator, Decision.KEPT)
    gold = dict(Gold.objects.values_list("task__name", "value"))
    assert gold == {"entities": ANSWERS["entities"], "links": ANSWERS["links"]}


def test_errors_are_expected_only_after_ten_looks():
    assert ReviewSums(7, 2, 5).errors_expected(90) is None
    low, high = ReviewSums(8, 2, 0).errors_expected(100)  # Wilson: .057 to .510
    assert (low, high) == (6, 51)


def test_answers_are_found_by_person_and_label(desk, answer):
    assert answers_to_review(desk.project, person="ann", task="topic").get() == answer
    assert not answers_to_review(desk.project, person="ben").exists()
    assert answers_to_review(desk.project, task="topic", label=answer.value).get() == answer
