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


def _grep(pattern: str, *paths: str) -> list[str]:
    found = subprocess.run(
        ["git", "grep", "-nIE", pattern, "--", *paths],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return [line for line in found.stdout.splitlines() if "tests/architecture" not in line]


def test_no_file_names_a_path_of_one_machine():
    assert _grep(r"(^|[^a-zA-Z.])/(work|root|home)/", ":!Dockerfile") == []


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
    code = rf"(class|function|const|let|import|export).*\b{word}\b"
    assert _grep(code, "annotation/static/*.js") == []
    assert _grep(r"(class|function|const|let|import|export).*\bSession\b", "annotation/static/*.js")


def test_a_module_called_after_an_activity_is_found():
    assert _activities(["choosing", "training", "leases"]) == ["choosing"]
