"""A person's own API tokens; made and withdrawn only in a session of the pages."""

from typing import Any

from django.http import Http404
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import Session
from annotation.api.bodies import reading_body
from annotation.api.pagination import page_of
from annotation.api.schema import LIST_TOKENS, NEW_TOKEN, WITHDRAW_TOKEN
from annotation.models import ApiToken
from annotation.selectors.api_tokens import own_tokens
from annotation.services.api_tokens import create_token, withdraw_token


class OnlyInSession(APIView):
    """A token cannot make or read tokens."""

    authentication_classes: list[type[BaseAuthentication]] = [Session]


class TokensView(OnlyInSession):
    """Tokens."""

    @LIST_TOKENS
    def get(self, request: Request) -> Response:
        """Return one's own tokens, newest first; the secrets are not stored."""
        page = page_of(own_tokens(request.user), request)
        return Response({"results": [_describe(token) for token in page.rows], "next": page.next})

    @NEW_TOKEN
    def post(self, request: Request) -> Response:
        """Make a token; its secret is shown this once."""
        with reading_body(request) as body:
            name = body.text("name", is_required=True, max_length=120)
            scope = body.choice("scope", ApiToken.Scope.values)
            days = body.whole_number("days", 90, low=1, high=366)
        new = create_token(user=request.user, name=name, scope=scope, days=days, now=timezone.now())
        return Response({**_describe(new.token), "secret": new.secret}, status=201)


class TokenView(OnlyInSession):
    """One token."""

    @WITHDRAW_TOKEN
    def delete(self, request: Request, token_id: int) -> Response:
        """Withdraw one's own token at once."""
        token = own_tokens(request.user).filter(pk=token_id).first()
        if token is None:
            raise Http404("No such token.")
        withdraw_token(token=token)
        return Response(status=204)


def _describe(token: ApiToken) -> dict[str, Any]:
    return {
        "id": token.pk,
        "name": token.name,
        "scope": token.scope,
        "created_at": token.created_at,
        "expires_at": token.expires_at,
        "last_used_on": token.last_used_on,
    }
