"""A page says whose it is; in another person's session nothing is done in their name."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Annotation, Lease, Submission
from tests.annotation.queue.conftest import ANSWERS

pytestmark = pytest.mark.any_database


@pytest.fixture
def project(desk):
    return desk.project


@pytest.fixture
def people(desk):
    return desk.person("ilse"), desk.person("tomas")


def _next(client, project, whose):
    headers = {} if whose is None else {"Tandem-Person": str(whose)}
    return client.post(f"/api/projects/{project.pk}/next/", headers=headers)


def test_another_person_s_session_is_refused_and_nothing_is_stored(client, project, people):
    ilse, tomas = people
    client.force_login(ilse)
    lease = _next(client, project, ilse.pk).json()
    client.force_login(tomas)
    submit = client.post(
        f"/api/leases/{lease['id']}/submit/",
        {"token": lease["token"], "answers": ANSWERS},
        content_type="application/json",
        headers={"Tandem-Person": str(ilse.pk), "Idempotency-Key": "1"},
    )
    refused = _next(client, project, ilse.pk)
    assert [submit.status_code, refused.status_code] == [409, 409]
    error = refused.json()["error"]
    assert error["code"] == "other_person"
    assert "signed in as 'tomas'" in error["message"]
    assert Lease.objects.filter(annotator=tomas).count() == 0
    assert (Submission.objects.count(), Annotation.objects.count()) == (0, 0)


def test_reading_is_refused_as_well(client, project, people):
    client.force_login(people[1])
    headers = {"Tandem-Person": str(people[0].pk)}
    assert client.get(f"/api/projects/{project.pk}/peek/", headers=headers).status_code == 409


def test_the_person_of_the_session_and_whoever_says_nothing_are_let_through(
    client, project, people
):
    client.force_login(people[0])
    assert _next(client, project, people[0].pk).status_code == 200
    assert _next(client, project, None).status_code == 200


@pytest.mark.parametrize("whose", ["ilse", "", "-1", "٣", "9" * 40])
def test_a_header_that_names_nobody_is_refused(client, project, people, whose):
    client.force_login(people[0])
    assert _next(client, project, whose.encode().decode("latin-1")).status_code == 409


def test_whoever_is_signed_out_is_told_that_first(client, project, people):
    assert _next(client, project, people[0].pk).status_code == 401


def test_saying_whose_the_page_is_costs_no_query(client, project, people):
    client.force_login(people[0])
    _next(client, project, people[0].pk)
    counts = []
    for whose in (None, people[0].pk):
        with CaptureQueriesContext(connection) as queries:
            _next(client, project, whose)
        counts.append(len(queries))
    assert counts[0] == counts[1]
