"""A new setting of a round is one field in one file: page, REST, --set, rounds and studies have it.

The server runs in a process of its own on a copy of that file, as it would after a release.
"""

import subprocess
import sys
from pathlib import Path

from mtl_engine.active_learning import settings

ROOT = Path(__file__).resolve().parents[2]
AFTER = '    """How much to ask for, how to select it, and how the model learns."""\n'
FIELD = """
    loudness: int = setting(
        1,
        title="Loudness",
        help="How many times the epochs are passed over.",
        section=MODEL_DETAILS,
        low=1,
        high=11,
    )
"""
USE = ('"epochs": self.epochs,', '"epochs": self.epochs * getattr(self, "loudness", 1),')


def test_a_whole_round_is_run_with_it(tmp_path):
    text = Path(settings.__file__).read_text()
    assert AFTER in text
    assert USE[0] in text
    (tmp_path / "room").mkdir()
    changed = text.replace(AFTER, AFTER + FIELD).replace(*USE)
    (tmp_path / "room" / "settings.py").write_text(changed)
    done = subprocess.run(
        [sys.executable, "-m", "tests.throwaway.loud_round", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "a round was run, repeated and replayed"
