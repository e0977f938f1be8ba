"""Asks for single words: taken, answered, changed, and learned from, beside whole answers."""

import pytest

from annotation.adjudication.final import final_answers
from annotation.archive.services import export_project, import_project
from annotation.bridge import task_specs
from annotation.erasure.services import delete_answers
from annotation.errors import InvalidInput
from annotation.models import Annotation, Ask, Label, Lease, Role, Submission, WordAnswer
from annotation.projects.labels import merge_labels, update_label
from annotation.projects.selectors import label_usage
from annotation.projects.services import create_project
from annotation.queue.asks import AskRow, put_asks
from annotation.queue.history import describe_submissions, own_submissions
from annotation.queue.leases import reopen
from annotation.queue.selectors import cost_model, describe_ask, work_events
from annotation.queue.submissions import leave_for_later
from annotation.rounds.data import labelled_data, labelled_sentences, open_pool
from annotation.rounds.data import without_word_answers as closed_to_words
from mtl_engine.active_learning.pool import TRAIN, part_of
from tests.annotation.queue.conftest import NOON, Desk, add_sentences, minutes

pytestmark = pytest.mark.django_db

TREE = [None, [0, "root"], [2, "obj"], None]  # of Ann visits Rome .
TAGS = [None, None, "NOUN", None]
WORDS = {"syntax": [1, 2], "pos": [2]}
ANSWERS = {"syntax": TREE, "pos": TAGS, "topic": "travel"}


@pytest.fixture
def desk(db):
    """Two sentences of which single words are asked, and one that is asked whole."""
    project = create_project(
        spec={
            "name": "Words",
            "overlap": 2,
            "lease_minutes": 15,
            "tasks": [
                {"name": "syntax", "kind": "tree", "labels": ["root", "obj", "subj"]},
                {"name": "pos", "kind": "tags", "labels": ["NOUN", "VERB"]},
                {"name": "topic", "kind": "classes", "labels": ["travel", "other"]},
            ],
        }
    )
    every = ["syntax", "pos", "topic"]
    sentences = [s for s in add_sentences(project, 40) if part_of(s.pk) == TRAIN]
    rows = [AskRow(s.pk, every, words=WORDS if i < 2 else {}) for i, s in enumerate(sentences[:3])]
    put_asks(project=project, round=None, rows=rows, now=NOON)
    return Desk(project)


@pytest.fixture
def ann(desk):
    return desk.person("ann")


@pytest.fixture
def ben(desk):
    return desk.person("ben")


def test_an_ask_names_the_words_and_takes_answers_to_them(desk, ann):
    lease = desk.take(ann)
    assert lease["ask"]["words"] == WORDS
    assert describe_ask(lease["ask"]["id"], desk.project)["ask"]["words"] == WORDS
    desk.submit(ann, lease, ANSWERS, seconds=20.0)
    said = dict(WordAnswer.objects.values_list("task__name", "value"))
    assert said == {"syntax": TREE, "pos": TAGS}
    assert dict(Annotation.objects.values_list("task__name", "value")) == {"topic": "travel"}
    assert desk.take(ann)["ask"]["rank"] == 2


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"syntax": [[2, "subj"], [0, "root"], [2, "obj"], None]}, "syntax.0"),  # not asked
        ({"syntax": [None, [0, "root"], None, None]}, "syntax.2"),  # asked, and missing
        ({"syntax": [None, [0, "root"], [3, "obj"], None]}, "syntax.2"),  # its own head
        ({"pos": [None, None, "ADJ", None]}, "pos.2"),
        ({"pos": "NOUN"}, "pos"),
    ],
)
def test_what_does_not_fit_the_words_is_refused_and_nothing_is_stored(desk, ann, change, path):
    with pytest.raises(InvalidInput) as caught:
        desk.submit(ann, desk.take(ann), {**ANSWERS, **change})
    assert [problem.path for problem in caught.value.problems] == [path]
    assert not WordAnswer.objects.exists()
    assert not Annotation.objects.exists()
    assert Lease.objects.get().state == Lease.State.LIVE


def test_a_whole_ask_takes_no_single_words(desk, ann):
    for _ in range(2):
        desk.submit(ann, desk.take(ann), ANSWERS)
    with pytest.raises(InvalidInput):
        desk.submit(ann, desk.take(ann), ANSWERS)


def test_what_was_said_comes_back_and_can_be_changed(desk, ann):
    receipt = desk.submit(ann, desk.take(ann), ANSWERS)
    submission = Submission.objects.select_related("lease__project", "lease__ask").get(
        pk=receipt.submission
    )
    (row,) = describe_submissions(own_submissions(desk.project, ann))
    assert row["answers"]["syntax"] == {"n": 2, "labels": ["root", "obj"]}
    reopen(submission=submission, now=minutes(1))
    lease = desk.take(ann, minutes(1))
    assert lease["answers"] == ANSWERS
    changed = {**ANSWERS, "pos": [None, None, "VERB", None]}
    desk.submit(ann, lease, changed, now=minutes(2))
    assert WordAnswer.objects.get(task__name="pos").value == [None, None, "VERB", None]


