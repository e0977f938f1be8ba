"""A new strategy is one decorated function: pages, REST, rounds and studies take it at once."""

import numpy as np
import pytest
from django.core.management import call_command

from analysis.sweep.study_file import parse_study
from annotation.errors import InvalidInput
from annotation.models import Ask
from annotation.rounds.selection_stage import scored_tasks
from annotation.rounds.settings import RoundSettings, read_settings
from annotation.rounds.workspace import Workspace
from annotation.web.settings_fields import settings_message
from mtl_engine.selection import STRATEGIES
from mtl_engine.selection.registry import scoring
from tests.annotation.rounds.conftest import TINY, import_demo

NAME = "MT-SURE"


@pytest.fixture(autouse=True)
def _surest():
    @scoring(NAME, title="The surest first", summary="Asks for what the model knows best.")
    def surest(confidence, options):
        """Sentences whose tasks are surest, for a test."""
        return 1.0 - np.nanmean(confidence, axis=1)

    yield
    del STRATEGIES[NAME]


@pytest.mark.django_db
def test_the_planning_page_offers_it(project, people, client):
    client.force_login(people[0])
    page = client.get(f"/projects/{project.pk}/rounds/plan/").content.decode()
    assert 'value="MT-SURE"' in page
    assert "The surest first" in page
    assert "Asks for what the model knows best." in page


@pytest.mark.django_db
def test_rest_takes_it_and_refuses_what_it_cannot_do(project):
    message = settings_message(RoundSettings, "ThrowawayMessage")  # as the next start makes it
    assert message.read({"strategy": NAME}, is_partial=True) == {"strategy": NAME}
    with pytest.raises(InvalidInput, match="weights"):
        read_settings(project, {"strategy": NAME, "weights": {"Slots": 1.0, "Intent": 0.0}})


@pytest.mark.django_db(transaction=True)
def test_a_round_asks_by_it_and_says_why(project, work):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=40, labelled=False, first=60)
    settings = {**TINY, "has_control": "false", "strategy": NAME, "random_share": 0}
    call_command("start_round", project.name, set=[f"{k}={v}" for k, v in settings.items()])
    work()
    round = project.rounds.get()
    assert (round.state, round.message) == ("labelling", "")
    asks = Ask.objects.filter(queue__round=round)
    chosen = asks.filter(is_random=False)
    assert chosen.exists()
    assert all(ask.reason["why"] for ask in chosen)
    scored = Workspace.of(round).scored(scored_tasks(round), round.stages["scoring"]["unit"])
    means = np.nanmean(scored.scores.confidence, axis=1)
    sure = dict(zip(scored.pool.ids.tolist(), means.tolist(), strict=True))
    left = set(sure) - set(asks.values_list("sentence_id", flat=True))
    assert min(sure[ask.sentence_id] for ask in chosen) >= max(sure[i] for i in left)


def test_a_study_takes_it_by_name():
    settings = {"train": "a", "test": "b", "strategy": NAME}
    (run,) = parse_study({"kind": "active_learning", "settings": settings}, where="x").runs()
    assert run.settings["strategy"] == NAME
