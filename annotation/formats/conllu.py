"""CoNLL-U (universaldependencies.org): ten columns, trees, tags, and spans as ``NER=`` in MISC.

Layers: ``lemma``, ``upos``, ``xpos``, ``feats``, ``tree`` (HEAD, DEPREL), ``deps`` (DEPS, also of
empty nodes), ``ner`` (MISC), ``intent`` (a comment ``# intent = X``). Tokens are the words; those
of a multi-word token have the offsets of its surface form. A file comes out byte for byte; an
edited answer changes its own fields alone. An answer that is missing is written ``_`` (trees, tags)
or left away (ner, intent).

Several annotators side by side are copies of the sentence, each with ``# annotator = NAME``; state
the annotator to read one person's copies.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

from annotation.formats.columns import (
    DEFAULT_SCHEME,
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
    recognise,
    split_rows,
    write_comments,
    write_spans,
)
from annotation.formats.format import Format, Recutting
from annotation.formats.offsets import Misaligned, locate_tokens
from annotation.formats.records import (
    CannotWrite,
    ExportRecord,
    Extra,
    Layer,
    Offsets,
    Placement,
    Problem,
    ReadOptions,
    SentenceRecord,
    WriteOptions,
    layer_spec,
    match_layers,
)
from annotation.formats.source import Source
from mtl_engine.kinds import TaskSpec
from mtl_engine.kinds.graph import arc_order, node_order
from mtl_engine.kinds.tree import first_cycle, is_tree
from mtl_engine.universal_dependencies import Finding, Layers, validate

NAME = "conllu"
_HEADS = {str(number): number for number in range(1_000)}  # twice as fast as int()
_USUAL_COMMENTS: Template = [KEY, TEXT]
_TAGS_OF_HEAD = re.compile(r"NER=([^|\s]+)|\n\r?\n")
NER = "NER="
NO_SPACE = "SpaceAfter=No"
OtherRows = list[list[Any]]  # [row, line]
Placed = tuple[tuple[int, int], str]  # words before a row and its rank among such rows, the row

BEHIND_NODES = 1_000_000_000  # the rank of a range among the rows before a word
COLUMNS = ("lemma", "feats", "misc", "deps", "deps_as_written")  # that may be kept, a cell per word


@dataclass(slots=True)
class Words:
    """The words' columns, the surface tokens over them, and all other rows with their places."""

    columns: list[list[str]]
    surface: Sequence[str]  # FORM of the rows that the text is made of
    surface_misc: Sequence[str]
    widths: list[int]  # words under each surface token
    rows: Sequence[int]  # row of each word among the sentence's lines
    others: OtherRows = field(default_factory=list)


def parse(source: Source, options: ReadOptions) -> Iterator[SentenceRecord | Problem]:
    scheme = options.scheme or recognise(_tags_of(source.head())) or DEFAULT_SCHEME
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
        layers = _layers(words, scheme, options.scheme, kept)
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


def _layers(words: Words, scheme: str, stated: str, kept: Extra) -> dict[str, Layer]:
    """The answers in the words' columns; all that is no answer goes into ``kept``."""
    _, _, lemma, upos, xpos, feats, heads, deprels, deps, misc = words.columns
    layers = {}
    tree = _tree(heads, deprels)
    if tree is not None:
        layers["tree"] = Layer("tree", tree)
    if not is_blank(lemma):
        layers["lemma"] = Layer("tags", lemma)
    if not is_blank(upos):
        layers["upos"] = Layer("tags", upos)
    if not is_blank(xpos):
        layers["xpos"] = Layer("tags", xpos)
    if not is_blank(feats):
        layers["feats"] = Layer("tags", feats)
    ner, misc = take_ner(misc)
    if ner is not None:
        layers["ner"] = read_spans("ner", ner, scheme, stated, kept)
    graph = _graph(deps, words.others)
    if graph:
        layers["deps"] = Layer("graph", graph)
        if deps != _deps_column(graph, len(deps)):
            kept["deps_as_written"] = "\t".join(deps)
    if not is_blank(misc):
        kept["misc"] = "\t".join(misc)
    return layers


