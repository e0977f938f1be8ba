import os
from pathlib import Path

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.methods.simulator import from_io, label_matrix, simulate_tasks, to_io

CONLL = Path(os.environ["TANDEM_DATA"]) / "conll2003" / "eng.train"


def test_the_matrix_has_alpha_on_the_diagonal_and_the_rest_shared_out():
    assert label_matrix(3, 0.6) == pytest.approx(
        np.array([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]])
    )


def test_alpha_one_repeats_the_task_and_one_over_k_says_nothing_about_it():
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=5000)
    tasks = simulate_tasks(labels, [1.0, 0.25], seed=1)
    assert (tasks.labels[0] == labels).all()
    assert tasks.ami_max[0] == pytest.approx(1.0)
    assert tasks.ami_max[1] == pytest.approx(0.0, abs=0.005)


def test_labels_agree_as_often_as_alpha_says():
    labels = np.repeat(np.arange(5), 4000)
    tasks = simulate_tasks(labels, [0.6, 0.9], seed=2)
    assert (tasks.labels == labels).mean(axis=1) == pytest.approx([0.6, 0.9], abs=0.01)


def test_names_and_numbers_give_the_same_tasks_and_seeds_differ():
    names = ["O", "I-PER", "O", "I-LOC"] * 50
    numbers = [{"I-LOC": 0, "I-PER": 1, "O": 2}[name] for name in names]
    first = simulate_tasks(names, [0.7], seed=3)
    assert (first.labels == simulate_tasks(numbers, [0.7], seed=3).labels).all()
    assert (first.labels != simulate_tasks(names, [0.7], seed=4).labels).any()


@pytest.mark.corpora("conll2003")
def test_the_information_on_conll_2003_is_the_papers():
    lines = CONLL.read_text(encoding="utf-8").splitlines()
    tags = [line.split()[-1] for line in lines if line.strip() and "-DOCSTART-" not in line]
    alphas = [0.6, 0.7, 0.85, 0.9, 0.92, 0.95, 0.97, 0.99]
    tasks = simulate_tasks(to_io(tags), alphas, seed=0)
    printed = [0.13, 0.22, 0.43, 0.55, 0.61, 0.71, 0.80, 0.91]
    by_equation_2 = [0.0995, 0.168, 0.367, 0.486, 0.548, 0.664, 0.766, 0.899]
    assert tasks.ami_arithmetic == pytest.approx(printed, abs=0.012)
    assert tasks.ami_max == pytest.approx(by_equation_2, abs=0.008)


def test_io_and_iob2_by_hand():
    assert to_io(["B-PER", "I-PER", "B-PER", "O", "B-LOC"]) == [
        "I-PER", "I-PER", "I-PER", "O", "I-LOC",
    ]  # fmt: skip
    assert from_io(["I-PER", "I-PER", "O", "I-LOC", "I-PER"]) == [
        "B-PER", "I-PER", "O", "B-LOC", "B-PER",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: label_matrix(1, 0.5), "at least two labels"),
        (lambda: label_matrix(3, 1.5), "not in"),
        (lambda: label_matrix(3, float("nan")), "not in"),
        (lambda: simulate_tasks([], [0.5], seed=0), "not empty"),
        (lambda: simulate_tasks([0, 1], [], seed=0), "at least one alpha"),
        (lambda: simulate_tasks(["O", "O"], [0.5], seed=0), "at least two labels"),
        (lambda: simulate_tasks([0, 1], 0.5, seed=0), "Give a list"),
        (lambda: simulate_tasks([0.0, np.nan, 1.0], [0.5], seed=0), "A label is NaN"),
        (lambda: simulate_tasks([0, 1], [0.5], seed=-1), "seed is -1"),
    ],
)
def test_bad_input_is_refused_with_a_reason(call, message):
    with pytest.raises(AnalysisError, match=message):
        call()
