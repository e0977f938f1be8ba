"""brat standoff: a zip of documents, each a .txt and an .ann file of the same name.

Each line of a document is a sentence, or with a language to split by, each sentence. Layers:
``entities`` (T lines) and ``relations`` (R lines, where the archive has any); spans must begin and
end with tokens and lie within a sentence. A document without an .ann file is not labelled. Events,
attributes, notes and all other lines stay with the document's first sentence and are written back
as long as what they are about is there.

What brat has no place for (tokens, ids, which sentences have no answer) is written beside each
document as ``NAME.sentences.jsonl``, which brat does not look at, and read from there. Without it
tokens are the tokeniser's (by default that of any language, "xx").

Several annotators side by side are folders, one for each annotator. Sentences without a document
are written as documents ``sentences-00001`` and so on, a hundred each.
"""

from collections.abc import Iterator
from zipfile import ZipFile

from annotation.formats.archives import open_archive, read_member
from annotation.formats.brat_documents import BadDocument, read_document
from annotation.formats.brat_writing import NAME, SIDECAR, render
from annotation.formats.format import Format
from annotation.formats.opening import Source, decode_whole
from annotation.formats.options import ReadOptions
from annotation.formats.records import LayerSpec, Problem, SentenceRecord
from annotation.formats.tokenising import tokeniser_for


def parse(source: Source, options: ReadOptions) -> Iterator[SentenceRecord | Problem]:
    tokenise = tokeniser_for(options, default="xx")
    folder = f"{options.annotator}/" if options.annotator else ""
    with open_archive(source) as archive:
        names = set(archive.namelist())
        has_relations = any(_has_relations(archive, name, options) for name in names)
        for name in archive.namelist():
            stem = name[: -len(".txt")]
            if not name.startswith(folder) or name.startswith("__MACOSX/"):
                continue
            if name.endswith(".ann") and f"{stem}.txt" not in names:
                message = "no .txt file of this name; add it to the archive"
                yield Problem(f"{source.file_name}/{name}", 1, message)
            if not name.endswith(".txt"):
                continue
            try:
                texts = [
                    _text(archive, stem + ending, options) if stem + ending in names else None
                    for ending in (".txt", ".ann", SIDECAR)
                ]
                document = stem.removeprefix(folder)
                yield from read_document(document, texts, tokenise, has_relations)
            except BadDocument as bad:
                yield Problem(f"{source.file_name}/{stem}{bad.ending}", bad.line, str(bad))


def _text(archive: ZipFile, name: str, options: ReadOptions) -> str:
    try:
        data = read_member(archive, name, options.limits.item_characters)
        return decode_whole(data, options.encoding)
    except ValueError as error:
        raise BadDocument(name[-len(".txt") :], 1, str(error)) from error


def _has_relations(archive: ZipFile, name: str, options: ReadOptions) -> bool:
    if not name.endswith(".ann"):
        return False
    try:
        return b"\nR" in b"\n" + read_member(archive, name, options.limits.item_characters)
    except ValueError:
        return False  # reported when the document is read


FORMAT = Format(
    name=NAME,
    title="brat standoff, a zip of .txt and .ann",
    suffixes=(".zip",),
    kinds=frozenset(("spans", "relations")),
    layers=(LayerSpec("entities", "spans"), LayerSpec("relations", "relations", "entities")),
    parse=parse,
    render=render,
    looks_like=lambda head: head.startswith("PK\x03\x04"),
    media_type="application/zip",
)
