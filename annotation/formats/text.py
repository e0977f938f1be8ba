"""Plain text: one sentence per line, or with a language any number of sentences per line.

Blank lines are skipped. Lines are kept as they are, spaces at their ends included.
"""

from collections.abc import Iterable, Iterator

from annotation.formats.format import Format
from annotation.formats.offsets import TextTooLong, tokeniser_for
from annotation.formats.records import (
    CannotWrite,
    ExportRecord,
    Placement,
    Problem,
    ReadOptions,
    SentenceRecord,
    WriteOptions,
)
from annotation.formats.source import Source


def parse(source: Source, options: ReadOptions) -> Iterator[SentenceRecord | Problem]:
    tokenise = tokeniser_for(options)
    for number, line in enumerate(source.lines(), 1):
        if not line or line.isspace():
            continue
        try:
            for text, tokens, offsets in tokenise(line):
                yield SentenceRecord(tokens, text, offsets, line=number)
        except TextTooLong as refusal:
            yield source.problem(number, str(refusal))


def render(
    records: Iterable[ExportRecord], placement: Placement, options: WriteOptions
) -> Iterator[str]:
    before = None
    for record in records:
        sentence = record.sentence
        if sentence is before:
            continue  # another annotator's answers to the same sentence
        before = sentence
        if "\n" in sentence.text or sentence.text.endswith("\r"):
            raise CannotWrite(
                f"Sentence {sentence.key or sentence.text[:40]!r} has a line end in its text, "
                "and plain text is one sentence per line; write jsonl instead."
            )
        yield sentence.text + "\n"


FORMAT = Format(
    name="text",
    title="Plain text, one sentence per line",
    position=10,
    suffixes=(".txt",),
    kinds=frozenset(),
    parse=parse,
    render=render,
    looks_like=lambda head: not head.lstrip().startswith(("{", "[", "PK")),
    keeps_keys=False,
    keeps_documents=False,
)
