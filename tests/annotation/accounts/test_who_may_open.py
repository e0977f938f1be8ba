"""Who may open which page, and that pages keep to the content security policy."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from analysis.sweep.store import StudyRecord
from analysis.web.services import index_study, run_store
from analysis.web.urls import PAGES as study_pages
from annotation.accounts.services import invite
from annotation.jobs.services import enqueue_job
from annotation.models import Job, Membership, Role, Round
from annotation.queue.groups import save_group
from annotation.rounds.settings import RoundSettings
from annotation.web.urls import PAGES

pytestmark = pytest.mark.any_database

OPEN_TO_ALL = {"sign-in", "sign-in-link", "invitation", "theme", "language", "sign-out"}
OPEN_TO_ALL |= {"sign-in-code", "single-sign-on", "single-sign-on-back"}  # see test_sign_in_steps
OPEN_TO_THE_SIGNED_IN = {"projects", "account", "set-password", "second-step", "new-project"}
OWN = {"end-token", "disconnect-sign-on"}  # of the person alone: see test_credentials
OWN |= {"change-mail", "confirm-address"}  # see test_mails
SERVER = {"people", "change-account", "server-log"}  # of admins alone: see test_credentials
FOR_ANNOTATORS = "overview annotate standing"
FOR_CURATORS = (
    "data sentence import export job job-progress cancel-job job-file"
    " rounds round round-status dashboard-data adjudicate review inbox agreement advice team"
    " studies study papers compute-insight suspects quote"
)
FOR_OWNERS = (
    "settings delete-project tasks new-task edit-task end-task labels new-labels members"
    " change-member"
    " apply-proposal withdraw plan-round cancel-round retry-round round-defaults working-styles log"
    " delete-corpus delete-sentence delete-answers project-state group quota new-study"
    " webhooks change-webhook"
)
ADMIN = "admin"
FOR_ADMINS = "let-in"
NEEDED = {
    **dict.fromkeys(FOR_ANNOTATORS.split(), Role.ANNOTATOR),
    **dict.fromkeys(FOR_CURATORS.split(), Role.CURATOR),
    **dict.fromkeys(FOR_OWNERS.split(), Role.OWNER),
    **dict.fromkeys(FOR_ADMINS.split(), ADMIN),
}
POSTED = set(
    "cancel-job delete-project end-task new-labels change-member withdraw let-in cancel-round"
    " retry-round apply-proposal compute-insight delete-corpus delete-sentence delete-answers"
    " project-state quota change-webhook".split()
)
NO_PAGE = {"standing", "job-progress", "job-file", "round-status", "dashboard-data", "study"}
RANKS = {Role.ANNOTATOR: 1, Role.CURATOR: 2, Role.OWNER: 3, ADMIN: 4}


@pytest.fixture
def addresses(harbour, ada, django_user_model):
    """The address of every page of a project that this module knows."""
    zoe = django_user_model.objects.create_user("zoe")
    annotator = Membership.objects.create(project=harbour, user=zoe, role=Role.ANNOTATOR)
    job = enqueue_job(project=harbour, kind=Job.Kind.EXPORT, arguments={}, created_by=ada)
    invitation = invite(
        project=harbour, role=Role.CURATOR, invited_by=ada, now=timezone.now()
    ).invitation
    failed = Round.objects.create(
        project=harbour, number=1, state="failed", config=RoundSettings().to_dict()
    )
    group = save_group(project=harbour, name="g", people=["zoe"], actor=ada)
    record = StudyRecord("bandit", "", "bandit", "", "", (), ())
    run_store().keep_study(record)
    study = index_study(run_store(), record)
    ids = {
        "project_id": harbour.pk,
        "sentence_id": harbour.sentences.first().pk,
        "job_id": job.pk,
        "task_id": harbour.tasks.first().pk,
        "membership_id": annotator.pk,
        "invitation_id": invitation.pk,
        "person_id": zoe.pk,
        "corpus_id": harbour.corpora.first().pk,
        "number": failed.number,
        "name": "forecast",
        "study_id": study.pk,
        "group_id": group.pk,
        "study_name": "replay",
        "webhook_id": harbour.webhooks.create(url="https://hooks.example.org/").pk,
    }
    patterns = {pattern.name: pattern.pattern.converters for pattern in (*PAGES, *study_pages)}
    return {
        name: reverse(name, kwargs={key: ids[key] for key in patterns[name]}) for name in NEEDED
    }


def _open(client, name, address):
    return client.post(address) if name in POSTED else client.get(address)


def test_every_page_says_here_who_may_open_it():
    pages = {pattern.name for pattern in (*PAGES, *study_pages)}
    assert pages == OPEN_TO_ALL | OPEN_TO_THE_SIGNED_IN | OWN | SERVER | set(NEEDED)


def test_nobody_gets_in_without_signing_in(client, addresses):
    own = {name: reverse(name) for name in OPEN_TO_THE_SIGNED_IN}
    for name, address in {**addresses, **own}.items():
        response = _open(client, name, address)
        assert response.status_code == 302, name
        assert response["Location"].startswith("/sign-in/?next="), name


def test_a_stranger_does_not_learn_that_a_project_exists(client, bob, addresses):
    client.force_login(bob)
    for name, address in addresses.items():
        response = _open(client, name, address)
        assert response.status_code == 404, name
        assert b"Harbour" not in response.content, name


@pytest.mark.parametrize("role", list(Role))
def test_a_member_opens_what_the_role_reaches_and_no_more(client, bob, harbour, addresses, role):
    Membership.objects.create(project=harbour, user=bob, role=role)
    client.force_login(bob)
    for name, address in addresses.items():
        status = _open(client, name, address).status_code
        assert (status != 403) == (RANKS[role] >= RANKS[NEEDED[name]]), (name, status)
        assert status < 500, (name, status)


def test_an_admin_opens_everything_without_being_a_member(client, admin, addresses):
    client.force_login(admin)
    for name, address in addresses.items():
        if name not in {"delete-project", "job-file", "delete-answers"}:  # the member is gone
            assert _open(client, name, address).status_code in (200, 302, 400), name


def test_pages_have_nothing_inline_and_say_so_in_their_policy(client, ada, addresses):
    client.force_login(ada)
    inline = re.compile(
        r"""<[^>]+\s(?:style|on\w+)=|<style|<script(?![^>]*\b(?:src=|type="application/json"))""",
        re.IGNORECASE,
    )
    for name, address in addresses.items():
        if name in POSTED | NO_PAGE:
            continue
        response = client.get(address)
        assert response.status_code == 200, name
        assert "script-src 'self'" in response["Content-Security-Policy"]
        assert inline.search(response.content.decode()) is None, name
