import pytest

from annotation.models import Annotation, Flag, Lease, Submission
from tests.annotation.queue.conftest import ANSWERS
from tests.annotation.web.conftest import Caller, token_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def lease(call, desk):
    return call.expect(200, "POST", f"projects/{desk.project.pk}/next/")


def submit(call, lease, key="k1", **changes):
    body = {"token": lease["token"], "answers": ANSWERS, "seconds": 4.5, **changes}
    return call("POST", f"leases/{lease['id']}/submit/", body, idempotency_key=key)


def test_a_lease_has_everything_the_page_shows(lease, desk):
    assert set(lease) == {
        "id", "token", "expires_at", "heartbeat_seconds", "ask", "sentence", "answers", "draft",
        "draft_version", "draft_saved_at", "suggestions", "counts", "note",
    }  # fmt: skip
    assert lease["heartbeat_seconds"] == 180
    assert lease["sentence"]["tokens"] == ["Ann", "visits", "Rome", "."]
    assert (lease["sentence"]["before"], lease["sentence"]["after"]) == ("", "Ann visits Rome.")
    assert lease["counts"] == {
        "left": 5, "done": 0, "skipped": 0, "minutes": 0.0, "budget_minutes": None,
    }  # fmt: skip


def test_the_text_around_stays_within_its_document(call, desk):
    desk.project.sentences.filter(position=1).update(document="another")
    lease = call("POST", f"projects/{desk.project.pk}/next/")
    assert lease["sentence"]["after"] == ""


def test_next_says_204_when_nothing_is_left(call, desk):
    desk.project.queues.all().delete()
    call.expect(204, "POST", f"projects/{desk.project.pk}/next/")
    call.expect(204, "GET", f"projects/{desk.project.pk}/peek/")


def test_peek_shows_the_ask_after_the_current_one(call, desk, lease):
    peeked = call.expect(200, "GET", f"projects/{desk.project.pk}/peek/")
    assert set(peeked) == {"ask", "sentence", "suggestions"}
    assert peeked["ask"]["rank"] == 2


def test_a_submit_and_its_retry_get_the_same_body(call, lease):
    first = submit(call, lease)
    assert call.last.status_code == 200
    assert set(first) == {"submission", "saved_at", "counts"}
    assert submit(call, lease) == first
    assert Submission.objects.count() == 1


def test_key_order_does_not_make_another_request(call, lease):
    first = submit(call, lease)
    again = call.expect(
        200,
        "POST",
        f"leases/{lease['id']}/submit/",
        {"seconds": 4.5, "answers": dict(reversed(ANSWERS.items())), "token": lease["token"]},
        idempotency_key="k1",
    )
    assert again == first


def test_a_key_with_another_body_is_unprocessable(call, lease):
    submit(call, lease)
    submit(call, lease, seconds=9.0)
    assert call.last.status_code == 422
    assert call.last.json()["error"]["code"] == "key_reused"


@pytest.mark.parametrize("key", ["", "x" * 65])
def test_a_submit_needs_a_key_of_1_to_64_characters(call, lease, key):
    body = {"token": lease["token"], "answers": ANSWERS}
    path = f"leases/{lease['id']}/submit/"
    error = call.refused(400, "invalid", "POST", path, body, idempotency_key=key)
    assert "Idempotency-Key" in error["fields"]


def test_wrong_answers_are_told_field_by_field(call, lease):
    submit(call, lease, answers={"entities": [[0, 1, "DOG"]], "links": []})
    error = call.last.json()["error"]
    assert (call.last.status_code, error["code"]) == (400, "invalid")
    assert set(error["fields"]) == {"entities.0", "topic"}
    assert "DOG" in error["fields"]["entities.0"][0]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("answers", [1]),
        ("seconds", -1),
        ("seconds", "4"),
        ("actions", [{"kind": "x"}]),
        ("actions", [{"at": 1, "kind": "x" * 41}]),
        ("actions", [{"at": 1, "kind": "x", "more": 1}]),
        ("suggestions", {"topic": {"seen": -1}}),
        ("suggestions", {"topic": {"liked": 1}}),
        ("surplus", 1),
    ],
)
def test_a_malformed_field_is_named(call, lease, field, value):
    submit(call, lease, **{field: value})
    fields = call.last.json()["error"]["fields"]
    assert next(iter(fields)).split(".")[0] == field


def test_a_late_submit_shows_both_versions(call, desk, lease):
    submit(call, lease)
    submit(call, lease, key="k2", answers={**ANSWERS, "topic": "other"})
    error = call.last.json()["error"]
    assert (call.last.status_code, error["code"]) == (409, "lease_lost")
    assert error["details"]["current"] == ANSWERS
    assert error["details"]["yours"]["topic"] == "other"


def test_drafts_say_which_version_is_newer(call, lease):
    path = f"leases/{lease['id']}/draft/"
    saved = call.expect(
        200, "PUT", path, {"token": lease["token"], "draft": {"a": [1]}, "version": 2}
    )
    assert saved["version"] == 2
    error = call.refused(
        409, "stale_draft", "PUT", path, {"token": lease["token"], "draft": {}, "version": 1}
    )
    assert error["details"]["draft"] == {"a": [1]}
    assert error["details"]["version"] == 2


