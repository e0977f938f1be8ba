"""Six people do the same thing at the same moment: each succeeds or is refused in words."""

import threading

import pytest
from django.db import connection
from django.utils import timezone

from analysis.insights.models import Quote
from analysis.insights.quote.kept import keep_quote
from annotation.accounts.access import MAX_FAILURES_PER_NAME
from annotation.accounts.services import may_try_password
from annotation.adjudication.services import decide
from annotation.corpora.corrections import correct_words
from annotation.errors import Refused
from annotation.models import (
    Flag,
    Gold,
    Label,
    Project,
    Role,
    SentenceVersion,
    Suggestion,
    WorkGroup,
)
from annotation.predictions.outside import put_suggestions
from annotation.projects.labels import add_labels
from annotation.projects.services import add_task, create_project
from annotation.queue.asks import ask_everything
from annotation.queue.groups import save_group
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


def test_one_group_is_changed_by_all_and_one_is_made(desk):
    project, owner = desk.project, desk.person("owner", Role.OWNER)
    values = {"project": project, "people": ["owner"], "actor": owner, "tasks": ["topic"]}
    group = save_group(name="first", **values)
    assert faults(at_once(lambda i: save_group(name="first", group=group, **values))) == []
    assert (group.members.count(), group.assignments.count()) == (1, 1)
    outcomes = at_once(lambda i: save_group(name="second", **values))
    assert faults(outcomes) == []
    assert WorkGroup.objects.filter(name="second").count() == 1


def test_suggestions_of_one_source_and_corrections_of_one_sentence(desk):
    project, sentence = desk.project, desk.project.sentences.first()
    row = {"sentence": sentence.pk, "task": "topic", "value": "travel"}
    outcomes = at_once(lambda i: put_suggestions(project=project, source="llm", rows=[row, row]))
    assert faults(outcomes) == []
    assert Suggestion.objects.filter(sentence=sentence, source="llm").count() == 1
    at = {"start": 0, "end": 1, "forms": ["Anew"], "seen": sentence.tokens}
    now = timezone.now()
    outcomes = at_once(lambda i: correct_words(sentence=sentence, actor=None, now=now, **at))
    assert faults(outcomes) == []
    assert SentenceVersion.objects.count() == 1


def test_one_quote_is_kept_once(desk):
    hours = {"middle": 2.0, "low": 1.0, "high": 3.0}
    row = {"task": "topic", "target": 0.9, "n_labelled": 4, "hours": hours}
    found = {"tasks": [row], "hours": hours, "round": 1, "spent_hours": 0.5}
    kept = {"project": desk.project, "found": found, "created_by": None, "now": timezone.now()}
    for _ in range(2):  # the second time meets what the first one kept
        assert faults(at_once(lambda i: keep_quote(**kept))) == []
    assert Quote.objects.count() == 1


def test_of_many_guesses_no_more_are_looked_at_than_of_guesses_one_by_one(desk):
    now = timezone.now()
    tries = [{"name": "ann", "address": "10.0.0.1", "now": now}] * 4
    allowed = at_once(lambda i: [may_try_password(**one) for one in tries])
    assert faults(allowed) == []
    assert sum(map(sum, allowed)) <= MAX_FAILURES_PER_NAME < 4 * N
