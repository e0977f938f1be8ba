"""People by REST, for admins; one person's answers, for owners."""

from typing import Any

from django.contrib.auth import get_user_model
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.accounts.access import get_project, require_admin
from annotation.erasure.services import anonymise, delete_answers, erase, people, set_active
from annotation.errors import InvalidInput, NotFound, Problem
from annotation.models import Annotation, Lease, Role
from annotation.web.rest import page_of
from annotation.web.serializers import (
    CHANGES,
    PAGE,
    READS,
    FlagField,
    Message,
    NameField,
    TextField,
    documented,
    page_message,
)


class AccountMessage(Message):
    """Somebody with an account."""

    id = s.IntegerField(source="pk")
    name = s.CharField(source="username")
    is_active = s.BooleanField()
    is_admin = s.BooleanField(source="is_superuser")
    n_projects = s.IntegerField()
    n_answers = s.IntegerField()
    last_sign_in = s.DateTimeField(source="last_login", allow_null=True)


class PeopleView(APIView):
    """People."""

    @documented(tag="people", answers={200: page_message(AccountMessage)}, parameters=PAGE)
    def get(self, request: Request) -> Response:
        """Return everybody with an account, for admins."""
        require_admin(request.user)
        page = page_of(people().order_by(), request, sort="id")
        rows = AccountMessage.render_all(page.rows)
        return Response({"results": rows, "next": page.next})


class AccountBody(Message):
    """Whether somebody may sign in."""

    is_active = FlagField()


class EraseBody(Message):
    """Whom to erase, typed by hand, and what becomes of their answers."""

    name = TextField(help_text="The person's name, so that nobody is erased by a slip.")
    answers = NameField(("keep", "delete"), help_text="Kept answers stay under a name by chance.")


class Erased(Message):
    """What went."""

    n_answers = s.IntegerField()


class PersonView(APIView):
    """A person."""

    @documented(tag="people", body=AccountBody, answers={200: AccountMessage}, errors=CHANGES)
    def patch(self, request: Request, person_id: int) -> Response:
        """Close an account or open it again; answers and memberships stay."""
        person = _find(request, person_id)
        is_active = AccountBody.read(request.data)["is_active"]
        set_active(person=person, is_active=is_active, actor=request.user)
        return Response(AccountMessage.render(people().get(pk=person.pk)))

    @documented(tag="people", body=EraseBody, answers={200: Erased}, errors=CHANGES)
    def delete(self, request: Request, person_id: int) -> Response:
        """Erase a person, with or without their answers."""
        person = _find(request, person_id)
        body = EraseBody.read(request.data)
        if body["name"] != person.username:
            message = f"'{body['name']}' is not their name. Nobody was erased."
            raise InvalidInput([Problem("name", message)])
        keeps = body["answers"] == "keep"
        n_answers = erase(person=person, keeps_answers=keeps, actor=request.user)
        return Response(Erased.render({"n_answers": n_answers}))


class AnonymiseView(APIView):
    """A person without a name."""

    @documented(tag="people", answers={200: AccountMessage}, errors=(*READS, 409))
    def post(self, request: Request, person_id: int) -> Response:
        """Take a person's name off everything they did, and close the account for good."""
        person = anonymise(person=_find(request, person_id), actor=request.user)
        return Response(AccountMessage.render(people().get(pk=person.pk)))


class AnswersBody(Message):
    """Whose answers."""

    person = TextField()


class AnswersView(APIView):
    """Everybody's answers."""

    @documented(tag="people", body=AnswersBody, answers={200: Erased}, errors=CHANGES)
    def delete(self, request: Request, project_id: int) -> Response:
        """Delete what one person answered in a project; the queue asks for it again."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        name = AnswersBody.read(request.data)["person"]
        person = get_user_model()._default_manager.filter(username=name).first()
        worked = person is not None and (
            Lease.objects.filter(project=project, annotator=person).exists()
            or Annotation.objects.filter(sentence__project=project, author=person).exists()
        )
        if person is None or not worked:
            message = f"Nobody of the name '{name}' has answered in this project."
            raise InvalidInput([Problem("person", message)])
        n_answers = delete_answers(project=project, person=person, actor=request.user)
        return Response(Erased.render({"n_answers": n_answers}))


def _find(request: Request, person_id: int) -> Any:
    require_admin(request.user)
    person = get_user_model()._default_manager.filter(pk=person_id).first()
    if person is None:
        raise NotFound("No such person.")
    return person
