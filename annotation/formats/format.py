"""What every format is, which formats there are, and which one a file is in.

A new format is a new file beside this one that holds a ``Format``, and nothing else.

format = get_format("conllu")
for item in format.read(stream, file_name="dev.conllu", options=ReadOptions()):
    ...  # a SentenceRecord, or a Problem whose str is "file:line: what, value, remedy"

mapping = match_layers(format.layers, tasks)       # task name -> layer name
extra = format.remainder(record, mapping.values())  # what to store beside the answers

for piece in format.write(export_records, options=WriteOptions(tasks=tasks)):
    file.write(piece)                               # bytes; CannotWrite instead of a loss
"""

import sys
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import BinaryIO

from annotation.formats.columns import require_scheme
from annotation.formats.records import (
    ExportRecord,
    Extra,
    FormatError,
    Offsets,
    Placement,
    Problem,
    ReadOptions,
    SentenceRecord,
    Unreadable,
    WriteOptions,
    hides_kind,
    place,
)
from annotation.formats.source import GZIP_MAGIC, Source
from mtl_engine.errors import UnknownName
from mtl_engine.kinds import KINDS, Answer, TaskSpec

BYTE_ORDER_MARK = "\ufeff"
WORD_FREE = ("fields", "text", "comments")  # of what formats keep, all that knows no words


Parse = Callable[[Source, ReadOptions], Iterator[SentenceRecord | Problem]]
Headings = Callable[[Source], list[str]]
Render = Callable[[Iterable[ExportRecord], Placement, WriteOptions], Iterator[str]]
RenderBytes = Callable[[Iterable[ExportRecord], Placement, WriteOptions], Iterator[bytes]]
Item = SentenceRecord | Problem
AnswerChange = Callable[[TaskSpec, Answer], Answer | None]  # None: it cannot follow


@dataclass(frozen=True)
class Recutting:
    """How what a format keeps with a sentence follows corrections of its words and borders."""

    recut: Callable[[Extra, Sequence[int | None], int], Extra]  # numbers from 1 now, words now
    join: Callable[[Extra, Extra, int, int], Extra]  # of two sentences with so many words
    respace: Callable[[Extra, str, Offsets], Extra]  # spaces and ranges as the text has them


