"""Is the server well: health, and numbers for Prometheus, of the database and of requests.

Times are kept per web process in files of the data directory, which a scrape adds up.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from typing import Any

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Count, Sum
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from drf_spectacular.utils import extend_schema
from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import REGISTRY, Collector
from rest_framework.request import Request
from rest_framework.views import APIView

from annotation.accounts.access import require_admin
from annotation.jobs.services import LANES, alive_workers
from annotation.models import Ask, Flag, Job, Lease, Progress, Round, Worker
from config import VERSION
from config.home import home

LEAST_FREE = 100 * 2**20  # bytes of disk below which answers may soon be refused
_is_migrated = False  # a database that has every migration keeps them

REQUESTS = Histogram(
    "tandem_request_seconds",
    "How long requests took, by method, route and status.",
    ("method", "route", "status"),
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0),
)


class TimedRequests:
    """Middleware that measures every request that has a route."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, and count how long it took."""
        started = time.perf_counter()
        response = self.get_response(request)
        if request.resolver_match is not None:
            seconds = time.perf_counter() - started
            route = request.resolver_match.route
            REQUESTS.labels(request.method, route, response.status_code).observe(seconds)
        return response


@extend_schema(exclude=True)
class MetricsView(APIView):
    """What monitoring reads."""

    def get(self, request: Request) -> HttpResponse:
        """Return the metrics as text, for admins: by their session, or a token of theirs."""
        require_admin(request.user)
        return HttpResponse(metrics(), content_type=CONTENT_TYPE_LATEST)


def metrics() -> bytes:
    """Return all metrics as Prometheus reads them."""
    registry = CollectorRegistry()
    registry.register(DatabaseCollector())
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
    return generate_latest(registry) + generate_latest(_OwnRequests())


class _OwnRequests:
    """The requests of this process alone, where there is one."""

    def collect(self) -> Iterator[Metric]:
        """Yield the times of requests."""
        yield from (m for m in REGISTRY.collect() if m.name == "tandem_request_seconds")


class DatabaseCollector(Collector):
    """Reads the numbers at the moment of the scrape."""

    def collect(self) -> Iterator[Metric]:
        """Yield queue, leases, work done, jobs, workers, rounds, flags and disk."""
        yield _gauge("tandem_info", "The version that runs.", ("version",), [(VERSION, 1)])
        open_asks = Ask.objects.filter(queue__is_current=True, is_open=True)
        yield _per_project(
            "tandem_asks_open",
            "Asks that want answers.",
            open_asks.values_list("queue__project").annotate(n=Count("id")),
        )
        live = Lease.objects.filter(state=Lease.State.LIVE, expires_at__gt=timezone.now())
        yield _per_project(
            "tandem_leases",
            "Asks in somebody's hands.",
            live.values_list("project").annotate(n=Count("id")),
        )
        done = Progress.objects.values_list("queue__project")
        yield _per_project(
            "tandem_answers",
            "Asks that were answered.",
            done.annotate(n=Sum("n_done")),
            is_counter=True,
        )
        yield _per_project(
            "tandem_answer_seconds",
            "Measured seconds of work.",
            done.annotate(n=Sum("seconds")),
            is_counter=True,
        )
        flags = Flag.objects.filter(resolved_at__isnull=True)
        yield _per_project(
            "tandem_flags_open",
            "Flags that wait for a curator.",
            flags.values_list("sentence__project").annotate(n=Count("id")),
        )
        jobs = Job.objects.order_by().values_list("kind", "state").annotate(n=Count("id"))
        yield _gauge("tandem_jobs", "Jobs by kind and state.", ("kind", "state"), jobs)
        rounds = Round.objects.order_by().values_list("project", "state").annotate(n=Count("id"))
        yield _gauge("tandem_rounds", "Rounds by project and state.", ("project", "state"), rounds)
        n_workers = alive_workers(timezone.now()).count()
        yield _gauge("tandem_workers", "Workers that are alive.", (), [(n_workers,)])
        age = heartbeat_age()
        yield _gauge(
            "tandem_worker_heartbeat_age_seconds",
            "Seconds since the last sign of life of any worker.",
            (),
            [] if age is None else [(age,)],
        )
        yield _gauge("tandem_disk_free_bytes", "Free where the data lies.", (), [(disk_free(),)])


def _gauge(name: str, words: str, labels: tuple[str, ...], rows: Any) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, words, labels=labels)
    for *values, n in rows:
        family.add_metric([str(value) for value in values], n)
    return family


def _per_project(name: str, words: str, rows: Any, *, is_counter: bool = False) -> Metric:
    kind = CounterMetricFamily if is_counter else GaugeMetricFamily
    family = kind(name, words, labels=("project",))
    for project, n in rows:
        family.add_metric([str(project)], n or 0)
    return family


@never_cache
@require_safe
def health(request: HttpRequest) -> JsonResponse:
    """Return 200 while people can work, else 503; a missing worker is told, not an error."""
    found = state_of_server()
    return JsonResponse(found, status=200 if found["status"] == "ok" else 503)


def state_of_server() -> dict[str, Any]:
    """Return what the server stands on: database, migrations, disk and workers."""
    free = disk_free()
    found = {"status": "ok", "version": VERSION, "database": "ok", "disk_free_mb": free // 2**20}
    try:
        connection.ensure_connection()
        n_missing = _missing_migrations()
        now = timezone.now()
        found |= {
            "n_missing_migrations": n_missing,
            "n_workers": alive_workers(now).count(),
            "lanes": {lane: alive_workers(now, lane).count() for lane in LANES},
            "worker_seconds": heartbeat_age(),
        }
    except DatabaseError:
        return {**found, "status": "no database", "database": "unreachable"}
    if n_missing:
        found["status"] = "migrations are missing"
    elif free < LEAST_FREE:
        found["status"] = "the disk is full"
    return found


def heartbeat_age() -> float | None:
    """Return the seconds since the last sign of life of any worker; nothing without one."""
    last = Worker.objects.order_by("-heartbeat_at").values_list("heartbeat_at", flat=True).first()
    return None if last is None else round((timezone.now() - last).total_seconds(), 1)


def disk_free() -> int:
    """Return the bytes that are free where the data directory lies."""
    root = home().root
    return shutil.disk_usage(root if root.exists() else root.parent).free


def _missing_migrations() -> int:
    global _is_migrated
    if _is_migrated:
        return 0
    executor = MigrationExecutor(connection)
    n_missing = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    _is_migrated = n_missing == 0
    return n_missing
