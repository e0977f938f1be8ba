"""What a worker looks after between its tasks: lost jobs, answered rounds, rounds that are due."""

import logging
from datetime import datetime

from annotation.errors import Refused
from annotation.jobs import rescue_jobs
from annotation.models import Queue, Round
from annotation.services.rounds import close_answered_rounds, launch_round

logger = logging.getLogger(__name__)


def keep_up(*, now: datetime) -> None:
    """Rescue lost jobs, close what is answered, and launch what is due."""
    rescue_jobs()
    launch_due_rounds(now=now)
    close_answered_rounds()


def launch_due_rounds(*, now: datetime) -> list[Round]:
    """Launch the next round of every project whose queue is answered as far as it asked for."""
    launched = []
    for current in Round.objects.filter(state=Round.State.LABELLING).select_related("project"):
        percent = current.config.get("next_at_percent", 0)
        if not percent or not _is_answered(current, percent):
            continue
        try:
            launched.append(
                launch_round(
                    project=current.project, config=current.config, created_by=current.created_by
                )
            )
        except Refused as refusal:
            logger.info("round after %s is not launched: %s", current, refusal)
    return launched


def _is_answered(round: Round, percent: float) -> bool:
    queue = Queue.objects.filter(round=round, is_current=True).first()
    if queue is None or not queue.n_asks:
        return False
    n_open = queue.asks.filter(is_open=True).count()
    return 100 * (queue.n_asks - n_open) / queue.n_asks >= percent
