"""Training: what it learns, what it tells, and that it can be stopped, resumed and repeated."""

import os
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from mtl_engine.bandit import Exp3S, RewardScaler
from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.evaluation import evaluate
from mtl_engine.policies import BanditPolicy, FixedPolicy
from mtl_engine.prediction import predict
from mtl_engine.training import Best, End, Step, train
from mtl_engine.types import Example, TaskSpec
from tests.mtl_engine.corpus import (
    MOOD,
    MOVES,
    POS,
    SPANS,
    TASKS,
    labelled_for,
    sentences,
    tiny_config,
    trained,
)

os.environ.setdefault("HF_HUB_OFFLINE", "1")


def test_a_model_overfits_fifty_sentences_on_all_five_kinds():
    examples = sentences(50)
    end = trained(examples, TASKS, tiny_config(epochs=30))
    assert {name: result.main > 0.95 for name, result in evaluate(end.model, examples).items()} == {
        task.name: True for task in TASKS
    }


@pytest.mark.parametrize(
    "model",
    [
        {"architecture": "CMT"},
        {"architecture": "CMT", "gates_read": "all", "has_scalar_mix": True},
        {"architecture": "SMT", "has_crf": True, "pooling": "first"},
        {"architecture": "SMT", "has_scalar_mix": True},
    ],
    ids=["CMT", "CMT-all-branches", "SMT-CRF", "SMT-mix"],
)
def test_other_shapes_of_model_learn_too(model):
    examples = labelled_for(POS, MOOD)
    end = trained(examples, [POS, MOOD], tiny_config(epochs=40, model=model))
    assert all(result.main > 0.95 for result in evaluate(end.model, examples).values())


def test_the_same_seed_gives_the_same_bits():
    first, second = (weights_after(tiny_config(seed=5)) for _ in range(2))
    other = weights_after(tiny_config(seed=6))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


def weights_after(config):
    return trained(sentences(20), TASKS, config, dev=sentences(5, seed=1)).model.state_dict()


@pytest.mark.parametrize("stop_at", [1, 4, 7])
def test_a_training_resumed_from_a_snapshot_ends_in_the_same_bits(stop_at):
    config = tiny_config(policy="uniform", epochs=1)
    examples, dev = sentences(16), sentences(5, seed=1)
    whole = list(train(examples, dev, TASKS, config))
    killed = train(examples, dev, TASKS, config)
    state = next(e for e in killed if isinstance(e, Step) and e.step == stop_at).snapshot()
    killed.close()
    rest = list(train(examples, dev, TASKS, config, resume_from=state))
    assert [e.losses for e in rest if isinstance(e, Step)] == [
        e.losses for e in whole if isinstance(e, Step) and e.step > stop_at
    ]
    assert rest[-1].metrics == whole[-1].metrics
    assert all(
        torch.equal(a, b)
        for a, b in zip(
            whole[-1].model.state_dict().values(),
            rest[-1].model.state_dict().values(),
            strict=True,
        )
    )


def kinds_and_steps(events):
    return [(type(event).__name__, event.step) for event in events]


def test_a_training_resumed_at_any_event_tells_the_same_rest(monkeypatch):
    examples = labelled_for(MOOD)[:8]
    config = tiny_config(epochs=9, patience=2)
    means = [0.1, 0.5, 0.4, 0.6, 0.3, 0.2, 0.9, 0.9, 0.9]
    results = {}

    def judged(model, dev, **_):  # the same weights are judged the same again
        weights = tuple(weight.sum().item() for weight in model.parameters())
        main = results.setdefault(weights, means[len(results)])
        return {"mood": SimpleNamespace(main=main, metrics={"accuracy": main})}

    monkeypatch.setattr("mtl_engine.training.loop.evaluate", judged)
    whole = list(train(examples, examples, [MOOD], config))
    assert (whole[-1].reason, whole[-1].step) == ("patience", 6)
    expected = whole[-1].model.state_dict()
    for number, killed_at in enumerate(kinds_and_steps(whole)[:-1]):
        events = train(examples, examples, [MOOD], config)
        state = [next(events) for _ in range(number + 1)][-1].snapshot()
        rest = list(train(examples, examples, [MOOD], config, resume_from=state))
        left = kinds_and_steps(whole)[number + 1 :]
        if killed_at[0] == "Evaluation":  # that it was the best is not told twice
            left = [event for event in left if event != ("Best", killed_at[1])]
        assert kinds_and_steps(rest) == left
        assert (rest[-1].reason, rest[-1].metrics) == (whole[-1].reason, whole[-1].metrics)
        assert all(torch.equal(w, expected[n]) for n, w in rest[-1].model.state_dict().items())


