import pytest

from annotation.models import Ask, Lease
from annotation.queue.leases import LeaseLost, release_lease, renew_lease, return_expired_leases
from annotation.queue.selectors import get_lease, next_ask
from tests.annotation.queue.conftest import NOON, minutes

pytestmark = pytest.mark.django_db


def ranks(*leases):
    return [lease["ask"]["rank"] for lease in leases]


def test_people_are_given_different_asks_in_rank_order(desk, ann, ben):
    assert ranks(desk.take(ann), desk.take(ben)) == [1, 2]


def test_a_lease_in_hand_is_handed_back_by_a_reload(desk, ann):
    first, again = desk.take(ann), desk.take(ann, minutes(5))
    assert (first["id"], first["token"]) == (again["id"], again["token"])
    assert again["expires_at"] == minutes(20)
    assert Ask.objects.get(rank=1).n_leases == 1


def test_nothing_is_left_after_the_last_ask(desk, ann):
    for _ in range(5):
        desk.submit(ann, desk.take(ann))
    assert desk.take(ann) is None


def test_a_project_without_a_queue_has_nothing_to_give(desk, ann):
    desk.project.queues.all().delete()
    assert desk.take(ann) is None


def test_an_expired_lease_returns_to_its_rank(desk, ann, ben):
    desk.take(ann)
    desk.submit(ben, desk.take(ben))
    assert ranks(desk.take(ben, minutes(16))) == [1]


def test_a_lease_that_is_not_over_is_left_alone(desk, ann, ben):
    desk.take(ann)
    assert return_expired_leases(project_id=desk.project.pk, now=minutes(14)) == 0
    assert ranks(desk.take(ben, minutes(14))) == [2]


def test_a_heartbeat_keeps_the_lease(desk, ann, ben):
    lease = desk.take(ann)
    own = get_lease(ann, lease["id"])
    assert renew_lease(lease=own, token=lease["token"], now=minutes(10)) == minutes(25)
    assert ranks(desk.take(ben, minutes(20))) == [2]


def test_a_heartbeat_with_an_old_token_is_refused(desk, ann, ben):
    lease = desk.take(ann)
    with pytest.raises(LeaseLost):
        renew_lease(lease=get_lease(ann, lease["id"]), token="another", now=NOON)


def test_a_heartbeat_revives_an_expired_lease_whose_place_is_free(desk, ann, ben):
    lease = desk.take(ann)
    return_expired_leases(project_id=desk.project.pk, now=minutes(16))
    own = get_lease(ann, lease["id"])
    assert renew_lease(lease=own, token=lease["token"], now=minutes(17)) == minutes(32)
    assert ranks(desk.take(ben, minutes(17))) == [2]
    assert Ask.objects.get(rank=1).n_leases == 1


def test_a_heartbeat_does_not_revive_a_lease_whose_place_was_taken(desk, ann, ben):
    lease = desk.take(ann)
    assert ranks(desk.take(ben, minutes(16))) == [1]
    with pytest.raises(LeaseLost):
        renew_lease(lease=get_lease(ann, lease["id"]), token=lease["token"], now=minutes(16))


def test_a_heartbeat_does_not_revive_a_lease_when_another_one_is_in_hand(desk, ann, ben):
    lease = desk.take(ann)
    return_expired_leases(project_id=desk.project.pk, now=minutes(16))
    taken = desk.take(ben, minutes(16))
    desk.take(ann, minutes(16))
    release_lease(lease=get_lease(ben, taken["id"]), token=taken["token"])
    with pytest.raises(LeaseLost):
        renew_lease(lease=get_lease(ann, lease["id"]), token=lease["token"], now=minutes(17))
    assert Ask.objects.get(rank=1).n_leases == 0


def test_a_released_ask_goes_back_to_its_rank_with_its_draft_kept(desk, ann, ben):
    lease = desk.take(ann)
    Lease.objects.filter(pk=lease["id"]).update(draft={"half": 1}, draft_version=3)
    release_lease(lease=get_lease(ann, lease["id"]), token=lease["token"])
    release_lease(lease=get_lease(ann, lease["id"]), token=lease["token"])  # a retry
    assert Ask.objects.get(rank=1).n_leases == 0
    again = desk.take(ann)
    assert (again["draft"], again["draft_version"]) == ({"half": 1}, 3)
    assert again["token"] != lease["token"]


def test_a_lease_is_found_only_by_its_owner_while_a_member(desk, ann, ben):
    from annotation.errors import NotFound

    lease = desk.take(ann)
    with pytest.raises(NotFound):
        get_lease(ben, lease["id"])
    desk.project.memberships.filter(user=ann).delete()
    with pytest.raises(NotFound):
        get_lease(ann, lease["id"])


def test_the_peeked_ask_is_the_one_that_comes_next(desk, ann, ben):
    lease = desk.take(ann)
    peeked = next_ask(desk.project.pk, ann.pk)
    desk.submit(ann, lease)
    assert desk.take(ann)["ask"]["id"] == peeked


def test_with_overlap_two_an_ask_goes_to_two_people_and_to_nobody_else(pair_desk):
    people = [pair_desk.person(name) for name in ("a", "b", "c")]
    leases = [pair_desk.take(person) for person in people]
    assert ranks(*leases) == [1, 1, 2]
    for person, lease in zip(people, leases, strict=True):
        pair_desk.submit(person, lease)
    assert [ask.n_answers for ask in Ask.objects.order_by("rank")] == [2, 1, 0]
    assert ranks(*(pair_desk.take(person) for person in people)) == [2, 3, 3]


def test_nobody_is_given_an_ask_they_have_answered(pair_desk):
    ann = pair_desk.person("a")
    for rank in (1, 2, 3):
        lease = pair_desk.take(ann)
        assert ranks(lease) == [rank]
        pair_desk.submit(ann, lease)
    assert pair_desk.take(ann) is None
    assert Ask.objects.filter(is_open=True).count() == 3
