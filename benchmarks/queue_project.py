"""Makes a project with a full queue and people to work on it; prints how to reach it as JSON.

Run as a process of its own, so that one benchmark can use several databases.
"""

import argparse
import json
import os
from typing import Any

import django

WORDS = "the ferry from Harbour Town to Long Island leaves at seven on Monday morning".split()


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

    from annotation.accounts.services import create_token
    from annotation.adjudication.services import decide
    from annotation.models import Membership, Role
    from annotation.projects.services import create_project
    from annotation.queue.asks import ask_everything

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
    beside = create_project(spec={**SPEC, "name": "Beside"}, owner=owner)
    beside.tasks.filter(name="Topic").update(is_open=True)
    rounds = create_project(spec={**SPEC, "name": "Rounds"}, owner=owner)
    add_sentences(rounds, 400, is_numbered=True)
    for sentence in rounds.sentences.order_by("pk")[:60]:
        topic = {"Topic": ["travel", "other"][sentence.pk % 2]}
        decide(
            project=rounds, sentence=sentence, answers=topic, decided_by=owner, now=timezone.now()
        )
    manager = create_token(user=owner, name="beside", scope="manage", now=timezone.now()).secret
    return {
        "project": project.pk,
        "tokens": tokens,
        "beside": beside.pk,
        "rounds": rounds.pk,
        "owner": manager,
    }


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


def add_sentences(project: Any, n: int, *, is_numbered: bool = False) -> None:
    """Give a project n sentences of fourteen words; numbered ones differ in the last."""
    from django.db import transaction

    from annotation.archive.tables import insert_rows
    from annotation.models import Corpus, Sentence

    corpus = Corpus.objects.create(project=project, name="ferries", format="text", n_sentences=n)
    for start in range(0, n, 20_000):
        rows = range(start, min(start + 20_000, n))
        with transaction.atomic():
            insert_rows(
                Sentence,
                COLUMNS.split(),
                [
                    (project.pk, corpus.pk, i, "", "", *_columns(i if is_numbered else None))
                    for i in rows
                ],
            )


def _columns(number: int | None) -> tuple[object, ...]:
    words = WORDS if number is None else [*WORDS[:-1], f"{WORDS[-1]}{number}"]
    offsets, at = [], 0
    for word in words:
        offsets.append([at, at + len(word)])
        at += len(word) + 1
    return (" ".join(words), json.dumps(words), json.dumps(offsets), len(words), False, "{}")


COLUMNS = "project_id corpus_id position key document text tokens offsets n_tokens is_test extra"


if __name__ == "__main__":
    main()
