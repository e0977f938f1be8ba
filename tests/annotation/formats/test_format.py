"""Formats by name and by look."""

import pytest

from annotation.formats.format import detect, formats, get_format
from mtl_engine.errors import UnknownName


def test_the_formats_of_the_product_are_registered():
    assert list(formats()) == [
        "text", "csv", "spreadsheet", "tsv", "jsonl", "conll2003", "slu", "conllu", "doccano",
        "ie", "labelstudio", "brat", "datasets", "spacy",
    ]  # fmt: skip


def test_an_unknown_format_names_the_nearest_and_the_known_ones():
    with pytest.raises(UnknownName, match=r"No format 'conll-u'. Did you mean 'conllu'\?.*brat"):
        get_format("conll-u")


def test_the_list_of_formats_cannot_be_changed_from_outside():
    formats().clear()
    assert formats()


@pytest.mark.parametrize(
    ("name", "head", "format"),
    [
        ("a.txt", b"just a line\n", "text"),
        ("a.txt", b"EU NNP I-NP I-ORG\n", "text"),  # the suffix decides between two that fit
        ("eng.train", b"EU NNP I-NP I-ORG\nrejects VBZ I-VP O\n", "conll2003"),
        ("a.conll", b"from\tO\nBoston\tB-city\n", "slu"),
        ("a.conll", b"from P O O\nBoston N O B-city\n", "conll2003"),
        ("noname", b'{"text": "a", "label": [[0, 1, "X"]]}\n', "doccano"),
        ("noname", b'{"text": "a"}\n', "jsonl"),
        ("noname", b'[{"data": {"text": "a"}}]', "labelstudio"),
        ("noname", b"id,text\n1,a\n", "csv"),
        ("noname", b"\x1f\x8bbroken", "text"),
        ("a.csv", b"review,stars\nGood.,5\n", "csv"),  # though nothing says where the text is
        ("a.csv", b"ID;Text;Topic\n1;Good.;x\n", "csv"),
    ],
)
def test_detection_takes_the_name_and_the_beginning_into_account(name, head, format):
    assert detect(name, head) == format


def test_what_looks_like_nothing_known_is_not_guessed():
    assert detect("a.bin", b"[1, 2]") is None
