"""Browsing: pages by place, search, filters."""

from itertools import pairwise

import pytest

from annotation.corpora.selectors import (
    Place,
    SentenceFilter,
    answers_on,
    browse_sentences,
    count_sentences,
    get_sentence,
    place_of_number,
)
from annotation.errors import NotFound
from annotation.models import Sentence
from annotation.projects.services import create_project
from tests.annotation.corpora.test_imports import CONLLU, load


@pytest.fixture
def shelf(project):
    """A project with corpora of 7, 1 and 5 sentences."""
    number = 0
    for name, n in (("a", 7), ("b", 1), ("c", 5)):
        lines = "".join(f"sentence {number + i} of {name}\n" for i in range(n))
        load(project, lines, format="text", labels="none", name=name)
        number += n
    return project


def numbers(page):
    return [int(sentence.tokens[1]) for sentence in page.sentences]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 13, 50])
def test_pages_follow_each_other_without_gap_or_double_both_ways(shelf, size):
    seen, place, pages = [], None, []
    while True:
        page = browse_sentences(shelf, start=place, size=size)
        assert page.n_total == 13
        assert page.first_number == len(seen) + 1
        seen += numbers(page)
        pages.append(page)
        if page.next is None:
            break
        place = page.next
    assert seen == list(range(13))
    for earlier, later in pairwise(pages):
        assert numbers(browse_sentences(shelf, start=later.previous, size=size)) == numbers(earlier)


def test_every_number_has_its_place(shelf):
    for number in range(1, 14):
        page = browse_sentences(shelf, start=place_of_number(shelf, number), size=1)
        assert numbers(page) == [number - 1]
        assert page.first_number == number
    assert place_of_number(shelf, 0) is None
    assert place_of_number(shelf, 14) is None


def test_one_corpus_is_browsed_alone(shelf):
    wanted = SentenceFilter(corpus=shelf.corpora.get(name="c"))
    page = browse_sentences(shelf, wanted, size=3)
    assert numbers(page) == [8, 9, 10]
    assert (page.first_number, page.n_total, page.previous) == (1, 5, None)


def test_search_finds_parts_of_words_in_any_case_and_script(project):
    text = "Die STRASSE nach Kiel\nÉTÉ à Paris\nΣΟΦΙΑ says 100% _yes_\n"
    load(project, text, format="text", labels="none")

    def found(query):
        page = browse_sentences(project, SentenceFilter(text=query))
        return [sentence.position for sentence in page.sentences]

    assert found("strass") == [0]
    assert found("été") == [1]
    assert found("σοφ") == [2]
    assert found("0% _Y") == [2]
    assert found("%") == [2]
    assert found("'; drop") == []
    assert found("é(") == []


def test_filtered_pages_are_linked_and_not_counted(shelf):
    wanted = SentenceFilter(text="sentence 1")
    page = browse_sentences(shelf, wanted, size=2)
    assert numbers(page) == [1, 10]
    assert page.n_total is page.first_number is None
    after = browse_sentences(shelf, wanted, start=page.next, size=2)
    assert numbers(after) == [11, 12]
    assert numbers(browse_sentences(shelf, wanted, start=after.previous, size=2)) == [1, 10]


def test_filters_look_at_gold_annotations_labels_and_the_test_slice(project, ada):
    load(project, CONLLU, name="gold")
    load(project, CONLLU, name="mine", labels="annotations", author=ada)
    Sentence.objects.filter(corpus__name="mine", key="s1").update(is_test=True)
    entities = project.tasks.get(name="entities")

    def found(**wanted):
        page = browse_sentences(project, SentenceFilter(**wanted))
        return [(s.corpus.name, s.key) for s in page.sentences]

    assert found(has_gold=True) == [("gold", "s1"), ("gold", "s2")]
    assert found(has_gold=False, task=entities) == [("mine", "s1"), ("mine", "s2")]
    assert found(has_annotation=True, text="hull") == [("mine", "s2")]
    assert found(label="PER", task=entities) == [("gold", "s1")]
    assert found(label="per", task=entities) == []
    assert found(is_test=True) == [("mine", "s1")]


def test_labels_beyond_ascii_are_found_however_they_are_stored(db):
    spec = {"name": "P", "tasks": [{"name": "t", "kind": "spans", "labels": ['Schiff "ß"', "x"]}]}
    project = create_project(spec=spec)
    line = '{"tokens": ["a"], "labels": {"t": [[0, 1, "Schiff \\"ß\\""]]}}\n'
    load(project, line, format="jsonl", file_name="x.jsonl")
    wanted = SentenceFilter(task=project.tasks.get(), label='Schiff "ß"')
    assert len(browse_sentences(project, wanted).sentences) == 1
    gold = project.tasks.get().gold.get()
    gold.save()  # Django writes JSON with escapes
    assert len(browse_sentences(project, wanted).sentences) == 1


def test_an_empty_project_has_an_empty_page(project):
    page = browse_sentences(project)
    assert (page.sentences, page.next, page.previous, page.n_total) == ([], None, None, 0)


def test_places_are_read_from_addresses_with_care():
    assert Place.read("3.17") == Place(3, 17)
    assert str(Place(3, 17)) == "3.17"
    for text in ("", "3", "3.", "-1.2", "3.1.2", "9" * 40 + ".1", "²³.1"):
        assert Place.read(text) is None


def test_the_answers_of_a_page_come_together(project, ada):
    load(project, CONLLU, labels="annotations", author=ada, name="a")
    load(project, CONLLU, name="b")
    page = browse_sentences(project)
    answers = answers_on(page.sentences)
    mine = answers[page.sentences[0].pk]
    assert mine.annotations["entities"] == {"ada": [[0, 1, "PER"]]}
    assert mine.n_annotators == 1
    assert answers[page.sentences[2].pk].gold["pos"] == ["NOUN", "VERB", "PUNCT"]
    assert count_sentences(project) == 4


def test_a_sentence_of_another_project_is_not_found(project):
    load(project, CONLLU)
    other = create_project(
        spec={"name": "Other", "tasks": [{"name": "t", "kind": "classes", "labels": ["x"]}]}
    )
    sentence = Sentence.objects.first()
    assert get_sentence(project, sentence.pk) == sentence
    for sentence_id in (sentence.pk, "x", sentence.pk + 99):
        with pytest.raises(NotFound):
            get_sentence(other, sentence_id)
