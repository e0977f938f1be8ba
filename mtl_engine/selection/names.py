"""The names of the paper's tables, taken apart: which model, which confidence, which strategy."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.selection.request import EQB_DJS, UDJS

ConfidenceKind = Literal["entropy", "dropout"]

JOINT = ("MT-AVG", "MT-MAX", "MT-MIN", "MT-PAR", "MT-RRF", "MT-IND")
CELLS = (UDJS.name, EQB_DJS.name)
KNOWN = (
    *("ST-R", "ST-EC", "ST-EC-task", "ST-DA", "ST-DA-task", "MT-R", "MT-EC-task", "MT-DA-task"),
    *JOINT,
    *(f"{name}DA" for name in JOINT),
    *("STCS-task", "STCSDA-task", *CELLS, *(f"{name}DA" for name in CELLS)),
)


@dataclass(frozen=True)
class NamedStrategy:
    """What a name of the paper stands for."""

    name: str
    strategy: str  # for `select`, or for `plan` where it names STCS, UDJS or EQB-DJS
    confidence: ConfidenceKind | None  # None: chance needs none
    task: int | None  # the column that decides, for SINGLE and STCS
    is_multi_task: bool  # whether one model of all tasks gives the confidences


def resolve_strategy(name: str, tasks: Sequence[str] = ()) -> NamedStrategy:
    """Return what a name such as MT-AVGDA, ST-EC-NER or STCS-intent stands for.

    `tasks` are the names of the confidence columns; a task in a name is one of them, in any case,
    and may be left out where there is only one.
    """
    if name in ("ST-R", "MT-R", "RANDOM"):
        return NamedStrategy(name, "RANDOM", None, None, name != "ST-R")
    if single := re.fullmatch(r"(ST|MT)-(EC|DA)(?:-(.+))?", name):
        model, kind, task = single.groups()
        column = _column(name, task, tasks)
        return NamedStrategy(name, "SINGLE", _kind(kind == "DA"), column, model == "MT")
    if one_decides := re.fullmatch(r"STCS(DA)?(?:-(.+))?", name):
        column = _column(name, one_decides[2], tasks)
        return NamedStrategy(name, "STCS", _kind(bool(one_decides[1])), column, True)
    base = name.removesuffix("DA")
    if base in JOINT or base in CELLS:
        return NamedStrategy(name, base, _kind(base != name), None, True)
    raise UnknownName("strategy", name, KNOWN)


def _kind(is_dropout: bool) -> ConfidenceKind:
    return "dropout" if is_dropout else "entropy"


def _column(name: str, task: str | None, tasks: Sequence[str]) -> int:
    if task is None and len(tasks) == 1:
        return 0
    lowered = [known.lower() for known in tasks]
    if task is None or task.lower() not in lowered:
        raise EngineError(
            f"'{name}' names {'no task' if task is None else f'the task {task!r}'}; the tasks are "
            f"{', '.join(tasks) or '(none given)'}. Write for example "
            f"'{name.removesuffix(f'-{task}')}-{tasks[0] if tasks else 'NER'}'."
        )
    return lowered.index(task.lower())
