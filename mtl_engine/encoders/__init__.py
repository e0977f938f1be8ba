"""Encoders: from words to vectors."""

from collections.abc import Iterable
from pathlib import Path

from mtl_engine.config import BY_TASKS, EncoderConfig
from mtl_engine.encoders.bilstm import BiLstmEncoder, load_bilstm, new_bilstm
from mtl_engine.encoders.interface import Encoder
from mtl_engine.encoders.low_rank import add_low_rank
from mtl_engine.encoders.tiny import TinyEncoder
from mtl_engine.encoders.transformer import (
    TransformerEncoder,
    empty_transformer,
    pretrained_transformer,
)

__all__ = [
    "BiLstmEncoder",
    "Encoder",
    "TinyEncoder",
    "TransformerEncoder",
    "load_encoder",
    "new_encoder",
]


def new_encoder(config: EncoderConfig, words: Iterable[str] = ()) -> Encoder:
    """Return an encoder to start training from; ``words`` are the Bi-LSTM's vocabulary."""
    if config.kind == "tiny":
        encoder: Encoder = TinyEncoder(config)
    elif config.kind == "bilstm":
        encoder = new_bilstm(config, words)
    else:
        encoder = pretrained_transformer(config)
    return _prepared(encoder, config)


def load_encoder(config: EncoderConfig, folder: Path) -> Encoder:
    """Return the encoder whose parts were saved in the folder; its weights come after."""
    if config.kind == "tiny":
        encoder: Encoder = TinyEncoder(config)
    elif config.kind == "bilstm":
        encoder = load_bilstm(config, folder)
    else:
        encoder = empty_transformer(folder, config)
    return _prepared(encoder, config)


def _prepared(encoder: Encoder, config: EncoderConfig) -> Encoder:
    """Return the encoder with its bottom frozen and, if asked for, low-rank changes above it."""
    n_frozen = config.frozen_layers
    encoder.freeze(len(encoder.layers) // 3 if n_frozen == BY_TASKS else n_frozen)
    if config.lora_rank:
        for layer in encoder.layers[max(0, encoder.n_frozen) :]:
            add_low_rank(layer, config.lora_rank)
    return encoder
