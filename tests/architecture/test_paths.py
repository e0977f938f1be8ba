"""One module names the paths of the data directory, and one replaces files."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("annotation", "analysis", "mtl_engine", "config")
READS = re.compile(r"settings\.TANDEM_HOME|environ\S*TANDEM_HOME\S*\)")
REPLACES = re.compile(r"os\.(replace|rename|link)\(|mkstemp|mkdtemp")


def _found(pattern: re.Pattern[str], packages: tuple[str, ...], allowed: str) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}: {found.group()}"
        for package in packages
        for path in sorted((ROOT / package).rglob("*.py"))
        if path not in (ROOT / allowed, Path(__file__))
        for found in pattern.finditer(path.read_text())
    ]


def test_only_the_home_module_reads_the_variable():
    offenders = _found(READS, (*PACKAGES, "tests"), "config/home.py")
    assert offenders == [], "use config.home.home(); in tests monkeypatch.setenv('TANDEM_HOME', ..)"


def test_files_are_replaced_in_one_module_alone():
    assert _found(REPLACES, PACKAGES, "mtl_engine/atomic.py") == [], "use mtl_engine.atomic"


@pytest.mark.parametrize(
    ("pattern", "allowed"),
    [(READS, "mtl_engine/atomic.py"), (REPLACES, "config/home.py")],
)
def test_the_one_module_that_may_is_found_where_it_may_not(pattern, allowed):
    assert _found(pattern, PACKAGES, allowed)


@pytest.mark.parametrize(
    "line",
    [
        "root = Path(os.environ['TANDEM_HOME'])",
        "root = os.environ.get('TANDEM_HOME')",
        "root = settings.TANDEM_HOME",
    ],
)
def test_reading_the_variable_is_found(line):
    assert READS.search(line)
