"""A small transformer with random weights and no vocabulary file, for tests and smoke runs."""

import zlib
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn

from mtl_engine.config import EncoderConfig
from mtl_engine.devices import array_of
from mtl_engine.encoders.blocks import PackedBlock, PackedEmbeddings
from mtl_engine.encoders.interface import Encoder
from mtl_engine.encoders.pack import Pieces
from mtl_engine.encoders.subwords import SubwordReader, Vocabulary

N_PIECES = 2048
START, END, UNKNOWN = 0, 1, 2
PIECE_LENGTH = 6  # characters


class TinyEncoder(Encoder):
    """BERT's shape in miniature; a word's sub-words are hashes of its pieces of 6 characters."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        width = self.width = config.width
        self.embeddings = PackedEmbeddings(
            nn.Embedding(N_PIECES, width),
            nn.Embedding(config.max_pieces, width),
            None,
            nn.LayerNorm(width, eps=1e-12),
            first_position=0,
            dropout=0.1,
        )
        n_heads = 2 if width % 2 == 0 else 1
        self.layers = nn.ModuleList(
            PackedBlock.random(width, n_heads=n_heads, inner=2 * width, dropout=0.1)
            for _ in range(config.layers)
        )
        self._reader = SubwordReader(
            Vocabulary(split=hash_pieces, start=START, end=END, unknown=UNKNOWN),
            max_pieces=config.max_pieces,
            max_word_pieces=config.max_word_pieces,
        )

    def read(self, sentences: Sequence[Sequence[str]]) -> list[Pieces]:
        return self._reader.read(sentences)

    def save_parts(self, folder: Path) -> None:
        """Write nothing: the configuration says it all."""

    def fingerprint(self) -> str:
        total = 0
        for part in self._frozen_parts():
            for weight in part.state_dict().values():
                data = array_of(weight.contiguous().view(torch.uint8)).data
                total = zlib.crc32(data, total)
        return f"tiny-{self.n_frozen}-{self._reader.room}-{total:08x}"


def hash_pieces(words: list[str]) -> list[list[int]]:
    """Return a number for each piece of each word; no word has none but the empty one."""
    return [
        [
            3 + zlib.crc32(word[at : at + PIECE_LENGTH].encode()) % (N_PIECES - 3)
            for at in range(0, len(word), PIECE_LENGTH)
        ]
        for word in words
    ]
