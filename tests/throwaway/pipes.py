"""A format in one file: an intent, a pipe and the sentence, one per line."""

from collections.abc import Iterable, Iterator

from annotation.formats.format import Format
from annotation.formats.offsets import join_tokens
from annotation.formats.records import (
    ExportRecord,
    Layer,
    Placement,
    Problem,
    ReadOptions,
    SentenceRecord,
    WriteOptions,
    layer_spec,
)
from annotation.formats.source import Source


def parse(source: Source, options: ReadOptions) -> Iterator[SentenceRecord | Problem]:
    for number, line in enumerate(source.lines(), 1):
        intent, pipe, text = line.partition("|")
        if not pipe:
            yield source.problem(number, f"no pipe in {line!r}; write INTENT|SENTENCE")
            continue
        tokens = text.split()
        layers = {"intent": Layer("classes", intent)} if intent else {}
        yield SentenceRecord(tokens, *join_tokens(tokens), layers=layers, line=number)


def render(
    records: Iterable[ExportRecord], placement: Placement, options: WriteOptions
) -> Iterator[str]:
    for record in records:
        intent = placement.value(record, "intent") or ""
        yield f"{intent}|{' '.join(record.sentence.tokens)}\n"


FORMAT = Format(
    name="pipes",
    title="Intents before a pipe",
    suffixes=(".pipes",),
    kinds=frozenset(("classes",)),
    layers=(layer_spec("intent", "classes"),),
    parse=parse,
    render=render,
    looks_like=lambda head: all("|" in line for line in head.splitlines()),
    keeps_keys=False,
    keeps_documents=False,
    keeps_text=False,
)
