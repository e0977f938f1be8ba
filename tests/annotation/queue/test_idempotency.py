import pytest

from annotation.models import Annotation, Ask, Label, Submission
from annotation.queue.leases import LeaseLost
from annotation.queue.submissions import KeyReused
from tests.annotation.queue.conftest import ANSWERS, minutes

pytestmark = pytest.mark.django_db


def test_the_same_request_again_returns_the_first_receipt(desk, ann):
    lease = desk.take(ann)
    first = desk.submit(ann, lease, key="once")
    desk.take(ann)
    again = desk.submit(ann, lease, key="once", now=minutes(3))
    assert again == first
    assert Submission.objects.count() == 1
    assert Annotation.objects.count() == 3
    assert Ask.objects.get(rank=1).n_answers == 1


def test_a_retry_gets_its_receipt_even_when_its_answers_would_be_refused_by_now(desk, ann):
    lease = desk.take(ann)
    first = desk.submit(ann, lease, key="once")
    Label.objects.filter(name="travel").delete()
    assert desk.submit(ann, lease, key="once") == first


def test_a_key_with_another_request_is_refused(desk, ann):
    lease = desk.take(ann)
    desk.submit(ann, lease, key="once")
    with pytest.raises(KeyReused):
        desk.submit(ann, lease, {**ANSWERS, "topic": "other"}, key="once")


def test_two_people_may_use_the_same_key(desk, ann, ben):
    first, second = desk.take(ann), desk.take(ben)
    assert (
        desk.submit(ann, first, key="k").submission != desk.submit(ben, second, key="k").submission
    )


def test_another_key_on_a_closed_lease_is_refused_with_ones_own_answers(desk, ann):
    lease = desk.take(ann)
    desk.submit(ann, lease)
    with pytest.raises(LeaseLost) as caught:
        desk.submit(ann, lease, {**ANSWERS, "topic": "other"})
    assert caught.value.details["current"] == ANSWERS
