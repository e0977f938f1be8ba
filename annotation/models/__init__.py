"""Fields and constraints; what may happen to them is in ``services``."""

from annotation.models.access import Invitation, Membership, Role, SignInAttempt, SignInLink
from annotation.models.answers import (
    Annotation,
    AnnotationVersion,
    Gold,
    GoldVersion,
    Suggestion,
)
from annotation.models.corpus import Corpus, Sentence
from annotation.models.job import Job, Worker
from annotation.models.project import Label, Project, Task
from annotation.models.round import Round

__all__ = [
    "Annotation",
    "AnnotationVersion",
    "Corpus",
    "Gold",
    "GoldVersion",
    "Invitation",
    "Job",
    "Label",
    "Membership",
    "Project",
    "Role",
    "Round",
    "Sentence",
    "SignInAttempt",
    "SignInLink",
    "Suggestion",
    "Task",
    "Worker",
]
