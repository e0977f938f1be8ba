"""What is special about a task kind stands in its own module and nowhere else."""

import ast
from pathlib import Path

import pytest

from mtl_engine.kinds import KINDS

ROOT = Path(__file__).resolve().parents[2]
HOMES = ("mtl_engine/kinds", "annotation/formats", "annotation/migrations", "annotation/demo")


def switches(source: str) -> list[int]:
    """Return the lines that decide by the name of a kind: compared, matched or a dict's keys.

    A dict whose other keys are no kinds has fields, one of which is called as a kind is.
    """
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            names = [node.left, *node.comparators]
        elif isinstance(node, ast.Dict):
            names = [key for key in node.keys if key is not None]
            if any(isinstance(key, ast.Constant) and key.value not in KINDS for key in names):
                continue
        elif isinstance(node, ast.MatchValue):
            names = [node.value]
        else:
            continue
        parts = [part for name in names for part in ast.walk(name)]
        if any(isinstance(part, ast.Constant) and part.value in KINDS for part in parts):
            found.append(node.lineno)
    return found


def test_nothing_outside_the_kinds_and_formats_decides_by_the_name_of_one():
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for package in ("annotation", "analysis", "mtl_engine", "config")
        for path in sorted((ROOT / package).rglob("*.py"))
        if not path.relative_to(ROOT).as_posix().startswith(HOMES)
        for line in switches(path.read_text())
    ]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "if task.kind == 'tree': pass",
        "x = kind in ('spans', 'tags')",
        "x = {'classes': 1}[kind]",
        "match kind:\n    case 'relations': pass",
    ],
)
def test_a_decision_by_the_name_is_found(line):
    assert switches(line)


def test_a_field_that_is_called_as_a_kind_is_no_decision():
    assert not switches("x = {'temperatures': 1, 'features': 2}")
    assert switches("x = {'tags': 1, 'features': 2}[kind]")
