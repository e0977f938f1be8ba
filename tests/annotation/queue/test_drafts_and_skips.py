import pytest

from annotation.models import Ask, Flag, Lease
from annotation.selectors.queue import count_queue, get_lease
from annotation.services.drafting import save_draft
from annotation.services.leasing import return_expired_leases
from annotation.services.refusals import LeaseLost, StaleDraft
from annotation.services.skipping import flag_sentence, skip
from tests.annotation.queue.conftest import NOON, minutes

pytestmark = pytest.mark.django_db


def save(user, lease, draft, version, now=NOON, token=None):
    save_draft(
        lease=get_lease(user, lease["id"]),
        token=token or lease["token"],
        draft=draft,
        version=version,
        now=now,
    )


def test_a_draft_comes_back_with_the_lease_and_renews_it(desk, ann):
    save(ann, desk.take(ann), {"topic": "tra"}, 1, minutes(10))
    lease = desk.take(ann, minutes(12))
    assert (lease["draft"], lease["draft_version"]) == ({"topic": "tra"}, 1)
    assert lease["draft_saved_at"] == minutes(10)


def test_an_older_version_does_not_overwrite_a_newer_one(desk, ann):
    lease = desk.take(ann)
    save(ann, lease, "new", 5)
    with pytest.raises(StaleDraft) as caught:
        save(ann, lease, "old", 5)
    assert caught.value.details == {"draft": "new", "version": 5, "saved_at": NOON}


def test_a_draft_under_an_old_token_is_refused(desk, ann):
    with pytest.raises(LeaseLost):
        save(ann, desk.take(ann), "x", 1, token="old")


def test_a_draft_survives_the_end_of_its_lease(desk, ann):
    save(ann, desk.take(ann), "half", 1)
    return_expired_leases(project_id=desk.project.pk, now=minutes(16))
    assert desk.take(ann, minutes(16))["draft"] == "half"


def test_submitting_removes_the_draft(desk, ann):
    lease = desk.take(ann)
    save(ann, lease, "half", 1)
    desk.submit(ann, lease)
    assert (Lease.objects.get().draft, Lease.objects.get().draft_version) == (None, 0)


def skip_as(user, lease, reason="unreadable"):
    skip(lease=get_lease(user, lease["id"]), token=lease["token"], reason=reason)


def test_a_skipped_ask_goes_to_others_and_never_comes_back(desk, ann, ben):
    lease = desk.take(ann)
    skip_as(ann, lease)
    skip_as(ann, lease)  # a retry
    assert desk.take(ann)["ask"]["rank"] == 2
    assert desk.take(ben)["ask"]["rank"] == 1
    assert Lease.objects.get(pk=lease["id"]).skip_reason == "unreadable"
    counts = count_queue(desk.project.pk, ann.pk)
    assert (counts["left"], counts["done"], counts["skipped"]) == (4, 0, 1)


def test_a_lost_lease_cannot_be_skipped(desk, ann, ben):
    lease = desk.take(ann)
    desk.take(ben, minutes(16))
    with pytest.raises(LeaseLost):
        skip_as(ann, lease)
    assert Ask.objects.get(rank=1).n_leases == 1


def test_what_is_left_counts_open_asks_that_one_has_not_finished(pair_desk):
    a, b = pair_desk.person("a"), pair_desk.person("b")
    for _ in range(2):
        pair_desk.submit(a, pair_desk.take(a))
    pair_desk.submit(b, pair_desk.take(b))
    left = [count_queue(pair_desk.project.pk, user.pk)["left"] for user in (a, b)]
    assert left == [1, 2]


def test_a_flag_is_kept_once_however_often_it_is_sent(desk, ann):
    sentence = Ask.objects.get(rank=1).sentence
    for _ in range(2):
        flag_sentence(sentence=sentence, author=ann, comment="Two sentences in one.", now=NOON)
    assert [flag.comment for flag in Flag.objects.all()] == ["Two sentences in one."]
