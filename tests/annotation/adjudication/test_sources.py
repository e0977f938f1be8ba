"""What sources of suggestions are worth, measured by people who did not see them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.adjudication.agreement import Score
from annotation.adjudication.suggestion_bias import Compared, judge, measure_sources
from annotation.jobs.insights import start_insight
from annotation.jobs.worker import JobWorker
from annotation.models import Annotation, Ask, Lease, Queue, Sentence, Submission, Suggestion
from annotation.predictions.outside import put_suggestions
from annotation.queue.suggestions import BLIND_ONE_IN
from annotation.rounds.dashboard import suggestion_counts
from tests.annotation.rounds.conftest import (  # noqa: F401  (fixtures)
    import_demo,
    people,
    project,
)

pytestmark = pytest.mark.django_db
START = timezone.now()


@pytest.fixture
def filled(project):  # noqa: F811
    import_demo(project, n=40, labelled=False)
    return project


@pytest.fixture
def task(filled):
    return filled.tasks.get(name="Intent")


def suggest(sentence, task, value, source="llama", *, at=START):
    Suggestion.objects.create(
        sentence=sentence, task=task, value=value, source=source, created_at=at
    )


def submit(made, sentence, person, answer, *, seconds=10.0, is_blind=False, counts=None, at=None):
    """Record a person's answer to the intent of a sentence, as a submission leaves it."""
    at = at or START + timedelta(minutes=1)
    queue, _ = Queue.objects.get_or_create(
        project=made, round=None, is_current=False, overlap=3, defaults={"created_at": START}
    )
    ask = Ask.objects.create(
        queue=queue, sentence=sentence, rank=queue.asks.count() + 1, tasks=["Intent"],
        overlap=3, is_blind=is_blind,
    )  # fmt: skip
    lease = Lease.objects.create(
        ask=ask, project=made, annotator=person, token="t", state="submitted",
        claimed_at=START, expires_at=START,
    )  # fmt: skip
    Submission.objects.create(
        project=made, lease=lease, annotator=person, number=1, key=f"k{ask.pk}",
        request_hash="", counts={}, seconds=seconds, submitted_at=at,
        suggestions={"Intent": counts} if counts else {},
    )  # fmt: skip
    Annotation.objects.create(
        sentence=sentence, task=made.tasks.get(name="Intent"), author=person, value=answer,
        created_at=START, updated_at=START,
    )  # fmt: skip


def report(made, source="llama"):
    return {row.source: row for row in measure_sources(made)}[source]


def test_agreement_counts_those_who_saw_it_and_those_who_did_not_apart(filled, task, people):  # noqa: F811
    a, b = (label.name for label in task.labels.all()[:2])
    sentences = list(Sentence.objects.order_by("id")[:8])
    for sentence in sentences:
        suggest(sentence, task, a)
    seen = {"seen": 1, "accepted": 1, "edited": 0, "rejected": 0, "source": "llama"}
    for sentence in sentences[:2]:
        submit(filled, sentence, people[0], a, counts=seen)
    submit(filled, sentences[2], people[0], b, counts={**seen, "accepted": 0, "edited": 1})
    submit(filled, sentences[3], people[0], a, is_blind=True)
    submit(filled, sentences[4], people[0], b, is_blind=True)
    submit(filled, sentences[5], people[0], b, counts={**seen, "source": "gliner"})
    submit(filled, sentences[6], people[0], b, at=START - timedelta(days=1))  # it came later
    submit(filled, sentences[7], people[0], a)  # nothing recorded: what was drawn was shown
    row = report(filled)
    assert (row.n_suggestions, row.seen, row.accepted, row.edited) == (8, 3, 2, 1)
    assert (row.with_people.n_shown, row.with_people.n_blind) == (4, 4)
    assert row.with_people.shown.value == pytest.approx(3 / 4)
    assert row.with_people.blind.value == pytest.approx(1 / 4)
    assert row.seconds_saved.value is None


