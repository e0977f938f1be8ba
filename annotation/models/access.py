import hashlib
from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.project import Corpus, Project, Task


class Role(models.TextChoices):
    OWNER = "owner"
    CURATOR = "curator"
    ANNOTATOR = "annotator"

    def reaches(self, needed: "Role") -> bool:
        """Return whether this role may do what the needed one may."""
        ranks = (Role.ANNOTATOR, Role.CURATOR, Role.OWNER)
        return ranks.index(self) >= ranks.index(needed)


class Membership(models.Model):
    """A person's role in a project."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=10, choices=Role)
    quota = models.PositiveIntegerField(null=True)  # most sentences of a round; empty: no limit
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="one_role_a_project")
        ]


class WorkGroup(models.Model):
    """People of a project to whom a part of the work is assigned."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="groups")
    name = models.CharField(max_length=60)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="group_name_once_a_project")
        ]

    def __str__(self) -> str:
        return self.name


class WorkGroupMember(models.Model):
    """A person in a group."""

    group = models.ForeignKey(
        WorkGroup, on_delete=models.CASCADE, related_name="members", db_index=False
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["group", "user"], name="once_in_a_group")]


class Assignment(models.Model):
    """One thing that a group is limited to: a corpus, a language, a document, or a task."""

    group = models.ForeignKey(WorkGroup, on_delete=models.CASCADE, related_name="assignments")
    corpus = models.ForeignKey(Corpus, null=True, on_delete=models.CASCADE, related_name="+")
    task = models.ForeignKey(Task, null=True, on_delete=models.CASCADE, related_name="+")
    language = models.CharField(max_length=16, blank=True)
    document = models.CharField(max_length=200, blank=True)


class Invitation(models.Model):
    """A link that lets one person join a project, once; only the hash of its token is kept."""

    DAYS = 14  # for which one is good unless somebody says otherwise

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Role)
    note = models.CharField(max_length=120, blank=True)  # for whom it was made
    token_hash = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    accepted_at = models.DateTimeField(null=True)


class SignInLink(models.Model):
    """A link that signs one person in, once; only the hash of its token is kept."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)


class SignInAttempt(models.Model):
    """A failed sign-in, counted against the next ones."""

    name = models.CharField(max_length=150)
    address = models.CharField(max_length=64)
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        indexes = [models.Index(fields=["name", "created_at"], name="attempt_by_name")]


def hash_token(token: str) -> str:
    """Return what is stored of a secret; 256 random bits need no slow hash."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class ApiTokens(models.Manager["ApiToken"]):
    """Tokens, by their secrets."""

    def has_good(self, secret: str, now: datetime) -> bool:
        """Return whether a secret is that of a token that still opens doors."""
        good = self.filter(expires_at__gt=now, user__is_active=True)
        return good.filter(token_hash=hash_token(secret)).exists()


class ApiToken(models.Model):
    """A secret that lets a program act for one person; only its hash is kept."""

    class Scope(models.TextChoices):
        READ = "read"  # looks, changes nothing
        PREDICT = "predict"  # asks models, and nothing else
        ANNOTATE = "annotate"  # and works through the queue
        MANAGE = "manage"  # and does whatever the person may do

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    name = models.CharField(max_length=120)
    token_hash = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=10, choices=Scope)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    last_used_on = models.DateField(null=True)

    objects = ApiTokens()


class SecondStep(models.Model):
    """An authenticator app whose codes are asked for after the password."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="second_step"
    )
    secret = models.CharField(max_length=64)
    last_period = models.BigIntegerField()  # of the newest code that was used: none works twice
    created_at = models.DateTimeField()


class RecoveryCode(models.Model):
    """What stands in for a lost authenticator app, once; only its hash is kept."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="recovery_codes"
    )
    code_hash = models.CharField(max_length=64)


class Identity(models.Model):
    """Whom a provider of single sign-on means, and which roles its groups have given them."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="identities"
    )
    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)
    projects = models.JSONField(default=list)  # ids, where the membership came by a group
    is_admin = models.BooleanField(default=False)  # by a group
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="one_person_an_identity")
        ]


class MailChoice(models.Model):
    """Which language a person reads, and where and about what they want mail."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mail_choice"
    )
    address = models.EmailField(blank=True)
    is_confirmed = models.BooleanField(default=False)  # by a link that was sent there
    language = models.CharField(max_length=16, default="en")
    events = models.JSONField(default=list)  # names of annotation.notifications.outbox


class Webhook(models.Model):
    """An address of another program that is told what happens in a project."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    events = models.JSONField(default=list)  # names of annotation.notifications.outbox
    secret = models.CharField(max_length=64)  # signs what is sent; shown once
    is_active = models.BooleanField(default=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]


class Delivery(models.Model):
    """One mail, or one call of a webhook: what waits, what went out, what was given up."""

    class State(models.TextChoices):
        WAITING = "waiting"
        DELIVERED = "delivered"
        FAILED = "failed"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="deliveries")
    webhook = models.ForeignKey(
        Webhook, null=True, on_delete=models.CASCADE, related_name="deliveries"
    )  # empty: a mail
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+"
    )  # whose mail it is; empty: of somebody who has no account yet
    address = models.EmailField(blank=True)
    event = models.CharField(max_length=40)
    payload = models.JSONField(default=dict)  # of a mail: emptied when it is sent or given up
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    n_tries = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField()
    status = models.PositiveSmallIntegerField(null=True)  # of the newest answer
    message = models.CharField(max_length=300, blank=True)  # what went wrong last
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(
                fields=["next_try_at"], condition=Q(state="waiting"), name="delivery_waiting"
            )
        ]
