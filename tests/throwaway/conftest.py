"""The kind of the test, registered for as long as a test runs."""

import pytest
from hypothesis import strategies as st

from mtl_engine.kinds import KINDS, TaskSpec
from tests.annotation.rounds.conftest import people, project, work  # noqa: F401  (fixtures)
from tests.contract import kind_samples
from tests.throwaway.stars import STARS, StarsKind


@pytest.fixture(autouse=True)
def _stars(monkeypatch):
    kind = StarsKind()
    monkeypatch.setitem(KINDS, kind.name, kind)
    sample = kind_samples.Sample(
        TaskSpec("rating", "stars", STARS), lambda m: st.sampled_from(STARS), (None, 3, "6", ["1"])
    )
    monkeypatch.setitem(kind_samples.SAMPLES, kind.name, sample)
