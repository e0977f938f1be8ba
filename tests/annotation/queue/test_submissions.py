import pytest

from annotation.errors import InvalidInput
from annotation.models import Annotation, Ask, Label, Lease, Progress, Submission, Task
from annotation.queue.leases import LeaseLost, return_expired_leases
from annotation.queue.selectors import count_queue
from tests.annotation.queue.conftest import ANSWERS, NOON, minutes

pytestmark = pytest.mark.django_db


def stored(user):
    return dict(Annotation.objects.filter(author=user).values_list("task__name", "value"))


def fields(caught):
    return {problem.path for problem in caught.value.problems}


def test_all_answers_are_stored_and_the_ask_closes(desk, ann):
    lease = desk.take(ann)
    actions = [{"at": 12, "kind": "label", "task": "topic", "detail": "travel"}]
    counts = {"topic": {"seen": 1, "accepted": 1}}
    receipt = desk.submit(ann, lease, seconds=30.0, actions=actions, suggestions=counts)
    assert stored(ann) == ANSWERS
    ask = Ask.objects.get(rank=1)
    assert (ask.n_answers, ask.n_leases, ask.is_open) == (1, 0, False)
    submission = Submission.objects.get(pk=receipt.submission)
    assert (submission.seconds, submission.actions, submission.suggestions) == (
        30.0,
        actions,
        counts,
    )
    assert submission.submitted_at == NOON == receipt.saved_at
    assert receipt.counts == {
        "left": 4, "done": 1, "skipped": 0, "minutes": 0.5, "budget_minutes": None,
    }  # fmt: skip
    assert receipt.counts == count_queue(desk.project.pk, ann.pk)


def test_answers_are_stored_in_canonical_order(desk, ann):
    spans = [[2, 3, "LOC"], [0, 1, "PER"]]
    desk.submit(ann, desk.take(ann), {**ANSWERS, "entities": spans})
    assert stored(ann)["entities"] == [[0, 1, "PER"], [2, 3, "LOC"]]


def test_every_problem_is_told_with_its_field_and_nothing_is_stored(desk, ann):
    lease = desk.take(ann)
    wrong = {"entities": [[0, 9, "PER"], [1, 2, "XXX"]], "weather": "fine", "links": []}
    with pytest.raises(InvalidInput) as caught:
        desk.submit(ann, lease, wrong)
    assert fields(caught) == {"entities.0", "entities.1", "weather", "topic"}
    assert stored(ann) == {}
    assert Lease.objects.get().state == Lease.State.LIVE


def test_relations_are_judged_on_the_spans_of_the_same_answer(desk, ann):
    with pytest.raises(InvalidInput) as caught:
        desk.submit(ann, desk.take(ann), {**ANSWERS, "entities": [[0, 1, "PER"]]})
    assert fields(caught) == {"links.0"}


def test_an_empty_answer_is_an_answer(desk, ann):
    desk.submit(ann, desk.take(ann), {"entities": [], "links": [], "topic": "other"})
    assert stored(ann) == {"entities": [], "links": [], "topic": "other"}


def test_a_new_label_of_an_open_set_joins_it(desk, ann):
    Task.objects.filter(name="topic").update(is_open=True)
    desk.submit(ann, desk.take(ann), {**ANSWERS, "topic": "leisure"})
    assert Label.objects.filter(task__name="topic", name="leisure").exists()


def test_a_label_longer_than_the_table_allows_is_refused(desk, ann):
    Task.objects.filter(name="topic").update(is_open=True)
    with pytest.raises(InvalidInput):
        desk.submit(ann, desk.take(ann), {**ANSWERS, "topic": "x" * 121})


def test_a_live_lease_is_accepted_after_its_end_while_nobody_took_its_place(desk, ann):
    desk.submit(ann, desk.take(ann), now=minutes(60))
    assert stored(ann) == ANSWERS


def test_a_returned_lease_is_accepted_while_its_place_is_free(desk, ann):
    lease = desk.take(ann)
    return_expired_leases(project_id=desk.project.pk, now=minutes(16))
    desk.submit(ann, lease, now=minutes(17))
    ask = Ask.objects.get(rank=1)
    assert (ask.n_answers, ask.n_leases, ask.is_open) == (1, 0, False)


def test_a_late_submit_is_refused_without_showing_what_another_has_answered(desk, ann, ben):
    late = desk.take(ann)
    other = {**ANSWERS, "topic": "other"}
    desk.submit(ben, desk.take(ben, minutes(16)), other, now=minutes(17))
    with pytest.raises(LeaseLost) as caught:
        desk.submit(ann, late, now=minutes(18))
    assert caught.value.details == {"yours": ANSWERS, "current": {}}
    assert stored(ann) == {}
    assert Ask.objects.get(rank=1).n_answers == 1


def test_a_late_submit_is_refused_while_another_holds_the_place(desk, ann, ben):
    late = desk.take(ann)
    desk.take(ben, minutes(16))
    with pytest.raises(LeaseLost) as caught:
        desk.submit(ann, late, now=minutes(17))
    assert caught.value.details == {"yours": ANSWERS, "current": {}}


def test_others_answers_stay_hidden_from_a_refused_person_who_may_still_answer(pair_desk):
    a, b, c = (pair_desk.person(name) for name in "abc")
    late = pair_desk.take(a)
    pair_desk.submit(b, pair_desk.take(b))
    pair_desk.take(c, minutes(16))  # takes the place of a
    with pytest.raises(LeaseLost) as caught:
        pair_desk.submit(a, late, now=minutes(17))
    assert caught.value.details["current"] == {}


def test_an_old_token_of_the_same_person_never_wins(desk, ann):
    old = desk.take(ann)
    return_expired_leases(project_id=desk.project.pk, now=minutes(16))
    new = desk.take(ann, minutes(16))
    assert new["id"] == old["id"]
    with pytest.raises(LeaseLost):
        desk.submit(ann, old, now=minutes(17))
    desk.submit(ann, new, now=minutes(17))


def test_the_overlap_holds_when_a_late_and_a_new_answer_meet(pair_desk):
    a, b, c = (pair_desk.person(name) for name in "abc")
    late = pair_desk.take(a)
    first = pair_desk.take(b)
    third = pair_desk.take(c, minutes(16))
    assert third["ask"]["rank"] == 1
    pair_desk.submit(c, third)
    pair_desk.submit(b, first, now=minutes(17))  # returned too, and its place is still free
    with pytest.raises(LeaseLost):
        pair_desk.submit(a, late, now=minutes(17))
    assert Ask.objects.get(rank=1).n_answers == 2


def test_seconds_add_up_for_the_person_and_the_team(desk, ann, ben):
    desk.submit(ann, desk.take(ann), seconds=60.0)
    desk.submit(ann, desk.take(ann), seconds=60.0)
    desk.submit(ben, desk.take(ben), seconds=30.0)
    assert Progress.objects.get(annotator=ann).seconds == 120.0
    assert count_queue(desk.project.pk, ben.pk)["minutes"] == 2.5
