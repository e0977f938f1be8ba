"""The small project of the rounds' tests, and their worker."""

from tests.annotation.rounds.conftest import now, people, project, work

__all__ = ["now", "people", "project", "work"]
