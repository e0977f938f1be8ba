"""Devices: nothing assumes the processor, and results are the same wherever they are computed."""

import ast
from pathlib import Path

import numpy as np
import pytest
import torch

import mtl_engine
from mtl_engine.checkpoint import load_model, save_model, save_snapshot
from mtl_engine.config import EngineConfig
from mtl_engine.devices import find_device, tensor_of
from mtl_engine.errors import EngineError
from mtl_engine.evaluation import evaluate
from mtl_engine.model import new_model
from mtl_engine.prediction import fit_temperatures, predict, score
from mtl_engine.training import Step, train
from tests.mtl_engine.corpus import POS, TASKS, labelled_for, sentences, tiny_config, trained
from tests.mtl_engine.fake_device import device_of, fake_card

CARD = torch.device("cuda:0")


def test_the_fake_card_refuses_what_a_card_refuses():
    with fake_card():
        there, here = torch.ones(2, device="cuda:0"), torch.ones(2)
        assert (there.device, here.device) == (CARD, torch.device("cpu"))
        assert (there + 1).device == CARD
        assert torch.nn.Linear(2, 2).to(CARD)(there).device == CARD
        with pytest.raises(RuntimeError, match="cuda:0"):
            there + here
        with pytest.raises(RuntimeError, match="cuda:0"):
            torch.nn.Linear(2, 2).to(CARD)(here)
        with pytest.raises(TypeError, match="numpy"):
            there.numpy()
        assert there.cpu().numpy().tolist() == [1, 1]
        assert tensor_of(np.arange(2), there).device == CARD


@pytest.mark.parametrize(
    ("shape", "frozen_layers"),
    [
        ({}, -1),
        ({}, 1),
        ({"has_crf": True, "pooling": "first", "has_scalar_mix": True}, 0),
        ({"architecture": "CMT", "gates_read": "all", "has_scalar_mix": True}, 1),
    ],
)
def test_a_card_computes_what_the_processor_computes(shape, frozen_layers, tmp_path):
    config = tiny_config(model=shape, frozen_layers=frozen_layers, epochs=2)
    examples, dev = sentences(12), sentences(6, seed=1)
    tokens = [example.tokens for example in sentences(7, seed=2)]

    def everything(device):
        end = trained(examples, TASKS, config, dev=dev, device=device)
        model = end.model
        save_model(model, tmp_path / device)
        again = load_model(tmp_path / device, device=device)
        scores = score(again, tokens, method="dropout", n_passes=2, has_vectors=True)
        return (
            end.metrics,
            fit_temperatures(model, dev),
            [vars(found) for found in predict(model, tokens)],
            scores.confidence.tolist(),
            scores.vectors.tolist(),
            {name: result.main for name, result in evaluate(again, dev).items()},
        )

    expected = everything("cpu")
    with fake_card():
        found = everything("cuda")
    assert found == expected


def test_a_model_on_a_card_stays_there_and_its_snapshot_is_read_anywhere(tmp_path):
    config = tiny_config(epochs=2)
    with fake_card():
        events = train(labelled_for(POS), [], [POS], config, device="cuda")
        state = next(event for event in events if isinstance(event, Step)).snapshot()
        *_, end = events
        assert {weight.device for weight in end.model.parameters()} == {CARD}
        assert {device_of(weight) for weight in state.weights.values()} == {torch.device("cpu")}
        assert {device_of(value) for value in state.optimizer.values()} == {torch.device("cpu")}
        save_snapshot(state, tmp_path / "s")
        *_, resumed = train(labelled_for(POS), [], [POS], config, resume_from=state, device="cuda")
        whole = {name: weight.cpu() for name, weight in end.model.state_dict().items()}
        rest = {name: weight.cpu() for name, weight in resumed.model.state_dict().items()}
    *_, elsewhere = train(labelled_for(POS), [], [POS], config, resume_from=state)
    for name, weight in elsewhere.model.state_dict().items():
        assert torch.equal(whole[name], rest[name])
        assert torch.equal(whole[name], weight)


def test_a_bilstm_runs_on_a_card():
    config = EngineConfig.from_dict(
        {"encoder": {"kind": "bilstm", "width": 8}, "training": {"epochs": 2}}
    )
    tokens = [example.tokens for example in sentences(4)]
    expected = list(predict(trained(labelled_for(POS), [POS], config).model, tokens))
    with fake_card():
        model = trained(labelled_for(POS), [POS], config, device="cuda").model
        assert list(predict(model, tokens)) == expected