def test_a_snapshot_of_another_training_is_refused():
    *_, step, _ = train(sentences(8), [], TASKS, tiny_config(epochs=1))
    with pytest.raises(EngineError, match="another training"):
        train(sentences(9), [], TASKS, tiny_config(epochs=1), resume_from=step.snapshot())


def test_events_come_in_order_and_the_last_one_carries_the_model():
    events = list(train(sentences(16), sentences(4, seed=1), TASKS, tiny_config(epochs=2)))
    kinds = [type(event).__name__ for event in events]
    assert kinds[:4] == ["Step", "Step", "Evaluation", "Best"]
    assert [event.step for event in events if isinstance(event, Step)] == [1, 2, 3, 4]
    assert [event.epoch for event in events if isinstance(event, Step)] == [1, 1, 2, 2]
    assert isinstance(events[-1], End)
    assert events[-1].reason == "finished"
    assert events[-1].model.number.keys() == {task.name for task in TASKS}


def test_should_stop_ends_the_training_with_the_best_model_so_far():
    seen = []
    events = train(
        sentences(16), [], TASKS, tiny_config(epochs=5), should_stop=lambda: len(seen) == 3
    )
    for event in events:
        seen.append(event)
    assert (seen[-1].reason, seen[-1].step) == ("cancelled", 3)


def scripted(monkeypatch, means):
    """Let the dev evaluations of a training have these results."""
    remaining = iter(means)

    def result(model, dev, **_):
        main = next(remaining)
        return {"mood": SimpleNamespace(main=main, metrics={"accuracy": main})}

    monkeypatch.setattr("mtl_engine.training.loop.evaluate", result)


def run_scripted(monkeypatch, means, patience):
    scripted(monkeypatch, means)
    examples = labelled_for(MOOD)[:8]
    return list(train(examples, examples, [MOOD], tiny_config(epochs=8, patience=patience)))


def test_training_stops_after_patience_evaluations_without_a_new_best(monkeypatch):
    events = run_scripted(monkeypatch, [0.1, 0.5, 0.4, 0.5, 0.3, 0.2, 0.9, 0.9], patience=2)
    assert (events[-1].reason, events[-1].step) == ("patience", 6)
    assert events[-1].mean == 0.5
    assert events[-1].metrics == {"mood": {"accuracy": 0.5}}


def test_unless_told_otherwise_the_best_weights_are_picked_after_the_whole_decay(monkeypatch):
    scripted(monkeypatch, [0.9, 0.4, 0.3])
    examples = labelled_for(MOOD)
    events = list(train(examples, examples, [MOOD], tiny_config(epochs=9, evaluate_every=0)))
    steps = [event for event in events if isinstance(event, Step)]
    assert (events[-1].reason, events[-1].mean) == ("finished", 0.9)
    assert len(steps) == 18
    assert steps[-1].learning_rate < steps[2].learning_rate / 10
    judged = [event.step for event in events if type(event).__name__ == "Evaluation"]
    assert judged == [15, 17, 18]  # over the last fifth


def test_the_number_of_steps_counts_words_and_not_sentences():
    def n_steps(n_words, n_sentences):
        examples = [Example(("Ada",) * n_words, {"mood": "question"})] * n_sentences
        config = tiny_config(epochs=0, batch_size=0, batch_words=24)
        return next(iter(train(examples, [], [MOOD], config))).n_steps

    assert n_steps(24, 80) == n_steps(12, 160) == n_steps(4, 480)
    assert n_steps(24, 80) < n_steps(24, 160) < 2 * n_steps(24, 80)


