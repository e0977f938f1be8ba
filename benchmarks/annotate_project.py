"""Makes the projects of the annotate page's benchmark; prints how to reach them as JSON.

Run as a process of its own, so that it uses the database of the benchmark's server.
"""

import io
import json
import os
import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import django

N_REFERENCE = 20
N_CYCLES = 120
SHARE_RIGHT = 0.9  # of a suggestion's items, as of a model that is useful but not perfect
TASKS = ("Entities", "Topic", "Syntax", "Relations")


def main() -> None:
    """Migrate an empty database and fill it."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0, interactive=False)
    print(json.dumps(make_projects(*sys.argv[1:2] or [None])))


def make_projects(folder: str | None) -> dict[str, Any]:
    """Return a session of the annotator, and id and right answers of each project."""
    from django.contrib.auth import get_user_model

    from annotation.demo.grammar import sentences
    from annotation.demo.services import NEWS_DESK

    annotator = get_user_model().objects.create_user("ilse")
    demo = list(sentences(NEWS_DESK.templates, N_REFERENCE + N_CYCLES, seed=NEWS_DESK.seed))
    gold = [NEWS_DESK.answers(sentence) for sentence in demo]
    tokens = [sentence.tokens for sentence in demo]
    reference = slice(0, N_REFERENCE)
    guesses = [guess(answers, words, seed) for seed, (answers, words) in enumerate(
        zip(gold[reference], tokens[reference], strict=True)
    )]  # fmt: skip
    long = [long_sentence(60), long_sentence(200)]
    projects = {
        "blank": (tokens[reference], [{}] * N_REFERENCE, gold[reference]),
        "suggested": (tokens[reference], guesses, gold[reference]),
        "right": (tokens[reference], gold[reference], gold[reference]),
        "cycles": (tokens[N_REFERENCE:], gold[N_REFERENCE:], gold[N_REFERENCE:]),
        "long-60": ([long[0][0]] * 2, [long[0][1]] * 2, [{}] * 2),
        "long-200": ([long[1][0]] * 2, [long[1][1]] * 2, [{}] * 2),
    }
    made = {
        name: {"id": _make(name, annotator, NEWS_DESK.spec, *rows), "gold": rows[2],
               "suggestions": rows[1], "tokens": rows[0]}
        for name, rows in projects.items()
    }  # fmt: skip
    _widen(made["long-60"]["id"])
    return {
        "session": _session(annotator),
        "projects": made | (make_atis(annotator, folder) if folder else {}),
    }


def make_atis(annotator: Any, folder: str) -> dict[str, Any]:
    """Return two projects of ATIS: 500 sentences are labelled, 20 others are asked."""
    from django.core.management import call_command
    from django.utils import timezone

    from annotation.models import Gold, Membership, Project, Role, Suggestion
    from annotation.projects.services import create_project
    from annotation.queue.asks import AskRow, put_asks

    tasks = [{"name": "slots", "kind": "spans", "open": True},
             {"name": "intent", "kind": "classes", "open": True}]  # fmt: skip
    made = {}
    for name in ("atis", "atis-right"):
        project: Project = create_project(spec={"name": name, "tasks": tasks})
        Membership.objects.create(project=project, user=annotator, role=Role.ANNOTATOR)
        for part in ("dev", "test"):
            call_command("import_corpus", name, f"{folder}/{part}.conll", "--format", "slu",
                         "--labels", "gold", "--new-labels", "take", "--skip-bad",
                         "--name", part, stdout=io.StringIO(), stderr=io.StringIO())  # fmt: skip
        asked = list(project.sentences.filter(corpus__name="test").order_by("id")[:400:20])
        rows = Gold.objects.filter(sentence__in=asked)
        gold: dict[int, dict[str, Any]] = {sentence.pk: {} for sentence in asked}
        for sentence, task, task_id, value in rows.values_list(
            "sentence_id", "task__name", "task_id", "value"
        ):
            gold[sentence][task] = value
            if name == "atis-right":
                Suggestion.objects.create(sentence_id=sentence, task_id=task_id, value=value,
                                          confidence=0.9, source="benchmark",
                                          created_at=timezone.now())  # fmt: skip
        Gold.objects.filter(sentence__corpus__name="test", sentence__project=project).delete()
        put_asks(project=project, round=None,
                 rows=[AskRow(sentence.pk, ["slots", "intent"]) for sentence in asked])  # fmt: skip
        answers = [gold[sentence.pk] for sentence in asked]
        made[name] = {
            "id": project.pk,
            "gold": answers,
            "suggestions": answers if name == "atis-right" else [{}] * len(asked),
            "tokens": [sentence.tokens for sentence in asked],
        }
    return made


def _widen(project_id: int) -> None:
    """Give the entities of a project 80 labels."""
    from annotation.models import Task
    from annotation.projects.labels import add_labels

    task = Task.objects.get(project=project_id, name="Entities")
    names = [f"group{i % 8}.kind{i}" for i in range(80 - task.labels.count())]
    add_labels(task=task, names=names)


def guess(gold: Mapping[str, Any], tokens: Sequence[str], seed: int) -> dict[str, Any]:
    """Return the right answers with about one item in ten wrong."""
    rng = random.Random(seed)
    m = len(tokens)
    spans = [s if _is_right(rng) else [s[0], s[1], _other(rng, "PERSON ORG PLACE DATE", s[2])]
             for s in gold["Entities"]]  # fmt: skip
    tree = [
        arc if arc[0] == 0 or _is_right(rng) else [_other_head(rng, i, arc[0], m), arc[1]]
        for i, arc in enumerate(gold["Syntax"])
    ]
    topic = gold["Topic"]
    return {
        "Entities": spans,
        "Topic": topic if _is_right(rng) else _other(rng, "business politics sport", topic),
        "Syntax": tree,
        "Relations": [link for link in gold["Relations"] if _is_right(rng)],
    }


def long_sentence(m: int) -> tuple[list[str], dict[str, Any]]:
    """Return m words with suggestions: a tree, spans, and 60 arcs between them at 200 words."""
    rng = random.Random(m)
    tokens = ["".join(rng.choices(["ka", "ri", "mo", "ten", "sul", "va"], k=rng.randint(1, 4)))
              for _ in range(m)]  # fmt: skip
    spans = [[i, i + 2, rng.choice(["PERSON", "ORG", "PLACE"])] for i in range(0, m - 2, 4)]
    links: set[tuple[Any, ...]] = set()
    while len(links) < m * 60 // 200:
        a, b = sorted(rng.sample(range(len(spans)), 2))
        if b - a < 6:
            links.add((*spans[a][:2], *spans[b][:2], "owns"))
    tree = [[0, "root"], *([max(1, i - rng.randint(0, 3)), "dep"] for i in range(1, m))]
    return tokens, {
        "Entities": spans,
        "Syntax": tree,
        "Relations": sorted(list(link) for link in links),
    }


def _make(
    name: str,
    annotator: Any,
    spec: Mapping[str, Any],
    tokens: Iterable[Sequence[str]],
    suggestions: Iterable[Mapping[str, Any]],
    gold: Iterable[Mapping[str, Any]],
) -> int:
    from django.utils import timezone

    from annotation.demo.grammar import written
    from annotation.models import Corpus, Membership, Role, Sentence, Suggestion
    from annotation.projects.labels import add_labels
    from annotation.projects.services import create_project
    from annotation.queue.asks import ask_everything

    project = create_project(spec={**spec, "name": name})
    Membership.objects.create(project=project, user=annotator, role=Role.ANNOTATOR)
    tasks = {task.name: task for task in project.tasks.all()}
    add_labels(task=tasks["Syntax"], names=_tree_labels(gold, suggestions))
    corpus = Corpus.objects.create(project=project, name="demo", format="jsonl")
    for i, (words, guesses) in enumerate(zip(tokens, suggestions, strict=True)):
        text, offsets = written(words)
        sentence = Sentence.objects.create(
            project=project, corpus=corpus, position=i, text=text, tokens=words, offsets=offsets,
            n_tokens=len(words),
        )  # fmt: skip
        Suggestion.objects.bulk_create(
            Suggestion(sentence=sentence, task=tasks[task], value=value, confidence=0.8,
                       source="benchmark", created_at=timezone.now())
            for task, value in guesses.items()
        )  # fmt: skip
    ask_everything(project=project)
    return int(project.pk)


def _tree_labels(*answers: Iterable[Mapping[str, Any]]) -> list[str]:
    trees = (row.get("Syntax", []) for rows in answers for row in rows)
    return sorted({label for tree in trees for _, label in tree})


def _session(user: Any) -> str:
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return str(session.session_key)


def _is_right(rng: random.Random) -> bool:
    return rng.random() < SHARE_RIGHT


def _other(rng: random.Random, names: str, wrong: str) -> str:
    return rng.choice([name for name in names.split() if name != wrong])


def _other_head(rng: random.Random, dep: int, head: int, m: int) -> int:
    return rng.choice([h for h in range(1, m + 1) if h not in (dep + 1, head)])


if __name__ == "__main__":
    main()
