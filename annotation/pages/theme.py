"""The theme a person chose, kept in a cookie that the page's first byte already knows."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

THEMES = ("light", "dark")
YEAR = 365 * 24 * 3600


@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    """Keep the chosen theme, or follow the system again, and go back to the page."""
    response = HttpResponseRedirect(_page_to_return_to(request))
    theme = request.POST.get("theme", "")
    if theme in THEMES:
        response.set_cookie(
            "theme", theme, max_age=YEAR, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE
        )
    else:
        response.delete_cookie("theme", samesite="Lax")
    return response


def _page_to_return_to(request: HttpRequest) -> str:
    page = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(page, {request.get_host()}, request.is_secure())
    return page if is_ours else reverse("projects")
