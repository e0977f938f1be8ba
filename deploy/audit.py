"""Looks at what is locked and installed, without a network: `make audit [OSV=folder or all.zip]`.

Every lock has hashes, what is installed is what is locked, and its files are those that came with
it. Known weaknesses are looked up where a copy of the database of osv.dev for PyPI lies (all.zip of
https://osv-vulnerabilities.storage.googleapis.com/PyPI/): there is none in this repository, as it
is new every day. Exits with status 1 if something is found.
"""

import base64
import csv
import hashlib
import json
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).resolve().parent.parent
PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(\[[^\]]*\])?==(?P<version>[^\s;\\]+)", re.MULTILINE)
MADE_LATER = (".pyc", "RECORD", "INSTALLER", "REQUESTED", "direct_url.json")


def locked() -> dict[str, set[str]]:
    """Return the versions of every package that a lock names."""
    found: dict[str, set[str]] = {}
    for path in ROOT.glob("*.lock"):
        for match in PIN.finditer(path.read_text(encoding="utf-8")):
            found.setdefault(canonicalize_name(match["name"]), set()).add(match["version"])
    return found


def without_hashes() -> list[str]:
    """Return the entries of locks that have no hash."""
    return [
        f"{path.name}: {entry.split()[0]} has no hash"
        for path in sorted(ROOT.glob("*.lock"))
        for entry in re.findall(r"^\S.*?(?:\n    .*)*\n", path.read_text(), re.MULTILINE)
        if not entry.startswith("#") and "--hash=sha256:" not in entry
    ]


def differing(pins: dict[str, set[str]]) -> Iterator[str]:
    """Yield what is installed in another version than the locked one."""
    for one in distributions():
        name = canonicalize_name(one.metadata["Name"])
        if name in pins and one.version not in pins[name]:
            yield f"{name} {one.version} is installed, {', '.join(sorted(pins[name]))} is locked"


def changed_files(one: Distribution) -> Iterator[str]:
    """Yield the files of a package that are not those of its record."""
    record = one.read_text("RECORD")
    for name, digest, *_ in csv.reader((record or "").splitlines()):
        path = Path(str(one.locate_file(name)))
        if not digest or name.endswith(MADE_LATER) or not path.exists():
            continue
        kind, _, wanted = digest.partition("=")
        found = base64.urlsafe_b64encode(hashlib.new(kind, path.read_bytes()).digest())
        if found.rstrip(b"=").decode() != wanted:
            yield f"{name} of {one.metadata['Name']} was changed after it was installed"


def weaknesses(place: Path, pins: dict[str, set[str]]) -> Iterator[str]:
    """Yield the known weaknesses of locked versions, by a copy of the database of osv.dev."""
    for entry in _entries(place):
        for affected in entry.get("affected", []):
            name = canonicalize_name(affected.get("package", {}).get("name", ""))
            for version in pins.get(name, ()):
                if not entry.get("withdrawn") and _is_affected(version, affected):
                    yield f"{name} {version}: {entry['id']} {entry.get('summary', '')}".strip()


def _entries(place: Path) -> Iterator[dict[str, Any]]:
    if place.is_dir():
        for path in sorted(place.glob("*.json")):
            yield json.loads(path.read_bytes())
        return
    with zipfile.ZipFile(place) as archive:
        for name in archive.namelist():
            yield json.loads(archive.read(name))


def _is_affected(version: str, affected: dict[str, Any]) -> bool:
    """Return whether a version is listed, or lies between an introduction and its repair."""
    if version in affected.get("versions", ()):
        return True
    try:
        ours = Version(version)
        for spell in affected.get("ranges", ()):
            events = spell["events"] if spell["type"] == "ECOSYSTEM" else ()
            if _is_between(ours, events):
                return True
    except InvalidVersion:
        return False
    return False


def _is_between(ours: Version, events: Iterable[dict[str, str]]) -> bool:
    is_in = False
    for event in events:
        if "introduced" in event:
            is_in = is_in or ours >= Version(event["introduced"])
        elif "fixed" in event:
            is_in = is_in and ours < Version(event["fixed"])
        elif "last_affected" in event:
            is_in = is_in and ours <= Version(event["last_affected"])
    return is_in


def main(arguments: list[str]) -> int:
    """Print what is wrong."""
    pins = locked()
    found = [*without_hashes(), *differing(pins)]
    packages = list(distributions())
    found += [words for one in packages for words in changed_files(one)]
    n_pins = sum(map(len, pins.values()))
    print(f"{n_pins} locked versions, {len(packages)} installed packages compared.")
    if arguments:
        found += sorted(set(weaknesses(Path(arguments[0]), pins)))
        print(f"Known weaknesses looked up in {arguments[0]}.")
    else:
        print("Known weaknesses were not looked up: give a copy of osv.dev's PyPI database.")
    print("\n".join(found) or "Nothing was found.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