def _graph(deps: Sequence[str], others: OtherRows) -> list[list[str]]:
    """The arcs in DEPS of words and of empty nodes; whether they are any is the task's to say."""
    rows = [] if is_blank(deps) else list(enumerate(deps, 1))
    nodes = [line.split("\t") for _, line in others]
    cells = [*((str(number), cell) for number, cell in rows), *((r[ID], r[DEPS]) for r in nodes)]
    return sorted(([node, *arc] for node, cell in cells for arc in arcs_of(cell)), key=arc_order)


def arcs_of(cell: str) -> list[tuple[str, str]]:
    """The heads and labels in a cell of DEPS."""
    if cell == "_":
        return []
    pairs = (pair.partition(":") for pair in cell.split("|"))
    return [(head, label) for head, _, label in pairs]


def _deps_column(graph: Sequence[Sequence[str]], n: int) -> list[str]:
    """Column DEPS of n words."""
    cells = _deps_cells(graph)
    return [cells.get(number, "_") for number in numbers(n)]


def _deps_cells(graph: Sequence[Sequence[str]]) -> dict[str, str]:
    """The cells of DEPS by the id of their word or empty node."""
    found: dict[str, list[str]] = {}
    for node, head, label in graph:
        found.setdefault(node, []).append(f"{head}:{label}")
    return {node: "|".join(arcs) for node, arcs in found.items()}


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
    deps, others = _deps(record, placement, kept)
    rows = join_rows(
        [
            numbers(n),
            sentence.tokens,
            placement.value(record, "lemma") or _kept_column(kept, "lemma") or blank,
            placement.value(record, "upos") or blank,
            placement.value(record, "xpos") or blank,
            placement.value(record, "feats") or _kept_column(kept, "feats") or blank,
            heads,
            deprels,
            deps,
            _misc(record, placement, options),
        ],
        "\t",
        record,
    )
    if is_foreign:
        nodes = {cells[ID]: cells[DEPS] for _, line in others for cells in [line.split("\t")]}
        others = _with_nodes(ranges_of(sentence.offsets, sentence.text), nodes)
    for row, line in others:
        rows.insert(row, line)
    return rows


def _deps(record: ExportRecord, placement: Placement, kept: Extra) -> tuple[list[str], OtherRows]:
    """Column DEPS and the rows of ranges and empty nodes, with the arcs of the answer.

    Cells whose arcs did not change are as they were written.
    """
    n = len(record.sentence.tokens)
    rows: OtherRows = kept.get("rows", [])
    graph = placement.value(record, "deps")
    if graph is None and ("deps" in kept or "deps" not in placement.task_of):
        return _kept_column(kept, "deps") or ["_"] * n, rows  # imported when it was no layer yet
    if any("|" in arc[2] or "\t" in arc[2] for arc in graph or ()):
        raise CannotWrite(
            f"{describe(record)}: a label of {placement.task_of.get('deps', 'deps')!r} has a | or "
            "a tab in it, which separate the arcs of DEPS; rename it or write jsonl instead"
        )
    cells = _deps_cells(graph or [])
    column = [cells.pop(number, "_") for number in numbers(n)]
    before = _kept_column(kept, "deps_as_written") or column
    column = [_as_before(old, new) for old, new in zip(before, column, strict=True)]
    return column, _with_nodes(rows, cells, is_answered=graph is not None)


def _as_before(old: str, new: str) -> str:
    """A cell of DEPS as it was written, where its arcs are the same."""
    return old if sorted(arcs_of(old)) == sorted(arcs_of(new)) else new


