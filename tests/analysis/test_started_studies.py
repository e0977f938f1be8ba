"""Studies that are started in the browser: a form, a job of their own lane, a page with results."""

import re
import shutil

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse
from django.utils import timezone

from analysis.report.statistics import Mean
from analysis.web.models import Study
from analysis.web.selectors import replay_names
from analysis.web.services import (
    run_store,
    run_study,
    shipped_studies,
    start_study,
)
from annotation.errors import Conflict, InvalidInput
from annotation.jobs.services import claim_job, get_job_kind
from annotation.models import Job, Membership, Progress, Queue, Role
from annotation.projects.services import create_project, delete_project

TINY = {
    "name": "tiny",
    "kind": "bandit",
    "seeds": [0],
    "settings": {"n_tasks": 4, "n_steps": 40},
    "factors": {"policy": ["RANDOM", "ORACLE"], "world": [0]},
}


@pytest.fixture
def project(db):
    owner = get_user_model().objects.create_superuser("olga")
    spec = {"name": "Harbour", "tasks": [{"name": "t", "kind": "classes", "labels": ["a", "b"]}]}
    return create_project(spec=spec, owner=owner)


@pytest.fixture
def olga(project):
    return get_user_model().objects.get(username="olga")


def work(job):
    claimed = claim_job(worker="w", now=timezone.now(), lane=get_job_kind("study").lane)
    assert claimed.pk == job.pk
    run_study(claimed, lambda *args: None)
    job.refresh_from_db()


def test_a_study_runs_in_the_lane_of_research_and_is_shown(project, olga, client):
    assert get_job_kind("study").lane == "research"
    job = start_study(project=project, content=TINY, created_by=olga)
    assert claim_job(worker="w", now=timezone.now(), lane="training") is None
    client.force_login(olga)
    waiting = client.get(reverse("job", args=[project.pk, job.pk])).content.decode()
    assert "<h1>Study tiny</h1>" in waiting
    assert f'<a href="{reverse("studies", args=[project.pk])}">Back</a>' in waiting
    work(job)
    assert job.state == Job.State.DONE
    study = Study.objects.get(name="tiny")
    assert (study.n_finished, study.n_wanted) == (2, 2)
    client.force_login(olga)
    gone_to = client.get(reverse("job", args=[project.pk, job.pk]))
    assert gone_to.url == reverse("study", args=[project.pk, study.pk])
    assert "ORACLE" in client.get(gone_to.url).content.decode()


def test_a_stopped_study_goes_on_from_its_page(project, olga, client):
    job = start_study(project=project, content=TINY, created_by=olga)
    work(job)
    study = Study.objects.get(name="tiny")
    address = reverse("study", args=[project.pk, study.pk])
    client.force_login(olga)
    assert "Compute what is missing" not in client.get(address).content.decode()
    key = next(iter(run_store().find_study("tiny", "").runs))[0]
    shutil.rmtree(run_store().directory / "runs" / key)
    assert "Compute what is missing" in client.get(address).content.decode()
    gone_to = client.post(address)
    again = Job.objects.filter(kind="study").order_by("pk").last()
    assert gone_to.url == reverse("job", args=[project.pk, again.pk])
    assert again.arguments == job.arguments
    page = client.get(address).content.decode()
    assert "Compute what is missing" not in page  # it is under way
    assert gone_to.url in page
    work(again)
    assert Study.objects.get().n_finished == 2


def test_a_study_that_cannot_go_on_is_refused_in_words(project, olga, client):
    job = start_study(project=project, content=TINY, created_by=olga)
    work(job)
    address = reverse("study", args=[project.pk, Study.objects.get().pk])
    client.force_login(olga)
    client.post(address)
    page = client.post(address, follow=True).content.decode()
    assert "is running already" in page
    Job.objects.all().delete()
    page = client.post(address, follow=True).content.decode()
    assert "was started elsewhere" in page


def test_who_may_not_start_a_study_does_not_go_on_with_it(project, olga, client):
    curator = get_user_model().objects.create_user("cleo")
    Membership.objects.create(project=project, user=curator, role=Role.CURATOR)
    content = {**TINY, "name": f"replay-{project.pk}"}
    work(start_study(project=project, content=content, created_by=olga))
    address = reverse("study", args=[project.pk, Study.objects.get().pk])
    client.force_login(curator)
    assert client.get(address).status_code == 200
    assert client.post(address).status_code == 403
    assert Job.objects.filter(kind="study").count() == 1


def test_a_report_is_downloaded_and_its_scores_are_written_as_everywhere(project, olga, client):
    work(start_study(project=project, content=TINY, created_by=olga))
    address = reverse("study", args=[project.pk, Study.objects.get().pk])
    client.force_login(olga)
    page = client.get(address).content.decode()
    assert re.search(r">−?\.\d\d\d", page)
    assert not re.search(r">−?0\.\d", page)
    report = client.get(address, {"format": "html"})
    assert report["Content-Disposition"] == 'attachment; filename="tiny.html"'
    assert "<h1>tiny</h1>" in report.content.decode()


