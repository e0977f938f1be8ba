"""What is special about a task kind stands in its own script and nowhere else."""

import re
from pathlib import Path

import pytest

import annotation
from mtl_engine.kinds import KINDS

SCRIPTS = Path(annotation.__file__).parent / "static" / "annotation"
HOME = SCRIPTS / "annotate" / "kinds"
NAMES = [kind.name for kind in KINDS.annotated()]
NAMED = re.compile(rf"""(["'`])({"|".join(NAMES)})\1|\.({"|".join(NAMES)})\b""")


def kinds_named(source: str) -> list[str]:
    """Return the lines of a script that name a task kind."""
    return [line.strip() for line in source.splitlines() if NAMED.search(line)]


@pytest.mark.parametrize("kind", NAMES)
def test_each_kind_of_the_server_has_a_script_of_its_name(kind):
    assert f'"{kind}"' in (HOME / f"{kind}.js").read_text()


def test_no_script_outside_the_kinds_names_one():
    found = {
        path.relative_to(SCRIPTS).as_posix(): lines
        for path in SCRIPTS.rglob("*.js")
        if HOME not in path.parents
        if (lines := kinds_named(path.read_text()))
    }
    assert found == {}


@pytest.mark.parametrize(
    "line",
    ['if (task.kind === "tree") return;', "const kinds = ['spans'];", "items.relations.length"],
)
def test_naming_a_kind_is_found(line):
    assert kinds_named(f"const a = 1;\n{line}\n") == [line]
