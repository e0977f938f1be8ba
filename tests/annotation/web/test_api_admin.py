"""REST of owners and curators: projects, data, people, rounds, adjudication."""

import json

import pytest
from django.contrib.auth import get_user_model
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotation.jobs.worker import JobWorker
from annotation.models import Annotation, Gold, GoldVersion, Membership, Role, Sentence

pytestmark = pytest.mark.django_db
SPEC = {
    "name": "Tickets",
    "tasks": [
        {"name": "Entities", "kind": "spans", "labels": ["PER", "ORG"]},
        {"name": "Links", "kind": "relations", "parent": "Entities", "labels": ["works for"]},
        {"name": "Topic", "kind": "classes", "labels": ["sales", "support"]},
    ],
}
JSONL = (
    b'{"id": "1", "tokens": ["Ann", "joined", "Acme"], "text": "Ann joined Acme"}\n'
    b'{"id": "2", "tokens": ["Call", "Ben"], "text": "Call Ben"}\n'
)


@pytest.fixture
def owner():
    return get_user_model().objects.create_user("owner")


@pytest.fixture
def api(client, owner):
    client.force_login(owner)
    return client


@pytest.fixture
def project_id(api):
    return _post(api, "/api/projects/", SPEC).json()["id"]


def _post(api, path, body, **options):
    return api.post(path, json.dumps(body), content_type="application/json", **options)


def _import(api, project_id, **changes):
    fields = {"file": SimpleUploadedFile("a.jsonl", JSONL), "format": "jsonl", "labels": "none"}
    return api.post(f"/api/projects/{project_id}/corpora/", {**fields, **changes})


def test_a_project_is_made_listed_and_changed(api, project_id):
    listed = api.get("/api/projects/").json()["results"]
    row = {"id": project_id, "name": "Tickets", "state": "active", "role": "owner"}
    assert listed == [row]
    changed = api.patch(
        f"/api/projects/{project_id}/", {"overlap": 2}, content_type="application/json"
    )
    assert changed.json()["overlap"] == 2


def test_a_bad_project_is_refused_field_by_field(api):
    answer = _post(api, "/api/projects/", {"name": "X", "tasks": [{"name": "T", "kind": "span"}]})
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "invalid"
    assert any(path.startswith("tasks.0") for path in answer.json()["error"]["fields"])


def test_a_body_that_is_no_table_is_refused(api):
    assert _post(api, "/api/projects/", [1, 2]).status_code == 400


def test_a_file_is_looked_at_then_imported_browsed_and_exported(api, project_id):
    looked = _import(api, project_id, is_dry_run="true")
    assert looked.status_code == 200
    assert Sentence.objects.count() == 0
    assert _import(api, project_id).status_code == 201
    rows = api.get(f"/api/projects/{project_id}/sentences/?text=acme").json()["results"]
    assert [row["text"] for row in rows] == ["Ann joined Acme"]
    file = api.get(f"/api/projects/{project_id}/export/?format=jsonl&labels=none")
    lines = b"".join(file.streaming_content).splitlines()
    assert [json.loads(line)["text"] for line in lines] == ["Ann joined Acme", "Call Ben"]


def test_bad_rows_of_a_file_come_back_with_their_lines_and_nothing_is_stored(api, project_id):
    broken = SimpleUploadedFile("b.jsonl", JSONL + b"{not json}\n")
    answer = _import(api, project_id, file=broken)
    assert answer.status_code == 400
    assert "b.jsonl:3" in answer.json()["error"]["fields"]["file"][0]
    assert Sentence.objects.count() == 0


def test_unknown_formats_and_corpora_are_named_with_the_known_ones(api, project_id):
    answer = _import(api, project_id, format="conllx")
    assert "Did you mean 'conllu'" in answer.json()["error"]["fields"]["format"][0]
    answer = api.get(f"/api/projects/{project_id}/export/?format=jsonl&corpus=none")
    assert answer.status_code == 400


def test_people_are_invited_given_roles_and_removed(api, project_id):
    invited = _post(api, f"/api/projects/{project_id}/invitations/", {"role": "annotator"})
    assert invited.status_code == 201
    assert invited.json()["path"].startswith("/invitations/")
    ben = get_user_model().objects.create_user("ben")
    row = Membership.objects.create(project_id=project_id, user=ben, role=Role.ANNOTATOR)
    path = f"/api/projects/{project_id}/members/{row.pk}/"
    answer = api.patch(path, {"role": "curator"}, content_type="application/json")
    assert answer.json()["role"] == "curator"
    assert api.delete(path).status_code == 204
    assert [
        m["user"] for m in api.get(f"/api/projects/{project_id}/members/").json()["results"]
    ] == ["owner"]


