"""One model for several tasks: ST, SMT and CMT (Rotman & Reichart 2022, 5.1).

- ST: an encoder and one head. - SMT: a shared encoder and a head per task.
- CMT: common bottom layers, a shared top and one private top per task, all starting from the
  pre-trained weights; a gate per task mixes the shared branch with the private one.
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from mtl_engine.config import BY_TASKS, EngineConfig
from mtl_engine.encoders import Encoder, new_encoder
from mtl_engine.encoders.pack import Pack
from mtl_engine.encoders.subwords import N_SHAPES
from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.heads import Head, States, new_head
from mtl_engine.kinds import KINDS
from mtl_engine.types import TaskSpec


class MultiTaskModel(nn.Module):
    """An encoder and one head per task; tasks are addressed by name."""

    def __init__(self, config: EngineConfig, tasks: Sequence[TaskSpec], encoder: Encoder) -> None:
        super().__init__()
        require_tasks(config, tasks)
        self.config = config
        self.tasks = tuple(tasks)
        self.number = {task.name: number for number, task in enumerate(tasks)}
        self.encoder = encoder
        self.n_common = common_layers(config, encoder)
        has_shapes = config.model.has_word_shapes and not encoder.reads_case
        self.shapes = _word_shapes(encoder.width) if has_shapes else None
        heads = [new_head(task, tasks, encoder.width, config.model) for task in tasks]
        self.heads = nn.ModuleList(heads)
        self.tops = nn.ModuleList()  # CMT: private layers, per task
        self.gates = nn.ModuleList()
        self.mix: ScalarMix | None = None  # CMT: of the shared branch
        self.mixes = nn.ModuleList()  # ST and SMT: of what each task reads
        if config.model.architecture == "CMT":
            self._add_private_branches()
        elif config.model.has_scalar_mix:
            self.mixes.extend(
                ScalarMix(self._n_readable()) if head.is_by_word else LastLayer() for head in heads
            )

    @property
    def device(self) -> torch.device:
        return self.encoder.device

    def head(self, name: str) -> Head:
        """Return a task's head."""
        head: Head = self.heads[self.number[name]]  # type: ignore[assignment]
        return head

    def scores(
        self, pack: Pack, names: Sequence[str], features: Tensor | None = None
    ) -> dict[str, Any]:
        """Return each task's scores; relations bring their parent's along."""
        return self.scores_of(self.states(pack, self.with_parents(names), features))

    def scores_of(self, states: Mapping[str, States]) -> dict[str, Any]:
        """Return each task's scores of its states; parents must come first."""
        found: dict[str, Any] = {}
        for name, its_states in states.items():
            parents = self.head(name).task.parents
            found[name] = self.head(name)(its_states, *(found[parent] for parent in parents))
        return found

    def states(
        self, pack: Pack, names: Sequence[str], features: Tensor | None = None
    ) -> dict[str, States]:
        """Return what each task's head reads; ``features`` replace the frozen bottom's output."""
        rows = self.encoder.bottom(pack) if features is None else features
        if self.shapes is not None and pack.shapes is not None:
            rows = rows.index_add(0, pack.words, self.shapes(pack.shapes).to(rows.dtype))
        start = max(0, self.encoder.n_frozen)
        layers = [rows]
        for layer in self.encoder.layers[start : self.n_common]:
            layers.append(layer(layers[-1], pack))
        if self.mixes:
            return {name: self._read(self.mixes[self.number[name]](layers), pack) for name in names}
        if not self.tops:
            shared = self._read(layers[-1], pack)
            return dict.fromkeys(names, shared)
        common = layers[-1]
        for layer in self.encoder.layers[self.n_common :]:
            layers.append(layer(layers[-1], pack))
        shared_rows = self.mix(layers) if self.mix is not None else layers[-1]
        return {
            name: self._read(rows, pack)
            for name, rows in self._branches(common, shared_rows, pack, names).items()
        }

    def with_parents(self, names: Iterable[str]) -> list[str]:
        """Return the tasks and the parents of relations among them, parents first."""
        for name in names:
            if name not in self.number:
                raise UnknownName("task", name, self.number)
        parents = [parent for name in names for parent in self.head(name).task.parents]
        return list(dict.fromkeys([*parents, *names]))

    def _branches(
        self, common: Tensor, shared: Tensor, pack: Pack, names: Sequence[str]
    ) -> dict[str, Tensor]:
        every = self.config.model.gates_read == "all"
        private: dict[str, Tensor] = {}
        for name in self.number if every else names:
            rows = common
            top: nn.ModuleList = self.tops[self.number[name]]  # type: ignore[assignment]
            for layer in top:
                rows = layer(rows, pack)
            private[name] = rows
        return {
            name: self.gates[self.number[name]](
                shared, *(private.values() if every else [private[name]])
            )
            for name in names
        }

    def _read(self, rows: Tensor, pack: Pack) -> States:
        pooled = pack.pool(rows, self.config.model.pooling)
        words = rows.index_select(0, pack.words)
        return States(words, pack.counts, pooled, pack.inner, pack.spans)

    def _add_private_branches(self) -> None:
        cfg = self.config.model
        top = self.encoder.layers[self.n_common :]
        n_branches = 2 if cfg.gates_read == "own" else 1 + len(self.tasks)
        for _ in self.tasks:
            self.tops.append(copy.deepcopy(top))
            gate = Gate(self.encoder.width, n_branches, has_branch_linear=cfg.has_branch_linear)
            self.gates.append(gate)
        if cfg.has_scalar_mix:
            self.mix = ScalarMix(self._n_readable())

    def _n_readable(self) -> int:
        """Return how many layers' outputs a mix has: the frozen part counts as one."""
        return 1 + len(self.encoder.layers) - max(0, self.encoder.n_frozen)


