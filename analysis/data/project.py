"""A project of the server as the data of a study: its labelled sentences, and what they cost."""

import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from django.apps import apps

from analysis.data.corpora import TEST_SEED
from analysis.data.labelled import LabelledCorpus, WorkTimes
from analysis.errors import AnalysisError
from mtl_engine.types import Example

if TYPE_CHECKING:
    from annotation.models import Project


def read_project(
    project_id: int, *, tasks: list[str], test_size: int = 0, max_words: int = 0
) -> LabelledCorpus:
    """Return a project's labelled sentences; the frozen test slice, where there is one, tests.

    Before a first round has frozen one, ``test_size`` sentences are drawn, a fifth at most.
    """
    _connect()
    from annotation.bridge import as_example, task_specs
    from annotation.rounds.data import labelled_sentences

    project = _find(project_id)
    specs = tuple(spec for spec in task_specs(project) if not tasks or spec.name in tasks)
    unknown = sorted(set(tasks) - {spec.name for spec in specs})
    if unknown:
        raise AnalysisError(f"Project {project_id} has no task '{unknown[0]}'.")
    pool: list[Example] = []
    tested: list[Example] = []
    for sentence in labelled_sentences(project):
        example = as_example(sentence.id, sentence.tokens, sentence.labels, specs)
        if example.labels and (not max_words or len(example.tokens) <= max_words):
            (tested if sentence.is_test else pool).append(example)
    if not tested:
        pool, tested = _split(pool, test_size)
    return LabelledCorpus(specs, tuple(pool), tuple(tested))


def read_times(project_id: int, tasks: list[str]) -> WorkTimes:
    """Return what people's measured times say the sentences of a project cost."""
    _connect()
    from annotation.bridge import task_specs
    from annotation.queue.selectors import cost_model, sentence_seconds

    project = _find(project_id)
    names = tuple(spec.name for spec in task_specs(project) if not tasks or spec.name in tasks)
    return WorkTimes(cost_model(project, names), sentence_seconds(project))


def project_fingerprint(project_id: int) -> str:
    """Return a hash of a project's tasks and of everything that is labelled in it now."""
    from mtl_engine.examples import examples_hash

    corpus = read_project(project_id, tasks=[])
    tasks = [asdict(task) for task in corpus.tasks]
    return _hash(tasks, examples_hash([*corpus.pool, *corpus.test]))


def replay_fingerprint(project_id: int) -> str:
    """Return a hash of a project's labels and of the times that people needed for them."""
    labels = project_fingerprint(project_id)
    from annotation.bridge import task_specs
    from annotation.queue.selectors import sentence_seconds, work_events

    project = _find(project_id)
    events = work_events(project, tuple(spec.name for spec in task_specs(project)))
    seconds = sorted(sentence_seconds(project).items())
    return _hash(labels, [asdict(event) for event in events], seconds)


def _hash(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _find(project_id: int) -> "Project":
    from annotation.errors import Refused
    from annotation.projects.selectors import find_project

    try:
        return find_project(str(project_id))
    except Refused as error:
        raise AnalysisError(str(error)) from error


def _connect() -> None:
    """Start Django where a worker process has not."""
    if not apps.ready:
        import django

        django.setup()


def _split(examples: list[Example], test_size: int) -> tuple[list[Example], list[Example]]:
    n_test = min(test_size or len(examples), len(examples) // 5)
    drawn = np.random.default_rng(TEST_SEED).choice(len(examples), size=n_test, replace=False)
    is_test = np.isin(np.arange(len(examples)), drawn)
    pool = [example for example, tests in zip(examples, is_test, strict=True) if not tests]
    return pool, [example for example, tests in zip(examples, is_test, strict=True) if tests]
