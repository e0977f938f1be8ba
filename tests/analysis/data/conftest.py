"""A project with a queue, and people who answered it."""

from tests.annotation.queue.conftest import ann, ben, desk  # noqa: F401  (fixtures)
