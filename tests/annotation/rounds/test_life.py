"""A project's life by REST: from the first import to the last file, and nothing left behind."""

import gzip
import io
import json
import random
import uuid

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from annotation.models import Annotation, LogEntry, Sentence
from config.home import home
from tests.annotation.rounds.conftest import TINY

WORDS = "ferry harbour storm captain island ticket morning bridge letter garden".split()
PLACES = "Harwick Calder Velden Norvik Oakham".split()
FORMATS = ("jsonl", "csv", "tsv", "slu", "conllu", "doccano", "labelstudio")  # with both kinds
SECONDS = 20.0


class Person:
    """Somebody who works by REST."""

    def __init__(self, user):
        self.client = Client()
        self.client.force_login(user)

    def call(self, method, path, body=None, *, expect=(200, 201, 202, 204), **headers):
        response = self.client.generic(
            method, f"/api/{path}", json.dumps(body or {}), "application/json", headers=headers
        )
        assert response.status_code in expect, (method, path, response.content[:500])
        return response.json() if response.content else None

    def take(self, project):
        return self.call("POST", f"projects/{project}/next/")

    def submit(self, lease, answers, seconds=SECONDS):
        body = {"token": lease["token"], "answers": answers, "seconds": seconds}
        key = {"Idempotency-Key": uuid.uuid4().hex}
        return self.call("POST", f"leases/{lease['id']}/submit/", body, **key)


def sentence(rng):
    words = rng.choices(WORDS, k=rng.randint(4, 9))
    words.insert(rng.randrange(len(words)), rng.choice(PLACES))
    return " ".join(words) + " ."


def truth(lease, place="PLACE"):
    """Return the right answers to what an ask wants."""
    tokens = lease["sentence"]["tokens"]
    spans = [[i, i + 1, place] for i, token in enumerate(tokens) if token in PLACES]
    right = {"Names": spans, "Topic": "sea" if "ferry" in tokens else "land"}
    return {task: right[task] for task in lease["ask"]["tasks"]}


