import pytest

from analysis.data.files import data_file, hash_files
from analysis.errors import AnalysisError


@pytest.fixture
def corpora(tmp_path, monkeypatch):
    """A folder of corpora, and another to stand in."""
    folder, here = tmp_path / "corpora", tmp_path / "here"
    folder.mkdir()
    here.mkdir()
    (folder / "train.conll").write_text("from the folder")
    monkeypatch.chdir(here)
    monkeypatch.setenv("TANDEM_DATA", str(folder))
    return folder


def test_a_file_that_is_not_here_is_looked_for_in_the_folder_of_corpora(corpora):
    assert data_file("train.conll") == corpora / "train.conll"


def test_a_file_that_is_here_comes_first(corpora, tmp_path):
    (tmp_path / "here" / "train.conll").write_text("from here")
    assert data_file("train.conll").read_text() == "from here"


def test_a_missing_file_is_an_error_that_says_where_it_was_looked_for(corpora):
    with pytest.raises(
        AnalysisError, match="No file 'atis/train.conll', neither here nor.*corpora"
    ) as e:
        data_file("atis/train.conll")
    assert "TANDEM_DATA" in str(e.value)


def test_a_changed_file_has_another_hash(corpora):
    path = corpora / "train.conll"
    before = hash_files([path])
    path.write_text("something else")
    assert hash_files([path]) != before
