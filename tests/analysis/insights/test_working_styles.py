"""Working styles: off by default, silent with little data, described with enough."""

import re

import pytest

from analysis.insights.working_styles import ACTIONS, shown_styles
from analysis.methods.sequential_lda import working_styles
from annotation.errors import Refused
from annotation.jobs.insights import run_insight, start_insight
from annotation.models import Membership, Role
from annotation.projects.services import update_project
from annotation.queue.asks import ask_everything
from annotation.web.languages import ROOT
from tests.annotation.queue.conftest import NOON, Desk, minutes, new_project

pytestmark = pytest.mark.django_db

ACCEPTING = ["suggestion.accept", "suggestion.accept", "suggestion.accept"]
CORRECTING = ["span.add", "span.relabel", "span.add", "span.resize", "class.choose", "undo"]


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


def test_two_ways_of_working_are_told_apart_in_plain_words_without_a_verdict(client, desk):
    _work(desk, "ann", ACCEPTING, 25)
    _work(desk, "ben", CORRECTING, 25)
    _compute(desk)
    page = _page(client, desk)
    assert "Checks suggestions one by one" in page
    assert "Goes back and forth" in page
    assert "accepts a suggestion <b>× 3</b>" in page  # a typical sentence, step by step
    assert "What to do with it" in page
    assert page.count('<svg class="stacked"') == 2  # a picture of each
    for raw in ("suggestion.accept", "span.add", ">undo<"):
        assert raw not in page
    for name in ("ann", "ben"):
        assert f'<th scope="row" class="breaks">{name}</th>' in page
    assert f'href="/projects/{desk.project.pk}/sentences/' in page
    assert "there is newer data" not in page
    _work(desk, "cem", ACCEPTING, 1)
    assert "there is newer data" in _page(client, desk)


def test_every_action_of_the_annotate_page_has_plain_words():
    scripts = ROOT.joinpath("static", "annotation", "annotate").rglob("*.js")
    logged = re.compile(r'action: \{ kind: "([\w.]+)"|return \{ kind: "([\w.]+)", task')
    found = {
        first or second
        for script in scripts
        for first, second in logged.findall(script.read_text(encoding="utf-8"))
    }
    assert {"span.add", "suggestion.accept", "tree.attach", "undo"} <= found
    assert found - set(ACTIONS) == set()


@pytest.mark.parametrize(
    ("actions", "title"),
    [
        ({"suggestions.accept": 0.9, "class.choose": 0.1}, "Takes all suggestions at once"),
        ({"suggestion.accept": 0.9, "span.add": 0.1}, "Checks suggestions one by one"),
        ({"suggestion.accept": 0.4, "span.add": 0.6}, "Takes some suggestions, marks the rest"),
        ({"span.add": 0.8, "class.choose": 0.2}, "Marks by hand"),
        ({"span.add": 0.6, "span.resize": 0.2, "delete": 0.2}, "Marks, then corrects"),
        ({"span.add": 0.7, "undo": 0.2, "redo": 0.1}, "Goes back and forth"),
        ({"a.new.one": 1.0}, "Marks by hand"),
    ],
)
def test_a_style_is_called_by_what_most_of_its_steps_are(actions, title):
    style = {"number": 0, "share": 1.0, "mean_length": 4.0, "marks": [], "typical": []}
    (shown,) = shown_styles({"styles": [{**style, "actions": list(actions.items())}]})
    assert shown["title"] == title
    assert sum(part["share"] for part in shown["parts"]) == pytest.approx(1.0)


def test_two_styles_of_one_name_are_told_apart_by_their_steps():
    style = {"share": 0.5, "marks": [], "typical": [], "actions": [["span.add", 1.0]]}
    found = {"styles": [{**style, "mean_length": n, "number": i} for i, n in enumerate((3, 9))]}
    titles = [shown["title"] for shown in shown_styles(found)]
    assert titles == ["Marks by hand, in about 3 steps", "Marks by hand, in about 9 steps"]
    for one, seconds in zip(found["styles"], (20, 43), strict=True):
        one |= {"mean_length": 9, "mean_seconds": seconds}
    titles = [shown["title"] for shown in shown_styles(found)]
    assert titles == [
        "Marks by hand, in about 9 steps, 20 s",
        "Marks by hand, in about 9 steps, 43 s",
    ]


def test_the_page_computes_nothing(client, desk, monkeypatch):
    _work(desk, "ann", ACCEPTING, 25)
    monkeypatch.setattr(working_styles, "find_working_styles", pytest.fail)
    update_project(project=desk.project, changes={"shows_working_styles": True})
    assert "not computed yet" in _page(client, desk)