def _with_nodes(
    rows: OtherRows, cells: Mapping[str, str], *, is_answered: bool = True
) -> OtherRows:
    """The other rows, with the arcs of empty nodes: new ones come in, those without arcs go."""
    placed: list[Placed] = []
    known = set()
    for i, (row, line) in enumerate(rows):
        parts = line.split("\t")
        known.add(parts[ID])
        rank = BEHIND_NODES
        if _EMPTY_NODE.fullmatch(parts[ID]):
            rank = node_order(parts[ID])[1]
            arcs = cells.get(parts[ID], "_")
            if is_answered and arcs == "_" and parts[DEPS] != "_":
                continue
            parts[DEPS] = _as_before(parts[DEPS], arcs)
        placed.append(((row - i, rank), "\t".join(parts)))
    new = sorted(set(cells) - known, key=node_order)
    placed += [(node_order(node), "\t".join([node, *"_______", cells[node], "_"])) for node in new]
    if new:
        placed.sort(key=lambda row: row[0])
    return [[before + i, line] for i, ((before, _), line) in enumerate(placed)]


def _kept_column(kept: Extra, name: str) -> list[str] | None:
    """A column of sentences that were imported when it was no layer yet."""
    return kept[name].split("\t") if name in kept else None


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


_NUMBERS = list(map(str, range(1, 1_001)))
_RANGE = re.compile(r"([1-9]\d*)-([1-9]\d*)", re.ASCII)
_EMPTY_NODE = re.compile(r"(\d+)\.([1-9]\d*)", re.ASCII)


def numbers(n: int) -> list[str]:
    """The ids of n words."""
    return _NUMBERS[:n] if n <= len(_NUMBERS) else list(map(str, range(1, n + 1)))


def sort_rows(lines: Sequence[str], columns: list[list[str]]) -> Words:
    """The rows of a sentence by what they are; raises BadRow where an id is out of order."""
    n = len(lines)
    if columns[ID] == numbers(n):
        return Words(columns, columns[FORM], columns[MISC], [1] * n, range(n))
    cells = list(zip(*columns, strict=True))
    words = Words([], [], [], [], [])
    under_range = 0  # number of the last word under a multi-word token
    surface: list[tuple[str, ...]] = []
    rows: list[int] = []
    for row, cell in enumerate(cells):
        number = len(rows) + 1
        if cell[ID] == str(number):
            rows.append(row)
            if number > under_range:
                surface.append(cell)
                words.widths.append(1)
            continue
        words.others.append([row, lines[row]])
        if match := _RANGE.fullmatch(cell[ID]):
            first, last = int(match[1]), int(match[2])
            if first != number or last <= first or first <= under_range:
                raise BadRow(row, f"range {cell[ID]} before word {number}; correct the ID")
            under_range = last
            surface.append(cell)
            words.widths.append(last - first + 1)
        elif not _is_empty_node(cell[ID], number - 1):
            raise BadRow(row, f"ID {cell[ID]!r} where word {number} is due; number the words")
    if under_range > len(rows) or not rows:
        raise BadRow(n - 1, f"{len(rows)} words, but a range goes to {under_range}; correct it")
    words.rows = rows
    words.surface = [cell[FORM] for cell in surface]
    words.surface_misc = [cell[MISC] for cell in surface]
    words.columns = [[column[row] for row in rows] for column in columns]
    return words


def offsets_of(words: Words, text: str) -> Offsets:
    """Where each word lies in the text; raises BadRow if the text is another one."""
    try:
        places = locate_tokens(words.surface, text)
    except Misaligned as miss:
        row = words.rows[sum(words.widths[: miss.index])]
        raise BadRow(row, f"{miss}; correct '# text =' or remove it") from miss
    if len(places) == len(words.rows):
        return places
    return [
        list(place) for place, width in zip(places, words.widths, strict=True) for _ in range(width)
    ]


def text_of(words: Words) -> str:
    """The text that the surface tokens make."""
    parts = []
    for form, misc in zip(words.surface, words.surface_misc, strict=True):
        parts.append(form)
        parts.append("" if "SpaceAfter=No" in misc else " ")
    return "".join(parts[:-1])


