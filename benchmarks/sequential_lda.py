"""Measures an EM iteration of SequentialLDA beside scikit-learn's LDA and hmmlearn's Baum-Welch.

    python -m benchmarks.sequential_lda [--tokens 400000] [--repeats 5]

100 tasks, K = 10, sequences of 20 symbols out of 20 drawn from planted chains. Times are CPU
seconds of one thread, medians over repeats, all measured in the same run. Exits with status 1 when
a limit is broken: Markov within 3 times scikit-learn's iteration on bigram counts, an HMM topic
within 1.5 times hmmlearn's `scaling` iteration.
"""

import argparse
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from hmmlearn.hmm import CategoricalHMM
from scipy.sparse import csr_matrix
from sklearn.decomposition import LatentDirichletAllocation

from analysis.methods.sequential_lda import SequentialLDA
from analysis.methods.sequential_lda.em import Schedule, run_em
from analysis.methods.sequential_lda.synthetic import Planted

N_TASKS, N_TOPICS, N_SYMBOLS, LENGTH, N_STATES = 100, 10, 20, 20, 5
MARKOV_LIMIT, HMM_LIMIT = 3.0, 1.5
RESULT = Path(__file__).parent / "results" / "sequential_lda.md"
Tasks = list[list[Any]]


def main() -> int:
    """Measure, print and write the table; 1 when a limit is broken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=400_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--memory-of", type=int, help="only fit so many tasks, say the memory")
    options = parser.parse_args()
    tasks = draw_tasks(options.tokens)
    if options.memory_of:
        fit_and_say_memory(tasks[: options.memory_of])
        return 0
    markov = iteration_seconds(tasks, "markov", options.repeats)
    lda = sklearn_seconds(tasks, options.repeats)
    hmm = iteration_seconds(tasks, "hmm", options.repeats, n_states=N_STATES) / N_TOPICS
    peer = hmmlearn_seconds(tasks, options.repeats)
    memory = [peak_memory(n) for n in (N_TASKS // 4, N_TASKS // 2, N_TASKS)]
    text = report(options, markov, lda, hmm, peer, memory, cores(tasks))
    print(text)
    RESULT.write_text(text, encoding="utf-8")
    return int(markov > MARKOV_LIMIT * lda or hmm > HMM_LIMIT * peer)


def draw_tasks(tokens: int) -> Tasks:
    """Sequences of equal length from planted chains, 10 of them mixed in every task."""
    planted = Planted.chains(N_TOPICS, N_SYMBOLS, halt=0.0, seed=0)
    rows = planted.topics.arrays()["rows"]
    rng = np.random.default_rng(1)
    per_task = tokens // LENGTH // N_TASKS
    theta = rng.dirichlet(np.full(N_TOPICS, 0.3), size=N_TASKS)
    topic = np.array([rng.choice(N_TOPICS, size=per_task, p=theta[t]) for t in range(N_TASKS)])
    edges = np.cumsum(rows[..., :-1], axis=-1)
    steps = np.zeros((N_TASKS, per_task, LENGTH), dtype=np.int64)
    context = np.zeros_like(topic)
    for i in range(LENGTH):
        chance = rng.random(topic.shape)[..., None]
        steps[..., i] = (chance > edges[topic, context][..., :-1]).sum(axis=-1)
        context = steps[..., i] + 1
    return [list(task) for task in steps]


def iteration_seconds(tasks: Tasks, topic: str, repeats: int, **options: Any) -> float:
    """CPU seconds of one EM iteration: 11 of them minus 1 of them, over 10."""
    problem = SequentialLDA(N_TOPICS, topic=topic, **options).problem(tasks)
    seed = np.random.SeedSequence(0)

    def run(iterations: int) -> float:
        schedule = Schedule(max_iter=iterations, tolerance=-1.0)
        return cpu(lambda: run_em(problem, schedule, seed))

    run(1)
    return median((run(11) - run(1)) / 10 for _ in range(repeats))


def sklearn_seconds(tasks: Tasks, repeats: int) -> float:
    """CPU seconds of one batch iteration of LDA over the tasks' bigram counts."""
    counts = np.zeros((len(tasks), N_SYMBOLS**2))
    for row, sequences in zip(counts, tasks, strict=True):
        steps = np.array(sequences)
        pairs = steps[:, :-1] * N_SYMBOLS + steps[:, 1:]
        row += np.bincount(pairs.ravel(), minlength=N_SYMBOLS**2)
    matrix = csr_matrix(counts)

    def run(iterations: int) -> float:
        model = LatentDirichletAllocation(N_TOPICS, max_iter=iterations, random_state=0)
        return cpu(lambda: model.fit(matrix))

    return median((run(11) - run(1)) / 10 for _ in range(repeats))