@pytest.mark.parametrize("family", ["modernbert", "mpnet", "longformer", "deberta-v2", "t5"])
def test_any_family_runs_on_a_card(family, tmp_path):
    from tests.mtl_engine.test_encoder_families import config_of, write_encoder

    write_encoder(family, tmp_path)
    config = config_of(tmp_path, frozen_layers=0, epochs=1)
    examples = labelled_for(POS)
    expected = trained(examples, [POS], config).model
    tokens = [example.tokens for example in examples]
    answers = [found.answers for found in predict(expected, tokens)]
    with fake_card():
        model = trained(examples, [POS], config, device="cuda").model
        assert [found.answers for found in predict(model, tokens)] == answers


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gpu", r"'gpu'; allowed: auto, cpu, cuda"),
        ("cuda", r"'cuda', but torch sees 0 graphics cards"),
        ("cuda:3", r"'cuda:3', but torch sees 0"),
        ("mps", "no Apple chip"),
    ],
)
def test_a_device_that_is_not_there_is_refused(name, message, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)
    with pytest.raises(EngineError, match=message):
        find_device(name)


def test_auto_takes_the_best_that_there_is(monkeypatch):
    for has_card, has_mps, expected in [(1, 1, "cuda:0"), (0, 1, "mps"), (0, 0, "cpu")]:
        monkeypatch.setattr("torch.cuda.is_available", lambda has=has_card: bool(has))
        monkeypatch.setattr("torch.cuda.device_count", lambda has=has_card: has)
        monkeypatch.setattr("torch.backends.mps.is_available", lambda has=has_mps: bool(has))
        assert str(find_device("auto")) == expected


def test_a_step_in_parts_is_the_step_of_the_whole_batch():
    examples = [*sentences(6), *labelled_for(POS, n=10)]
    losses = {}
    for n_parts in (1, 3):
        config = tiny_config(epochs=1, n_parts=n_parts, model={"dropout": 0.0})
        model = new_model(config, TASKS)
        losses[n_parts] = gradients(model, examples)
    for name, gradient in losses[1].items():
        torch.testing.assert_close(losses[3][name], gradient, rtol=1e-4, atol=1e-6)


def gradients(model, examples):
    from mtl_engine.examples import read_examples
    from mtl_engine.training.steps import Learner

    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        if hasattr(module, "attention_dropout"):
            module.attention_dropout.p = 0.0
    learner = Learner(model, read_examples(model, examples), None)
    names = [task.name for task in TASKS if task.kind != "relations"]  # sampled pairs differ
    learner.update(range(len(examples)), names, seed=0, apply=lambda: None)
    return {n: w.grad.clone() for n, w in model.named_parameters() if w.grad is not None}


def test_when_memory_runs_out_steps_and_predictions_are_made_in_smaller_parts(monkeypatch):
    from mtl_engine.model import MultiTaskModel

    whole = MultiTaskModel.states
    seen = []

    def short_of_memory(self, pack, *rest):
        seen.append(pack.n_sentences)
        if pack.n_sentences > 3:
            raise torch.OutOfMemoryError("the card is full")
        return whole(self, pack, *rest)

    monkeypatch.setattr(MultiTaskModel, "states", short_of_memory)
    model = trained(labelled_for(POS), [POS], tiny_config(epochs=2)).model
    assert seen[:7] == [8, 4, 2, 2, 2, 2, 2]  # 8 at once, then in halves, then in quarters
    tokens = [example.tokens for example in sentences(9)]
    found = list(predict(model, tokens))
    monkeypatch.undo()
    assert [p.answers for p in found] == [p.answers for p in predict(model, tokens)]


def test_a_sentence_that_does_not_fit_into_memory_alone_is_an_error(monkeypatch):
    from mtl_engine.model import MultiTaskModel

    def full(self, pack, *rest):
        raise torch.OutOfMemoryError("the card is full")

    monkeypatch.setattr(MultiTaskModel, "states", full)
    with pytest.raises(torch.OutOfMemoryError):
        trained(labelled_for(POS), [POS], tiny_config(epochs=1))


MAKERS = set(
    "arange as_tensor empty eye from_numpy full linspace ones rand randint randn randperm tensor "
    "zeros".split()
)
MOVES_ALONG = {"Parameter", "register_buffer"}  # part of a module, which is put on its device
ONE_PLACE = "mtl_engine/devices.py"


def made_without_device(source):
    """Return the lines that make a tensor on the processor, wherever the others live."""
    tree = ast.parse(source)
    excused = {
        part
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and name_of(call) in MOVES_ALONG
        for part in ast.walk(call)
    }
    return [
        call.lineno
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and call not in excused
        and name_of(call) in MAKERS
        and ast.unparse(call.func).startswith("torch.")
        and not any(keyword.arg == "device" for keyword in call.keywords)
    ]


def name_of(call):
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def test_a_tensor_made_without_its_device_is_found():
    source = """
import torch
a = torch.zeros(2)
b = torch.zeros(2, device=a.device)
c = nn.Parameter(torch.ones(2))
d = a.new_ones(2)
e = torch.from_numpy(x) + numpy.zeros(3)
"""
    assert made_without_device(source) == [3, 7]


def test_no_tensor_of_the_engine_is_made_without_its_device():
    root = Path(mtl_engine.__file__).parent
    found = {
        f"mtl_engine/{path.relative_to(root)}": lines
        for path in sorted(root.rglob("*.py"))
        if (lines := made_without_device(path.read_text(encoding="utf-8")))
    }
    assert list(found) == [ONE_PLACE], found
