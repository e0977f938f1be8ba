"""Gold checks among the asks, groups with work of their own, and quotas."""

from dataclasses import replace

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from annotation.accounts.services import set_quota
from annotation.errors import InvalidInput
from annotation.models import Ask, Corpus, Gold, Lease, Membership, Queue, Sentence
from annotation.queue.asks import ask_everything
from annotation.queue.checks import checked_answers_of, is_check_due
from annotation.queue.groups import delete_group, divide_queue, group_rows, save_group
from annotation.queue.leases import reopen
from annotation.queue.selectors import count_queue
from annotation.queue.store import QueuePosition
from annotation.queue.submissions import LeaseLost
from tests.annotation.queue.conftest import ANSWERS, NOON, add_sentences, minutes


def make_gold(desk, n):
    """Add sentences with gold that are not asked about."""
    add_sentences(desk.project, n)
    rows = Sentence.objects.filter(project=desk.project).order_by("-id")[:n]
    tasks = {task.name: task for task in desk.project.tasks.all()}
    for sentence in rows:
        for name, value in ANSWERS.items():
            Gold.objects.create(
                sentence=sentence, task=tasks[name], value=value, source="imported", updated_at=NOON
            )
    return [sentence.pk for sentence in rows]


@pytest.fixture
def checked(desk, monkeypatch):
    """A queue of plain sentences, known ones beside it, and a check every second time."""
    desk.known = make_gold(desk, 12)
    desk.project.check_share = 50
    desk.project.save()
    monkeypatch.setattr(
        "annotation.queue.leases.is_check_due",
        lambda project, position, person: (position.n_done + position.n_skipped) % 2 == 0,
    )
    return desk


def test_chance_hands_out_about_the_chosen_share(desk):
    position = QueuePosition(
        queue_id=7, overlap=1, n_asks=1, budget_minutes=None, n_closed=0, seconds=0,
        n_done=0, n_skipped=0, first_rank=1, quota=None,
    )  # fmt: skip
    desk.project.check_share = 20
    due = [is_check_due(desk.project, replace(position, n_done=n), 3) for n in range(1000)]
    assert 150 < sum(due) < 250
    assert due[:5] == [is_check_due(desk.project, replace(position, n_done=n), 3) for n in range(5)]


def walk(desk, user, n):
    """Answer as many sentences as wished; return the asks."""
    asks = []
    for _ in range(n):
        lease = desk.take(user)
        if lease is None:
            break
        desk.submit(user, lease, {task: ANSWERS[task] for task in lease["ask"]["tasks"]})
        asks.append(Ask.objects.get(pk=lease["ask"]["id"]))
    return asks


def test_checks_come_among_the_asks_and_nothing_marks_them(checked):
    bea = checked.person("bea")
    asks = walk(checked, bea, 5)
    checks = [ask for ask in asks if ask.is_check]
    assert len(checks) == 3
    assert {ask.sentence_id for ask in checks} <= set(checked.known)
    lease = checked.take(bea)
    assert "is_check" not in str(lease)


def test_a_person_gets_a_check_once_and_others_get_it_too(checked):
    bea, cem = checked.person("bea"), checked.person("cem")
    first, second = walk(checked, bea, 5), walk(checked, cem, 4)
    for asks in (first, second):
        sentences = [ask.sentence_id for ask in asks]
        assert len(sentences) == len(set(sentences))
    shared = {a.pk for a in first if a.is_check} & {a.pk for a in second if a.is_check}
    assert shared
    assert checked_answers_of(checked.project).count() > 0


def test_checks_do_not_keep_a_queue_open_and_are_not_claimed_by_rank(checked):
    bea = checked.person("bea")
    walk(checked, bea, 100)
    assert checked.take(bea) is None
    assert count_queue(checked.project.pk, bea.pk)["left"] == 0
    assert not Ask.objects.filter(is_check=True, is_open=True).exists()


def test_a_check_that_ran_out_can_be_submitted_and_changed_later(checked):
    bea = checked.person("bea")
    lease = checked.take(bea)
    while not Ask.objects.get(pk=lease["ask"]["id"]).is_check:
        checked.submit(bea, lease)
        lease = checked.take(bea)
    ask = Ask.objects.get(pk=lease["ask"]["id"])
    cem = checked.person("cem")
    checked.take(cem, now=minutes(60))  # returns what has run out
    assert Lease.objects.get(pk=lease["id"]).state == "returned"
    checked.submit(bea, lease, now=minutes(61))
    ask.refresh_from_db()
    assert (ask.n_answers, ask.n_leases) == (1, 1)  # the lease is the other person's
    Gold.objects.filter(sentence=ask.sentence).update(source="adjudicated", updated_at=minutes(99))
    submission = Lease.objects.get(pk=lease["id"]).submissions.get()
    assert reopen(submission=submission, now=minutes(100)) == lease["id"]  # it tells nothing


