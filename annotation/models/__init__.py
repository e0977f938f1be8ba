"""Fields and constraints; what may happen to them is in ``services``."""

from annotation.models.access import Invitation, Membership, Role, SignInAttempt, SignInLink
from annotation.models.answers import (
    Annotation,
    AnnotationVersion,
    Gold,
    GoldVersion,
    Suggestion,
)
from annotation.models.api_token import ApiToken
from annotation.models.corpus import Corpus, Sentence
from annotation.models.job import Job, Worker
from annotation.models.project import Label, Project, Task
from annotation.models.queue import Ask, Flag, Lease, Progress, Queue, Submission
from annotation.models.round import Round

__all__ = [
    "Annotation",
    "AnnotationVersion",
    "ApiToken",
    "Ask",
    "Corpus",
    "Flag",
    "Gold",
    "GoldVersion",
    "Invitation",
    "Job",
    "Label",
    "Lease",
    "Membership",
    "Progress",
    "Project",
    "Queue",
    "Role",
    "Round",
    "Sentence",
    "SignInAttempt",
    "SignInLink",
    "Submission",
    "Suggestion",
    "Task",
    "Worker",
]
