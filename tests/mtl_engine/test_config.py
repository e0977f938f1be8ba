"""Settings: strict, and back and forth through plain dictionaries."""

import json

import pytest

from mtl_engine.config import BY_TASKS, EncoderConfig, EngineConfig, ModelConfig, TrainingConfig
from mtl_engine.errors import EngineError, UnknownName


def test_settings_survive_a_way_through_json():
    config = EngineConfig.from_dict(
        {
            "encoder": {"kind": "bilstm", "width": 64},
            "model": {"architecture": "CMT"},
            "training": {"seed": 7, "task_weights": {"ner": 2}, "learning_rate": 1},
        }
    )
    assert config.training.task_weights == {"ner": 2.0}
    assert EngineConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_the_defaults_are_the_measured_ones():
    training = EngineConfig().training
    assert (training.learning_rate, training.head_factor, training.beta2) == (4e-4, 10, 0.98)
    assert EngineConfig().encoder.frozen_layers == BY_TASKS
    assert EngineConfig().model.has_scalar_mix
    assert not EngineConfig.from_dict({"model": {"architecture": "CMT"}}).model.has_scalar_mix
    assert EngineConfig().model.architecture == "SMT"


def test_more_words_are_passed_over_less_often():
    passes = [TrainingConfig().passes_over(n) for n in (1, 500, 4_000, 20_000, 10**8)]
    assert passes == sorted(passes, reverse=True)
    assert passes[2] == 7
    assert passes[0] / passes[2] == pytest.approx(1.514, abs=0.001)  # 4,000 to the power of .05
    assert passes[2] / passes[3] == pytest.approx(1.084, abs=0.001)  # 5 to the power of .05
    assert TrainingConfig(epochs=8).passes_over(500) == 8


def test_a_step_has_fewer_words_where_there_are_few():
    assert [TrainingConfig().words_per_step(n) for n in (1, 2_000, 4_000)] == [32, 50, 96]
    assert TrainingConfig(batch_words=7).words_per_step(4_000) == 7


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        ({"trainig": {}}, ["trainig", "Did you mean 'training'", "encoder, model, training"]),
        ({"training": {"lr": 1}}, ["TrainingConfig key 'lr'", "learning_rate"]),
        ({"model": {"architecture": "XMT"}}, ["'XMT'", "CMT, SMT, ST"]),
        ({"training": {"policy": "sizes"}}, ["'sizes'", "Did you mean 'size'"]),
    ],
)
def test_an_unknown_name_is_named_with_the_known_ones(values, parts):
    with pytest.raises(UnknownName) as error:
        EngineConfig.from_dict(values)
    assert all(part in str(error.value) for part in parts)


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        ({"training": {"batch_words": -1}}, ["'batch_words' is -1", "0 or more"]),
        ({"training": {"n_parts": 0}}, ["'n_parts' is 0", "1 or more"]),
        ({"training": {"beta2": 1.0}}, ["'beta2' is 1.0", "less than 1"]),
        ({"training": {"batch_size": -1}}, ["'batch_size' is -1", "0 or more"]),
        ({"encoder": {"lora_rank": -1}}, ["'lora_rank' is -1", "0 to 512"]),
        ({"training": {"batch_size": 2.5}}, ["'batch_size' is 2.5", "int"]),
        ({"training": {"batch_size": True}}, ["'batch_size' is True", "int"]),
        ({"training": {"learning_rate": float("nan")}}, ["'learning_rate' is nan"]),
        ({"training": {"learning_rate": float("inf")}}, ["'learning_rate' is inf", "finite"]),
        ({"training": {"clip": -float("inf")}}, ["'clip' is -inf", "finite"]),
        ({"training": {"weight_decay": 10**400}}, ["'weight_decay' is 1000", "finite"]),
        ({"training": {"task_weights": {"a": float("inf")}}}, ["'task_weights.a' is inf"]),
        ({"model": {"span_keep": float("inf")}}, ["'span_keep' is inf", "finite"]),
        (None, ["EngineConfig is None", "encoder, model, training"]),
        ([("training", {})], ["EngineConfig is [", "encoder, model, training"]),
        ({"training": {"learning_rate": "fast"}}, ["'fast'", "float"]),
        ({"training": {"label_smoothing": 1}}, ["'label_smoothing' is 1.0"]),
        ({"training": {"task_weights": {"a": -1}}}, ["'task_weights'", "0 or more"]),
        ({"training": {"task_weights": [1]}}, ["'task_weights' is [1]", "task name to weight"]),
        ({"training": 3}, ["'training' is 3", "seed"]),
        ({"training": {"seed": -1}}, ["'seed' is -1", "0 to 2**63 - 1"]),
        ({"training": {"seed": 2**63}}, [f"'seed' is {2**63}", "0 to 2**63 - 1"]),
        ({"model": {"dropout": 1}}, ["'dropout' is 1.0", "dropout < 1"]),
        ({"encoder": {"max_word_pieces": 600}}, ["'max_word_pieces' is 600", "510"]),
        ({"encoder": {"frozen_layers": -3}}, ["'frozen_layers' is -3", "-2 or more"]),
        ({"encoder": {"kind": "tiny", "frozen_layers": -2}}, ["is -2", "of random weights"]),
        (
            {"encoder": {"kind": "bilstm", "frozen_layers": 0}},
            ["'frozen_layers' is 0", "-1 for a Bi-LSTM with random vectors"],
        ),
        (
            {"encoder": {"kind": "bilstm", "vectors": "bundled", "frozen_layers": 1}},
            ["'frozen_layers' is 1", "-1 or 0 for a Bi-LSTM"],
        ),
    ],
)
def test_a_bad_value_is_named_with_its_key_and_what_is_allowed(values, parts):
    with pytest.raises(EngineError) as error:
        EngineConfig.from_dict(values)
    assert all(part in str(error.value) for part in parts)


@pytest.mark.parametrize(
    ("group", "choice", "known"),
    [
        (EncoderConfig, {"kind": "transfomer"}, "Did you mean 'transformer'"),
        (ModelConfig, {"architecture": "XMT"}, "CMT, SMT, ST"),
        (ModelConfig, {"pooling": "max"}, "first, mean"),
        (TrainingConfig, {"policy": "sizes"}, "Did you mean 'size'"),
    ],
)
def test_settings_made_in_code_know_their_choices_too(group, choice, known):
    with pytest.raises(UnknownName, match=known):
        group(**choice)


@pytest.mark.parametrize(
    ("encoder", "n_frozen"),
    [
        ({}, BY_TASKS),
        ({"name": "some/encoder"}, BY_TASKS),
        ({"kind": "tiny"}, -1),
        ({"kind": "tiny", "frozen_layers": 2}, 2),
        ({"kind": "bilstm"}, -1),
        ({"kind": "bilstm", "vectors": "bundled"}, 0),
        ({"kind": "bilstm", "vectors": "words.vec", "frozen_layers": -1}, -1),
    ],
)
def test_random_weights_are_frozen_only_if_that_is_asked_for(encoder, n_frozen):
    config = EngineConfig.from_dict({"encoder": encoder})
    assert config.encoder.frozen_layers == n_frozen
    assert EngineConfig.from_dict(config.to_dict()) == config
