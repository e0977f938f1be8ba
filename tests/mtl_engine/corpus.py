"""Made-up sentences labelled for all five kinds of task by a tiny grammar."""

import numpy as np

from mtl_engine.config import EngineConfig
from mtl_engine.types import Example, TaskSpec

PEOPLE = (("Ada",), ("Grace", "Hopper"), ("Alan",), ("Emmy", "Noether"))
PLACES = (("Paris",), ("New", "York"), ("Oslo",), ("Cape", "Town"))
VERBS = {"visits": "goes_to", "leaves": "comes_from"}

TASKS = (
    TaskSpec("entities", "spans", ("PER", "LOC")),
    TaskSpec("pos", "tags", ("NOUN", "VERB", "PART", "PUNCT")),
    TaskSpec("mood", "classes", ("question", "statement")),
    TaskSpec("syntax", "tree", ("root", "subj", "obj", "part", "flat", "punct")),
    TaskSpec("moves", "relations", ("goes_to", "comes_from"), parent="entities"),
)
SPANS, POS, MOOD, SYNTAX, MOVES = TASKS


def sentences(n, seed=0):
    """Return n labelled sentences; the same for the same seed."""
    rng = np.random.default_rng(seed)
    return [sentence(rng, number) for number in range(n)]


def sentence(rng, number):
    person = PEOPLE[rng.integers(len(PEOPLE))]
    place = PLACES[rng.integers(len(PLACES))]
    verb = list(VERBS)[rng.integers(len(VERBS))]
    is_question = bool(rng.integers(2))
    start = ["does"] if is_question else []
    tokens = [*start, *person, verb, *place, "?" if is_question else "."]
    p, v = len(start), len(start) + len(person)
    q, end = v + 1, len(tokens) - 1
    heads = [[v + 1, "part"] for _ in start]
    heads += [[v + 1, "subj"], *[[p + 1, "flat"]] * (len(person) - 1)]
    heads += [[0, "root"], [v + 1, "obj"], *[[q + 1, "flat"]] * (len(place) - 1)]
    heads += [[v + 1, "punct"]]
    return Example(
        tokens=tuple(tokens),
        labels={
            "entities": [[p, v, "PER"], [q, end, "LOC"]],
            "pos": [
                *["PART"] * p,
                *["NOUN"] * len(person),
                "VERB",
                *["NOUN"] * len(place),
                "PUNCT",
            ],
            "mood": "question" if is_question else "statement",
            "syntax": heads,
            "moves": [[p, v, q, end, VERBS[verb]]],
        },
        id=number,
    )


def labelled_for(*tasks, n=16):
    """Return n sentences labelled for some of the tasks only."""
    names = {task.name for task in tasks}
    return [
        Example(e.tokens, {name: e.labels[name] for name in e.labels if name in names})
        for e in sentences(n)
    ]


def tiny_config(*, frozen_layers=-1, width=32, layers=3, model=None, **training):
    """Return settings under which the tiny encoder learns within a second or two."""
    return EngineConfig.from_dict(
        {
            "encoder": {
                "kind": "tiny",
                "width": width,
                "layers": layers,
                "frozen_layers": frozen_layers,
            },
            "model": {"arc_width": 32, "label_width": 16, "pair_width": 32, **(model or {})},
            "training": {
                "learning_rate": 3e-3,
                "head_factor": 1.0,
                "epochs": 2,
                "batch_size": 8,
                "evaluate_every": 1,
                **training,
            },
        }
    )


def trained(examples, tasks, config, **options):
    """Return the last event of a training."""
    from mtl_engine.training import train

    *_, end = train(examples, options.pop("dev", []), tasks, config, **options)
    return end
