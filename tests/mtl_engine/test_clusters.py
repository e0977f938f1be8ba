"""Clusters of words and sentences: found again, saved, and the same whatever the order."""

import numpy as np
import pytest
import torch

from mtl_engine.clusters import (
    SIZES,
    Clusters,
    _k_means,
    _nearest,
    fit_clusters,
    typical_order,
)
from mtl_engine.config import EncoderConfig
from mtl_engine.devices import seeded
from mtl_engine.encoders import new_encoder
from mtl_engine.errors import EngineError
from mtl_engine.features import open_features

VERBS, PLACES, TIMES = ("fly", "drive", "walk"), ("paris", "rome", "oslo"), ("today", "tomorrow")


@pytest.fixture(scope="module")
def features():
    config = EncoderConfig(kind="tiny", width=32, layers=2, frozen_layers=1)
    with seeded(0, torch.device("cpu")):
        return open_features(new_encoder(config), None)


@pytest.fixture(scope="module")
def sentences():
    rng = np.random.default_rng(0)
    return [
        [str(rng.choice(VERBS)), "to", str(rng.choice(PLACES)), str(rng.choice(TIMES))][: 2 + i % 3]
        for i in range(400)
    ]


@pytest.fixture(scope="module")
def clusters(features, sentences):
    return fit_clusters(features, sentences)


def test_equal_words_in_equal_places_share_a_cluster(features, clusters):
    found = clusters.assign(features, [["fly", "to", "rome"], ["fly", "to", "rome"], ["fly"]])
    assert found.counts.tolist() == [3, 3, 1]
    for level in ("words", "coarse_words"):
        assert found.levels[level][:3].tolist() == found.levels[level][3:6].tolist()
        assert len(set(found.levels[level][:3].tolist())) > 1
    assert found.levels["sentences"][0] == found.levels["sentences"][1]


def test_clusters_number_from_zero_to_their_size(features, clusters, sentences):
    found = clusters.assign(features, sentences)
    for level, size in SIZES.items():
        assert 1 < clusters.size(level) <= size
        assert found.levels[level].min() >= 0
        assert found.levels[level].max() < clusters.size(level)


def test_the_same_text_and_seed_give_the_same_clusters(features, clusters, sentences):
    again = fit_clusters(features, sentences)
    for level in SIZES:
        assert (again.centres[level] == clusters.centres[level]).all()


def test_saved_clusters_assign_alike(features, clusters, sentences, tmp_path):
    clusters.save(tmp_path / "kept" / "clusters.npz")
    loaded = Clusters.load(tmp_path / "kept" / "clusters.npz")
    assert loaded.names == clusters.names
    first, second = (one.assign(features, sentences[:50]) for one in (clusters, loaded))
    for level in SIZES:
        assert first.levels[level].tolist() == second.levels[level].tolist()


def test_a_cluster_is_named_by_its_commonest_words(features, clusters):
    found = clusters.assign(features, [["fly", "to", "rome"]])
    assert "to" in clusters.names["words"][found.levels["words"][1]]


def test_no_sentences_have_no_clusters(features, clusters):
    found = clusters.assign(features, [])
    assert found.counts.tolist() == []
    assert [len(numbers) for numbers in found.levels.values()] == [0, 0, 0, 0]


def test_another_encoders_states_are_refused(clusters):
    config = EncoderConfig(kind="tiny", width=32, layers=2, frozen_layers=2)
    other = open_features(new_encoder(config), None)
    with pytest.raises(EngineError, match="another encoder's states"):
        clusters.assign(other, [["fly"]])


def test_nothing_to_fit_on_is_refused(features):
    with pytest.raises(EngineError, match="no sentence to find clusters in"):
        fit_clusters(features, [[]])


def test_k_means_finds_groups_that_are_far_apart():
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(4), 50)
    points = (10 * np.eye(4)[truth] + rng.normal(0, 0.1, (200, 4))).astype(np.float32)
    centres = _k_means(points, 4, np.random.default_rng(0))
    nearest = _nearest(points, centres)
    assert all(len(set(nearest[truth == group].tolist())) == 1 for group in range(4))
    assert len(set(nearest.tolist())) == 4


def test_typical_sentences_come_first_one_of_each_cluster(features):
    """Two bundles of equals: one of each, of the larger bundle first."""
    many, few = [["fly", "to", "rome", "today"]] * 30, [["walk"]] * 10
    order = typical_order(features, [*few, *many], 2)
    assert sorted(order.tolist()) == list(range(40))
    assert order[0] >= 10 > order[1]
    assert order.tolist() == typical_order(features, [*few, *many], 2).tolist()