def test_without_gold_there_are_no_checks(desk):
    desk.project.check_share = 50
    desk.project.save()
    bea = desk.person("bea")
    assert not any(ask.is_check for ask in walk(desk, bea, 5))


def test_a_quota_ends_a_persons_share_of_a_round(desk):
    bea = desk.person("bea")
    member = Membership.objects.get(user=bea)
    set_quota(membership=member, quota=2, actor=None)
    assert count_queue(desk.project.pk, bea.pk)["left"] == 2
    assert len(walk(desk, bea, 5)) == 2
    assert count_queue(desk.project.pk, bea.pk)["left"] == 0
    set_quota(membership=member, quota=None, actor=None)
    assert len(walk(desk, bea, 1)) == 1


def test_a_corpus_that_is_a_groups_is_asked_of_its_people_alone(desk):
    bea, cem = desk.person("bea"), desk.person("cem")
    add_sentences(desk.project, 3)
    ask_everything(project=desk.project)
    corpus = Corpus.objects.filter(project=desk.project).order_by("id").last()
    save_group(project=desk.project, name="new", people=["bea"], corpora=[corpus.name], actor=None)
    everything = walk(desk, cem, 100)
    assert corpus.pk not in {ask.sentence.corpus_id for ask in everything}
    rest = walk(desk, bea, 100)
    assert [ask.sentence.corpus_id for ask in rest] == [corpus.pk] * 3


def test_tasks_are_divided_sentence_by_sentence(desk):
    bea, cem = desk.person("bea"), desk.person("cem")
    save_group(project=desk.project, name="classes", people=["cem"], tasks=["topic"], actor=None)
    n_sentences = Ask.objects.filter(queue__is_current=True).values("sentence").distinct().count()
    own = walk(desk, cem, n_sentences * 2)
    assert {tuple(ask.tasks) for ask in own if ask.group_id} == {("topic",)}
    assert len([ask for ask in own if ask.group_id]) == n_sentences
    rest = walk(desk, bea, 100)
    assert all("topic" not in ask.tasks for ask in rest)
    queue = Queue.objects.get(is_current=True)
    assert queue.n_asks == queue.asks.count() == n_sentences * 2


def test_new_sentences_are_divided_when_they_are_asked(desk):
    bea = desk.person("bea")
    save_group(project=desk.project, name="g", people=["bea"], tasks=["topic"], actor=None)
    before = Ask.objects.count()
    add_sentences(desk.project, 2)
    assert ask_everything(project=desk.project) == 4
    assert Ask.objects.count() == before + 4
    assert bea.pk


def test_a_group_that_ends_gives_its_work_back(desk):
    bea, cem = desk.person("bea"), desk.person("cem")
    group = save_group(project=desk.project, name="g", people=["bea"], tasks=["topic"], actor=None)
    walk(desk, bea, 1)
    delete_group(group=group, actor=None)
    assert group_rows(desk.project) == []
    assert divide_queue(project=desk.project) == 0
    lease = desk.take(cem)
    while lease is not None and "topic" not in lease["ask"]["tasks"]:
        desk.submit(cem, lease, {task: ANSWERS[task] for task in lease["ask"]["tasks"]})
        lease = desk.take(cem)
    assert lease is not None


def test_unknown_people_and_corpora_are_named(desk):
    with pytest.raises(InvalidInput) as refused:
        save_group(project=desk.project, name="g", people=["zoe"], corpora=["none"], actor=None)
    assert [problem.path for problem in refused.value.problems] == ["people", "corpora"]


def test_a_lease_on_a_check_is_lost_only_to_its_own_token(checked):
    bea = checked.person("bea")
    lease = checked.take(bea)
    with pytest.raises(LeaseLost):
        checked.submit(bea, {**lease, "token": "wrong"})


def test_names_of_documents_that_no_document_can_have_are_refused_on_the_page(desk, client):
    Sentence.objects.filter(project=desk.project).update(document="d")
    client.force_login(get_user_model().objects.create_superuser("olga"))
    address = reverse("team", args=[desk.project.pk])
    desk.person("bea")
    for documents, status in (("x" * 201, 400), ("a\n" * 30_000, 400), ("d\n" + "x" * 200, 302)):
        body = {"name": "g", "people": ["bea"], "documents": documents}
        assert client.post(address, body).status_code == status
