"""How the demo's models learn: the rounds' own recipe on growing draws by chance.

`python -m benchmarks.demo_curve --project travel --sizes 60 120 240` prints a row per size.
"""

import argparse
import time

from mtl_engine.active_learning.evaluate import evaluate_ensemble
from mtl_engine.active_learning.pool import TEST, LabelledData, LabelledExample, part_of
from mtl_engine.active_learning.settings import ActiveLearningSettings
from mtl_engine.active_learning.train import train_ensemble
from mtl_engine.types import Example, TaskSpec


def main() -> None:
    """Train on each size and print the scores on the test sentences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--project", choices=("news", "travel"), default="travel")
    parser.add_argument("--sizes", type=int, nargs="+", default=[60, 120, 240])
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    tasks, rows = _project(arguments.project, max(arguments.sizes))
    print("| labelled | " + " | ".join(task.name for task in tasks) + " | CPU s |")
    print("|---" * (len(tasks) + 2) + "|")
    settings = ActiveLearningSettings()
    for size in arguments.sizes:
        started = time.process_time()
        examples = [row for row in rows if row.part == TEST or int(row.example.id) < size]
        ensemble = train_ensemble(
            LabelledData(tuple(examples)),
            tasks,
            settings.engine_config(seed=arguments.seed),
            has_temperature=False,
            device="cpu",
        )
        test = [row.example for row in examples if row.part == TEST]
        found = evaluate_ensemble(ensemble, test, settings, seed=arguments.seed).tasks
        scores = " | ".join(f"{found[task.name].score:.2f}" for task in tasks)
        print(f"| {size} | {scores} | {time.process_time() - started:.0f} |", flush=True)


def _project(name: str, n: int) -> tuple[list[TaskSpec], list[LabelledExample]]:
    """Return the tasks of a demo project and its first sentences, with the test slice behind."""
    from annotation.demo.grammar import sentences
    from annotation.demo.services import N_TEST, NEWS_DESK, TRAVEL_DESK

    demo = NEWS_DESK if name == "news" else TRAVEL_DESK
    rows, labels = [], {}
    for i, sentence in enumerate(sentences(demo.templates, n + N_TEST, seed=demo.seed)):
        answers = demo.answers(sentence)
        part = part_of(i, is_test=i >= n)
        rows.append(LabelledExample(Example(tuple(sentence.tokens), answers, i), part, False))
        for label in {row[1] for row in sentence.tree}:
            labels[label] = None
    tasks = []
    for task in demo.spec["tasks"]:
        named = tuple(task["labels"]) or tuple(sorted(labels))
        tasks.append(
            TaskSpec(name=task["name"], kind=task["kind"], labels=named, parent=task.get("parent"))
        )
    return tasks, rows


if __name__ == "__main__":
    import os

    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    main()
