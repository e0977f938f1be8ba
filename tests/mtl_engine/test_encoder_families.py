"""Any Hugging Face encoder: the same contract for families that are taken apart and for others."""

import logging
import os

import numpy as np
import pytest
import torch

from mtl_engine.checkpoint import load_model, save_model
from mtl_engine.config import BY_TASKS, EngineConfig
from mtl_engine.encoders import new_encoder
from mtl_engine.encoders.pack import collate
from mtl_engine.encoders.transformer import TransformerEncoder
from mtl_engine.errors import EngineError
from mtl_engine.evaluation import evaluate
from mtl_engine.features import open_features
from mtl_engine.model import new_model
from mtl_engine.prediction import predict
from tests.mtl_engine.corpus import MOOD, SPANS, SYNTAX, labelled_for, sentences, trained

os.environ.setdefault("HF_HUB_OFFLINE", "1")

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SHAPE = {
    "num_hidden_layers": 3,
    "hidden_size": 16,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
    "vocab_size": 60,
    "pad_token_id": 0,
    "bos_token_id": 2,
    "eos_token_id": 3,
}
NARROW = {**SHAPE, "embedding_size": 8}
IN_LAYERS = {
    "albert": NARROW,
    "bart": {
        "encoder_layers": 2,
        "decoder_layers": 1,
        "d_model": 16,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 32,
        "decoder_ffn_dim": 32,
        "max_position_embeddings": 64,
        "vocab_size": 60,
        "pad_token_id": 0,
    },
    "bert": SHAPE,
    "big_bird": {**SHAPE, "sep_token_id": 3},
    "data2vec-text": SHAPE,
    "deberta-v2": {**SHAPE, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]},
    "distilbert": {"n_layers": 3, "dim": 16, "n_heads": 2, "hidden_dim": 32, "vocab_size": 60},
    "electra": NARROW,
    "ernie": SHAPE,
    "esm": {**SHAPE, "position_embedding_type": "rotary"},
    "eurobert": {**SHAPE, "num_key_value_heads": 2, "mask_token_id": 4},
    "longformer": {**SHAPE, "attention_window": 4},
    "modernbert": {**SHAPE, "cls_token_id": 2, "sep_token_id": 3},
    "mpnet": SHAPE,
    "nomic_bert": SHAPE,
    "qwen3": {**SHAPE, "num_key_value_heads": 2, "head_dim": 8},
    "rembert": {**SHAPE, "input_embedding_size": 8},
    "roformer": SHAPE,
    "xlm-roberta": {**SHAPE, "pad_token_id": 0},
}
AS_ONE = {  # layers that hand each other more than vectors
    "t5": {"num_layers": 2, "d_model": 16, "d_kv": 8, "d_ff": 32, "num_heads": 2, "vocab_size": 60},
    "xlnet": {"n_layer": 2, "d_model": 16, "n_head": 2, "d_inner": 32, "vocab_size": 60},
}
EVERY = {**IN_LAYERS, **AS_ONE}


@pytest.fixture(scope="session")
def encoder_folders(tmp_path_factory):
    """Return the folder of a tiny random encoder of a family, made when it is asked for."""
    made = {}

    def folder_of(family):
        if family not in made:
            made[family] = tmp_path_factory.mktemp(family)
            write_encoder(family, made[family])
        return made[family]

    return folder_of


def write_encoder(family, folder):
    from transformers import AutoConfig, AutoModel

    logging.getLogger("transformers").setLevel(logging.ERROR)
    torch.manual_seed(0)
    model = AutoModel.from_config(AutoConfig.for_model(family, **EVERY[family]))
    for weight in model.parameters():  # fresh biases and norms are constants, which hide errors
        weight.data += 0.05 * torch.randn_like(weight)
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)