@pytest.mark.django_db(transaction=True)
def test_a_project_lives_from_import_to_erasure_by_rest(work):
    make = get_user_model().objects
    boss = Person(make.create_superuser("boss"))
    ann_user, ben_user = make.create_user("ann"), make.create_user("ben")
    labels = [{"name": name} for name in ("PLACE", "SPOT", "TIME")]
    tasks = [
        {"name": "Names", "kind": "spans", "labels": labels},
        {"name": "Topic", "kind": "classes", "labels": ["sea", "land"]},
    ]
    project = boss.call("POST", "projects/", {"name": "Coast", "tasks": tasks})["id"]
    for user in (ann_user, ben_user):
        link = boss.call("POST", f"projects/{project}/invitations/", {"role": "annotator"})
        client = Client()
        client.force_login(user)
        assert client.post(link["path"]).status_code in (200, 302)
    ann, ben = Person(ann_user), Person(ben_user)

    # Imported without labels, asked at once: each wording once, a fragment last.
    rng = random.Random(3)
    texts = list(dict.fromkeys(sentence(rng) for _ in range(150)))
    file = io.BytesIO("\n".join(["yes", *texts, texts[0]]).encode())
    file.name = "coast.txt"
    sent = {"file": file, "format": "text", "labels": "none", "name": "coast"}
    answer = boss.client.post(f"/api/projects/{project}/corpora/", sent)
    assert answer.status_code == 201, answer.content
    asked, first = [], []
    for _ in range(24):
        lease = ann.take(project)
        asked.append(lease["sentence"]["text"])
        first.append(lease)
        spot = "SPOT" if len(asked) % 3 == 0 else "PLACE"
        ann.submit(lease, truth(lease, spot))
    assert len(set(asked)) == 24
    assert "yes" not in asked

    # A skip by both people takes a sentence out, a flag comes back with an answer.
    for person in (ann, ben):
        lease = person.take(project)
        skip = {"token": lease["token"], "reason": "half a line", "kind": "broken"}
        person.call("POST", f"leases/{lease['id']}/skip/", skip)
    assert Sentence.objects.exclude(left_out="").count() == 1
    flagged = first[0]["sentence"]["id"]
    ann.call("POST", f"sentences/{flagged}/flag/", {"comment": "Is this a place?"})
    flag = boss.call("GET", f"projects/{project}/flags/")["results"][0]
    resolved = {"outcome": "answered", "answer": "It is."}
    boss.call("POST", f"projects/{project}/flags/{flag['id']}/resolve/", resolved)
    assert ann.call("GET", f"projects/{project}/news/")["flags"][0]["answer"] == "It is."

    # A round of 30 minutes takes 30 minutes of recorded time.
    settings = {**TINY, "unit": "minutes", "amount": 30, "test_size": 20}
    boss.call("POST", f"projects/{project}/rounds/", settings)
    work()
    one = boss.call("GET", f"projects/{project}/rounds/1/")
    assert one["state"] == "labelling", one
    seconds, n_asks = 0.0, 0
    while (lease := ben.take(project)) is not None:
        expected = lease["ask"]["predicted_seconds"]
        assert lease["sentence"]["text"] not in asked
        ben.submit(lease, truth(lease), seconds=expected)
        seconds, n_asks = seconds + expected, n_asks + 1
    assert n_asks > 10
    assert 0.5 * 30 * 60 < seconds <= 30 * 60

    # A label is renamed and another merged into it: every answer follows.
    described = boss.call("GET", f"projects/{project}/")
    names = next(task for task in described["tasks"] if task["name"] == "Names")
    ids = {label["name"]: label["id"] for label in names["labels"]}
    route = f"projects/{project}/tasks/{names['id']}/labels"
    boss.call("PATCH", f"{route}/{ids['PLACE']}/", {"name": "LOCATION"})
    boss.call("POST", f"{route}/{ids['SPOT']}/merge/", {"into": ids["PLACE"]})
    values = Annotation.objects.filter(task=names["id"]).values_list("value", flat=True)
    assert {item[2] for value in values for item in value} == {"LOCATION"}

    # A second round, then a look at single answers.
    boss.call("POST", f"projects/{project}/rounds/", {**TINY, "amount": 5})
    work()
    lease = ann.take(project)
    ann.submit(lease, {**truth(lease, "LOCATION")})
    found = boss.call("GET", f"projects/{project}/reviews/?task=Topic&person=ann")
    kept = found["results"][0]
    boss.call("POST", f"projects/{project}/answers/{kept['id']}/", {"decision": "kept"})

    # Every format's final file says what was answered.
    answers = {
        row.sentence.text: row.value
        for row in Annotation.objects.filter(task__name="Names").select_related("sentence")
    }
    files = {}
    for name in FORMATS:
        answer = boss.client.get(f"/api/projects/{project}/export/?format={name}")
        assert answer.status_code == 200, name
        files[name] = b"".join(answer.streaming_content).decode()
        n_items = sum(map(len, answers.values()))
        assert files[name].count("LOCATION") >= n_items, name
        assert "PLACE" not in files[name].replace("LOCATION", "")
    rows = [json.loads(line) for line in files["jsonl"].splitlines()]
    labelled = {row["text"]: row["labels"]["Names"] for row in rows if "Names" in row["labels"]}
    assert labelled == answers

    # Deleted, and nothing is left on the disk.
    boss.call("DELETE", f"projects/{project}/", {"name": "Coast"})
    assert LogEntry.objects.filter(action="project.deleted").exists()
    left = b"".join(
        gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for folder in (home().rounds, home().exports, home().root / "uploads")
        for path in folder.rglob("*")
        if path.is_file()
    )
    assert not [text for text in texts if text.encode() in left]
    assert not any(json.dumps(text.split())[1:-1].encode() in left for text in texts)
