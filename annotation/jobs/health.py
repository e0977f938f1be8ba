"""Is the server well: health, numbers for Prometheus, and what ``doctor`` finds and mends.

Times of requests are kept per web process in files of the data directory, which a scrape adds up.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core import checks
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Count, F, Sum
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
from annotation.archive.services import damage_of_database
from annotation.jobs.services import LANES, alive_workers
from annotation.models import Ask, Corpus, Flag, Job, Lease, Progress, Project, Round, Worker
from config import VERSION
from config.home import UNSENT, home
from mtl_engine.checksums import file_sha256

LEAST_FREE = 100 * 2**20  # bytes of disk below which answers may soon be refused
AMPLE = 1 << 30  # bytes of disk below which the doctor warns
OLD_SECONDS = 24 * 3600  # younger files may be in the making
LONG_SECONDS = 120  # that a job waits where workers are
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
        n_workers = len(alive_workers(timezone.now()))
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
            "n_workers": len(alive_workers(now)),
            "lanes": {lane: len(alive_workers(now, lane)) for lane in LANES},
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


@dataclass(frozen=True)
class Finding:
    """Something that is wrong."""

    what: str
    can_be_mended: bool = False


def examine() -> list[Finding]:
    """Return everything that is wrong, the worst first."""
    missing = _missing_migrations()
    if missing:
        return [Finding(f"The database lacks {missing} migrations: run migrate.")]
    return [*_database(), *_corpora(), *_jobs(), *_files(), *_models(), *_settings()]


def repair() -> list[str]:
    """Mend what is safe to mend, and return what that was."""
    done: list[str] = []
    if _missing_migrations():
        return done
    for pk, name, _, n_found in _miscounted():
        Corpus.objects.filter(pk=pk).update(n_sentences=n_found)
        done.append(f"corpus '{name}' counts {n_found} sentences")
    for folder in _orphans():
        shutil.rmtree(folder, ignore_errors=True)
        done.append(f"removed {folder}, which belongs to nobody")
    if home().root.stat().st_mode & 0o077:
        home().root.chmod(0o700)
        done.append(f"{home().root} is for its owner alone")
    return done


def _missing_migrations() -> int:
    global _is_migrated
    if _is_migrated:
        return 0
    executor = MigrationExecutor(connection)
    n_missing = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    _is_migrated = n_missing == 0
    return n_missing


def _database() -> Iterator[Finding]:
    for words in damage_of_database():
        yield Finding(f"{words} Restore a backup.")


def _miscounted() -> list[tuple[int, str, int, int]]:
    """Return the id, name, stated and found number of sentences of corpora where they differ."""
    corpora = Corpus.objects.annotate(n_found=Count("sentences"))
    wrong = corpora.exclude(n_found=F("n_sentences"))
    return list(wrong.values_list("pk", "name", "n_sentences", "n_found"))


def _corpora() -> Iterator[Finding]:
    for _, name, n_stated, n_found in _miscounted():
        words = f"Corpus '{name}' says {n_stated} sentences and has {n_found}."
        yield Finding(words, can_be_mended=True)


def _jobs() -> Iterator[Finding]:
    """Find work that nobody does."""
    open_jobs = Job.objects.filter(state__in=(Job.State.QUEUED, Job.State.RUNNING))
    waiting = open_jobs.filter(created_at__lt=timezone.now() - timedelta(seconds=LONG_SECONDS))
    recent = timezone.now() - timedelta(seconds=LONG_SECONDS)
    if waiting.exists() and not Worker.objects.filter(heartbeat_at__gte=recent).exists():
        yield Finding(f"{waiting.count()} jobs wait and no worker is alive: start one.")
    for round in Round.objects.filter(state__in=Round.RUNNING).select_related("project"):
        if not open_jobs.filter(arguments__round=round.pk).exists():
            where = f"Round {round.number} of '{round.project}'"
            yield Finding(f"{where} is {round.state}, but no job runs it: cancel or retry it.")


def _models() -> Iterator[Finding]:
    """Find files of rounds that are not what was written."""
    for round in Round.objects.select_related("project").order_by("pk"):
        folder = home().round(round.folder)
        known = {folder / name: digest for name, digest in round.files.items()}
        for path in folder.rglob("*.sha256"):
            known[path.with_suffix("")] = path.read_text().strip()
        for path, digest in sorted(known.items()):
            if path.exists() and file_sha256(path) != digest:
                where = f"round {round.number} of '{round.project}'"
                yield Finding(
                    f"{path} of {where} is damaged. Restore it from a backup, or retry the round: "
                    "the stage is computed again."
                )


def _orphans() -> list[Path]:
    """Return folders of the data directory that no row knows, and that nobody is writing."""
    rounds = set(Round.objects.values_list("folder", flat=True))
    projects = set(map(str, Project.objects.values_list("pk", flat=True)))
    found = [folder for folder in home().rounds.glob("*") if folder.name not in rounds]
    jobs = set(Job.objects.values_list("folder", flat=True))
    found += [folder for folder in home().exports.glob("*") if folder.name not in jobs]
    found += [f for f in (home().root / "uploads").glob("*") if f.name not in projects]
    found += home().root.glob(f"{UNSENT}*")  # of backups that were killed
    return [f for f in found if f.is_dir() and time.time() - f.stat().st_mtime > OLD_SECONDS]


def _files() -> Iterator[Finding]:
    for folder in _orphans():
        yield Finding(f"{folder} belongs to no round, job or project.", can_be_mended=True)
    if home().root.stat().st_mode & 0o077:
        yield Finding(f"Others on this machine can read {home().root}.", can_be_mended=True)
    if (free := disk_free()) < AMPLE:
        yield Finding(f"Only {free >> 20:,} MB are free on the disk of {home().root}.")


def _settings() -> Iterator[Finding]:
    for message in checks.run_checks():
        if message.level >= checks.ERROR:
            yield Finding(f"{message.msg} {message.hint or ''}".strip())
