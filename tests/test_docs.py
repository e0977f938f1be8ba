"""The documentation: its site builds strictly, and what it names exists."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "tandem_client" / "README.md"]
TOP = "annotation|analysis|mtl_engine|config|tandem_client|tests|benchmarks|studies|docs|deploy"
NAMED = re.compile(rf"`((?:{TOP})/[\w/@.-]*\w)/?`")
HISTORY = ("CHANGELOG.md",)  # tells of files that went


def test_the_site_builds_without_a_warning(tmp_path):
    (ROOT / "deploy" / "__pycache__").mkdir(exist_ok=True)  # as after an import of a script there
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "POST" in (tmp_path / "rest" / "index.html").read_text()  # the generated table


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_a_page_names_exists(page):
    if page.name in HISTORY:
        return
    named = [name for name in NAMED.findall(page.read_text()) if Path(name).stem != "name"]
    assert [name for name in named if not _exists(name)] == []


def _exists(name: str) -> bool:
    return (ROOT / name).exists() or (ROOT / "annotation" / "templates" / name).exists()


def test_every_decision_says_why_what_and_what_was_rejected():
    decisions = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    assert [int(page.name[:2]) for page in decisions] == list(range(1, len(decisions) + 1))
    for page in decisions:
        text = page.read_text()
        for part in ("## Why", "## Decision", "## Rejected", "## What follows", "From: "):
            assert part in text, page.name


def missing_tests(text: str) -> list[str]:
    """Return the tests that a table names and that nobody has written."""
    missing = []
    for path, name in re.findall(r"`([\w/]+\.py)::(\w+)`", text):
        file = ROOT / "tests" / path
        if not file.exists() or f"def {name}(" not in file.read_text():
            missing.append(f"{path}::{name}")
    return missing


def test_every_promise_of_security_has_tests_that_are_there():
    rows = (ROOT / "SECURITY.md").read_text().split("## Promises and their tests")[1].splitlines()
    promises = [row for row in rows if row.startswith("| ") and "---" not in row][1:]
    assert len(promises) > 35
    assert all("::test_" in row for row in promises)
    assert missing_tests("\n".join(promises)) == []


def test_a_promise_without_its_test_is_found():
    here = "`test_docs.py::test_a_promise_without_its_test_is_found`"
    gone = "`test_docs.py::test_of_yesterday`, `test_nowhere.py::test_it`"
    assert missing_tests(f"{here}, {gone}") == [
        "test_docs.py::test_of_yesterday", "test_nowhere.py::test_it"
    ]  # fmt: skip
