"""Saved models and snapshots: whole or not at all, never unpickled, readable elsewhere."""

import copy
import json
import os
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file

from mtl_engine import checkpoint
from mtl_engine.checkpoint import (
    load_model,
    load_snapshot,
    read_description,
    save_model,
    save_snapshot,
)
from mtl_engine.checksums import SEAL
from mtl_engine.config import EngineConfig
from mtl_engine.errors import EngineError
from mtl_engine.model import new_model
from mtl_engine.prediction import predict
from mtl_engine.training import Evaluation, Step, train
from mtl_engine.types import TaskSpec
from tests.mtl_engine.corpus import MOOD, TASKS, sentences, tiny_config, trained

os.environ.setdefault("HF_HUB_OFFLINE", "1")
TOKENS = [example.tokens for example in sentences(6)]


@pytest.fixture(scope="module")
def end():
    return trained(
        sentences(12), TASKS, tiny_config(model={"architecture": "CMT"}), dev=sentences(4)
    )


def test_a_loaded_model_says_the_same(end, tmp_path):
    save_model(end.model, tmp_path / "model", metrics=end.metrics, data_hash="abc")
    loaded = load_model(tmp_path / "model")
    assert (loaded.config, loaded.tasks) == (end.model.config, end.model.tasks)
    outputs = ["answers", "confidence"]
    assert list(predict(loaded, TOKENS, outputs=outputs)) == list(
        predict(end.model, TOKENS, outputs=outputs)
    )


def test_the_description_tells_all_without_loading_the_model(end, tmp_path):
    save_model(
        end.model, tmp_path / "m", metrics=end.metrics, temperatures={"mood": 1.5}, data_hash="abc"
    )
    description = read_description(tmp_path / "m")
    assert description["data_hash"] == "abc"
    assert description["temperatures"] == {"mood": 1.5}
    assert description["metrics"] == end.metrics
    assert {"torch", "transformers", "safetensors"} == set(description["versions"])
    assert [task["labels"] for task in description["tasks"]][2] == ["question", "statement"]
    card = (tmp_path / "m" / "README.md").read_text()
    assert all(task.name in card for task in TASKS)
    assert "Architecture CMT" in card


def test_a_model_folder_holds_safetensors_json_and_a_card_only(end, tmp_path):
    save_model(end.model, tmp_path / "m")
    names = {path.name for path in (tmp_path / "m").rglob("*") if path.is_file()}
    assert names == {"model.safetensors", "model.json", "README.md", "SHA256SUMS"}


