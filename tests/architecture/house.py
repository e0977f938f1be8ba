"""Reading a source tree: who imports whom, who writes rows, who speaks SQL.

Nothing is imported: the sources are parsed, so that imports inside functions, under TYPE_CHECKING
and by a string are seen like those at the top of a module.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

WIRING = ("urls",)  # names every view; stands above all rooms
DOORS = ("pages", "api", "selectors", "forms")  # translate and read, never write
# What each kind of furniture may not ask for; "" is a module with a name of its own.
ABOVE = {
    "pages": ("api",),
    "api": ("pages", "forms"),
    "forms": ("pages", "api", "services"),
    "services": ("pages", "api", "forms"),
    "": ("pages", "api", "forms"),
    "selectors": ("pages", "api", "forms", "services"),
    "models": ("pages", "api", "forms", "services", "selectors"),
}
ALWAYS_WRITE = {
    *("save", "delete", "create", "bulk_create", "bulk_update", "get_or_create"),
    *("update_or_create", "select_for_update", "acreate", "adelete", "asave", "aupdate"),
}
RELATED_WRITE = {"add", "remove", "set", "clear"}  # of related managers, and of sets and dicts
SQL = {"execute", "executemany", "executescript", "raw", "extra", "cursor", "copy"}
SQL_NAMES = {"RawSQL"}


def sources(root: Path, package: str) -> list[Path]:
    """Return the modules of a package; migrations and what catalogues bring aside."""
    files = sorted((root / package).rglob("*.py"))
    return [path for path in files if not {"migrations", "locale"} & set(path.parts)]


def nodes(path: Path) -> list[ast.AST]:
    """Return all that a file says that the rules are about: imports, calls, strings."""
    return _nodes(path.read_text())


@cache
def _nodes(text: str) -> list[ast.AST]:
    kinds = (ast.Import, ast.ImportFrom, ast.Call, ast.Constant)
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]


def with_content(root: Path, package: str) -> list[Path]:
    """Return the modules of a package but for markers, which hold one line at most."""
    return [path for path in sources(root, package) if len(path.read_text().splitlines()) > 1]


def imported_names(path: Path, root: Path, *, strings: bool = True) -> Iterator[tuple[str, int]]:
    """Yield every module or member that a file imports, wherever in the file, with the line."""
    package = path.relative_to(root).with_suffix("").parts[:-1]
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((f"{module}.{alias.name}", node.lineno) for alias in node.names)
        elif strings and isinstance(node, ast.Constant) and _is_dotted(node.value):
            yield str(node.value), node.lineno


def imports_of(root: Path, package: str, forbidden: tuple[str, ...]) -> list[str]:
    """Return where a package imports one of the forbidden packages."""
    return [
        f"{path.relative_to(root)}:{line} imports {name}"
        for path in sources(root, package)
        for name, line in imported_names(path, root)
        if name.split(".")[0] in forbidden
    ]


def room_edges(root: Path, package: str) -> dict[tuple[str, str], list[str]]:
    """Return which room of a package needs which other one, and where."""
    edges: dict[tuple[str, str], list[str]] = {}
    for path in sources(root, package):
        parts = path.relative_to(root).with_suffix("").parts
        room = parts[-1] if parts[-1] in WIRING else parts[1]
        for name, line in imported_names(path, root):
            of = name.split(".")
            if of[0] != package or len(of) < 2:
                continue
            needed = of[2] if len(of) > 2 and of[2] in WIRING else of[1]
            if needed != room and _exists(root / package, needed):
                where = f"{path.relative_to(root)}:{line}"
                edges.setdefault((room, needed), []).append(where)
    return edges


def cycles(edges: Mapping[tuple[str, str], object]) -> list[list[str]]:
    """Return the groups of rooms in which each needs every other one, by way of some of them."""
    reached = {room: {room} for edge in edges for room in edge}
    for _ in reached:
        for room, needed in edges:
            reached[room] |= reached[needed]
    groups = {
        tuple(sorted(other for other in found if room in reached[other]))
        for room, found in reached.items()
    }
    return sorted(list(group) for group in groups if len(group) > 1)


def upward_imports(root: Path, package: str) -> list[str]:
    """Return where a module imports one that stands above it, as a selector a service."""
    return [
        f"{path.relative_to(root)}:{line} imports {name}"
        for path in sources(root, package)
        if path.stem not in (*WIRING, "apps")
        for name, line in imported_names(path, root)
        if _furniture(_module(name, root)) in ABOVE[_furniture(path.relative_to(root))]
    ]


def loose_modules(root: Path, package: str) -> set[str]:
    """Return the modules of a package that lie in none of its rooms."""
    return {path.stem for path in (root / package).glob("*.py")} - {"__init__"}


def writes(root: Path, package: str) -> list[str]:
    """Return where pages, REST views, forms or selectors change rows themselves."""
    return [
        f"{path.relative_to(root)}:{node.lineno} {ast.unparse(node.func)}"
        for path in sources(root, package)
        if _is_door(path.relative_to(root))
        for node in nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if _writes(node, node.func) or _speaks_sql(node)
    ]


def raw_sql(root: Path, package: str, allowed: tuple[str, ...]) -> list[str]:
    """Return where SQL is written by hand outside the places that may."""
    return [
        f"{path.relative_to(root)}:{node.lineno} {ast.unparse(node.func)}"
        for path in sources(root, package)
        if not path.relative_to(root).as_posix().startswith(allowed)
        for node in nodes(path)
        if isinstance(node, ast.Call) and _speaks_sql(node)
    ]


def _is_dotted(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[a-z_]+(\.\w+){2,}", value) is not None


def _exists(package: Path, room: str) -> bool:
    is_wiring = room in WIRING
    return is_wiring or (package / room).is_dir() or (package / f"{room}.py").exists()


def _module(name: str, root: Path) -> Path:
    """Return the file in which an imported name stands, an empty path for other packages."""
    parts = name.split(".")
    places = (Path(*parts[:length]) for length in range(len(parts), 0, -1))
    files = (file for place in places for file in (place.with_suffix(".py"), place / "__init__.py"))
    return next((file for file in files if (root / file).is_file()), Path())


def _furniture(path: Path) -> str:
    names = (path.stem, *path.parts[:-1])
    kinds = (kind for kind in ABOVE if kind and any(_is_called(name, kind) for name in names))
    return next(kinds, "")


def _is_door(path: Path) -> bool:
    names = (path.stem, *path.parts)
    return any(_is_called(name, door) for name in names for door in DOORS)


def _is_called(name: str, kind: str) -> bool:
    return name == kind or name.endswith(f"_{kind}")


def _writes(call: ast.Call, name: ast.Attribute) -> bool:
    if name.attr in ALWAYS_WRITE:
        return True
    if name.attr == "update":  # a query's takes keywords alone, a dict's a dict
        return bool(call.keywords) and not call.args and all(k.arg for k in call.keywords)
    is_member = isinstance(name.value, ast.Attribute)  # project.tasks.add(...), not names.add(...)
    return name.attr in RELATED_WRITE and is_member


def _speaks_sql(call: ast.Call) -> bool:
    if isinstance(call.func, ast.Name):
        return call.func.id in SQL_NAMES
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in SQL:
        return False
    target = ast.unparse(call.func.value)
    return "cursor" in target or "connection" in target or call.func.attr in ("raw", "extra")
