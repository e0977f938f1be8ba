"""A round over sentences and documents: learned, tested, asked and answered, each as a whole."""

import io
import json

import pytest

from annotation.corpora.imports import import_corpus
from annotation.models import Ask, Sentence, Suggestion
from annotation.projects.services import create_project
from annotation.rounds.services import launch_round
from tests.annotation.rounds.conftest import TINY

pytestmark = pytest.mark.any_database

TASKS = [
    {"name": "tone", "kind": "classes", "labels": ["good", "bad"]},
    {"name": "topic", "kind": "classes", "labels": ["sport", "trade"], "document": True},
]


def _take(project, name, n_documents, *, labelled):
    lines = []
    for d in range(n_documents):
        topic = "sport" if d % 2 else "trade"
        for i in range(3):
            tone = "good" if (d + i) % 2 else "bad"
            row = {"document": f"{name}{d}", "text": f"A {tone} day {d} {i} of {topic} ."}
            row["labels"] = {"tone": tone, "topic": topic} if labelled else {}
            lines.append(json.dumps(row) + "\n")
    import_corpus(
        project=project,
        stream=io.BytesIO("".join(lines).encode()),
        file_name=f"{name}.jsonl",
        format="jsonl",
        labels="gold",
    )


def test_a_round_learns_and_asks_of_documents_as_of_sentences(people, work):
    project = create_project(spec={"name": "News", "tasks": TASKS}, owner=people[0])
    _take(project, "old", 24, labelled=True)
    _take(project, "new", 12, labelled=False)
    round = launch_round(project=project, changes={**TINY, "amount": 30}, created_by=None)
    work()
    round.refresh_from_db()
    assert round.state == "labelling", round.stages
    training = round.stages["training"]
    assert training["tasks"] == ["tone", "topic"]
    assert {name: row["n"] for name, row in training["scores"].items()} == {"tone": 15, "topic": 5}
    for name in set(Sentence.objects.filter(is_test=True).values_list("document", flat=True)):
        assert set(Sentence.objects.filter(document=name).values_list("is_test", flat=True)) == {
            True
        }
    asks = Ask.objects.filter(queue__round=round).select_related("sentence")
    assert {ask.sentence.is_document for ask in asks} == {True, False}
    for ask in asks:
        assert ask.tasks == (["topic"] if ask.sentence.is_document else ["tone"])
    for task, is_document in Suggestion.objects.values_list("task__name", "sentence__is_document"):
        assert is_document == (task == "topic")


LINKED = [
    {"name": "names", "kind": "spans", "labels": ["PER", "ORG"]},
    {
        "name": "links",
        "kind": "relations",
        "parent": "names",
        "labels": ["same", "of"],
        "document": True,
        "window": 2,
    },
]


def _take_papers(project, name, n_documents, *, with_links, n_spans=3):
    """Import documents of three sentences, of which the first so many have spans."""
    lines = []
    for d in range(n_documents):
        texts = [f"Ada{d} runs Acme .", f"She{d} founded it .", f"Nothing{d} else ."]
        spans = [[[0, 1, "PER"], [2, 3, "ORG"]], [[0, 1, "PER"]], []]
        for i, text in enumerate(texts):
            labels = {"names": spans[i]} if i < n_spans else {}
            if with_links and i == 0:
                labels["links"] = [[0, 1, 2, 3, "of"], [4, 5, 0, 1, "same"]]
            row = {"document": f"{name}{d}", "text": text, "labels": labels}
            lines.append(json.dumps({**row, "parents": {"links": "names"}}) + "\n")
    import_corpus(
        project=project,
        stream=io.BytesIO("".join(lines).encode()),
        file_name=f"{name}.jsonl",
        format="jsonl",
        labels="gold",
    )


def test_a_round_learns_links_across_sentences_and_asks_documents_whose_spans_are_known(
    people, work
):
    project = create_project(spec={"name": "Papers", "tasks": LINKED}, owner=people[0])
    _take_papers(project, "old", 24, with_links=True)
    _take_papers(project, "open", 8, with_links=False)
    _take_papers(project, "half", 4, with_links=False, n_spans=1)
    changes = {**TINY, "epochs": 20, "amount": 20, "learning_rate": 1e-2}
    round = launch_round(project=project, changes=changes, created_by=None)
    work()
    round.refresh_from_db()
    assert round.state == "labelling", round.stages
    assert set(round.stages["training"]["tasks"]) == {"names", "links"}
    assert round.stages["training"]["scores"]["links"]["n"] == 5
    asked = {
        ask.sentence.document
        for ask in Ask.objects.filter(queue__round=round, sentence__is_document=True)
    }
    assert asked
    assert all(name.startswith("open") for name in asked)
    for suggestion in Suggestion.objects.filter(task__name="links"):
        for link in suggestion.value:
            assert {tuple(link[:2]), tuple(link[2:4])} <= {(0, 1), (2, 3), (4, 5)}
