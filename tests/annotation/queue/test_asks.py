import io
import json

import pytest

from annotation.corpora.imports import import_corpus
from annotation.errors import InvalidInput
from annotation.models import Ask, Gold, Queue, Round, Suggestion, Task
from annotation.projects.services import update_project
from annotation.queue.asks import AskRow, ask_everything, put_asks
from annotation.queue.leases import return_expired_leases
from annotation.queue.selectors import count_queue, open_asks
from tests.annotation.queue.conftest import NOON, Desk, add_sentences, minutes, new_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(db):
    return new_project(n_sentences=4)


def asked(project):
    return list(open_asks(project).values_list("sentence__position", flat=True))


def rows(project, *positions, **fields):
    ids = dict(project.sentences.values_list("position", "id"))
    return [AskRow(ids[position], ["topic"], **fields) for position in positions]


def test_everything_is_asked_in_import_order_but_the_test_slice(project):
    project.sentences.filter(position=1).update(is_test=True)
    assert ask_everything(project=project) == 3
    assert asked(project) == [0, 2, 3]
    assert Ask.objects.first().tasks == ["entities", "links", "topic"]


def test_a_random_order_is_a_permutation_that_its_seed_decides(project):
    add_sentences(project, 40)
    ask_everything(project=project, order="random", seed=7)
    first = list(open_asks(project).values_list("sentence_id", flat=True))
    Queue.objects.all().delete()
    ask_everything(project=project, order="random", seed=7)
    assert list(open_asks(project).values_list("sentence_id", flat=True)) == first
    assert first != sorted(first)
    assert sorted(first) == sorted(project.sentences.values_list("id", flat=True))


def test_an_unknown_order_is_an_error(project):
    with pytest.raises(InvalidInput, match="import"):
        ask_everything(project=project, order="alphabetical")


def test_a_second_import_is_added_at_the_end(project):
    ask_everything(project=project)
    new = add_sentences(project, 2)
    assert ask_everything(project=project) == 2
    assert ask_everything(project=project) == 0
    last = Ask.objects.order_by("rank").last()
    assert (last.rank, last.sentence_id, last.queue.n_asks) == (6, new[-1].pk, 6)


def test_the_queue_of_a_round_is_left_alone_by_another_import(project):
    round_ = Round.objects.create(project=project, number=1)
    put_asks(project=project, round=round_, rows=rows(project, 3))
    add_sentences(project, 2)
    assert ask_everything(project=project) == 0
    assert asked(project) == [3]


def test_somebody_who_had_finished_gets_what_was_added_later(project):
    desk = Desk(project)
    ann = desk.person("ann")
    ask_everything(project=project)
    while lease := desk.take(ann):
        desk.submit(ann, lease)
    add_sentences(project, 1)
    ask_everything(project=project)
    assert desk.take(ann)["ask"]["rank"] == 5


def test_a_round_takes_the_queue_over_in_the_order_of_its_rows(project):
    ask_everything(project=project)
    round_ = Round.objects.create(project=project, number=1)
    put_asks(project=project, round=round_, rows=rows(project, 3, 1), budget_minutes=90)
    assert asked(project) == [3, 1]
    desk = Desk(project)
    lease = desk.take(desk.person("ann"))
    assert (lease["ask"]["rank"], lease["ask"]["n_asks"], lease["ask"]["round"]) == (1, 2, 1)
    assert lease["counts"]["budget_minutes"] == 90


def test_a_lease_on_the_old_queue_stays_good_and_its_ask_is_not_given_again(project):
    desk = Desk(project)
    ann, ben = desk.person("ann"), desk.person("ben")
    ask_everything(project=project)
    old = desk.take(ann)
    put_asks(project=project, round=None, rows=rows(project, 2), now=NOON)
    assert desk.take(ann)["id"] == old["id"]  # still in hand
    assert desk.take(ben)["sentence"]["position"] == 2
    desk.submit(ann, old)
    assert Ask.objects.get(pk=old["ask"]["id"]).n_answers == 1
    assert count_queue(project.pk, ann.pk)["done"] == 0  # counts are those of the new queue
    assert desk.take(ann) is None


def test_an_expired_lease_on_the_old_queue_is_not_given_to_anybody(project):
    desk = Desk(project)
    ann, ben = desk.person("ann"), desk.person("ben")
    ask_everything(project=project)
    desk.take(ann)
    put_asks(project=project, round=None, rows=rows(project, 2), now=NOON)
    return_expired_leases(project_id=project.pk, now=minutes(16))
    desk.submit(ben, desk.take(ben, minutes(16)), {"topic": "travel"})
    assert desk.take(ben, minutes(16)) is None


def test_a_queue_that_was_never_finished_leaves_the_old_one_serving(project):
    ask_everything(project=project)

    def breaks():
        yield from rows(project, 2)
        raise RuntimeError("the worker died")

    with pytest.raises(RuntimeError):
        put_asks(project=project, round=None, rows=breaks(), now=NOON)
    assert asked(project) == [0, 1, 2, 3]
    put_asks(project=project, round=None, rows=rows(project, 0), now=minutes(61))
    assert Queue.objects.filter(opened_at=None).count() == 0


def test_a_round_that_a_worker_left_while_writing_its_queue_has_one_queue(project):
    round_ = Round.objects.create(project=project, number=1)
    other = Round.objects.create(project=project, number=2, state=Round.State.FAILED)

    def breaks():
        yield from rows(project, 2, 3)
        raise ValueError

    for one in (round_, other):
        with pytest.raises(ValueError):
            put_asks(project=project, round=one, rows=breaks(), now=NOON)
    put_asks(project=project, round=round_, rows=rows(project, 2, 3), now=minutes(1))
    assert Queue.objects.filter(round=round_).count() == 1
    assert Ask.objects.filter(queue__round=round_).count() == 2
    assert Queue.objects.filter(round=other).count() == 1  # perhaps it is being written


