"""A new format is one file beside the others: it is detected, read, checked, written, offered."""

import shutil
import sys
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.urls import reverse

import annotation.formats
from annotation.formats.format import detect, find_formats, formats
from annotation.models import Gold
from annotation.projects.services import create_project
from tests.annotation.queue.conftest import Desk

LINES = "greet|good morning\nleave|see you later\n"
SPEC = {
    "name": "Doors",
    "tasks": [{"name": "Intent", "kind": "classes", "labels": ["greet", "leave"]}],
}


@pytest.fixture(autouse=True)
def _pipes(tmp_path, monkeypatch):
    """Put the file into the package, as a release would, for as long as a test runs."""
    folder = tmp_path / "formats"
    folder.mkdir()
    shutil.copy(Path(__file__).parent / "pipes.py", folder)
    monkeypatch.setattr(annotation.formats, "__path__", [*annotation.formats.__path__, str(folder)])
    find_formats.cache_clear()
    yield
    find_formats.cache_clear()
    del sys.modules["annotation.formats.pipes"], annotation.formats.pipes


@pytest.fixture
def desk(db):
    owner = get_user_model().objects.create_user("owner")
    return Desk(create_project(spec=SPEC, owner=owner))


def _file(tmp_path, text):
    path = tmp_path / "day.pipes"
    path.write_text(text)
    return path


def test_it_is_found_last_and_files_in_it_are_told_from_plain_text():
    assert list(formats())[-1] == "pipes"
    assert detect("day.pipes", LINES.encode()) == "pipes"
    assert detect("day.txt", b"good morning\n") == "text"


def test_a_file_comes_in_is_answered_and_leaves_in_it(desk, tmp_path):
    call_command(
        "import_corpus", "Doors", str(_file(tmp_path, LINES)), format="pipes", labels="gold"
    )
    assert list(Gold.objects.order_by("sentence__position").values_list("value", flat=True)) == [
        "greet",
        "leave",
    ]
    more = tmp_path / "more.pipes"
    more.write_text("|good evening\n")
    call_command("import_corpus", "Doors", str(more), format="pipes", labels="none")
    ann = desk.person("ann")
    desk.submit(ann, desk.take(ann), {"Intent": "greet"})
    out = tmp_path / "out.pipes"
    call_command("export_corpus", "Doors", format="pipes", output=out)
    assert out.read_text() == LINES + "greet|good evening\n"


def test_a_wrong_line_is_told_and_nothing_is_stored(desk, tmp_path):
    path = _file(tmp_path, "greet|good morning\nleave\n")
    with pytest.raises(CommandError, match=r"day.pipes:2: no pipe in 'leave'; write INTENT"):
        call_command("import_corpus", "Doors", str(path), format="pipes", labels="gold")
    assert not desk.project.corpora.exists()


def test_pages_offer_it(desk, client):
    client.force_login(get_user_model().objects.get(username="owner"))
    for page in ("import", "export"):
        shown = client.get(reverse(page, args=[desk.project.pk])).content.decode()
        assert "Intents before a pipe" in shown, page
