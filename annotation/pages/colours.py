"""The label colours of palette.css in words."""

HUES = tuple("blue orange green rose olive violet brick moss sky umber slate teal".split(" "))
PATTERNS = ("solid", "double", "hatched", "battlement", "comb", "beads")


def colour_name(index: int) -> str:
    """Return a colour of the palette as its hue and its pattern: 13 -> orange, hatched."""
    turn, hue = divmod(index, len(HUES))
    return f"{HUES[hue]}, {PATTERNS[(index + turn) % len(PATTERNS)]}"


COLOURS = tuple((i, colour_name(i)) for i in range(len(HUES) * len(PATTERNS)))
