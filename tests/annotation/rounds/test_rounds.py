import pytest

from annotation.errors import Conflict, InvalidInput
from annotation.models import Annotation, Ask, Job, Queue, Round, Sentence, Suggestion
from annotation.rounds.replaying import replay_round
from annotation.rounds.workspace import Workspace
from annotation.selectors.suggestion_bias import suggestion_bias
from annotation.services.rounds import cancel_round, freeze_test_slice, launch_round, retry_round
from annotation.services.upkeep import launch_due_rounds
from tests.annotation.rounds.conftest import TINY, import_demo

pytestmark = pytest.mark.django_db(transaction=True)


def _launch(project, **changes):
    return launch_round(project=project, config={**TINY, **changes}, created_by=None)


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
    assert tested.count() == 20
    assert asks.exclude(sentence__is_test=True).count() == 12
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


@pytest.mark.parametrize(
    "choices",
    [
        {"value": "information", "scale": "scaled"},
        {"diversity": "facility", "value": "information", "scale": "scaled"},
        {"diversity": "badge", "unit": "sentences", "amount": 12},
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
    assert freeze_test_slice(project=project, size=20, seed=0) == 20
    before = set(Sentence.objects.filter(is_test=True).values_list("id", flat=True))
    assert freeze_test_slice(project=project, size=50, seed=1) == 20
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

    monkeypatch.setattr("annotation.rounds.learning.save_model", no_space)
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
    trained_at = (Workspace(first.pk).model / "model.safetensors").stat().st_mtime_ns
    retry_round(round=first, created_by=None)
    work()
    first.refresh_from_db()
    assert first.state == "labelling"
    assert first.n_resumed == 1
    model = Workspace(first.pk).model / "model.safetensors"
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


def test_rest_tells_what_the_overview_shows(project, work, people, client):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    _launch(project, blind_share=0.5)
    work()
    client.force_login(people[0])

    def read(name):
        return client.get(f"/api/projects/{project.pk}/{name}/").json()

    curves = {curve["task"]: curve for curve in read("dashboard")["curves"]}
    assert [point["round"] for point in curves["Intent"]["chosen"]] == [1]
    bias = {row["task"]: row for row in read("suggestion-bias")["tasks"]}
    assert bias["Intent"]["to_model"]["n_blind"] == 0  # nobody has answered yet
    assert read("working-styles") == {"is_off": True}