def test_words_of_later_asks_join_those_of_earlier_ones(desk, ann):
    lease = desk.take(ann)
    desk.submit(ann, lease, ANSWERS)
    sentence = lease["sentence"]["id"]
    rows = [AskRow(sentence, ["syntax"], words={"syntax": [0, 1]})]
    put_asks(project=desk.project, round=None, rows=rows, now=minutes(1))
    again = desk.take(ann, minutes(1))
    assert again["answers"] == {"syntax": [None, [0, "root"], None, None]}
    more = {"syntax": [[2, "subj"], [0, "root"], None, None]}
    desk.submit(ann, again, more, now=minutes(2))
    said = WordAnswer.objects.get(task__name="syntax").value
    assert said == [[2, "subj"], [0, "root"], [2, "obj"], None]


def test_models_learn_from_words_by_the_most_votes_and_nothing_is_final_by_them(desk, ann, ben):
    sentence = desk.take(ann)["sentence"]["id"]
    desk.submit(ann, desk.take(ann), ANSWERS)
    other = {**ANSWERS, "syntax": [None, [3, "subj"], [2, "obj"], None]}
    desk.submit(ben, desk.take(ben), other)
    assert set(final_answers(desk.project)[sentence]) == {"topic"}
    (whole,) = labelled_sentences(desk.project)
    assert set(whole.labels) == {"topic"}
    data = labelled_data(desk.project, task_specs(desk.project))
    (example,) = data.part(TRAIN)
    assert example.labels["syntax"] == TREE  # of two the older
    assert example.labels["pos"] == TAGS


def test_cells_with_answered_words_are_closed_to_word_asks_only(desk, ann):
    desk.submit(ann, desk.take(ann), ANSWERS)
    pool = open_pool(desk.project, task_specs(desk.project))
    sentence = WordAnswer.objects.first().sentence_id
    row = pool.ids.tolist().index(sentence)
    assert pool.is_closed[row].tolist() == [False, False, True]
    closed = closed_to_words(desk.project, pool)
    assert closed.is_closed[row].tolist() == [True, True, True]
    assert (closed.is_closed.sum(), pool.is_closed.sum()) == (3, 1)


def test_seconds_are_learned_per_answered_word(desk, ann):
    desk.submit(ann, desk.take(ann), ANSWERS, seconds=20.0)
    (event,) = work_events(desk.project, ("syntax", "pos", "topic"))
    assert event.n_items == {"syntax": 2.0, "pos": 1.0, "topic": 1.0}
    assert cost_model(desk.project, ("syntax", "pos", "topic")).n_events == 1


def test_labels_of_words_are_renamed_merged_and_count_as_used(desk, ann):
    desk.submit(ann, desk.take(ann), ANSWERS)
    labels = {label.name: label for label in Label.objects.all()}
    assert label_usage(labels["obj"]).n_answers == 1
    update_label(label=labels["obj"], changes={"name": "object"}, actor=ann)
    merge_labels(label=labels["NOUN"], into=labels["VERB"], actor=ann)
    said = dict(WordAnswer.objects.values_list("task__name", "value"))
    assert said["syntax"] == [None, [0, "root"], [2, "object"], None]
    assert said["pos"] == [None, None, "VERB", None]


def test_words_are_left_for_later_and_deleted_with_their_author(desk, ann):
    lease = desk.take(ann)
    held = Lease.objects.select_related("ask__sentence", "project").get(pk=lease["id"])
    done = {"pos": TAGS}
    leave_for_later(lease=held, token=lease["token"], answers=done, now=NOON)
    assert WordAnswer.objects.get().value == TAGS
    owner = desk.person("olga", role=Role.OWNER)
    assert delete_answers(project=desk.project, person=ann, actor=owner) == 1
    assert not WordAnswer.objects.exists()


def test_a_project_file_carries_words_that_were_asked_and_answered(desk, ann, tmp_path):
    desk.submit(ann, desk.take(ann), ANSWERS)
    export_project(project=desk.project, path=tmp_path / "p.zip")
    again = import_project(path=tmp_path / "p.zip", name="Again")
    said = WordAnswer.objects.filter(sentence__project=again)
    assert dict(said.values_list("task__name", "value")) == {"syntax": TREE, "pos": TAGS}
    assert list(Ask.objects.filter(queue__project=again, rank=1).values_list("words")) == [(WORDS,)]
