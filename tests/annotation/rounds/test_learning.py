"""The training stage learns what it can, whatever else people have answered."""

import pytest

from annotation.rounds.learning import learn
from annotation.rounds.workspace import DEV, TEST, TRAIN, KeptExample, Workspace
from mtl_engine.types import Example, TaskSpec
from tests.mtl_engine.corpus import MOOD, POS, SPANS, sentences, tiny_config

LATER = TaskSpec("moves", "relations", (), parent="entities")  # its labels come with use


@pytest.fixture(autouse=True)
def home(settings, tmp_path):
    settings.TANDEM_HOME = str(tmp_path)


def learned(tasks, answered):
    """Return what the stage found on sentences whose parts are answered for some tasks."""
    workspace = Workspace("test")
    workspace.directory.mkdir(parents=True, exist_ok=True)
    workspace.save_examples(
        KeptExample(
            Example(e.tokens, {name: e.labels[name] for name in names} | more, e.id), part, True
        )
        for part, names, more in answered
        for e in sentences(6)
    )
    return learn(
        workspace,
        tasks,
        tiny_config(epochs=1),
        policy_weights=None,
        warm_start=None,
        has_temperature=True,
        report=lambda *_: None,
    )


def test_a_task_that_only_development_sentences_answer_waits_for_its_round():
    answered = [(TRAIN, ["mood"], {}), (DEV, ["mood", "pos"], {}), (TEST, ["mood", "pos"], {})]
    found = learned([MOOD, POS], answered)
    assert found["tasks"] == ["mood"]
    assert set(found["temperatures"]) == set(found["scores"]) == {"mood"}
    assert found["n_labelled"] == {"mood": 12, "pos": 6}


def test_the_card_of_a_rounds_model_tells_its_development_scores():
    learned([MOOD], [(TRAIN, ["mood"], {}), (DEV, ["mood"], {})])
    (row,) = [
        line
        for line in (Workspace("test").model / "README.md").read_text().splitlines()
        if line.startswith("| mood")
    ]
    assert "accuracy 0." in row or "accuracy 1." in row


def test_a_task_answered_before_it_has_labels_waits_for_its_round():
    found = learned([SPANS, LATER], [(part, ["entities"], {"moves": []}) for part in (TRAIN, DEV)])
    assert found["tasks"] == ["entities"]
    assert found["n_labelled"] == {"entities": 12, "moves": 12}
