"""The demo projects, created like any other project and import."""

import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.corpora.imports import import_corpus
from annotation.corpora.report import ImportChoices
from annotation.demo.grammar import DemoSentence, sentences, written
from annotation.demo.templates import NEWS, TRAVEL, Template
from annotation.models import Project
from annotation.projects.services import create_project

N_LABELLED = 30
N_TEST = 150
N_OPEN = 2000
Labels = dict[str, Any]


@dataclass(frozen=True)
class DemoProject:
    """What is needed to create one demo project."""

    spec: dict[str, Any]
    templates: Sequence[Template]
    answers: Callable[[DemoSentence], Labels]
    seed: int


def create_demo_projects(*, owner: Any) -> Iterator[Project]:
    """Yield the demo projects that did not exist and now do, each ready to be annotated."""
    for demo in DEMO_PROJECTS:
        if not Project.objects.filter(name=demo.spec["name"]).exists():
            yield _create(demo, owner)


def _create(demo: DemoProject, owner: Any) -> Project:
    project = create_project(spec=demo.spec, owner=owner)
    test, last = N_LABELLED + N_TEST, N_LABELLED + N_TEST + N_OPEN
    _import(project, demo, "labelled to begin with", first=0, last=N_LABELLED, labelled=True)
    if N_TEST:
        _import(project, demo, "test", first=N_LABELLED, last=test, labelled=True, is_test=True)
    _import(project, demo, "to annotate", first=test, last=last, labelled=False)
    return project


def _import(
    project: Project,
    demo: DemoProject,
    name: str,
    *,
    first: int,
    last: int,
    labelled: bool,
    is_test: bool = False,
) -> None:
    lines = corpus_lines(demo, first=first, last=last, labelled=labelled)
    import_corpus(
        project=project,
        stream=io.BytesIO("".join(lines).encode()),
        file_name=f"{name}.jsonl",
        format="jsonl",
        labels="gold" if labelled else "none",
        name=name,
        choices=ImportChoices(is_test=is_test),
    )


def _news_answers(sentence: DemoSentence) -> Labels:
    return {
        "Entities": sorted(sentence.entities, key=lambda s: (s[0], -s[1], s[2])),
        "Topic": sentence.label,
        "Syntax": sentence.tree,
        "Relations": sentence.relations,
    }


def _travel_answers(sentence: DemoSentence) -> Labels:
    return {"Slots": sentence.slots, "Intent": sentence.label}


NEWS_DESK = DemoProject(
    spec={
        "name": "Demo: news desk",
        "description": "Short news with entities, topic, syntax and relations, made by a grammar.",
        "guidelines": (
            "Mark every name, place, date and amount. The topic is what the sentence is about. "
            "Relations link entities of the same sentence."
        ),
        "tasks": [
            {
                "name": "Entities",
                "kind": "spans",
                "labels": ["PERSON", "ORG", "PLACE", "DATE", "TIME", "MONEY", "PRODUCT"],
            },
            {
                "name": "Topic",
                "kind": "classes",
                "labels": [
                    "business",
                    "politics",
                    "accident",
                    "sport",
                    "culture",
                    "health",
                    "weather",
                ],
            },
            {"name": "Syntax", "kind": "tree", "labels": []},
            {
                "name": "Relations",
                "kind": "relations",
                "parent": "Entities",
                "labels": ["owns", "located in", "works for", "was in", "born in"],
            },
        ],
    },
    templates=NEWS,
    answers=_news_answers,
    seed=2001,
)


TRAVEL_DESK = DemoProject(
    spec={
        "name": "Demo: travel assistant",
        "description": "Questions to a travel assistant with slots and intent, made by a grammar.",
        "guidelines": "Mark each slot with its words and no more. One intent for each question.",
        "tasks": [
            {
                "name": "Slots",
                "kind": "spans",
                "labels": sorted(
                    {s.split(":")[0] for t in TRAVEL for s in t.pattern.split("{")[1:]}
                ),
            },
            {"name": "Intent", "kind": "classes", "labels": sorted({t.label for t in TRAVEL})},
        ],
    },
    templates=TRAVEL,
    answers=_travel_answers,
    seed=2002,
)


DEMO_PROJECTS = (NEWS_DESK, TRAVEL_DESK)


def corpus_lines(project: DemoProject, *, first: int, last: int, labelled: bool) -> Iterator[str]:
    """Yield sentences first to last of a demo project as JSONL, with or without their answers."""
    for i, sentence in enumerate(sentences(project.templates, last, seed=project.seed)):
        if i >= first:
            text, offsets = written(sentence.tokens)
            row: dict[str, Any] = {
                "id": f"{i:05d}",
                "text": text,
                "tokens": sentence.tokens,
                "offsets": offsets,
            }
            if labelled:
                row["labels"] = project.answers(sentence)
            yield json.dumps(row, ensure_ascii=False) + "\n"