@dataclass(frozen=True)
class Format:
    """A file format.

    ``layers`` are the layers it has by definition; a format without any (``is_open``) takes every
    task whose layer is among the ``kinds`` it carries, under the task's own name.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    kinds: frozenset[str]
    parse: Parse | None  # None: a format that other programs read, not this one
    render: Render | RenderBytes
    looks_like: Callable[[str], bool]  # whether a file that begins so may be in this format
    layers: tuple[TaskSpec, ...] = ()
    is_open: bool = False
    headings: Headings | None = None  # of a file in which any column or key may hold the text
    loose_kind: str = ""  # of layers that may be there by chance: somebody says whose they are
    links_across: bool = False  # whether links may join two sentences of a document
    keeps_keys: bool = True  # what a file of this format tells about a sentence besides answers
    keeps_documents: bool = True
    keeps_text: bool = True  # else the tokens are joined by spaces
    recut: Recutting | None = None  # None: nothing that it keeps depends on the words
    media_type: str = "text/plain; charset=utf-8"
    is_heavy: bool = False  # its library takes long to load: written in a process of its own
    position: int = 1_000  # in lists; of the formats that a file may be in, the last one is taken

    def read(
        self, stream: BinaryIO, *, file_name: str, options: ReadOptions | None = None
    ) -> Iterator[SentenceRecord | Problem]:
        """The sentences of a file in its order, and a problem for each that cannot be had."""
        if self.parse is None:
            raise FormatError(f"Format {self.name} is written for other programs and not read.")
        options = options or ReadOptions()
        require_scheme(options.scheme)
        source = Source(stream, file_name=file_name, options=options)
        return checked(self.parse(source, options), source)

    def columns(self, stream: BinaryIO, *, file_name: str, options: ReadOptions) -> list[str]:
        """The columns or keys among which the text may be, of a format that has such."""
        if self.headings is None or options.columns:
            return list(options.columns)
        try:
            return self.headings(Source(stream, file_name=file_name, options=options))
        except Unreadable:
            return []

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
        parents = {}
        for name in left:
            first, second = record.layers[name].parent, record.layers[name].second_parent
            if first:
                parents[name] = [first, second] if second else first
        if parents:
            kept["parents"] = parents
        kinds = {name: record.layers[name].kind for name in left}
        unclear = {name: kind for name, kind in kinds.items() if hides_kind(kind, left[name])}
        if unclear:
            kept["kinds"] = unclear
        return {self.name: kept}


def recut_extra(
    extra: Extra,
    numbers: Sequence[int | None],
    n: int,
    change: AnswerChange,
    *,
    is_new: bool = False,
) -> Extra:
    """What all formats keep of a sentence whose words are others now; the rest is left out.

    ``numbers`` are those that its old words have now, from 1; ``change`` lets layers that no task
    has taken follow.
    """
    found: Extra = {}
    for name, kept in extra.items():
        format = find_formats().get(name)
        if format is None or format.recut is None:
            moved = {key: value for key, value in kept.items() if key in WORD_FREE}
        else:
            moved = format.recut.recut(kept, numbers, n)
        if is_new:
            moved.pop("comments", None)
        layers = kept.get("layers", {})
        followed = {
            task.name: value
            for task in _open_layers(format)
            if task.name in layers and (value := change(task, layers[task.name])) is not None
        }
        found[name] = {**moved, **({"layers": followed} if followed else {})}
    return found


def join_extra(first: Extra, second: Extra, n_first: int, n_second: int) -> Extra:
    """What all formats keep of two sentences with so many words that are one now."""
    found: Extra = {}
    for name, kept in first.items():
        other = second.get(name, {})
        format = find_formats().get(name)
        if format is None or format.recut is None:
            found[name] = {key: value for key, value in kept.items() if key in WORD_FREE}
            continue
        found[name] = format.recut.join(kept, other, n_first, n_second)
        one, two = kept.get("layers", {}), other.get("layers", {})
        joined = {
            task.name: value
            for task in _open_layers(format)
            if one.get(task.name) is not None
            and two.get(task.name) is not None
            and (value := KINDS[task.kind].join(task, one[task.name], two[task.name], n_first))
            is not None
        }
        if joined:
            found[name]["layers"] = joined
    return found


def respace_extra(extra: Extra, text: str, offsets: Offsets) -> Extra:
    """What all formats keep of a sentence whose text is another now."""
    formats = find_formats()
    return {
        name: how.respace(kept, text, offsets)
        if name in formats and (how := formats[name].recut)
        else kept
        for name, kept in extra.items()
    }


def _open_layers(format: Format | None) -> list[TaskSpec]:
    return [replace(spec, is_open=True) for spec in format.layers] if format else []


def checked(items: Iterator[Item], source: Source) -> Iterator[Item]:
    """The items, with a problem instead of each sentence that no format may hold.

    Ids must differ within a file, sentences have 1 to ``sentence_tokens`` tokens, a file has at
    least one sentence, and after ``problems`` problems reading stops.
    """
    limits = source.options.limits
    seen: set[int] = set()  # hashes: a million ids as strings would not be flat memory
    n_items = n_problems = 0
    try:
        for item in items:
            n_items += 1
            if isinstance(item, SentenceRecord):
                message = _fault(item, limits.sentence_tokens, seen)
                if message is None:
                    yield item
                    continue
                item = source.problem(item.line, message)
            yield item
            n_problems += 1
            if n_problems >= limits.problems:
                yield source.problem(item.line, f"{n_problems} problems; the rest was not read")
                return
    except Unreadable as stop:
        yield stop.problem
        return
    if not n_items:
        yield source.problem(1, "no sentence in the file; is it empty, or of another format?")


def _fault(record: SentenceRecord, most: int, seen: set[int]) -> str | None:
    if not record.tokens:
        return f"a sentence without tokens, {record.text[:40]!r}; remove it"
    if len(record.tokens) > most:
        return (
            f"a sentence of {len(record.tokens):,} tokens, at most {most:,} are allowed; "
            "split it into sentences"
        )
    if record.key:
        before = len(seen)
        seen.add(hash(record.key))
        if len(seen) == before:
            return f"id {record.key!r} occurs a second time in this file; ids must differ"
    return None


@cache
def find_formats() -> Mapping[str, Format]:
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


def formats() -> dict[str, Format]:
    """Every format by name."""
    return dict(find_formats())


def readable_formats() -> dict[str, Format]:
    """Every format that files can be imported in, by name."""
    return {name: format for name, format in find_formats().items() if format.parse is not None}


def get_format(name: str) -> Format:
    """The format of that name; raises UnknownName, which lists the known ones."""
    try:
        return find_formats()[name]
    except KeyError:
        raise UnknownName("format", name, find_formats()) from None


def detect(file_name: str, head: bytes) -> str | None:
    """The name of the format that a file seems to be in, from its name and first kilobytes."""
    plain = _readable(head)
    name = file_name.lower().removesuffix(".gz")
    looking = [format for format in find_formats().values() if format.looks_like(plain)]
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
