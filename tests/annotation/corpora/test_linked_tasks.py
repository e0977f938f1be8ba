"""Relations between the spans of two tasks, attributes and spans in pieces, from file to file."""

import io
import json

import pytest
from django.utils import timezone

from annotation.adjudication.final import final_answers
from annotation.adjudication.services import decide, settle_agreed
from annotation.bridge import as_example, task_specs
from annotation.corpora.browse_pages import mark_sentence
from annotation.corpora.exports import export_corpus
from annotation.corpora.imports import import_corpus
from annotation.corpora.selectors import SentenceFilter, browse_sentences, label_tree
from annotation.errors import InvalidInput
from annotation.models import Annotation, Gold, GoldVersion
from annotation.projects.selectors import describe_project
from annotation.projects.services import create_project, update_task
from annotation.queue.submissions import checked_answers
from annotation.rounds.data import answers_left_out

pytestmark = [pytest.mark.any_database, pytest.mark.django_db]
TASKS = [
    {"name": "drug", "kind": "spans", "labels": ["DRUG", "CLASS"]},
    {"name": "dose", "kind": "spans", "labels": ["DOSE", "FORM"]},
    {
        "name": "gives",
        "kind": "relations",
        "labels": ["of", "as"],
        "parent": "drug",
        "second_parent": "dose",
        "pairs": {"of": [["DRUG", "DOSE"]]},
    },
    {"name": "same", "kind": "relations", "labels": ["is"], "parent": "drug"},
    {
        "name": "facts",
        "kind": "attributes",
        "labels": ["negated", "sure.yes", "sure.no"],
        "parent": "drug",
    },
]
TOKENS = "no aspirin or ibuprofen 5 mg".split()
LABELS = {
    "drug": [[1, 2, 3, 4, "CLASS"], [1, 2, "DRUG"], [3, 4, "DRUG"]],
    "dose": [[4, 6, "DOSE"]],
    "gives": [[3, 4, 4, 6, "of"]],
    "same": [[1, 2, 3, 4, "is"]],
    "facts": [[1, 2, "negated"], [1, 2, "sure.no"]],
}
ROW = {
    "text": " ".join(TOKENS),
    "tokens": TOKENS,
    "labels": LABELS,
    "parents": {"gives": ["drug", "dose"], "same": "drug", "facts": "drug"},
    "kinds": {"drug": "spans"},
}


@pytest.fixture
def project():
    return create_project(spec={"name": "doses", "tasks": TASKS})


def _take(project, *rows):
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    import_corpus(
        project=project,
        stream=io.BytesIO(content),
        file_name="f",
        format="jsonl",
        labels="gold",
    )
    return {g.task.name: g.value for g in Gold.objects.filter(task__project=project)}


def test_all_of_it_comes_in_and_goes_out(project):
    assert _take(project, ROW) == LABELS
    written = b"".join(export_corpus(project=project, format="jsonl", labels="final"))
    back = json.loads(written)
    assert {key: back[key] for key in ("labels", "parents", "kinds")} == {
        key: ROW[key] for key in ("labels", "parents", "kinds")
    }


def test_a_task_tells_both_of_its_parents(project):
    gives = describe_project(project)["tasks"][2]
    assert (gives["parent"], gives["second_parent"]) == ("drug", "dose")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"gives": [[4, 6, 3, 4, "of"]]}, "Tokens 4 to 6 ('5 mg') are no span of drug."),
        (
            {"gives": [[1, 2, 4, 6, "of"]], "drug": [[1, 2, "CLASS"]], "same": [], "facts": []},
            "of on 'aspirin -> 5 mg' may link only DRUG to DOSE.",
        ),
        (
            {"facts": [[1, 2, "sure.no"], [1, 2, "sure.yes"]]},
            "'aspirin' is both sure.no and sure.yes; it can be one of them.",
        ),
        ({"facts": [[0, 1, "negated"]]}, "Tokens 0 to 1 ('no') are no span of the answer."),
        (
            {"drug": [[1, 2, 2, 4, "DRUG"]], "same": [], "facts": [], "gives": []},
            "The pieces of [1, 2, 2, 4, 'DRUG'] are not in order with words between them; join "
            "those that touch.",
        ),
    ],
)
def test_an_answer_that_cannot_be_is_refused_with_its_place(project, change, problem):
    tasks = {task.name: task for task in task_specs(project)}
    with pytest.raises(InvalidInput) as refused:
        checked_answers(
            answers={**LABELS, **change},
            wanted=list(tasks),
            tasks=tasks,
            tokens=TOKENS,
            context={},
        )
    assert problem in [each.message for each in refused.value.problems]


def test_spans_in_pieces_and_what_hangs_on_them_teach_nothing(project):
    _take(project, {**ROW, "labels": {**LABELS, "same": [[1, 2, 3, 4, "is"]]}})
    tasks = task_specs(project)
    labels = {**LABELS, "drug": [[1, 2, 3, 4, "CLASS"], [3, 4, "DRUG"]]}
    example = as_example(1, TOKENS, labels, tasks)
    assert example.labels["drug"] == [[3, 4, "DRUG"]]
    assert example.labels["same"] == example.labels["facts"] == []
    assert example.labels["gives"] == [[3, 4, 4, 6, "of"]]
    assert answers_left_out(project, tasks) == {"drug": 1}


