"""Beginning with an earlier model's weights, also when labels or tasks have been added."""

import torch
from torch import Tensor, nn

from mtl_engine.errors import EngineError
from mtl_engine.heads import Head
from mtl_engine.model import MultiTaskModel


@torch.no_grad()
def adopt_weights(model: MultiTaskModel, earlier: MultiTaskModel) -> None:
    """Copy what both models have: the encoder, and branches and heads of tasks by name.

    A head whose labels have changed keeps the outputs of the labels it still has.
    """
    try:
        model.encoder.load_state_dict(earlier.encoder.state_dict())
    except RuntimeError as error:
        raise EngineError(
            "The earlier model has another encoder than the configuration names; start from the "
            f"pre-trained weights instead. {error}"
        ) from error
    for task in model.tasks:
        if task.name not in earlier.number:
            continue
        new, old = model.number[task.name], earlier.number[task.name]
        if model.tops and earlier.tops:
            _copy_equal(model.tops[new], earlier.tops[old])
            _copy_equal(model.gates[new], earlier.gates[old])
        _adopt_head(model.head(task.name), earlier.head(task.name))


def _copy_equal(module: nn.Module, earlier: nn.Module) -> None:
    known = earlier.state_dict()
    for name, weight in module.state_dict().items():
        if name in known and known[name].shape == weight.shape:
            weight.copy_(known[name])


def _adopt_head(head: Head, earlier: Head) -> None:
    if type(head) is not type(earlier):
        return
    named = head.output_names()
    known, known_names = earlier.state_dict(), earlier.output_names()
    for name, weight in head.state_dict().items():
        if name in named:
            _copy_rows(weight, named[name], known[name], known_names[name])
        elif name in known and known[name].shape == weight.shape:
            weight.copy_(known[name])


def _copy_rows(weight: Tensor, names: list[str], earlier: Tensor, earlier_names: list[str]) -> None:
    place = {name: row for row, name in enumerate(earlier_names)}
    for row, name in enumerate(names):
        if name in place and earlier.shape[1:] == weight.shape[1:]:
            weight[row] = earlier[place[name]]
