"""Families that are not taken apart: their model's own forward pass, run layer by layer.

The layers are lifted out of the model and stand-ins put in their place. A forward pass of what is
left embeds the words and tells each stand-in how its layer would have been called: with which mask,
which positions, which biases. With that, any layer can be run on any rows, so that layers freeze,
are copied and start from kept features as those of the families that are taken apart. Whether the
layers then compute what the whole model computes is tried out once; a model of which it is not true
(layers that hand each other more than vectors, or change the length) runs as one single layer.
"""

import copy
import inspect
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from mtl_engine.encoders.pack import Pack, Pieces, collate, read_places
from mtl_engine.encoders.relative import Borrowed
from mtl_engine.errors import EngineError

Call = tuple[tuple[Any, ...], dict[str, Any]]  # how a layer is called, apart from its rows
Parts = tuple[nn.Module, list[nn.Module], int]
TRIED_SIZES = (7, 3, 5)  # sub-words of the sentences on which a division into layers is tried out


def host(model: Any) -> Parts:
    """Return embeddings, layers and the positions of a window of any Hugging Face encoder."""
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    if "attention_mask" not in inspect.signature(model.forward).parameters:
        raise EngineError(
            f"An encoder of the family '{model.config.model_type}' reads no attention mask, so "
            "that sentences could not be read side by side; choose another encoder."
        )
    model.config.use_cache = False
    positions = n_positions(model)
    was_training = model.training
    model.eval()
    with torch.no_grad():
        parts = _in_layers(model) or _whole(model)
    for part in (parts[0], *parts[1]):
        part.train(was_training)
    return *parts, positions