def hmmlearn_seconds(tasks: Tasks, repeats: int) -> float:
    """CPU seconds of one Baum-Welch iteration of one HMM over all sequences."""
    steps = np.concatenate([np.concatenate(task) for task in tasks])[:, None]
    lengths = [len(sequence) for task in tasks for sequence in task]

    def run(iterations: int) -> float:
        model = CategoricalHMM(
            N_STATES, n_iter=iterations, tol=-np.inf, implementation="scaling", random_state=0
        )
        return cpu(lambda: model.fit(steps, lengths))

    return median((run(4) - run(1)) / 3 for _ in range(min(repeats, 3)))


def cores(tasks: Tasks) -> tuple[float, float]:
    """Wall seconds of two restarts of the HMM, in one process and in two."""
    found = []
    for jobs in (1, 2):
        model = SequentialLDA(
            N_TOPICS, topic="hmm", n_restarts=2, n_jobs=jobs, max_iter=10, tolerance=-1.0
        )
        model.fit(tasks[:2])  # starts the workers
        start = time.perf_counter()
        model.fit(tasks)
        found.append(time.perf_counter() - start)
    return found[0], found[1]


def peak_memory(n_tasks: int) -> tuple[int, float]:
    """Tokens of a quarter, half or all of the tasks, and megabytes a process takes to fit them."""
    command = [sys.executable, "-m", "benchmarks.sequential_lda", "--memory-of", str(n_tasks)]
    tokens, megabytes = subprocess.check_output(command, text=True).split()
    return int(tokens), float(megabytes)


def fit_and_say_memory(tasks: Tasks) -> None:
    """Print the tokens, and by how many megabytes fitting the HMM raised this process's peak."""
    model = SequentialLDA(N_TOPICS, topic="hmm", n_restarts=1, max_iter=2, tolerance=-1.0)
    model.fit(tasks[:1])  # compiles, so that the compiler's memory does not count
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model.fit(tasks)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(sum(len(sequence) for task in tasks for sequence in task), (after - before) / 1024)


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of this process for a piece of work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def report(
    options: argparse.Namespace,
    markov: float,
    lda: float,
    hmm: float,
    peer: float,
    memory: list[tuple[int, float]],
    walls: tuple[float, float],
) -> str:
    """The measurements as Markdown."""
    lines = [
        "# Speed of SequentialLDA",
        "",
        f"`python -m benchmarks.sequential_lda --tokens {options.tokens} --repeats "
        f"{options.repeats}`: {options.tokens:,} tokens, {N_TASKS} tasks, K = {N_TOPICS}, "
        f"{N_SYMBOLS} symbols, sequences of {LENGTH}; CPU seconds of one thread, medians, Python "
        f"{platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores.",
        "",
        "| one iteration | CPU s | peer | CPU s | ratio | limit |",
        "|---|---|---|---|---|---|",
        f"| Markov EM, all 10 topics | {markov:.4f} | scikit-learn LDA on bigram counts | "
        f"{lda:.4f} | {markov / lda:.2f} | {MARKOV_LIMIT} |",
        f"| HMM EM, per topic ({N_STATES} states) | {hmm:.4f} | hmmlearn scaling | "
        f"{peer:.4f} | {hmm / peer:.2f} | {HMM_LIMIT} |",
        "",
        "Peak memory of an HMM fit beyond that of the drawn data: "
        + ", ".join(f"{megabytes:.0f} MB at {tokens:,} tokens" for tokens, megabytes in memory)
        + ".",
        "",
        f"Two restarts of the HMM, 10 iterations: {walls[0]:.1f} s wall in one process, "
        f"{walls[1]:.1f} s in two (n_jobs=2).",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
