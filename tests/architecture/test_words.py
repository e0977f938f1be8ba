"""The repository speaks of the product alone, and modules are nouns of the field."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("annotation", "analysis", "mtl_engine", "config", "tandem_client")

# Activities that the field itself names so; any other module is called after a thing.
FIELD_TERMS = {
    "batching",
    "early_stopping",
    "fitting",
    "scoring",
    "smoothing",
    "staging",
    "training",
}
OLD_WORDS = (
    *("Laboratory", "FeatureWorld", "Judge", "Purchase", "Bought", "yardstick"),
    *("standing_still", "storable_text", "fairness", "asides", "feature_worlds", "regret"),
    *("class Offer", "for_sale"),
)
OLD_SCRIPT_WORDS = ("Desk", "Hands", "talk", "elsewhere", "parcels?")


OLD_SCRIPT_CODE = r"(class|function|const|let|import|export).*\b{word}\b"
PATH_OF_ONE_MACHINE = r"(^|[^a-zA-Z.])/(work|root|home)/"


def _grep(pattern: str, *paths: str, root: Path = ROOT) -> list[str]:
    found = subprocess.run(
        ["git", "grep", "-nIE", pattern, "--", *paths],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    return [line for line in found.stdout.splitlines() if "tests/architecture" not in line]


@pytest.fixture
def one_file(tmp_path):
    """Return a function that makes a repository with one file and returns its folder."""

    def make(text: str) -> Path:
        (tmp_path / "file.py").write_text(text)
        for words in (["init", "--quiet"], ["add", "file.py"]):
            subprocess.run(["git", *words], cwd=tmp_path, check=True)
        return tmp_path

    return make


def test_no_file_names_a_path_of_one_machine():
    assert _grep(PATH_OF_ONE_MACHINE, ":!Dockerfile") == []


@pytest.mark.parametrize("line", ["/work/ann", "see /home/ann/x", "HOME=/root/.tandem"])
def test_a_path_of_one_machine_is_found(one_file, line):
    assert _grep(PATH_OF_ONE_MACHINE, root=one_file(f"{line}\nhttps://tandem.test/work/\n")) == [
        f"file.py:1:{line}"
    ]


@pytest.mark.parametrize("word", OLD_WORDS)
def test_an_old_word_is_found(one_file, word):
    assert len(_grep(rf"\b{word}\b", root=one_file(f"a = 1\n{word} = 2\n"))) == 1


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("Desk", "export class Desk {"),
        ("talk", 'import { talk } from "./talk.js";'),
        ("parcels?", "const parcel = 1;"),
    ],
)
def test_an_old_word_of_scripts_is_found(one_file, word, line):
    found = _grep(OLD_SCRIPT_CODE.format(word=word), root=one_file(f"// talk of a Desk\n{line}\n"))
    assert found == [f"file.py:2:{line}"]


def _activities(names: list[str]) -> list[str]:
    return [name for name in names if name.endswith("ing") and name not in FIELD_TERMS]


def test_modules_are_called_after_things():
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    files = [path for path in files if "migrations" not in path.parts]
    assert len(files) > 300
    assert _activities([path.stem for path in files]) == []


@pytest.mark.parametrize("word", OLD_WORDS)
def test_a_word_that_the_field_does_not_use_stays_away(word):
    assert _grep(rf"\b{word}\b", *(f"{package}/*.py" for package in PACKAGES)) == []


@pytest.mark.parametrize("word", OLD_SCRIPT_WORDS)
def test_a_word_that_the_field_does_not_use_stays_away_from_scripts(word):
    assert _grep(OLD_SCRIPT_CODE.format(word=word), "annotation/static/*.js") == []


def test_a_module_called_after_an_activity_is_found():
    assert _activities(["choosing", "training", "leases"]) == ["choosing"]
