"""What the documentation site takes from outside docs/, and what it makes itself.

The same files are read in the repository and on the site, so links are written as the repository
needs them; here they are turned to where the site has the page.
"""

import posixpath
import re
from pathlib import Path

import yaml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "LICENSE": "LICENSE",
    "tandem_client/README.md": "client.md",
}
RESULTS = "benchmarks/results"
DEPLOY = "deploy"
LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)\s]*)?\))")
OPERATIONS = "<!-- operations -->"
DECISIONS = "<!-- decisions -->"
INCLUDED = re.compile(r"<!-- (deploy/\S+) -->")
METHODS = ("get", "post", "put", "patch", "delete")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and pictures that lie outside docs/."""
    for source in _sources():
        files.append(File.generated(config, _on_site(source), abs_src_path=str(ROOT / source)))
    files.append(File.generated(config, "measured/index.md", content=_results()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links to where the site has their page, and fill in what is generated."""
    uri = page.file.src_uri
    source = next((s for s in _sources() if _on_site(s) == uri), f"docs/{uri}")
    for mark, make in ((OPERATIONS, _operations), (DECISIONS, _decisions)):
        if mark in markdown:
            markdown = markdown.replace(mark, make())
    markdown = INCLUDED.sub(lambda found: (ROOT / found[1]).read_text().rstrip(), markdown)
    return LINK.sub(lambda found: found[1] + _turned(found[2], source, uri) + found[3], markdown)


def _sources() -> list[str]:
    inside = [path for folder in (RESULTS, DEPLOY) for path in (ROOT / folder).iterdir()]
    shown = [path for path in inside if path.is_file()]  # Python leaves folders behind
    return [*OUTSIDE, *sorted(path.relative_to(ROOT).as_posix() for path in shown)]


def _on_site(source: str) -> str:
    """Return the site's path of a file of the repository."""
    if source in OUTSIDE:
        return OUTSIDE[source]
    if source.startswith(RESULTS):
        return "measured" + source.removeprefix(RESULTS)
    return source.removeprefix("docs/")


def _turned(link: str, source: str, uri: str) -> str:
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
    is_shown = target.startswith(("docs/", RESULTS, DEPLOY)) or target in OUTSIDE
    if not is_shown or not (ROOT / target).exists():
        return link  # a strict build then says that it leads nowhere
    page = "measured/index.md" if target == RESULTS else _on_site(target)
    return posixpath.relpath(page, posixpath.dirname(uri) or ".")


def _operations() -> str:
    """Return every operation of the REST API as a table."""
    description = yaml.safe_load((ROOT / "docs" / "openapi.yaml").read_text())
    rows = [
        f"| `{method.upper()}` | `{path}` | {' '.join(operation.get('description', '').split())} |"
        for path, operations in description["paths"].items()
        for method, operation in operations.items()
        if method in METHODS
    ]
    return "\n".join(["| | address | what it does |", "|---|---|---|", *rows])


def _results() -> str:
    return "# Measured\n\n" + _listed(sorted((ROOT / RESULTS).glob("*.md")))


def _decisions() -> str:
    return _listed(sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md")))


def _listed(pages: list[Path]) -> str:
    """Return pages of one folder as a list of links with their titles."""
    titles = [(page.name, page.read_text().partition("\n")[0].lstrip("# ")) for page in pages]
    return "\n".join(f"- [{title}]({name})" for name, title in titles)