def test_an_unknown_task_is_an_error_that_names_the_known_ones(project):
    sentence = project.sentences.first()
    with pytest.raises(InvalidInput, match="entities, links, topic"):
        put_asks(project=project, round=None, rows=[AskRow(sentence.pk, ["Topic"])])


def test_an_ask_shows_why_it_is_asked_and_only_its_tasks(project):
    row = rows(
        project,
        0,
        reason={"why": "The model is unsure.", "frontier": 1},
        confidences={"topic": 0.31},
        predicted_seconds=8.5,
    )
    put_asks(project=project, round=None, rows=row, overlap=2)
    desk = Desk(project)
    ask = desk.take(desk.person("ann"))["ask"]
    assert ask["tasks"] == ["topic"]
    assert (ask["why"], ask["reason"]["frontier"]) == ("The model is unsure.", 1)
    assert (ask["confidences"], ask["predicted_seconds"]) == ({"topic": 0.31}, 8.5)
    assert Ask.objects.latest("id").overlap == 2


def suggest(project, value, task="topic"):
    Suggestion.objects.create(
        sentence=project.sentences.first(),
        task=Task.objects.get(project=project, name=task),
        value=value,
        confidence=0.6,
        details={"items": []},
        source="m1",
        created_at=NOON,
    )


@pytest.mark.parametrize(
    ("is_blind", "shows", "n_shown"), [(False, True, 1), (True, True, 0), (False, False, 0)]
)
def test_suggestions_are_shown_unless_blind_or_switched_off(project, is_blind, shows, n_shown):
    suggest(project, "travel")
    suggest(project, [[0, 1, "PER"]], task="entities")  # not wanted by the ask
    project.shows_suggestions = shows
    project.save()
    put_asks(project=project, round=None, rows=rows(project, 0, is_blind=is_blind))
    desk = Desk(project)
    assert len(desk.take(desk.person("ann"))["suggestions"]) == n_shown


def link_rows(project):
    return [AskRow(project.sentences.first().pk, ["links"])]


def test_relations_alone_are_shown_and_judged_on_the_spans_there_are(project):
    suggest(project, [[0, 1, "PER"], [2, 3, "LOC"]], task="entities")
    put_asks(project=project, round=None, rows=link_rows(project))
    desk = Desk(project)
    ann = desk.person("ann")
    lease = desk.take(ann)
    assert lease["context"] == {"entities": [[0, 1, "PER"], [2, 3, "LOC"]]}
    with pytest.raises(InvalidInput):
        desk.submit(ann, lease, {"links": [[0, 1, 1, 2, "in"]]})
    desk.submit(ann, lease, {"links": [[0, 1, 2, 3, "in"]]})


def test_gold_spans_come_before_the_models(project):
    suggest(project, [[2, 3, "LOC"]], task="entities")
    Gold.objects.create(
        sentence=project.sentences.first(),
        task=Task.objects.get(name="entities"),
        value=[[0, 1, "PER"]],
        source=Gold.Source.IMPORTED,
        updated_at=NOON,
    )
    put_asks(project=project, round=None, rows=link_rows(project))
    desk = Desk(project)
    assert desk.take(desk.person("ann"))["context"] == {"entities": [[0, 1, "PER"]]}


def test_whatever_is_imported_is_in_the_queue_at_once_and_gold_is_not_asked(db):
    project = new_project(n_sentences=0)
    lines = [
        {"tokens": ["The", "ferry", "is", "late"], "labels": {}},
        {"tokens": ["the", "ferry", "is", "Late"], "labels": {}},
        {"tokens": ["Yo", ","], "labels": {}},
        {"tokens": ["Ann", "is", "at", "sea"], "labels": {"topic": "travel"}},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    import_corpus(
        project=project, stream=io.BytesIO(text.encode()), file_name="a.jsonl", format="jsonl",
        labels="gold", name="new",
    )  # fmt: skip
    asks = Ask.objects.filter(queue__project=project, queue__is_current=True).order_by("rank")
    texts = [ask.sentence.text for ask in asks]
    assert len(texts) == 3  # one wording is asked once
    assert texts[-1] == "Yo ,"  # fragments come last
    known = asks.get(sentence__text__startswith="Ann")
    assert known.tasks == ["entities", "links"]


def test_a_paused_project_hands_nothing_out(desk, ann):
    desk.project.state = "paused"
    desk.project.save()
    assert desk.take(ann) is None


def test_the_open_queue_follows_how_many_answers_a_project_wants(desk, ann, ben):
    desk.submit(ann, desk.take(ann))
    desk.submit(ann, desk.take(ann))
    held = desk.take(ann)
    assert desk.take(ben)["ask"]["rank"] == 4
    update_project(project=desk.project, changes={"overlap": 2})
    desk.submit(ben, desk.take(ben))
    assert [desk.submit(ben, desk.take(ben)) and 1 for _ in range(2)] == [1, 1]
    assert list(Ask.objects.order_by("rank").values_list("n_answers", "is_open")) == [
        (2, False), (2, False), (0, True), (1, True), (0, True),
    ]  # fmt: skip
    update_project(project=desk.project, changes={"overlap": 1})
    assert list(Ask.objects.order_by("rank").values_list("overlap", "is_open")) == [
        (2, False), (2, False), (1, True), (1, False), (1, True),
    ]  # fmt: skip
    desk.submit(ann, held)  # what was in hand counts
    assert desk.take(ben)["ask"]["rank"] == 5