def tokenizer():
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = sorted({word for example in sentences(50) for word in example.tokens})
    raw = Tokenizer(models.WordLevel({w: n for n, w in enumerate([*SPECIAL, *words])}, "[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=raw,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    )


def config_of(folder, frozen_layers=1, model=None, lora_rank=0, **training):
    return EngineConfig.from_dict(
        {
            "encoder": {
                "name": str(folder),
                "frozen_layers": frozen_layers,
                "lora_rank": lora_rank,
                "max_pieces": 40,
                "max_word_pieces": 8,
            },
            "model": model or {},
            "training": {"epochs": 2, "batch_size": 8, "learning_rate": 3e-3, **training},
        }
    )


def rows_of(encoder, tokens):
    pack = collate(encoder.read(tokens))
    with torch.no_grad():
        rows = encoder.bottom(pack)
        for layer in encoder.layers[max(0, encoder.n_frozen) :]:
            rows = layer(rows, pack)
    return rows


@pytest.mark.parametrize("family", EVERY)
def test_an_encoder_gives_the_vectors_of_the_model_it_comes_from(family, encoder_folders):
    from transformers import AutoModel

    folder = encoder_folders(family)
    encoder = new_encoder(config_of(folder, frozen_layers=0).encoder).eval()
    tokens = [example.tokens for example in sentences(6)]
    model = AutoModel.from_pretrained(folder).eval()
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    pieces = encoder.read(tokens)
    width = max(map(len, pieces))
    ids = torch.zeros(len(tokens), width, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, sentence in enumerate(pieces):
        ids[row, : len(sentence)] = torch.from_numpy(sentence.ids)
        mask[row, : len(sentence)] = 1
    with torch.no_grad():
        expected = model(input_ids=ids, attention_mask=mask)[0][mask.bool()]
    torch.testing.assert_close(rows_of(encoder, tokens), expected, rtol=1e-4, atol=1e-5)
    assert encoder.width == expected.shape[1]
    assert len(encoder.layers) == (1 if family in AS_ONE else 2 if family == "bart" else 3)


@pytest.mark.parametrize("family", IN_LAYERS)
def test_an_encoder_trains_freezes_is_cached_saved_and_read_again(
    family, encoder_folders, tmp_path
):
    examples = labelled_for(MOOD, SPANS, n=24)
    config = config_of(encoder_folders(family))
    before = new_model(config, [MOOD, SPANS])
    model = trained(examples, [MOOD, SPANS], config, cache_dir=tmp_path / "cache").model
    changed = [
        not all(torch.equal(a, b) for a, b in zip(old.parameters(), new.parameters(), strict=True))
        for old, new in zip(before.encoder.layers, model.encoder.layers, strict=True)
    ]
    assert changed == [False] + [True] * (len(model.encoder.layers) - 1)
    assert not any(w.requires_grad for w in model.encoder.embeddings.parameters())
    tokens = [example.tokens for example in sentences(9)]
    plain = list(predict(model, tokens))
    kept = list(predict(model, tokens, features=open_features(model.encoder, tmp_path / "cache")))
    assert [p.answers for p in kept] == [p.answers for p in plain]
    assert [p.confidence["mood"] for p in kept] == pytest.approx(
        [p.confidence["mood"] for p in plain], abs=1e-5
    )
    save_model(model, tmp_path / "m")
    assert list(predict(load_model(tmp_path / "m"), tokens)) == plain


@pytest.mark.parametrize("family", EVERY)
def test_nothing_frozen_learns_everything_that_is_read(family, encoder_folders):
    examples = labelled_for(MOOD, SPANS, n=16)
    config = config_of(encoder_folders(family), frozen_layers=-1, epochs=25)
    model = trained(examples, [MOOD, SPANS], config).model
    assert min(result.main for result in evaluate(model, examples).values()) > 0.9
    again = trained(examples, [MOOD, SPANS], config).model.state_dict()
    assert all(torch.equal(weight, again[n]) for n, weight in model.state_dict().items())


@pytest.mark.parametrize("family", ["modernbert", "electra", "deberta-v2", "albert"])
@pytest.mark.parametrize("shape", [{"architecture": "CMT"}, {"has_scalar_mix": True}])
def test_private_layers_and_mixes_work_on_any_family(family, shape, encoder_folders):
    examples = labelled_for(MOOD, SPANS, n=16)
    config = config_of(encoder_folders(family), model=shape, epochs=3)
    model = trained(examples, [MOOD, SPANS], config).model
    assert len(list(predict(model, [("Ada", "visits", "Oslo", ".")]))) == 1


@pytest.mark.parametrize("family", ["bert", "modernbert", "distilbert"])
def test_low_rank_changes_leave_the_matrices_as_they_were(family, encoder_folders, tmp_path):
    config = config_of(encoder_folders(family), frozen_layers=1, lora_rank=2, epochs=3)
    before = new_model(config, [MOOD]).state_dict()
    model = trained(labelled_for(MOOD), [MOOD], config).model
    after = model.state_dict()
    changed = {n for n in before if not torch.equal(before[n], after[n])}
    low_rank = {n for n in before if n.endswith(("low_rank_a", "low_rank_b"))}
    matrices = {n for n, w in before.items() if n.startswith("encoder.") and w.dim() > 1} - low_rank
    assert low_rank
    assert low_rank <= changed
    assert not matrices & changed
    assert all(".layers.0." not in n for n in low_rank)
    save_model(model, tmp_path / "m")
    tokens = [example.tokens for example in sentences(4)]
    assert list(predict(load_model(tmp_path / "m"), tokens)) == list(predict(model, tokens))


def test_low_rank_changes_begin_as_no_change(encoder_folders):
    folder = encoder_folders("bert")
    tokens = [example.tokens for example in sentences(3)]
    plain, changed = (
        rows_of(new_encoder(config_of(folder, lora_rank=rank).encoder).eval(), tokens)
        for rank in (0, 4)
    )
    torch.testing.assert_close(plain, changed)


def test_a_third_of_the_layers_is_frozen_and_none_where_trees_are_learned(encoder_folders):
    for family, tasks, n_frozen in [
        ("bert", [MOOD, SPANS], 1),
        ("bert", [MOOD, SYNTAX], 0),
        ("bart", [MOOD], 0),
        ("t5", [MOOD], 0),
    ]:
        config = config_of(encoder_folders(family), frozen_layers=BY_TASKS, lora_rank=2)
        model = new_model(config, tasks)
        assert model.config.encoder.frozen_layers == n_frozen, family
        changed = [
            any(name.endswith("low_rank_a") for name, _ in layer.named_parameters())
            for layer in model.encoder.layers
        ]
        assert changed == [False] * n_frozen + [True] * (len(changed) - n_frozen)


def test_layers_of_a_model_that_runs_as_one_cannot_be_frozen_one_by_one(encoder_folders):
    with pytest.raises(EngineError, match=r"'frozen_layers' is 1.*'t5'.*-1 or 0"):
        new_encoder(config_of(encoder_folders("t5"), frozen_layers=1).encoder)


def test_a_family_that_reads_no_attention_mask_is_refused(tmp_path):
    from transformers import FNetConfig, FNetModel

    FNetModel(FNetConfig(**{**SHAPE, "tpu_short_seq_length": 8})).save_pretrained(tmp_path)
    tokenizer().save_pretrained(tmp_path)
    with pytest.raises(EngineError, match="'fnet' reads no attention mask"):
        new_encoder(config_of(tmp_path).encoder)


def test_windows_stay_within_the_positions_that_a_family_has(encoder_folders):
    for family, most in [("mpnet", 62), ("modernbert", 64), ("bert", 64)]:
        config = EngineConfig.from_dict({"encoder": {"name": str(encoder_folders(family))}})
        encoder = new_encoder(config.encoder)
        assert isinstance(encoder, TransformerEncoder)
        (pieces,) = encoder.read([("Ada",) * 300])
        assert int(np.max(pieces.windows)) == most
