import json

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.methods.surrogate import estimation
from analysis.methods.surrogate.advice import Advice, Effect, Target, advise, in_words
from analysis.methods.surrogate.groups import task_groups
from mtl_engine.config import EngineConfig
from mtl_engine.types import Example, TaskSpec

MOOD = TaskSpec("mood", "classes", ("ask", "tell"))
POS = TaskSpec("pos", "tags", ("noun", "verb"))
NER = TaskSpec("NER", "spans", ("city",))
RE = TaskSpec("RE", "relations", ("near",), parent="NER")
TINY = EngineConfig.from_dict({"encoder": {"kind": "tiny"}, "training": {"epochs": 1}})


def _example(i: int) -> Example:
    words = ("who" if i % 2 else "we", "visit", ("rome", "oslo", "lima")[i % 3])
    return Example(
        words,
        {
            "mood": "ask" if i % 2 else "tell",
            "pos": ["noun", "verb", "noun"],
            "NER": [[2, 3, "city"]],
        },
        i,
    )


EXAMPLES = [_example(i) for i in range(60)]


def _advice(effects, metric="F1", parent=None, **changes):
    values = {
        "effects": tuple(effects),
        "targets": (Target("RE", metric, 40.0, 41.0, 100, parent),),
        "too_few": {},
        "method": "trained",
        "n_trainings": 9,
        "n_seeds": 3,
        "cpu_seconds": 1.0,
    }
    return Advice(**{**values, **changes})


def test_advice_says_what_to_train_with_what_and_what_to_leave_out():
    effects = [Effect("NER", "RE", 1.2, 0.4, 2.0), Effect("POS", "RE", -0.8, -1.4, -0.2)]
    assert in_words(_advice(effects)) == [
        "Train RE with NER (+1.2 F1, 95 % interval 0.4 to 2.0); "
        "leave POS out (-0.8 F1, 95 % interval -1.4 to -0.2)."
    ]
    assert in_words(_advice(effects[1:], parent="NER")) == [
        "Train RE with NER; leave POS out (-0.8 F1, 95 % interval -1.4 to -0.2)."
    ]
    assert in_words(_advice(effects[1:]))[0].startswith("Train RE alone; leave POS out (")


def test_advice_says_when_there_are_not_enough_labels_to_tell():
    unsure = Effect("POS", "RE", 0.3, -0.5, 1.1)
    assert in_words(_advice([unsure])) == ["Not enough labels to tell whether POS helps RE."]
    both = [unsure, Effect("DP", "RE", 0.3, -0.5, 1.1)]
    assert in_words(_advice(both)) == ["Not enough labels to tell whether POS and DP help RE."]
    few = _advice([], targets=(), too_few={"RE": 3})
    assert in_words(few) == ["Not enough labels to tell about RE: 3 labelled sentences."]


def test_advice_is_kept_as_json():
    advice = _advice([Effect("NER", "RE", 1.2, 0.4, 2.0)], too_few={"POS": 2})
    assert Advice.from_dict(json.loads(json.dumps(advice.to_dict()))) == advice
    assert advice.effect("NER", "RE").verdict == "helps"
    assert advice.effect("RE", "NER") is None


def test_groups_hold_every_task_alone_all_together_and_parents_of_relations():
    groups = task_groups([NER, RE, POS], 24, 3, rng=np.random.default_rng(0))
    assert set(groups) == {(0,), (0, 1), (2,), (0, 2), (0, 1, 2)}
    many = [TaskSpec(f"t{i}", "classes", ("a", "b")) for i in range(8)]
    groups = task_groups(many, 10, 3, rng=np.random.default_rng(0))
    assert len(groups) == len(set(groups)) == 8 + 10 + 1


def test_effects_are_the_shares_of_additive_gains(monkeypatch):
    """With gains that add up and noise of the seed alone, effects and intervals are known."""
    tasks = [MOOD, POS, NER]
    shares = np.array([[0, 2.0, -3.0], [1.0, 0, 0.0], [0.5, -1.0, 0]])  # target, source

    def scores(split, tasks, group, config, cache_dir):
        noise = config.training.seed * 10.0
        return np.array(
            [50 + noise + shares[t][list(group)].sum() if t in group else np.nan for t in range(3)]
        )

    monkeypatch.setattr(estimation, "trained_scores", scores)
    seen = []
    advice = advise(
        EXAMPLES, tasks, TINY, seeds=(0, 1, 2), on_progress=lambda *step: seen.append(step)
    )
    for target, row in enumerate(shares):
        for source, share in enumerate(row):
            if source != target:
                effect = advice.effect(tasks[source].name, tasks[target].name)
                assert (effect.points, effect.low, effect.high) == pytest.approx((share,) * 3)
    assert seen == [(i + 1, 21) for i in range(21)]  # 7 groups, 3 seeds
    assert [t.alone for t in advice.targets] == pytest.approx([60, 60, 60])
    assert [t.metric for t in advice.targets] == ["accuracy", "accuracy", "F1"]


def test_intervals_hold_the_truth_when_seeds_and_groups_are_noisy():
    rng = np.random.default_rng(0)
    design = np.array([[1, 0], [0, 1], [1, 1.0]])
    truth = np.array([1.0, -2.0])
    hits = 0
    for _ in range(40):
        gains = design @ truth + rng.normal(size=(5, 1)) + 0.5 * rng.normal(size=(5, 3))
        low, high = estimation._interval(design, gains)
        hits += (low <= truth) & (truth <= high)
    assert (hits >= 32).all()  # of 40; a bootstrap of five seeds is a little narrow


@pytest.mark.parametrize("method", ["trained", "gradients"])
def test_real_models_give_an_effect_for_every_pair(method):
    advice = advise(EXAMPLES, [MOOD, POS], TINY, method=method, seeds=(0, 1))
    assert {(e.source, e.target) for e in advice.effects} == {("mood", "pos"), ("pos", "mood")}
    assert all(e.low <= e.points <= e.high for e in advice.effects)
    assert advice.n_trainings == (6 if method == "trained" else 2)
    assert len(in_words(advice)) == (2 if method == "trained" else 3)
    assert ("from gradients" in in_words(advice)[-1]) == (method == "gradients")


@pytest.mark.parametrize("method", ["trained", "gradients"])
def test_relations_are_always_trained_with_their_spans(method):
    examples = [
        Example(e.tokens, {"NER": [[0, 1, "city"], [2, 3, "city"]], "RE": [[0, 1, 2, 3, "near"]]})
        for e in EXAMPLES[:44]
    ]
    advice = advise(examples, [NER, RE], TINY, method=method, seeds=(0, 1))
    assert [(e.source, e.target) for e in advice.effects] == [("RE", "NER")]
    assert [t.parent for t in advice.targets] == [None, "NER"]
    assert in_words(advice)[1] == "Train RE with NER, whose spans it links."


def test_tasks_with_few_labels_are_left_out_and_named():
    examples = [Example(e.tokens, {"mood": e.labels["mood"]}, e.id) for e in EXAMPLES]
    advice = advise(examples, [MOOD, POS], TINY)
    assert advice.effects == ()
    assert "Not enough labels to tell about pos: 0 labelled sentences." in in_words(advice)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": (0,)}, "two or more distinct seeds"),
        ({"method": "guessed"}, "'trained' or 'gradients'"),
        ({"subset_size": 1}, "at least 2 tasks"),
    ],
)
def test_bad_settings_are_refused(changes, message):
    with pytest.raises(AnalysisError, match=message):
        advise(EXAMPLES, [MOOD, POS], TINY, **changes)
