"""The examples of docs/selection.md run, and its tables name what is registered."""

import re
from pathlib import Path

from mtl_engine.selection import STRATEGIES

CHAPTER = (Path(__file__).parents[2] / "docs" / "selection.md").read_text()


def test_the_examples_of_the_chapter_hold():
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", CHAPTER, flags=re.DOTALL)
    assert len(blocks) >= 6
    for block in blocks:
        exec(compile(block, "docs/selection.md", "exec"), names)


def test_every_strategy_is_in_the_chapter():
    for name in STRATEGIES:
        assert re.search(rf"\|[^|\n]*\b{re.escape(name)}\b", CHAPTER), name
