import orjson
import pytest
from django.urls import reverse

from annotation.bridge import task_specs
from annotation.corpora.exports import export_corpus
from annotation.models import Annotation, Ask, Flag, Gold, Lease, LogEntry, Role, Sentence
from annotation.queue.asks import AskRow, put_asks
from annotation.queue.history import (
    describe_document,
    describe_skips,
    describe_submissions,
    flag_sentence,
    own_skips,
    own_submissions,
)
from annotation.queue.leases import (
    LeaseLost,
    StaleDraft,
    return_expired_leases,
    save_draft,
    skip,
    skipped_by_all,
    take_up_again,
)
from annotation.queue.selectors import count_queue, get_lease
from annotation.queue.submissions import leave_for_later
from annotation.rounds.data import open_pool
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


def skip_as(user, lease, reason="unreadable", kind="other", now=NOON):
    held = get_lease(user, lease["id"])
    skip(lease=held, token=lease["token"], reason=reason, kind=kind, now=now)


def first_sentence():
    return Ask.objects.order_by("rank").first().sentence


def ask_in_a_round(desk):
    """Put the asks of another round in place of the queue."""
    rows = [AskRow(s.pk, ["topic"]) for s in desk.project.sentences.order_by("id")]
    put_asks(project=desk.project, round=None, rows=rows, now=NOON)


def test_a_skipped_ask_goes_to_others_and_never_comes_back(desk, ann, ben):
    lease = desk.take(ann)
    skip_as(ann, lease)
    skip_as(ann, lease)  # a retry
    assert desk.take(ann)["ask"]["rank"] == 2
    assert desk.take(ben)["ask"]["rank"] == 1
    assert Lease.objects.get(pk=lease["id"]).skip_reason == "unreadable"
    counts = count_queue(desk.project.pk, ann.pk)
    assert (counts["left"], counts["done"], counts["skipped"]) == (4, 0, 1)


def test_a_skip_holds_in_later_queues_for_that_person_alone(desk, ann, ben):
    skip_as(ann, desk.take(ann), kind="unclear")
    for _ in range(2):  # the one after the next too
        ask_in_a_round(desk)
        assert desk.take(ann)["ask"]["rank"] == 2
        assert desk.take(ben)["ask"]["rank"] == 1
    assert skipped_by_all(desk.project) == set()
    skip_as(ben, desk.take(ben))
    assert skipped_by_all(desk.project) == {first_sentence().pk}
    tasks = task_specs(desk.project)
    assert first_sentence().pk not in open_pool(desk.project, tasks).ids.tolist()


def test_what_enough_people_call_unusable_leaves_the_pool(desk, ann, ben):
    skip_as(ann, desk.take(ann), kind="broken")
    assert first_sentence().left_out == ""  # one of two
    skip_as(ben, desk.take(ben), kind="not_a_sentence")
    assert first_sentence().left_out == "skipped: broken and not a sentence"
    assert not Ask.objects.get(rank=1).is_open
    assert LogEntry.objects.get(action="sentence.left_out").actor == ben


def test_one_who_annotates_alone_is_enough(desk, ann):
    skip_as(ann, desk.take(ann), kind="unclear")
    skip_as(ann, desk.take(ann), kind="wrong_language")
    left_out = Ask.objects.exclude(sentence__left_out="").get()
    assert (left_out.rank, left_out.sentence.left_out) == (2, "skipped: wrong language")


def test_a_skip_can_be_undone_while_its_place_is_free(desk, ann):
    lease = desk.take(ann)
    skip_as(ann, lease, kind="broken")  # leaves the pool: ann annotates alone
    save(ann, (other := desk.take(ann)), "half", 1)
    take_up_again(lease=get_lease(ann, lease["id"]), now=NOON)
    again = desk.take(ann)
    assert (again["id"], again["sentence"]["id"]) == (lease["id"], lease["sentence"]["id"])
    assert first_sentence().left_out == ""
    assert again["counts"]["skipped"] == 0
    desk.submit(ann, again)
    assert desk.take(ann)["id"] == other["id"]
    assert desk.take(ann)["draft"] == "half"


def test_a_skip_cannot_be_undone_when_another_took_the_place(desk, ann, ben):
    lease = desk.take(ann)
    skip_as(ann, lease)
    mine = desk.take(ann)
    desk.submit(ben, desk.take(ben))
    with pytest.raises(LeaseLost, match="Others have answered"):
        take_up_again(lease=get_lease(ann, lease["id"]), now=NOON)
    assert desk.take(ann)["id"] == mine["id"]


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


def test_what_is_left_for_later_counts_in_part_and_is_free_for_others(desk, ann, ben):
    lease = desk.take(ann)
    for _ in range(2):  # doing it twice is no error
        leave_for_later(
            lease=get_lease(ann, lease["id"]),
            token=lease["token"],
            answers={"topic": "travel"},
            now=NOON,
        )
    assert dict(Annotation.objects.values_list("task__name", "value")) == {"topic": "travel"}
    assert count_queue(desk.project.pk, ann.pk)["left"] == 5
    assert desk.take(ben)["ask"]["rank"] == 1
    assert desk.take(ann)["ask"]["rank"] == 2
    with pytest.raises(LeaseLost):
        leave_for_later(lease=get_lease(ann, lease["id"]), token="old", answers={}, now=NOON)


