"""The import paths that docs/api.md promises."""

import re
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "api.md"
ROWS = re.findall(r"^\| `(analysis\.[\w.]+)` \| `([\w.]+)` \| (.+) \|$", PAGE.read_text(), re.M)


@pytest.mark.parametrize(("public", "code", "names"), ROWS)
def test_a_promised_name_is_the_same_object_in_both_places(public, code, names):
    for name in re.findall(r"`(\w+)`", names):
        assert getattr(import_module(public), name) is getattr(import_module(code), name)


def test_every_public_path_is_listed():
    assert {row[0].split(".")[1] for row in ROWS} == {
        "bandit",
        "formulas",
        "policies",
        "sequential_lda",
        "simulator",
        "surrogate",
    }
