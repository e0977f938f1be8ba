import io
import json
import re

import numpy as np
import pytest

from annotation.adjudication.suggestion_bias import suggestion_bias
from annotation.corpora.imports import import_corpus
from annotation.errors import Conflict, InvalidInput
from annotation.jobs import services as jobs
from annotation.models import (
    Annotation,
    Ask,
    Job,
    Queue,
    Round,
    Sentence,
    Suggestion,
    WordAnswer,
)
from annotation.projects.services import create_project
from annotation.rounds.dashboard import learning_curve, trained_rounds
from annotation.rounds.selection_stage import length_shares
from annotation.rounds.selectors import plan_round, round_rows
from annotation.rounds.services import (
    cancel_round,
    freeze_labelled_tests,
    launch_due_rounds,
    launch_round,
    retry_round,
)
from annotation.rounds.settings import RoundSettings
from annotation.rounds.stages import replay_round
from annotation.rounds.workspace import Workspace
from config import VERSION
from mtl_engine.active_learning.pool import DEV, part_of
from mtl_engine.executors import LocalExecutor
from tests.annotation.rounds.conftest import TINY, import_demo
from tests.mtl_engine.corpus import POS, SYNTAX, sentences

pytestmark = pytest.mark.django_db(transaction=True)


def _launch(project, **changes):
    return launch_round(project=project, changes={**TINY, **changes}, created_by=None)


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"strategy": "MT-EEC", "unit": "minutes"}, "MT-EEC"),
        ({"strategy": "MT-RRF", "unit": "minutes"}, "MT-RRF, BLP"),
        ({"strategy": "MT-RRF", "unit": "minutes", "decision": "GREEDY"}, "MT-RRF, greedy"),
        ({"strategy": "MT-RRF", "unit": "sentences"}, "MT-RRF"),
        ({"strategy": "MT-AVG", "unit": "minutes", "diversity": "badge"}, "MT-AVG, diverse"),
    ],
)
def test_the_table_says_how_a_budget_is_spent_where_that_is_a_choice(project, choices, words):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    _launch(project, **choices)
    assert [row.strategy for row in round_rows(project)] == [words]


def test_the_first_round_without_labels_asks_for_a_random_seed_set_and_the_test_slice(
    project, work
):
    import_demo(project, n=60, labelled=False)
    first = _launch(project)
    work()
    first.refresh_from_db()
    assert (first.state, first.message) == ("labelling", "")
    asks = Ask.objects.filter(queue__round=first, queue__is_current=True)
    tested = asks.filter(sentence__is_test=True)
    assert (asks.count(), tested.count()) == (12, 3)  # a quarter of the budget, inside it
    assert all(ask.is_blind for ask in tested)
    assert not Suggestion.objects.exists()


def test_a_round_trains_scores_selects_and_explains(project, work):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    first = _launch(project)
    work()
    first.refresh_from_db()
    assert (first.state, first.message) == ("labelling", "")
    scores = first.stages["training"]["scores"]
    assert set(scores) == {"Slots", "Intent"}
    low, high = scores["Intent"]["interval"]
    assert low <= scores["Intent"]["score"] <= high
    asks = list(Ask.objects.filter(queue__round=first).order_by("rank"))
    assert len(asks) == 12
    assert sum(ask.is_random for ask in asks) == 2
    assert all(ask.reason["why"] for ask in asks)
    chosen = [ask for ask in asks if not ask.is_random]
    assert all(set(ask.confidences) == {"Slots", "Intent"} for ask in chosen)
    assert not any(ask.sentence.is_test for ask in asks)
    seen = [ask for ask in asks if not ask.is_blind]
    assert Suggestion.objects.filter(sentence__in=[a.sentence_id for a in seen]).count() == 2 * len(
        seen
    )


