"""A prepared query gives the rows that the ORM gives, for new values at every run."""

import threading

import pytest
from django.db import connection
from django.db.models import Q
from django.test.utils import CaptureQueriesContext

from annotation.models import Lease, Task
from annotation.models.prepared import Parameter, Prepared

pytestmark = pytest.mark.django_db
COLUMNS = ("id", "name", "pairs", "is_open", "project__created_at", "parent__name")


def test_values_and_instances_equal_those_of_the_orm(project):
    values = Prepared(
        lambda: (
            Task.objects.filter(Q(name=Parameter("name")) | Q(pk=Parameter("pk")))
            .order_by("id")
            .values_list(*COLUMNS)
        )
    )
    instances = Prepared(
        lambda: Task.objects.select_related("project").filter(project=Parameter("project"))
    )
    tasks = list(project.tasks.order_by("id"))
    for task in tasks:
        plain = Task.objects.filter(Q(name=task.name) | Q(pk=tasks[0].pk)).order_by("id")
        assert values(name=task.name, pk=tasks[0].pk) == list(plain.values_list(*COLUMNS))
    assert instances(project=project.pk) == list(Task.objects.filter(project=project))
    with CaptureQueriesContext(connection) as queries:
        assert instances.first(project=project.pk).project.name == project.name
    assert len(queries) == 1
    assert instances.first(project=0) is None
    assert instances(project=project.pk)[0] is not instances(project=project.pk)[0]


@pytest.mark.django_db(transaction=True)
def test_every_thread_reads_by_its_own_connection(project):
    count = Prepared(lambda: Task.objects.filter(project=Parameter("project")).values_list("id"))
    expected = count(project=project.pk)
    found = []

    def read():
        found.append(count(project=project.pk))
        connection.close()

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    assert found == [expected]


def test_a_missing_value_is_an_error():
    leases = Prepared(lambda: Lease.objects.filter(pk=Parameter("lease")))
    with pytest.raises(KeyError, match="lease"):
        leases(other=1)
