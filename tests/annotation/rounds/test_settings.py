"""A round's settings: one field each, from which form, REST, --set and documentation are made."""

import io
import json
from pathlib import Path

import pytest
import yaml
from django.core.management import CommandError, call_command

from annotation.errors import Conflict, InvalidInput
from annotation.models import Round
from annotation.rounds.forms import RoundForm, initial_of
from annotation.rounds.selectors import plan_round
from annotation.rounds.services import launch_round, repeat_round, set_default_settings
from annotation.rounds.settings import (
    RoundSettings,
    default_settings,
    read_settings,
    shown_settings,
)
from mtl_engine.active_learning.settings import ActiveLearningSettings
from mtl_engine.settings import settings_fields, settings_table
from tests.annotation.rounds.conftest import TINY, import_demo

pytestmark = pytest.mark.any_database

ROOT = Path(__file__).resolve().parents[3]
CHANGED = {
    "amount": 12.5,
    "unit": "cost",
    "strategy": "MT-AVG",
    "weights": {"Slots": 0.335, "Intent": 0.665},
    "decision": "GREEDY",
    "has_temperature": False,
    "frozen_layers": 3,
    "epochs": 7,
    "seed": 99,
    "label_smoothing": 0.25,
    "learning_rate": 0.00013,
    "random_share": 0.07,
    "blind_share": 0.125,
    "test_size": 31,
    "overlap": 2,
    "next_at_percent": 62.5,
    "policy": "temperature",
    "architecture": "ST",
    "n_passes": 5,
    "coverage_weight": 0.3,
    "overflow": "skip",
}


def posted(values, project):
    """Return what a browser sends when nobody touches the form."""
    form = RoundForm(initial=initial_of(values, project), project=project)
    sent = {name: form[name].value() for name in form.fields}
    return {name: value for name, value in sent.items() if value not in (False, None)}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        CHANGED,
        {"strategy": "STCS", "task": "Intent"},
        {"strategy": "MT-EEC", "modes": ["Slots:coverage", "Intent:chance"]},
    ],
)
def test_a_round_set_by_rest_and_repeated_by_form_loses_nothing(project, changes):
    values = read_settings(project, changes).to_dict()
    form = RoundForm(posted(values, project), project=project)
    assert form.is_valid(), form.errors
    assert read_settings(project, form.values()).to_dict() == values


def test_weights_that_are_moved_count_as_shares_and_equal_ones_as_none(project):
    values = read_settings(project, CHANGED).to_dict()
    sent = posted(values, project)
    moved = RoundForm({**sent, "weight_0": 80, "weight_1": 20}, project=project)
    assert moved.is_valid()
    assert moved.values()["weights"] == {"Slots": 0.8, "Intent": 0.2}
    equal = RoundForm({**sent, "weight_0": 60, "weight_1": 60}, project=project)
    assert equal.is_valid()
    assert equal.values()["weights"] == {}


def test_every_setting_is_in_the_form_in_rest_and_on_the_page(project, people, client):
    names = {about.name for about in settings_fields(RoundSettings)}
    form = RoundForm(project=project)
    assert {one.about.name for part in form.sections() for one in part.settings} == names
    client.force_login(people[0])
    defaults = client.get(f"/api/projects/{project.pk}/rounds/defaults/").json()
    assert set(defaults) == names
    page = client.get(f"/projects/{project.pk}/rounds/plan/").content.decode()
    for name in names - {"strategy", "weights"}:
        assert f'name="{name}"' in page, name


def test_the_documentation_lists_every_setting_as_it_is():
    text = (ROOT / "docs" / "rounds.md").read_text(encoding="utf-8")
    missing = [row for row in settings_table(RoundSettings) if row not in text]
    assert not missing, "\n".join(missing)


def test_rest_describes_every_setting_with_its_choices_and_bounds():
    described = yaml.safe_load((ROOT / "docs" / "openapi.yaml").read_text(encoding="utf-8"))
    body = described["components"]["schemas"]["RoundSettingsRequest"]["properties"]
    for about in settings_fields(RoundSettings):
        assert about.title in body[about.name]["description"]
        assert "default" in body[about.name]
    assert body["overlap"]["maximum"] == 10
    launch = described["paths"]["/api/projects/{project_id}/rounds/"]["post"]
    schema = launch["requestBody"]["content"]["application/json"]["schema"]
    assert schema == {"$ref": "#/components/schemas/RoundSettingsRequest"}


def test_a_study_with_default_settings_simulates_the_product():
    product = RoundSettings().to_dict()
    for name, value in ActiveLearningSettings().to_dict().items():
        assert product[name] == value, name


