"""What every encoder offers: read words, embed them, and a list of layers to run on top."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from mtl_engine.encoders.pack import Pack, Pieces


class Encoder(nn.Module, ABC):
    """Embeddings and layers; ``layers[i](rows, pack)`` maps (N, width) to (N, width).

    The bottom ``n_frozen`` layers and the embeddings never change when ``is_frozen``: dropout is
    off there, so that what they compute for a sentence is the same every time.
    """

    width: int
    layers: nn.ModuleList
    embeddings: nn.Module
    n_frozen: int = -1  # -1: nothing is frozen, 0: the embeddings
    reads_case: bool = True  # False: packs tell the words' shapes, which the encoder has not read

    @abstractmethod
    def read(self, sentences: Sequence[Sequence[str]]) -> list[Pieces]:
        """Return what the encoder sees of each sentence."""

    @abstractmethod
    def save_parts(self, folder: Path) -> None:
        """Write what ``load`` needs beside the weights (configuration, vocabulary)."""

    @abstractmethod
    def fingerprint(self) -> str:
        """Return a name of the frozen part: equal names compute equal features."""

    def row_names(self) -> dict[str, list[str]]:
        """Return, for each weight with a row per word of a vocabulary, what its rows stand for."""
        return {}

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    @property
    def is_frozen(self) -> bool:
        return self.n_frozen >= 0

    def freeze(self, n_frozen: int) -> None:
        """Stop the bottom layers from learning; -1 frees none, more than there are means all."""
        self.n_frozen = min(n_frozen, len(self.layers))
        for part in self._frozen_parts():
            part.requires_grad_(False)

    def train(self, mode: bool = True) -> "Encoder":
        """Set dropout on or off; it stays off in the frozen part."""
        super().train(mode)
        for part in self._frozen_parts():
            part.eval()
        return self

    def bottom(self, pack: Pack) -> Tensor:
        """Return (N, width): the output of the frozen part, or the embeddings if none is."""
        rows: Tensor = self.embeddings(pack)
        for layer in self.layers[: max(0, self.n_frozen)]:
            rows = layer(rows, pack)
        return rows

    def frozen_modules(self) -> list[nn.Module]:
        """Return every module of the frozen part."""
        return [module for part in self._frozen_parts() for module in part.modules()]

    def _frozen_parts(self) -> list[nn.Module]:
        if not self.is_frozen:
            return []
        return [self.embeddings, *self.layers[: self.n_frozen]]
