"""Files on disk."""

from annotation.formats.brat import open_file
from annotation.formats.format import get_format


def _texts(path, format):
    with open_file(path, format) as stream:
        return [item.text for item in get_format(format).read(stream, file_name=path.name)]


def test_a_file_is_opened_as_it_is(tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    assert _texts(tmp_path / "a.txt", "text") == ["one"]


def test_brat_takes_a_pair_by_either_name_and_a_folder(tmp_path):
    (tmp_path / "a.txt").write_text("Ann left\n")
    (tmp_path / "a.ann").write_text("T1\tPER 0 3\tAnn\n")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.txt").write_text("Bob stayed\n")
    for name in ("a.txt", "a.ann"):
        with open_file(tmp_path / name, "brat") as stream:
            [record] = get_format("brat").read(stream, file_name=name)
        assert record.layers["entities"].value == [[0, 1, "PER"]]
    assert _texts(tmp_path, "brat") == ["Ann left", "Bob stayed"]