def test_ties_go_to_the_newer_weights(monkeypatch):
    events = run_scripted(monkeypatch, [0.1, 0.5, 0.4, 0.5, 0.3, 0.2, 0.1, 0.1], patience=0)
    assert [event.step for event in events if isinstance(event, Best)] == [1, 2, 4]
    fourth = next(e for e in events if isinstance(e, Step) and e.step == 4)
    assert fourth.epoch == 4


def test_weights_that_chance_may_have_put_below_the_best_are_preferred_if_newer(monkeypatch):
    events = run_scripted(monkeypatch, [0.1, 0.5, 0.49, 0.485, 0.47, 0.495, 0.3, 0.1], patience=0)
    assert [event.step for event in events if isinstance(event, Best)] == [1, 2, 3, 4, 6]
    assert events[-1].mean == 0.495
    impatient = run_scripted(monkeypatch, [0.1, 0.5, 0.49, 0.49, 0.4, 0.4, 0.4, 0.4], patience=2)
    assert (impatient[-1].reason, impatient[-1].step) == ("patience", 4)


def test_patience_counts_only_after_the_mean_has_risen(monkeypatch):
    events = run_scripted(monkeypatch, [0.2, 0.1, 0.1, 0.1, 0.3, 0.2, 0.2, 0.9], patience=2)
    assert (events[-1].reason, events[-1].step) == ("patience", 7)


def test_the_end_carries_the_weights_of_the_best_evaluation(monkeypatch):
    scripted(monkeypatch, [0.1, 0.5, 0.4, 0.3])
    examples = labelled_for(MOOD)[:8]
    at_best = None
    for event in train(examples, examples, [MOOD], tiny_config(epochs=4)):
        if isinstance(event, Best):
            at_best = event.snapshot().weights
    assert all(torch.equal(at_best[name], w) for name, w in event.model.state_dict().items())


def test_sentences_labelled_for_one_task_leave_the_other_heads_alone():
    examples = [Example(e.tokens, {"mood": e.labels["mood"]}) for e in sentences(16)]
    before = fresh_heads(tiny_config(weight_decay=0.0))
    model = trained(examples, TASKS, tiny_config(weight_decay=0.0)).model
    for task in TASKS:
        is_same = all(
            torch.equal(weight, before[task.name][name])
            for name, weight in model.head(task.name).state_dict().items()
        )
        assert is_same == (task.name != "mood")


def fresh_heads(config):
    from mtl_engine.model import new_model

    model = new_model(config, TASKS)
    return {task.name: model.head(task.name).state_dict() for task in TASKS}


def test_each_policy_logs_its_probabilities_the_task_and_the_loss_of_every_step():
    examples = [
        *sentences(12),
        *[Example(e.tokens, {"mood": e.labels["mood"]}) for e in sentences(12, seed=1)],
    ]
    tasks = [MOOD, POS]
    examples = [
        Example(e.tokens, {k: v for k, v in e.labels.items() if k in ("mood", "pos")})
        for e in examples
    ]
    expected = {"uniform": (1 / 2, 1 / 2), "size": (2 / 3, 1 / 3), "temperature": None}
    for policy, probabilities in expected.items():
        config = tiny_config(policy=policy, epochs=1, policy_temperature=2.0)
        steps = [e for e in train(examples, [], tasks, config) if isinstance(e, Step)]
        assert len(steps) == 5  # (24 + 12) / 8 sentences
        want = probabilities or tuple(np.sqrt([24, 12]) / np.sqrt([24, 12]).sum())
        for step in steps:
            assert step.probabilities == pytest.approx(want)
            assert len(step.tasks) == 1
            assert set(step.losses) == set(step.tasks)


