"""What pages do, seen through Django's test client."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from annotation.accounts.services import invite
from annotation.models import Annotation, Membership, Project, Role
from annotation.projects.labels import add_labels
from annotation.projects.selectors import task_progress

pytestmark = pytest.mark.any_database

SETTINGS = {  # what the form of a project's settings cannot do without
    "language": "en",
    "overlap": 1,
    "lease_minutes": 20,
    "check_share": 0,
    "work_minutes": 0,
    "weekly_hours": 0,
    "hour_price": 0,
    "currency": "EUR",
}


@pytest.fixture
def page(client, ada, harbour):
    """A function that opens or sends a page of the project as its owner."""
    client.force_login(ada)

    def page(name, *args, data=None, **query):
        address = reverse(name, args=[harbour.pk, *args])
        return client.get(address, query) if data is None else client.post(address, data)

    return page


def test_progress_counts_a_sentence_with_gold_and_an_answer_once(harbour, ada, bob):
    entities, topic = harbour.tasks.get(name="entities"), harbour.tasks.get(name="topic")
    first, second = harbour.sentences.order_by("position")
    now = timezone.now()
    for task, author in ((entities, ada), (topic, ada), (topic, bob)):
        Annotation.objects.create(
            sentence=first, task=task, author=author, value=[], created_at=now, updated_at=now
        )
    counts = {p.task.name: (p.n_gold, p.n_answered) for p in task_progress(harbour)}
    assert counts["entities"] == (2, 2)
    assert counts["topic"] == (0, 1)
    assert counts["tree"] == (0, 0)
    assert second.position == 1


@pytest.mark.parametrize(
    ("query", "positions"),
    [
        ({}, [1, 2]),
        ({"text": "HAPPENED"}, [2]),
        ({"state": "gold"}, [1, 2]),
        ({"state": "open"}, []),
        ({"label": "LOC", "task": "entities"}, [1]),
        ({"number": "2"}, [2]),
        ({"number": "9"}, [1, 2]),
        ({"from": "nonsense"}, [1, 2]),
    ],
)
def test_the_data_page_finds_sentences(page, harbour, query, positions):
    if "task" in query:
        query = {**query, "task": harbour.tasks.get(name=query["task"]).pk}
    rows = page("data", **query).context["rows"]
    assert [row.sentence.position + 1 for row in rows] == positions


def test_a_search_for_a_label_asks_for_its_task(page):
    assert "Choose the task of the label as well." in page("data", label="LOC").content.decode()


def test_settings_are_changed_and_bad_ones_explained(page, harbour):
    values = {**SETTINGS, "name": "Quay", "language": "de", "overlap": 2}
    assert page("settings", data=values).status_code == 302
    harbour.refresh_from_db()
    assert (harbour.name, harbour.overlap, harbour.shows_suggestions) == ("Quay", 2, False)
    response = page("settings", data={**values, "overlap": 0})
    assert response.status_code == 400
    assert "greater than or equal to 1" in response.content.decode()


def test_a_name_that_another_project_of_theirs_has_is_refused(page, harbour):
    Project.objects.create(name="Taken", created_by=harbour.created_by)
    values = {**SETTINGS, "name": "Taken"}
    response = page("settings", data=values)
    assert response.status_code == 400
    assert "There is a project &#x27;Taken&#x27; already." in response.content.decode()


def test_a_project_is_deleted_only_when_its_name_is_typed(page, harbour):
    response = page("delete-project", data={"typed_name": "harbour"})
    assert response.status_code == 400
    assert Project.objects.filter(pk=harbour.pk).exists()
    assert page("delete-project", data={"typed_name": "Harbour"}).status_code == 302
    assert not Project.objects.filter(pk=harbour.pk).exists()


def _label_rows(task, **changes):
    """Return the posted rows of a task's labels, with (colour, key) changed for some."""
    n = task.labels.count()
    data = {"name": task.name, "form-INITIAL_FORMS": n, "form-TOTAL_FORMS": n}
    for i, label in enumerate(task.labels.all()):
        colour, key = changes.get(label.name, (label.colour, label.key))
        data |= {f"form-{i}-name": label.name, f"form-{i}-colour": colour, f"form-{i}-key": key}
    return data


def test_a_label_gets_another_colour_and_key(page, harbour):
    task = harbour.tasks.get(name="entities")
    data = {**_label_rows(task, PER=(13, "q")), "target": "0.85", "guidelines": "Longest span."}
    assert page("edit-task", task.pk, data=data).status_code == 302
    label = task.labels.get(name="PER")
    task.refresh_from_db()
    assert (label.colour, label.key) == (13, "q")
    assert (task.target_score, task.guidelines) == (0.85, "Longest span.")


def test_a_task_of_very_many_labels_can_be_edited(page, harbour):
    task = harbour.tasks.get(name="entities")
    add_labels(task=task, names=[f"label {i}" for i in range(1_200)])
    assert page("edit-task", task.pk, data=_label_rows(task, PER=(13, "p"))).status_code == 302
    assert task.labels.get(name="PER").colour == 13


