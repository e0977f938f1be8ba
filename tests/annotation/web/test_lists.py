"""Pages by cursor, and filters that are allowed by name."""

import pytest
from django.test import RequestFactory
from rest_framework.request import Request

from annotation.errors import InvalidInput
from annotation.models import Sentence
from annotation.web.rest import chosen_sort, filtered, page_of, plain_text, whole_number, yes_or_no
from tests.annotation.queue.conftest import add_sentences, new_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def sentences(db):
    project = new_project(n_sentences=3)
    add_sentences(project, 4)
    return Sentence.objects.all()


def query(**parameters):
    return Request(RequestFactory().get("/", parameters))


@pytest.mark.parametrize("sort", ["-id", "id", "position", "-position"])
def test_pages_hold_every_row_once_in_order(sentences, sort):
    seen, cursor = [], {}
    while True:
        page = page_of(sentences, query(limit=2, **cursor), sort=sort)
        seen += page.rows
        if page.next is None:
            break
        cursor = {"cursor": page.next}
    sign = -1 if sort.startswith("-") else 1
    field = sort.lstrip("-")
    expected = sorted(sentences, key=lambda s: (sign * getattr(s, field), sign * s.pk))
    assert seen == expected


def test_rows_added_in_front_do_not_shift_the_next_page(sentences):
    first = page_of(sentences, query(limit=3))
    add_sentences(sentences[0].project, 2)
    second = page_of(Sentence.objects.all(), query(limit=9, cursor=first.next))
    assert not {row.pk for row in first.rows} & {row.pk for row in second.rows}
    assert len(second.rows) == 4


@pytest.mark.parametrize(
    "cursor", ["x", "!!", "W10", "WzEsMiwzXQ", "WyJhIiwiYiJd", "W251bGwsMV0", "bnVsbA", "é"]
)
def test_a_cursor_of_another_list_is_an_error(sentences, cursor):
    with pytest.raises(InvalidInput, match="cursor"):
        page_of(sentences, query(cursor=cursor), sort="position")


@pytest.mark.parametrize("limit", ["0", "201", "-1", "ten", "1e9", "²", "9" * 40, "0000001000000"])
def test_a_limit_out_of_bounds_is_an_error(sentences, limit):
    with pytest.raises(InvalidInput, match="limit"):
        page_of(sentences, query(limit=limit))


ALLOWED = {
    "corpus": ("corpus__name", plain_text),
    "n_tokens": ("n_tokens", whole_number),
    "is_test": ("is_test", yes_or_no),
}


def test_a_filter_keeps_the_rows_that_fit(sentences):
    assert filtered(sentences, query(corpus="c0", is_test="false"), ALLOWED).count() == 3
    assert filtered(sentences, query(n_tokens="4", limit="2"), ALLOWED).count() == 7


def test_a_parameter_that_is_not_allowed_is_named_with_those_that_are(sentences):
    with pytest.raises(InvalidInput, match="corpus, cursor, is_test, limit, n_tokens, sort"):
        filtered(sentences, query(project__owner="1"), ALLOWED)


@pytest.mark.parametrize(
    "wrong", [{"n_tokens": "four"}, {"is_test": "1"}, {"corpus": "a\0"}, {"n_tokens": "9" * 30}]
)
def test_a_value_that_cannot_be_read_is_an_error(sentences, wrong):
    with pytest.raises(InvalidInput):
        filtered(sentences, query(**wrong), ALLOWED)


def test_sorts_are_allowed_by_name(sentences):
    assert chosen_sort(query(), ["-id", "position"]) == "-id"
    assert chosen_sort(query(sort="position"), ["-id", "position"]) == "position"
    with pytest.raises(InvalidInput, match="-id, position"):
        chosen_sort(query(sort="text"), ["-id", "position"])
