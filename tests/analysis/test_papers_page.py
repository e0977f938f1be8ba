"""The page of the papers: every item names a study or a test that exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text()
ROWS = [
    line
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| item", "|---"))
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip()[:40])
def test_every_item_has_a_verdict_and_names_what_gives_it_again(row):
    *_, verdict, by, _ = (cell.strip() for cell in row.split("|"))
    named = re.findall(r"`((?:studies|tests)/[^`]+)`", by)
    assert verdict
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_study_of_a_paper_is_on_the_page():
    shipped = {path.name for path in (ROOT / "studies").glob("*.toml")}
    of_the_product = {"default_atis.toml", "default_ewt.toml"}
    named = set(re.findall(r"studies/([a-z0-9_]+\.toml)", PAGE))
    assert shipped - of_the_product <= named