def ranges_of(offsets: Offsets, text: str) -> OtherRows:
    """The rows of the multi-word tokens that words with the same offsets make, as [row, line]."""
    rows: OtherRows = []
    first = 0
    for index in range(1, len(offsets) + 1):
        if index < len(offsets) and offsets[index] == offsets[first]:
            continue
        if index - first > 1:
            start, end = offsets[first]
            cells = [f"{first + 1}-{index}", text[start:end], *["_"] * 8]
            if index < len(offsets) and offsets[index][0] == end:
                cells[MISC] = "SpaceAfter=No"
            rows.append([first + len(rows), "\t".join(cells)])
        first = index
    return rows


def spacing_of(offsets: Offsets) -> list[str]:
    """The MISC cells that say where no space follows a word which is not in a range."""
    shared = {tuple(a) for a, b in pairwise(offsets) if a == b}
    cells = [
        "SpaceAfter=No" if a[1] == b[0] and tuple(a) not in shared else "_"
        for a, b in pairwise(offsets)
    ]
    return [*cells, "_"]


def _is_empty_node(text: str, after: int) -> bool:
    match = _EMPTY_NODE.fullmatch(text)
    return match is not None and match[1] == str(after)


Numbers = Sequence[int | None]  # of each word now, from 1; None = not in this sentence


def recut(kept: Extra, numbers: Numbers, n: int) -> Extra:
    """What is kept with a sentence whose words were cut anew into n, or that lost some of them.

    Ids in DEPS, ranges and empty nodes follow; what pointed at a word that is gone is left out.
    """
    new: Extra = {key: value for key, value in kept.items() if key in ("comments", "scheme")}
    for name in COLUMNS:
        if name in kept:
            cells = _move_cells(kept[name].split("\t"), numbers, n)
            if name.startswith("deps"):
                cells = [_move_ids(cell, numbers) for cell in cells]
            new[name] = "\t".join(cells)
    return _with_rows(new, _moved_rows(kept.get("rows", []), numbers))


def _with_rows(kept: Extra, rows: Iterable[Placed]) -> Extra:
    placed = sorted(rows, key=lambda row: row[0])
    laid = [[before + i, line] for i, ((before, _), line) in enumerate(placed)]
    new = {key: value for key, value in kept.items() if key != "rows"}
    return {**new, "rows": laid} if laid else new


def _move_cells(cells: Sequence[str], numbers: Numbers, n: int) -> list[str]:
    """The cells of the words as they are now; of words that became one, the last one's."""
    moved = ["_"] * n
    for cell, number in zip(cells, numbers, strict=True):
        if number is not None:
            moved[number - 1] = cell
    return moved


def _move_ids(cell: str, numbers: Numbers) -> str:
    """A cell of DEPS with the ids that the words have now."""
    pairs = [pair.partition(":") for pair in cell.split("|")] if cell != "_" else []
    moved = [(_move_id(head, numbers), colon, label) for head, colon, label in pairs]
    return "|".join(f"{head}{colon}{label}" for head, colon, label in moved if head) or "_"


def _move_id(text: str, numbers: Numbers) -> str:
    """The id of a word, of the root or of an empty node as it is now; "" = gone."""
    word, dot, rest = text.partition(".")
    if not word.isdecimal() or int(word) > len(numbers):
        return ""
    number = numbers[int(word) - 1] if int(word) else 0
    return "" if number is None else f"{number}{dot}{rest}"


def _moved_rows(rows: OtherRows, numbers: Numbers) -> Iterator[Placed]:
    """Ranges and empty nodes with their ids now."""
    for _, line in rows:
        cells = line.split("\t")
        if match := _RANGE.fullmatch(cells[ID]):
            inside = numbers[int(match[1]) - 1 : int(match[2])]
            words = sorted({number for number in inside if number is not None})
            if len(words) > 1:
                cells[ID] = f"{words[0]}-{words[-1]}"
                yield (words[0] - 1, 1), "\t".join(cells)
        elif moved := _move_id(cells[ID], numbers):
            cells[ID], cells[DEPS] = moved, _move_ids(cells[DEPS], numbers)
            yield (int(moved.partition(".")[0]), 0), "\t".join(cells)


