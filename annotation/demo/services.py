"""The demo's two projects, as a project file and as corpora in Tandem's own JSONL."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.demo.grammar import DemoSentence, sentences, written
from annotation.demo.templates import NEWS, TRAVEL, Template

Labels = dict[str, Any]


@dataclass(frozen=True)
class DemoProject:
    """What is needed to create one demo project."""

    spec: dict[str, Any]
    templates: Sequence[Template]
    answers: Callable[[DemoSentence], Labels]
    seed: int


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
                "labels": ["business", "politics", "accident", "sport", "culture"],
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