def test_changed_settings_make_a_study_of_their_own(project, olga):
    job = start_study(project=project, content=TINY, created_by=olga, changes={"n_steps": 30})
    assert job.arguments["name"] == "tiny-changed"
    with pytest.raises(Conflict):
        start_study(project=project, content=TINY, created_by=olga, changes={"n_steps": 30})
    with pytest.raises(InvalidInput):
        start_study(project=project, content=TINY, created_by=olga, changes={"n_steps": -3})


def test_the_form_starts_a_shipped_study_at_a_scale(project, olga, client):
    client.force_login(olga)
    listed = client.get(reverse("studies", args=[project.pk])).content.decode()
    assert all(name in listed for name in shipped_studies())
    address = reverse("new-study", args=[project.pk, "bandit"])
    page = client.get(address).content.decode()
    assert "n_steps" in page
    assert "set_policy" not in page  # it varies
    started = client.post(address, {"scale": "small", "set_n_steps": "1500"})
    job = Job.objects.get(kind="study")
    assert started.url == reverse("job", args=[project.pk, job.pk])
    assert job.arguments["content"]["scales"]["small"]["settings"]["n_steps"] == 1500


def test_owners_replay_their_project_and_start_nothing_else(project, client):
    owner = get_user_model().objects.create_user("otto")
    Membership.objects.create(project=project, user=owner, role=Role.OWNER)
    client.force_login(owner)
    assert client.get(reverse("new-study", args=[project.pk, "bandit"])).status_code == 404
    address = reverse("new-study", args=[project.pk, "replay"])
    assert client.get(address).status_code == 200
    client.post(address, {"strategies": ["RANDOM", "MT-MAX"], "seeds": "2"})
    job = Job.objects.get(kind="study")
    content = job.arguments["content"]
    assert content["factors"] == {"strategy": ["RANDOM", "MT-MAX"]}
    assert content["settings"]["project"] == project.pk
    assert content["seeds"] == [0, 1]
    assert content["settings"]["amount"] == 1  # nothing is measured yet


def test_a_replay_goes_in_steps_of_a_tenth_of_the_work(project, olga, client):
    project.overlap = 2
    project.save()
    queue = Queue.objects.create(
        project=project, overlap=2, n_asks=0, created_at=timezone.now(), opened_at=timezone.now()
    )
    Progress.objects.create(queue=queue, annotator=olga, n_done=9, seconds=60 * 120)
    client.force_login(olga)
    address = reverse("new-study", args=[project.pk, "replay"])
    assert re.search(r'name="set_amount" value="6"', client.get(address).content.decode())
    client.post(address, {"strategies": ["RANDOM"], "seeds": "1", "set_amount": "6"})
    assert Job.objects.get(kind="study").arguments["name"] == f"replay-{project.pk}"
    assert Job.objects.get(kind="study").arguments["content"]["settings"]["amount"] == 6


def test_a_mean_of_next_to_nothing_has_no_sign():
    assert str(Mean(-1.4e-14, None, None, (-1.4e-14,))) == "0.000"
    assert str(Mean(-0.25, None, None, (-0.25,))) == "-0.250"


def test_members_see_the_replays_of_their_project_alone(project, client):
    curator = get_user_model().objects.create_user("cleo")
    Membership.objects.create(project=project, user=curator, role=Role.CURATOR)
    own = Study.objects.create(name=f"replay-{project.pk}", kind="replay")
    other = Study.objects.create(name=f"replay-{project.pk + 1}", kind="replay")
    client.force_login(curator)
    page = client.get(reverse("studies", args=[project.pk])).content.decode()
    assert own.name in page
    assert other.name not in page
    assert client.get(reverse("study", args=[project.pk, other.pk])).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_replays_of_a_deleted_project_are_gone_with_their_runs(project, olga):
    names = replay_names(project.pk)
    for name in (*names, "another"):
        work(start_study(project=project, content={**TINY, "name": name}, created_by=olga))
    others = {**TINY, "name": "another", "settings": {"n_tasks": 5, "n_steps": 40}}
    work(start_study(project=project, content=others, created_by=olga))
    store = run_store()
    kept = {key for key, _ in store.find_study("another", "").runs}
    delete_project(project=project, actor=olga)
    assert [store.find_study(name, "") for name in names] == [None, None]
    assert list(Study.objects.values_list("name", flat=True)) == ["another"]
    assert {path.name for path in (store.directory / "runs").iterdir()} == kept


@pytest.mark.parametrize("encoder", ["/etc", "team/anything", "../models"])
def test_owners_replay_with_the_encoders_of_rounds_alone(project, client, encoder):
    owner = get_user_model().objects.create_user("otto")
    Membership.objects.create(project=project, user=owner, role=Role.OWNER)
    client.force_login(owner)
    address = reverse("new-study", args=[project.pk, "replay"])
    body = {"strategies": ["RANDOM"], "seeds": "1", "set_encoder": encoder}
    answer = client.post(address, body)
    assert answer.status_code == 400
    assert not Job.objects.filter(kind="study").exists()
    assert client.post(address, {**body, "set_encoder": "tiny"}).status_code == 302
    job = Job.objects.get(kind="study")
    assert job.arguments["content"]["settings"]["encoder"] == "tiny"
