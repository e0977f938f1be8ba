"""Universal Dependencies' own rules for a sentence, where they are simple.

After levels 1 to 3 of ``validate.py`` (universaldependencies.org/validation.html), for all
languages alike: which tags, features and relations there are and how they are written, what stands
at the root, which relations go from left to right, which words have no dependents. What levels 1
and 2 call wrong is an error here; level 3, which has exceptions by language, is a warning. Rules
for one language (which auxiliaries, which features) are left to the original.

Kinds and formats refuse what is no tree, no id and no range; that is not told again here.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal, NamedTuple

UPOS = frozenset(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()
)
RELATIONS = frozenset(
    "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse "
    "dislocated expl fixed flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis "
    "punct reparandum root vocative xcomp".split()
)
RELATION = re.compile(r"[a-z]+(:[a-z]+)?")
ENHANCED = re.compile(r"[a-z]+(:[a-z]+)?(:[^\W\d_]+(_[^\W\d_]+)*)?(:[a-z]+)?")
ATTRIBUTE = re.compile(r"[A-Z][A-Za-z0-9]*(\[[a-z0-9]+\])?")
VALUE = re.compile(r"[A-Z0-9][A-Za-z0-9]*")
RIGHTWARDS = frozenset(("conj", "fixed", "flat", "goeswith", "appos"))
LEAVES: Mapping[str, frozenset[str]] = {  # relation -> what may hang on its word all the same
    "punct": frozenset(("punct",)),
    "fixed": frozenset(("goeswith", "reparandum", "conj", "cc", "punct")),
    "goeswith": frozenset(),
    "cc": frozenset(
        ("goeswith", "fixed", "reparandum", "conj", "punct", "advmod", "cc", "discourse")
    ),
    "aux": frozenset(
        ("goeswith", "fixed", "reparandum", "conj", "cc", "punct", "advmod", "discourse", "case")
    ),
}
EXPECTED: Mapping[str, frozenset[str]] = {  # relation -> UPOS of its word
    "det": frozenset(("DET", "PRON")),
    "nummod": frozenset(("NUM", "NOUN", "SYM")),
    "aux": frozenset(("AUX",)),
    "cop": frozenset(("AUX", "PRON", "DET", "SYM")),
    "punct": frozenset(("PUNCT",)),
    "expl": frozenset(("PRON", "DET", "PART")),
    "advmod": frozenset(("ADV", "ADJ", "CCONJ", "DET", "PART", "SYM")),
}
Level = Literal["error", "warning"]


class Finding(NamedTuple):
    """A rule that a sentence does not keep."""

    rule: str
    level: Level
    layer: str  # of a CoNLL-U file: upos, feats, tree, ...; "" = the sentence
    word: int | None  # from 0; None = the sentence as a whole
    message: str


@dataclass(frozen=True)
class Layers:
    """What is known of a sentence; None where a layer, or the entry of a word, is missing."""

    tokens: Sequence[str]
    lemma: Sequence[str | None] | None = None
    upos: Sequence[str | None] | None = None
    feats: Sequence[str | None] | None = None
    tree: Sequence[Sequence[Any] | None] | None = None  # [head, label], head 0 = the root
    deps: Sequence[Sequence[str]] | None = None  # [dependent, head, label] by their ids


def validate(layers: Layers) -> list[Finding]:
    """Return what the rules say of a sentence, errors first, then from left to right."""
    found = [finding for rule in RULES for finding in rule(layers)]
    return sorted(found, key=lambda one: (one.level, -1 if one.word is None else one.word))


Rule = Callable[[Layers], Iterator[Finding]]
RULES: list[Rule] = []


def _rule(rule: Rule) -> Rule:
    RULES.append(rule)
    return rule


def _entries(column: Sequence[Any] | None) -> Iterator[tuple[int, Any]]:
    """Yield the entries of a layer that are there, with their words from 0."""
    return ((i, entry) for i, entry in enumerate(column or ()) if entry is not None)


@_rule
def _letters(layers: Layers) -> Iterator[Finding]:
    columns = (("", layers.tokens), ("lemma", layers.lemma))
    for layer, column in columns:
        for i, text in _entries(column):
            if not unicodedata.is_normalized("NFC", text):
                message = f"'{text}' is not in the normal form NFC of Unicode."
                yield Finding("unicode", "error", layer, i, message)


@_rule
def _lemmas(layers: Layers) -> Iterator[Finding]:
    for i, lemma in _entries(layers.lemma):
        if lemma in ("", "_") and layers.tokens[i] != "_":
            is_part = _relation(layers, i) == "goeswith"
            if not is_part:
                message = f"'{layers.tokens[i]}' has no lemma."
                yield Finding("lemma", "warning", "lemma", i, message)


@_rule
def _tags(layers: Layers) -> Iterator[Finding]:
    for i, tag in _entries(layers.upos):
        if tag not in UPOS:
            message = f"'{tag}' on '{layers.tokens[i]}' is none of the universal parts of speech."
            yield Finding("upos", "error", "upos", i, message)


@_rule
def _features(layers: Layers) -> Iterator[Finding]:
    for i, text in _entries(layers.feats):
        for feature in [] if text == "_" else text.split("|"):
            attribute, _, values = feature.partition("=")
            fault = ""
            if not ATTRIBUTE.fullmatch(attribute):
                fault = f"the attribute {attribute!r} begins with a capital and has letters, digits"
            else:
                parts = values.split(",")
                wrong = [value for value in parts if not VALUE.fullmatch(value)]
                if wrong:
                    fault = f"the value {wrong[0]!r} begins with a capital or a digit"
                elif len(set(parts)) < len(parts) or parts != sorted(parts, key=str.lower):
                    fault = f"the values of {attribute} are sorted, each once"
            if fault:
                message = f"{feature} on '{layers.tokens[i]}': {fault}."
                yield Finding("feats", "error", "feats", i, message)


@_rule
def _relations(layers: Layers) -> Iterator[Finding]:
    for i, (head, label) in _entries(layers.tree):
        word = layers.tokens[i]
        if not label:
            continue
        if not RELATION.fullmatch(label) or label.partition(":")[0] not in RELATIONS:
            message = f"'{label}' on '{word}' is no universal relation, or no subtype of one."
            yield Finding("deprel", "error", "tree", i, message)
        if (head == 0) != (label.partition(":")[0] == "root"):
            message = f"The root is labelled root, and nothing else is: '{word}' has {label}."
            yield Finding("root", "error", "tree", i, message)


@_rule
def _rightwards(layers: Layers) -> Iterator[Finding]:
    for i, (head, label) in _entries(layers.tree):
        if head > i + 1 and label.partition(":")[0] in RIGHTWARDS:
            message = (
                f"{label} goes from left to right; '{layers.tokens[i]}' stands before its head."
            )
            yield Finding("left-to-right", "warning", "tree", i, message)


@_rule
def _leaves(layers: Layers) -> Iterator[Finding]:
    for i, (head, label) in _entries(layers.tree):
        above = layers.tree[head - 1] if layers.tree and 0 < head <= len(layers.tokens) else None
        of = above[1].partition(":")[0] if above and above[1] else ""
        if of in LEAVES and label and label.partition(":")[0] not in LEAVES[of]:
            words = f"'{layers.tokens[i]}' as {label} on '{layers.tokens[head - 1]}'"
            message = f"A word that is {of} has no dependents of this kind: {words}."
            yield Finding("leaf", "warning", "tree", i, message)


@_rule
def _parts_of_a_word(layers: Layers) -> Iterator[Finding]:
    """Words of a goeswith follow one another, the head first."""
    parts = defaultdict(list)
    for i, (head, label) in _entries(layers.tree):
        if label.partition(":")[0] == "goeswith":
            parts[head].append(i + 1)
    for head, words in parts.items():
        if words[0] > head and words != list(range(head + 1, head + 1 + len(words))):
            message = "The parts of goeswith follow one another without a gap."
            yield Finding("goeswith", "warning", "tree", words[0] - 1, message)


@_rule
def _tags_of_relations(layers: Layers) -> Iterator[Finding]:
    fixed = {
        head
        for _, (head, label) in _entries(layers.tree)
        if label.partition(":")[0] in ("fixed", "goeswith")
    }
    for i, (_, label) in _entries(layers.tree):
        tag = layers.upos[i] if layers.upos else None
        if tag is None or tag not in UPOS:
            continue
        of = label.partition(":")[0]
        if of in EXPECTED and tag not in EXPECTED[of] and i + 1 not in fixed:
            expected = ", ".join(sorted(EXPECTED[of]))
            message = f"{label} on '{layers.tokens[i]}' is for {expected}, not for {tag}."
            yield Finding("relation-upos", "warning", "tree", i, message)
        if tag == "PUNCT" and of not in ("punct", "root"):
            message = (
                f"'{layers.tokens[i]}' is PUNCT, so its relation is punct or root, not {label}."
            )
            yield Finding("upos-relation", "warning", "tree", i, message)


@_rule
def _subjects(layers: Layers) -> Iterator[Finding]:
    subjects = defaultdict(list)
    for i, (head, label) in _entries(layers.tree):
        if label.partition(":")[0] in ("nsubj", "csubj") and not label.endswith(":outer"):
            subjects[head].append(i)
    for head, words in subjects.items():
        if len(words) > 1:
            names = ", ".join(f"'{layers.tokens[i]}'" for i in words)
            of = layers.tokens[head - 1] if head else "the root"
            message = f"'{of}' has more than one subject: {names}."
            yield Finding("subjects", "warning", "tree", words[1], message)


@_rule
def _enhanced(layers: Layers) -> Iterator[Finding]:
    if not layers.deps:
        return
    heads = Counter(arc[0] for arc in layers.deps)
    for i, word in enumerate(layers.tokens):
        if not heads[str(i + 1)]:
            message = f"'{word}' has no head in the graph, others have."
            yield Finding("graph", "error", "deps", i, message)
    for dependent, head, label in layers.deps:
        place = max(0, int(dependent.partition(".")[0]) - 1)
        universal = label.partition(":")[0]
        if not ENHANCED.fullmatch(label) or universal not in RELATIONS | {"ref"}:
            message = f"'{label}' of {dependent} is no enhanced relation."
            yield Finding("edeprel", "error", "deps", place, message)
        elif (head == "0") != (universal == "root"):
            message = f"The root is labelled root, and nothing else is: {dependent} has {label}."
            yield Finding("graph-root", "error", "deps", place, message)
    nodes = {n for arc in layers.deps for n in arc[:2] if "." in n}
    by_word = defaultdict(set)
    for node in nodes:
        word, _, rank = node.partition(".")
        by_word[int(word)].add(int(rank))
    for number, ranks in sorted(by_word.items()):
        if ranks != set(range(1, len(ranks) + 1)):
            first = next(rank for rank in count(1) if rank not in ranks)
            message = f"Empty nodes are numbered from 1: {number}.{first} is left out."
            yield Finding("empty-nodes", "error", "deps", max(0, number - 1), message)


def _relation(layers: Layers, word: int) -> str:
    arc = layers.tree[word] if layers.tree else None
    return str(arc[1]).partition(":")[0] if arc else ""
