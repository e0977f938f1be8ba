"""A typist who knows the right answers and the page's keys: which keys lead from what is shown to
what is right, without detours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Typist:
    """Keys pressed so far, and where the cursor is."""

    n_words: int
    label_keys: Mapping[str, Mapping[str, str]]  # task -> label -> key
    prefixes: Mapping[str, str]  # tree label -> letters that single it out
    keys: list[str] = field(default_factory=list)
    cursor: int = 0

    def press(self, *keys: str) -> None:
        """Press keys in order."""
        self.keys += keys

    def go(self, word: int) -> None:
        """Move the cursor by the fewest keys."""
        by = word - self.cursor
        ways = [
            ["ArrowRight"] * by if by >= 0 else ["ArrowLeft"] * -by,
            ["Home", *["ArrowRight"] * word],
            ["End", *["ArrowLeft"] * (self.n_words - 1 - word)],
        ]
        self.press(*min(ways, key=len))
        self.cursor = word

    def spans(self, task: str, wanted: Sequence[Any], shown: Sequence[Any]) -> None:
        """Make, relabel and delete spans; shown ones are own answers already."""
        for start, end, label in wanted:
            if [start, end, label] in shown:
                continue
            self.go(start)
            self.press(*["Shift+ArrowRight"] * (end - start - 1), self.label_keys[task][label])
            self.cursor = end - 1
        kept = {(start, end) for start, end, _ in wanted}
        for start, end, _ in shown:
            if (start, end) not in kept:
                self.go(start)
                self.press("ArrowDown", "Backspace")

    def tree(self, wanted: Sequence[Any], shown: Sequence[Any]) -> None:
        """Hang every word that does not hang right yet; root first."""
        for dep, (head, label) in sorted(enumerate(wanted), key=lambda arc: arc[1][0] != 0):
            if shown and shown[dep] == [head, label]:
                continue
            if head == 0:
                self.go(dep)
                self.press("h", "h")
                continue
            self.go(head - 1)
            self.press("h")
            self.go(dep)
            keeps_label = shown and shown[dep] and shown[dep][1] == label and shown[dep][0] != 0
            self.press("Enter", *([] if keeps_label else self.prefixes[label]), "Enter")

    def relations(self, task: str, wanted: Sequence[Any], shown: Sequence[Any]) -> None:
        """Link spans that are not linked yet."""
        for s1, _, s2, _, label in [link for link in wanted if link not in shown]:
            self.go(s1)
            self.press("r")
            self.go(s2)
            self.press(self.label_keys[task][label])

    def answer(self, gold: Mapping[str, Any], suggested: Mapping[str, Any]) -> list[str]:
        """Return all keys for one sentence: take the suggestions, mend them, submit."""
        if suggested:
            self.press(*["Shift+A"] * sum(1 for value in suggested.values() if value))
        self.spans("Entities", gold["Entities"], suggested.get("Entities", []))
        if gold["Topic"] != suggested.get("Topic"):
            self.press(self.label_keys["Topic"][gold["Topic"]])
        self.tree(gold["Syntax"], suggested.get("Syntax", []))
        self.relations("Relations", gold["Relations"], suggested.get("Relations", []))
        self.press("Enter")
        return self.keys
