"""Six people do the same thing at the same moment: each succeeds or is refused in words."""

import threading

import pytest
from django.db import connection
from django.utils import timezone

from annotation.accounts.access import MAX_FAILURES_PER_NAME
from annotation.accounts.services import may_try_password
from annotation.adjudication.services import decide
from annotation.errors import Refused
from annotation.models import Flag, Gold, Label, Project, Role
from annotation.projects.labels import add_labels
from annotation.projects.services import add_task, create_project
from annotation.queue.asks import ask_everything
from annotation.queue.history import flag_sentence
from tests.annotation.queue.conftest import ANSWERS, Desk, new_project

pytestmark = pytest.mark.django_db(transaction=True)
N = 6
TASK = {"name": "Mood", "kind": "classes", "labels": ["good", "bad"]}


@pytest.fixture
def desk():
    project = new_project(n_sentences=N)
    project.tasks.filter(name="topic").update(is_open=True)
    ask_everything(project=project)
    return Desk(project)


def at_once(act):
    """Do something N times at the same moment; return what came out of each."""
    start, outcomes = threading.Barrier(N), []

    def run(i):
        start.wait()
        try:
            outcomes.append(act(i))
        except Exception as error:  # noqa: BLE001  (whatever it is, the test looks at it)
            outcomes.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(N)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def faults(outcomes):
    return [o for o in outcomes if isinstance(o, Exception) and not isinstance(o, Refused)]


def test_answers_with_one_new_label(desk):
    people = [desk.person(f"p{i}") for i in range(N)]
    leases = [desk.take(person) for person in people]
    answers = {**ANSWERS, "topic": "brand new"}
    outcomes = at_once(lambda i: desk.submit(people[i], leases[i], answers))
    assert [o for o in outcomes if isinstance(o, Exception)] == []
    assert Label.objects.filter(task__name="topic", name="brand new").count() == 1


def test_one_decision_flag_label_task_and_project(desk):
    project, sentence = desk.project, desk.project.sentences.first()
    curator = desk.person("curator", Role.CURATOR)
    now = timezone.now()
    task = project.tasks.get(name="topic")

    def all_of_them(i):
        flag_sentence(sentence=sentence, author=curator, comment="odd", now=now)
        decide(
            project=project, sentence=sentence, answers={"topic": "travel"},
            decided_by=curator, now=now,
        )  # fmt: skip
        add_labels(task=task, names=["x", "y"])

    assert [o for o in at_once(all_of_them) if o is not None] == []
    assert Flag.objects.count() == 1
    assert Gold.objects.filter(task=task).get().version == N
    assert Label.objects.filter(task=task, name__in=["x", "y"]).count() == 2
    owner = desk.person("owner")
    spec = {"name": "New", "tasks": [TASK]}
    outcomes = at_once(lambda i: create_project(spec=spec, owner=owner))
    assert faults(outcomes) == []
    assert Project.objects.filter(name="New").count() == 1
    outcomes = at_once(lambda i: add_task(project=project, task=TASK))
    assert faults(outcomes) == []
    assert project.tasks.filter(name="Mood").count() == 1


def test_the_first_imports_of_a_project_make_one_queue():
    project = new_project(n_sentences=N, name="Fresh")
    outcomes = at_once(lambda i: ask_everything(project=project))
    assert faults(outcomes) == []
    assert [queue.n_asks for queue in project.queues.all()] == [N]


def test_of_many_guesses_no_more_are_looked_at_than_of_guesses_one_by_one(desk):
    now = timezone.now()
    tries = [{"name": "ann", "address": "10.0.0.1", "now": now}] * 4
    allowed = at_once(lambda i: [may_try_password(**one) for one in tries])
    assert faults(allowed) == []
    assert sum(map(sum, allowed)) <= MAX_FAILURES_PER_NAME < 4 * N
