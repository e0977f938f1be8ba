"""The wheels: what is in them, and that an installation without the source tree works.

The environment is empty but for the wheel. It sees the packages that the tests were installed with,
which would take minutes to install again, but none of the extras' packages.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import urllib.request
import venv
import zipfile
from pathlib import Path

import pytest

from config import VERSION
from config.cli import EXTRAS
from tests.releases.server import Server

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = {"tandem": ".", "tandem_engine": "mtl_engine", "tandem_client": "tandem_client"}
WITHOUT_EXTRAS = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sum(EXTRAS.values(), ())!r}:
            raise ModuleNotFoundError(f"No module named '{{name}}'", name=name)
sys.meta_path.insert(0, Missing())
"""
LOAD_COMMANDS = """
import json
from django.core.management import get_commands, load_command_class
found = {}
for name, app in get_commands().items():
    try:
        load_command_class(app, name)
        found[name] = ""
    except ModuleNotFoundError as error:
        found[name] = error.name.partition(".")[0]
print(json.dumps(found))
"""

pytestmark = pytest.mark.xdist_group("packaging")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the repository's own files, so that a build leaves nothing behind."""
    folder = tmp_path_factory.mktemp("tree")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in filter(_is_built, listed.stdout.splitlines()):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def _is_built(name: str) -> bool:
    return not name.startswith(("tests/", "benchmarks/", "docs/"))


@pytest.fixture(scope="module")
def wheels(tree, tmp_path_factory):
    """Every wheel of the repository, by the name of its distribution."""
    folder = tmp_path_factory.mktemp("wheels")
    for path in PROJECTS.values():
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        subprocess.run(
            [*command, "--no-build-isolation", "-w", str(folder), str(tree / path)], check=True
        )
    return {name: next(folder.glob(f"{name}-*.whl")) for name in PROJECTS}


