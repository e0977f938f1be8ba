"""Lemmas: a text for every token, learned as the edit that makes it of the token.

An edit script (Straka 2018, UDPipe 2) says how to write the word first (as it is, in lower case,
or with a capital), and what to take away and put on at both of its ends. Where word and lemma have
nothing in common the script is the lemma itself. A head tells the scripts of its training apart.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any

from mtl_engine.errors import Problem
from mtl_engine.kinds.checks import size_of
from mtl_engine.kinds.kind import KINDS, Answer, ParentSpans, Recut, TaskSpec
from mtl_engine.kinds.tags import TagsKind

LONGEST = 200  # characters of a lemma, unless its word is longer: an address is its own lemma
CASES: Mapping[str, Callable[[str], str]] = {
    "lower": str.lower,
    "keep": str,
    "title": lambda form: form[:1].upper() + form[1:].lower(),
}

SHARED = 2  # first letters of a word and its lemma, where only its end is inflected
AS_LOWER = '["lower", 0, "", 0, ""]'  # the script of a word in lower case


class LemmasKind(TagsKind):
    """A text per token."""

    name = "lemmas"
    title = "Lemmas: a text for every word"
    summary = "Every word gets a text of its own: its dictionary form, a gloss, a spelling."
    shape = "[text, ...] of length m"
    position = 3
    may_ask_words = False
    brings_classes = True
    token_attribute = "lemma_"
    is_open_when_empty = True
    key_alphabet = ""
    prior_seconds = (1.0, 1.5)

    def problems(
        self, task: TaskSpec, answer: Any, tokens: Sequence[str], parent_spans: ParentSpans | None
    ) -> list[Problem]:
        if not isinstance(answer, list) or len(answer) != len(tokens):
            message = (
                f"A lemmas answer has one text per token: {len(tokens)}, not {size_of(answer)}."
            )
            return [Problem("", message)]
        return [
            Problem(f"{i}", f"{_shown(text)} on '{token}' is no lemma: {fault}.")
            for i, (text, token) in enumerate(zip(answer, tokens, strict=True))
            if (fault := lemma_fault(text, longest=max(LONGEST, len(token))))
        ]

    def parts(self, label: str) -> list[str]:
        """Return nothing: a text is no label."""
        return []

    def labels_of(self, answer: Answer) -> list[str]:
        return []

    def replace_labels(self, answer: Answer, mapping: Mapping[str, str]) -> Answer:
        return answer

    def rename_entry(self, entry: Any, mapping: Mapping[str, str]) -> Any:
        return entry

    def without_labels(self, answer: Answer, labels: Any) -> Answer | None:
        return answer

    def recut(self, task: TaskSpec, answer: Answer, change: Recut) -> Answer | None:
        """Return lemmas in which new words have their own where the old ones had."""
        old, known = change.old[change.start : change.end], answer[change.start : change.end]
        new = change.new[change.start : change.start + change.n_new]
        if all(script_of(*pair) == AS_LOWER for pair in zip(old, known, strict=True)) and old:
            return change.entries(answer, [word.lower() for word in new])
        if list(old) == list(known) and old:
            return change.entries(answer, new)
        if len(new) == 1 and old and " " in new[0]:
            return change.entries(answer, [" ".join(known)])
        if len(new) == 1 and old and _ends_alone(old, known):
            return change.entries(answer, ["".join(known)])
        return None if new else change.entries(answer, [])

    def pipeline(self, task: TaskSpec, tasks: Sequence[TaskSpec]) -> None:
        """Return nothing: the scripts that a head says are no labels."""
        return

    def taught(self, task: TaskSpec, known: Iterable[tuple[Sequence[str], Answer]]) -> TaskSpec:
        scripts = Counter(
            script for tokens, answer in known for script in self.to_learned(answer, tokens)
        )
        return replace(task, classes=tuple(sorted(scripts)))

    def to_learned(self, answer: Answer, tokens: Sequence[str]) -> Answer:
        return [script_of(token, text) for token, text in zip(tokens, answer, strict=True)]

    def from_learned(self, answer: Answer, tokens: Sequence[str]) -> Answer:
        """Return the texts; a script that does not fit its word leaves the word as it is."""
        return [
            apply_script(script, token) or token
            for token, script in zip(tokens, answer, strict=True)
        ]


KINDS.register(LemmasKind())


def _ends_alone(words: Sequence[str], lemmas: Sequence[str]) -> bool:
    """Return whether words are their own lemmas but for the last, which is inflected at its end.

    mis + takes is a mistake, but did + n't is no donot.
    """
    *before, (word, lemma) = [
        (word.lower(), lemma.lower()) for word, lemma in zip(words, lemmas, strict=True)
    ]
    return all(one == other for one, other in before) and word[:SHARED] == lemma[:SHARED]


def lemma_fault(text: Any, *, longest: int = LONGEST) -> str:
    """Return why a value is no text for a word, or nothing."""
    if not isinstance(text, str) or not text:
        return "write at least one character"
    if len(text) > longest:
        return f"it has {len(text)} characters, at most {longest} are allowed"
    if text != text.strip() or any(sign in text for sign in "\t\n\r"):
        return "no space at its ends, no tab and no line break"
    return ""


def script_of(form: str, lemma: str) -> str:
    """Return the shortest edit script that makes the lemma of the word."""
    scripts = (_script(case, write(form), lemma) for case, write in CASES.items())
    return min(scripts, key=lambda found: found[0])[1]


def _script(case: str, written: str, lemma: str) -> tuple[int, str]:
    """Return what a script costs, in characters that it changes, and the script."""
    same = SequenceMatcher(None, written, lemma, autojunk=False).find_longest_match()
    if not same.size:
        return len(written) + len(lemma), json.dumps([lemma], ensure_ascii=False)
    before, after = same.a, len(written) - same.a - same.size
    put_on, put_after = lemma[: same.b], lemma[same.b + same.size :]
    cost = before + after + len(put_on) + len(put_after)
    return cost, json.dumps([case, before, put_on, after, put_after], ensure_ascii=False)


def apply_script(script: str, form: str) -> str | None:
    """Return the lemma that a script makes of a word, None where it does not fit the word."""
    steps = json.loads(script)
    if len(steps) == 1:
        return str(steps[0])
    case, before, put_on, after, put_after = steps
    written = CASES[case](form)
    if before + after > len(written):
        return None
    return str(put_on + written[before : len(written) - after] + put_after)


def _shown(value: Any) -> str:
    return repr(value if not isinstance(value, str) or len(value) < 40 else value[:40] + "…")
