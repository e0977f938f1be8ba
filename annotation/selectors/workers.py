"""Who works: the workers that gave a sign of life lately."""

from datetime import datetime

from django.db.models import QuerySet

from annotation.models import Worker
from annotation.services.workers import DEAD_AFTER


def alive_workers(now: datetime) -> QuerySet[Worker]:
    """Return the workers that are alive."""
    return Worker.objects.filter(heartbeat_at__gte=now - DEAD_AFTER).order_by("started_at")