def _word_shapes(width: int) -> nn.Embedding:
    """Return vectors that tell learning layers what an encoder in lower case has not read."""
    shapes = nn.Embedding(N_SHAPES, width)
    nn.init.zeros_(shapes.weight)
    return shapes


def new_model(
    config: EngineConfig, tasks: Sequence[TaskSpec], words: Iterable[str] = ()
) -> MultiTaskModel:
    """Return a model to start training from, the same for the same seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.training.seed)
        settings = config.encoder
        if settings.frozen_layers == BY_TASKS and any(
            KINDS[task.kind].needs_all_layers for task in tasks
        ):
            settings = replace(settings, frozen_layers=0)
        encoder = new_encoder(settings, words)
        if settings.frozen_layers == BY_TASKS:
            settings = replace(settings, frozen_layers=max(0, encoder.n_frozen))
        return MultiTaskModel(replace(config, encoder=settings), tasks, encoder)


def common_layers(config: EngineConfig, encoder: Encoder) -> int:
    """Return how many bottom layers all tasks share: all, or in CMT all but the private ones."""
    n_layers = len(encoder.layers)
    if config.model.architecture != "CMT":
        return n_layers
    private = config.model.private_layers or max(1, round(n_layers / 3))
    if private > n_layers:
        raise EngineError(
            f"ModelConfig key 'private_layers' is {private}, but the encoder has {n_layers} layers."
        )
    if encoder.n_frozen > n_layers - private:
        raise EngineError(
            f"EncoderConfig key 'frozen_layers' is {encoder.n_frozen}, but with {private} private "
            f"layers only {n_layers - private} of {n_layers} are common; freeze at most those."
        )
    return n_layers - private


def require_tasks(config: EngineConfig, tasks: Sequence[TaskSpec]) -> None:
    """Refuse tasks that cannot be learned together."""
    names = [task.name for task in tasks]
    if not names or len(set(names)) != len(names):
        raise EngineError(f"A model needs one or more tasks with distinct names; got {names}.")
    for task in tasks:
        wanted = KINDS[task.kind].parent_kind
        known = {other.name for other in tasks if other.kind == wanted}
        for parent in task.parents:
            if parent not in known:
                raise UnknownName(f"{wanted} task (parent of '{task.name}')", parent, known)
    linked = {parent for task in tasks for parent in task.parents}
    alone = [task for task in tasks if task.name not in linked]
    if config.model.architecture == "ST" and len(alone) > 1:
        raise EngineError(
            f"ModelConfig key 'architecture' is ST, which learns one task (or relations with "
            f"their spans), but there are {names}; train one model per task, or use SMT or CMT."
        )


class Gate(nn.Module):
    """A gate per vector component over n branches (N, h); two branches: a * s + (1 - a) * u.

    ``a = sigmoid(W [s; u] + b)`` (Rotman & Reichart 2022, 5.1); more branches take a softmax.
    """

    def __init__(self, width: int, n_branches: int, *, has_branch_linear: bool) -> None:
        super().__init__()
        self.n_branches = n_branches
        outputs = width if n_branches == 2 else n_branches * width
        self.linear = nn.Linear(n_branches * width, outputs)
        self.branch_linear = nn.ModuleList(
            nn.Linear(width, width) for _ in range(n_branches if has_branch_linear else 0)
        )

    def forward(self, *branches: Tensor) -> Tensor:  # (N, h)
        if self.branch_linear:
            branches = tuple(
                linear(branch) for linear, branch in zip(self.branch_linear, branches, strict=True)
            )
        logits = self.linear(torch.cat(branches, dim=-1))
        if self.n_branches == 2:
            shared, private = branches
            return private + torch.sigmoid(logits) * (shared - private)
        weights = logits.unflatten(-1, (self.n_branches, -1)).softmax(-2)
        return (weights * torch.stack(branches, dim=-2)).sum(-2)


class ScalarMix(nn.Module):
    """A learned weighted mean of layers, times a learned scale."""

    def __init__(self, n_layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(n_layers))
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, layers: list[Tensor]) -> Tensor:
        weights = self.weights.softmax(0)
        mixed = sum(weight * layer for weight, layer in zip(weights, layers, strict=True))
        return self.scale * mixed


class LastLayer(nn.Module):
    """What the last layer says alone: a sentence as a whole is blurred by lower layers."""

    def forward(self, layers: list[Tensor]) -> Tensor:
        return layers[-1]
