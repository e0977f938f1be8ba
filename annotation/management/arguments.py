"""Arguments that several commands share."""

from collections.abc import Sequence

from annotation.errors import Refused


def read_mapping(pairs: Sequence[str]) -> dict[str, str]:
    """Return the layer of each task from TASK=LAYER arguments."""
    for pair in pairs:
        if "=" not in pair:
            raise Refused(f"--map {pair}: write TASK=LAYER.")
    return dict(pair.split("=", 1) for pair in pairs)
