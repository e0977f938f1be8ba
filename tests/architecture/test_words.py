"""The repository speaks of the product alone."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_no_file_names_a_path_of_one_machine():
    found = subprocess.run(
        ["git", "grep", "-nIE", r"(^|[^a-zA-Z.])/(work|root|home)/", "--", ":!Dockerfile"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in found.stdout.splitlines() if "tests/architecture" not in line]
    assert lines == []
