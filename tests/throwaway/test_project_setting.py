"""A setting of a project is one described field of the model, and its column."""

import pytest
from django.db import connection, models
from django.urls import reverse
from drf_spectacular.generators import SchemaGenerator

from annotation.models import Project
from annotation.models.project import described
from annotation.projects.selectors import describe_project
from annotation.projects.services import create_project
from annotation.projects.spec import read_toml
from annotation.web import serializers
from tests.openapi import WATCH, Checker

FILE = """
name = "Mail"
{line}
[[tasks]]
name = "topic"
kind = "classes"
labels = ["work", "home"]
"""


@pytest.fixture
def _loudness(db, django_db_blocker, monkeypatch):
    """Add a setting as a release would: a field, and the column that its migration makes."""
    field = described(
        models.PositiveSmallIntegerField(default=3),
        title="Loudness",
        help="Of nothing.",
        section="Sound",
        low=1,
        high=11,
    )
    Project.add_to_class("loudness", field)
    with connection.schema_editor(atomic=True) as editor:
        editor.add_field(Project, field)
    serializers._message.cache_clear()
    checker = Checker(SchemaGenerator().get_schema(request=None, public=True))
    monkeypatch.setattr(WATCH, "checker", lambda: checker)
    yield
    with connection.schema_editor(atomic=True) as editor:
        editor.remove_field(Project, field)
    Project._meta.local_fields.remove(field)
    Project._meta._expire_cache()
    del Project.loudness
    serializers._message.cache_clear()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_loudness")
def test_a_setting_that_is_added_in_one_place_is_everywhere(client, django_user_model):
    ada = django_user_model.objects.create_superuser("ada", password="countess-1843")
    client.force_login(ada)
    assert create_project(spec=read_toml(FILE.format(line=""))).loudness == 3
    Project.objects.all().delete()
    project = create_project(spec=read_toml(FILE.format(line="loudness = 7")), owner=ada)
    assert describe_project(project)["loudness"] == 7

    address = f"/api/projects/{project.pk}/"
    assert client.get(address).json()["loudness"] == 7
    body = {"loudness": 12}
    answer = client.patch(address, body, content_type="application/json")
    assert answer.status_code == 400
    assert "12" in answer.content.decode()
    body = {"loudness": 11}
    answer = client.patch(address, body, content_type="application/json")
    assert answer.json()["loudness"] == 11

    page = reverse("settings", args=[project.pk])
    shown = client.get(page).content.decode()
    assert "<h2>Sound</h2>" in shown
    assert 'name="loudness" value="11"' in shown
    assert "Of nothing." in shown
    values = {**describe_project(project), "loudness": 5}
    form = {key: value for key, value in values.items() if not isinstance(value, bool)}
    assert client.post(page, form).status_code == 302
    project.refresh_from_db()
    assert project.loudness == 5
    assert client.post(page, {**form, "loudness": 0}).status_code == 400

    schemas = SchemaGenerator().get_schema(request=None, public=True)["components"]["schemas"]
    about = schemas["NewProjectBodyRequest"]["properties"]["loudness"]
    assert (about["minimum"], about["maximum"], about["default"]) == (1, 11, 3)
    assert about["description"] == "Loudness. Of nothing."
    assert schemas["ProjectMessage"]["properties"]["loudness"] == {"type": "integer"}
    assert "loudness" in schemas["ProjectMessage"]["required"]
