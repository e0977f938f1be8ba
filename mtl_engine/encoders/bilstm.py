"""A Bi-LSTM over word vectors: each word is read in a window of its neighbours."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from mtl_engine.config import EncoderConfig
from mtl_engine.encoders.interface import Encoder
from mtl_engine.encoders.pack import Pack, Pieces
from mtl_engine.encoders.vectors import vectors_for
from mtl_engine.errors import EngineError

PADDING, UNKNOWN = 0, 1
VOCABULARY_FILE = "vocabulary.json"


class WindowLstm(nn.Module):
    """Word vectors and a Bi-LSTM over each word's window; out comes (W, width)."""

    def __init__(self, n_words: int, vector_width: int, width: int, context: int) -> None:
        super().__init__()
        self.vectors = nn.Embedding(n_words, vector_width, padding_idx=PADDING)
        self.lstm = nn.LSTM(vector_width, width // 2, batch_first=True, bidirectional=True)
        self.context = context

    def forward(self, pack: Pack) -> Tensor:
        windows = self.vectors(context_windows(pack, self.context))  # (W, 2c + 1, v)
        output, _ = self.lstm(windows)
        centre: Tensor = output[:, self.context]  # has read the left context and the right one
        return centre


class DenseBlock(nn.Module):
    """A dense layer over each word, which can be shared or a task's own."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.dropout = nn.Dropout(0.1)

    def forward(self, rows: Tensor, pack: Pack) -> Tensor:
        result: Tensor = self.dropout(torch.relu(self.linear(rows)))
        return result


class BiLstmEncoder(Encoder):
    """The encoder of small models on word vectors, of which only the vectors can be frozen.

    Unknown words share one vector.
    """

    embeddings: WindowLstm

    def __init__(self, config: EncoderConfig, words: Sequence[str], vector_width: int) -> None:
        super().__init__()
        if config.width % 2:
            raise EngineError(
                f"EncoderConfig key 'width' is {config.width}; a Bi-LSTM needs an even one."
            )
        self.width = config.width
        self.words = list(words)
        self._number = {word: number + 2 for number, word in enumerate(words)}
        self.embeddings = WindowLstm(len(words) + 2, vector_width, config.width, config.context)
        self.layers = nn.ModuleList(DenseBlock(config.width) for _ in range(config.layers))

    def read(self, sentences: Sequence[Sequence[str]]) -> list[Pieces]:
        return [self._pieces(tokens) for tokens in sentences]

    def _pieces(self, tokens: Sequence[str]) -> Pieces:
        if not tokens:
            raise EngineError("A sentence without tokens cannot be read; leave it out.")
        number = self._number
        ids = [number.get(word, number.get(word.lower(), UNKNOWN)) for word in tokens]
        return Pieces(
            ids=np.array(ids, dtype=np.int32),
            windows=np.array([len(ids)], dtype=np.int32),
            firsts=np.arange(len(ids), dtype=np.int32),
        )

    def row_names(self) -> dict[str, list[str]]:
        return {"embeddings.vectors.weight": ["padding", "unknown", *map(repr, self.words)]}

    def save_parts(self, folder: Path) -> None:
        text = json.dumps({"words": self.words, "vector_width": self._vector_width()})
        (folder / VOCABULARY_FILE).write_text(text, encoding="utf-8")

    def freeze(self, n_frozen: int) -> None:
        """Fix the vectors from 0 on; what stands above them begins at random and learns."""
        self.embeddings.vectors.requires_grad_(n_frozen < 0)

    def fingerprint(self) -> str:
        """Return one name for all: with nothing frozen but vectors there are no features."""
        return "bilstm"

    def _vector_width(self) -> int:
        return self.embeddings.vectors.embedding_dim


def context_windows(pack: Pack, context: int) -> Tensor:
    """Return (W, 2c + 1) word numbers around each word, padded at the sentence's ends."""
    sizes = torch.from_numpy(pack.windows)[pack.sentence_of_row]
    steps = torch.arange(-context, context + 1)
    places = pack.positions[:, None] + steps
    rows = (torch.arange(len(pack.ids))[:, None] + steps).clamp(0, len(pack.ids) - 1)
    is_inside = (places >= 0) & (places < sizes[:, None])
    return torch.where(is_inside, pack.ids[rows], PADDING)


def new_bilstm(config: EncoderConfig, words: Iterable[str]) -> BiLstmEncoder:
    """Return an encoder for these words, with the vectors that the configuration names."""
    names = sorted(set(words))
    table = vectors_for(config, names)
    width = config.vector_width if table is None else table.shape[1]
    encoder = BiLstmEncoder(config, names, width)
    if table is not None:
        with torch.no_grad():
            encoder.embeddings.vectors.weight[2:] = torch.from_numpy(table)
    return encoder


def load_bilstm(config: EncoderConfig, folder: Path) -> BiLstmEncoder:
    """Return an encoder with the saved vocabulary; its weights come after."""
    saved = json.loads((folder / VOCABULARY_FILE).read_text(encoding="utf-8"))
    return BiLstmEncoder(config, saved["words"], saved["vector_width"])
