"""Jobs that send mails and call webhooks: one per project at a time, begun by any worker."""

from datetime import datetime

from django.utils import timezone

from annotation.errors import Conflict
from annotation.jobs.services import OPEN, Progress, enqueue_job, finish_job
from annotation.models import Delivery, Job, Project
from annotation.notifications.transport import deliver, discard_old, due

MOST = 200  # of one job; the next one takes the others


def run_deliveries(job: Job, progress: Progress) -> None:
    """Send what is due in a project."""
    now = timezone.now()
    waiting = list(Delivery.objects.filter(due(now), project=job.project).order_by("id")[:MOST])
    n_sent = 0
    for number, delivery in enumerate(waiting):
        progress("sending", number, len(waiting))
        n_sent += deliver(delivery=delivery, now=timezone.now())
    discard_old(now=now)
    finish_job(job=job, result={"n_sent": n_sent, "n_due": len(waiting)}, now=timezone.now())


def keep_up(*, now: datetime) -> None:
    """Queue a job for every project in which something is due and none is queued."""
    projects = Project.objects.filter(pk__in=Delivery.objects.filter(due(now)).values("project"))
    for project in projects:
        if project.jobs.filter(kind=Job.Kind.DELIVER, state__in=OPEN).exists():
            continue
        try:
            enqueue_job(project=project, kind=Job.Kind.DELIVER, arguments={}, created_by=None)
        except Conflict:  # too many wait already: a few seconds later there is room
            continue
