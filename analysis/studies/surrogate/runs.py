"""Runs of the study kind ``surrogate``: one way to choose the source tasks of one target."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from analysis.errors import AnalysisError
from analysis.studies.surrogate.network import (
    Network,
    NetworkSettings,
    mean_loss,
    outputs,
    train_network,
)
from analysis.studies.surrogate.source_selection import Choice, Sampling, choose
from analysis.studies.surrogate.study import LABEL_MODELS, ROBUST, SurrogateStudySettings
from analysis.studies.surrogate.tabular_tasks import Ints, Pool
from analysis.studies.surrogate.transfer_problem import TransferProblem
from analysis.sweep.registry import Row


def run_surrogate(settings: SurrogateStudySettings, seed: int, pool: Pool) -> Iterator[Row]:
    """Yield what a target scores with the source tasks that one way of choosing leads to."""
    problem, test = _problem(settings, pool, seed)
    seeds = range(1000, 1000 + settings.n_seeds)
    if settings.choice in LABEL_MODELS:
        choice = Choice(())
        combined = pool.task(settings.choice, pool.parts[settings.choice])
        tasks = [problem.target, combined]
        networks = [
            train_network(tasks, problem.head_sizes, problem.settings, seed=seed) for seed in seeds
        ]
    else:
        sampling = Sampling(settings.n_subsets, settings.subset_size, settings.n_seeds)
        is_robust = settings.choice == ROBUST
        choice = choose(problem, "all" if is_robust else settings.choice, sampling, seed=seed)
        if is_robust:
            robust = replace(problem.settings, group_step=settings.group_step)
            problem = replace(problem, settings=robust)
        networks = [problem.train(choice.sources, seed=seed) for seed in seeds]
    scores = [_scores(network, pool, settings.target, test) for network in networks]
    final = {name: float(np.mean([score[name] for score in scores])) for name in scores[0]}
    final["n_sources"] = len(choice.sources)
    if choice.quality is not None:
        final["held_out_spearman"] = choice.quality.spearman
    yield {"final": final}


def _problem(
    settings: SurrogateStudySettings, pool: Pool, seed: int
) -> tuple[TransferProblem, Ints]:
    """Return the target's problem and its test examples: train, dev and test drawn by the seed."""
    target = settings.target
    if target not in pool.parts:
        raise AnalysisError(f"No task '{target}'. Known: {', '.join(sorted(pool.parts))}.")
    rows = np.random.default_rng(seed).permutation(pool.parts[target])
    n, m = settings.n_target, settings.n_dev
    if len(rows) <= n + m:
        raise AnalysisError(
            f"'{target}' has {len(rows)} examples: {n} to train and {m} to develop on leave none "
            "to test on."
        )
    names = tuple(name for name in pool.parts if name not in (target, *LABEL_MODELS))
    problem = TransferProblem(
        pool.task(target, rows[:n]),
        pool.task(target, rows[n : n + m]),
        tuple(pool.task(name, pool.parts[name]) for name in names),
        names,
        NetworkSettings(hidden=settings.hidden, n_steps=settings.n_steps),
    )
    return problem, rows[n + m :]


def _scores(network: Network, pool: Pool, target: str, test: Ints) -> dict[str, float]:
    task = pool.task(target, test)
    scores = {"loss": mean_loss(network, task)}
    found = outputs(network, task)
    if not task.n_classes:
        return {"score": float(np.corrcoef(found[:, 0], task.targets.numpy())[0, 1]), **scores}
    is_right = found.argmax(1) == task.targets.numpy()
    by_group = [is_right[pool.groups[test] == group] for group in np.unique(pool.groups[test])]
    large = [group.mean() for group in by_group if len(group) >= 20]
    scores |= {"score": float(is_right.mean()), "worst_group": float(min(large))}
    if len(large) > 1:
        scores["gap"] = float(max(large) - min(large))  # between the best and the worst group
    return scores