def test_a_projects_defaults_hold_for_page_rest_command_and_advice(project, people, client):
    import_demo(project, n=60, labelled=True)
    client.force_login(people[0])
    form = posted(read_settings(project, {**TINY, "seed": 5}).to_dict(), project)
    assert client.post(f"/projects/{project.pk}/settings/rounds/", form).status_code == 302
    project.refresh_from_db()
    assert project.round_defaults == {**TINY, "amount": 12.0, "seed": 5}
    page = client.get(f"/projects/{project.pk}/rounds/plan/").content.decode()
    assert 'name="seed" value="5"' in page
    assert client.get(f"/api/projects/{project.pk}/rounds/defaults/").json()["seed"] == 5
    launched = client.post(
        f"/api/projects/{project.pk}/rounds/", "{}", content_type="application/json"
    ).json()
    assert (launched["config"]["seed"], launched["config"]["encoder"]) == (5, "tiny")
    Round.objects.all().delete()
    call_command("start_round", project.name, "--set", "amount=7", stdout=io.StringIO())
    config = Round.objects.get().config
    assert (config["seed"], config["amount"], config["unit"]) == (5, 7.0, "sentences")
    client.post(f"/projects/{project.pk}/settings/rounds/", {"reset": "yes"})
    project.refresh_from_db()
    assert project.round_defaults == {}


def test_repeating_a_round_is_asked_for(project, people, client):
    import_demo(project, n=60, labelled=True)
    first = launch_round(project=project, changes={**TINY, **CHANGED}, created_by=None)
    Round.objects.update(state="done")
    assert default_settings(project) == RoundSettings()
    client.force_login(people[0])
    plain = client.get(f"/projects/{project.pk}/rounds/plan/").content.decode()
    assert 'name="seed" value="0"' in plain
    assert "Repeat round 1" in plain
    again = client.get(f"/projects/{project.pk}/rounds/plan/?repeat=1").content.decode()
    assert 'name="seed" value="99"' in again
    second = repeat_round(round=first, created_by=None)
    assert second.config == first.config
    Round.objects.update(state="done")
    out = io.StringIO()
    call_command("start_round", project.name, "--repeat", "1", "--set", "seed=100", stdout=out)
    assert Round.objects.last().config == {**first.config, "seed": 100}


def test_rest_sets_defaults_and_refuses_what_is_wrong_by_its_key(project, people, client):
    client.force_login(people[0])
    url = f"/api/projects/{project.pk}/rounds/defaults/"

    def put(body):
        return client.put(url, json.dumps(body), content_type="application/json")

    assert put({"strategy": "UDJS"}).json()["strategy"] == "UDJS"
    for body, key in (
        ({"strategy": "UDJS", "unit": "sentences"}, "strategy"),
        ({"strategy": "MT-PARR"}, "strategy"),
        ({"amount": "much"}, "amount"),
        ({"weights": {"Slot": 1.0}, "strategy": "MT-AVG"}, "weights"),
        ({"loudness": 3}, "loudness"),
        ({"loss": "hinge"}, ""),
    ):
        refused = put(body)
        assert refused.status_code == 400
        assert key in str(refused.json()["error"])
    assert put({"loss": "plain", "is_fast": False}).json()["label_smoothing"] == 0
    project.refresh_from_db()
    assert project.round_defaults == {"label_smoothing": 0.0, "frozen_layers": -1}


def test_defaults_that_are_not_allowed_any_more_are_left_out(project):
    project.round_defaults = {"encoder": "gone/away", "seed": 4, "loss": "plain"}
    found = default_settings(project)
    assert (found.encoder, found.seed, found.label_smoothing) == ("bundled", 4, 0.0)


def test_rounds_of_earlier_versions_show_their_settings_under_todays_names(project):
    old = Round(project=project, number=1, config={"loss": "plain", "is_fast": True, "seed": 3})
    shown = shown_settings(old)
    assert (shown["label_smoothing"], shown["seed"], shown["n_passes"]) == (0.0, 3, 10)
    assert "loss" not in shown


def test_what_cannot_work_is_refused_when_it_is_planned(project):
    import_demo(project, n=60, labelled=True)
    with pytest.raises(Conflict, match="learn_policy"):
        launch_round(project=project, changes={**TINY, "policy": "learned"}, created_by=None)
    for changes in ({"strategy": "SINGLE"}, {"strategy": "UDJS", "unit": "sentences"}):
        with pytest.raises(InvalidInput):
            launch_round(project=project, changes=changes, created_by=None)
    for changes in ({"strategy": "SINGLE", "task": "Slots"}, {"architecture": "ST"}):
        assert not plan_round(project, read_settings(project, changes)).problems
    assert not Round.objects.exists()


def test_a_wrong_assignment_is_refused_by_the_command(project):
    with pytest.raises(CommandError, match="Did you mean 'strategy'"):
        call_command("start_round", project.name, "--set", "strateg=MT-AVG")


def test_only_what_differs_from_the_product_is_stored(project):
    set_default_settings(project=project, values={"seed": 7, "strategy": "MT-EEC"})
    assert project.round_defaults == {"seed": 7}
