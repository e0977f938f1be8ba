"""A typist who knows the right answers and the page's keys, and looks at what the page proposes."""

from collections.abc import Mapping, Sequence
from typing import Any

from playwright.sync_api import Page

CURSOR = "Number(document.querySelector('.word[data-cursor]').dataset.word)"
RANGE = "[...document.querySelectorAll('.word[data-range]')].map((w) => Number(w.dataset.word))"
BEFORE = "document.querySelector('.similar button')?.textContent ?? null"
PROPOSED = """[...document.querySelectorAll("#proposals .proposal[data-head]")].map((row) => (
  { key: row.querySelector("kbd").textContent, head: Number(row.dataset.head),
    label: row.dataset.label }))"""
KNOWN = "document.querySelectorAll('.word[data-known]').length"
OPTIONS = "[...document.querySelectorAll('.chooser [role=option]')].map((o) => o.dataset.label)"


class Typist:
    """Hands on the keyboard of one page; every key is counted."""

    def __init__(self, page: Page, label_keys: Mapping[str, Mapping[str, str]]) -> None:
        self.page, self.label_keys = page, label_keys
        self.n_keys = 0

    def press(self, *keys: str) -> None:
        """Press keys in order."""
        for key in keys:
            self.page.keyboard.press(key)
        self.n_keys += len(keys)

    def answer(self, gold: Mapping[str, Any], suggested: Mapping[str, Any]) -> None:
        """Answer one sentence: take all suggestions, mend what is wrong in them, add the rest."""
        if suggested:
            self.press("Shift+Enter")
        tabs = self.page.locator(".task-tab:not([disabled]) b").all_text_contents()
        for i, task in enumerate(tabs):
            value, shown = gold[task], suggested.get(task)
            if value == shown or (value == [] and not shown):
                continue
            if isinstance(value, str):
                self.choose(task, value)
                continue
            self.open(tabs, i)
            if value and len(value[0]) == 2:
                self.tree(task, value, shown)
            elif value and len(value[0]) == 5:
                self.relations(task, value, shown or [])
            else:
                self.spans(task, value, shown or [])

    def open(self, tabs: Sequence[str], i: int) -> None:
        """Open a task by Tab."""
        current = self.page.locator(".task-tab[aria-current] b").text_content()
        steps = i - tabs.index(current or "")
        self.press(*["Tab" if steps > 0 else "Shift+Tab"] * abs(steps))

    def choose(self, task: str, label: str) -> None:
        """Choose a class by its digit, or from the list."""
        key = self.label_keys[task][label]
        if key:
            self.press(key)
        else:
            self.press("0")
            self._pick(label)

    def go(self, word: int) -> None:
        """Move the cursor by the fewest keys."""
        by = word - self.page.evaluate(CURSOR)
        n = self.page.locator(".word").count()
        ways = [
            ["ArrowRight"] * by if by >= 0 else ["ArrowLeft"] * -by,
            ["Home", *["ArrowRight"] * word],
            ["End", *["ArrowLeft"] * (n - 1 - word)],
        ]
        self.press(*min(ways, key=len))

    def label(self, task: str, name: str) -> None:
        """Give a label by its key, or by the list."""
        key = self.label_keys[task][name]
        if key:
            self.press(key)
        else:
            self.press("/")
            self._pick(name)

    def spans(self, task: str, wanted: Sequence[Any], shown: Sequence[Any]) -> None:
        """Make, relabel and delete spans; first those whose words had a label before."""
        missing = [span for span in wanted if span not in shown]
        last = -1
        while missing and self.page.evaluate(KNOWN):
            if not self.page.evaluate(RANGE):
                self.press(".")
            words = self.page.evaluate(RANGE)
            if not words or words[0] <= last:
                self.press("Escape")
                break
            last = words[0]
            found = [span for span in missing if span[:2] == [words[0], words[-1] + 1]]
            if not found:
                self.press(".")
                continue
            missing.remove(found[0])
            if self.page.evaluate(BEFORE) == found[0][2]:
                self.press("a")
            else:
                self.label(task, found[0][2])
        for start, end, name in missing:
            self.go(start)
            self.press(*["Shift+ArrowRight"] * (end - start - 1))
            self.label(task, name)
        kept = {(start, end) for start, end, _ in wanted}
        for start, end, _ in shown:
            if (start, end) not in kept:
                self.go(start)
                self.press("ArrowDown", "Backspace")

    def tree(self, task: str, wanted: Sequence[Any], shown: Sequence[Any] | None) -> None:
        """Hang every word that does not hang right yet; the cursor goes on by itself."""
        wrong = [i for i, arc in enumerate(wanted) if not shown or shown[i] != arc]
        while wrong:
            at = self.page.evaluate(CURSOR)
            if at not in wrong:
                self.go(wrong[0])
                at = wrong[0]
            self.attach(task, *wanted[at])
            wrong.remove(at)

    def attach(self, task: str, head: int, label: str) -> None:
        """Say the head and label of the word under the cursor."""
        if head == 0:
            self.press("0")
            return
        rows = self.page.evaluate(PROPOSED)
        row = next((row for row in rows if row["head"] == head), None)
        is_known = row is not None and row["label"] == label
        key = self.label_keys[task][label]
        if not is_known and (key or (row is not None and row["label"])):
            self.label(task, label)
        if row is not None:
            self.press(row["key"])
        else:
            self.press("h")
            self.go(head - 1)
            self.press("Enter")
        if self.page.locator(".chooser").count():
            self._pick(label)

    def relations(self, task: str, wanted: Sequence[Any], shown: Sequence[Any]) -> None:
        """Link spans that are not linked yet."""
        for s1, _, s2, _, label in [link for link in wanted if link not in shown]:
            self.go(s1)
            self.press("r")
            self.go(s2)
            self.press(self.label_keys[task][label])

    def _pick(self, label: str) -> None:
        """Type until the label is the first of the list, then take it."""
        for letter in f"{label} ":
            if self.page.evaluate(OPTIONS)[:1] == [label]:
                break
            self.press(letter)
        self.press("Enter")