def test_a_failed_save_leaves_the_old_model_and_no_rest(end, tmp_path, monkeypatch):
    save_model(end.model, tmp_path / "m", data_hash="old")
    monkeypatch.setattr(checkpoint, "model_card", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        save_model(end.model, tmp_path / "m", data_hash="new")
    assert read_description(tmp_path / "m")["data_hash"] == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_saving_again_replaces_the_model(end, tmp_path):
    for data_hash in ("old", "new"):
        save_model(end.model, tmp_path / "m", data_hash=data_hash)
    assert read_description(tmp_path / "m")["data_hash"] == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_what_a_killed_writer_left_is_removed_by_the_next(end, tmp_path):
    (tmp_path / ".m.new-a1b2c3").mkdir()
    (tmp_path / ".m.new-a1b2c3" / "model.safetensors").write_bytes(b"half")
    save_model(end.model, tmp_path / "m")
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_a_model_is_found_where_a_killed_writer_left_it(end, tmp_path):
    save_model(end.model, tmp_path / "m", data_hash="old")
    *_, step, _ = train(sentences(4), [], TASKS, tiny_config(epochs=1))
    save_snapshot(step.snapshot(), tmp_path / "s")
    for name in ("m", "s"):
        os.rename(tmp_path / name, tmp_path / f".{name}.old")
    assert read_description(tmp_path / "m")["data_hash"] == "old"
    assert load_model(tmp_path / "m").tasks == TASKS
    assert load_snapshot(tmp_path / "s").step == step.step


def test_a_model_replaced_while_it_is_read_is_read_anew(end, tmp_path, monkeypatch):
    save_model(end.model, tmp_path / "m")
    other = new_model(tiny_config(), [MOOD])
    read = checkpoint._read_description

    def read_then_replace(path):
        description = read(path)
        if len(description["tasks"]) == len(TASKS):
            save_model(other, tmp_path / "m")
        return description

    monkeypatch.setattr(checkpoint, "_read_description", read_then_replace)
    assert load_model(tmp_path / "m").tasks == (MOOD,)


def test_broken_folders_are_refused_with_the_reason(end, tmp_path):
    with pytest.raises(EngineError, match="not a saved model"):
        load_model(tmp_path)
    save_model(end.model, tmp_path / "m")
    description = read_description(tmp_path / "m")
    path = tmp_path / "m" / "model.json"
    path.write_text(json.dumps({**description, "format": 99}))
    with pytest.raises(EngineError, match="has format 99; this version reads 1"):
        load_model(tmp_path / "m")
    description["tasks"][2]["labels"].append("order")
    path.write_text(json.dumps(description))
    with pytest.raises(EngineError, match="do not fit"):
        load_model(tmp_path / "m")
    with pytest.raises(EngineError, match="not a whole snapshot"):
        load_snapshot(tmp_path / "m")


def test_weights_of_another_version_are_refused_with_the_remedy(end, tmp_path):
    save_model(end.model, tmp_path / "m")
    path = tmp_path / "m" / "model.safetensors"
    save_file({**load_file(path), "mixes.9.scale": torch.ones(())}, path)
    with pytest.raises(
        EngineError, match=r"mixes\.9\.scale(.|\n)*that version, or train the model"
    ):
        load_model(tmp_path / "m")


def test_a_model_without_later_weights_loads_and_says_what_it_said_without_them(end, tmp_path):
    model = copy.deepcopy(end.model)
    zeroed = ("inside.weight", "between_most.weight", "second_factor.weight", "second_factor.bias")
    absent = (*zeroed, "first_factor.weight", "first_factor.bias", "null_offset", "error_knots")
    for name, weight in model.state_dict().items():
        if name.endswith(zeroed):
            weight.zero_()
    save_model(model, tmp_path / "m")
    path = tmp_path / "m" / "model.safetensors"
    kept = load_file(path)
    assert any(name.endswith("between_most.weight") for name in kept)
    save_file({n: w for n, w in kept.items() if not n.endswith(absent)}, path)
    (tmp_path / "m" / SEAL).unlink()
    loaded = load_model(tmp_path / "m")
    for head in (model.heads, loaded.heads):
        for buffer_name, buffer in head.named_buffers():
            if buffer_name.endswith("null_offset"):
                buffer.zero_()
    said, says = ([p.answers for p in predict(m, TOKENS)] for m in (model, loaded))
    assert says == said


def shortened(path):
    os.truncate(path, path.stat().st_size - 10)


def emptied(path):
    os.truncate(path, 0)


def pickled(path):
    torch.save({"a": torch.ones(1)}, path)


@pytest.mark.parametrize("damage", [shortened, emptied, pickled, os.unlink])
def test_damaged_tensors_are_refused_by_name(end, damage, tmp_path):
    save_model(end.model, tmp_path / "m")
    damage(tmp_path / "m" / "model.safetensors")
    with pytest.raises(EngineError, match=r"model\.safetensors' is missing or damaged"):
        load_model(tmp_path / "m")
    *_, step, _ = train(sentences(4), [], TASKS, tiny_config(epochs=1))
    save_snapshot(step.snapshot(), tmp_path / "s")
    damage(tmp_path / "s" / "optimizer.safetensors")
    with pytest.raises(EngineError, match=r"not a whole snapshot.*optimizer\.safetensors"):
        load_snapshot(tmp_path / "s")


@pytest.mark.parametrize(
    ("tamper", "message"),
    [
        (lambda d: [d], "has format None"),
        (lambda d: {k: v for k, v in d.items() if k != "config"}, "not describe a model: 'config'"),
        (lambda d: {**d, "config": 3}, "not describe a model"),
        (lambda d: {**d, "config": {"modle": {}}}, "Did you mean 'model'"),
        (lambda d: {**d, "tasks": [{"name": "a"}]}, "not describe a model"),
        (lambda d: {**d, "tasks": [{**d["tasks"][0], "colour": 1}]}, "colour"),
        (lambda d: {**d, "tasks": "abc"}, "not describe a model"),
    ],
)
def test_a_description_that_was_tampered_with_is_refused(end, tamper, message, tmp_path):
    save_model(end.model, tmp_path / "m")
    path = tmp_path / "m" / "model.json"
    path.write_text(json.dumps(tamper(json.loads(path.read_text()))))
    with pytest.raises(EngineError, match=message):
        load_model(tmp_path / "m")


@pytest.mark.parametrize("text", ["[]", "{}", '{"history": [{}]}', '{"history": 3}', "{"])
def test_a_snapshot_that_was_tampered_with_is_refused(text, tmp_path):
    *_, step, _ = train(sentences(4), [], TASKS, tiny_config(epochs=1))
    save_snapshot(step.snapshot(), tmp_path / "s")
    (tmp_path / "s" / "snapshot.json").write_text(text)
    with pytest.raises(EngineError, match="not a whole snapshot"):
        load_snapshot(tmp_path / "s")


def test_a_snapshot_with_other_tensors_is_refused():
    *_, step, _ = train(sentences(4), [], TASKS, tiny_config(epochs=1))
    state = step.snapshot()
    name = next(iter(state.weights))
    for part in (
        {"weights": {n: w for n, w in state.weights.items() if n != name}},
        {"optimizer": {"exp_avg/nothing": torch.ones(1)}},
    ):
        with pytest.raises(EngineError, match="not those of this training"):
            train(
                sentences(4), [], TASKS, tiny_config(epochs=1), resume_from=replace(state, **part)
            )


def test_a_killed_training_goes_on_from_disk_to_the_same_bits(tmp_path):
    config = tiny_config(policy="size", epochs=2, frozen_layers=1)
    examples, dev = sentences(16), sentences(4, seed=1)
    whole = list(train(examples, dev, TASKS, config))
    for event in train(examples, dev, TASKS, config):
        if isinstance(event, Evaluation):
            save_snapshot(event.snapshot(), tmp_path / "snapshot")
            break
    rest = list(
        train(examples, dev, TASKS, config, resume_from=load_snapshot(tmp_path / "snapshot"))
    )
    assert [e.losses for e in rest if isinstance(e, Step)] == [
        e.losses for e in whole if isinstance(e, Step) and e.step > event.step
    ]
    expected = whole[-1].model.state_dict()
    assert all(torch.equal(w, expected[n]) for n, w in rest[-1].model.state_dict().items())


@pytest.mark.parametrize("kind", ["bilstm", "transformer"])
def test_models_on_every_encoder_are_saved_with_all_they_need(kind, tmp_path):
    config = EngineConfig.from_dict({"encoder": {"kind": kind, "layers": 2}})
    tasks = [MOOD, TaskSpec("score", "regression", low=0.0, high=5.0)]
    model = new_model(config, tasks, ["Ada", "visits"]).eval()
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert loaded.tasks == tuple(tasks)
    first, second = (
        [p.answers for p in predict(m, [("Ada", "sleeps"), ("Oslo",)])] for m in (model, loaded)
    )
    assert first == second
