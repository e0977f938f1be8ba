"""Working styles: off by default, silent with little data, described with enough."""

import pytest

from analysis.methods.sequential_lda import working_styles
from annotation.errors import Refused
from annotation.jobs.insights import run_insight, start_insight
from annotation.models import Membership, Role
from annotation.projects.services import update_project
from annotation.queue.asks import ask_everything
from tests.annotation.queue.conftest import NOON, Desk, minutes, new_project

pytestmark = pytest.mark.django_db

ACCEPTING = ["accept", "accept", "submit"]
CORRECTING = ["reject", "span", "label", "span", "label", "class", "submit"]


def _work(desk, name, kinds, n):
    person = desk.person(name)
    for i in range(n):
        lease = desk.take(person, now=minutes(i))
        actions = [{"at": j, "kind": kind, "task": None} for j, kind in enumerate(kinds)]
        desk.submit(person, lease, now=minutes(i), seconds=5.0, actions=actions)


@pytest.fixture
def desk():
    project = new_project(n_sentences=60)
    ask_everything(project=project, now=NOON)
    return Desk(project)


def _page(client, desk):
    owner = Membership.objects.filter(project=desk.project, role=Role.OWNER).first()
    client.force_login(owner.user if owner else desk.person("olga", Role.OWNER))
    return client.get(f"/projects/{desk.project.pk}/working-styles/").content.decode()


def _compute(desk):
    update_project(project=desk.project, changes={"shows_working_styles": True})
    job = start_insight(project=desk.project, name="working_styles", settings={}, created_by=None)
    run_insight(job, lambda stage, n_done, n_total: None)


def test_styles_are_shown_only_after_an_owner_has_switched_them_on(client, desk):
    assert "Switched off" in _page(client, desk)
    with pytest.raises(Refused, match="switched off"):
        start_insight(project=desk.project, name="working_styles", settings={}, created_by=None)
    update_project(project=desk.project, changes={"shows_working_styles": True})
    assert "not computed yet" in _page(client, desk)
    _compute(desk)
    assert "Too early to say" in _page(client, desk)


def test_two_ways_of_working_are_told_apart_without_a_verdict(client, desk):
    _work(desk, "ann", ACCEPTING, 25)
    _work(desk, "ben", CORRECTING, 25)
    _compute(desk)
    page = _page(client, desk)
    assert "Style 2" in page
    assert "reject → span → label" in page
    for name in ("ann", "ben"):
        assert f'<th scope="row" class="breaks">{name}</th>' in page
    assert "there is newer data" not in page
    _work(desk, "cem", ACCEPTING, 1)
    assert "there is newer data" in _page(client, desk)


def test_the_page_computes_nothing(client, desk, monkeypatch):
    _work(desk, "ann", ACCEPTING, 25)
    monkeypatch.setattr(working_styles, "find_working_styles", pytest.fail)
    update_project(project=desk.project, changes={"shows_working_styles": True})
    assert "not computed yet" in _page(client, desk)
