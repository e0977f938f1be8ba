"""A round over sentences and documents: learned, tested, asked and answered, each as a whole."""

import io
import json

from annotation.corpora.imports import import_corpus
from annotation.models import Ask, Sentence, Suggestion
from annotation.projects.services import create_project
from annotation.rounds.services import launch_round
from tests.annotation.rounds.conftest import TINY

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
