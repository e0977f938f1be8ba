"""The formats there are, and which one a file is in.

A new format is a new file beside this one that holds a ``Format``, and nothing else.
"""

import sys
import zlib
from importlib import import_module
from pkgutil import iter_modules

from annotation.formats.format import Format
from annotation.formats.source import GZIP_MAGIC
from mtl_engine.errors import UnknownName


def find_formats() -> dict[str, Format]:
    """Return the formats that the modules of this package hold, in their order."""
    package = sys.modules[__package__]
    names = [f"{__package__}.{module.name}" for module in iter_modules(package.__path__)]
    modules = [import_module(name) for name in names if name != __name__]
    held = {
        value.name: value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Format)
    }
    return dict(sorted(held.items(), key=lambda item: (item[1].position, item[0])))


_FORMATS = find_formats()


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