def test_a_plan_is_kept_as_a_draft_until_it_starts_or_is_discarded(project, people, client):
    import_demo(project, n=20, labelled=False)
    client.force_login(people[0])
    address = f"/projects/{project.pk}/rounds/plan/"
    form = client.get(address).context["form"]
    sent = {name: value for name, value in form.initial.items() if value is not None}
    sent = {name: value for name, value in sent.items() if value is not False}
    kept = client.post(address, {**sent, "amount": "17", "unit": "minutes", "draft": "1"})
    assert kept.status_code == 302
    assert not project.rounds.exists()
    page = client.get(address)
    assert page.context["form"].initial["amount"] == "17"
    assert "This is your draft" in page.content.decode()
    client.post(address, {"discard": "1"})
    page = client.get(address)
    assert page.context["form"].initial["amount"] == form.initial["amount"]
    assert "This is your draft" not in page.content.decode()


def test_a_plan_says_when_the_bundled_encoder_does_not_read_the_language_and_what_does(
    project, settings
):
    settings.ENCODERS = []
    import_demo(project, n=60, labelled=False)
    warnings = plan_round(project, RoundSettings()).warnings
    assert not any("English" in warning for warning in warnings)
    for sentence in Sentence.objects.filter(project=project):
        sentence.tokens = ["gibt", "es", "morgen", "einen", "Flug", "nach", "Oslo"]
        sentence.save()
    warnings = plan_round(project, RoundSettings()).warnings
    assert any("fetch_encoder FacebookAI/xlm-roberta-base" in warning for warning in warnings)
    settings.ENCODERS = ["dbmdz/bert-base-german", "jhu-clsp/mmBERT-small"]
    warnings = plan_round(project, RoundSettings()).warnings
    offered = "listed here: jhu-clsp/mmBERT-small, dbmdz/bert-base-german."
    assert any(offered in warning for warning in warnings)
    other = plan_round(project, RoundSettings(encoder="tiny")).warnings
    assert not any("English" in warning for warning in other)


def test_a_round_scores_and_trains_its_control_on_the_cluster_that_the_settings_name(
    project, work, settings, monkeypatch
):
    asked = []

    class Cluster(LocalExecutor):
        is_remote = True

        def map(self, compute, shared, items):
            asked.append(compute.__name__)
            return super().map(compute, shared, items)

        def begin(self, compute, *arguments):
            asked.append(compute.__name__)
            return super().begin(compute, *arguments)

    clusters = {"ray://head:10001": Cluster()}
    monkeypatch.setattr("annotation.rounds.training_stage.find_executor", clusters.__getitem__)
    monkeypatch.setattr("annotation.rounds.training_stage.is_control_of_use", lambda *_: True)
    settings.RAY_ADDRESS = "ray://head:10001"
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    found = _launch(project, has_control=True)
    work()
    found.refresh_from_db()
    assert (found.state, found.message) == ("labelling", "")
    assert set(asked) == {"train_control", "_predict_chunk"}


def test_a_round_looks_at_a_sample_of_a_large_pool_and_another_one_the_next_time(project, work):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    rounds = []
    for _ in range(2):
        found = _launch(project, pool_sample=15)
        work()
        found.refresh_from_db()
        scoring = found.stages["scoring"]
        assert scoring["n_scored"] == 15
        assert scoring["n_pool"] > 30
        assert replay_round(found).is_same
        with np.load(Workspace.of(found).directory / "scores.npz") as kept:
            rounds.append(set(kept["ids"].tolist()))
        assert len(rounds[-1]) == 15
    assert rounds[0] != rounds[1]


def test_a_round_replays_to_the_same_batch_and_tells_the_first_difference(project, work):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    first = _launch(project, unit="minutes", amount=5)
    work()
    first.refresh_from_db()
    assert replay_round(first).is_same
    first.manifest["asks"][0]["sentence"] += 1
    replay = replay_round(first)
    assert "Ask 1 was" in replay.difference
    assert "Versions differ" not in replay.difference
    first.manifest |= {"version": "0.0.9", "packages": {**first.manifest["packages"], "mip": "0"}}
    replay = replay_round(first)
    assert f"Tandem 0.0.9 then, {VERSION} now; mip 0 then, " in replay.difference


