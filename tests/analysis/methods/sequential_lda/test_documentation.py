"""The examples of docs/sequential_lda.md run as they stand, one after another."""

import re
from pathlib import Path

from analysis.methods.sequential_lda import FAMILIES

PAGE = Path(__file__).resolve().parents[4] / "docs" / "sequential_lda.md"


def test_every_example_runs(capsys):
    names: dict[str, object] = {}
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    for example in examples:
        exec(compile(example, str(PAGE), "exec"), names)
    assert len(examples) == 4
    assert capsys.readouterr().out


def test_every_family_is_described():
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in text for name in FAMILIES)
