import pytest

from annotation.models import Annotation, Ask, Gold, Lease, Submission, Task
from annotation.queue.history import answer_versions, describe_submissions, own_submissions
from annotation.queue.leases import Adjudicated, LeaseLost, release_lease, reopen, skip
from annotation.queue.selectors import get_lease
from tests.annotation.queue.conftest import ANSWERS, NOON, minutes

pytestmark = pytest.mark.django_db
OTHER = {**ANSWERS, "topic": "other"}


def undo(receipt, now=NOON):
    submission = Submission.objects.select_related("lease__project", "lease__ask").get(
        pk=receipt.submission
    )
    return reopen(submission=submission, now=now)


def decide(source, at):
    task = Task.objects.get(name="topic")
    sentence = Ask.objects.get(rank=1).sentence
    Gold.objects.create(sentence=sentence, task=task, value="other", source=source, updated_at=at)


def test_reopened_answers_come_back_before_the_next_ask(desk, ann):
    receipt = desk.submit(ann, desk.take(ann))
    waiting = desk.take(ann)
    undo(receipt)
    lease = desk.take(ann)
    assert lease["ask"]["rank"] == 1
    assert lease["answers"] == ANSWERS
    desk.submit(ann, lease, OTHER)
    assert desk.take(ann)["id"] == waiting["id"]


def test_a_second_submit_keeps_the_first_as_a_version_and_counts_once(desk, ann):
    receipt = desk.submit(ann, desk.take(ann))
    undo(receipt, minutes(1))
    desk.submit(ann, desk.take(ann, minutes(1)), OTHER, now=minutes(2))
    answer = Annotation.objects.get(task__name="topic")
    assert [(v["version"], v["value"], v["created_at"]) for v in answer_versions(answer)] == [
        (1, "travel", NOON),
        (2, "other", minutes(2)),
    ]
    assert Annotation.objects.get(task__name="entities").version == 1
    assert Ask.objects.get(rank=1).n_answers == 1
    assert [s.number for s in Submission.objects.order_by("id")] == [1, 2]


def test_the_first_answers_stand_when_reopened_ones_are_released_or_forgotten(desk, ann):
    receipt = desk.submit(ann, desk.take(ann))
    undo(receipt)
    lease = desk.take(ann)
    release_lease(lease=get_lease(ann, lease["id"]), token=lease["token"])
    assert Lease.objects.get(pk=lease["id"]).state == Lease.State.SUBMITTED
    undo(receipt)
    assert desk.take(ann, minutes(16))["ask"]["rank"] == 2
    assert Annotation.objects.get(task__name="topic").value == "travel"


def test_an_adjudicated_answer_cannot_be_reopened(desk, ann):
    receipt = desk.submit(ann, desk.take(ann))
    decide(Gold.Source.ADJUDICATED, minutes(1))
    with pytest.raises(Adjudicated):
        undo(receipt, minutes(2))
    assert [s["can_reopen"] for s in _history(desk, ann)] == [False]


def test_gold_by_agreement_or_from_before_does_not_stand_in_the_way(desk, ann):
    decide(Gold.Source.ADJUDICATED, minutes(-60))
    receipt = desk.submit(ann, desk.take(ann))
    undo(receipt)
    Gold.objects.update(source=Gold.Source.AGREED, updated_at=minutes(1))
    undo(receipt)


def test_a_decision_made_while_answers_are_open_wins(desk, ann):
    receipt = desk.submit(ann, desk.take(ann))
    undo(receipt)
    lease = desk.take(ann)
    decide(Gold.Source.ADJUDICATED, minutes(1))
    with pytest.raises(Adjudicated):
        desk.submit(ann, lease, OTHER, now=minutes(2))
    assert Annotation.objects.get(task__name="topic").value == "travel"


def test_reopening_twice_keeps_the_token_and_another_reopening_closes_the_first(desk, ann):
    first = desk.submit(ann, desk.take(ann))
    second = desk.submit(ann, desk.take(ann))
    undo(first)
    token = desk.take(ann)["token"]
    undo(first)
    assert desk.take(ann)["token"] == token
    undo(second)
    assert desk.take(ann)["ask"]["rank"] == 2
    assert Lease.objects.filter(state=Lease.State.REOPENED).count() == 1


def test_reopened_answers_cannot_be_skipped(desk, ann):
    receipt = desk.submit(ann, desk.take(ann))
    undo(receipt)
    lease = desk.take(ann)
    with pytest.raises(LeaseLost):
        skip(lease=get_lease(ann, lease["id"]), token=lease["token"], reason="odd", now=NOON)


def _history(desk, user):
    return describe_submissions(own_submissions(desk.project, user))


def test_history_shows_the_last_submission_of_each_ask_newest_first(desk, ann, ben):
    first = desk.submit(ann, desk.take(ann))
    second = desk.submit(ann, desk.take(ann))
    desk.submit(ben, desk.take(ben))
    undo(first)
    again = desk.submit(ann, desk.take(ann))
    history = _history(desk, ann)
    assert [entry["submission"] for entry in history] == [again.submission, second.submission]
    assert history[0]["sentence"]["text"] == "Ann visits Rome."
    assert history[0]["tasks"] == ["entities", "links", "topic"]


def test_an_answer_is_changed_only_so_often(desk, ann, monkeypatch):
    monkeypatch.setattr("annotation.queue.leases.MOST_SUBMISSIONS", 2)
    desk.submit(ann, desk.take(ann))
    reopen(submission=Submission.objects.latest("id"), now=minutes(1))
    desk.submit(ann, desk.take(ann, minutes(1)), now=minutes(1))
    with pytest.raises(LeaseLost, match="2 times: ask a curator"):
        reopen(submission=Submission.objects.latest("id"), now=minutes(2))
