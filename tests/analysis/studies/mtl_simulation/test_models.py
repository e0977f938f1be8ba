from dataclasses import replace

import numpy as np
import pytest
import torch

from analysis.errors import AnalysisError
from analysis.studies.mtl_simulation.corpus import draw_tokens, read_tagged
from analysis.studies.mtl_simulation.evaluation import ChunkEvaluator
from analysis.studies.mtl_simulation.model import Shape, encode, initial_parameters, task_logits
from analysis.studies.mtl_simulation.training import (
    UNLABELLED,
    Problem,
    Training,
    summed_loss,
    train,
)
from benchmarks.simulation_plain import PlainModel, train_plainly

SHAPE = Shape(vector_width=6, n_labels=3, n_tasks=2, units=4, dense_units=5)
VECTORS = torch.randn(20, 6, generator=torch.Generator().manual_seed(0))
SENTENCES = [
    (["Ann", "met", "Bob", "Ross", "."], ["B-PER", "O", "B-PER", "I-PER", "O"]),
    (["In", "Rome", "it", "rains"], ["O", "B-LOC", "O", "O"]),
    (["Ann", "left", "Rome"], ["B-PER", "O", "B-LOC"]),
]


def _problem(seed, n=30, n_tasks=2):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, (n_tasks, n))
    labels[0, n // 2 :] = UNLABELLED
    return Problem(rng.integers(0, 20, (n, 7)), labels, seed)


def test_a_model_computes_what_pytorchs_own_layers_compute():
    parameters = initial_parameters(SHAPE, [5])
    plain = PlainModel(parameters, SHAPE)
    windows = torch.randint(0, 20, (8, 7), generator=torch.Generator().manual_seed(1))
    fast = task_logits(parameters, encode(parameters, VECTORS[windows][None]))[0]
    for t, expected in enumerate(plain(VECTORS[windows])):
        torch.testing.assert_close(fast[t], expected, atol=1e-6, rtol=1e-5)


def test_training_takes_the_steps_of_a_plain_loop():
    problem = _problem(3)
    training = Training(epochs=3, batch_size=10)
    fast = train([problem], VECTORS, SHAPE, training).parameters
    plain = train_plainly(problem, VECTORS, SHAPE, training)
    expected = PlainModel(fast, SHAPE)
    for name, value in plain.named_parameters():
        torch.testing.assert_close(
            expected.get_parameter(name), value, atol=1e-5, rtol=1e-4, msg=name
        )


def test_a_stack_trains_as_its_models_would_alone():
    problems = [_problem(seed) for seed in (1, 2, 3)]
    training = Training(epochs=4, batch_size=8)
    stacked = train(problems, VECTORS, SHAPE, training).parameters
    for i, problem in enumerate(problems):
        alone = train([problem], VECTORS, SHAPE, training).parameters
        for name, value in alone.items():
            torch.testing.assert_close(stacked[name][i], value[0], atol=1e-5, rtol=1e-4, msg=name)


def test_a_stack_stops_each_model_when_it_would_stop_alone():
    corpus = read_tagged(SENTENCES, SENTENCES, SENTENCES)
    evaluator = ChunkEvaluator(corpus.test, 3)
    shape = replace(SHAPE, n_tasks=1)
    problems = [
        Problem(corpus.train.windows(3), corpus.train.labels[None], seed) for seed in (0, 1, 2)
    ]
    training = Training(epochs=30, batch_size=4, learning_rate=0.02, patience=2)
    stacked = train(problems, VECTORS, shape, training, dev=evaluator)
    alone = [train([problem], VECTORS, shape, training, dev=evaluator) for problem in problems]
    assert stacked.epochs.tolist() == [int(one.epochs[0]) for one in alone]
    assert evaluator.scores(stacked.parameters, VECTORS) == pytest.approx(
        [float(evaluator.scores(one.parameters, VECTORS)[0]) for one in alone]
    )


def test_models_that_have_stopped_leave_their_stack_and_change_nothing_for_the_others():
    sizes = []

    class Planned:
        """The first model is best at epoch 1, the second at 3, the third at the end."""

        def scores(self, parameters, vectors):
            sizes.append(len(parameters["input"]))
            epoch, best = len(sizes), np.array([1, 3, 6])[-sizes[-1] :]
            return np.where(epoch <= best, 0.1 * epoch, 0.05)

    problems = [_problem(seed) for seed in (1, 2, 3)]
    training = Training(epochs=6, batch_size=8, patience=1)
    stacked = train(problems, VECTORS, SHAPE, training, dev=Planned())
    assert stacked.epochs.tolist() == [2, 4, 6]
    assert sizes == [3, 3, 2, 2, 1, 1]
    for i, epochs in enumerate((1, 3, 6)):  # of the best look
        alone = train([problems[i]], VECTORS, SHAPE, replace(training, epochs=epochs)).parameters
        for name, value in alone.items():
            torch.testing.assert_close(
                stacked.parameters[name][i], value[0], atol=1e-5, rtol=1e-4, msg=name
            )


def test_the_loss_is_the_sum_over_tasks_of_means_over_labelled_tokens():
    logits = torch.zeros(1, 2, 2, 4)
    wanted = torch.tensor([[[0, UNLABELLED], [1, 2]]])
    assert summed_loss(logits, wanted).item() == pytest.approx(2 * np.log(4))


def test_windows_are_padded_at_the_ends_of_a_sentence():
    corpus = read_tagged(SENTENCES, SENTENCES, SENTENCES)
    windows = corpus.train.windows(1)
    word = dict(zip(corpus.vocabulary, range(1, 99), strict=False))
    assert windows[0].tolist() == [0, word["Ann"], word["met"]]
    assert windows[4].tolist() == [word["Ross"], word["."], 0]
    assert windows[5].tolist() == [0, word["In"], word["Rome"]]


def test_smaller_draws_of_a_seed_begin_larger_ones():
    corpus = read_tagged(SENTENCES, SENTENCES, SENTENCES)
    small = draw_tokens(corpus.train, 4, np.random.default_rng(2))
    large = draw_tokens(corpus.train, 11, np.random.default_rng(2))
    assert large[:4].tolist() == small.tolist()
    assert len(set(large.tolist())) == 11


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Training(epochs=0), "epochs is 0"),
        (lambda: Training(learning_rate=2), "learning_rate 2"),
        (lambda: train([], VECTORS, SHAPE, Training()), "no problem"),
        (lambda: train([_problem(0, n_tasks=3)], VECTORS, SHAPE, Training()), "Labels are"),
        (
            lambda: train([_problem(0), _problem(1, n=20)], VECTORS, SHAPE, Training()),
            "equally many tokens",
        ),
        (lambda: read_tagged([(["a"], ["NN"])], SENTENCES, SENTENCES), "those of entities"),
        (lambda: read_tagged(SENTENCES[1:2], SENTENCES, SENTENCES), "never trained"),
        (lambda: read_tagged(SENTENCES, [], SENTENCES), "no sentences"),
        (
            lambda: draw_tokens(
                read_tagged(SENTENCES, SENTENCES, SENTENCES).train, 13, np.random.default_rng(0)
            ),
            "13 tokens cannot be drawn",
        ),
    ],
)
def test_bad_input_is_refused_with_a_reason(call, message):
    with pytest.raises(AnalysisError, match=message):
        call()
