"""New data directories, whose database is migrated once for all tests."""

import shutil

import pytest

from tests.releases.server import environment, run_command


@pytest.fixture(scope="session")
def _migrated_home(tmp_path_factory):
    home = tmp_path_factory.mktemp("migrated") / "home"
    run_command(environment(home), "migrate", "--verbosity", "0")
    return home


@pytest.fixture
def new_home(_migrated_home, tmp_path):
    """A data directory of its own as `migrate` makes it."""
    return shutil.copytree(_migrated_home, tmp_path / "new")
