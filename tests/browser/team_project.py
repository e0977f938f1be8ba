"""A project of ten rounds and five people, made of rows: nothing is trained.

Accuracies, paces and scores are drawn by a seed, so that every page has something true to show:
people who differ, one who is careless, gold checks, disputes, a model that learns.
"""

import io
import random
from datetime import timedelta

import numpy as np
from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from annotation.adjudication.people import refresh_people
from annotation.jobs.insights import get_insight, inputs_hash, keep_insight
from annotation.models import (
    Annotation,
    Ask,
    Corpus,
    Gold,
    Lease,
    Membership,
    Progress,
    Queue,
    Role,
    Round,
    Sentence,
    Submission,
    Suggestion,
)
from annotation.projects.services import create_project
from annotation.rounds.settings import RoundSettings
from annotation.rounds.workspace import SCORES, Workspace

TASKS = [
    {"name": "Entities", "kind": "spans", "labels": ["PER", "ORG", "LOC"], "target": 0.85},
    {
        "name": "Topic",
        "kind": "classes",
        "labels": ["delay", "arrival", "storm"],
        "target": 0.9,
    },
    {"name": "Syntax", "kind": "tree", "labels": ["root", "nsubj", "obj", "obl"]},
]
PEOPLE = {"ilse": 0.95, "tomas": 0.9, "noor": 0.85, "bram": 0.8, "yara": 0.6}
NAMES = {
    "PER": ["Ann", "Omar", "Lena"],
    "ORG": ["Acme", "Shell", "Maersk"],
    "LOC": ["Rome", "Bergen", "Accra"],
}
STEPS = {  # how each of them works
    "ilse": ["suggestion.accept", "suggestion.accept", "suggestion.accept", "class.choose"],
    "tomas": ["suggestions.accept"],
    "noor": ["span.add", "span.add", "class.choose", "tree.attach", "tree.attach"],
    "bram": ["span.add", "span.relabel", "class.choose", "tree.attach", "delete", "tree.attach"],
    "yara": ["span.add", "undo", "span.add", "class.choose", "undo", "redo", "tree.attach"],
}
TOPICS = {"delay": "waits", "arrival": "reaches", "storm": "flees"}


@transaction.atomic
def make_team(owner, *, n_rounds=10, per_round=12, n_pool=60, seed=7, name="Harbour team"):
    """Return the project, with people, answers, rounds and stored reports."""
    rng = random.Random(seed)
    project = create_project(spec={"name": name, "tasks": TASKS, "overlap": 2}, owner=owner)
    project.check_share = 10
    project.save()
    users = get_user_model().objects
    people = {who: users.create_user(who) for who in PEOPLE}
    for user in people.values():
        Membership.objects.create(project=project, user=user, role=Role.ANNOTATOR)
    sentences = _sentences(project, rng, n_rounds * per_round + 24 + n_pool)
    tasks = {task.name: task for task in project.tasks.all()}
    start = timezone.now() - timedelta(days=7 * n_rounds)
    rest = iter(sentences)
    known = [next(rest) for _ in range(24)]
    _gold(tasks, known, start)
    for number in range(1, n_rounds + 1):
        at = start + timedelta(days=7 * number)
        asked = [next(rest) for _ in range(per_round)]
        _round(project, number, asked, known, people, tasks, rng, at, is_last=number == n_rounds)
    _pool(Round.objects.get(project=project, number=n_rounds), project, list(rest), rng)
    store_reports(project)
    return project


def store_reports(project):
    """Compute and store what the worker would."""
    refresh_people(project)
    for kind in map(get_insight, ("quality", "forecast", "agreement")):
        compute = import_string(kind.compute)
        keep_insight(
            project=project,
            kind=kind,
            settings={},
            inputs=inputs_hash(kind, project, {}),
            result=compute(project, kind.settings(), lambda *args: None),
        )