def test_a_round_is_launched_followed_and_cancelled(api, project_id):
    _import(api, project_id)
    refused = _post(api, f"/api/projects/{project_id}/rounds/", {})
    assert refused.status_code == 409
    assert "import a corpus first" in refused.json()["error"]["message"]
    more = b"".join(b'{"text": "line %d"}\n' % i for i in range(30))
    assert _import(api, project_id, file=SimpleUploadedFile("more.jsonl", more)).status_code == 201
    bad = _post(api, f"/api/projects/{project_id}/rounds/", {"strategy": "MT-PARR"})
    assert bad.status_code == 400
    launched = _post(api, f"/api/projects/{project_id}/rounds/", {"amount": 5, "unit": "sentences"})
    assert (launched.status_code, launched.json()["state"]) == (201, "queued")
    again = _post(api, f"/api/projects/{project_id}/rounds/", {})
    assert again.status_code == 409
    cancelled = _post(api, f"/api/projects/{project_id}/rounds/1/cancel/", {})
    assert cancelled.json()["state"] == "cancelled"
    assert api.get(f"/api/projects/{project_id}/rounds/1/asks/").json()["results"] == []


@pytest.fixture
def disputed(api, project_id, owner):
    _import(api, project_id)
    now = timezone.now()
    people = [get_user_model().objects.create_user(name) for name in ("ann", "ben")]
    sentence = Sentence.objects.get(key="1")
    answers = {
        "Entities": ([[0, 1, "PER"], [2, 3, "ORG"]], [[0, 1, "PER"]]),
        "Topic": ("sales", "sales"),
    }
    from annotation.models import Task

    for name, values in answers.items():
        task = Task.objects.get(name=name)
        for person, value in zip(people, values, strict=True):
            Annotation.objects.create(
                sentence=sentence, task=task, author=person, value=value,
                created_at=now, updated_at=now,
            )  # fmt: skip
    return sentence


def test_disputes_come_with_their_differences_and_are_decided(api, project_id, disputed):
    disputed.project.hides_names = False
    disputed.project.save()
    listed = api.get(f"/api/projects/{project_id}/adjudication/").json()
    assert listed["total"] == 1
    assert listed["results"][0]["tasks"] == ["Entities"]
    path = f"/api/projects/{project_id}/adjudication/{disputed.pk}/"
    (entities, topic) = api.get(path).json()["tasks"]
    assert entities["differences"] == [{"item": [2, 3, "ORG"], "people": ["ann"]}]
    assert topic["differences"] == []
    gold = {"Entities": [[0, 1, "PER"], [2, 3, "ORG"]], "Links": [[0, 1, 2, 3, "works for"]]}
    assert _post(api, path, {"answers": gold}).json() == {"gold": {"Entities": 1, "Links": 1}}
    assert api.get(f"/api/projects/{project_id}/adjudication/").json()["total"] == 0
    found = _post(api, path, {"answers": {"Entities": []}}).json()
    assert found == {"gold": {"Entities": 2, "Links": 2}}  # what hangs on the spans goes with them
    assert GoldVersion.objects.get(gold__task__name="Entities").value == gold["Entities"]


def test_gold_obeys_the_rules_of_answers(api, project_id, disputed):
    path = f"/api/projects/{project_id}/adjudication/{disputed.pk}/"
    answer = _post(api, path, {"answers": {"Entities": [[0, 9, "PER"]]}})
    assert answer.status_code == 400
    assert "Entities.0" in answer.json()["error"]["fields"]
    answer = _post(api, path, {"answers": {"Topics": "sales"}})
    assert "Did you mean 'Topic'?" in answer.json()["error"]["fields"]["Topics"][0]
    assert not Gold.objects.exists()


def test_what_people_agree_on_becomes_gold_by_itself(project_id, disputed):
    from annotation.adjudication.services import settle_agreed
    from annotation.models import Project

    project = Project.objects.get(pk=project_id)
    assert settle_agreed(project=project, now=timezone.now()) == 1
    assert settle_agreed(project=project, now=timezone.now()) == 0
    gold = Gold.objects.get()
    assert (gold.value, gold.source) == ("sales", "agreed")


def test_agreement_is_reported_per_task(api, project_id, disputed):
    address = f"/api/projects/{project_id}/agreement/"
    before = api.get(address).json()
    assert before == {"tasks": {}, "computed_at": None, "is_current": False}
    assert api.post(address).status_code == 202
    JobWorker().run_all()
    stored = api.get(address).json()
    assert stored["is_current"]
    report = stored["tasks"]
    assert report["Topic"]["scores"]["accuracy"]["value"] == 1
    assert report["Entities"]["scores"]["f1"]["value"] == pytest.approx(2 / 3)
    assert "Nobody has answered" in report["Links"]["reason"]


def test_a_case_names_nobody_by_rest_until_it_is_decided(api, project_id, disputed):
    sentence = api.get(f"/api/projects/{project_id}/adjudication/").json()["results"][0]["sentence"]
    address = f"/api/projects/{project_id}/adjudication/{sentence}/"
    people = set(Annotation.objects.values_list("author__username", flat=True))
    case = api.get(address).json()
    assert case["is_blind"]
    named = {name for task in case["tasks"] for name in task["answers"]}
    named |= {
        name for task in case["tasks"] for row in task["differences"] for name in row["people"]
    }
    assert named == {"Person A", "Person B"}
    assert not named & people
    answers = {task["task"]: next(iter(task["answers"].values())) for task in case["tasks"]}
    assert (
        api.post(address, {"answers": answers}, content_type="application/json").status_code == 200
    )
    case = api.get(address).json()
    assert not case["is_blind"]
    assert {name for task in case["tasks"] for name in task["answers"]} <= people
