"""The final answer: gold, else what people say together, else the one answer there is."""

import itertools

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from annotation.adjudication.final import FinalAnswer, final_answers
from annotation.corpora.exports import export_corpus
from annotation.models import Annotation, Corpus, Gold, Sentence
from mtl_engine.kinds import KINDS

TOKENS = ["Ada", "sailed", "to", "Oster"]


@pytest.fixture
def sentence(project):
    corpus = Corpus.objects.create(project=project, name="c", format="text", n_sentences=1)
    return Sentence.objects.create(
        project=project, corpus=corpus, position=0, text=" ".join(TOKENS), tokens=TOKENS,
        offsets=[[0, 3], [4, 10], [11, 13], [14, 19]], n_tokens=4,
    )  # fmt: skip


@pytest.fixture
def answer(project, sentence):
    def give(name, task, value):
        person, _ = get_user_model().objects.get_or_create(username=name)
        now = timezone.now()
        Annotation.objects.create(
            sentence=sentence, task=project.tasks.get(name=task), author=person, value=value,
            created_at=now, updated_at=now,
        )  # fmt: skip

    return give


def final(project, sentence, task):
    return final_answers(project)[sentence.pk][task]


def test_a_single_answer_counts(project, sentence, answer):
    answer("ann", "topic", "delay")
    assert final(project, sentence, "topic") == FinalAnswer("delay", "single", ("ann",))


def test_gold_counts_before_everything_else(project, sentence, answer):
    answer("ann", "topic", "delay")
    Gold.objects.create(
        sentence=sentence, task=project.tasks.get(name="topic"), value="arrival",
        source=Gold.Source.ADJUDICATED, updated_at=timezone.now(),
    )  # fmt: skip
    found = final(project, sentence, "topic")
    assert (found.value, str(found)) == ("arrival", "gold (adjudicated)")


def test_unequal_answers_are_voted_on_item_by_item(project, sentence, answer):
    answer("ann", "entities", [[0, 1, "PER"], [3, 4, "LOC"]])
    answer("ben", "entities", [[0, 1, "PER"], [3, 4, "PER"]])
    answer("cyd", "entities", [[3, 4, "LOC"]])
    found = final(project, sentence, "entities")
    assert found.value == [[0, 1, "PER"], [3, 4, "LOC"]]
    assert str(found) == "voted: ann, ben, cyd"


def test_equal_answers_are_agreed_in_whatever_order_they_were_given(project, sentence, answer):
    answer("ann", "entities", [[0, 1, "PER"], [3, 4, "LOC"]])
    answer("ben", "entities", [[3, 4, "LOC"], [0, 1, "PER"]])
    assert final(project, sentence, "entities").source == "agreed"


def test_a_person_who_is_trusted_more_decides(project, sentence, answer):
    answer("ann", "topic", "delay")
    answer("ben", "topic", "arrival")
    assert final(project, sentence, "topic").value == "delay"  # of equals the older
    ben = get_user_model().objects.get(username="ben")
    found = final_answers(project, weights={"topic": {ben.pk: 2.0}})
    assert found[sentence.pk]["topic"].value == "arrival"


def test_relations_link_only_spans_of_the_final_answer(project, sentence, answer):
    both = [[0, 1, "PER"], [3, 4, "LOC"]]
    for name, spans in (("ann", both), ("ben", both[:1]), ("cyd", both[:1])):
        answer(name, "entities", spans)
    answer("ann", "links", [[0, 1, 3, 4, "in"]])
    answer("ben", "links", [[0, 1, 3, 4, "in"]])
    answer("cyd", "links", [])
    assert final(project, sentence, "entities").value == [[0, 1, "PER"]]
    assert final(project, sentence, "links").value == []


@pytest.mark.parametrize("people", [["ann"], ["ann", "ben"]])
@pytest.mark.parametrize("has_gold", [False, True])
def test_nothing_links_a_span_that_gold_has_taken_away(project, sentence, answer, people, has_gold):
    link = [[0, 1, 3, 4, "in"]]
    for name in people:
        answer(name, "entities", [[0, 1, "PER"], [3, 4, "LOC"]])
        answer(name, "links", link)
    assert final(project, sentence, "links").value == link
    gold = {"entities": [[0, 1, "PER"]], **({"links": link} if has_gold else {})}
    for name, value in gold.items():
        Gold.objects.create(
            sentence=sentence, task=project.tasks.get(name=name), value=value,
            source=Gold.Source.ADJUDICATED, updated_at=timezone.now(),
        )  # fmt: skip
    assert final(project, sentence, "links").value == []


def test_hidden_tasks_are_left_out(project, sentence, answer):
    answer("ann", "topic", "delay")
    project.tasks.filter(name="topic").update(is_hidden=True)
    assert final_answers(project) == {}


def test_the_default_export_has_the_final_answers_and_their_sources(project, sentence, answer):
    answer("ann", "topic", "delay")
    answer("ann", "entities", [[0, 1, "PER"]])
    text = b"".join(export_corpus(project=project, format="jsonl")).decode()
    assert '"topic":"delay"' in text
    assert '"sources":{"entities":"single: ann","topic":"single: ann"}' in text


SPANS = st.lists(
    st.sampled_from(
        [[a, b, label] for a, b in itertools.combinations(range(5), 2) for label in ("X", "Y")]
    ),
    max_size=4,
    unique_by=tuple,
)


@given(answers=st.lists(SPANS, min_size=1, max_size=4))
def test_no_item_is_invented(answers):
    kind = KINDS["spans"]
    merged = kind.merge(answers)
    assert {tuple(item) for item in merged} <= {tuple(item) for a in answers for item in a}