def store_research(project):
    """Compute and store working styles, and keep advice as it was measured."""
    project.shows_working_styles = True
    project.save()
    effects = [("Entities", "Topic", 1.5, 0.4, 2.6), ("Topic", "Syntax", -0.8, -1.4, -0.2)]
    names = ("source", "target", "points", "low", "high")
    targets = [("Topic", "accuracy", 90.0, 91.5), ("Syntax", "LAS", 70.0, 69.2)]
    advice = {
        "effects": [dict(zip(names, effect, strict=True)) for effect in effects],
        "targets": [
            {"task": t, "metric": m, "alone": a, "together": b, "n_labelled": 60, "parent": None}
            for t, m, a, b in targets
        ],
        "too_few": {"Entities": 12},
        "method": "trained",
        "n_trainings": 15,
        "n_seeds": 5,
        "cpu_seconds": 1.0,
    }
    styles = get_insight("working_styles")
    found = import_string(styles.compute)(project, styles.settings(), lambda *args: None)
    for kind, settings, result in (
        (styles, {}, found),
        (get_insight("advice"), {"method": "trained"}, advice),
    ):
        inputs = inputs_hash(kind, project, settings)
        keep_insight(project=project, kind=kind, settings=settings, inputs=inputs, result=result)


def _sentences(project, rng, n):
    corpus = Corpus.objects.create(project=project, name="notices", format="text", n_sentences=n)
    rows = []
    for i in range(n):
        first, second = rng.choice(list(NAMES)), rng.choice(list(NAMES))
        topic = rng.choice(list(TOPICS))
        tokens = [rng.choice(NAMES[first]), TOPICS[topic], rng.choice(NAMES[second]), f"no{i}"]
        text = " ".join(tokens)
        ends = np.cumsum([len(t) + 1 for t in tokens]) - 1
        rows.append(
            Sentence(
                project=project,
                corpus=corpus,
                position=i,
                text=text,
                tokens=tokens,
                offsets=[[int(e - len(t)), int(e)] for t, e in zip(tokens, ends, strict=True)],
                n_tokens=4,
                extra={"truth": [first, second, topic]},
            )
        )
    return Sentence.objects.bulk_create(rows)


def truth(sentence):
    """Return the right answers to a sentence."""
    first, second, topic = sentence.extra["truth"]
    return {
        "Entities": [[0, 1, first], [2, 3, second]],
        "Topic": topic,
        "Syntax": [[2, "nsubj"], [0, "root"], [2, "obj"], [2, "obl"]],
    }


def answers_of(sentence, accuracy, rng):
    """Return what a person of some accuracy says of a sentence."""
    right = truth(sentence)
    if rng.random() > accuracy:
        right["Topic"] = rng.choice(list(TOPICS))
    if rng.random() > accuracy:
        right["Entities"] = [[0, 1, rng.choice(list(NAMES))], *right["Entities"][1:]]
    if rng.random() > accuracy:
        right["Syntax"] = [*right["Syntax"][:3], [3, "obl"]]
    return right


def _gold(tasks, sentences, now):
    Gold.objects.bulk_create(
        Gold(sentence=s, task=tasks[name], value=value, source="imported", updated_at=now)
        for s in sentences
        for name, value in truth(s).items()
    )


def _round(project, number, asked, known, people, tasks, rng, at, *, is_last):
    found = Round.objects.create(
        project=project,
        number=number,
        state="labelling" if is_last else "done",
        config=RoundSettings().to_dict(),
        stages=_stages(number, rng),
        finished_at=at,
    )
    Round.objects.filter(pk=found.pk).update(created_at=at)
    queue = Queue.objects.create(
        project=project,
        round=found,
        is_current=is_last,
        overlap=2,
        n_asks=len(asked),
        budget_minutes=60,
        created_at=at,
        opened_at=at,
    )
    names = [task["name"] for task in TASKS]
    for rank, sentence in enumerate(asked, 1):
        is_left = is_last and rank > len(asked) // 2
        ask = Ask.objects.create(
            queue=queue,
            sentence=sentence,
            rank=rank,
            tasks=names,
            overlap=2,
            n_answers=0 if is_left else 2,
            is_open=is_left,
            is_random=rank % 4 == 0,
            is_blind=rank % 5 == 0,
            reason={"why": "Drawn by chance." if rank % 4 == 0 else "unsure of Entities"},
            predicted_seconds=40,
        )
        _suggest(sentence, tasks, found, number, rng, at)
        if is_left:
            continue
        chosen = [list(people)[(rank + number) % 5], list(people)[(rank + number + 2) % 5]]
        for who in chosen:
            _answer(project, ask, people[who], PEOPLE[who], tasks, rng, at)
    for i, who in enumerate(people):
        check = Ask.objects.create(
            queue=queue,
            sentence=known[(number + 5 * i) % len(known)],
            rank=len(asked) + i + 1,
            tasks=names,
            overlap=32767,
            n_answers=1,
            is_open=False,
            is_check=True,
        )
        _answer(project, check, people[who], PEOPLE[who], tasks, rng, at)


