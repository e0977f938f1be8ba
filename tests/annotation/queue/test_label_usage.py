"""Which labels people use: their own latest answers, and those of all with gold."""

from annotation.models import Gold
from annotation.queue.selectors import label_usage
from tests.annotation.queue.conftest import NOON


def test_labels_of_one_s_own_answers_and_of_all_are_counted(desk):
    ann, ben = desk.person("ann"), desk.person("ben")
    desk.submit(ann, desk.take(ann))
    desk.submit(ben, desk.take(ben))
    topic = desk.project.tasks.get(name="topic")
    sentence = desk.project.sentences.last()
    Gold.objects.create(
        sentence=sentence, task=topic, value="other", source="imported", updated_at=NOON
    )
    usage = label_usage(desk.project, ann)
    assert usage["own"] == {
        "entities": {"PER": 1, "LOC": 1},
        "links": {"in": 1},
        "topic": {"travel": 1},
    }
    assert usage["all"]["topic"] == {"travel": 2, "other": 1}


def test_nobody_has_used_a_label_yet(desk):
    assert label_usage(desk.project, desk.person("ann")) == {"own": {}, "all": {}}


def test_a_task_with_many_answers_leaves_room_for_the_others(desk, monkeypatch):
    monkeypatch.setattr("annotation.queue.selectors.N_ANSWERS", 2)
    entities, topic = (desk.project.tasks.get(name=name) for name in ("entities", "topic"))
    for task, value in ((entities, [[0, 1, "PER"]]), (topic, "travel")):
        for sentence in desk.project.sentences.all()[:2]:
            Gold.objects.create(
                sentence=sentence, task=task, value=value, source="imported", updated_at=NOON
            )
    assert label_usage(desk.project, desk.person("ann"))["all"] == {
        "entities": {"PER": 2},
        "topic": {"travel": 2},
    }