def test_a_draft_has_at_most_256_kilobytes(call, lease):
    body = {"token": lease["token"], "draft": "x" * 262_144, "version": 1}
    error = call.refused(400, "invalid", "PUT", f"leases/{lease['id']}/draft/", body)
    assert set(error["fields"]) == {"draft"}


def test_a_submit_has_at_most_a_megabyte(call, lease):
    actions = [{"at": 1, "kind": "key", "detail": "x" * 190}] * 6_000
    body = {"token": lease["token"], "answers": ANSWERS, "actions": actions}
    path = f"leases/{lease['id']}/submit/"
    error = call.refused(400, "invalid", "POST", path, body, idempotency_key="k1")
    assert "too many" in str(error)
    assert not Submission.objects.exists()


def test_rules_are_told_of_whatever_is_sent_and_nothing_is_kept(call, lease):
    path = f"leases/{lease['id']}/findings/"
    for odd in (None, 1, "x", [], [None], {"a": 1}, [[9, 9, "x"]], [[[]]]):
        answers = dict.fromkeys([*lease["answers"], *lease["ask"]["tasks"], "nowhere"], odd)
        found = call.expect(200, "POST", path, {"answers": answers})
        assert found["findings"] == []
    call.refused(400, "invalid", "POST", path, {"answers": 1})


def test_heartbeat_skip_and_release_speak_of_the_lease(call, desk, lease):
    token = {"token": lease["token"]}
    path = f"leases/{lease['id']}"
    assert "expires_at" in call.expect(200, "POST", f"{path}/heartbeat/", token)
    call.refused(409, "lease_lost", "POST", f"{path}/heartbeat/", {"token": "old"})
    call.refused(400, "invalid", "POST", f"{path}/skip/", {**token, "reason": " "})
    call.expect(200, "POST", f"{path}/release/", token)
    again = call("POST", f"projects/{desk.project.pk}/next/")
    skipped = call.expect(
        200, "POST", f"{path}/skip/", {"token": again["token"], "reason": "Not a sentence."}
    )
    assert skipped["counts"]["skipped"] == 1


def test_undo_gives_the_answers_back(call, desk, lease):
    receipt = submit(call, lease)
    reopened = call.expect(200, "POST", f"submissions/{receipt['submission']}/reopen/")
    assert reopened["answers"] == ANSWERS
    submit(call, reopened, key="k2", answers={**ANSWERS, "topic": "other"})
    assert Annotation.objects.get(task__name="topic").versions.count() == 1


def test_own_answers_are_looked_at_without_being_taken_up(call, desk, lease):
    receipt = submit(call, lease)
    seen = call.expect(200, "GET", f"submissions/{receipt['submission']}/")
    assert seen["answers"] == ANSWERS
    assert seen["sentence"]["tokens"] == lease["sentence"]["tokens"]
    assert Lease.objects.get().state == Lease.State.SUBMITTED
    other = Caller(token_for(desk.person("ben")))
    other.refused(404, "not_found", "GET", f"submissions/{receipt['submission']}/")


def test_a_flag_reaches_the_curators(call, lease):
    path = f"sentences/{lease['sentence']['id']}/flag/"
    call.expect(201, "POST", path, {"comment": "Cut in half."})
    assert Flag.objects.get().comment == "Cut in half."
    call.refused(400, "invalid", "POST", path, {"comment": ""})


def test_history_goes_back_page_by_page(call, desk):
    path = f"projects/{desk.project.pk}"
    for i in range(3):
        submit(call, call("POST", f"{path}/next/"), key=f"k{i}")
    first = call.expect(200, "GET", f"{path}/history/?limit=2")
    second = call.expect(200, "GET", f"{path}/history/?limit=2&cursor={first['next']}")
    ids = [entry["submission"] for entry in first["results"] + second["results"]]
    assert ids == sorted(ids, reverse=True)
    assert len(ids) == 3
    assert second["next"] is None


def test_nobody_sees_anothers_lease_submission_or_project(call, desk, lease):
    receipt = submit(call, lease)
    stranger = Caller(token_for(desk.person("mallory")))
    desk.project.memberships.filter(user__username="mallory").delete()
    token = {"token": lease["token"]}
    for method, path, body in [
        ("POST", f"projects/{desk.project.pk}/next/", None),
        ("GET", f"projects/{desk.project.pk}/", None),
        ("GET", f"projects/{desk.project.pk}/history/", None),
        ("POST", f"leases/{lease['id']}/heartbeat/", token),
        ("GET", f"submissions/{receipt['submission']}/", None),
        ("POST", f"submissions/{receipt['submission']}/reopen/", None),
        ("POST", f"sentences/{lease['sentence']['id']}/flag/", {"comment": "x"}),
    ]:
        stranger.refused(404, "not_found", method, path, body)


def test_a_project_lists_its_tasks_labels_and_ones_role(call, desk):
    project = call.expect(200, "GET", f"projects/{desk.project.pk}/")
    assert (project["name"], project["role"], project["n_sentences"]) == (
        "Journeys",
        "annotator",
        5,
    )
    assert [task["name"] for task in project["tasks"]] == ["entities", "links", "topic"]
    assert project["tasks"][1]["parent"] == "entities"
    label = project["tasks"][0]["labels"][0]
    assert set(label) == {"id", "name", "colour", "key", "description", "is_retired"}