def _answer(project, ask, person, accuracy, tasks, rng, at):
    now = at + timedelta(minutes=rng.randrange(1, 600))
    seconds = rng.uniform(20, 60) / (0.5 + accuracy)
    lease = Lease.objects.create(
        ask=ask, project=project, annotator=person, token="", state="submitted",
        claimed_at=now, expires_at=now,
    )  # fmt: skip
    Submission.objects.create(
        project=project, lease=lease, annotator=person, number=1, key=f"{ask.pk}-{person.pk}",
        request_hash="", counts={}, seconds=seconds, submitted_at=now,
        actions=[
            {"at": i, "kind": kind, "task": None}
            for i, kind in enumerate(STEPS[person.username])
        ],
        suggestions={} if ask.is_blind else {"Topic": _taken(rng)},
    )  # fmt: skip
    for name, value in answers_of(ask.sentence, accuracy, rng).items():
        Annotation.objects.get_or_create(
            sentence=ask.sentence, task=tasks[name], author=person,
            defaults={"value": value, "created_at": now, "updated_at": now},
        )  # fmt: skip
    own, _ = Progress.objects.get_or_create(queue=ask.queue, annotator=person)
    own.n_done += 1
    own.seconds += seconds
    own.save()


def _taken(rng):
    return {"seen": 1, "accepted": int(rng.random() < 0.8)}


def _suggest(sentence, tasks, found, number, rng, at):
    for name, value in answers_of(sentence, 0.4 + 0.05 * number, rng).items():
        Suggestion.objects.create(
            sentence=sentence, task=tasks[name], value=value, source="model", round=found,
            confidence=0.6, created_at=at,
        )  # fmt: skip


def _stages(number, rng):
    """Return what a round's stages would have found: scores that rise and flatten."""
    scores, control, ledger = {}, {}, {}
    for name, top in (("Entities", 0.84), ("Topic", 0.95), ("Syntax", 0.72)):
        score = top - 0.45 * 0.75**number
        low, high = score - 0.05, min(1.0, score + 0.05)
        bins = [[0.35, 0.45, 20], [0.55, 0.66, 50], [0.75, 0.84, 80], [0.9, 0.97, 50]]
        better = [[c, c + 0.01, n] for c, _, n in bins]
        rest = {
            "overconfidence": 0.0,
            "calibration_error": 0.09,
            "mean_confidence": 0.7,
            "mean_accuracy": 0.79,
        }
        scores[name] = {
            "score": score, "interval": [low, high], "metrics": {}, "n": 200,
            "calibration": {"bins": bins, **rest}, "calibration_scaled": {"bins": better, **rest},
        }  # fmt: skip
        control[name] = {"score": score - 0.03, "interval": [low - 0.03, high - 0.03]}
        verdict = "better" if name == "Entities" else "equal"
        interval = [0.01 if verdict == "better" else -0.02, 0.06]
        ledger[name] = {"difference": 0.03, "interval": interval, "verdict": verdict}
    n = 24 + 12 * number
    return {
        "training": {
            "is_seed": False, "n_train": n, "n_dev": 4, "n_test": 200,
            "n_labelled": {task["name"]: n for task in TASKS},
            "temperatures": {task["name"]: 1.3 for task in TASKS},
            "scores": scores, "cpu_seconds": 30.0,
            "control": {"scores": control, "n_labelled": 12 + 4 * number, "ledger": ledger},
        },
        "scoring": {"tasks": [task["name"] for task in TASKS], "n_pool": 60, "needs": {}},
        "selecting": {},
    }  # fmt: skip


def _pool(found, project, rest, rng):
    """Keep the scores of the pool, as the scoring stage would."""
    asked = list(
        Ask.objects.filter(queue__round=found, is_check=False).values_list("sentence_id", flat=True)
    )
    ids = np.array([*asked, *(sentence.pk for sentence in rest)])
    drawn = np.random.default_rng(rng.randrange(1000))
    content = io.BytesIO()
    np.savez(content, ids=ids, confidence=drawn.uniform(0.3, 1.0, (len(ids), len(TASKS))))
    Workspace.of(found)._write(SCORES, content.getvalue())
