"""The queue as one would explain it to a child: lists, sets and no cleverness."""

from dataclasses import dataclass, field


@dataclass
class ModelLease:
    state: str  # live, returned, submitted, skipped, reopened
    token: str
    expires: int  # minute


@dataclass
class ModelAsk:
    rank: int
    overlap: int
    sentence: int
    leases: dict[str, ModelLease] = field(default_factory=dict)  # by person

    def people(self, *states):
        return {name for name, lease in self.leases.items() if lease.state in states}

    @property
    def answers(self):
        return self.people("submitted", "reopened")

    @property
    def has_room(self):
        return len(self.answers) + len(self.people("live")) < self.overlap


class ModelQueue:
    """Asks of the current queue and of earlier ones, and the minutes of a lease."""

    def __init__(self, minutes):
        self.minutes = minutes
        self.queues = []

    @property
    def asks(self):
        return self.queues[-1] if self.queues else []

    @property
    def every_ask(self):
        return [ask for queue in self.queues for ask in queue]

    def put(self, sentences, overlap):
        """Swap a queue in; whoever skipped a sentence before has skipped it for good."""
        asks = [ModelAsk(rank, overlap, sentence) for rank, sentence in enumerate(sentences, 1)]
        for ask in asks:
            for earlier in self.every_ask:
                if earlier.sentence == ask.sentence:
                    for person in earlier.people("skipped"):
                        ask.leases[person] = ModelLease("skipped", "", 0)
        self.queues.append(asks)

    def held(self, person, now):
        """Return what next/ hands back: reopened answers in time, else a live lease."""
        mine = [ask for ask in self.every_ask if person in ask.leases]
        reopened = [
            ask
            for ask in mine
            if ask.leases[person].state == "reopened" and ask.leases[person].expires > now
        ]
        live = [ask for ask in mine if ask.leases[person].state == "live"]
        return (reopened or live or [None])[0]

    def next(self, person, now):
        """Return the ask a person is given; the caller notes the token if it is a new lease."""
        held = self.held(person, now)
        if held is not None:
            held.leases[person].expires = now + self.minutes
            return held, False
        if not self.queues:
            return None, False
        for ask in self.every_ask:
            for lease in ask.leases.values():
                if lease.state == "live" and lease.expires <= now:
                    lease.state = "returned"
        for ask in self.asks:
            finished = ask.people("submitted", "reopened", "skipped")
            if ask.has_room and person not in finished:
                ask.leases[person] = ModelLease("live", "", now + self.minutes)
                return ask, True
        return None, False

    def submit(self, ask, person, token):
        """Return whether the answer is taken."""
        lease = ask.leases[person]
        is_taken = lease.token == token and (
            lease.state in ("live", "reopened") or (lease.state == "returned" and ask.has_room)
        )
        if is_taken:
            lease.state = "submitted"
        return is_taken

    def skip(self, ask, person, token):
        """Return whether the skip is taken."""
        lease = ask.leases[person]
        if lease.token != token or lease.state not in ("live", "skipped"):
            return False
        lease.state = "skipped"
        return True

    def release(self, ask, person, token):
        """Return whether the release is taken."""
        lease = ask.leases[person]
        if lease.token != token:
            return False
        lease.state = {"live": "returned", "reopened": "submitted"}.get(lease.state, lease.state)
        return True

    def renew(self, ask, person, token, now):
        """Return whether the heartbeat is taken."""
        lease = ask.leases[person]
        if lease.token != token:
            return False
        holds_another = any(
            other is not ask and other.leases.get(person) and other.leases[person].state == "live"
            for other in self.every_ask
        )
        if lease.state == "returned" and ask.has_room and not holds_another:
            lease.state = "live"
        if lease.state not in ("live", "reopened"):
            return False
        lease.expires = now + self.minutes
        return True

    def reopen(self, ask, person, token, now):
        """Put submitted answers back into their author's hands, with a new token."""
        for other in self.every_ask:
            lease = other.leases.get(person)
            if other is not ask and lease and lease.state == "reopened":
                lease.state = "submitted"
        lease = ask.leases[person]
        lease.state, lease.token, lease.expires = "reopened", token, now + self.minutes

    def left(self, person):
        """Return how many asks are open and not finished by a person."""
        return sum(
            1
            for ask in self.asks
            if len(ask.answers) < ask.overlap
            and person not in ask.people("submitted", "reopened", "skipped")
        )