def test_a_sentence_left_for_later_keeps_its_draft_note_and_answers(desk, ann):
    lease = desk.take(ann)
    save(ann, lease, {"doc": "half"}, 1)
    leave_for_later(
        lease=get_lease(ann, lease["id"]),
        token=lease["token"],
        answers={"topic": "travel"},
        note="odd",
        now=NOON,
    )
    for _ in range(4):
        desk.submit(ann, desk.take(ann), note="unsure")
    again = desk.take(ann)
    assert (again["ask"]["rank"], again["draft"], again["note"]) == (1, {"doc": "half"}, "odd")
    assert again["answers"] == {"topic": "travel"}
    desk.submit(ann, again)
    assert desk.take(ann) is None
    assert Lease.objects.filter(note="unsure").count() == 4


def test_a_note_is_shown_to_curators_filtered_and_exported(desk, ann, client):
    first = desk.take(ann)
    desk.submit(ann, first, note="a river?")
    second = desk.take(ann)
    desk.submit(ann, second)
    client.force_login(desk.person("cora", Role.CURATOR))
    project = desk.project.pk
    noted, plain = (lease["sentence"]["id"] for lease in (first, second))
    shown = client.get(reverse("sentence", args=[project, noted])).content.decode()
    assert "a river?" in shown
    found = client.get(reverse("data", args=[project]), {"state": "noted"}).content.decode()
    assert reverse("sentence", args=[project, noted]) in found
    assert reverse("sentence", args=[project, plain]) not in found
    lines = b"".join(export_corpus(project=desk.project, format="jsonl")).splitlines()
    notes = [orjson.loads(line).get("notes") for line in lines]
    assert notes == [{"ann": "a river?"}, None, None, None, None]


def test_a_skip_is_as_new_as_the_moment_at_which_it_was_skipped(desk, ann):
    """Its sentence may have been in hand before answers that were given meanwhile."""
    skipped = desk.take(ann)
    left = Lease.objects.get(pk=skipped["id"])
    skip_as(ann, skipped, now=minutes(7))
    later = desk.take(ann, minutes(8))
    leave_for_later(
        lease=get_lease(ann, later["id"]), token=later["token"], answers={}, now=minutes(9)
    )
    rows = describe_skips(own_skips(desk.project, ann))
    assert [row["lease"] for row in rows] == [later["id"], left.pk]
    assert [row["submitted_at"] for row in rows] == [minutes(9), minutes(7)]


def test_history_finds_words_labels_notes_and_skips(desk, ann):
    desk.submit(ann, desk.take(ann), note="a river?")
    desk.submit(ann, desk.take(ann), {"entities": [], "links": [], "topic": "other"}, seconds=7)
    skip_as(ann, desk.take(ann), "cut off")
    flag_sentence(
        sentence=Sentence.objects.get(position=1), author=ann, comment="two at once", now=NOON
    )

    def found(search):
        answers = describe_submissions(own_submissions(desk.project, ann, search=search))
        return answers, describe_skips(own_skips(desk.project, ann, search=search))

    answers, skips = found("")
    assert [row["note"] for row in answers] == ["", "a river?"]
    assert answers[0]["flags"] == [{"comment": "two at once", "answer": ""}]
    assert answers[1]["answers"] == {
        "entities": {"n": 2, "labels": ["PER", "LOC"]},
        "links": {"n": 1, "labels": ["in"]},
        "topic": {"n": 1, "labels": ["travel"]},
    }
    assert [(row["state"], row["reason"]) for row in skips] == [("skipped", "cut off")]
    searches = ("river", "OTHER", "two at", "cut", "visits", "nowhere")
    assert [tuple(map(len, found(search))) for search in searches] == [
        (1, 0), (1, 0), (1, 0), (0, 1), (2, 1), (0, 0),
    ]  # fmt: skip


def test_a_document_shows_what_is_answered_and_nobodys_labels(desk, ann):
    desk.submit(ann, desk.take(ann))
    Sentence.objects.filter(position__lt=3).update(document="Bulletin")
    task = desk.project.tasks.get(name="topic")
    gold = Sentence.objects.get(position=1)
    Gold.objects.create(sentence=gold, task=task, value="other", source="imported", updated_at=NOON)
    shown = describe_document(Sentence.objects.get(position=2), ann)
    assert (shown["title"], shown["number"], shown["n_sentences"]) == ("Bulletin", 3, 3)
    assert [row["state"] for row in shown["sentences"]] == ["yours", "gold", "asked"]
    outside = describe_document(Sentence.objects.get(position=4), ann)
    assert (outside["is_document"], outside["number"]) == (False, 5)
