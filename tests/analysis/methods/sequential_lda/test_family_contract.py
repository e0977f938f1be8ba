"""What every registered family of topics must do."""

import numpy as np
import pytest

from analysis.methods.sequential_lda import FAMILIES, Pace, SequentialLDA, load_model, save_model
from analysis.methods.sequential_lda.corpus import build_corpus
from analysis.methods.sequential_lda.topics.protocol import StatisticalTopics
from analysis.methods.sequential_lda.topics.registry import family

QUICK = {
    "markov": {},
    "hmm": {"n_states": 2},
    "gaussian_hmm": {"n_states": 2},
    "rnn": {"hidden": 4, "steps": 3},
}
CASES = [(name, {**QUICK.get(name, {})}) for name in FAMILIES] + [("markov", {"order": 2})]
CONTINUOUS = ("gaussian", "gaussian_hmm", "kalman")


def some_tasks(continuous, *, n_tasks=4, n_sequences=6, seed=0):
    """Short sequences of two kinds, mixed differently in every task."""
    rng = np.random.default_rng(seed)
    tasks = []
    for share in np.linspace(0.1, 0.9, n_tasks):
        sequences = []
        for _ in range(n_sequences):
            length, kind = int(rng.integers(1, 7)), int(rng.random() < share)
            if continuous:
                steps = rng.normal(loc=[2.0 * kind, -1.0], size=(length, 2))
                sequences.append(np.cumsum(steps, axis=0) if kind else steps)
            else:
                sequences.append(
                    [("abc", "cab")[kind][i] for i in rng.integers(0, 2 + kind, length)]
                )
        tasks.append(sequences)
    return tasks


@pytest.fixture(scope="module", params=CASES, ids=lambda case: "-".join(map(str, case)))
def fitted(request):
    name, options = request.param
    tasks = some_tasks(name in CONTINUOUS)
    model = SequentialLDA(2, topic=name, n_restarts=1, seed=1, max_iter=12, **options)
    return model.fit(tasks), tasks


def test_every_family_file_is_registered_under_its_own_name():
    for name in FAMILIES:
        assert family(name).family == name
        assert family(name).continuous == (name in CONTINUOUS)


def test_the_objective_never_falls(fitted):
    model, _ = fitted
    assert len(model.objective_) > 2
    assert np.diff(model.objective_).min() >= -1e-8 * abs(model.objective_[-1])


def test_mixtures_are_distributions(fitted):
    model, tasks = fitted
    assert model.theta_.shape == (len(tasks), 2)
    assert model.theta_.sum(axis=1) == pytest.approx(1.0)
    assert model.transform(tasks[:1]).sum() == pytest.approx(1.0)
    assert np.all(np.asarray(model.alpha_) > 0)


def test_a_task_without_sequences_has_the_prior_mixture(fitted):
    model, tasks = fitted
    assert model.transform([[]])[0] == pytest.approx([0.5, 0.5])
    assert model.transform([[], tasks[0]])[1] == pytest.approx(model.transform(tasks[:1])[0])
    assert model.held_out([[]], method="bound")[0] == pytest.approx(0.0, abs=1e-12)


def test_a_refit_with_any_weights_does_not_lower_its_objective(fitted):
    model, tasks = fitted
    topics = model.topics_
    corpus = build_corpus(tasks, topics.space)
    prepared = topics.prepare(corpus.sequences)
    rng = np.random.default_rng(3)
    for _ in range(3):
        weights = rng.gamma(0.5, size=(len(corpus.sequences), 2))

        def objective(one, weights=weights):
            return float((weights * one.log_likelihood(prepared)).sum()) + one.log_prior()

        before, topics = topics, topics.refit(prepared, weights)
        assert objective(topics) >= objective(before) - 1e-9 * abs(objective(before))


def test_a_sequence_is_its_prefix_and_a_halt(fitted):
    model, tasks = fitted
    topics = model.topics_
    corpus = build_corpus([tasks[0]], topics.space)
    whole = topics.log_likelihood(topics.prepare(corpus.sequences))
    for v in range(len(corpus.sequences)):
        trace = topics.trace(corpus.sequences[v])
        ended = trace.log_prefix[-1] + np.log(trace.following[-1, :, -1])
        assert ended == pytest.approx(whole[v])


def test_predictions_read_only_what_came_before(fitted):
    model, tasks = fitted
    sequence = max(tasks[0], key=len)
    along = model.predict_along(0, sequence)
    assert along.shape == (len(sequence) + 1, model.space_.size + 1)
    for i in range(len(sequence)):
        assert model.predict_next(0, sequence[:i]) == pytest.approx(along[i])