def test_a_policy_is_told_the_loss_and_the_gain_of_its_steps():
    class Recorder(FixedPolicy):
        needs_gain = True

        def __init__(self):
            super().__init__([0.0, 1.0])
            self.told = []

        def update(self, feedback):
            self.told.append(feedback)

    policy = Recorder()
    config = tiny_config(epochs=6, learning_rate=1e-2)
    steps = [
        e
        for e in train(labelled_for(MOOD, POS), [], [MOOD, POS], config, policy=policy)
        if isinstance(e, Step)
    ]
    assert [f.loss for f in policy.told] == [step.losses["pos"] for step in steps]
    assert {f.task for f in policy.told} == {1}
    assert np.mean([f.gain for f in policy.told]) > 0


def test_a_bandit_draws_the_tasks_and_is_rewarded_by_their_gains():
    def policy():
        scaler = RewardScaler(rng=np.random.default_rng(0))
        return BanditPolicy(Exp3S(2, eta=0.5, epsilon=0.1), scaler.scale)

    config = tiny_config(epochs=3)
    examples = labelled_for(MOOD, POS)
    steps = [
        event
        for event in train(examples, [], [MOOD, POS], config, policy=policy())
        if isinstance(event, Step)
    ]
    assert len({step.probabilities for step in steps}) > 3  # it learns
    assert all(sum(step.probabilities) == pytest.approx(1) for step in steps)
    state = next(
        event.snapshot()
        for event in train(examples, [], [MOOD, POS], config, policy=policy())
        if event.step == 5
    )
    rest = train(examples, [], [MOOD, POS], config, policy=policy(), resume_from=state)
    assert [e.probabilities for e in rest if isinstance(e, Step)] == [
        step.probabilities for step in steps[5:]
    ]


def test_a_warm_start_keeps_known_labels_and_adds_new_ones():
    from dataclasses import replace

    config = tiny_config(epochs=30)
    examples = labelled_for(MOOD, SPANS)
    earlier = trained(examples, [MOOD, SPANS], config).model
    grown = replace(MOOD, labels=("order", *MOOD.labels))
    first = next(iter(train(examples, [], [grown, SPANS], tiny_config(), warm_start=earlier)))
    cold = next(iter(train(examples, [], [grown, SPANS], tiny_config())))
    assert first.losses["mood"] < cold.losses["mood"] / 2
    assert first.losses["entities"] < cold.losses["entities"] / 2


def adopted(tasks, earlier_tasks, **model):
    """Return a fresh model that adopted the random weights of an earlier one, and that one."""
    from mtl_engine.model import new_model
    from mtl_engine.training.warm_start import adopt_weights

    fresh = new_model(tiny_config(model=model, seed=1), tasks)
    earlier = new_model(tiny_config(model=model), earlier_tasks)
    for weight in earlier.parameters():
        torch.nn.init.normal_(weight)
    adopt_weights(fresh, earlier)
    return fresh, earlier


def test_a_warm_start_keeps_what_each_task_reads_of_the_layers():
    fresh, earlier = adopted([SPANS, POS], [POS, MOOD, SPANS])
    for name in ("pos", "entities"):
        now, before = (m.mixes[m.number[name]] for m in (fresh, earlier))
        assert torch.equal(now.weights, before.weights)
        assert torch.equal(now.scale, before.scale)


def test_learning_drops_no_attention_unless_asked_and_voting_does(monkeypatch):
    seen = set()
    attend = torch.nn.functional.scaled_dot_product_attention

    def watched(*args, dropout_p, **options):
        seen.add(dropout_p)
        return attend(*args, dropout_p=dropout_p, **options)

    monkeypatch.setattr("torch.nn.functional.scaled_dot_product_attention", watched)
    for has_dropout, expected in ((False, {0.0}), (True, {0.0, 0.1})):
        seen.clear()
        model = trained(
            labelled_for(POS), [POS], tiny_config(epochs=1, has_attention_dropout=has_dropout)
        ).model
        next(predict(model, [("Ada", "sleeps")]))
        assert seen == expected
    seen.clear()
    next(predict(model, [("Ada", "sleeps")], outputs={"votes"}))
    assert 0.1 in seen


