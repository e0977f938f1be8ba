"""What can be done with a lease in hand."""

import hashlib
from typing import Any

import orjson
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.answers import Problem
from annotation.api.authentication import Scope
from annotation.api.bodies import reading_body
from annotation.api.schema import DRAFT, HEARTBEAT, RELEASE, SKIP, SUBMIT
from annotation.api.work import read_work
from annotation.errors import InvalidInput
from annotation.selectors.queue import count_queue, get_lease
from annotation.services.drafting import MAX_VERSION, save_draft
from annotation.services.leasing import release_lease, renew_lease
from annotation.services.skipping import skip
from annotation.services.submitting import submit

MAX_DRAFT = 256 * 1024
MAX_KEY = 64


class DraftView(APIView):
    """Unfinished work."""

    scope = Scope.ANNOTATE

    @DRAFT
    def put(self, request: Request, lease_id: int) -> Response:
        """Save unfinished work under a version that must be higher than the stored one."""
        lease = get_lease(request.user, lease_id)
        with reading_body(request) as body:
            token = body.text("token", is_required=True)
            draft = body.take("draft")
            version = body.whole_number("version", 0, low=1, high=MAX_VERSION)
            size = len(orjson.dumps(draft))
            if size > MAX_DRAFT:
                body.refuse("draft", f"{size} bytes are too many; at most {MAX_DRAFT}.")
        now = timezone.now()
        save_draft(lease=lease, token=token, draft=draft, version=version, now=now)
        return Response({"saved_at": now, "version": version})


class HeartbeatView(APIView):
    """A sign of life."""

    scope = Scope.ANNOTATE

    @HEARTBEAT
    def post(self, request: Request, lease_id: int) -> Response:
        """Keep the lease for its minutes from now."""
        lease = get_lease(request.user, lease_id)
        token = _read_token(request)
        return Response({"expires_at": renew_lease(lease=lease, token=token, now=timezone.now())})


class SubmitView(APIView):
    """Finished work."""

    scope = Scope.ANNOTATE

    @SUBMIT
    def post(self, request: Request, lease_id: int) -> Response:
        """Record all wanted answers once; a retry with the same key returns the first result."""
        lease = get_lease(request.user, lease_id)
        key = _idempotency_key(request)
        with reading_body(request) as body:
            token = body.text("token", is_required=True)
            work = read_work(body)
        receipt = submit(
            lease=lease,
            token=token,
            work=work,
            key=key,
            request_hash=_hash_request(lease_id, request.data),
            now=timezone.now(),
        )
        return Response(
            {
                "submission": receipt.submission,
                "saved_at": receipt.saved_at,
                "counts": receipt.counts,
            }
        )


class SkipView(APIView):
    """Somebody else should answer this."""

    scope = Scope.ANNOTATE

    @SKIP
    def post(self, request: Request, lease_id: int) -> Response:
        """Give the ask back for good, with a reason."""
        lease = get_lease(request.user, lease_id)
        with reading_body(request) as body:
            token = body.text("token", is_required=True)
            reason = body.text("reason", is_required=True, max_length=2000)
        skip(lease=lease, token=token, reason=reason)
        return Response({"counts": count_queue(lease.project_id, lease.annotator_id)})


class ReleaseView(APIView):
    """Not now."""

    scope = Scope.ANNOTATE

    @RELEASE
    def post(self, request: Request, lease_id: int) -> Response:
        """Give the ask back to its rank."""
        lease = get_lease(request.user, lease_id)
        release_lease(lease=lease, token=_read_token(request))
        return Response({"counts": count_queue(lease.project_id, lease.annotator_id)})


def _read_token(request: Request) -> str:
    with reading_body(request) as body:
        return body.text("token", is_required=True)


def _idempotency_key(request: Request) -> str:
    key: str = request.META.get("HTTP_IDEMPOTENCY_KEY", "").strip()
    if not key or len(key) > MAX_KEY or not key.isprintable():
        raise InvalidInput(
            [
                Problem(
                    "Idempotency-Key",
                    f"The header Idempotency-Key has 1 to {MAX_KEY} characters, not {len(key)}: "
                    "make one for each new answer and send it again with each retry.",
                )
            ]
        )
    return key


def _hash_request(lease_id: int, body: Any) -> str:
    canonical = orjson.dumps([lease_id, body], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(canonical).hexdigest()
