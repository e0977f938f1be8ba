"""The client: all operations of the API, and what is made of several of them."""

import time
from typing import TYPE_CHECKING, Self

from tandem_client.operations import Operations

if TYPE_CHECKING:
    from tandem_client.operations import Job, Round

ENDED = ("done", "failed", "cancelled")
POLL_SECONDS = 0.5


class Client(Operations):
    """One person's client of a server, by the secret of an API token or signed in by password."""

    @classmethod
    def signed_in(cls, address: str, username: str, password: str) -> Self:
        """Return a client in a session of its own; only such a client may make tokens."""
        client = cls(address)
        client.sign_in(username, password)
        return client

    def wait_for_job(self, project_id: int, job_id: int, *, patience: float = 3600.0) -> "Job":
        """Return a job when it is done, failed or cancelled."""
        deadline = time.monotonic() + patience
        while (job := self.job(project_id, job_id))["state"] not in ENDED:
            if time.monotonic() > deadline:
                raise TimeoutError(f"Job {job_id} is still {job['state']}.")
            time.sleep(POLL_SECONDS)
        return job

    def wait_for_round(self, project_id: int, number: int, *, patience: float = 3600.0) -> "Round":
        """Return a round when its asks are open, or when it has failed or was cancelled."""
        deadline = time.monotonic() + patience
        while (found := self.round(project_id, number))["state"] not in ("labelling", *ENDED):
            if time.monotonic() > deadline:
                raise TimeoutError(f"Round {number} is still {found['state']}.")
            time.sleep(POLL_SECONDS)
        return found
