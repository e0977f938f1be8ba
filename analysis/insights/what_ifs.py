"""What-ifs of a quote that need training: without a task, with two labels made one.

Models learn from the present answers, once as they are and once for each what-if, within some
minutes; what each gains on the test sentences is compared sentence by sentence.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from annotation.bridge import task_specs
from annotation.errors import Refused
from annotation.jobs.insights import InsightKind, newest_answers, register_insight
from annotation.jobs.services import Progress
from annotation.models import Job, Project, Role
from annotation.rounds.dashboard import trained_rounds
from annotation.rounds.data import labelled_data
from annotation.rounds.settings import RoundSettings, default_settings
from config.home import home
from mtl_engine.kinds import KINDS, TaskSpec
from mtl_engine.settings import Settings, setting
from mtl_engine.types import Example

if TYPE_CHECKING:
    from mtl_engine.active_learning.pool import LabelledData
    from mtl_engine.ensemble import Ensemble

LEAST_TESTS = 5  # test sentences below which nothing is compared
LEAST_CONFUSED = 2  # times that two labels were taken for each other
MOST_MERGES = 3


@dataclass(frozen=True)
class WhatIfSettings(Settings):
    """How long what-ifs may be trained."""

    minutes: int = setting(
        10,
        title="Minutes",
        help="What-ifs are trained in turn until so many minutes are used.",
        low=1,
        high=600,
    )


@dataclass(frozen=True)
class Change:
    """A change of the tasks and the labels that go with it."""

    name: str
    task: str
    tasks: tuple[TaskSpec, ...]
    data: "LabelledData"
    labels: tuple[str, str] | None = None  # the first becomes the second
    n_answers: int = 0  # that change


def compute(project: Project, settings: WhatIfSettings, progress: Progress) -> dict[str, Any]:
    """Return what each what-if gains at once, and which ones there was no time for."""
    from mtl_engine.active_learning.ledger import compare_ensembles
    from mtl_engine.active_learning.pool import TEST

    started = time.monotonic()
    tasks = task_specs(project)
    data = labelled_data(project, tasks)
    test = data.part(TEST)
    own = default_settings(project)
    base = _trained(data, tasks, own)
    longest = time.monotonic() - started
    changes = [*_without_a_task(data, tasks), *_with_labels_merged(data, tasks, base)]
    rows: list[dict[str, Any]] = []
    left: list[str] = []
    for number, change in enumerate(changes):
        progress("training what-ifs", number, len(changes))
        begun = time.monotonic()
        if begun - started + longest > 60 * settings.minutes:
            left.append(change.name)
            continue
        other = _trained(change.data, change.tasks, own)
        found = compare_ensembles(base, other, test, other_test=change.data.part(TEST))
        rows.append(
            {
                "name": change.name,
                "task": change.task,
                "labels": list(change.labels or ()),
                "n_answers": change.n_answers,
                "gains": {
                    name: {
                        "before": one.chance,
                        "after": one.chosen,
                        "difference": one.difference,
                        "interval": list(one.interval),
                    }
                    for name, one in found.items()
                },
            }
        )
        longest = max(longest, time.monotonic() - begun)
    rounds = trained_rounds(project)
    return {"rows": rows, "left": left, "round": rounds[-1].number if rounds else 0}


def _trained(
    data: "LabelledData", tasks: Sequence[TaskSpec], settings: RoundSettings
) -> "Ensemble":
    from mtl_engine.active_learning.train import train_ensemble

    config = settings.engine_config(seed=settings.seed)
    return train_ensemble(data, tasks, config, has_temperature=False, cache_dir=home().features)


def _without_a_task(data: "LabelledData", tasks: tuple[TaskSpec, ...]) -> Iterator[Change]:
    for task in tasks:
        rest = tuple(one for one in tasks if one.name != task.name and one.parent != task.name)
        if rest:
            yield Change(f"drop:{task.name}", task.name, rest, data)


def _with_labels_merged(
    data: "LabelledData", tasks: tuple[TaskSpec, ...], base: "Ensemble"
) -> list[Change]:
    """Return the pairs of labels that the model takes for each other most often, made one."""
    from mtl_engine.active_learning.evaluate import results_on
    from mtl_engine.active_learning.pool import TEST

    test = data.part(TEST)
    results = results_on(base, test, has_temperatures=False)
    found: Counter[tuple[str, str, str]] = Counter()
    for task in tasks:
        if task.name not in results or len(task.labels) < 3 or _is_bound(task, tasks):
            continue
        result = results[task.name]
        for row, said in zip(result.rows, result.predicted, strict=True):
            for pair in confused_labels(task, said, test[row].labels[task.name]):
                found[task.name, *pair] += 1
    specs = {task.name: task for task in tasks}
    return [
        _merged(data, tasks, specs[name], first, second)
        for (name, first, second), n in found.most_common(MOST_MERGES)
        if n >= LEAST_CONFUSED
    ]


def _is_bound(task: TaskSpec, tasks: Sequence[TaskSpec]) -> bool:
    """Return whether rules between labels name the labels of a task."""
    return bool(task.pairs) or any(one.parent == task.name and one.pairs for one in tasks)


def confused_labels(task: TaskSpec, said: Any, meant: Any) -> Iterator[tuple[str, str]]:
    """Yield the pairs of labels that stand at the same place, in the order of the alphabet."""
    kind = KINDS[task.kind]
    first = {item[:-1]: str(item[-1]) for item in kind.items(said)}
    for item in kind.items(meant):
        other = first.get(item[:-1])
        if other is not None and other != str(item[-1]):
            low, high = sorted((other, str(item[-1])))
            yield low, high


def _merged(
    data: "LabelledData",
    tasks: tuple[TaskSpec, ...],
    task: TaskSpec,
    first: str,
    second: str,
) -> Change:
    """Return the data with the rarer of two labels turned into the other."""
    counts = Counter(
        str(item[-1])
        for one in data.examples
        if task.name in one.example.labels
        for item in KINDS[task.kind].items(one.example.labels[task.name])
    )
    rarer, other = sorted((first, second), key=lambda label: counts[label])
    n_answers = 0
    examples = []
    for one in data.examples:
        example = with_label(one.example, task, rarer, other)
        n_answers += example is not one.example
        examples.append(replace(one, example=example))
    labels = tuple(label for label in task.labels if label != rarer)
    specs = tuple(replace(t, labels=labels) if t.name == task.name else t for t in tasks)
    return Change(
        f"merge:{task.name}:{rarer}:{other}",
        task.name,
        specs,
        replace(data, examples=tuple(examples)),
        (rarer, other),
        n_answers,
    )


def with_label(example: Example, task: TaskSpec, old: str, new: str) -> Example:
    """Return a sentence with one label of a task turned into another."""
    if task.name not in example.labels:
        return example
    kind = KINDS[task.kind]
    items = kind.items(example.labels[task.name])
    if not any(item[-1] == old for item in items):
        return example
    changed = [(*item[:-1], new) if item[-1] == old else item for item in items]
    answer = kind.answer_of(list(dict.fromkeys(changed)), len(example.tokens))
    return replace(example, labels={**example.labels, task.name: answer})


def _check(project: Project) -> None:
    rounds = trained_rounds(project)
    n_test = rounds[-1].stages["training"].get("n_test", 0) if rounds else 0
    if n_test < LEAST_TESTS:
        raise Refused(
            f"What-ifs are compared on the test slice: {n_test} of its sentences are answered, at "
            f"least {LEAST_TESTS} are needed."
        )


WHAT_IFS = register_insight(
    InsightKind(
        name="what_ifs",
        title="What-ifs",
        compute="analysis.insights.what_ifs.compute",
        inputs=newest_answers,
        settings=WhatIfSettings,
        check=_check,
        role=Role.CURATOR,
        job=Job.Kind.RESEARCH,
        page="quote",
        place="quote",
    )
)
