"""Accounts for admins (shut out, let in, sent a link), and answers that an owner removes."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import get_user_model
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from annotation.accounts.access import get_project, refuse_others_than_admins
from annotation.accounts.authentication import turn_off
from annotation.accounts.services import create_sign_in_link
from annotation.erasure.services import delete_answers, people, set_active
from annotation.errors import Conflict
from annotation.models import Role
from annotation.web.frame import Link, absolute_url


@login_required
@never_cache
@require_GET
def accounts(request: HttpRequest) -> HttpResponse:
    """Show everybody who has an account."""
    refuse_others_than_admins(request.user)
    return _page(request)


@login_required
@never_cache
@require_POST
def change_account(request: HttpRequest, user_id: int) -> HttpResponse:
    """Shut a person out, let them in again, or make a link that signs them in."""
    refuse_others_than_admins(request.user)
    person = get_object_or_404(people(), pk=user_id)
    name = person.get_username()
    try:
        if "deactivate" in request.POST:
            set_active(person=person, is_active=False, actor=request.user)
            messages.success(request, f"{name} is blocked. Their work stays.")
        elif "activate" in request.POST:
            set_active(person=person, is_active=True, actor=request.user)
            messages.success(request, f"{name} may sign in again.")
        elif "second_step_off" in request.POST:
            turn_off(user=person, actor=request.user)
            messages.success(request, f"{name} signs in by password alone until they set up codes.")
        elif "link" in request.POST and person.is_active:
            token = create_sign_in_link(user=person, now=timezone.now(), actor=request.user)
            address = absolute_url(request, "sign-in-link", token)
            return _page(request, Link(f"A link that signs {name} in is ready", address))
    except Conflict as refusal:
        messages.error(request, str(refusal))
    return redirect("people")


@login_required
@require_POST
def remove_answers(request: HttpRequest, project_id: int, person_id: int) -> HttpResponse:
    """Delete what one member answered in a project; the queue asks for it again."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    found = get_user_model()._default_manager.filter(annotations__sentence__project=project)
    person = get_object_or_404(found.distinct(), pk=person_id)
    n = delete_answers(project=project, person=person, actor=request.user)
    messages.success(request, f"{n:,} answers of {person.get_username()} are deleted.")
    return redirect("members", project.pk)


def _page(request: HttpRequest, link: Link | None = None) -> HttpResponse:
    context: dict[str, Any] = {
        "people": people().select_related("second_step").order_by("username"),
        "link": link,
    }
    return render(request, "annotation/people.html", context)
