"""Static files under names that change with their content, imports between scripts included."""

import re
from collections.abc import Callable
from typing import Any

from whitenoise.storage import CompressedManifestStaticFilesStorage

# Whole lines of comment. They are an eighth of what the annotate page would weigh.
COMMENT = re.compile(r"^[ \t]*(?://.*|/\*(?:[^*]|\*(?!/))*\*/)[ \t]*$", re.MULTILINE)
_LEFT_OUT = "left out"


class StaticStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Compressed files that a browser may keep for ever.

    Scripts import each other by hashed names too; otherwise each would be fetched twice, once for
    the preload and once, stale for a minute, for the import. Comments of our own scripts stay at
    home; line numbers stay as they are.
    """

    support_js_module_import_aggregation = True
    max_post_process_passes = 30  # more than the longest chain of imports
    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        ("annotation/*.js", ((f"(?m){COMMENT.pattern}", _LEFT_OUT),)),
    )

    def url_converter(
        self, name: str, hashed_files: dict[str, str], template: str | None = None
    ) -> Callable[[re.Match[str]], Any]:
        """Return what replaces a match: nothing for a comment, a hashed name for an address."""
        if template == _LEFT_OUT:
            return lambda comment: "\n" * comment.group().count("\n")
        replace: Callable[[re.Match[str]], Any] = super().url_converter(
            name, hashed_files, template
        )
        return replace
