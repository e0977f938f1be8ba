"""Fast mode: the frozen part computed once gives the same model as computing it every time."""

import errno
import multiprocessing
import os
import time

import numpy as np
import pytest
import torch

from mtl_engine.config import EncoderConfig
from mtl_engine.encoders import new_encoder
from mtl_engine.encoders.pack import collate
from mtl_engine.errors import EngineError
from mtl_engine.evaluation import evaluate
from mtl_engine.feature_store import DiskStore, MemoryStore
from mtl_engine.features import make_room, open_features
from mtl_engine.model import new_model
from mtl_engine.prediction import score
from tests.mtl_engine.corpus import MOOD, POS, TASKS, labelled_for, sentences, tiny_config, trained

TOKENS = [example.tokens for example in sentences(20)]


@pytest.fixture
def model():
    return new_model(tiny_config(frozen_layers=2), TASKS).eval()


def test_features_are_what_the_frozen_network_computes(model, tmp_path):
    pieces = model.encoder.read([*TOKENS, ("long",) * 600])
    with torch.no_grad():
        whole = model.encoder.bottom(collate(pieces))
    torch.testing.assert_close(open_features(model.encoder, tmp_path).rows(pieces), whole)


def test_a_sentences_features_are_the_same_bits_whoever_its_neighbours_are(model):
    pieces = model.encoder.read(TOKENS)
    together = open_features(model.encoder, None).rows(pieces)
    alone = [open_features(model.encoder, None).rows([sentence]) for sentence in pieces]
    assert torch.equal(together, torch.cat(alone))


def test_kept_features_are_read_and_not_computed_again(model, tmp_path, monkeypatch):
    pieces = model.encoder.read(TOKENS)
    first = open_features(model.encoder, tmp_path).rows(pieces)
    monkeypatch.setattr(model.encoder, "bottom", None)
    again = open_features(model.encoder, tmp_path)  # as another process would
    assert torch.equal(again.rows(pieces), first)


def test_features_of_another_model_are_refused(model):
    other = new_model(tiny_config(frozen_layers=2), TASKS)
    with pytest.raises(EngineError, match="belong to another model"):
        score(model, TOKENS, features=open_features(other.encoder, None))


def test_scores_and_training_are_equal_with_and_without_kept_features(model, tmp_path):
    config = tiny_config(frozen_layers=2, epochs=3)
    examples = sentences(20)
    kept = trained(examples, TASKS, config, dev=examples[:5], cache_dir=tmp_path)
    in_memory = trained(examples, TASKS, config, dev=examples[:5])
    for name, weight in kept.model.state_dict().items():
        assert torch.equal(weight, in_memory.model.state_dict()[name])
    store = open_features(kept.model.encoder, tmp_path)
    with_store = score(kept.model, TOKENS, features=store)
    without = score(kept.model, TOKENS)
    assert with_store.confidence == pytest.approx(without.confidence, abs=1e-5)
    fast, whole = (evaluate(kept.model, examples, features=f) for f in (store, None))
    assert all(fast[name].metrics == whole[name].metrics for name in fast)


def test_training_with_features_ends_where_running_the_whole_frozen_network_ends(monkeypatch):
    config = tiny_config(frozen_layers=2, epochs=2)
    examples = labelled_for(POS, MOOD)
    fast = trained(examples, [POS, MOOD], config).model.state_dict()
    monkeypatch.setattr("mtl_engine.training.loop.open_features", lambda *_: None)
    whole = trained(examples, [POS, MOOD], config).model.state_dict()
    for name, weight in fast.items():
        torch.testing.assert_close(weight, whole[name], rtol=1e-3, atol=1e-4)


def test_encoders_with_other_frozen_weights_do_not_share_features(tmp_path):
    models = [
        new_model(tiny_config(frozen_layers=n, seed=s), TASKS) for n, s in [(1, 0), (2, 0), (2, 1)]
    ]
    names = {model.encoder.fingerprint() for model in models}
    assert len(names) == 3
    same = new_model(tiny_config(frozen_layers=2, seed=1), TASKS)
    assert same.encoder.fingerprint() in names


def test_a_bilstm_has_no_features_to_keep_even_on_fixed_vectors(tmp_path):
    encoder = new_encoder(EncoderConfig(kind="bilstm", vectors="bundled"), ["Ada"])
    assert open_features(encoder, tmp_path) is None


