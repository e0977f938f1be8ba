"""The rules that hold for the sentences of every format."""

from collections.abc import Iterator

from annotation.formats.opening import Source
from annotation.formats.records import Problem, SentenceRecord, Unreadable

Item = SentenceRecord | Problem


def checked(items: Iterator[Item], source: Source) -> Iterator[Item]:
    """The items, with a problem instead of each sentence that no format may hold.

    Ids must differ within a file, sentences have 1 to ``sentence_tokens`` tokens, a file has at
    least one sentence, and after ``problems`` problems reading stops.
    """
    limits = source.options.limits
    seen: set[int] = set()  # hashes: a million ids as strings would not be flat memory
    n_items = n_problems = 0
    try:
        for item in items:
            n_items += 1
            if isinstance(item, SentenceRecord):
                message = _fault(item, limits.sentence_tokens, seen)
                if message is None:
                    yield item
                    continue
                item = source.problem(item.line, message)
            yield item
            n_problems += 1
            if n_problems >= limits.problems:
                yield source.problem(item.line, f"{n_problems} problems; the rest was not read")
                return
    except Unreadable as stop:
        yield stop.problem
        return
    if not n_items:
        yield source.problem(1, "no sentence in the file; is it empty, or of another format?")


def _fault(record: SentenceRecord, most: int, seen: set[int]) -> str | None:
    if not record.tokens:
        return f"a sentence without tokens, {record.text[:40]!r}; remove it"
    if len(record.tokens) > most:
        return (
            f"a sentence of {len(record.tokens):,} tokens, at most {most:,} are allowed; "
            "split it into sentences"
        )
    if record.key:
        before = len(seen)
        seen.add(hash(record.key))
        if len(seen) == before:
            return f"id {record.key!r} occurs a second time in this file; ids must differ"
    return None
