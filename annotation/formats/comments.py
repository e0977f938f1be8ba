"""Comment lines ``# name = value`` above a sentence, as CoNLL-U and SLU-CoNLL have them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from annotation.formats.columns import describe
from annotation.formats.records import CannotWrite, ExportRecord

# Places in a template: comments that are rebuilt from the sentence and so are not stored.
KEY, TEXT, INTENT = 0, 1, 2
_PLACES = {"sent_id": KEY, "text": TEXT, "intent": INTENT}
_NAMES = {place: name for name, place in _PLACES.items()}

Template = list[int | str]  # places, and all other comment lines as they are


@dataclass(slots=True)
class Comments:
    """What the comments of a sentence say; ``document`` is None if they do not begin one."""

    template: Template = field(default_factory=list)
    values: dict[int, str] = field(default_factory=dict)
    document: str | None = None
    annotator: str = ""
    n_lines: int = 0


def read_comments(lines: Sequence[str]) -> Comments:
    """The meaning and the order of comment lines."""
    found = Comments(n_lines=len(lines))
    for line in lines:
        name, equals, value = line[1:].partition(" = ")
        place = _PLACES.get(name[1:]) if equals and name[:1] == " " else None
        if place is not None and value and place not in found.values:
            found.values[place] = value
            found.template.append(place)
            continue
        found.template.append(line)
        if line.startswith("# newdoc"):
            found.document = value if name == " newdoc id" else ""
        elif name == " annotator":
            found.annotator = value
            found.template.pop()
    return found


def write_comments(
    record: ExportRecord,
    template: Template,
    values: dict[int, str | None],
    document: str,
    *,
    added: Sequence[int],
) -> list[str]:
    """The comment lines of a sentence; ``document`` is the one that the sentence before was in.

    A place without a value is left out. A value of ``added`` that the template has no place for
    comes last.
    """
    lines = []
    if record.annotator:
        lines.append(f"# annotator = {record.annotator}")
    begins = any(isinstance(item, str) and item.startswith("# newdoc") for item in template)
    if record.sentence.document != document and not begins:
        name = record.sentence.document
        lines.append(f"# newdoc id = {name}" if name else "# newdoc")
    missing = [place for place in added if place not in template]
    for item in [*template, *missing]:
        if isinstance(item, str):
            lines.append(item)
        elif values.get(item):
            lines.append(f"# {_NAMES[item]} = {values[item]}")
    if any("\n" in line or line[-1:] == "\r" for line in lines):
        raise CannotWrite(
            f"{describe(record)}: a line end in its id, text or class, which a comment cannot "
            "hold; write jsonl instead"
        )
    return lines
