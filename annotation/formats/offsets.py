"""Between tokens and characters: offsets are code points, and nothing is ever shifted to fit."""

from collections.abc import Sequence

from annotation.formats.records import Offsets


class Misaligned(ValueError):
    """Tokens or spans that do not lie where the text has them; ``index`` is the first such."""

    def __init__(self, index: int, message: str) -> None:
        super().__init__(message)
        self.index = index


def join_tokens(tokens: Sequence[str]) -> tuple[str, Offsets]:
    """The tokens with one space between them, and where each then lies."""
    offsets = []
    at = 0
    for token in tokens:
        end = at + len(token)
        offsets.append([at, end])
        at = end + 1
    return " ".join(tokens), offsets


def locate_tokens(tokens: Sequence[str], text: str) -> Offsets:
    """Where each token lies in the text, with nothing but white space between; or Misaligned."""
    offsets = []
    at = 0
    for index, token in enumerate(tokens):
        start = text.find(token, at)
        if start == at or (start == at + 1 and text[at] == " "):
            pass
        elif start < 0 or text[at:start].strip():
            raise Misaligned(
                index, f"token {token!r} is not in the text at character {at}, which goes on "
                f"{text[at : at + 20]!r}"
            )  # fmt: skip
        at = start + len(token)
        offsets.append([start, at])
    if at < len(text) and text[at:].strip():
        raise Misaligned(
            len(tokens) - 1, f"the text goes on after the last token with {text[at : at + 20]!r}"
        )
    return offsets
