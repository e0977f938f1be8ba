"""Whatever people do, in whatever order, the queue does what its slow model does."""

import random

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from annotation.models import Ask, Lease, Queue, Submission
from annotation.queue.asks import AskRow, put_asks
from annotation.queue.leases import LeaseLost, release_lease, renew_lease, reopen, skip
from annotation.queue.selectors import count_queue, get_lease
from tests.annotation.queue.conftest import Desk, minutes, new_project
from tests.annotation.queue.queue_model import ModelQueue

NAMES = ("a", "b", "c")
N_SENTENCES = 6
MAX_QUEUES = 2
LEASE_MINUTES = 15
ANSWER = {"topic": "travel"}

people = st.sampled_from(NAMES)
back = st.integers(0, 5)  # how long ago something was served


class QueueMachine(RuleBasedStateMachine):
    """Runs each verb on the database and on the model, and compares."""

    def __init__(self):
        super().__init__()
        self.transaction = transaction.atomic()
        self.transaction.__enter__()
        self.desk = Desk(new_project(N_SENTENCES))
        self.users = {name: self.desk.person(name) for name in NAMES}
        self.sentences = list(self.desk.project.sentences.order_by("id"))
        self.model = ModelQueue(LEASE_MINUTES)
        self.now = 0
        self.seen = []  # (model ask, person, lease as served): also the stale ones
        self.model_of = {}  # ask id -> model ask

    def teardown(self):
        transaction.set_rollback(True)
        self.transaction.__exit__(None, None, None)

    @initialize(overlap=st.integers(1, 2))
    def put_the_first_queue(self, overlap):
        self.put(range(N_SENTENCES), overlap)

    @precondition(lambda self: len(self.model.queues) < MAX_QUEUES and len(self.seen) > 5)
    @rule(order=st.permutations(range(N_SENTENCES)), overlap=st.integers(1, 3))
    def swap_the_queue(self, order, overlap):
        self.put(order[:3], overlap)

    def put(self, order, overlap):
        rows = [AskRow(self.sentences[i].pk, ["topic"]) for i in order]
        queue = put_asks(
            project=self.desk.project, round=None, rows=rows, overlap=overlap, now=minutes(self.now)
        )
        self.model.put(order, overlap)
        for ask, model_ask in zip(queue.asks.order_by("rank"), self.model.asks, strict=True):
            self.model_of[ask.pk] = model_ask

    @rule(n=st.sampled_from([1, 8, LEASE_MINUTES]))
    def time_passes(self, n):
        self.now += n

    @rule(person=people)
    def take_and_submit(self, person):
        before = len(self.seen)
        self.take_the_next(person)
        if len(self.seen) > before:
            self.submit_as_served(*self.seen[-1])

    @rule(person=people, other=people, back=back)
    def somebody_is_late(self, person, other, back):
        self.take_the_next(person)
        self.time_passes(LEASE_MINUTES)
        self.take_the_next(other)
        if self.seen:
            self.submit_as_served(*self.served(back))

    def served(self, back):
        return self.seen[-1 - back % len(self.seen)]

    @rule(person=people)
    def take_the_next(self, person):
        served = self.desk.take(self.users[person], minutes(self.now))
        ask, is_new = self.model.next(person, self.now)
        if ask is None:
            assert served is None
            return
        assert served is not None
        assert self.model_of[served["ask"]["id"]] is ask
        if is_new:
            ask.leases[person].token = served["token"]
        assert served["token"] == ask.leases[person].token
        assert served["expires_at"] == minutes(self.now + LEASE_MINUTES)
        self.seen.append((ask, person, served))

    @precondition(lambda self: self.seen)
    @rule(back=back)
    def submit_something_served(self, back):
        self.submit_as_served(*self.served(back))

    def submit_as_served(self, ask, person, served):
        expected = self.model.submit(ask, person, served["token"])
        user = self.users[person]
        assert expected == self.accepts(lambda: self.desk.submit(user, served, ANSWER))

    @precondition(lambda self: self.seen)
    @rule(back=back)
    def skip_something_served(self, back):
        ask, person, served = self.served(back)
        expected = self.model.skip(ask, person, served["token"])
        lease = get_lease(self.users[person], served["id"])
        token = served["token"]
        assert expected == self.accepts(
            lambda: skip(lease=lease, token=token, reason="odd", now=minutes(self.now))
        )

    @precondition(lambda self: self.seen)
    @rule(back=back)
    def release_something_served(self, back):
        ask, person, served = self.served(back)
        expected = self.model.release(ask, person, served["token"])
        lease = get_lease(self.users[person], served["id"])
        assert expected == self.accepts(lambda: release_lease(lease=lease, token=served["token"]))

    @precondition(lambda self: self.seen)
    @rule(back=back)
    def send_a_heartbeat(self, back):
        ask, person, served = self.served(back)
        expected = self.model.renew(ask, person, served["token"], self.now)
        lease = get_lease(self.users[person], served["id"])
        now, token = minutes(self.now), served["token"]
        assert expected == self.accepts(lambda: renew_lease(lease=lease, token=token, now=now))

    @precondition(lambda self: any(ask.people("submitted") for ask in self.model.every_ask))
    @rule(i=st.integers(0, 20))
    def reopen_an_answer(self, i):
        submitted = [
            (ask_id, person)
            for ask_id, ask in self.model_of.items()
            for person in sorted(ask.people("submitted"))
        ]
        ask_id, person = submitted[i % len(submitted)]
        submission = Submission.objects.select_related("lease__project").filter(
            lease__ask=ask_id, annotator=self.users[person]
        )
        lease = reopen(submission=submission.latest("id"), now=minutes(self.now))
        token = Lease.objects.get(pk=lease).token
        self.model.reopen(self.model_of[ask_id], person, token, self.now)

    @staticmethod
    def accepts(verb):
        try:
            with transaction.atomic():
                verb()
        except LeaseLost:
            return False
        return True

    @invariant()
    def every_counter_agrees(self):
        for ask in Ask.objects.filter(queue__project=self.desk.project):
            model_ask = self.model_of[ask.pk]
            assert ask.n_answers == len(model_ask.answers) <= ask.overlap
            assert ask.n_leases == len(model_ask.people("live"))
            assert ask.is_open == (len(model_ask.answers) < ask.overlap)

    @invariant()
    def what_is_left_agrees(self):
        for name, user in self.users.items():
            assert count_queue(self.desk.project.pk, user.pk)["left"] == self.model.left(name)

    @invariant()
    def one_queue_is_current(self):
        n_current = Queue.objects.filter(project=self.desk.project, is_current=True).count()
        assert n_current == bool(self.model.queues)


