import pytest

from analysis.data.sequences import action_sequences, label_sequences
from annotation.models import Gold, Sentence, Task
from tests.annotation.queue.conftest import ANSWERS, NOON

pytestmark = pytest.mark.django_db


def test_labels_of_every_answered_sentence_form_a_sequence(desk, ann, ben):
    Sentence.objects.filter(position__lt=2).update(document="d1")
    desk.submit(ann, desk.take(ann))
    desk.submit(ben, desk.take(ben), {**ANSWERS, "links": [], "topic": "other"})
    assert label_sequences(desk.project) == [
        ("entities", ["PER", "O", "LOC", "O"]),
        ("entities", ["PER", "O", "LOC", "O"]),
        ("links", ["in"]),
        ("topic", ["travel", "other"]),
    ]


def test_gold_comes_before_what_people_said(desk, ann):
    desk.submit(ann, desk.take(ann))
    Gold.objects.create(
        sentence=Sentence.objects.get(position=0),
        task=Task.objects.get(name="topic"),
        value="other",
        source=Gold.Source.IMPORTED,
        updated_at=NOON,
    )
    assert ("topic", ["other"]) in label_sequences(desk.project)


def test_actions_form_one_sequence_a_submission(desk, ann, ben):
    actions = [{"at": 1, "kind": "span"}, {"at": 2, "kind": "undo"}]
    desk.submit(ann, desk.take(ann), actions=actions)
    desk.submit(ben, desk.take(ben))
    assert action_sequences(desk.project) == [("ann", ["span", "undo"])]
