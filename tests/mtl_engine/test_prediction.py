"""Prediction: in order, the same in any batch, in bounded memory, and calibrated."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from mtl_engine import precision
from mtl_engine.confidence import dropout_agreement, entropy_confidence
from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.evaluation import evaluate
from mtl_engine.prediction import fit_temperatures, predict, score
from mtl_engine.prediction.predict import CHUNK, OUTPUTS
from mtl_engine.types import Example
from tests.mtl_engine.corpus import MOOD, TASKS, sentences, tiny_config, trained

EXAMPLES = sentences(30)
TOKENS = [example.tokens for example in EXAMPLES]


@pytest.fixture(scope="module")
def model():
    return trained(EXAMPLES, TASKS, tiny_config(epochs=16, frozen_layers=1)).model


def test_answers_come_in_the_order_of_the_sentences_whatever_the_batches(model):
    one_by_one = [next(predict(model, [tokens])).answers for tokens in TOKENS]
    assert [p.answers for p in predict(model, TOKENS, batch_tokens=1)] == one_by_one
    assert [p.answers for p in predict(model, TOKENS, batch_tokens=10_000)] == one_by_one


def test_every_answer_has_the_shape_of_its_kind_and_a_probability_per_item(model):
    for tokens, found in zip(TOKENS, predict(model, TOKENS), strict=True):
        m = len(tokens)
        assert len(found.answers["pos"]) == len(found.items["pos"]) == m
        assert len(found.answers["syntax"]) == len(found.items["syntax"]) == m
        assert found.answers["mood"] in MOOD.labels
        assert len(found.items["mood"]) == 1
        for name in ("entities", "moves"):
            answer = found.answers[name]
            assert len(found.items[name]) == len(answer)
            assert answer == sorted(answer)
        ends = {(start, end) for start, end, _ in found.answers["entities"]}
        for s1, e1, s2, e2, _ in found.answers["moves"]:
            assert {(s1, e1), (s2, e2)} <= ends
        assert all(0 <= p <= 1 for items in found.items.values() for p in items)


def test_only_what_is_asked_for_is_computed(model):
    (found,) = predict(model, TOKENS[:1], tasks=["mood"], outputs=["confidence"])
    assert set(found.confidence) == {"mood"}
    assert (found.answers, found.votes, found.probabilities) == ({}, {}, {})
    assert found.vector is None
    with pytest.raises(UnknownName, match="Did you mean 'votes'"):
        next(predict(model, TOKENS, outputs=["vote"]))
    with pytest.raises(UnknownName, match="Did you mean 'mood'"):
        next(predict(model, TOKENS, tasks=["mod"]))
    with pytest.raises(UnknownName, match="full, top"):
        next(predict(model, TOKENS, dropout="bottom"))
    with pytest.raises(UnknownName, match="auto, float32"):
        next(predict(model, TOKENS, precision="float64"))


def test_relations_can_be_asked_for_without_their_spans(model):
    both = [p.answers["moves"] for p in predict(model, TOKENS)]
    alone = list(predict(model, TOKENS, tasks=["moves"]))
    assert [p.answers["moves"] for p in alone] == both
    assert set(alone[0].answers) == {"moves"}


def test_confidence_is_read_from_the_probabilities(model):
    outputs = ["probabilities", "confidence"]
    for found in predict(model, TOKENS[:5], outputs=outputs):
        for name in ("entities", "pos", "mood"):  # relations weigh their pairs: test_heads
            expected = entropy_confidence([found.probabilities[name]])[0]
            assert found.confidence[name] == pytest.approx(expected)


def test_a_pool_is_read_as_a_stream(model):
    taken = []

    def pool() -> Iterator[tuple[str, ...]]:
        for number in range(3 * CHUNK):
            taken.append(number)
            yield ("Ada", ".")

    predictions = predict(model, pool(), tasks=["mood"], outputs=["confidence"])
    next(predictions)
    assert len(taken) <= CHUNK + 1
    assert sum(1 for _ in predictions) == 3 * CHUNK - 1


def test_an_empty_pool_has_no_predictions(model):
    assert list(predict(model, [])) == []
    scores = score(model, [], has_vectors=True)
    assert scores.confidence.shape == (0, 5)


def test_a_temperature_changes_confidence_but_no_answer(model):
    hot = {task.name: 3.0 for task in TASKS}
    outputs = ["answers", "probabilities"]
    plain = list(predict(model, TOKENS, outputs=outputs))
    heated = list(predict(model, TOKENS, outputs=outputs, temperatures=hot))
    assert [p.answers for p in plain] == [p.answers for p in heated]
    cooler, hotter = plain[0].probabilities["mood"], heated[0].probabilities["mood"]
    expected = cooler ** (1 / 3) / (cooler ** (1 / 3)).sum()
    assert hotter == pytest.approx(expected)
    for wrong in (0.0, float("inf"), float("nan")):
        with pytest.raises(EngineError, match="must be a number above 0"):
            next(predict(model, TOKENS, temperatures={"mood": wrong}))
    with pytest.raises(UnknownName):
        next(predict(model, TOKENS, temperatures={"moods": 1.0}))


def test_fitted_temperatures_lower_the_dev_loss(model):
    wrong = sentences(20, seed=9)
    dev = [
        Example(e.tokens, {**e.labels, "mood": "question" if n % 3 else e.labels["mood"]})
        for n, e in enumerate(wrong)
    ]
    temperatures = fit_temperatures(model, dev)
    assert set(temperatures) == {task.name for task in TASKS}
    labels = [MOOD.labels.index(example.labels["mood"]) for example in dev]

    def loss(temperature):
        found = predict(
            model,
            [example.tokens for example in dev],
            tasks=["mood"],
            outputs=["probabilities"],
            temperatures={"mood": temperature},
        )
        rows = np.array([p.probabilities["mood"][0] for p in found])
        return -np.log(rows[range(len(labels)), labels]).mean()

    best = temperatures["mood"]
    assert loss(best) < min(loss(best * 0.9), loss(best * 1.1), loss(1.0))


def test_a_few_right_answers_do_not_make_a_model_sure_of_everything(model):
    right = [
        e for e in EXAMPLES if next(predict(model, [e.tokens])).answers["mood"] == e.labels["mood"]
    ]
    dev = [Example(e.tokens, {"mood": e.labels["mood"]}) for e in right[:3]]
    temperatures = fit_temperatures(model, dev)
    assert 0 < temperatures["mood"] <= 1
    pool = list(dict.fromkeys(TOKENS))
    plain, scaled = (
        score(model, pool, tasks=["mood"], temperatures=some).confidence[:, 0]
        for some in ({}, temperatures)
    )
    assert len(np.unique(scaled)) == len(np.unique(plain))
    assert scaled.max() < 1


def test_tasks_without_dev_answers_get_no_temperature(model):
    assert fit_temperatures(model, [Example(("Ada", "."), {"mood": "statement"})]).keys() == {
        "mood"
    }


@pytest.mark.parametrize("scope", ["full", "top"])
def test_dropout_votes_differ_between_passes_but_not_between_runs(model, scope):
    def votes(seed):
        return list(predict(model, TOKENS, outputs=["votes"], dropout=scope, seed=seed))

    first, again, other = votes(1), votes(1), votes(2)
    for name in ("entities", "pos", "mood", "syntax", "moves"):
        assert all(
            (a.votes[name] == b.votes[name]).all() for a, b in zip(first, again, strict=True)
        )
        assert first[0].votes[name].shape[0] == 10
    assert any(
        (a.votes[name] != b.votes[name]).any()
        for name in ("pos", "syntax")
        for a, b in zip(first, other, strict=True)
    )


def test_votes_need_a_pass(model):
    with pytest.raises(EngineError, match="n_passes is 0; it must be 1 or more"):
        next(predict(model, TOKENS, outputs=["votes"], n_passes=0))


def test_dropout_above_the_frozen_part_computes_the_bottom_once(model, monkeypatch):
    calls = []
    bottom = model.encoder.bottom
    monkeypatch.setattr(model.encoder, "bottom", lambda pack: calls.append(1) or bottom(pack))
    list(predict(model, TOKENS[:2], outputs=["votes"], dropout="top", batch_tokens=1000))
    assert len(calls) == 1
    list(predict(model, TOKENS[:2], outputs=["votes"], dropout="full", batch_tokens=1000))
    assert len(calls) == 11


def test_prediction_leaves_no_trace_in_the_global_random_state(model):
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    list(predict(model, TOKENS[:2], outputs=OUTPUTS))
    assert torch.equal(torch.rand(1), expected)


def test_scores_have_a_row_per_sentence_and_a_column_per_task(model):
    scores = score(model, TOKENS, has_vectors=True)
    assert scores.tasks == tuple(task.name for task in TASKS)
    assert scores.confidence.shape == scores.information.shape == (30, 5)
    assert ((scores.confidence >= 0) & (scores.confidence <= 1)).all()
    assert scores.vectors.shape == (30, 32)
    predictions = list(predict(model, TOKENS))
    assert scores.n_items[:, 0].tolist() == [len(p.answers["entities"]) for p in predictions]
    assert scores.n_items[:, 2].tolist() == [1] * 30
    assert scores.is_judged.all()


def test_progress_counts_sentences_that_are_computed_not_those_that_are_read(model):
    n_read, told = 0, []

    def reading() -> Iterator[list[str]]:
        nonlocal n_read
        for tokens in TOKENS:
            n_read += 1
            yield tokens

    score(model, reading(), batch_tokens=64, on_progress=lambda n: told.append((n, n_read)))
    assert len(told) > 2
    assert [n for n, _ in told] == sorted(n for n, _ in told)
    assert told[0][0] < 30
    assert told[-1] == (30, 30)


def test_scores_by_dropout_are_the_agreement_of_the_votes(model):
    scores = score(model, TOKENS[:6], method="dropout", tasks=["pos", "syntax"], seed=4)
    votes = list(predict(model, TOKENS[:6], tasks=["pos", "syntax"], outputs=["votes"], seed=4))
    expected = [dropout_agreement([p.votes[name] for p in votes]) for name in ("pos", "syntax")]
    assert scores.confidence == pytest.approx(np.transpose(expected))
    with pytest.raises(UnknownName, match="entropy"):
        score(model, TOKENS, method="entropi")


def test_expected_errors_have_a_value_per_unit_and_know_what_dev_has_told():
    dev = sentences(30, seed=5)
    model = trained(EXAMPLES, TASKS, tiny_config(epochs=12), dev=dev).model
    scores = score(model, [e.tokens for e in dev], has_errors=True)
    n_words = [len(example.tokens) for example in dev]
    for name, found in scores.errors.items():
        assert found.counts.tolist() == ([1] * len(dev) if name == "mood" else n_words)
        assert found.values.shape == (found.counts.sum(),)
        assert (found.values >= 0).all()
        assert (found.values <= 1).all()
    fitted = model.head("pos")
    right = [
        tag == gold
        for example, found in zip(dev, predict(model, [e.tokens for e in dev]), strict=True)
        for tag, gold in zip(found.answers["pos"], example.labels["pos"], strict=True)
    ]
    assert fitted.is_error_fitted
    assert scores.errors["pos"].values.mean() == pytest.approx(1 - np.mean(right), abs=0.03)


def test_without_dev_sentences_expected_errors_begin_at_the_pools_first_decile(model):
    found = score(model, TOKENS, tasks=["pos"], has_errors=True).errors["pos"]
    raw = np.concatenate(
        [1 - np.array(p.items["pos"]) for p in predict(model, TOKENS, tasks=["pos"])]
    )
    assert not model.head("pos").is_error_fitted
    assert found.values == pytest.approx(np.maximum(raw - np.quantile(raw, 0.1), 0), abs=1e-6)


def test_with_dropout_votes_the_error_of_a_unit_is_the_share_of_passes_that_disagree(model):
    options = {"n_passes": 4, "seed": 3}
    found = score(
        model, TOKENS, tasks=["pos", "mood"], method="dropout", has_errors=True, **options
    )
    votes = [
        prediction.votes
        for prediction in predict(
            model, TOKENS, tasks=["pos", "mood"], outputs={"votes"}, **options
        )
    ]
    pairs = [(a, b) for b in range(4) for a in range(b)]
    for name in ("pos", "mood"):
        expected = np.concatenate(
            [np.mean([one[name][a] != one[name][b] for a, b in pairs], axis=0) for one in votes]
        )
        assert found.errors[name].values == pytest.approx(
            np.maximum(expected - np.quantile(expected, 0.1), 0), abs=1e-6
        )


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.kind)
def test_units_are_wrong_where_the_answer_differs_from_the_right_one(model, task):
    from mtl_engine.prediction.temperature import dev_scores

    dev = sentences(12, seed=9)
    head = model.head(task.name)
    for scores, targets in dev_scores(model, dev, None)[task.name]:
        reading = head.read(scores)
        wrong = head.wrong_units(scores, reading, targets)
        assert [len(units) for units in wrong] == [len(units) for units in reading.unit_errors()]
    answers = [found.answers[task.name] for found in predict(model, [e.tokens for e in dev])]
    n_different = sum(a != e.labels[task.name] for a, e in zip(answers, dev, strict=True))
    batches = dev_scores(model, dev, None)[task.name]
    by_sentence = [
        units.any() for s, t in batches for units in head.wrong_units(s, head.read(s), t)
    ]
    assert sum(by_sentence) == n_different


def test_evaluation_judges_only_what_is_labelled(model):
    examples = [*EXAMPLES[:3], Example(("Ada", "."), {}), Example(("Alan",), {"pos": ["VERB"]})]
    results = evaluate(model, examples)
    assert results["pos"].rows.tolist() == [0, 1, 2, 4]
    assert results["mood"].rows.tolist() == [0, 1, 2]
    assert results["pos"].accuracy.shape == results["pos"].confidence.shape == (4,)
    assert set(results["syntax"].metrics) == {"uas", "las"}
    assert evaluate(model, examples[3:4]) == {}


def test_greedy_trees_are_the_best_heads_word_by_word(model):
    outputs = ["answers", "probabilities"]
    for found in predict(model, TOKENS, tasks=["syntax"], outputs=outputs, is_greedy=True):
        heads = [head for head, _ in found.answers["syntax"]]
        assert heads == found.probabilities["syntax"].argmax(1).tolist()


def test_reduced_precision_is_used_only_where_it_is_measured_faster(model, monkeypatch):
    plain = score(model, TOKENS[:4], tasks=["pos"])
    seen = []
    states = model.states

    def spy(*arguments):
        seen.append(torch.is_autocast_enabled("cpu"))
        return states(*arguments)

    monkeypatch.setattr(model, "states", spy)
    for is_faster in (False, True):
        monkeypatch.setattr(precision, "is_bfloat16_faster", lambda _, answer=is_faster: answer)
        found = list(predict(model, TOKENS[:4], tasks=["pos"], precision="auto"))
        values = [p.confidence["pos"] for p in found]
        assert values == pytest.approx(plain.confidence[:, 0].tolist(), abs=0.05)
    list(predict(model, TOKENS[:4], tasks=["pos"]))
    assert seen == [False, True, False]


def test_the_measurement_of_precision_gives_one_answer_per_process():
    cpu = torch.device("cpu")
    assert precision.is_bfloat16_faster(cpu) is precision.is_bfloat16_faster(cpu)