def test_of_what_people_say_together_nothing_hangs_on_spans_that_lost(project, django_user_model):
    _take(project, {key: ROW[key] for key in ("text", "tokens")})
    sentence = project.sentences.get()
    tasks = {task.name: task for task in project.tasks.all()}
    given = [
        {"drug": [[1, 2, "DRUG"]], "dose": [[4, 6, "DOSE"]], "gives": [[1, 2, 4, 6, "of"]]},
        {"drug": [[1, 2, "DRUG"]], "dose": [], "gives": []},
        {"drug": [[1, 2, "DRUG"]], "dose": [[4, 6, "FORM"]], "gives": [[1, 2, 4, 6, "of"]]},
    ]
    for number, answers in enumerate(given):
        person = django_user_model.objects.create_user(f"p{number}")
        for name, value in answers.items():
            Annotation.objects.create(
                sentence=sentence,
                task=tasks[name],
                author=person,
                value=value,
                created_at=timezone.now(),
                updated_at=timezone.now(),
            )
    final = final_answers(project)[sentence.pk]
    assert final["drug"].value == [[1, 2, "DRUG"]]
    assert final["dose"].value == []
    assert final["gives"].value == []  # two of three say it, but not between these spans


def test_gold_that_hung_on_spans_that_a_curator_takes_away_goes_along(project):
    _take(project, ROW)
    sentence, now = project.sentences.get(), timezone.now()
    decided = {"drug": [[3, 4, "DRUG"]]}
    decide(project=project, sentence=sentence, answers=decided, decided_by=None, now=now)
    gold = dict(Gold.objects.values_list("task__name", "value"))
    assert gold == {
        **LABELS,
        **decided,
        "gives": [[3, 4, 4, 6, "of"]],
        "same": [],
        "facts": [],
    }
    versions = GoldVersion.objects.order_by("gold__task__name")
    assert [v.gold.task.name for v in versions] == ["drug", "facts", "same"]
    assert versions[1].value == LABELS["facts"]


def test_what_people_agree_on_is_gold_where_all_that_it_hangs_on_is(project, django_user_model):
    _take(project, {key: ROW[key] for key in ("text", "tokens")})
    sentence, now = project.sentences.get(), timezone.now()
    for number in range(2):
        person = django_user_model.objects.create_user(f"p{number}")
        for name, value in LABELS.items():
            Annotation.objects.create(
                sentence=sentence,
                task=project.tasks.get(name=name),
                author=person,
                value=value,
                created_at=now,
                updated_at=now,
            )
    decided = {"drug": [[3, 4, "DRUG"]]}
    decide(project=project, sentence=sentence, answers=decided, decided_by=None, now=now)
    assert settle_agreed(project=project, now=now) == 2
    settled = Gold.objects.filter(source=Gold.Source.AGREED).values_list("task__name", flat=True)
    assert sorted(settled) == ["dose", "gives"]
    assert final_answers(project)[sentence.pk]["facts"].value == []


def test_the_data_page_marks_spans_of_the_first_task_that_has_some(project):
    _take(project, {**ROW, "labels": {"drug": [], "dose": [[4, 6, "DOSE"]]}})
    sentence, tasks = project.sentences.get(), list(project.tasks.all())
    marked = mark_sentence(sentence, tasks, {"drug": [], "dose": [[4, 6, "DOSE"]]})
    assert [(piece.text, piece.label) for piece in marked.pieces if piece.label] == [
        ("5 mg", "DOSE")
    ]


def test_pairs_of_labels_that_no_task_has_are_refused(project):
    gives = project.tasks.get(name="gives")
    update_task(task=gives, changes={"pairs": {"as": [["CLASS", "FORM"]]}})
    with pytest.raises(InvalidInput) as refused:
        update_task(task=gives, changes={"pairs": {"as": [["CLASS", "DRUG"]]}})
    assert [(p.path, p.message) for p in refused.value.problems] == [
        ("pairs.as", "No label 'DRUG'. Known: DOSE, FORM.")
    ]
    with pytest.raises(InvalidInput, match="Only a relations task has pairs"):
        update_task(task=project.tasks.get(name="facts"), changes={"pairs": {"x": [["a", "b"]]}})


def test_the_first_part_of_labels_finds_all_that_begin_with_it(project):
    _take(project, ROW, {**ROW, "labels": {**LABELS, "facts": [[1, 2, "negated"]]}})
    facts = project.tasks.get(name="facts")

    def n_found(label):
        return len(browse_sentences(project, SentenceFilter(task=facts, label=label)).sentences)

    assert [n_found(label) for label in ("negated", "sure.no", "sure", "sur", "sure.yes")] == [
        *(2, 1, 1, 0, 0)
    ]
    assert label_tree(["sure.yes", "a", "sure.no"]) == ["a", "sure", "sure.no", "sure.yes"]
