"""Generated sentences with answers, within what a format can carry."""

from typing import Any

from hypothesis import strategies as st

from annotation.formats.format import Format
from annotation.formats.offsets import join_tokens
from annotation.formats.records import ExportRecord, SentenceRecord
from mtl_engine.kinds import TaskSpec
from tests.annotation.formats.reading import tasks_of

# No white space, controls or surrogates; everything else may be part of a word.
_letters = st.characters(exclude_categories=("Zs", "Zl", "Zp", "Cc", "Cs", "Cn"))
_tricky = st.sampled_from(
    [
        "👩‍👩‍👧",
        "e\u0301te\u0301",
        "كِتَاب",
        "नमस्ते",
        "北京",
        "#",
        "# intent = x",
        '"',
        "'",
        "_",
        "-DOCSTART",
        "{}",
        "\ufeff",
        "T1",
        "a,b",
    ]
)
words = st.one_of(
    _tricky.filter(lambda word: " " not in word), st.text(_letters, min_size=1, max_size=6)
)
labels = st.sampled_from(["PER", "loc.city-name", "Ünï", "B-x", "O", "關係", "a:b=c"])
names = st.text(_letters, max_size=8)


@st.composite
def sentences(draw: st.DrawFn, format: Format) -> SentenceRecord:
    """A sentence, its words with or without spaces between where the format keeps the text."""
    tokens = draw(st.lists(words, min_size=1, max_size=7))
    text, offsets = join_tokens(tokens)
    if format.keeps_text and format.kinds and draw(st.booleans()):
        text, offsets = _run_together(tokens, draw(st.lists(st.booleans(), min_size=7, max_size=7)))
    key = ""
    document = draw(names) if format.keeps_documents else ""
    return SentenceRecord(tokens, text, offsets, key, document)


def _run_together(tokens: list[str], has_space: list[bool]) -> tuple[str, list[list[int]]]:
    text, offsets = "", []
    for token, space in zip(tokens, has_space, strict=False):
        text += " " if space and text else ""
        offsets.append([len(text), len(text) + len(token)])
        text += token
    return text, offsets


@st.composite
def answers(draw: st.DrawFn, tasks: tuple[TaskSpec, ...], n: int, is_flat: bool) -> dict[str, Any]:
    """Answers to some of the tasks on a sentence of n tokens."""
    found: dict[str, Any] = {}
    for task in tasks:
        if not draw(st.booleans()):
            continue
        if task.kind == "classes":
            found[task.name] = draw(labels)
        elif task.kind == "tags":
            found[task.name] = draw(st.lists(labels, min_size=n, max_size=n))
        elif task.kind == "tree":
            found[task.name] = draw(_trees(n))
        elif task.kind == "spans":
            found[task.name] = draw(_spans(n, is_flat))
        elif task.kind == "attributes":
            found[task.name] = draw(_attributes(found.get(task.parent, [])))
        elif task.parent in found:
            found[task.name] = draw(_relations(found[task.parent]))
    return found


@st.composite
def _trees(draw: st.DrawFn, n: int) -> list[list[Any]]:
    """A random tree: tokens are hung one by one below those that hang already."""
    order = draw(st.permutations(range(1, n + 1)))
    heads = {order[0]: 0}
    for count, token in enumerate(order[1:], 1):
        heads[token] = order[draw(st.integers(0, count - 1))]
    return [[heads[token], draw(labels)] for token in range(1, n + 1)]


@st.composite
def _spans(draw: st.DrawFn, n: int, is_flat: bool) -> list[list[Any]]:
    found = set()
    free = [True] * n
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, n - 1))
        end = draw(st.integers(start + 1, n))
        if is_flat and not all(free[start:end]):
            continue
        free[start:end] = [False] * (end - start)
        found.add((start, end, draw(labels)))
    return [list(span) for span in sorted(found, key=lambda s: (s[0], -s[1], s[2]))]


@st.composite
def _relations(draw: st.DrawFn, spans: list[list[Any]]) -> list[list[Any]]:
    places = sorted({(start, end) for start, end, _ in spans})
    pairs = [(a, b) for a in places for b in places if a != b]
    if not pairs:
        return []
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=3))
    return [list(r) for r in sorted({(*a, *b, draw(labels)) for a, b in chosen})]


@st.composite
def _attributes(draw: st.DrawFn, spans: list[list[Any]]) -> list[list[Any]]:
    places = sorted({(start, end) for start, end, _ in spans})
    if not places:
        return []
    chosen = draw(st.lists(st.sampled_from(places), max_size=3, unique=True))
    return [list(row) for row in sorted((*place, draw(labels)) for place in chosen)]


@st.composite
def exports(draw: st.DrawFn, format: Format) -> list[ExportRecord]:
    """Up to four sentences with answers to the tasks that the format has places for."""
    tasks = tasks_of(format)
    is_flat = format.name in ("conll2003", "conllu", "slu")
    records = []
    for index in range(draw(st.integers(1, 4))):
        sentence = draw(sentences(format))
        if format.keeps_keys:
            sentence = SentenceRecord(
                sentence.tokens,
                sentence.text,
                sentence.offsets,
                f"{index}-{draw(names)}",
                sentence.document,
            )
        found = draw(answers(tasks, len(sentence.tokens), is_flat))
        records.append(ExportRecord(sentence, found))
    if format.name == "ie":  # whose documents are in one piece
        records.sort(key=lambda record: record.sentence.document)
    return records
