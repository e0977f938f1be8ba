import pytest
from django.contrib.messages import success
from django.http import HttpResponse
from django.test import RequestFactory

from annotation.web.frame import PageMessages

pytestmark = pytest.mark.any_database


def _messages(path):
    """Return what a view that says something leaves, and the response."""

    def view(request):
        if not path.startswith("/api/"):
            success(request, "Saved.")
        return HttpResponse("done")

    request = RequestFactory().get(path)
    request.session = {}
    response = PageMessages(view)(request)
    return getattr(request, "_messages", None), response


def test_pages_can_say_something_to_the_person():
    kept, response = _messages("/projects/")
    assert [str(message) for message in kept] == ["Saved."]
    assert response.content == b"done"


def test_rest_answers_without_the_cost_of_messages():
    kept, response = _messages("/api/projects/")
    assert kept is None
    assert response.content == b"done"
