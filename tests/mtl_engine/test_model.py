"""Architectures: what is shared, what is private, and how the gate mixes them."""

import pytest
import torch

from mtl_engine.encoders.pack import collate
from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.model import Gate, ScalarMix, new_model
from mtl_engine.types import TaskSpec
from tests.mtl_engine.corpus import MOOD, MOVES, POS, SPANS, TASKS, tiny_config


def model_of(architecture, tasks=TASKS, **options):
    config = tiny_config(
        model={"architecture": architecture, **options.pop("model", {})}, **options
    )
    return new_model(config, tasks).eval()


def states_of(model, *sentences):
    pack = collate(model.encoder.read(sentences))
    with torch.no_grad():
        return model.states(pack, [task.name for task in model.tasks])


def test_the_gate_is_the_papers():
    gate = Gate(2, 2, has_branch_linear=False)
    with torch.no_grad():
        gate.linear.weight.copy_(torch.tensor([[0.5, -0.5, 1, 0], [0, 0.25, 0, -1]]))
        gate.linear.bias.copy_(torch.tensor([0.1, -0.2]))
        mixed = gate(torch.tensor([[1.0, 2.0]]), torch.tensor([[-1.0, 0.5]]))
    assert mixed[0].tolist() == pytest.approx([-0.60436778, 1.175249], abs=1e-6)


def test_a_gate_over_three_branches_is_a_weighted_mean_per_component():
    gate = Gate(2, 3, has_branch_linear=False)
    torch.nn.init.zeros_(gate.linear.weight)
    with torch.no_grad():
        gate.linear.bias.copy_(torch.tensor([1.0, 2, 3]).log().repeat_interleave(2))
        mixed = gate(*(torch.full((1, 2), float(value)) for value in (6, 12, 18)))
    assert mixed[0].tolist() == pytest.approx([1 + 4 + 9] * 2)


def test_words_read_a_mix_of_layers_and_whole_sentences_the_last_one():
    model = new_model(tiny_config(), TASKS)
    mixed = {
        task.name for task in TASKS if isinstance(model.mixes[model.number[task.name]], ScalarMix)
    }
    assert mixed == {task.name for task in TASKS} - {MOOD.name}
    layers = [torch.zeros(1, 2), torch.ones(1, 2)]
    assert model.mixes[model.number[MOOD.name]](layers).tolist() == [[1.0, 1.0]]


def test_a_scalar_mix_starts_as_the_mean_of_the_layers():
    mix = ScalarMix(2)
    assert mix([torch.tensor([1.0]), torch.tensor([3.0])]).item() == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("n_layers", "private", "common"), [(12, 0, 8), (6, 0, 4), (3, 0, 2), (1, 0, 0), (6, 1, 5)]
)
def test_the_top_third_of_the_layers_is_private(n_layers, private, common):
    model = model_of("CMT", layers=n_layers, model={"private_layers": private})
    assert model.n_common == common
    assert [len(top) for top in model.tops] == [n_layers - common] * len(TASKS)


def test_private_layers_start_from_the_shared_weights_and_are_their_own():
    model = model_of("CMT", [POS, MOOD])
    shared = model.encoder.layers[-1].up.weight
    private = [top[-1].up.weight for top in model.tops]
    assert all(torch.equal(weight, shared) for weight in private)
    assert len({weight.data_ptr() for weight in [shared, *private]}) == 3


def test_with_equal_branches_cmt_reads_what_smt_reads():
    plain = {"has_scalar_mix": False}
    smt, cmt = (
        states_of(model_of(a, [POS, MOOD], model=plain), ("a", "b"), ("c",)) for a in ("SMT", "CMT")
    )
    for name in ("pos", "mood"):
        torch.testing.assert_close(smt[name].words, cmt[name].words)
        torch.testing.assert_close(smt[name].pooled, cmt[name].pooled)


@pytest.mark.parametrize("architecture", ["SMT", "CMT"])
def test_a_sentence_reads_the_same_alone_and_beside_longer_ones(architecture):
    model = model_of(architecture, [POS, MOOD])
    alone = states_of(model, ("short", "one"))
    beside = states_of(model, ("a", "much", "longer", "sentence", "of", "words"), ("short", "one"))
    for name in ("pos", "mood"):
        torch.testing.assert_close(beside[name].words[6:], alone[name].words)
        torch.testing.assert_close(beside[name].pooled[1:], alone[name].pooled)


def test_selecting_sentences_selects_their_words():
    states = states_of(model_of("SMT", [POS]), ("a",), ("b", "c"), ("d",))["pos"]
    some = states.select([2, 1])
    assert some.counts.tolist() == [1, 2]
    assert torch.equal(some.words, states.words[[3, 1, 2]])
    assert torch.equal(some.pooled, states.pooled[[2, 1]])
    assert states.select([0, 1, 2]) is states


def test_single_task_models_take_one_task_or_relations_with_their_spans():
    model_of("ST", [SPANS, MOVES])
    with pytest.raises(EngineError, match="one model per task"):
        model_of("ST", [SPANS, POS])


def test_relations_need_their_parent():
    with pytest.raises(UnknownName, match="parent of 'moves'"):
        model_of("SMT", [MOVES, POS])


def test_tasks_have_distinct_names_and_there_is_at_least_one():
    with pytest.raises(EngineError, match="distinct names"):
        model_of("SMT", [POS, TaskSpec("pos", "classes", ("x",))])
    with pytest.raises(EngineError, match="one or more tasks"):
        model_of("SMT", [])


def test_freezing_into_the_private_layers_is_refused():
    with pytest.raises(EngineError, match="freeze at most those"):
        model_of("CMT", frozen_layers=3)
    with pytest.raises(EngineError, match="the encoder has 3 layers"):
        model_of("CMT", model={"private_layers": 4})


def test_an_unknown_task_is_named_with_the_known_ones():
    with pytest.raises(UnknownName, match="Did you mean 'mood'"):
        model_of("SMT").with_parents(["moods"])
