"""The data directory: where it is."""

from pathlib import Path

import pytest

from config import home as home_module
from config.environment import keep_private
from config.home import Home, home


def test_the_environment_names_the_data_directory(monkeypatch, tmp_path):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path))
    assert home() == Home(tmp_path)
    assert home().round("7") == tmp_path / "rounds" / "7"


@pytest.mark.parametrize(
    ("is_source", "expected"),
    [(True, home_module.BASE_DIR / ".tandem"), (False, Path("/somewhere/tandem"))],
)
def test_without_a_name_data_lies_in_the_source_tree_or_with_the_person(
    monkeypatch, is_source, expected
):
    monkeypatch.delenv("TANDEM_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere")
    monkeypatch.setattr(home_module, "IS_SOURCE_TREE", is_source)
    assert home().root == expected


def test_a_data_directory_that_others_could_read_is_closed(tmp_path):
    tmp_path.chmod(0o755)
    keep_private(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o700
