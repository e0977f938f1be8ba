"""Labels are changed on their page."""

import pytest

from annotation.models import Gold
from annotation.projects.services import update_task

pytestmark = pytest.mark.any_database


@pytest.fixture
def change(client, harbour, ada):
    client.force_login(ada)
    task = harbour.tasks.get(name="entities")
    address = f"/projects/{harbour.pk}/labels/?task={task.pk}"

    def change(which, action, **values):
        label = task.labels.get(name=which).pk
        body = {"label": label, "action": action, **values}
        return client.post(address, body, follow=True).content.decode()

    change.task, change.address = task, address
    return change


def _used():
    return {row[2] for value in Gold.objects.values_list("value", flat=True) for row in value}


def test_a_label_is_renamed_and_the_log_undoes_it(client, change):
    change("LOC", "rename", name="PLACE")
    assert _used() == {"PER", "PLACE"}
    entry = change.task.project.log.get(action="label.renamed").pk
    client.post(change.address, {"action": "undo", "entry": entry})
    assert _used() == {"PER", "LOC"}


def test_the_log_calls_the_fields_of_a_task_as_its_form_does(client, change, ada):
    update_task(task=change.task, changes={"target_score": 0.9, "guidelines": "x"}, actor=ada)
    page = client.get(change.address).content.decode()
    assert "changed guidelines, target score of entities" in page
    assert "target_score" not in page


def test_a_merge_is_shown_before_it_happens(client, change):
    per, loc = (change.task.labels.get(name=name).pk for name in ("PER", "LOC"))
    page = client.get(change.address, {"label": [loc, per], "into": per}).content.decode()
    assert "in 1 sentence: 1 gold" in page
    assert _used() == {"PER", "LOC"}
    change("LOC", "merge", into=per)
    assert _used() == {"PER"}


def test_a_label_is_retired_moved_and_brought_back(change):
    assert "retired" in change("PER", "retire")
    change("PER", "down")
    assert [label.name for label in change.task.labels.all()] == ["LOC", "PER"]
    change("PER", "restore")
    assert not change.task.labels.filter(is_retired=True).exists()


def test_what_is_retired_or_removed_comes_back_from_the_log(client, change):
    change("PER", "retire")
    client.post(change.address, {"action": "add", "labels": "SHIP\n"})
    change("SHIP", "remove")
    assert "in 0 answers and 1 gold answers" in change("LOC", "remove")
    for entry in change.task.project.log.filter(action__in=["label.retired", "label.removed"]):
        client.post(change.address, {"action": "undo", "entry": entry.pk})
    labels = dict(change.task.labels.values_list("name", "is_retired"))
    assert labels == {"PER": False, "LOC": False, "SHIP": False}


def test_labels_are_sorted_and_given_keys_by_use(client, change):
    client.post(change.address, {"action": "add", "labels": "POLE\nLORRY"})
    change("LOC", "up")
    client.post(change.address, {"action": "order"})
    client.post(change.address, {"action": "keys"})
    names = [label.name for label in change.task.labels.all()]
    assert names == ["LOC", "PER", "POLE", "LORRY"]
    keys = dict(change.task.labels.values_list("name", "key"))
    assert (keys["LOC"], keys["PER"]) == ("l", "p")


def test_a_task_is_renamed_hidden_and_deleted_only_by_its_name(client, harbour, ada):
    client.force_login(ada)
    task = harbour.tasks.get(name="entities")
    address = f"/projects/{harbour.pk}/tasks/{task.pk}/"
    form = client.get(address)
    rows = form.context["formset"]
    body = {
        **{f"{row.prefix}-{name}": row[name].value() for row in rows for name in row.fields},
        **{f"form-{name}": rows.management_form[name].value() for name in ("TOTAL_FORMS",)},
        "form-INITIAL_FORMS": len(rows.forms),
        "name": "names",
        "is_nested": "on",
    }
    assert client.post(address, body).status_code == 302
    task.refresh_from_db()
    assert (task.name, task.is_nested, task.is_open) == ("names", True, False)
    assert (
        b"Hide the tasks that link names first"
        in client.post(f"{address}end/", {"action": "hide"}, follow=True).content
    )
    harbour.tasks.get(name="links").delete()
    client.post(f"{address}end/", {"action": "hide"})
    task.refresh_from_db()
    assert task.is_hidden
    client.post(f"{address}end/", {"action": "delete", "typed_name": "entities"})
    assert harbour.tasks.filter(name="names").exists()
    client.post(f"{address}end/", {"action": "delete", "typed_name": "names"})
    assert not harbour.tasks.filter(name="names").exists()