@pytest.mark.parametrize(
    "choices",
    [
        {"strategy": "MT-RRF", "value": "information", "scale": "scaled"},
        {
            "strategy": "MT-AVG",
            "diversity": "facility",
            "value": "information",
            "scale": "scaled",
        },
        {"strategy": "MT-RRF", "diversity": "badge", "unit": "sentences", "amount": 12},
    ],
)
def test_fair_and_diverse_batches_are_asked_and_replayed(project, work, choices):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    first = _launch(project, **{"unit": "minutes", "amount": 5, **choices})
    work()
    first.refresh_from_db()
    assert (first.state, first.message) == ("labelling", "")
    asks = Ask.objects.filter(queue__round=first, is_random=False)
    assert asks.exists()
    assert all(ask.reason["why"] for ask in asks)
    assert replay_round(first).is_same


def test_the_test_slice_is_frozen_once_and_never_asked_for_training(project, work):
    import_demo(project, n=60, labelled=True)
    assert freeze_labelled_tests(project=project, size=20, seed=0) == 20
    before = set(Sentence.objects.filter(is_test=True).values_list("id", flat=True))
    assert freeze_labelled_tests(project=project, size=50, seed=1) == 0
    assert set(Sentence.objects.filter(is_test=True).values_list("id", flat=True)) == before


def test_two_launches_make_one_round(project, now):
    import_demo(project, n=60, labelled=True)
    _launch(project)
    with pytest.raises(Conflict, match="Round 1 is queued"):
        _launch(project)
    assert Round.objects.count() == 1


def test_the_old_queue_serves_while_a_round_runs_and_after_it_fails(project, work, monkeypatch):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    first = _launch(project)
    work()
    old = Queue.objects.get(project=project, is_current=True)

    def no_space(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("annotation.rounds.training_stage.save_ensemble", no_space)
    second = _launch(project)
    work()
    second.refresh_from_db()
    assert second.state == "failed"
    assert "The disk is full" in second.message
    assert Queue.objects.get(project=project, is_current=True) == old
    monkeypatch.undo()
    retry_round(round=second, created_by=None)
    work()
    second.refresh_from_db()
    first.refresh_from_db()
    assert (second.state, first.state) == ("labelling", "done")


def test_a_cancelled_round_leaves_the_queue_alone_and_says_so(project, now):
    import_demo(project, n=60, labelled=True)
    first = _launch(project)
    cancel_round(round=first, now=now)
    first.refresh_from_db()
    assert first.state == "cancelled"
    assert Job.objects.get().state == "cancelled"


def test_a_stage_that_is_finished_is_not_done_again(project, work, monkeypatch):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)

    def broken(*args, **kwargs):
        raise RuntimeError("the lights went out")

    with monkeypatch.context() as patch:
        patch.setattr("annotation.rounds.stages.score_pool", broken)
        first = _launch(project)
        work()
    first.refresh_from_db()
    assert (first.state, list(first.stages)) == ("failed", ["training"])
    trained_at = (Workspace.of(first).model / "model.safetensors").stat().st_mtime_ns
    retry_round(round=first, created_by=None)
    work()
    first.refresh_from_db()
    assert first.state == "labelling"
    assert first.n_resumed == 1
    model = Workspace.of(first).model / "model.safetensors"
    assert model.stat().st_mtime_ns == trained_at


def test_a_round_with_nothing_to_learn_from_says_so_before_it_starts(project, work):
    import_demo(project, n=60, labelled=False)
    _launch(project)
    work()
    with pytest.raises(Conflict, match="nothing to learn from"):
        _launch(project)


def test_an_empty_project_and_bad_settings_are_refused_in_plain_words(project):
    with pytest.raises(Conflict, match="import a corpus first"):
        _launch(project)
    with pytest.raises(InvalidInput, match="Did you mean 'MT-PAR'"):
        _launch(project, strategy="MT-PARR")
    with pytest.raises(InvalidInput, match="No task 'Slot'"):
        _launch(project, weights={"Slot": 1.0})
    with pytest.raises(InvalidInput, match="sum to"):
        _launch(project, weights={"Slots": 0.5, "Intent": 0.1})


def test_a_task_without_labels_is_asked_for_but_not_learned(project, work):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    from annotation.models import Gold

    Gold.objects.filter(task__name="Intent").delete()
    first = _launch(project)
    work()
    first.refresh_from_db()
    assert (first.state, first.message) == ("labelling", "")
    assert first.stages["training"]["tasks"] == ["Slots"]
    assert any("Intent" in ask.tasks for ask in Ask.objects.filter(queue__round=first))


