"""The log of what people did: written by services, read by owners and admins, never changed.

An entry says names and counts. What is needed to take it back is kept beside it, and goes with the
project. Acts on the server as a whole (sign-ins, accounts, tokens) have no project.
"""

import csv
import io
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from annotation.formats.delimited import plain_cell
from annotation.models import LogEntry, Project
from annotation.models.project import project_settings

GROUPS = {  # how an action begins, and what it is about
    "": "everything",
    "sign_in": "sign-ins",
    "account": "passwords and links",
    "person": "accounts",
    "token": "tokens",
    "member": "people and roles",
    "invitation": "invitations",
    "project": "project",
    "task": "tasks",
    "label": "labels",
    "corpus": "corpora",
    "sentence": "sentences",
    "answers": "answers",
    "flag": "flags",
    "model": "models",
    "export": "exports",
    "round": "rounds",
    "gold": "gold",
    "webhook": "webhooks",
}
record = LogEntry.objects.record  # what somebody did, in the transaction in which it is done
DETAILS = {  # what people call a detail where its name is for programs; empty: nothing for them
    "project": "",
    "task_id": "",
    "fields": "changed",
    "n": "how many",
    "n_answers": "answers",
    "n_sentences": "sentences",
    "n_words": "words",
    "n_after": "words after",
    "old": "before",
    "to_redo": "to be answered again",
}
OF_TASKS = {  # what pages call the settings of tasks
    "target_score": "Target score",
    "is_open": "An import may bring new labels",
    "is_nested": "Spans may lie in each other",
    "window": "Sentences that a link may span",
    "pairs": "Allowed pairs",
}
COLUMNS = ("time", "person", "action", "project", "details")


def forget_person(user: Any) -> None:
    """Take a person's name and addresses out of the log, before they are erased themselves."""
    named = LogEntry.objects.filter(details__person=user.get_username())
    for entry in [*named, *LogEntry.objects.filter(actor=user, details__has_key="address")]:
        details = {**entry.details, "address": ""}
        if details.get("person") == user.get_username():
            details["person"] = "somebody who was erased"
        LogEntry.objects.filter(pk=entry.pk).update(details=details)


def log_of(project: Project | None) -> QuerySet[LogEntry]:
    """Return what was done in a project, or on the whole server, newest first."""
    entries = LogEntry.objects.select_related("actor", "project").order_by("-id")
    return entries if project is None else entries.filter(project=project)


def filter_log(
    entries: QuerySet[LogEntry],
    *,
    about: str = "",
    person: str = "",
    since: date | None = None,
    until: date | None = None,
) -> QuerySet[LogEntry]:
    """Return the entries about one kind of thing, of one person, between two days."""
    if about in GROUPS and about:
        entries = entries.filter(action__startswith=about)
    if person:
        entries = entries.filter(actor__username=person)
    if since:
        entries = entries.filter(created_at__gte=_midnight(since))
    if until and until < date.max:
        entries = entries.filter(created_at__lt=_midnight(date.fromordinal(until.toordinal() + 1)))
    return entries


def log_lines(entries: QuerySet[LogEntry]) -> Iterator[str]:
    """Yield the log as CSV; cells that a spreadsheet would compute begin with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for entry in entries.iterator(2_000):
        row = [entry.created_at.isoformat(), _name(entry), entry.action]
        row += [str(entry.details.get("project", "")), details_of(entry)]
        writer.writerow([plain_cell(cell) for cell in row])
        yield out.getvalue()
        out.seek(0)
        out.truncate()
    yield out.getvalue()


def details_of(entry: LogEntry) -> str:
    """Return what an entry says besides, in words."""
    parts = []
    for name, value in entry.details.items():
        called = DETAILS.get(name, name.replace("_", " "))
        if called and value not in ("", None, [], {}):
            found = value if isinstance(value, list) else [value]
            if name == "fields":
                found = [_setting(str(one)) for one in found]
            parts.append(f"{gettext(called)}: {', '.join(map(str, found))}")
    return "; ".join(parts)


def _setting(name: str) -> str:
    """Return what pages call a setting of a project or a task."""
    titles = {one.name: one.title for one in project_settings()} | OF_TASKS
    return gettext(titles.get(name, name.replace("_", " ")))


def _name(entry: LogEntry) -> str:
    return entry.actor.get_username() if entry.actor else ""


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
