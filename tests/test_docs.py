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