def test_transitions_between_tags_move_with_their_labels():
    turned = TaskSpec("pos", "tags", ("VERB", "ADJ", "NOUN"))
    fresh, earlier = adopted([turned], [POS], has_crf=True)  # NOUN, VERB, PART, PUNCT
    now, before = fresh.head("pos").crf, earlier.head("pos").crf
    assert torch.equal(now.start[[0, 2]], before.start[[1, 0]])
    assert torch.equal(now.follow[0, 2], before.follow[1, 0])
    assert torch.equal(now.follow[2, 0], before.follow[0, 1])
    assert now.follow[1].tolist() == [0, 0, 0]


def test_relations_see_the_parents_labels_where_they_are_now():
    turned = TaskSpec("entities", "spans", ("LOC", "PER"))
    fresh, earlier = adopted([turned, MOVES], [SPANS, MOVES])  # PER, LOC
    now, before = fresh.head("moves").types.weight, earlier.head("moves").types.weight
    assert torch.equal(now, before[:, [0, 2, 1]])


def test_an_unchanged_model_is_adopted_whole():
    shape = {"architecture": "CMT", "has_scalar_mix": True, "has_crf": True}
    fresh, earlier = adopted(TASKS, TASKS, **shape)
    expected = earlier.state_dict()
    assert all(torch.equal(weight, expected[name]) for name, weight in fresh.state_dict().items())


def test_a_bilstm_adopts_the_vectors_of_words_it_still_has():
    from mtl_engine.config import EngineConfig
    from mtl_engine.model import new_model
    from mtl_engine.training.warm_start import adopt_weights

    config = EngineConfig.from_dict({"encoder": {"kind": "bilstm", "width": 8}})
    fresh, earlier = new_model(config, [MOOD], "bcd"), new_model(config, [MOOD], "ab")
    for weight in earlier.parameters():
        torch.nn.init.normal_(weight)
    adopt_weights(fresh, earlier)
    now, before = (m.encoder.embeddings.vectors.weight for m in (fresh, earlier))
    assert torch.equal(now[:3], before[[0, 1, 3]])
    assert torch.equal(
        fresh.encoder.layers[0].linear.weight, earlier.encoder.layers[0].linear.weight
    )


def test_task_weights_scale_the_losses_and_unknown_tasks_are_refused():
    with pytest.raises(UnknownName, match="Did you mean 'mood'"):
        train(sentences(2), [], TASKS, tiny_config(task_weights={"moood": 1.0}))
    muted = tiny_config(task_weights={"mood": 0.0}, weight_decay=0.0)
    before = fresh_heads(muted)["mood"]
    after = trained(sentences(8), TASKS, muted).model.head("mood").state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_an_answer_that_does_not_fit_names_the_sentence_and_the_known_labels():
    wrong = [Example(("Ada",), {"mood": "quest"}, id="s7")]
    with pytest.raises(EngineError, match=r"Sentence s7: .*'quest'.*Did you mean 'question'"):
        train(wrong, [], TASKS, tiny_config())


@pytest.mark.parametrize(
    ("task", "answer"),
    [
        ("entities", [[0, 1]]),
        ("entities", None),
        ("syntax", [[0]]),
        ("syntax", [None]),
        ("moves", [[0, 1, "goes_to"]]),
        ("moves", [[0.0, 1, 0, 1, "goes_to"]]),
        ("moves", [["a", 1, 0, 1, "goes_to"]]),
        ("mood", ["question"]),
        ("pos", 3),
    ],
)
def test_an_answer_of_another_shape_names_the_sentence_and_the_task(task, answer):
    with pytest.raises(EngineError, match=rf"Sentence 0: .*task '{task}'"):
        train([Example(("Ada",), {task: answer}, id=0)], [], TASKS, tiny_config())


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"mood": "quest"}, "Did you mean 'question'"),
        ({"moood": "question"}, "Did you mean 'mood'"),
        ({"pos": ["NOUN"]}, "1 entries for a sentence of 2 tokens"),
        ({"entities": [[0, 9, "PER"]]}, "does not fit a sentence of 2 tokens"),
        ({"entities": [[0, 1]]}, "has not the shape of spans"),
        ({"moves": [[1]]}, "has not the shape of relations"),
    ],
)
def test_a_development_answer_that_does_not_fit_is_refused_before_training(answers, message):
    dev = [Example(("Ada", "sleeps"), answers, id="d3")]
    with pytest.raises(EngineError, match=message):
        train(sentences(4), dev, TASKS, tiny_config())


