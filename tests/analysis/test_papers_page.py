"""The page of the papers: every item names a study or a test that exists."""

import re
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from annotation.projects.services import create_project

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text()
ROWS = [
    line
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| item", "|---"))
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip()[:40])
def test_every_item_has_a_verdict_and_names_what_gives_it_again(row):
    *_, verdict, by, _ = (cell.strip() for cell in row.split("|"))
    named = re.findall(r"`((?:studies|tests)/[^`]+)`", by)
    assert verdict
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.django_db
def test_the_server_shows_every_item_with_its_studies(client):
    owner = get_user_model().objects.create_superuser("olga")
    spec = {"name": "Harbour", "tasks": [{"name": "t", "kind": "classes", "labels": ["a", "b"]}]}
    project = create_project(spec=spec, owner=owner)
    client.force_login(owner)
    assert reverse("papers", args=[project.pk]) in _shown(client, "studies", project)
    page = _shown(client, "papers", project)
    assert page.count('<th scope="row"') == len(ROWS)
    assert f'href="{reverse("new-study", args=[project.pk, "table6"])}"' in page
    assert "hand-computed vectors agree" in page
    assert "](" not in page


def _shown(client, name, project):
    return client.get(reverse(name, args=[project.pk])).content.decode()


def test_every_study_of_a_paper_is_on_the_page():
    shipped = {path.name for path in (ROOT / "studies").glob("*.toml")}
    of_the_product = {"default_atis.toml", "default_ewt.toml"}
    named = set(re.findall(r"studies/([a-z0-9_]+\.toml)", PAGE))
    assert shipped - of_the_product <= named