class HostedModel(nn.Module):
    """What is left of a model without its layers: it embeds, and tells how layers are called."""

    def __init__(self, model: Any, stack: nn.ModuleList) -> None:
        super().__init__()
        self.model = model
        self.width = 0  # of the rows, known once a pack was embedded
        self.real = [*stack]  # a list, so that the layers are not parts of this module
        self.gives_tuple = [False] * len(stack)
        self._pack: Pack | None = None
        self._calls: list[tuple[int, Call]] = []  # of the last pack: which layer, and how
        self._first: Tensor | None = None  # (S, T', h) what the first layer would read
        self._injected: tuple[int, Tensor] | None = None  # after which call to go on with what
        for number in range(len(stack)):
            stack[number] = StandIn(number, self)

    def forward(self, pack: Pack) -> Tensor:  # (N, h)
        self._run(pack)
        assert self._first is not None, "a forward pass calls its layers"
        self.width = self._first.shape[2]
        return pack.gather(self._first[:, : pack.width])

    def calls(self, pack: Pack) -> list[tuple[int, Call]]:
        """Return how each layer is called for a pack, in order."""
        if pack is not self._pack:
            self._run(pack)
        return self._calls

    def spread(self, rows: Tensor, pack: Pack) -> Tensor:
        """Return (S, T', h) rows laid out as long as the model's own padding has made them."""
        self.calls(pack)
        assert self._first is not None, "a forward pass calls its layers"
        grid = pack.spread(rows)
        return nn.functional.pad(grid, (0, 0, 0, self._first.shape[1] - pack.width))

    def finish(self, rows: Tensor, pack: Pack) -> Tensor:
        """Return what the model makes of its last layer's output, as a last norm."""
        calls = self.calls(pack)
        self._injected = (len(calls) - 1, self.spread(rows, pack))
        try:
            return pack.gather(self._run(pack)[:, : pack.width])
        finally:
            self._injected = None
            self._calls = calls

    def note(self, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Take in the call of a layer, and give back rows as if it had been made."""
        kwargs = dict(kwargs)
        rows = args[0] if args else kwargs.pop("hidden_states")
        if not self._calls:
            self._first = rows
        if self._injected is not None and len(self._calls) == self._injected[0]:
            rows = self._injected[1]
        self._calls.append((number, (args[1:], kwargs)))
        return (rows, None) if self.gives_tuple[number] else rows

    def _run(self, pack: Pack) -> Tensor:
        self._pack, self._calls = pack, []
        return last_states(self.model, pack)


class StandIn(nn.Module):
    """Stands where a layer stood, and tells the host how it is called."""

    def __init__(self, number: int, hosted: HostedModel) -> None:
        super().__init__()
        self.number = number
        self._host = Borrowed(hosted)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._host.module.note(self.number, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        """Return what the model reads off its layers, as a type of attention."""
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self._host.module.real[self.number], name)


class HostedLayer(nn.Module):
    """A layer of a hosted model."""

    def __init__(self, layer: nn.Module, place: int, hosted: HostedModel) -> None:
        super().__init__()
        self.layer = layer
        self.place = place
        self.is_finishing = False  # whether the model's last norm comes after it
        self._host = Borrowed(hosted)

    def forward(self, rows: Tensor, pack: Pack) -> Tensor:  # (N, h)
        hosted: HostedModel = self._host.module
        _, (args, kwargs) = hosted.calls(pack)[self.place]
        output = self.layer(hosted.spread(rows, pack), *args, **kwargs)
        grid = output[0] if isinstance(output, tuple) else output
        rows = pack.gather(grid[:, : pack.width])
        return hosted.finish(rows, pack) if self.is_finishing else rows


class WholeModel(nn.Module):
    """A model that runs as one single layer; it reads the pack and no rows."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, rows: Tensor, pack: Pack) -> Tensor:  # (N, h)
        return pack.gather(last_states(self.model, pack))


class NoEmbeddings(nn.Module):
    """Stands below a whole model, which embeds by itself."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, pack: Pack) -> Tensor:  # (N, h)
        return torch.zeros(len(pack.ids), self.width, device=pack.ids.device)


def last_states(model: Any, pack: Pack) -> Tensor:  # (S, T, h)
    """Return the output of a model's own forward pass."""
    is_read = read_places(pack)
    pad = getattr(model.config, "pad_token_id", None) or 0
    ids = torch.where(is_read.bool(), pack.spread(pack.ids), pad)
    states: Tensor = model(input_ids=ids, attention_mask=is_read, return_dict=True)[0]
    return states


def n_positions(model: Any) -> int:
    """Return how many sub-words a window of the model can have."""
    limits = [
        getattr(model.config, key, None) for key in ("max_position_embeddings", "n_positions")
    ]
    largest = min((limit for limit in limits if limit and limit > 0), default=512)
    for name, module in model.named_modules():
        if isinstance(module, nn.Embedding) and name.endswith("position_embeddings"):
            return int(largest) - (0 if module.padding_idx is None else 1 + module.padding_idx)
    return int(largest)


def _in_layers(model: Any) -> tuple[nn.Module, list[nn.Module]] | None:
    """Return the model in layers, or None if no division computes what the whole computes."""
    pack = _tried_pack(model)
    expected = pack.gather(last_states(model, pack))
    for stack in _stacks(model):
        real = [*stack]
        with suppress(Exception):  # whatever a model does not like about stand-ins
            gives_tuple = _output_types(model, stack, pack)
            hosted = HostedModel(model, stack)
            hosted.gives_tuple = gives_tuple
            layers = _layers_of(hosted, pack)
            for layers[-1].is_finishing in (False, True):
                if _composes(hosted, layers, pack, expected):
                    return hosted, [*layers]
        for number, layer in enumerate(real):
            stack[number] = layer
    return None


def _whole(model: Any) -> tuple[nn.Module, list[nn.Module]]:
    states = last_states(model, pack := _tried_pack(model))
    if states.shape[:2] != (pack.n_windows, pack.width):
        raise EngineError(
            f"An encoder of the family '{model.config.model_type}' gives no vector per sub-word "
            f"(its output is {tuple(states.shape)} for {pack.n_windows} sentences of "
            f"{pack.width}); choose another encoder."
        )
    return NoEmbeddings(states.shape[2]), [WholeModel(model)]


def _stacks(model: Any) -> list[nn.ModuleList]:
    """Return lists of modules that may be the layers, those of the named number first."""
    names = ("num_hidden_layers", "num_layers", "n_layers", "n_layer", "encoder_layers")
    depths = {getattr(model.config, name, None) for name in names}
    lists = [
        module
        for module in model.modules()
        if isinstance(module, nn.ModuleList) and len({type(child) for child in module}) == 1
    ]
    return sorted(lists, key=lambda stack: len(stack) not in depths)


def _output_types(model: Any, stack: nn.ModuleList, pack: Pack) -> list[bool]:
    """Return whether each layer gives a tuple of which the first entry is its rows."""
    given: dict[int, bool] = {}
    hooks = [
        layer.register_forward_hook(
            lambda _, __, output, n=number: given.__setitem__(n, isinstance(output, tuple))
        )
        for number, layer in enumerate(stack)
    ]
    last_states(model, pack)
    for hook in hooks:
        hook.remove()
    return [given.get(number, False) for number in range(len(stack))]


def _layers_of(hosted: HostedModel, pack: Pack) -> list[HostedLayer]:
    """Return a layer per call; one that is called again gets weights of its own."""
    layers: list[HostedLayer] = []
    used: set[int] = set()
    for place, (number, _) in enumerate(hosted.calls(pack)):
        layer = hosted.real[number]
        layers.append(HostedLayer(copy.deepcopy(layer) if number in used else layer, place, hosted))
        used.add(number)
    return layers


def _composes(
    hosted: HostedModel, layers: Sequence[HostedLayer], pack: Pack, expected: Tensor
) -> bool:
    rows = hosted(pack)
    for layer in layers:
        rows = layer(rows, pack)
    return rows.shape == expected.shape and torch.allclose(rows, expected, rtol=1e-4, atol=1e-4)


def _tried_pack(model: Any) -> Pack:
    pad = getattr(model.config, "pad_token_id", None) or 0
    known = [number for number in range(min(60, model.config.vocab_size)) if number != pad]
    rng = np.random.default_rng(0)
    return collate(
        [
            Pieces(
                ids=rng.choice(known, size).astype(np.int32),
                windows=np.array([size], dtype=np.int32),
                firsts=np.arange(size, dtype=np.int32),
            )
            for size in TRIED_SIZES
        ]
    )