def test_seconds_saved_hold_length_and_person_equal(filled, task, people):  # noqa: F811
    label = task.labels.first().name
    seen = {"seen": 1, "accepted": 1, "edited": 0, "rejected": 0, "source": "llama"}
    for number, sentence in enumerate(Sentence.objects.order_by("id")):
        suggest(sentence, task, label)
        is_blind, person = number % 3 == 0, people[number % 2]
        seconds = 2.0 + sentence.n_tokens + 5.0 * (number % 2) + (4.0 if is_blind else 0.0)
        seconds += 0.1 * (number % 5)  # noise
        submit(
            filled, sentence, person, label, seconds=seconds, is_blind=is_blind,
            counts=None if is_blind else seen,
        )  # fmt: skip
    row = report(filled)
    assert (row.n_timed, row.n_timed_blind) == (26, 14)
    assert row.seconds_saved.value == pytest.approx(4.0, abs=0.15)
    assert 3.5 < row.seconds_saved.low < row.seconds_saved.high < 4.5
    assert row.verdict == "helps"
    assert row.reasons == (f"saves {row.seconds_saved.value:.1f} seconds per sentence",)


def test_a_source_that_hurts_is_said_to_hurt_on_the_page_and_by_rest(filled, task, people, client):  # noqa: F811
    a, b = (label.name for label in task.labels.all()[:2])
    seen = {"seen": 1, "accepted": 0, "edited": 1, "rejected": 0, "source": "llama"}
    for number, sentence in enumerate(Sentence.objects.order_by("id")):
        suggest(sentence, task, a)
        is_blind = number % 2 == 0
        submit(
            filled, sentence, people[0], b, seconds=10.0 - 3.0 * is_blind,
            is_blind=is_blind, counts=None if is_blind else seen,
        )  # fmt: skip
    start_insight(project=filled, name="agreement", settings={}, created_by=people[0])
    JobWorker().run_all()
    client.force_login(people[0])
    page = client.get(f"/projects/{filled.pk}/agreement/").content.decode()
    assert '<span class="badge bad">hurts</span>' in page
    assert "say something else more often than not" in page
    answer = client.get(f"/api/projects/{filled.pk}/suggestion-bias/").json()
    (row,) = answer["sources"]
    assert (row["verdict"], row["accepted"], row["edited"]) == ("hurts", 0, 20)
    assert row["with_people"]["blind"]["value"] == 0
    assert row["seconds_saved"]["high"] < 0
    assert "costs 3.0 seconds per sentence" in row["reasons"]


def test_only_what_intervals_show_is_called_a_difference():
    def seen(shown, blind):
        return Compared(shown, blind, 50, 50)

    nothing = Score(None)
    assert judge(seen(nothing, nothing), nothing) == ("not enough to tell", ())
    assert judge(seen(nothing, Score(0.8, 0.7, 0.9)), Score(1.0, -1.0, 3.0)) == (
        "no difference shown", (),
    )  # fmt: skip
    verdict, reasons = judge(seen(Score(0.95, 0.92, 0.98), Score(0.8, 0.7, 0.9)), Score(2, 1, 3))
    assert verdict == "helps"
    assert reasons == (
        "saves 2.0 seconds per sentence", "people who see it follow it where others do not",
    )  # fmt: skip
    assert judge(seen(nothing, Score(0.4, 0.3, 0.49)), Score(2, 1, 3))[0] == "hurts"


def test_before_the_first_round_chance_withholds_outside_suggestions_too(filled, task, people):  # noqa: F811
    label = task.labels.first().name
    ids = list(Ask.objects.filter(queue__project=filled).values_list("sentence_id", flat=True))
    answered = ids[0]
    Ask.objects.filter(sentence=answered).update(n_leases=1)  # somebody has it in hand
    rows = [{"sentence": i, "task": "Intent", "value": label} for i in ids]
    put_suggestions(project=filled, source="llama", rows=rows)
    blind = set(Ask.objects.filter(is_blind=True).values_list("sentence_id", flat=True))
    assert answered not in blind
    assert 0 < len(blind) < len(ids) / BLIND_ONE_IN * 3
    put_suggestions(project=filled, source="gliner", rows=rows)
    assert blind == set(Ask.objects.filter(is_blind=True).values_list("sentence_id", flat=True))


def test_counts_with_and_without_a_source_add_up(filled, task, people):  # noqa: F811
    label = task.labels.first().name
    first, second = Sentence.objects.order_by("id")[:2]
    submit(filled, first, people[0], label, counts={"seen": 1, "accepted": 1})
    submit(filled, second, people[0], label, counts={"seen": 2, "accepted": 1, "source": "llama"})
    counts = suggestion_counts(filled)
    assert (counts["seen"], counts["accepted"]) == (3, 2)
