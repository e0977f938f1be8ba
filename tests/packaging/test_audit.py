"""The audit of what is locked and installed finds what it should, without a network."""

import json
import zipfile

import pytest

from deploy import audit

ENTRY = {
    "id": "PYSEC-1",
    "summary": "It leaks.",
    "affected": [
        {
            "package": {"name": "Some.Package", "ecosystem": "PyPI"},
            "ranges": [
                {
                    "type": "ECOSYSTEM",
                    "events": [
                        {"introduced": "0"},
                        {"fixed": "1.4"},
                        {"introduced": "2.0"},
                        {"last_affected": "2.3"},
                    ],
                }
            ],
            "versions": ["3.0.post1"],
        }
    ],
}


@pytest.mark.parametrize(
    ("version", "is_weak"),
    [
        *[("1.3.9", True), ("1.4", False), ("1.10", False)],
        *[("2.0", True), ("2.3", True), ("2.3.1", False), ("3.0.post1", True)],
    ],
)
def test_weaknesses_of_a_version_are_found_between_introduction_and_repair(
    tmp_path, version, is_weak
):
    (tmp_path / "PYSEC-1.json").write_text(json.dumps(ENTRY))
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("PYSEC-1.json", json.dumps(ENTRY))
    for place in (tmp_path, tmp_path / "all.zip"):
        found = list(audit.weaknesses(place, {"some-package": {version}}))
        assert found == ([f"some-package {version}: PYSEC-1 It leaks."] if is_weak else [])


def test_withdrawn_warnings_are_none(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({**ENTRY, "withdrawn": "2026-01-01T00:00:00Z"}))
    assert list(audit.weaknesses(tmp_path, {"some-package": {"1.0"}})) == []


def test_entries_without_hashes_and_other_versions_are_found(tmp_path, monkeypatch):
    (tmp_path / "a.lock").write_text(
        "pytest==0.1 \\\n    --hash=sha256:00\nbare==1.0\n", encoding="utf-8"
    )
    monkeypatch.setattr(audit, "ROOT", tmp_path)
    assert audit.without_hashes() == ["a.lock: bare==1.0 has no hash"]
    (words,) = audit.differing(audit.locked())
    assert words.startswith("pytest ")
    assert words.endswith("0.1 is locked")


def test_the_locks_of_this_repository_have_hashes():
    assert audit.without_hashes() == []
    assert len(audit.locked()) > 100
