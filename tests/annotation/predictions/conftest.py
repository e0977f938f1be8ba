"""A project with a round's model."""

import pytest

from annotation.rounds.services import launch_round
from tests.annotation.rounds.conftest import (  # noqa: F401  (fixtures)
    TINY,
    import_demo,
    people,
    project,
    work,
)


@pytest.fixture
def trained(project, people, work):  # noqa: F811
    """Return a project with a round's model, 60 sentences of gold and 30 without an answer."""
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=30, labelled=False, first=60)
    launch_round(project=project, changes=TINY, created_by=people[0])
    work()
    assert project.rounds.get().state == "labelling"
    return project