def test_the_next_round_starts_by_itself_when_enough_is_answered(project, work, people, now):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    first = _launch(project, next_at_percent=50)
    work()
    assert launch_due_rounds(now=now) == []
    asks = Ask.objects.filter(queue__round=first).order_by("rank")[:6]
    for ask in asks:
        ask.n_answers, ask.is_open = 1, False
        ask.save()
        for task in project.tasks.all():
            Annotation.objects.create(
                sentence=ask.sentence, task=task, author=people[1], created_at=now, updated_at=now,
                value=[] if task.kind == "spans" else "fare",
            )  # fmt: skip
    (second,) = launch_due_rounds(now=now)
    assert second.number == 2
    assert launch_due_rounds(now=now) == []


def test_blind_answers_are_held_against_what_the_model_kept_to_itself(project, work, people, now):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    found = _launch(project, blind_share=0.5)
    work()
    asks = list(Ask.objects.filter(queue__round=found))
    blind = {ask.sentence_id for ask in asks if ask.is_blind}
    assert len(blind) == 6
    assert not Suggestion.objects.filter(sentence__in=blind).exists()
    intent = project.tasks.get(name="Intent")
    shown = dict(Suggestion.objects.filter(task=intent).values_list("sentence_id", "value"))
    other = next(label.name for label in intent.labels.all() if label.name not in shown.values())
    for ask in asks:
        value = shown.get(ask.sentence_id, other)  # shown: the model's; blind: something else
        Annotation.objects.create(
            sentence=ask.sentence,
            task=intent,
            author=people[0],
            value=value,
            created_at=now,
            updated_at=now,
        )
    bias = {row.task: row for row in suggestion_bias(project)}["Intent"]
    assert (bias.to_model.shown.value, bias.to_model.n_shown) == (1.0, 6)
    assert bias.to_model.blind.value < 0.5
    assert bias.to_each_other.shown.value is None


def test_rest_tells_what_the_overview_shows(project, work, people, client, now):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    _launch(project, blind_share=0.5)
    work()
    client.force_login(people[0])

    def read(name):
        return client.get(f"/api/projects/{project.pk}/{name}/").json()

    curves = {curve["task"]: curve for curve in read("dashboard")["curves"]}
    assert [point["round"] for point in curves["Intent"]["chosen"]] == [1]
    assert read("suggestion-bias")["computed_at"] is None  # nobody has answered yet
    Annotation.objects.create(
        sentence=Ask.objects.filter(queue__round__number=1).first().sentence,
        task=project.tasks.get(name="Intent"),
        author=people[0],
        value="fare",
        created_at=now,
        updated_at=now,
    )
    client.post(f"/api/projects/{project.pk}/agreement/")
    work()
    bias = {row["task"]: row for row in read("suggestion-bias")["tasks"]}
    counted = bias["Intent"]["to_model"]
    assert counted["n_blind"] + counted["n_shown"] == 1
    assert read("working-styles")["is_off"] is True


def test_a_round_whose_job_is_given_up_has_failed_and_says_why(project, now):
    import_demo(project, n=60, labelled=True)
    first = _launch(project)
    Job.objects.update(state="running", worker="dead", n_tries=jobs.MAX_TRIES)
    Round.objects.update(state="training")
    jobs.recover_jobs(now=now)
    first.refresh_from_db()
    assert first.state == "failed"
    assert first.message.startswith("5 workers died while they ran this job, most likely for want")
    retry_round(round=first, created_by=None)
    first.refresh_from_db()
    assert (first.state, first.message, first.finished_at) == ("queued", "", None)


def test_a_round_whose_worker_died_waits_for_the_next_one(project, now):
    import_demo(project, n=60, labelled=True)
    first = _launch(project)
    jobs.claim_job(worker="dead", now=now)
    Round.objects.update(state="scoring")
    jobs.recover_jobs(now=now)
    first.refresh_from_db()
    assert first.state == "queued"