def test_training_without_any_label_is_refused():
    with pytest.raises(EngineError, match="labelled for any"):
        train([Example(("Ada",), {})], [], TASKS, tiny_config())


def test_every_word_weighs_the_same_and_so_does_every_sentence_of_a_class():
    from mtl_engine.examples import read_examples
    from mtl_engine.model import new_model
    from mtl_engine.training.steps import Learner

    short, long = (
        Example(e.tokens[:n], {"mood": e.labels["mood"], "pos": e.labels["pos"][:n]})
        for e, n in zip(sentences(2), (1, 3), strict=True)
    )
    model = new_model(tiny_config(), [MOOD, POS]).eval()
    learner = Learner(model, read_examples(model, [short, long]), None)
    losses = [
        {name: loss.item() for name, loss in learner.losses(rows, ["mood", "pos"]).items()}
        for rows in ([0], [1], [0, 1])
    ]
    assert losses[2]["mood"] == pytest.approx((losses[0]["mood"] + losses[1]["mood"]) / 2)
    assert losses[2]["pos"] == pytest.approx((losses[0]["pos"] + 3 * losses[1]["pos"]) / 4)


@pytest.mark.parametrize("architecture", ["ST", "SMT", "CMT"])
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.kind)
def test_gradients_reach_every_part(architecture, task):
    from mtl_engine.examples import read_examples
    from mtl_engine.model import new_model
    from mtl_engine.training.steps import Learner

    tasks = [SPANS, MOVES] if task is MOVES else [task]
    config = tiny_config(
        model={"architecture": architecture, "has_crf": True, "has_branch_linear": True}
    )
    model = new_model(config, tasks)
    names = {t.name for t in tasks}
    examples = [
        Example(e.tokens, {k: v for k, v in e.labels.items() if k in names}) for e in sentences(8)
    ]
    learner = Learner(model, read_examples(model, examples), None)
    learner.update(range(8), [t.name for t in tasks], seed=0, apply=lambda: None)
    without = [
        name for name, w in model.named_parameters() if w.grad is None or not w.grad.abs().sum() > 0
    ]
    assert without == []


@pytest.mark.parametrize("limit", [0.5, 100.0])
def test_an_update_clips_the_gradients_as_torch_does(limit):
    from torch.optim import AdamW

    from mtl_engine.training.optimizer import clipped_step

    def updated(step):
        torch.manual_seed(0)
        layer = torch.nn.Linear(3, 2)
        optimizer = AdamW(layer.parameters(), lr=0.1, fused=True)
        for scale in (5.0, 0.1):
            optimizer.zero_grad()
            (scale * layer(torch.ones(1, 3))).sum().backward()
            step(optimizer, layer)
        return layer.weight

    def plain(optimizer, layer):
        torch.nn.utils.clip_grad_norm_(layer.parameters(), limit)
        optimizer.step()

    fused = updated(lambda optimizer, layer: clipped_step(optimizer, layer, limit))
    torch.testing.assert_close(fused, updated(plain))


def test_learning_rates_rise_through_the_warm_up_and_fall_to_the_end():
    config = tiny_config(epochs=5, warmup=0.2, learning_rate=1.0e-3, head_factor=10.0)
    rates = [
        event.learning_rate
        for event in train(labelled_for(MOOD), [], [MOOD], config)
        if isinstance(event, Step)
    ]
    expected = [0.5, 1.0, 1.0, 7 / 8, 6 / 8, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8]
    assert rates == pytest.approx([share * 1e-3 for share in expected])
