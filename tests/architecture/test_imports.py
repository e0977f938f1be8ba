"""The rules of the house: who may import what, and what the web process never loads."""

import subprocess
import sys
from pathlib import Path

from tests.architecture.house import imported_names

ROOT = Path(__file__).resolve().parents[2]
PURE_ANALYSIS = [
    ROOT / "analysis" / name
    for name in ("methods", "studies/bandit", "studies/mtl_simulation", "studies/active_learning")
]


def _files(*roots: Path) -> list[Path]:
    found: list[Path] = []
    for root in roots:
        found += [root] if root.is_file() else sorted(root.rglob("*.py"))
    return found


def _offenders(files: list[Path], forbidden: tuple[str, ...]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files
        for name, _ in imported_names(path, ROOT, strings=False)
        if name.split(".")[0] in forbidden
    ]


def test_the_engine_knows_neither_django_nor_the_apps():
    files = _files(ROOT / "mtl_engine")
    assert files
    assert _offenders(files, ("django", "rest_framework", "annotation", "analysis")) == []


def test_the_pure_modules_of_analysis_know_no_django():
    files = _files(*PURE_ANALYSIS)
    assert files
    assert _offenders(files, ("django", "rest_framework", "annotation")) == []


def test_formats_are_pure():
    files = _files(ROOT / "annotation" / "formats")
    assert _offenders(files, ("django", "rest_framework", "torch")) == []


def test_the_product_does_not_need_its_tests_or_benchmarks():
    files = _files(*(ROOT / name for name in ("annotation", "analysis", "mtl_engine", "config")))
    assert _offenders(files, ("tests", "benchmarks")) == []


def test_the_web_process_never_loads_torch():  # kinds are loaded by the pages of studies
    code = (
        "import os, sys; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'\n"
        "import config.wsgi\n"
        "from django.urls import get_resolver\n"
        "get_resolver().url_patterns\n"
        "from analysis.sweep.registry import get_kind, study_kinds\n"
        "assert [get_kind(name) for name in study_kinds()]\n"
        "heavy = {'torch', 'transformers', 'spacy', 'sklearn', 'scipy.stats'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
