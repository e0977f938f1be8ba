import json

import numpy as np
import pytest
import torch

from analysis.data.vectors import principal
from analysis.errors import AnalysisError
from analysis.studies.surrogate import tabular_tasks
from analysis.studies.surrogate.network import FeatureTask, NetworkSettings, train_network
from analysis.sweep.registry import get_kind
from mtl_engine.encoders.subwords import PAIR_SEPARATOR

SMALL = {"n_target": 20, "n_dev": 20, "n_subsets": 6, "subset_size": 2, "n_seeds": 1, "n_steps": 30}


@pytest.fixture
def table(tmp_path):
    """Income depends on age in three states and on its opposite in a fourth."""
    rng = np.random.default_rng(0)
    lines = ["state, sex, age, income"]
    for state in ("A", "B", "C", "ODD"):
        for _ in range(150):
            age, sex = int(rng.integers(20, 60)), rng.choice(["f", "m"])
            income = (80 - age if state == "ODD" else age) * 1000
            lines.append(f"{state}, {sex}, {age}, {income}")
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return {
        "application": "groups", "table": str(path), "by": "state", "target": "A",
        "outcome": "income", "threshold": 40000, "inputs": ["age", "sex*"], "group_by": ["sex"],
        **SMALL,
    }  # fmt: skip


def _final(settings, seed=0):
    kind = get_kind("surrogate")
    resolved = kind.read(kind.resolve(settings))
    return list(kind.run(resolved, seed, kind.load(resolved)))[-1]["final"]


def test_the_selected_sources_leave_the_odd_state_out(table):
    chosen = {**table, "n_target": 6, "hidden": 0, "n_steps": 100}
    everything = _final({**chosen, "choice": "all"})
    selected = _final({**chosen, "choice": "selected"})
    assert everything["n_sources"] == 3
    assert selected["loss"] < everything["loss"]
    assert selected["worst_group"] <= selected["score"]


@pytest.mark.parametrize("choice", ["STL", "estimated", "pairwise"])
def test_every_choice_gives_scores(table, choice):
    final = _final({**table, "choice": choice})
    assert 0 <= final["score"] <= 1
    assert (final["n_sources"] == 0) or choice != "STL"


def test_labelling_sources_are_tasks_that_vote_on_training_sentences_alone(tmp_path, monkeypatch):
    def vectors(sentences, config, cache_dir):
        return np.array([[len(s), len(s[0])] for s in sentences], dtype=np.float32)

    monkeypatch.setattr(tabular_tasks, "sentence_vectors", vectors)
    for part, n in (("train", 30), ("dev", 20), ("test", 25)):
        rows = [
            {
                "text": "a " * (1 + i % 5),
                "label": i % 2,
                "weak_labels": [i % 2, -1, 1 if i % 3 else -1],
            }
            for i in range(n)
        ]
        text = "\n".join(json.dumps(row) for row in rows)
        (tmp_path / f"{part}.jsonl").write_text(text, encoding="utf-8")
    kind = get_kind("surrogate")
    settings = kind.read(
        kind.resolve(
            {
                "application": "weak_supervision",
                "folder": str(tmp_path),
                "target": "gold",
                "min_votes": 5,
            }
        )
    )
    pool = kind.load(settings)
    assert {name: len(rows) for name, rows in pool.parts.items()} == {
        "gold": 45, "source 0": 30, "source 2": 20, "majority vote": 30, "Dawid-Skene": 30,
    }  # fmt: skip
    assert set(pool.targets[pool.parts["source 2"]]) == {1}


def test_principal_components_are_uncorrelated_and_of_unit_variance():
    rng = np.random.default_rng(0)
    found = principal(rng.normal(size=(200, 5)).astype(np.float32) @ np.diag([3, 2, 1, 1, 0]), 3)
    assert found.T @ found / 200 == pytest.approx(np.eye(3), abs=1e-4)


def test_bad_settings_name_what_is_known(table):
    with pytest.raises(AnalysisError, match="Known: A, B, C, ODD"):
        _final({**table, "target": "Z"})
    with pytest.raises(AnalysisError, match="Known: groups, text"):
        _final({**table, "application": "images"})
    with pytest.raises(AnalysisError, match="leave none"):
        _final({**table, "n_dev": 500})
    with pytest.raises(AnalysisError, match="choice 'best'. Known: Dawid-Skene, GroupDRO, STL"):
        _final({**table, "choice": "best"})
    with pytest.raises(AnalysisError, match="'majority vote' is for the application 'weak_superv"):
        _final({**table, "choice": "majority vote"})


def test_votes_are_combined_by_majority_and_by_what_voters_are_worth():
    votes = np.array([[0, 0, 1], [1, 1, 0], [0, -1, 1], [-1, -1, 1]])
    majority, _ = tabular_tasks.combine_votes(votes, 2)
    assert list(majority) == [0, 1, 1, 1]  # the tie of row 2 goes to 1, the more frequent vote
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=400)
    good = np.where(rng.random((400, 2)) < 0.9, truth[:, None], 1 - truth[:, None])
    bad = rng.integers(2, size=(400, 3))  # three who guess
    majority, found = tabular_tasks.combine_votes(np.hstack([good, bad]), 2)
    assert np.mean(found == truth) > np.mean(majority == truth) + 0.03


def test_group_dro_serves_the_group_that_the_mean_forgets():
    """One line for all: nine in ten people want it to rise, one in ten to fall."""
    x = torch.linspace(-1, 1, 200)
    group = (torch.arange(200) % 10 == 0).long()
    y = torch.where(group == 0, x, -x)
    task = FeatureTask(x[:, None], y, 0, groups=group)

    def losses(group_step):
        settings = NetworkSettings(hidden=0, n_steps=300, weight_decay=0.0, group_step=group_step)
        network = train_network([task], [0], settings, seed=0)
        error = (network(task.inputs, 0)[:, 0] - y).detach() ** 2
        return [float(error[group == number].mean()) for number in (0, 1)]

    plain, robust = losses(0.0), losses(0.1)
    assert plain[0] < 0.1 * plain[1]
    assert robust[0] == pytest.approx(robust[1], rel=0.2)
    assert max(robust) < 0.5 * max(plain)


def test_pairs_are_read_apart(tmp_path, monkeypatch):
    def vectors(sentences, config, cache_dir):
        return np.array([[len(s), ord(s[0][0]) - 96, 1] for s in sentences], dtype=np.float32)

    monkeypatch.setattr(tabular_tasks, "sentence_vectors", vectors)
    pairs = [("a", "b", PAIR_SEPARATOR, "c"), ("d", PAIR_SEPARATOR, "d"), ("e", "f", "g")]
    found = tabular_tasks._pair_features(pairs, 2, tmp_path)
    assert found.shape == (3, 9)
    assert (found[1, :2] != 0).any()
    assert found[1, -1] > found[0, -1]  # equal sentences have the larger cosine
    assert (found[2, 2:] == 0).all()  # there is no second sentence
