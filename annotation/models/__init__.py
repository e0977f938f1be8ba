"""Fields and constraints; what may happen to them is in ``services``."""

from annotation.models.access import (
    ApiToken,
    Assignment,
    Identity,
    Invitation,
    Membership,
    RecoveryCode,
    Role,
    SecondStep,
    SignInAttempt,
    SignInLink,
    WorkGroup,
    WorkGroupMember,
)
from annotation.models.answers import (
    Annotation,
    AnnotationVersion,
    Gold,
    GoldVersion,
    Review,
    Suggestion,
)
from annotation.models.job import Insight, Job, Worker
from annotation.models.project import Corpus, Label, LogEntry, Project, Sentence, Task
from annotation.models.queue import Ask, Flag, Lease, Progress, Queue, Submission
from annotation.models.round import Round

__all__ = [
    "Annotation",
    "AnnotationVersion",
    "ApiToken",
    "Ask",
    "Assignment",
    "Corpus",
    "Flag",
    "Gold",
    "GoldVersion",
    "Identity",
    "Insight",
    "Invitation",
    "Job",
    "Label",
    "Lease",
    "LogEntry",
    "Membership",
    "Progress",
    "Project",
    "Queue",
    "RecoveryCode",
    "Review",
    "Role",
    "Round",
    "SecondStep",
    "Sentence",
    "SignInAttempt",
    "SignInLink",
    "Submission",
    "Suggestion",
    "Task",
    "WorkGroup",
    "WorkGroupMember",
    "Worker",
]
