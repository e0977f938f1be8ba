import pytest

from analysis.data.project import project_fingerprint, read_times, replay_fingerprint
from annotation.models import Submission
from annotation.queue.selectors import sentence_seconds

pytestmark = pytest.mark.django_db


def test_the_seconds_of_a_sentence_are_what_its_people_took_on_average(desk, ann):
    desk.submit(ann, desk.take(ann), seconds=30.0)
    (submission,) = Submission.objects.select_related("lease__ask")
    sentence = submission.lease.ask.sentence_id
    assert sentence_seconds(desk.project) == {sentence: 30.0}
    prices = read_times(desk.project.pk, [])
    assert prices.seconds == {sentence: 30.0}
    assert prices.model.n_events == 1


def test_time_away_from_work_does_not_count(desk, ann):
    desk.submit(ann, desk.take(ann), seconds=30.0)
    Submission.objects.update(seconds=7200.0)
    assert sentence_seconds(desk.project) == {}


def test_other_measured_times_make_another_replay_and_the_same_active_learning(desk, ann):
    desk.submit(ann, desk.take(ann), seconds=30.0)
    number = desk.project.pk
    labels, replay = project_fingerprint(number), replay_fingerprint(number)
    assert replay_fingerprint(number) == replay
    Submission.objects.update(seconds=60.0)
    assert project_fingerprint(number) == labels
    assert replay_fingerprint(number) != replay
