"""What finished runs of active learning are known by stays as it is."""

from analysis.sweep.registry import get_kind
from analysis.sweep.study_file import parse_study

KNOWN_DEFAULTS = {
    "amount": 60.0,
    "architecture": "SMT",
    "batch_size": 0,
    "candidates": 0,
    "confidence": "entropy",
    "cost_source": "predicted",
    "coverage_weight": 0.0,
    "decision": "BLP",
    "dev_size": 0,
    "diversity": "none",
    "dropout_scope": "full",
    "encoder": "bundled",
    "epochs": 0,
    "format": "slu",
    "frozen_layers": -2,
    "has_temperature": True,
    "head_factor": 10.0,
    "initial": 50,
    "is_warm_start": False,
    "label_smoothing": 0.1,
    "learning_rate": 0.0004,
    "max_words": 0,
    "modes": [],
    "n_passes": 10,
    "n_rounds": 5,
    "opening_cost": 0.0,
    "overflow": "stop",
    "patience": 0,
    "policy": "joint",
    "pool_sample": 20000,
    "pool_size": 0,
    "project": 0,
    "random_share": 0.2,
    "scale": "none",
    "spend_rest": False,
    "strategy": "MT-EEC",
    "task": "",
    "task_need": "equal",
    "tasks": [],
    "test": "",
    "test_size": 400,
    "train": "",
    "unit": "minutes",
    "value": "mean",
    "weights": {},
    "whole_sentences": False,
}


def test_a_default_changes_only_together_with_the_kinds_version():
    kind = get_kind("active_learning")
    assert kind.version == 7
    assert {name: kind.defaults[name] for name in KNOWN_DEFAULTS} == KNOWN_DEFAULTS


def test_a_run_is_known_by_what_differs_from_the_defaults():
    settings = {"train": "a", "test": "b", "strategy": "MT-MIN", "amount": 60, "unit": "cost"}
    (run,) = parse_study({"kind": "active_learning", "settings": settings}, where="x").runs()
    known_by = {"train": "a", "test": "b", "strategy": "MT-MIN", "unit": "cost"}
    assert get_kind("active_learning").changed(run.settings) == known_by
