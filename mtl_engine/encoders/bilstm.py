"""A Bi-LSTM over word vectors: each word is read in a window of its neighbours."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from mtl_engine.config import BUNDLED, RANDOM, EncoderConfig
from mtl_engine.devices import tensor_of
from mtl_engine.encoders.interface import Encoder
from mtl_engine.encoders.pack import Pack, Pieces, mean_by, within
from mtl_engine.encoders.subwords import laid_out
from mtl_engine.encoders.vectors import bundled_table, whole_file
from mtl_engine.encoders.words import (
    FIRST_WORD,
    PADDING,
    SubwordList,
    WordList,
    Words,
    load_words,
    words_without_vector,
)
from mtl_engine.errors import EngineError

TABLE_FILE = "vectors.json"  # the shape of the table of vectors


class WindowLstm(nn.Module):
    """Word vectors and a Bi-LSTM over each word's window; out comes (N, width)."""

    def __init__(self, n_rows: int, vector_width: int, width: int, context: int) -> None:
        super().__init__()
        self.vectors = nn.Embedding(n_rows, vector_width, padding_idx=PADDING)
        self.lstm = nn.LSTM(vector_width, width // 2, batch_first=True, bidirectional=True)
        self.context = context

    def forward(self, pack: Pack) -> Tensor:
        word_of_row = torch.zeros_like(pack.ids)
        word_of_row[pack.words] = 1
        word_of_row = word_of_row.cumsum(0) - 1
        words = mean_by(self.vectors(pack.ids), word_of_row, len(pack.words))  # (W, v)
        padded = torch.cat([words.new_zeros(1, words.shape[1]), words])
        output, _ = self.lstm(padded[tensor_of(context_windows(pack.counts, self.context), words)])
        centre: Tensor = output[:, self.context]  # has read the left context and the right one
        return centre.index_select(0, word_of_row)


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
    """The encoder of small models on word vectors, of which only the vectors can be frozen."""

    embeddings: WindowLstm

    def __init__(self, config: EncoderConfig, words: Words, shape: tuple[int, int]) -> None:
        super().__init__()
        if config.width % 2:
            raise EngineError(
                f"EncoderConfig key 'width' is {config.width}; a Bi-LSTM needs an even one."
            )
        self.width = config.width
        self.words = words
        self.embeddings = WindowLstm(*shape, config.width, config.context)
        self.layers = nn.ModuleList(DenseBlock(config.width) for _ in range(config.layers))

    def read(self, sentences: Sequence[Sequence[str]]) -> list[Pieces]:
        return [_pieces(rows) for rows in self.words.rows(sentences)]

    def freeze(self, n_frozen: int) -> None:
        """Fix the vectors from 0 on; what stands above them begins at random and learns."""
        self.embeddings.vectors.requires_grad_(n_frozen < 0)

    def row_names(self) -> dict[str, list[str]]:
        names = self.words.names()
        return {} if names is None else {"embeddings.vectors.weight": names}

    def save_parts(self, folder: Path) -> None:
        self.words.save(folder)
        shape = list(self.embeddings.vectors.weight.shape)
        (folder / TABLE_FILE).write_text(json.dumps(shape), encoding="utf-8")

    def fingerprint(self) -> str:
        """Return one name for all: with nothing frozen but vectors there are no features."""
        return "bilstm"


def _pieces(words: list[list[int]]) -> Pieces:
    flat, starts, _ = laid_out(words)
    return Pieces(
        ids=np.array(flat, dtype=np.int32),
        windows=np.array([len(flat)], dtype=np.int32),
        firsts=starts,
    )


def context_windows(counts: np.ndarray, context: int) -> np.ndarray:
    """Return (W, 2c + 1) numbers of the words around each word, from 1; 0 = past the sentence."""
    places = within(counts)[:, None] + np.arange(-context, context + 1)  # in the sentence
    is_inside = (places >= 0) & (places < np.repeat(counts, counts)[:, None])
    starts = np.repeat(np.cumsum(counts) - counts, counts)[:, None]
    return np.where(is_inside, 1 + starts + places, 0)


def new_bilstm(config: EncoderConfig, words: Iterable[str]) -> BiLstmEncoder:
    """Return an encoder with the vectors that the configuration names.

    ``words`` get vectors of their own where no pre-trained ones exist and vectors may learn.
    """
    if config.vectors == RANDOM:
        known = WordList(sorted(set(words)))
        return BiLstmEncoder(config, known, (len(known.words) + FIRST_WORD, config.vector_width))
    if config.vectors == BUNDLED:
        tokenizer, table = bundled_table()
        return _with_table(config, SubwordList(tokenizer, config.max_word_pieces), table)
    return _on_file(config, words)


def _on_file(config: EncoderConfig, words: Iterable[str]) -> BiLstmEncoder:
    """Return an encoder on a file's vectors; other words begin with the mean of them all."""
    path = Path(config.vectors)
    if not path.is_file():
        raise EngineError(
            f"EncoderConfig key 'vectors' is '{config.vectors}'; allowed: '{RANDOM}', "
            f"'{BUNDLED}', or a file of word vectors in word2vec's text format."
        )
    names, vectors = whole_file(path)
    own = words_without_vector(set(words), names) if config.frozen_layers < 0 else []
    mean = vectors.mean(0, keepdims=True)
    table = np.concatenate([np.zeros_like(mean), mean, vectors, mean.repeat(len(own), axis=0)])
    return _with_table(config, WordList([*names, *own]), table)


def _with_table(config: EncoderConfig, words: Words, table: np.ndarray) -> BiLstmEncoder:
    encoder = BiLstmEncoder(config, words, (table.shape[0], table.shape[1]))
    with torch.no_grad():
        encoder.embeddings.vectors.weight.copy_(tensor_of(table, torch.device("cpu")))
    return encoder


def load_bilstm(config: EncoderConfig, folder: Path) -> BiLstmEncoder:
    """Return an encoder that reads words as the saved one; its weights come after."""
    n_rows, vector_width = json.loads((folder / TABLE_FILE).read_text(encoding="utf-8"))
    words = load_words(folder, config.max_word_pieces)
    return BiLstmEncoder(config, words, (n_rows, vector_width))
