"""The example of docs/kinds.md runs, and its table says what the kinds say of themselves."""

import re
from pathlib import Path

from mtl_engine.kinds import KINDS

TEXT = (Path(__file__).parents[2] / "docs" / "kinds.md").read_text()


def test_the_example_runs():
    (block,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    exec(compile(block, "docs/kinds.md", "exec"), {})


def test_the_table_says_what_the_kinds_say():
    rows = [
        f"| {kind.name} | {kind.shape} | {kind.main_metric} "
        f"| {', '.join(kind.agreement_measures) or 'none'} "
        f"| {kind.layer or 'not written: for studies'} |"
        for kind in sorted(KINDS.values(), key=lambda kind: kind.position)
    ]
    assert "\n".join(rows) in TEXT
