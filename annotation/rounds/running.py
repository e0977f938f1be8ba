"""A round from queued to labelling, stage by stage; what is finished is never done again."""

import errno
from collections.abc import Callable
from typing import Any

from django.utils import timezone

from annotation.errors import Refused
from annotation.models import Job, Round
from annotation.rounds import stages
from annotation.rounds.workspace import Workspace
from annotation.services import rounds
from annotation.services.jobs import JobCancelled, add_to_log, finish_job
from annotation.worker import Parked
from mtl_engine.errors import EngineError

Report = Callable[[str, int, int | None], None]


def run_round(job: Job, progress: Report) -> None:
    """Carry a round through the stages that it has not finished, then open its queue."""
    round = Round.objects.select_related("project").get(pk=job.arguments["round"])
    if round.stages or job.n_tries > 1:
        rounds.note_resumed(round=round)
    try:
        _run_stages(round, job, progress)
    except Parked:
        rounds.park_round(round=round)
        raise
    except JobCancelled:
        _end(round, Round.State.CANCELLED, "Cancelled. The queue before it goes on serving.")
        raise
    except Exception as error:
        message = explain_failure(error)
        _end(round, Round.State.FAILED, message)
        if isinstance(error, EngineError | OSError | MemoryError):
            raise Refused(message) from error
        raise
    finish_job(job=job, result={"round": round.pk}, now=timezone.now())


def explain_failure(error: Exception) -> str:
    """Return what went wrong and what to do, in plain words."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "The disk is full. Free some space in Tandem's data directory, then retry."
    if isinstance(error, MemoryError):
        return (
            "The worker ran out of memory. Use a smaller encoder or a bigger machine, then retry."
        )
    if isinstance(error, EngineError | Refused):
        return str(error)
    return f"The worker met an error ({type(error).__name__}: {error}). Its log tells where."


def _run_stages(round: Round, job: Job, progress: Report) -> None:
    workspace = Workspace(round.pk)
    for name, state, stage in (
        ("training", Round.State.TRAINING, stages.train_stage),
        ("scoring", Round.State.SCORING, stages.score_stage),
        ("selecting", Round.State.SELECTING, stages.select_stage),
    ):
        if name in round.stages and stages.is_kept(name, workspace, round):
            continue
        rounds.enter_stage(round=round, state=state)
        progress(name, 0, None)
        facts: dict[str, Any] = stage(round, workspace, progress)
        rounds.keep_stage(round=round, name=name, facts=facts)
        add_to_log(job=job, text=f"{timezone.now():%H:%M:%S} {name} is done")
    stages.open_stage(round, workspace)


def _end(round: Round, state: Round.State, message: str) -> None:
    rounds.end_round(round=round, state=state, message=message, now=timezone.now())
