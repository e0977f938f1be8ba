"""How a file is to be read or written."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from annotation.formats.records import LayerSpec


@dataclass(frozen=True)
class Limits:
    """What a file may cost before it is refused."""

    file_bytes: int = 8 * 1024**3  # uncompressed
    line_characters: int = 16 * 1024**2
    item_characters: int = 64 * 1024**2  # one element of a JSON array, one document of an archive
    sentence_tokens: int = 10_000
    archive_members: int = 200_000
    problems: int = 1_000


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file; every default lets the format decide.

    - ``tokeniser``: "whitespace", or a spaCy language code ("en", "de", ..., "xx" for any)
    - ``split_sentences``: a line or cell holds several sentences; needs a language
    - ``scheme``: the tagging scheme of BIO columns: IOB1, IOB2, IO or BIOES; "" recognises it
    - ``columns``: names of the columns of conll2003 or of a table without a header
    - ``text_column``: the column or key of the text, where it is not called text or sentence
    - ``annotator``: whose answers to read from a file with several people's side by side
    """

    encoding: str = "utf-8"
    tokeniser: str = ""
    split_sentences: bool = False
    scheme: str = ""
    columns: tuple[str, ...] = ()
    text_column: str = ""
    annotator: str = ""
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class WriteOptions:
    """What to write: the tasks, and where the matching rule is overruled, the layer for a task.

    ``annotators`` names the people of a side-by-side export, in the order of their columns; empty
    for gold or one person. ``scheme`` overrules the scheme that a sentence came in.
    """

    tasks: tuple[LayerSpec, ...] = ()
    mapping: Mapping[str, str] | None = None
    annotators: tuple[str, ...] = ()
    scheme: str = ""
