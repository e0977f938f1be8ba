"""What the queue says no with: a code for programs and a message for people."""

from typing import Any

from annotation.errors import Conflict, Refused


class LeaseLost(Conflict):
    """The place was given to somebody else, or the token is an old one."""

    code = "lease_lost"

    def __init__(self, message: str, **details: Any) -> None:
        self.details = details
        super().__init__(message)


class StaleDraft(Conflict):
    """Another tab has saved a newer draft."""

    code = "stale_draft"

    def __init__(self, **details: Any) -> None:
        self.details = details
        super().__init__(
            "Another window saved this draft after you: compare the two, then save again with a "
            "higher version."
        )


class Adjudicated(Conflict):
    """A curator has decided on these answers."""

    code = "adjudicated"

    def __init__(self) -> None:
        super().__init__(
            "A curator has decided on this sentence since you answered it, so your answers can no "
            "longer be changed. Flag the sentence to say what is wrong."
        )


class KeyReused(Refused):
    """An Idempotency-Key came back with another request."""

    code = "key_reused"

    def __init__(self, key: str) -> None:
        super().__init__(
            f"The Idempotency-Key '{key}' was used for another request. Make a new key for each "
            "new answer, and repeat the same body only with the same key."
        )