@pytest.fixture(scope="module")
def installed(wheels, tmp_path_factory):
    """A new environment with the server's wheel and without the extras."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False)
    packages = Path(sysconfig.get_path("purelib", "venv", vars={"base": str(folder)}))
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install",
         "--quiet", "--no-deps", "--no-index", str(wheels["tandem"])],
        check=True,
    )  # fmt: skip
    (packages / "requirements.pth").write_text(sysconfig.get_path("purelib"))
    (packages / "sitecustomize.py").write_text(WITHOUT_EXTRAS)
    return folder / "bin"


@pytest.fixture
def tandem(installed, tmp_path):
    """Run the installed command in an empty directory."""
    environment = {**os.environ, "TANDEM_HOME": str(tmp_path / "home"), "TANDEM_LOG_LEVEL": "ERROR"}
    for name in ("DATABASE_URL", "TANDEM_STATIC_FROM_SOURCE", "DJANGO_SETTINGS_MODULE"):
        environment.pop(name, None)
    (tmp_path / "work" / "config").mkdir(parents=True)  # of somebody else: not ours
    (tmp_path / "work" / "config" / "__init__.py").write_text("raise RuntimeError('not ours')")

    def run(*words):
        return subprocess.run(
            [str(installed / "tandem"), *words],
            cwd=tmp_path / "work", env=environment, capture_output=True, text=True,
        )  # fmt: skip

    run.environment, run.folder, run.program = environment, tmp_path, installed / "tandem"
    return run


def test_the_wheel_holds_every_file_of_the_packages(tree, wheels):
    names = set(zipfile.ZipFile(wheels["tandem"]).namelist())
    packages = ("annotation", "analysis", "mtl_engine", "config", "studies")
    files = {
        path.relative_to(tree).as_posix()
        for package in packages
        for path in (tree / package).rglob("*")
        if path.is_file() and not {"build", "__pycache__"} & set(path.parts)
    }
    files = {name for name in files if not name.endswith(("pyproject.toml", ".pyc"))}
    assert files - names == set()
    extra = {name for name in names - files if ".dist-info/" not in name}
    assert extra == set()


@pytest.mark.parametrize("package", ["mtl_engine", "tandem_client"])
def test_a_wheel_of_one_package_holds_it_alone_and_whole(package, tree, wheels):
    name = next(name for name, folder in PROJECTS.items() if folder == package)
    names = {n for n in zipfile.ZipFile(wheels[name]).namelist() if ".dist-info/" not in n}
    files = {path.relative_to(tree).as_posix() for path in (tree / package).rglob("*.py")}
    assert names == {n for n in files if "/build/" not in n} | {f"{package}/py.typed"}


def test_the_version_stands_in_one_file(wheels):
    for name, wheel in wheels.items():
        assert wheel.name == f"{name}-{VERSION}-py3-none-any.whl"
    found = subprocess.run(
        ["git", "grep", "-lF", VERSION, "--", "*.py", "*.toml", "Makefile", "Dockerfile"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert found.stdout.split() == ["config/__init__.py"]


def test_every_requirement_is_pinned_to_a_version_that_the_lists_allow():
    from packaging.requirements import Requirement

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for wanted, file in [
        ([*project["dependencies"], *extras["studies"]], "requirements.txt"),
        (extras["cluster"], "requirements-cluster.txt"),
        ([*extras["export"], *extras["store"], *extras["sso"]], "requirements-extras.txt"),
        (extras["languages"], "requirements-languages.txt"),
        (extras["dev"], "requirements-dev.txt"),
    ]:
        lines = (ROOT / file).read_text().splitlines()
        pins = dict(line.split("==") for line in lines if re.match(r"[A-Za-z]", line))
        pins = {name.partition("[")[0].lower(): version for name, version in pins.items()}
        needs = {need.name.lower(): need for need in map(Requirement, wanted)}
        assert set(pins) == set(needs), file
        for name, need in needs.items():
            assert need.specifier.contains(pins[name]), f"{file}: {name}=={pins[name]}, {need}"


def test_the_engine_needs_what_the_server_needs_for_it():
    own = tomllib.loads((ROOT / "mtl_engine" / "pyproject.toml").read_text())["project"]
    server = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(own["dependencies"]) < set(server["dependencies"])


def test_the_installed_command_tells_its_version_and_knows_all_commands(tandem):
    assert tandem("--version").stdout == f"Tandem {VERSION}\n"
    done = tandem("shell", "-v0", "-c", LOAD_COMMANDS)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for app, is_lean in [("annotation", True), ("analysis", False)]:
        names = [p.stem for p in (ROOT / app / "management" / "commands").glob("[!_]*.py")]
        for name in names:
            missing = found[name]
            assert missing == "" or (not is_lean and missing in EXTRAS["studies"]), name


def test_the_installed_server_serves_the_demo_from_any_directory(tandem):
    home = tandem.folder / "home"
    with Server(
        home, "--demo", program=[str(tandem.program)], cwd=tandem.folder / "work"
    ) as server:
        page = urllib.request.urlopen(f"{server.address}/sign-in/").read().decode()
        for path in re.findall(r'(?:href|src)="(/static/[^"]+)"', page):
            assert urllib.request.urlopen(server.address + path).status == 200
        assert "/static/" in page
        listed = tandem("export_corpus", "Demo: travel assistant", "--format", "slu",
                        "--labels", "gold", "-o", "travel.conll")  # fmt: skip
        assert listed.returncode == 0, listed.stderr
    assert (tandem.folder / "work" / "travel.conll").read_text().startswith("# intent = ")


def test_the_installed_command_finds_shipped_studies_and_says_which_extra_is_missing(tandem):
    done = tandem("run_sweep", "bandit", "--scale", "small", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "policy=RANDOM" in done.stdout
    done = tandem("run_sweep", "bandits")
    assert "No study file bandits. Shipped: balanced, bandit, " in done.stderr
    done = tandem("study_formulas", "balanced")
    assert "pip install 'tandem[studies]'" in done.stderr
