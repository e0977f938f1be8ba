"""Undo after submit: a person's own answers back in their hands, until a curator decides."""

from datetime import datetime, timedelta

from django.db import transaction

from annotation.models import Lease, Submission
from annotation.selectors.history import is_adjudicated
from annotation.services.leasing import new_lease_token
from annotation.services.refusals import Adjudicated, LeaseLost

State = Lease.State


@transaction.atomic
def reopen(*, submission: Submission, now: datetime) -> int:
    """Put submitted answers back into their author's hands; return the lease's id.

    The answers count all the while; the next submit replaces them and keeps them as a version.
    Whatever else the person had reopened is closed unchanged.
    """
    lease = submission.lease
    if is_adjudicated(lease.pk):
        raise Adjudicated
    others = Lease.objects.filter(
        project=lease.project_id, annotator=lease.annotator_id, state=State.REOPENED
    ).exclude(pk=lease.pk)
    others.update(state=State.SUBMITTED)
    expires_at = now + timedelta(minutes=lease.project.lease_minutes)
    this = Lease.objects.filter(pk=lease.pk)
    is_reopened = this.filter(state=State.SUBMITTED).update(
        state=State.REOPENED, token=new_lease_token(), claimed_at=now, expires_at=expires_at
    ) or this.filter(state=State.REOPENED).update(expires_at=expires_at)
    if not is_reopened:
        raise LeaseLost("These answers cannot be reopened.")
    return lease.pk
