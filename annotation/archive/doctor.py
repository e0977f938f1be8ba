"""What can be wrong with an installation, found and, where it is safe, mended.

Nothing that somebody made is changed: repairs touch counters, files of nobody, and jobs of workers
that are dead.
"""

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from django.core import checks
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Count, F
from django.utils import timezone

from annotation.models import Corpus, Job, Project, Round, Worker
from config.home import home
from mtl_engine.checksums import file_sha256

OLD_SECONDS = 24 * 3600  # younger files may be in the making
LONG_SECONDS = 120  # that a job waits where workers are
LEAST_FREE = 1 << 30  # bytes


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
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def _database() -> Iterator[Finding]:
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA quick_check")
            words = [row[0] for row in cursor.fetchall()]
            cursor.execute("PRAGMA foreign_key_check")
            n_loose = len(cursor.fetchall())
        if words != ["ok"]:
            yield Finding(f"The database is damaged: {words[0]}. Restore a backup.")
        if n_loose:
            yield Finding(f"{n_loose} rows point to rows that are gone. Restore a backup.")


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
    return [f for f in found if f.is_dir() and time.time() - f.stat().st_mtime > OLD_SECONDS]


def _files() -> Iterator[Finding]:
    for folder in _orphans():
        yield Finding(f"{folder} belongs to no round, job or project.", can_be_mended=True)
    if home().root.stat().st_mode & 0o077:
        yield Finding(f"Others on this machine can read {home().root}.", can_be_mended=True)
    free = shutil.disk_usage(home().root).free
    if free < LEAST_FREE:
        yield Finding(f"Only {free >> 20:,} MB are free on the disk of {home().root}.")


def _settings() -> Iterator[Finding]:
    for message in checks.run_checks():
        if message.level >= checks.ERROR:
            yield Finding(f"{message.msg} {message.hint or ''}".strip())
