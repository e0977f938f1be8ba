"""The rules of the house: who may import what, and what the web process never loads."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PURE_ANALYSIS = [
    path
    for name in (
        "simulator*",
        "policies*",
        "bandit*",
        "surrogate*",
        "formulas*",
        "forecast*",
        "mtl_simulation",
        "sequential_lda",
        "active_learning*",
    )
    for path in (ROOT / "analysis").glob(name)
]


def _files(*roots: Path) -> list[Path]:
    found: list[Path] = []
    for root in roots:
        found += [root] if root.is_file() else sorted(root.rglob("*.py"))
    return found


def _imports(path: Path) -> set[str]:
    """Return every module a file names in an import, wherever in the file."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def _offenders(files: list[Path], forbidden: tuple[str, ...]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files
        for name in _imports(path)
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


def test_formats_and_answer_rules_are_pure():
    files = _files(ROOT / "annotation" / "formats", ROOT / "annotation" / "answers.py")
    assert _offenders(files, ("django", "rest_framework", "torch")) == []


def test_the_product_does_not_need_its_tests_or_benchmarks():
    files = _files(*(ROOT / name for name in ("annotation", "analysis", "mtl_engine", "config")))
    assert _offenders(files, ("tests", "benchmarks")) == []


WRITES = {"bulk_create", "bulk_update", "get_or_create", "update_or_create"}


@pytest.mark.parametrize("room", ["selectors", "api", "pages"])
def test_only_services_write_the_database(room):
    offenders = []
    for path in _files(ROOT / "annotation" / room):
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            name = node.func.attr
            target = ast.unparse(node.func.value)
            writes_rows = name in WRITES or (
                name in {"create", "update", "delete", "save"} and ".objects" in target
            )
            if writes_rows:
                offenders.append(f"{path.relative_to(ROOT)}:{node.lineno} {target}.{name}")
    assert offenders == []


def test_the_web_process_never_loads_torch():  # kinds are loaded by the pages of studies
    code = (
        "import os, sys; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'\n"
        "import config.wsgi\n"
        "from django.urls import get_resolver\n"
        "get_resolver().url_patterns\n"
        "import importlib\n"
        "from analysis.sweep.kinds import KIND_MODULES\n"
        "assert [importlib.import_module(name) for name in KIND_MODULES]\n"
        "heavy = {'torch', 'transformers', 'spacy', 'sklearn', 'scipy.stats'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
