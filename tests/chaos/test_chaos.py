"""The short version of ``make chaos``, and the same without kills but with a broken queue."""

import json
import threading

import pytest

from benchmarks.chaos import Chaos
from benchmarks.history import History, Served, Stored, violations
from tandem_client import Client

pytestmark = pytest.mark.xdist_group("chaos")


@pytest.mark.timeout(300)
def test_nothing_is_lost_or_doubled_when_the_server_is_killed(server):
    chaos = Chaos(server, n_sentences=40, n_kills=4, seed=3)
    assert chaos.run() == []
    assert len(chaos.kills) == 4
    assert set(chaos.kills) == {"worker", "all"}
    assert len(chaos.history.sent) == 80


def serve_one_to_each(server, n_people):
    """Let n people take one ask each at the same moment; return what they saw and the outcome."""
    made = server.make_project(sentences=30, annotators=n_people)
    server.start()
    history, ready = History(), threading.Barrier(n_people)

    def take(number, token):
        client = Client(f"http://127.0.0.1:{server.port}", token)
        ready.wait()
        ask = client.next(made["project"])["ask"]
        history.served.append(Served(f"annotator-{number}", ask["id"], ask["rank"]))
        client.close()

    people = [threading.Thread(target=take, args=pair) for pair in enumerate(made["tokens"])]
    for person in people:
        person.start()
    for person in people:
        person.join()
    return history, Stored.from_rows(json.loads(server.run("benchmarks.queue_contents")))


@pytest.mark.timeout(300)
def test_people_who_take_at_once_are_served_exactly_the_top_of_the_ranking(server):
    history, stored = serve_one_to_each(server, 12)
    assert violations(history, stored, is_drained=False) == []
    assert sorted(lease.rank for lease in history.served) == list(range(1, 13))


@pytest.mark.timeout(300)
def test_the_checker_sees_through_a_queue_that_looks_before_it_takes(server):
    server.settings["DJANGO_SETTINGS_MODULE"] = "tests.chaos.broken_settings"
    history, stored = serve_one_to_each(server, 12)
    broken = violations(history, stored, is_drained=False)
    assert any("in the hands of" in line for line in broken)
