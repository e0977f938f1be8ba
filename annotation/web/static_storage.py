"""Static files under names that change with their content; scripts of a page in bundles."""

import re
from collections.abc import Callable, Iterator, Sequence
from posixpath import dirname, join, normpath
from typing import Any

from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

from mtl_engine.kinds import KINDS

IMPORT = re.compile(r'^import\s+(?:(?P<names>[^"]+?)\s+from\s+)?"(?P<path>[^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(
    r"^export (?P<what>(?:async )?function\*?|class|const) (?P<name>\w+)", re.MULTILINE
)
UNKNOWN = re.compile(r"^(?:export\b(?! (?:(?:async )?function|class|const)\b)|.*\bimport\()", re.M)
START = "const $m = {};\nconst $late = [];\nconst $bind = () => $late.forEach((bind) => bind());\n"

Read = Callable[[str], str]

# Whole lines of comment. They are an eighth of what the annotate page would weigh.
COMMENT = re.compile(r"^[ \t]*(?://.*|/\*(?:[^*]|\*(?!/))*\*/)[ \t]*$", re.MULTILINE)
_LEFT_OUT = "left out"
APP = "annotation/annotate/app.js"
KINDS_FOLDER = "annotation/annotate/kinds"
STYLES = (
    *("tokens", "palette", "base", "components", "cards", "forms"),
    "annotate/sentence/sentence",
    *(f"annotate/styles/{name}" for name in ("frame", "labels", "panels", "drawer", "narrow")),
)
JOINED_SCRIPT = "annotation/annotate/joined.js"
JOINED_STYLE = "annotation/annotate/joined.css"


def page_styles() -> list[str]:
    """Return the style sheets of the annotate page, in their order."""
    return [f"annotation/{name}.css" for name in STYLES]


def page_scripts() -> list[str]:
    """Return the scripts that the annotate page begins with: each kind of task, then the page."""
    return [*(f"{KINDS_FOLDER}/{kind.name}.js" for kind in KINDS.annotated()), APP]


def has_joined_files() -> bool:
    """Return whether static files are served as collected, and so with the joined ones."""
    return isinstance(staticfiles_storage, StaticStorage)


def _joined(paths: dict[str, Any]) -> dict[str, str]:
    def read(name: str) -> str:
        storage, path = paths[name]
        with storage.open(path) as file:
            text: str = file.read().decode()
        return text

    return {
        JOINED_SCRIPT: COMMENT.sub("", join_scripts(page_scripts(), read)),
        JOINED_STYLE: join_styles(page_styles(), read),
    }


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

    def post_process(
        self, paths: dict[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[tuple[str, str | None, Any]]:
        """Add the joined files of pages with many scripts, then hash and compress everything."""
        if not dry_run and APP in paths:
            for name, text in _joined(paths).items():
                if self.exists(name):
                    self.delete(name)
                self.save(name, ContentFile(text.encode()))
                paths[name] = (self, name)
        yield from super().post_process(paths, dry_run, **options)

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


def join_scripts(entries: Sequence[str], read: Read) -> str:
    """Return one script that does what these scripts do when a page loads them in this order."""
    done: dict[str, int] = {}
    parts = [START]
    for entry in entries:
        for path in _in_order(entry, read, done):
            parts.append(_wrapped(path, read(path), done))
    return "\n".join(parts)


def join_styles(paths: Sequence[str], read: Read) -> str:
    """Return style sheets one after the other; none of them may point to other files."""
    texts = [read(path) for path in paths]
    for path, text in zip(paths, texts, strict=True):
        if "url(" in text or "@import" in text:
            raise ValueError(f"{path} points to another file: leave it out of the joined sheet.")
    return "\n".join(texts)


def _in_order(path: str, read: Read, done: dict[str, int]) -> Iterator[str]:
    """Yield a script's modules as they are evaluated: what a module imports comes before it."""
    if path in done:
        return
    done[path] = len(done)
    for found in IMPORT.finditer(read(path)):
        yield from _in_order(_resolved(path, found["path"]), read, done)
    yield path


def _wrapped(path: str, text: str, numbers: dict[str, int]) -> str:
    if unknown := UNKNOWN.search(text):
        raise ValueError(f"{path}: cannot join a script with '{unknown.group()[:40]}'.")
    binds, declared = [], []
    for found in IMPORT.finditer(text):
        module = f"$m[{numbers[_resolved(path, found['path'])]}]"
        names = (found["names"] or "").strip()
        if names.startswith("* as "):
            declared.append(names.removeprefix("* as "))
            binds.append(f"{declared[-1]} = {module};")
        elif names:
            pairs = [part.split(" as ") for part in names.strip("{} \n,").split(",")]
            named = [(pair[0].strip(), pair[-1].strip()) for pair in pairs]
            declared += [local for _, local in named]
            fields = ", ".join(f"{name}: {local}" for name, local in named)
            binds.append(f"({{ {fields} }} = {module} ?? {{}});")
    exported = [found["name"] for found in EXPORT.finditer(text)]
    body = EXPORT.sub(r"\g<what> \g<name>", IMPORT.sub("", text))
    head = f"let {', '.join(declared)};\n$late.push(() => {{ {' '.join(binds)} }});\n$bind();\n"
    return (
        f"$m[{numbers[path]}] = (() => {{\n{head if declared else ''}{body}\n"
        f"return {{ {', '.join(exported)} }};\n}})();\n$bind();"
    )


def _resolved(path: str, target: str) -> str:
    return normpath(join(dirname(path), target))
