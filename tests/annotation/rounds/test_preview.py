"""What the plan page says of the next round."""

import pytest

from annotation.jobs.insights import stored_result
from annotation.models import Gold, Job, Queue, Round, Sentence
from annotation.rounds.preview import bought_for, by_chance
from annotation.rounds.services import launch_round, set_default_settings
from tests.annotation.rounds.conftest import TINY, import_demo

pytestmark = [pytest.mark.any_database, pytest.mark.django_db(transaction=True)]


def _plan(client, project, people):
    client.force_login(people[0])
    return client.get(f"/projects/{project.pk}/rounds/plan/").content.decode()


def test_before_a_model_the_plan_says_what_chance_buys(project, people, client):
    import_demo(project, n=60, labelled=False)
    page = _plan(client, project, people)
    assert "No model yet" in page
    assert "60 sentences</b> drawn at random" in page  # all there are
    assert "Preview of the next round" not in page


def test_what_chance_buys_counts_every_answer_that_a_sentence_wants(project, people):
    import_demo(project, n=60, labelled=False)
    one, two = (by_chance(project, 5, n_answers=n) for n in (1, 2))
    assert two.seconds_each == pytest.approx(2 * one.seconds_each)
    assert two.n_sentences == int(300 / two.seconds_each)
    assert two.most == 60
    assert by_chance(project, 9000, n_answers=2).n_sentences == 60


def test_a_budget_between_two_that_were_computed_goes_by_the_nearest_ones_pace():
    budgets = {
        "30": {"n_sentences": 20, "n_test": 4, "minutes": 30.0, "is_all": False},
        "60": {"n_sentences": 35, "n_test": 8, "minutes": 55.0, "is_all": True},
    }
    assert bought_for(budgets, 30) == budgets["30"]
    assert bought_for(budgets, 15) == {
        "n_sentences": 10, "n_test": 2, "minutes": 15.0, "is_all": False,
    }  # fmt: skip
    assert bought_for(budgets, 90) == budgets["60"]  # there is no more
    assert bought_for(budgets, 0) is None
    assert bought_for({}, 30) is None


def test_the_first_plan_counts_what_is_set_aside_for_testing_apart(project, people, client, work):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=40, labelled=False, first=60)
    set_default_settings(project=project, values=TINY)  # at most 20 sentences to test on
    page = _plan(client, project, people)
    assert "set aside as test sentences: <b>20 labelled sentences</b>" in page
    assert "It learns from <b>40</b> Slots, <b>40</b> Intent answers" in page
    assert "from 40 open ones" in page
    found = launch_round(project=project, changes={}, created_by=None)
    work()
    found.refresh_from_db()
    facts = found.stages["training"]
    assert (facts["n_test"], facts["n_labelled"]) == (20, {"Slots": 40, "Intent": 40})
    assert found.stages["scoring"]["n_pool"] == 40


def test_the_plan_says_how_many_of_the_test_sentences_are_labelled(project, people, client):
    import_demo(project, n=60, labelled=True)
    Gold.objects.filter(task__name="Intent").delete()  # no sentence has gold for every task
    project.sentences.update(document="too long")
    short = list(project.sentences.order_by("id").values_list("pk", flat=True)[:25])
    project.sentences.filter(pk__in=short).update(document="short")
    Gold.objects.filter(sentence__in=short[:5]).delete()
    set_default_settings(project=project, values={**TINY, "test_size": 30})
    page = _plan(client, project, people)
    assert "set aside as test sentences: <b>25 sentences</b>, <b>20</b> of them labelled" in page


def test_after_a_round_the_plan_shows_what_would_be_asked_now(project, people, client, work, now):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    set_default_settings(project=project, values=TINY)
    launch_round(project=project, changes={}, created_by=None)
    work()
    found = stored_result(project, "preview")
    assert found["round"] == 1
    job, queue = Job.objects.get(kind="round"), Queue.objects.get(round__number=1)
    waited = (queue.created_at - job.started_at).total_seconds()
    assert found["train_seconds"] == pytest.approx(waited, abs=0.1)  # training is a part of it
    assert [float(minutes) for minutes in found["budgets"]] == [15, 30, 60, 90, 120]
    bought = [one["n_sentences"] for one in found["budgets"].values()]
    assert bought == sorted(bought)
    for one in found["budgets"].values():
        assert one["chance"] + sum(one["tasks"].values()) == pytest.approx(1, abs=0.01)
    assert len(found["examples"]) == 20
    assert sum(found["lengths"]["asked"]) == pytest.approx(1, abs=0.01)
    page = _plan(client, project, people)
    first = found["examples"][0]
    assert "the first 20 sentences in the order they would be asked" in page
    assert Sentence.objects.get(pk=first["sentence"]).text in page

    told = client.get(f"/api/projects/{project.pk}/preview/").json()
    assert (told["is_current"], told["preview"]) == (True, found)

    answered = [one["sentence"] for one in found["examples"]]
    for task in project.tasks.all():
        for sentence in answered:
            Gold.objects.create(sentence_id=sentence, task=task, value=[], updated_at=now)
    assert "there is newer data" in _plan(client, project, people)
    client.post(f"/projects/{project.pk}/insights/preview/")
    work()
    again = [one["sentence"] for one in stored_result(project, "preview")["examples"]]
    assert again
    assert not set(again) & set(answered)
    assert Round.objects.count() == 1

    project.tasks.filter(name="Intent").update(is_hidden=True)
    client.post(f"/projects/{project.pk}/insights/preview/")
    work()
    assert stored_result(project, "preview") == {}  # its scores are of a task that is gone
    assert "It learns from" in _plan(client, project, people)


def test_the_preview_goes_by_the_targets_of_today(project, people, client, work):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    set_default_settings(project=project, values=TINY)
    launch_round(project=project, changes={}, created_by=None)
    work()
    before = stored_result(project, "preview")
    assert before["needs"]["Intent"] > 0
    project.tasks.filter(name="Intent").update(target_score=0.0001)
    assert "there is newer data" in _plan(client, project, people)
    client.post(f"/projects/{project.pk}/insights/preview/")
    work()
    found = stored_result(project, "preview")
    assert found["needs"]["Intent"] == 0
    for minutes, bought in found["budgets"].items():
        assert bought["tasks"]["Intent"] <= before["budgets"][minutes]["tasks"]["Intent"]
    assert "Intent is solved" in _plan(client, project, people)


def test_usual_budgets_follow_the_last_round(project):
    from annotation.rounds.preview import usual_budgets

    assert usual_budgets(project) == (15, 30, 60, 90, 120)
    Round.objects.create(project=project, number=1, config={"unit": "minutes", "amount": 8})
    assert usual_budgets(project) == (8, 15, 30, 60, 90)


def test_minutes_of_all_people_are_told_where_two_answer(project, people, client, work):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    project.overlap = 2
    project.save()
    set_default_settings(project=project, values={**TINY, "unit": "minutes", "amount": 2})
    launch_round(project=project, changes={}, created_by=None)
    work()
    bought = stored_result(project, "preview")["budgets"]["2"]
    assert bought["minutes"] == pytest.approx(2, abs=0.5)