def test_of_a_large_pool_only_a_sample_is_looked_at_and_the_round_replays(project, work):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    first = _launch(project, pool_sample=25)
    work()
    first.refresh_from_db()
    assert (first.state, first.message) == ("labelling", "")
    assert first.stages["scoring"]["n_scored"] == 25
    assert first.stages["scoring"]["n_pool"] == 60
    assert len(Workspace.of(first).arrays()["ids"]) == 25
    assert replay_round(first).is_same


@pytest.mark.parametrize(
    "choices",
    [
        {"architecture": "ST"},
        {"architecture": "ST", "strategy": "MT-AVG", "diversity": "facility"},
        {"strategy": "SINGLE", "task": "Slots", "unit": "minutes", "amount": 5},
        {"coverage_weight": 0.4, "confidence": "dropout", "n_passes": 2},
    ],
)
def test_one_model_per_task_and_one_tasks_budget_are_asked_and_replayed(project, work, choices):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    first = _launch(project, **choices)
    work()
    first.refresh_from_db()
    assert (first.state, first.message) == ("labelling", "")
    assert set(first.stages["training"]["scores"]) == {"Slots", "Intent"}
    assert Ask.objects.filter(queue__round=first, is_random=False).exists()
    assert Suggestion.objects.exists()
    assert replay_round(first).is_same


@pytest.mark.parametrize("choices", [{}, {"unit": "sentences", "amount": 12}])
def test_expected_errors_are_covered_promised_explained_and_replayed(project, work, choices):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=90, labelled=False, first=60)
    project.tasks.filter(name="Intent").update(target_score=0.0)  # reached by any model
    values = {"strategy": "MT-EEC", "unit": "minutes", "amount": 8, "random_share": 0.2, **choices}
    first = _launch(project, **values)
    work()
    first.refresh_from_db()
    assert (first.state, first.message) == ("labelling", "")
    assert first.stages["scoring"]["needs"] == {"Slots": 1.0, "Intent": 0.0}
    found = first.stages["selecting"]
    assert found["worth"]["Slots"] >= 1
    assert found["value"] is None or found["value"] >= 1
    assert found["chance_share"] is not None
    asks = list(Ask.objects.filter(queue__round=first, is_random=False))
    assert asks
    for ask in asks:
        assert {cell["task"] for cell in ask.reason["covers"]} == set(ask.tasks)
        assert re.search("like (it|them)|at random", ask.reason["why"])
    assert replay_round(first).is_same


def _treebank(people):
    """Return a project of trees and tags with 60 labelled sentences and 60 to ask about."""
    project = create_project(
        spec={
            "name": "Treebank",
            "tasks": [
                {"name": task.name, "kind": task.kind, "labels": list(task.labels)}
                for task in (POS, SYNTAX)
            ],
        },
        owner=people[0],
    )
    letters = "abcdefghijkl"
    for is_labelled in (True, False):
        rows = []
        for i, one in enumerate(sentences(60, seed=3 + is_labelled)):
            tag = f"{letters[i // 10]}{letters[i % 10]}{'xy'[is_labelled]}"
            *arcs, last = one.labels["syntax"]
            labels = {"pos": [*one.labels["pos"], "NOUN"], "syntax": [*arcs, last, [1, "flat"]]}
            tokens = [*one.tokens, tag]
            rows.append({"tokens": tokens, **({"labels": labels} if is_labelled else {})})
        import_corpus(
            project=project,
            stream=io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode()),
            file_name=f"trees-{is_labelled}.jsonl",
            format="jsonl",
            labels="gold" if is_labelled else "none",
        )
    return project


