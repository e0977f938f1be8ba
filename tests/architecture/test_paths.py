"""One module names the paths of the data directory, and one replaces files."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "config" / "home.py"
PACKAGES = ("annotation", "analysis", "mtl_engine", "config")


def test_only_the_home_module_reads_the_variable():
    offenders = [
        f"{path.relative_to(ROOT)}: {found.group()}"
        for package in (*PACKAGES, "tests")
        for path in sorted((ROOT / package).rglob("*.py"))
        if path not in (HOME, Path(__file__))
        for found in re.finditer(
            r"settings\.TANDEM_HOME|environ\S*TANDEM_HOME\S*\)", path.read_text()
        )
    ]
    assert offenders == [], "use config.home.home(); in tests monkeypatch.setenv('TANDEM_HOME', ..)"


def test_files_are_replaced_in_one_module_alone():
    allowed = ROOT / "mtl_engine" / "atomic.py"
    offenders = [
        f"{path.relative_to(ROOT)}: {found.group()}"
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if path != allowed
        for found in re.finditer(r"os\.(replace|rename|link)\(|mkstemp|mkdtemp", path.read_text())
    ]
    assert offenders == [], "use mtl_engine.atomic"
