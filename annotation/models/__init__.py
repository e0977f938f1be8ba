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
from annotation.models.notifications import Delivery, MailChoice, Webhook
from annotation.models.project import Corpus, Label, LogEntry, Project, Sentence, Task
from annotation.models.queue import Ask, Flag, Lease, Progress, Queue, Submission
from annotation.models.round import Insight, Job, Round, Worker

__all__ = [
    "Annotation",
    "AnnotationVersion",
    "ApiToken",
    "Ask",
    "Assignment",
    "Corpus",
    "Delivery",
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
    "MailChoice",
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
    "Webhook",
    "WorkGroup",
    "WorkGroupMember",
    "Worker",
]
