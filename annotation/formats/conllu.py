"""CoNLL-U (universaldependencies.org): ten columns, trees, tags, and spans as ``NER=`` in MISC.

Layers: ``tree`` (HEAD, DEPREL), ``upos``, ``xpos``, ``feats``, ``ner`` (MISC), ``intent`` (a
comment ``# intent = X``). Tokens are the words; those of a multi-word token have the offsets of its
surface form. A file comes out byte for byte; an edited answer changes its own fields alone. An
answer that is missing is written ``_`` (tree, tags) or left away (ner, intent).

Several annotators side by side are copies of the sentence, each with ``# annotator = NAME``; state
the annotator to read one person's copies.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from annotation.formats.columns import (
    INTENT,
    KEY,
    TEXT,
    BadRow,
    Comments,
    Template,
    commented_sentences,
    describe,
    is_blank,
    join_rows,
    read_spans,
    split_rows,
    write_comments,
    write_spans,
)
from annotation.formats.conllu_words import (
    numbers,
    offsets_of,
    ranges_of,
    sort_rows,
    spacing_of,
    text_of,
)
from annotation.formats.format import Format
from annotation.formats.layers import Placement
from annotation.formats.records import (
    CannotWrite,
    ExportRecord,
    Extra,
    Layer,
    Problem,
    ReadOptions,
    SentenceRecord,
    WriteOptions,
    layer_spec,
)
from annotation.formats.schemes import DEFAULT, recognise
from annotation.formats.source import Source
from mtl_engine.kinds.tree import first_cycle, is_tree

NAME = "conllu"
_HEADS = {str(number): number for number in range(1_000)}  # twice as fast as int()
_USUAL_COMMENTS: Template = [KEY, TEXT]
_TAGS_OF_HEAD = re.compile(r"NER=([^|\s]+)|\n\r?\n")
NER = "NER="


def parse(source: Source, options: ReadOptions) -> Iterator[SentenceRecord | Problem]:
    scheme = options.scheme or recognise(_tags_of(source.head())) or DEFAULT
    read = partial(_sentence, scheme=scheme, options=options)
    yield from commented_sentences(source, options, read, of="words")


def _tags_of(head: str) -> Iterator[str]:
    """The NER tags at the beginning of a file, with an O between sentences."""
    return (match[1] or "O" for match in _TAGS_OF_HEAD.finditer(head))


def _sentence(
    lines: Sequence[str],
    comments: Comments,
    document: str,
    number: int,
    *,
    scheme: str,
    options: ReadOptions,
) -> SentenceRecord:
    words = sort_rows(lines, split_rows(lines, "\t", (10,)))
    text = comments.values.get(TEXT) or text_of(words)
    kept: Extra = {}
    if words.others:
        kept["rows"] = words.others
    if comments.template != _USUAL_COMMENTS:
        kept["comments"] = comments.template
    try:
        layers = _layers(words.columns, scheme, options.scheme, kept)
    except BadRow as bad:
        raise BadRow(words.rows[bad.row], str(bad)) from bad
    if INTENT in comments.values:
        layers["intent"] = Layer("classes", comments.values[INTENT])
    first = number + comments.n_lines
    return SentenceRecord(
        words.columns[1],
        text,
        offsets_of(words, text),
        comments.values.get(KEY, ""),
        document,
        layers,
        {NAME: kept},
        number,
        range(first, first + len(lines)) if not words.others else [first + r for r in words.rows],
    )


def _layers(
    columns: Sequence[list[str]], scheme: str, stated: str, kept: Extra
) -> dict[str, Layer]:
    """The answers in the words' columns; all that is no answer goes into ``kept``."""
    _, _, lemma, upos, xpos, feats, heads, deprels, deps, misc = columns
    layers = {}
    tree = _tree(heads, deprels)
    if tree is not None:
        layers["tree"] = Layer("tree", tree)
    if not is_blank(upos):
        layers["upos"] = Layer("tags", upos)
    if not is_blank(xpos):
        layers["xpos"] = Layer("tags", xpos)
    if not is_blank(feats):
        layers["feats"] = Layer("tags", feats)
    ner, misc = take_ner(misc)
    if ner is not None:
        layers["ner"] = read_spans("ner", ner, scheme, stated, kept)
    for name, column in (("lemma", lemma), ("deps", deps), ("misc", misc)):
        if not is_blank(column):
            kept[name] = "\t".join(column)
    return layers