@pytest.mark.parametrize(
    ("key", "words"),
    [("a", "cannot be used for"), ("l", "has the key"), ("7", "cannot be used for")],
)
def test_a_key_with_another_meaning_is_refused_at_its_label(page, harbour, key, words):
    task = harbour.tasks.get(name="entities")
    response = page("edit-task", task.pk, data=_label_rows(task, PER=(0, key)))
    assert response.status_code == 400
    assert words in response.content.decode()
    assert task.labels.get(name="PER").key == "p"


def test_a_template_with_other_labels_makes_a_project_with_the_pairs_that_still_fit(client, ada):
    client.force_login(ada)
    fresh = client.get(reverse("new-project"), {"template": "entities-relations"})
    rows = fresh.context["formset"]
    data = {"name": "Papers", "language": "en"}
    data |= {field.html_name: field.value() for field in rows.management_form}
    for row in rows:
        data |= {field.html_name: field.value() or "" for field in row}
    data["form-0-labels"] = "PER\nORG\nPLACE"
    data["form-1-labels"] = "works_for\nowns\nlocated_in"
    assert client.post(reverse("new-project"), data).status_code == 302
    links = Project.objects.get(name="Papers").tasks.get(name="relations")
    assert links.pairs == {"works_for": [["PER", "ORG"]]}


@pytest.mark.parametrize(
    ("pairs", "words"), [("no JSON", "valid JSON"), ('{"owns": [1]}', "Each relation has a list")]
)
def test_what_is_wrong_with_a_hidden_field_is_said_at_its_task(client, ada, pairs, words):
    client.force_login(ada)
    data = {"name": "Papers", "language": "en", "form-TOTAL_FORMS": 1, "form-INITIAL_FORMS": 0}
    data |= {"form-0-name": "topic", "form-0-kind": "classes", "form-0-labels": "calm\nangry"}
    data["form-0-pairs"] = pairs
    answer = client.post(reverse("new-project"), data)
    assert answer.status_code == 400
    assert words in answer.content.decode()


def test_a_task_is_added_later_and_links_the_only_spans(page, harbour):
    data = {"name": "owns", "kind": "relations", "labels": "owns\nrents", "parent": ""}
    assert page("new-task", data=data).status_code == 302
    task = harbour.tasks.get(name="owns")
    assert task.parent.name == "entities"
    assert [label.name for label in task.labels.all()] == ["owns", "rents"]
    response = page("new-task", data=data)
    assert "The task &#x27;owns&#x27; is there already." in response.content.decode()


def test_the_last_owner_stays_an_owner(page, harbour):
    membership = harbour.memberships.get()
    response = page("change-member", membership.pk, data={"role": "annotator"})
    assert response.status_code == 302
    membership.refresh_from_db()
    assert membership.role == Role.OWNER


def test_an_owner_changes_roles_removes_people_and_withdraws_links(page, harbour, ada, bob):
    membership = Membership.objects.create(project=harbour, user=bob, role=Role.ANNOTATOR)
    page("change-member", membership.pk, data={"role": "curator"})
    membership.refresh_from_db()
    assert membership.role == Role.CURATOR
    page("change-member", membership.pk, data={"remove": "1"})
    assert not harbour.memberships.filter(user=bob).exists()
    invited = invite(project=harbour, role=Role.OWNER, invited_by=ada, now=timezone.now())
    page("withdraw", invited.invitation.pk, data={})
    assert not harbour.invitations.exists()


def test_the_link_of_an_invitation_is_shown_once_and_kept_nowhere(page, harbour):
    data = {"note": "night shift", "role": "annotator", "days": "7"}
    link = page("members", data=data).context["link"].address
    assert link.startswith("http://testserver/invitations/")
    token = link.rstrip("/").rsplit("/", 1)[-1]
    assert harbour.invitations.get().token_hash != token
    assert token not in page("members").content.decode()


def test_only_an_admin_makes_a_sign_in_link_for_a_member(client, page, harbour, admin):
    membership = harbour.memberships.get()
    assert page("let-in", membership.pk, data={}).status_code == 403
    client.force_login(admin)
    link = page("let-in", membership.pk, data={}).context["link"].address
    client.logout()
    client.post(link)
    assert client.get("/account/").context["user"] == membership.user


def test_a_format_without_room_for_the_answers_says_so_instead_of_a_file(page):
    response = page("export", data={"format": "conll2003", "labels": "gold", "tasks": ["topic"]})
    assert response.status_code == 400
    assert "no place for task 'topic'" in response.context["form"].non_field_errors()[0]


def test_a_file_that_is_no_text_is_explained_by_its_line(page, harbour):
    noise = SimpleUploadedFile("noise.bin", b"\x00\x01\x02" * 50)
    response = page("import", data={"file": noise, "format": "auto", "labels": "gold"})
    assert "noise.bin:1" in response.content.decode()
    assert harbour.corpora.count() == 1


@pytest.mark.parametrize("name", ["404.html", "403.html", "403_csrf.html", "500.html"])
def test_error_pages_need_nothing_that_may_be_broken(name):
    assert "To your projects" in render_to_string(name)


def test_the_theme_cookie_takes_no_other_values(client):
    client.post("/theme/", {"theme": "dark", "next": "https://elsewhere.example/"})
    assert client.cookies["theme"].value == "dark"
    response = client.post("/theme/", {"theme": '"><script>', "next": "//elsewhere.example"})
    assert client.cookies["theme"].value == ""
    assert response["Location"] == "/"