@pytest.mark.django_db
def test_the_queue_does_what_its_slow_model_does():
    run_state_machine_as_test(
        QueueMachine,
        settings=settings(
            max_examples=25,
            stateful_step_count=30,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def random_step(machine, rng):
    """Run one verb, the frequent ones more often, with the checks that follow every step."""
    one, other, back = rng.choice(NAMES), rng.choice(NAMES), rng.randrange(6)
    verbs = [
        (6, lambda: machine.take_the_next(one)),
        (2, lambda: machine.take_and_submit(one)),
        (2, lambda: machine.time_passes(rng.choice([1, 8, LEASE_MINUTES]))),
    ]
    if machine.seen:
        verbs += [
            (2, lambda: machine.somebody_is_late(one, other, back)),
            (3, lambda: machine.submit_something_served(back)),
            (1, lambda: machine.skip_something_served(back)),
            (1, lambda: machine.release_something_served(back)),
            (2, lambda: machine.send_a_heartbeat(back)),
        ]
    if any(ask.people("submitted") for ask in machine.model.every_ask):
        verbs.append((1, lambda: machine.reopen_an_answer(rng.randrange(20))))
    weights, calls = zip(*verbs, strict=True)
    rng.choices(calls, weights)[0]()
    machine.every_counter_agrees()
    machine.what_is_left_agrees()


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(6))
def test_long_random_walks_do_the_same(seed):
    rng = random.Random(seed)
    machine = QueueMachine()
    try:
        for _ in range(3):
            order = rng.sample(range(N_SENTENCES), k=rng.choice([4, N_SENTENCES]))
            machine.put(order, overlap=rng.choice([1, 1, 2, 3]))
            for _ in range(40):
                random_step(machine, rng)
    finally:
        machine.teardown()