def _tree(heads: Sequence[str], deprels: Sequence[str]) -> list[list[int | str]] | None:
    """The tree in two columns, None if both are left open."""
    if is_blank(heads) and is_blank(deprels):
        return None
    try:
        found = [_HEADS[head] for head in heads]
    except KeyError:
        found = [_head(head, row) for row, head in enumerate(heads)]
    fault = tree_fault(found)
    if fault:
        raise BadRow(fault[0] - 1, f"{fault[1]}; correct HEAD")
    return [[head, label] for head, label in zip(found, deprels, strict=True)]


def _head(text: str, row: int) -> int:
    if text.isascii() and text.isdigit() and len(text) < 16 and str(int(text)) == text:
        return int(text)
    raise BadRow(row, f"HEAD {text[:20]!r} is no number; write 0 for the root, else the ID")


def render(
    records: Iterable[ExportRecord], placement: Placement, options: WriteOptions
) -> Iterator[str]:
    document = ""
    for record in records:
        kept = placement.kept(record)
        values = {
            KEY: record.sentence.key,
            TEXT: record.sentence.text,
            INTENT: placement.value(record, "intent"),
        }
        template = kept.get("comments", _USUAL_COMMENTS)
        sources = record.sources if options.has_sources else {}
        comments = write_comments(
            record, template, values, document, added=(INTENT,), sources=sources
        )
        document = record.sentence.document
        yield "\n".join([*comments, *_rows(record, placement, options), "", ""])


def _rows(record: ExportRecord, placement: Placement, options: WriteOptions) -> list[str]:
    """The lines of a sentence below its comments."""
    sentence = record.sentence
    n = len(sentence.tokens)
    blank = ["_"] * n
    kept = placement.kept(record)
    is_foreign = NAME not in sentence.extra
    heads, deprels = blank, blank
    tree = placement.value(record, "tree")
    if tree is not None:
        heads = [str(head) for head, _ in tree]
        deprels = [label for _, label in tree]
    rows = join_rows(
        [
            numbers(n),
            sentence.tokens,
            kept["lemma"].split("\t") if "lemma" in kept else blank,
            placement.value(record, "upos") or blank,
            placement.value(record, "xpos") or blank,
            placement.value(record, "feats") or _kept_feats(kept) or blank,
            heads,
            deprels,
            kept["deps"].split("\t") if "deps" in kept else blank,
            _misc(record, placement, options),
        ],
        "\t",
        record,
    )
    others = ranges_of(sentence.offsets, sentence.text) if is_foreign else kept.get("rows", [])
    for row, line in others:
        rows.insert(row, line)
    return rows


def _kept_feats(kept: Extra) -> list[str] | None:
    """The column of sentences that were imported when it was no layer yet."""
    return kept["feats"].split("\t") if "feats" in kept else None


def _misc(record: ExportRecord, placement: Placement, options: WriteOptions) -> list[str]:
    sentence = record.sentence
    kept = placement.kept(record)
    if "misc" in kept:
        column = kept["misc"].split("\t")
    elif NAME in sentence.extra:
        column = ["_"] * len(sentence.tokens)
    else:
        column = spacing_of(sentence.offsets)
    spans = placement.value(record, "ner")
    tags = None if spans is None else write_spans("ner", spans, record, kept, options)
    if any("|" in tag for tag in tags or ()):
        raise CannotWrite(
            f"{describe(record)}: a label of {placement.task_of['ner']!r} has a | in it, which "
            "separates the values of MISC; rename the label or write jsonl instead"
        )
    return put_ner(column, tags)


