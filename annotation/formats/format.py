"""What every format is: a name, what it can carry, and a reader and a writer that stream."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from annotation.formats.checking import checked
from annotation.formats.opening import Source
from annotation.formats.options import ReadOptions, WriteOptions
from annotation.formats.placing import Placement, place
from annotation.formats.records import (
    ExportRecord,
    Extra,
    LayerSpec,
    Problem,
    SentenceRecord,
)
from annotation.formats.schemes import require_scheme
from mtl_engine.types import Kind

BYTE_ORDER_MARK = "\ufeff"

Parse = Callable[[Source, ReadOptions], Iterator[SentenceRecord | Problem]]
Render = Callable[[Iterable[ExportRecord], Placement, WriteOptions], Iterator[str]]
RenderBytes = Callable[[Iterable[ExportRecord], Placement, WriteOptions], Iterator[bytes]]


@dataclass(frozen=True)
class Format:
    """A file format.

    ``layers`` are the layers it has by definition; a format without any (``is_open``) takes every
    task of the ``kinds`` it carries under the task's own name.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    kinds: frozenset[Kind]
    parse: Parse
    render: Render | RenderBytes
    looks_like: Callable[[str], bool]  # whether a file that begins so may be in this format
    layers: tuple[LayerSpec, ...] = ()
    is_open: bool = False
    keeps_keys: bool = True  # what a file of this format tells about a sentence besides answers
    keeps_documents: bool = True
    keeps_text: bool = True  # else the tokens are joined by spaces
    media_type: str = "text/plain; charset=utf-8"

    def read(
        self, stream: BinaryIO, *, file_name: str, options: ReadOptions | None = None
    ) -> Iterator[SentenceRecord | Problem]:
        """The sentences of a file in its order, and a problem for each that cannot be had."""
        options = options or ReadOptions()
        require_scheme(options.scheme)
        source = Source(stream, file_name=file_name, options=options)
        return checked(self.parse(source, options), source)

    def write(
        self, records: Iterable[ExportRecord], *, options: WriteOptions | None = None
    ) -> Iterator[bytes]:
        """The bytes of a file with these sentences, in pieces; raises CannotWrite, drops nothing.

        Tasks that the format has no place for are refused before the first byte.
        """
        options = options or WriteOptions()
        require_scheme(options.scheme)
        placement = place(self.name, self.kinds, self.layers, self.is_open, options)
        is_first = True
        for piece in self.render(records, placement, options):
            if isinstance(piece, str):
                if is_first and piece.startswith(BYTE_ORDER_MARK):
                    piece = BYTE_ORDER_MARK + piece  # a reader drops one
                is_first = False
                yield piece.encode()
            else:
                yield piece

    def remainder(self, record: SentenceRecord, taken: Collection[str]) -> Extra:
        """What to store with the sentence: its extra and the layers that no task has taken."""
        left = {name: layer.value for name, layer in record.layers.items() if name not in taken}
        if not left:
            return record.extra
        kept = {**record.extra.get(self.name, {}), "layers": left}
        parents = {name: record.layers[name].parent for name in left if record.layers[name].parent}
        if parents:
            kept["parents"] = parents
        return {self.name: kept}
