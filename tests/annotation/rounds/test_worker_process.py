"""Rounds from import to replay with a real worker process, which is also killed at every stage."""

import io
import json
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from annotation.demo.services import TRAVEL_DESK, corpus_lines
from annotation.errors import Conflict
from annotation.models import Ask, Membership, Role, Round, Submission
from annotation.queue.leases import claim_next
from annotation.queue.selectors import describe_lease, get_lease
from annotation.queue.submissions import Work, submit
from annotation.rounds.dashboard import dashboard
from annotation.rounds.services import launch_round
from tests.annotation.rounds.conftest import TINY, import_demo
from tests.annotation.rounds.worker_process import kill_at, wait_for, working

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(1800)]
MINUTES = {**TINY, "unit": "minutes", "amount": 4, "test_size": 16, "decision": "BLP"}


@pytest.fixture
def gold():
    """What each sentence of the demo is truly labelled, by its words."""
    rows = map(json.loads, corpus_lines(TRAVEL_DESK, first=0, last=200, labelled=True))
    return {tuple(row["tokens"]): row["labels"] for row in rows}


def answer(project, person, gold, n=10_000):
    """Answer up to n asks truly, and return their ranks in the order they were served."""
    ranks = []
    while len(ranks) < n:
        now = timezone.now()
        lease_id = claim_next(project=project, annotator_id=person.pk, now=now)
        if lease_id is None:
            break
        lease = describe_lease(lease_id)
        truth = gold[tuple(lease["sentence"]["tokens"])]
        submit(
            lease=get_lease(person, lease_id),
            token=lease["token"],
            work=Work(answers={name: truth[name] for name in lease["ask"]["tasks"]}, seconds=6.0),
            key=f"key-{lease_id}",
            request_hash=f"{lease_id:064d}",
            now=now,
        )
        ranks.append(lease["ask"]["rank"])
    return ranks


def at_once(calls):
    """Return what the calls return, begun together, each in a thread of its own."""
    barrier = threading.Barrier(len(calls))

    def run(call):
        barrier.wait()
        try:
            return call()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def test_three_people_and_a_worker_go_from_import_to_two_rounds_that_replay(project, people, gold):
    import_demo(project, n=200, labelled=False, first=0)
    with working() as worker:
        for number in (1, 2, 3):
            launched = launch_round(project=project, changes=MINUTES, created_by=people[0])
            wait_for(launched, worker, "labelling")
            assert launched.number == number
            assert launched.stages["training"]["is_seed"] == (number == 1)
            assert launched.stages["scoring"]["unit"] == "seconds"
            assert launched.stages["selecting"]["cost"] <= 4 * 60
            served = at_once([lambda p=p: answer(project, p, gold) for p in people])
            n_asks = Ask.objects.filter(queue__round=launched).count()
            assert sorted(chain(*served)) == list(range(1, n_asks + 1))
    in_rounds = Ask.objects.filter(queue__round__isnull=False)
    assert Submission.objects.count() == in_rounds.count()
    curves = dashboard(project)["curves"]
    assert {curve["task"] for curve in curves} == {"Slots", "Intent"}
    for curve in curves:
        assert [point["round"] for point in curve["chosen"]] == [2, 3]
        assert all(0 <= point["score"] <= 1 for point in curve["chosen"])
    for number in (2, 3):
        out = io.StringIO()
        call_command("replay_round", number, project=str(project.pk), stdout=out)
        assert "replays to the same" in out.getvalue()


def test_a_round_whose_worker_is_killed_at_every_stage_comes_to_its_end(project, people):
    import_demo(project, n=120, labelled=True)
    import_demo(project, n=200, labelled=False, first=120)
    config = {**TINY, "epochs": 3, "amount": 80, "confidence": "dropout"}
    launched = launch_round(project=project, changes=config, created_by=people[0])
    for stage in ("training", "scoring", "selecting"):
        assert kill_at(launched, stage) == stage
    assert set(launched.stages) == {"training", "scoring"}
    with working() as worker:
        wait_for(launched, worker, "labelling")
    assert launched.n_resumed == 3
    assert Ask.objects.filter(queue__round=launched, queue__is_current=True).count() == 80
    call_command("replay_round", launched.pk, stdout=io.StringIO())


@pytest.mark.any_database
def test_what_a_killed_machine_finished_another_one_does_not_do_again(
    project, people, s3, tmp_path, monkeypatch
):
    monkeypatch.setenv("TANDEM_STORE", f"{s3}/{uuid.uuid4().hex}")
    import_demo(project, n=120, labelled=True)
    import_demo(project, n=200, labelled=False, first=120)
    config = {**TINY, "epochs": 3, "amount": 80, "confidence": "dropout"}
    launched = launch_round(project=project, changes=config, created_by=people[0])
    homes = [tmp_path / name for name in ("first", "second", "third")]
    for home in homes:
        home.mkdir()
    for stage, home in zip(("scoring", "selecting"), homes, strict=False):
        assert kill_at(launched, stage, home) == stage
    finished, files = dict(launched.stages), dict(launched.files)
    assert set(finished) == {"training", "scoring"}
    with working(homes[-1]) as worker:
        wait_for(launched, worker, "labelling")
    assert {stage: launched.stages[stage] for stage in finished} == finished
    assert {name: launched.files[name] for name in files} == files
    assert Ask.objects.filter(queue__round=launched, queue__is_current=True).count() == 80


def test_two_launches_at_once_make_one_round(project, people):
    import_demo(project, n=60, labelled=True)

    def launch():
        try:
            return launch_round(project=project, changes=TINY, created_by=None)
        except Conflict as refusal:
            return refusal

    ends = at_once([launch, launch])
    assert sorted(type(end).__name__ for end in ends) == ["Conflict", "Round"]
    assert "at a time" in str(next(end for end in ends if isinstance(end, Conflict)))
    assert Round.objects.count() == 1


def test_four_people_at_once_are_served_the_top_of_the_ranking(project, people, gold, work):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=100, labelled=False, first=60)
    fourth = type(people[0]).objects.create_user("dia")
    Membership.objects.create(project=project, user=fourth, role=Role.ANNOTATOR)
    launched = launch_round(project=project, changes={**TINY, "amount": 40}, created_by=None)
    work()
    everybody = [*people, fourth]
    served = at_once([lambda p=p: answer(project, p, gold, n=4) for p in everybody])
    assert sorted(chain(*served)) == list(range(1, 17))
    assert all(ranks == sorted(ranks) for ranks in served)
    asked = Ask.objects.filter(queue__round=launched).order_by("rank")
    chosen = [ask["sentence"] for ask in Round.objects.get(pk=launched.pk).manifest["asks"]]
    assert list(asked.values_list("sentence_id", flat=True)) == chosen
