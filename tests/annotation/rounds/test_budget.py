"""A round asks for what it says, the test slice included."""

import pytest
from django.utils import timezone

from annotation.models import Annotation, Ask, Gold, Sentence
from annotation.rounds.services import launch_round, n_tests_wanted
from tests.annotation.rounds.conftest import TINY, import_demo

pytestmark = pytest.mark.django_db(transaction=True)
MINUTES = {**TINY, "unit": "minutes", "amount": 10, "test_size": 40}


def asked(project, number):
    return Ask.objects.filter(queue__round__number=number, queue__project=project)


def asks_to_test(project, number):
    return [ask for ask in asked(project, number) if ask.reason["source"] == "test"]


def answer(project, person, asks):
    """Answer both tasks of asks."""
    now = timezone.now()
    intent = project.tasks.get(name="Intent")
    values = {project.tasks.get(name="Slots"): [], intent: intent.labels.first().name}
    for ask in asks:
        for task, value in values.items():
            Annotation.objects.create(
                sentence_id=ask.sentence_id, task=task, author=person, value=value,
                created_at=now, updated_at=now,
            )  # fmt: skip


def answer_the_others(project, person):
    """Answer whatever round 1 asked outside the test slice."""
    tests = asks_to_test(project, 1)
    answer(project, person, [ask for ask in asked(project, 1) if ask not in tests])


@pytest.fixture
def unlabelled(project):
    import_demo(project, n=300, labelled=False)
    return project


def test_the_first_round_asks_for_its_minutes_with_the_test_slice_inside(unlabelled, people, work):
    launch_round(project=unlabelled, changes=MINUTES, created_by=people[0])
    work()
    asks = asked(unlabelled, 1)
    seconds = sum(asks.values_list("predicted_seconds", flat=True))
    assert seconds <= 10 * 60
    tests = [ask for ask in asks if ask.reason["source"] == "test"]
    assert tests
    assert sum(ask.predicted_seconds for ask in tests) <= 0.25 * 10 * 60
    assert {ask.sentence_id for ask in tests} == set(
        Sentence.objects.filter(is_test=True).values_list("id", flat=True)
    )


def test_test_sentences_are_spread_among_the_others(unlabelled, people, work):
    launch_round(project=unlabelled, changes=MINUTES, created_by=people[0])
    work()
    ranks = [a.rank for a in asked(unlabelled, 1).order_by("rank") if a.reason["source"] == "test"]
    n = asked(unlabelled, 1).count()
    assert ranks[0] > 1
    assert max(ranks) > n / 2


def test_what_was_not_answered_is_asked_again_and_the_slice_grows(unlabelled, people, work):
    changes = {**TINY, "unit": "sentences", "amount": 100, "test_size": 40}
    launch_round(project=unlabelled, changes=changes, created_by=people[0])
    work()
    first = asks_to_test(unlabelled, 1)
    assert len(first) == 25
    answer(unlabelled, people[0], [a for a in asked(unlabelled, 1) if a not in first[:10]])
    launch_round(project=unlabelled, changes=changes, created_by=people[0])
    work()
    again = {a.sentence_id for a in first[:10]}
    second = {a.sentence_id for a in asks_to_test(unlabelled, 2)}
    assert again <= second
    assert len(second) == 25
    assert not second & {a.sentence_id for a in first[10:]}
    assert Sentence.objects.filter(is_test=True).count() == 40


def test_what_does_not_fit_into_the_share_of_testing_waits_for_the_next_round(
    unlabelled, people, work
):
    launch_round(project=unlabelled, changes=MINUTES, created_by=people[0])
    work()
    answer_the_others(unlabelled, people[0])
    launch_round(project=unlabelled, changes=MINUTES, created_by=people[0])
    work()
    second = asked(unlabelled, 2)
    assert sum(second.values_list("predicted_seconds", flat=True)) <= 10 * 60 * 1.02
    tests = {a.sentence_id: a for a in asks_to_test(unlabelled, 2)}
    slice = Sentence.objects.filter(pk__in=[a.sentence_id for a in asks_to_test(unlabelled, 1)])
    left = slice.exclude(pk__in=tests).order_by("pk").first()
    assert tests
    if left is not None:  # how many fit depends on what the model expects to be marked
        again = slice.filter(pk__in=tests)
        assert max(sentence.pk for sentence in again) < left.pk
        spent = sum(tests[sentence.pk].predicted_seconds for sentence in again)
        per_word = spent / sum(sentence.n_tokens for sentence in again)
        assert spent <= 0.25 * 10 * 60 < spent + per_word * left.n_tokens + 0.05 * len(tests)


def test_a_test_sentence_that_is_left_out_is_not_asked_again(unlabelled, people, work):
    launch_round(project=unlabelled, changes=MINUTES, created_by=people[0])
    work()
    gone = Sentence.objects.filter(is_test=True).first()
    Sentence.objects.filter(pk=gone.pk).update(left_out="broken")
    answer_the_others(unlabelled, people[0])
    launch_round(project=unlabelled, changes=MINUTES, created_by=people[0])
    work()
    assert not asked(unlabelled, 2).filter(sentence=gone).exists()


def test_enough_labelled_tests_ask_for_no_more(project):
    import_demo(project, n=120, labelled=True)
    ids = list(Sentence.objects.order_by("id").values_list("id", flat=True)[:60])
    Sentence.objects.filter(pk__in=ids).update(is_test=True)
    assert Gold.objects.exists()
    assert n_tests_wanted(project=project, size=100) == 0