def test_nothing_is_kept_where_nothing_is_frozen(tmp_path):
    model = new_model(tiny_config(frozen_layers=-1), TASKS)
    assert open_features(model.encoder, tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def rows(n, value):
    return np.full((n, 4), value, dtype=np.float32)


def key(number):
    return bytes([number]) * 15 + b"\0"


def test_two_processes_may_write_the_same_store(tmp_path):
    one, other = DiskStore(tmp_path, 4, 10**6), DiskStore(tmp_path, 4, 10**6)
    one.put([(key(1), rows(2, 1.0))])
    other.put([(key(1), rows(2, 9.0)), (key(2), rows(3, 2.0))])
    one.put([(key(3), rows(1, 3.0))])
    fresh = DiskStore(tmp_path, 4, 10**6)
    assert [fresh.get(key(n))[0, 0] for n in (1, 2, 3)] == [1.0, 2.0, 3.0]
    assert [len(fresh.get(key(n))) for n in (1, 2, 3)] == [2, 3, 1]


def test_a_store_survives_a_writer_that_died(tmp_path):
    store = DiskStore(tmp_path, 4, 10**6)
    store.put([(key(1), rows(2, 1.0))])
    with (tmp_path / "rows.f32").open("ab") as file:
        file.write(b"half a row of featur")
    with (tmp_path / "index.bin").open("ab") as file:
        file.write(b"half a record")
    reopened = DiskStore(tmp_path, 4, 10**6)
    reopened.put([(key(2), rows(2, 2.0))])
    fresh = DiskStore(tmp_path, 4, 10**6)
    assert fresh.get(key(1)).tolist() == rows(2, 1.0).tolist()
    assert fresh.get(key(2)).tolist() == rows(2, 2.0).tolist()


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_a_full_store_keeps_what_it_has_and_takes_no_more(kind, tmp_path):
    room = 3 * 4 * 4  # three rows
    store = MemoryStore(room) if kind == "memory" else DiskStore(tmp_path, 4, room)
    store.put([(key(1), rows(2, 1.0)), (key(2), rows(2, 2.0)), (key(3), rows(1, 3.0))])
    assert [store.get(key(n)) is not None for n in (1, 2, 3)] == [True, False, True]


def cut_in_half(path):
    os.truncate(path, path.stat().st_size // 2)


def test_rows_cut_off_the_file_are_missing_and_never_read_as_others(tmp_path):
    store = DiskStore(tmp_path, 4, 10**6)
    store.put([(key(n), rows(2, n)) for n in (1, 2, 3, 4)])
    cut_in_half(tmp_path / "rows.f32")
    reopened = DiskStore(tmp_path, 4, 10**6)
    assert [reopened.get(key(n)) is not None for n in (1, 2, 3, 4)] == [True, True, False, False]
    reopened.put([(key(n), rows(3, n)) for n in (5, 6)])
    for reader in (reopened, DiskStore(tmp_path, 4, 10**6)):
        assert [reader.get(key(n)) is not None for n in (3, 4)] == [False, False]
        assert [reader.get(key(n)).tolist() for n in (1, 2)] == [
            rows(2, n).tolist() for n in (1, 2)
        ]
        assert [reader.get(key(n)).tolist() for n in (5, 6)] == [
            rows(3, n).tolist() for n in (5, 6)
        ]


def test_an_open_store_forgets_rows_that_were_cut_off_meanwhile(tmp_path):
    store = DiskStore(tmp_path, 4, 10**6)
    store.put([(key(n), rows(2, n)) for n in (1, 2)])
    cut_in_half(tmp_path / "rows.f32")
    store.put([(key(3), rows(2, 3))])
    assert [store.get(key(n)) is not None for n in (1, 2, 3)] == [True, False, True]
    assert store.get(key(3)).tolist() == rows(2, 3).tolist()


def test_what_was_cut_off_is_computed_again(model, tmp_path):
    pieces = model.encoder.read(TOKENS)
    first = open_features(model.encoder, tmp_path).rows(pieces)
    cut_in_half(next(tmp_path.glob("*/rows.f32")))
    again = open_features(model.encoder, tmp_path)
    assert torch.equal(again.rows(pieces), first)
    assert torch.equal(again.rows(pieces), first)
    assert torch.equal(open_features(model.encoder, tmp_path).rows(pieces), first)


def test_a_full_disk_keeps_what_it_has_and_stops_nothing(tmp_path, monkeypatch):
    store = DiskStore(tmp_path, 4, 10**6)
    store.put([(key(1), rows(2, 1.0))])

    def no_space(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("mtl_engine.feature_store.os.fsync", no_space)
        store.put([(key(2), rows(2, 2.0))])
    assert store.get(key(2)) is None
    store.put([(key(3), rows(2, 3.0))])
    fresh = DiskStore(tmp_path, 4, 10**6)
    assert [fresh.get(key(n))[0, 0] for n in (1, 3)] == [1.0, 3.0]


def put_many(folder, numbers):
    store = DiskStore(folder, 4, 10**6)
    for number in numbers:
        store.put([(key(number), rows(1 + number % 3, number))])


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    context = multiprocessing.get_context("spawn")
    shares = [range(1, 41), range(20, 61), range(40, 81)]
    writers = [context.Process(target=put_many, args=(tmp_path, share)) for share in shares]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    store = DiskStore(tmp_path, 4, 10**6)
    for number in range(1, 81):
        assert store.get(key(number)).tolist() == rows(1 + number % 3, number).tolist()


def test_what_other_encoders_left_long_ago_makes_room(tmp_path):
    old, older, recent, mine = (tmp_path / name for name in ("old", "older", "recent", "mine"))
    now = time.time()
    for folder, age in ((old, 2), (older, 3), (recent, 0), (mine, 9)):
        folder.mkdir()
        (folder / "rows.f32").write_bytes(bytes(100))
        os.utime(folder / "rows.f32", (now - age * 86_400, now - age * 86_400))
    make_room(mine, 300)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "old", "recent"]
    make_room(mine, 10)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "recent"]