@pytest.mark.parametrize("strategy", ["MT-EEC", "RANDOM"])
def test_single_words_are_asked_answered_learned_and_replayed(people, work, now, strategy):
    project = _treebank(people)
    values = {"word_asks": "unsure", "word_share": 0.4, "strategy": strategy}
    values |= {"unit": "minutes", "amount": 12}
    first = _launch(project, **values)
    work()
    first.refresh_from_db()
    assert (first.state, first.message) == ("labelling", "")
    asks = list(Ask.objects.filter(queue__round=first).select_related("sentence"))
    named = [ask for ask in asks if ask.words]
    assert named
    for ask in asks:
        is_whole = ask.sentence.is_test or part_of(ask.sentence_id) == DEV
        n_tokens = ask.sentence.n_tokens
        for task in ask.tasks:
            assert is_whole == (task not in ask.words)
            if task in ask.words:
                assert len(ask.words[task]) == int(np.ceil(0.4 * n_tokens))
    whole = [ask for ask in asks if not ask.words and ask.tasks == named[0].tasks]
    assert all(
        ask.predicted_seconds < one.predicted_seconds
        for ask in named
        for one in whole
        if ask.sentence.n_tokens <= one.sentence.n_tokens
    )
    assert replay_round(first).is_same
    ask = named[0]
    for number, task in enumerate(ask.tasks):
        entry = "NOUN" if task == "pos" else [0, "root"]
        WordAnswer.objects.create(
            sentence=ask.sentence,
            task=project.tasks.get(name=task),
            author=people[number],
            value=[entry if i in ask.words[task] else None for i in range(ask.sentence.n_tokens)],
            created_at=now,
            updated_at=now,
        )
    second = _launch(project, **values)
    work()
    second.refresh_from_db()
    assert (second.state, second.message) == ("labelling", "")
    training = [stage["training"]["n_train"] for stage in (first.stages, second.stages)]
    assert training[1] == training[0] + 1
    again = Ask.objects.filter(queue__round=second, sentence=ask.sentence)
    assert not {task for one in again for task in one.tasks} & set(ask.tasks)
    assert replay_round(second).is_same


def test_a_choice_that_was_worse_than_chance_is_told_to_the_owner(project, people, client):
    entry = {"chance": 0.8, "chosen": 0.76, "difference": -0.04, "interval": [-0.07, -0.01]}
    better = {**entry, "difference": 0.04, "interval": [0.01, 0.07], "verdict": "better"}
    Round.objects.create(
        project=project,
        number=1,
        state="labelling",
        config=RoundSettings().to_dict(),
        stages={
            "training": {
                "is_seed": False,
                "n_train": 90,
                "control": {
                    "n_labelled": 30,
                    "scores": {},
                    "ledger": {"Slots": {**entry, "verdict": "worse"}, "Intent": better},
                },
            },
            "scoring": {"needs": {"Slots": 1.0, "Intent": 0.0}},
            "selecting": {
                "worth": {"Slots": 1.2, "Intent": 1.0},
                "minutes": {"Slots": 0.5, "Intent": 0.04},
                "lengths": length_shares(np.array([2, 6, 30, 40]), [2, 3]),
            },
        },
    )
    client.force_login(people[0])
    page = client.get(f"/projects/{project.pk}/rounds/1/").content.decode()
    assert "worse: -4.0 points (-7.0 to -1.0)" in page
    assert "better: +4.0 points" in page
    assert "worth 1.2 random batches" in page
    assert "Slots:chance" in page
    plan = client.get(f"/projects/{project.pk}/rounds/plan/").content.decode()
    assert "For Slots selected sentences have taught less than random ones" in plan
    assert (
        "Intent is solved and only asked at random; it took 4 % of the minutes of round 1." in plan
    )


def test_a_control_stands_in_the_curve_at_what_it_learned_of_the_task(project):
    score = {"score": 0.5, "interval": [0.4, 0.6]}
    both = {"Slots": score, "Intent": score}
    facts = {"is_seed": False, "n_train": 90, "n_labelled": {"Slots": 20, "Intent": 80}}
    of_today = {"n_labelled": 60, "n_by_task": {"Slots": 9, "Intent": 55}, "scores": both}
    of_before = {"n_labelled": 60, "scores": both}
    for number, control in enumerate((of_before, of_today), 1):
        Round.objects.create(
            project=project, number=number, state="done", config=RoundSettings().to_dict(),
            stages={"training": {**facts, "scores": both, "control": control}},
        )  # fmt: skip
    rounds = trained_rounds(project)
    at = {
        task.name: [point["n"] for point in learning_curve(task, rounds)["control"]]
        for task in project.tasks.filter(name__in=both)
    }
    assert at == {"Slots": [20, 9], "Intent": [60, 55]}