def join(first: Extra, second: Extra, n_first: int, n_second: int) -> Extra:
    """What is kept with two sentences that became one."""
    n = n_first + n_second
    one = recut(first, range(1, n_first + 1), n)
    other = recut(second, range(n_first + 1, n + 1), n)
    joined: Extra = {**{k: v for k, v in other.items() if k != "comments"}, **one}
    for name in COLUMNS:
        if name in one and name in other:
            cells = zip(one[name].split("\t"), other[name].split("\t"), strict=True)
            joined[name] = "\t".join(b if a == "_" else a for a, b in cells)
    if "rows" in one or "rows" in other:
        more = len(one.get("rows", []))
        moved = [[row + more, line] for row, line in other.get("rows", [])]
        joined["rows"] = [*one.get("rows", []), *moved]
    return joined


def respace(kept: Extra, text: str, offsets: Offsets) -> Extra:
    """What is kept, with SpaceAfter=No and ranges as the words lie in the text."""
    cells = kept["misc"].split("\t") if "misc" in kept else ["_"] * len(offsets)
    spaced = []
    for cell, spacing in zip(cells[:-1], spacing_of(offsets)[:-1], strict=True):
        parts = [part for part in cell.split("|") if part != "_"]
        if spacing == "_":
            parts = [part for part in parts if part != NO_SPACE]
        elif NO_SPACE not in parts:
            parts.append(NO_SPACE)
        spaced.append("|".join(parts) or "_")
    column = [*spaced, cells[-1]]
    new = {key: value for key, value in kept.items() if key != "misc"}
    if not is_blank(column):
        new["misc"] = "\t".join(column)
    lines = [line.split("\t") for _, line in kept.get("rows", [])]
    known = {int(row[ID].partition("-")[0]): row for row in lines if "-" in row[ID]}
    placed: list[Placed] = [
        ((int(row[ID].partition(".")[0]), 0), "\t".join(row)) for row in lines if "." in row[ID]
    ]
    for _, line in ranges_of(offsets, text):
        row = line.split("\t")
        first = int(row[ID].partition("-")[0])
        placed.append(((first - 1, 1), "\t".join([*row[:2], *known.get(first, row)[2:]])))
    return _with_rows(new, placed)


RULED = ("lemma", "upos", "feats", "tree", "deps")  # layers that the rules are about


def findings(tokens: Sequence[str], layers: Mapping[str, Any]) -> list[Finding]:
    """What Universal Dependencies' rules say of the layers of a sentence, as far as known."""
    return validate(Layers(tokens, **{name: layers.get(name) for name in RULED}))


def task_findings(
    tokens: Sequence[str], tasks: Sequence[TaskSpec], answers: Mapping[str, Any]
) -> list[tuple[str, Finding]]:
    """The same of answers to tasks, each with the task that it is about, "" = none."""
    layer_of = match_layers(FORMAT.layers, tasks)
    task_of = {layer: task for task, layer in layer_of.items()}
    layers = {layer: answers.get(task) for task, layer in layer_of.items()}
    return [(task_of.get(one.layer, ""), one) for one in findings(tokens, layers)]


FORMAT = Format(
    name=NAME,
    title="CoNLL-U, Universal Dependencies",
    position=70,
    suffixes=(".conllu",),
    kinds=frozenset(("tree", "tags", "spans", "classes", "graph")),
    layers=(
        layer_spec("tree", "tree"),
        layer_spec("lemma", "tags"),
        layer_spec("upos", "tags"),
        layer_spec("xpos", "tags"),
        layer_spec("feats", "tags"),
        layer_spec("deps", "graph"),
        layer_spec("ner", "spans"),
        layer_spec("intent", "classes"),
    ),
    parse=parse,
    render=render,
    recut=Recutting(recut, join, respace),
    looks_like=lambda head: re.search(r"^1(-\d+)?(\t[^\t\n]+){9}$", head, re.M) is not None,
)


ID, FORM, DEPS, MISC = 0, 1, 8, 9
