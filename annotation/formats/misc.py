"""The MISC column of CoNLL-U: ``Name=Value`` pairs joined by ``|``, of which NER= holds tags."""

from collections.abc import Sequence

NER = "NER="


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
