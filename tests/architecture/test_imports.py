"""The rules of the house: who may import what, and what the web process never loads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


def _offenders(files: list[Path], forbidden: tuple[str, ...], root: Path = ROOT) -> list[str]:
    return [
        f"{path.relative_to(root)} imports {name}"
        for path in files
        for name, _ in imported_names(path, root, strings=False)
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


@pytest.mark.parametrize(
    "line",
    [
        "import django",
        "from django.db import models",
        "def load():\n    from django.db import models",
        "if TYPE_CHECKING:\n    import django.http",
        "try:\n    import django\nexcept ImportError:\n    pass",
    ],
)
def test_a_forbidden_import_is_found_wherever_it_stands(tmp_path, line):
    path = tmp_path / "mtl_engine" / "kinds" / "stars.py"
    path.parent.mkdir(parents=True)
    path.write_text(f"import numpy\n{line}\n")
    (found,) = _offenders(_files(tmp_path / "mtl_engine"), ("django", "annotation"), tmp_path)
    assert found.startswith("mtl_engine/kinds/stars.py imports django")


LOAD_WEB = """
import os, sys; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'
import config.wsgi
from django.urls import get_resolver
get_resolver().url_patterns
from analysis.sweep.registry import get_kind, study_kinds
assert [get_kind(name) for name in study_kinds()]
"""  # kinds are loaded by the pages of studies
REFUSE_HEAVY = """
heavy = {'torch', 'transformers', 'spacy', 'sklearn', 'scipy.stats'} & set(sys.modules)
assert not heavy, heavy
"""


def _run(code: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_the_web_process_never_loads_torch():
    done = _run(LOAD_WEB + REFUSE_HEAVY)
    assert done.returncode == 0, done.stderr


def test_a_web_process_that_loads_something_heavy_is_found():
    done = _run("import sys, torch" + REFUSE_HEAVY)
    assert done.returncode == 1
    assert "'torch'" in done.stderr.splitlines()[-1]


ACCOUNTS = "tests/annotation/accounts"
OPENS_ALL_PAGES = (
    f"{ACCOUNTS}/test_who_may_open.py::test_an_admin_opens_everything_without_being_a_member"
)
OPENS_ALL_OF_REST = f"{ACCOUNTS}/test_roles.py::test_each_role_gets_what_the_table_says[owner]"


def _loaded_by(*tests: str) -> str:
    """Return what the tests load of what computes, in a process that runs nothing else."""
    plugin = ("-p", "tests.architecture.light", "-p", "no:cacheprovider", "-q")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugin, *tests],
        cwd=ROOT, capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout.rpartition("Loaded: ")[2].split(".\n")[0]


def test_no_page_and_no_rest_resource_loads_what_computes():
    assert _loaded_by(OPENS_ALL_PAGES, OPENS_ALL_OF_REST) == "nothing"


def test_a_request_that_loads_what_computes_is_found():
    found = _loaded_by("tests/mtl_engine/test_devices.py", "-k", "the_fake_card")
    assert "torch" in found.split()