def test_next_symbol_predictions_are_distributions(fitted):
    model, tasks = fitted
    for sequence in tasks[1]:
        along = model.predict_along(1, sequence)
        assert along[0, -1] == pytest.approx(0.0, abs=1e-12)
        if model.topics_.continuous:
            assert np.all((along[:, -1] >= 0) & (along[:, -1] <= 1))
        else:
            assert along.sum(axis=1) == pytest.approx(1.0)


def test_the_weight_of_a_sequence_is_the_same_as_repeating_it(fitted):
    model, tasks = fitted
    topics = model.topics_
    once_only = build_corpus(tasks, topics.space)
    doubled = build_corpus([[*task, *task] for task in tasks], topics.space)
    assert len(doubled.sequences) == len(once_only.sequences)
    assert doubled.grouped[2].tolist() == (2 * once_only.grouped[2]).tolist()
    if not isinstance(topics, StatisticalTopics):
        return
    weights = np.random.default_rng(0).random((len(once_only.sequences), 2))
    prepared = topics.prepare(once_only.sequences)
    once = topics.statistics(prepared, weights)
    twice = topics.statistics(prepared, 2 * weights)
    for name in once:
        assert twice[name] == pytest.approx(2 * once[name])


def test_samples_can_be_scored(fitted):
    model, _ = fitted
    drawn = model.sample(0, 5, seed=4, max_length=30)
    assert len(drawn) == 5
    assert all(1 <= len(sequence) <= 30 for sequence in drawn)
    assert np.isfinite(model.score([drawn, [], [], []]))


def test_a_saved_model_answers_the_same(fitted, tmp_path):
    model, tasks = fitted
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.score(tasks) == pytest.approx(model.score(tasks), rel=1e-12)
    assert loaded.predict_next(2, tasks[2][0]) == pytest.approx(model.predict_next(2, tasks[2][0]))
    assert loaded.transform(tasks) == pytest.approx(model.transform(tasks))
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == [
        "model.json",
        "model.npz",
    ]


def test_pictures_have_a_name_for_every_row_and_column(fitted):
    model, _ = fitted
    pictures = model.topics_.pictures()
    assert pictures
    for picture in pictures:
        assert picture.matrices.shape == (2, len(picture.rows), len(picture.columns))


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_the_same_seed_gives_the_same_model(case):
    name, options = case
    tasks = some_tasks(name in CONTINUOUS, n_tasks=2)
    first, second = (
        SequentialLDA(2, topic=name, n_restarts=2, seed=5, max_iter=3, **options).fit(tasks)
        for _ in range(2)
    )
    assert first.theta_.tolist() == second.theta_.tolist()
    assert first.objective_.tolist() == second.objective_.tolist()


@pytest.mark.parametrize(
    "case",
    # not multinomial: whole sequences are its words, and a sequence ends where it ends
    [case for case in CASES if case[0] != "multinomial"],
    ids=lambda case: "-".join(map(str, case)),
)
def test_without_halting_length_says_nothing(case):
    name, options = case
    tasks = some_tasks(name in CONTINUOUS, n_tasks=2)
    model = SequentialLDA(2, topic=name, n_restarts=1, max_iter=3, halting=False, **options).fit(
        tasks
    )
    sequence = tasks[0][0]
    assert model.predict_along(0, sequence)[:, -1] == pytest.approx(0.0)
    trace = model.topics_.trace(model.space_.encode(sequence, where="here"))
    corpus = build_corpus([[sequence]], model.space_)
    whole = model.topics_.log_likelihood(model.topics_.prepare(corpus.sequences))[0]
    assert trace.log_prefix[-1] == pytest.approx(whole)


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_more_topics_than_sequences_and_a_single_task_are_fine(case):
    name, options = case
    tasks = some_tasks(name in CONTINUOUS, n_tasks=1, n_sequences=2)
    model = SequentialLDA(5, topic=name, n_restarts=1, max_iter=3, **options).fit(tasks)
    assert model.theta_.shape == (1, 5)
    assert np.isfinite(model.score(tasks))
    assert np.isfinite(model.objective_).all()


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_batches_of_tasks_learn_too(case):
    name, options = case
    tasks = [*some_tasks(name in CONTINUOUS, n_tasks=4), []]
    model = SequentialLDA(2, topic=name, seed=2, **options)
    model.fit_stochastic(tasks, Pace(batch_tasks=1, epochs=2))
    assert model.theta_.shape == (5, 2)
    assert len(model.objective_) == 8
    assert np.isfinite(model.score(tasks))