def take_ner(column: Sequence[str]) -> tuple[list[str] | None, list[str]]:
    """The tags in the column (None if it has none), and the column with the tags cut out.

    What is left keeps ``NER=`` where the tag was; a word without one among words with one is O.
    """
    joined = "\t" + "\t".join(column)
    if NER not in joined:
        return None, list(column)
    if joined.count("\t" + NER) == len(column):  # as a rule it comes first on every word
        parts = [cell[4:].partition("|") for cell in column]
        return [tag for tag, _, _ in parts], [NER + bar + rest for _, bar, rest in parts]
    tags, left = [], []
    found = False
    for cell in column:
        slot = _slot(cell)
        if slot is None:
            tags.append("O")
            left.append(cell)
        else:
            found = True
            tag, bar, rest = cell[slot:].partition("|")
            tags.append(tag)
            left.append(cell[:slot] + bar + rest)
    return (tags if found else None), left


def put_ner(column: Sequence[str], tags: Sequence[str] | None) -> list[str]:
    """The column with tags where ``NER=`` stands, and added where it does not.

    O is not added to a sentence that has some ``NER=``, because O is what its lack means there.
    Without tags every ``NER=`` is taken out.
    """
    if tags is not None and ("\t" + "\t".join(column)).count("\t" + NER) == len(column):
        return [NER + tag + cell[4:] for cell, tag in zip(column, tags, strict=True)]
    is_partial = any(_slot(cell) is not None for cell in column)
    return [
        _put(cell, tags[index] if tags is not None else None, is_partial)
        for index, cell in enumerate(column)
    ]


def _slot(cell: str) -> int | None:
    """Where the tag goes in a cell of ``take_ner``, None if nowhere."""
    if cell[:4] == NER:
        return 4
    at = cell.find("|" + NER)
    return None if at < 0 else at + 1 + len(NER)


def _put(cell: str, tag: str | None, is_partial: bool) -> str:
    slot = _slot(cell)
    if slot is not None:
        if tag is not None:
            return cell[:slot] + tag + cell[slot:]
        pairs = [cell[: slot - len(NER)].rstrip("|"), cell[slot:].lstrip("|")]
        return "|".join(filter(None, pairs)) or "_"
    if tag is None or (is_partial and tag == "O"):
        return cell
    return NER + tag if cell == "_" else f"{cell}|{NER}{tag}"


def tree_fault(heads: Sequence[int]) -> tuple[int, str] | None:
    """The token number (from 1) and what is wrong with its head; None if the heads are a tree.

    A tree has one root (head 0), every other head is the number of another token, and every token
    is reached from the root.
    """
    n = len(heads)
    if is_tree(heads):
        return None
    for token, head in enumerate(heads, 1):
        if not 0 <= head <= n:
            return token, f"head {head} is out of range; heads are 0 (root) to {n}"
    roots = [token for token, head in enumerate(heads, 1) if head == 0]
    if len(roots) > 1:
        return roots[1], f"a second root; {len(roots)} tokens have head 0, a tree has exactly one"
    token = 1 + max(first_cycle(heads))
    return token, f"token {token} is on a cycle of heads; every token must lead to the root"


FORMAT = Format(
    name=NAME,
    title="CoNLL-U, Universal Dependencies",
    position=70,
    suffixes=(".conllu",),
    kinds=frozenset(("tree", "tags", "spans", "classes")),
    layers=(
        layer_spec("tree", "tree"),
        layer_spec("upos", "tags"),
        layer_spec("xpos", "tags"),
        layer_spec("feats", "tags"),
        layer_spec("ner", "spans"),
        layer_spec("intent", "classes"),
    ),
    parse=parse,
    render=render,
    looks_like=lambda head: re.search(r"^1(-\d+)?(\t[^\t\n]+){9}$", head, re.M) is not None,
)
