"""Where in a TOML text a problem lies, for messages such as ``project.toml:12: ...``."""

import re
from collections.abc import Sequence

SYNTAX_ERROR = re.compile(r"at line (\d+)")


def line_of(text: str, path: str, message: str = "") -> int:
    """Return the line of a field such as "tasks.1.labels.0", or of a syntax error; 1 if unknown."""
    stated = SYNTAX_ERROR.search(message)
    if stated and not path:
        return int(stated[1])
    lines = text.splitlines()
    start, parts = _table_of(lines, path.split("."))
    for part in parts:
        for number in range(start, len(lines)):
            line = lines[number].strip()
            if number > start and line.startswith("[[tasks]]"):
                break
            if re.match(rf"[\"']?{re.escape(part)}[\"']?\s*=|\[tasks\.{re.escape(part)}\b", line):
                return number + 1
    return start + 1


def _table_of(lines: Sequence[str], parts: list[str]) -> tuple[int, list[str]]:
    """Return the first line of the task a path is about, and the rest of the path."""
    if len(parts) < 2 or parts[0] != "tasks":
        return 0, parts
    headers = [i for i, line in enumerate(lines) if line.strip().startswith("[[tasks]]")]
    index = int(parts[1])
    return (headers[index] if index < len(headers) else 0), parts[2:]
