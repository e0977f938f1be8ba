"""Errors planted in answers on purpose: what a detector of errors learns from.

Each item of each layer is made wrong with the same chance, in the ways people err: another label, a
span that is overlooked or a word too long or too short, an arc at another head, a link overlooked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from analysis.methods.label_errors.judgement import Judgement
from mtl_engine.kinds import KINDS, TaskSpec
from mtl_engine.kinds.kind import Item
from mtl_engine.kinds.tree import is_tree
from mtl_engine.types import Example

MOVED = 0.2  # of wrong spans: a border by a word
DROPPED = 0.2  # of wrong spans and links
REHEADED = 0.5  # of wrong arcs


def plant_errors(
    examples: Sequence[Example],
    tasks: Sequence[TaskSpec],
    rng: np.random.Generator,
    *,
    share: float,
) -> list[Example]:
    """Return the sentences with a share of the items of each task made wrong.

    Spans that links end at keep their place, so that every answer stays one that people could give.
    """
    labels = [dict(example.labels) for example in examples]
    for task in sorted(tasks, key=lambda one: len(one.parents)):
        links = [other.name for other in tasks if task.name in other.parents]
        used = [str(item[-1]) for own in labels if task.name in own for item in _items(task, own)]
        if len(set(used)) < 2:
            continue
        for own, example in zip(labels, examples, strict=True):
            if task.name in own:
                held = {end for name in links for end in _ends(own.get(name, ()))}
                own[task.name] = _wrong_answer(task, own, example, used, held, rng, share)
    return [replace(e, labels=own) for e, own in zip(examples, labels, strict=True)]


def _wrong_answer(
    task: TaskSpec,
    labels: Mapping[str, Any],
    example: Example,
    used: Sequence[str],
    held: set[tuple[int, int]],
    rng: np.random.Generator,
    share: float,
) -> Any:
    items = _items(task, labels)
    drawn = np.flatnonzero(rng.random(len(items)) < share)
    if not len(drawn):
        return labels[task.name]
    kind = KINDS[task.kind]
    n_tokens = len(example.tokens)
    for number in drawn[::-1].tolist():
        wrong = _wrong_item(task, items, number, n_tokens, used, held, rng)
        items[number : number + 1] = [] if wrong is None else [wrong]
    return kind.answer_of(list(dict.fromkeys(items)), n_tokens)


def _wrong_item(
    task: TaskSpec,
    items: Sequence[Item],
    number: int,
    n_tokens: int,
    used: Sequence[str],
    held: set[tuple[int, int]],
    rng: np.random.Generator,
) -> Item | None:
    """Return what stands there instead of an item; None where it was overlooked."""
    kind = KINDS[task.kind]
    item = items[number]
    way = rng.random()
    if kind.labels_on == "arcs" and way < REHEADED:
        return _reheaded(items, number, rng) or _relabelled(item, used, rng)
    if kind.marks_spans and item[:2] not in held:
        if way < DROPPED:
            return None
        if way < DROPPED + MOVED:
            return _moved(items, number, n_tokens, rng) or _relabelled(item, used, rng)
    if kind.labels_on in ("links", "marks") and way < DROPPED:
        return None
    return _relabelled(item, used, rng)


def _relabelled(item: Item, used: Sequence[str], rng: np.random.Generator) -> Item:
    """Return an item with another label, drawn as often as it is used."""
    while True:
        label = used[int(rng.integers(len(used)))]
        if label != item[-1]:
            return (*item[:-1], label)


def _moved(
    items: Sequence[Item], number: int, n_tokens: int, rng: np.random.Generator
) -> Item | None:
    start, end, label = items[number]
    by = 1 if rng.random() < 0.5 else -1
    moved = (start, end + by, label) if rng.random() < 0.5 else (start + by, end, label)
    is_free = not any(
        s < moved[1] and moved[0] < e for k, (s, e, _) in enumerate(items) if k != number
    )
    return moved if is_free and 0 <= moved[0] < moved[1] <= n_tokens else None


def _reheaded(items: Sequence[Item], number: int, rng: np.random.Generator) -> Item | None:
    word, head, label = items[number]
    heads = [h for _, h, _ in items]
    for other in (rng.permutation(len(items)) + 1).tolist():
        heads[number] = other
        if other not in (word + 1, head) and is_tree(heads):
            return (word, other, label)
    return None


def _items(task: TaskSpec, labels: Mapping[str, Any]) -> list[Item]:
    return list(KINDS[task.kind].items(labels[task.name]))


def _ends(links: Sequence[Sequence[Any]]) -> list[tuple[int, int]]:
    return [(link[k], link[k + 1]) for link in links for k in (0, 2) if len(link) == 5]


def planted_items(
    judged: Sequence[Judgement],
    examples: Sequence[Example],
    wrong: Sequence[Example],
    tasks: Sequence[TaskSpec],
) -> np.ndarray:
    """Return (n,) which judged items of sentences with planted errors show one.

    An item that was not there before does, and a place where one was and nothing is any more.
    """
    specs = {task.name: task for task in tasks}
    cells: dict[tuple[int, str], tuple[set[Item], list[Item]]] = {}
    found = np.zeros(len(judged), dtype=bool)
    for number, one in enumerate(judged):
        key = (one.row, one.task)
        if key not in cells:
            before, after = (
                _items(specs[one.task], both[one.row].labels) for both in (examples, wrong)
            )
            cells[key] = (set(before), [item for item in before if item not in set(after)])
        right, lost = cells[key]
        if one.given is not None:
            found[number] = one.given not in right
        else:
            found[number] = any(_meets(item, one.place) for item in lost)
    return found


def _meets(item: Item, place: Item) -> bool:
    """Return whether an item stands at a place; spans need not have the same borders."""
    if len(place) == 2:
        return bool(item[0] < place[1] and place[0] < item[1])
    return item[:-1] == place
