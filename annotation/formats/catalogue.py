"""The formats there are, and which one a file is in."""

import zlib

from annotation.formats import (
    brat,
    conll2003,
    conllu,
    datasets_folder,
    delimited,
    doccano,
    ie,
    jsonl,
    labelstudio,
    slu,
    spacy_docs,
    text,
)
from annotation.formats.format import Format
from annotation.formats.source import GZIP_MAGIC
from mtl_engine.errors import UnknownName

_FORMATS: dict[str, Format] = {
    format.name: format
    for format in (  # a format that is a case of another one comes after it
        text.FORMAT,
        delimited.CSV,
        delimited.TSV,
        jsonl.FORMAT,
        conll2003.FORMAT,
        slu.FORMAT,
        conllu.FORMAT,
        doccano.FORMAT,
        ie.FORMAT,
        labelstudio.FORMAT,
        brat.FORMAT,
        datasets_folder.FORMAT,
        spacy_docs.FORMAT,
    )
}


def formats() -> dict[str, Format]:
    """Every format by name."""
    return dict(_FORMATS)


def readable_formats() -> dict[str, Format]:
    """Every format that files can be imported in, by name."""
    return {name: format for name, format in _FORMATS.items() if format.parse is not None}


def get_format(name: str) -> Format:
    """The format of that name; raises UnknownName, which lists the known ones."""
    try:
        return _FORMATS[name]
    except KeyError:
        raise UnknownName("format", name, _FORMATS) from None


def detect(file_name: str, head: bytes) -> str | None:
    """The name of the format that a file seems to be in, from its name and first kilobytes."""
    plain = _readable(head)
    name = file_name.lower().removesuffix(".gz")
    looking = [format for format in _FORMATS.values() if format.looks_like(plain)]
    named = [format for format in readable_formats().values() if name.endswith(format.suffixes)]
    both = [format for format in looking if format in named]
    for candidates in (both, named if len(named) == 1 else (), looking):
        if candidates:
            return candidates[-1].name
    return None


def _readable(head: bytes) -> str:
    """The beginning of a file as text, uncompressed; what cannot be decoded is replaced."""
    if head[:2] == GZIP_MAGIC:
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, 1 << 16)
        except zlib.error:
            return ""
    return head.decode("utf-8-sig", "replace")
