"""Beginning with an earlier model's weights, also when labels or tasks have been added."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor, nn

from mtl_engine.encoders import Encoder
from mtl_engine.errors import EngineError
from mtl_engine.heads import Head
from mtl_engine.model import MultiTaskModel

Names: TypeAlias = Sequence[list[str] | None]


@torch.no_grad()
def adopt_weights(model: MultiTaskModel, earlier: MultiTaskModel) -> None:
    """Copy what both models have: the encoder, and branches and heads of tasks by name.

    A head whose labels have changed keeps what it has learned of the labels it still has, a
    Bi-LSTM the vectors of the words it still has.
    """
    try:
        _adopt_encoder(model.encoder, earlier.encoder)
    except RuntimeError as error:
        raise EngineError(
            "The earlier model has another encoder than the configuration names; start from the "
            f"pre-trained weights instead. {error}"
        ) from error
    if model.shapes is not None and earlier.shapes is not None:
        _copy_equal(model.shapes, earlier.shapes)
    if model.mix is not None and earlier.mix is not None:
        _copy_equal(model.mix, earlier.mix)
    for task in model.tasks:
        if task.name not in earlier.number:
            continue
        new, old = model.number[task.name], earlier.number[task.name]
        if model.mixes and earlier.mixes:
            _copy_equal(model.mixes[new], earlier.mixes[old])
        if model.tops and earlier.tops:
            _copy_equal(model.tops[new], earlier.tops[old])
            _copy_equal(model.gates[new], earlier.gates[old])
        _adopt_head(model.head(task.name), earlier.head(task.name))


def _adopt_encoder(encoder: Encoder, earlier: Encoder) -> None:
    """Copy all weights; vectors of words that only one of the vocabularies has stay as they are."""
    weights, known, known_names = encoder.state_dict(), earlier.state_dict(), earlier.row_names()
    for name, words in encoder.row_names().items():
        if name in known_names:
            _copy_named(weights[name], (words,), known[name], (known_names[name],))
            known[name] = weights[name]
    encoder.load_state_dict(known)


def _copy_equal(module: nn.Module, earlier: nn.Module) -> None:
    known = earlier.state_dict()
    for name, weight in module.state_dict().items():
        if name in known and known[name].shape == weight.shape:
            weight.copy_(known[name])


def _adopt_head(head: Head, earlier: Head) -> None:
    if type(head) is not type(earlier):
        return
    names, known = head.axis_names(), earlier.state_dict()
    known_names = earlier.axis_names()
    for name, weight in head.state_dict().items():
        if name in known:
            _copy_named(weight, names.get(name, ()), known[name], known_names.get(name, ()))


def _copy_named(weight: Tensor, names: Names, earlier: Tensor, earlier_names: Names) -> None:
    """Copy the entries that both weights have: by name along named axes, else all or nothing."""
    here: list[list[int]] = []
    there: list[list[int]] = []
    for axis, size in enumerate(weight.shape):
        own = names[axis] if axis < len(names) else None
        if own is None:
            if earlier.shape[axis] != size:
                return
            here.append(list(range(size)))
            there.append(list(range(size)))
        else:
            place = {name: number for number, name in enumerate(earlier_names[axis] or [])}
            here.append([number for number, name in enumerate(own) if name in place])
            there.append([place[own[number]] for number in here[-1]])
    weight[np.ix_(*here)] = earlier.to(weight.device)[np.ix_(*there)]
