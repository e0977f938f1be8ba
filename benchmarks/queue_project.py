"""Makes a project with a full queue and people to work on it; prints how to reach it as JSON.

Run as a process of its own, so that one benchmark can use several databases.
"""

import argparse
import json
import os
from typing import Any

import django

WORDS = "the ferry from Harbour Town to Long Island leaves at seven on Monday morning".split()
TEXT = " ".join(WORDS)


def main() -> None:
    """Migrate an empty database and fill it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--annotators", type=int, default=8)
    parser.add_argument("--overlap", type=int, default=1)
    parser.add_argument("--lease-minutes", type=int, default=15)
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    print(json.dumps(make_project(**vars(options))))


def make_project(
    *, sentences: int, annotators: int, overlap: int, lease_minutes: int
) -> dict[str, object]:
    """Return the new project's id and a token for each of its annotators."""
    from django.contrib.auth import get_user_model
    from django.core.management import call_command
    from django.utils import timezone

    from annotation.models import Membership, Role
    from annotation.services.api_tokens import create_token
    from annotation.services.asking import ask_everything
    from annotation.services.projects import create_project

    call_command("migrate", verbosity=0, interactive=False)
    users = get_user_model().objects
    owner = users.create_user("owner")
    project = create_project(spec={**SPEC, "overlap": overlap}, owner=owner)
    project.lease_minutes = lease_minutes
    project.save()
    add_sentences(project, sentences)
    ask_everything(project=project)
    tokens = []
    for i in range(annotators):
        user = users.create_user(f"annotator-{i}")
        Membership.objects.create(project=project, user=user, role=Role.ANNOTATOR)
        tokens.append(
            create_token(user=user, name="load", scope="annotate", now=timezone.now()).secret
        )
    return {"project": project.pk, "tokens": tokens}


SPEC = {
    "name": "Ferries",
    "tasks": [
        {"name": "Entities", "kind": "spans", "labels": ["PLACE", "TIME", "DAY"]},
        {
            "name": "Links",
            "kind": "relations",
            "parent": "Entities",
            "labels": ["to", "at"],
        },
        {"name": "Topic", "kind": "classes", "labels": ["travel", "other"]},
    ],
}
ANSWERS = {
    "Entities": [[3, 5, "PLACE"], [6, 8, "PLACE"], [10, 11, "TIME"], [12, 13, "DAY"]],
    "Links": [[3, 5, 6, 8, "to"]],
    "Topic": "travel",
}


def add_sentences(project: Any, n: int) -> None:
    """Give a project n sentences of fourteen words."""
    from annotation.models import Corpus
    from annotation.rows import run_many

    corpus = Corpus.objects.create(project=project, name="ferries", format="text", n_sentences=n)
    offsets, at = [], 0
    for word in WORDS:
        offsets.append([at, at + len(word)])
        at += len(word) + 1
    columns = (TEXT, json.dumps(WORDS), json.dumps(offsets), len(WORDS), False, "{}")
    for start in range(0, n, 20_000):
        rows = range(start, min(start + 20_000, n))
        run_many(_INSERT, [(project.pk, corpus.pk, i, "", "", *columns) for i in rows])


_INSERT = """
    INSERT INTO annotation_sentence (project_id, corpus_id, position, key, document, text, tokens,
        offsets, n_tokens, is_test, extra)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"""


if __name__ == "__main__":
    main()
