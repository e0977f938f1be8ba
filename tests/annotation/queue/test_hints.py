"""Hints from earlier answers: labels of the same words, heads of words that behave alike."""

import time

import pytest
from django.utils import timezone

from annotation.models import Annotation, Ask, Corpus, Gold, Sentence
from annotation.projects.services import create_project
from annotation.queue import suggestions
from annotation.queue.asks import ask_everything
from annotation.queue.suggestions import hints_for

TASKS = [
    {"name": "slots", "kind": "spans", "labels": ["from", "to"]},
    {"name": "words", "kind": "tags", "labels": ["NOUN", "VERB", "DET"]},
    {"name": "topic", "kind": "classes", "labels": ["travel", "other"]},
    {"name": "syntax", "kind": "tree", "labels": ["det", "nsubj", "root", "obj"]},
    {"name": "links", "kind": "relations", "parent": "slots", "labels": ["then"]},
]
SAID = {
    "slots": [[1, 2, "from"]],
    "words": ["DET", "NOUN", "VERB"],
    "topic": "travel",
    "syntax": [[2, "det"], [3, "nsubj"], [0, "root"]],
    "links": [],
}


@pytest.fixture
def project(db):
    return create_project(spec={"name": "Journeys", "tasks": TASKS})


def _sentence(project, text):
    corpus, _ = Corpus.objects.get_or_create(project=project, name="c", format="text")
    tokens = text.split()
    return Sentence.objects.create(
        project=project, corpus=corpus, position=corpus.sentences.count(), text=text,
        tokens=tokens, offsets=[], n_tokens=len(tokens),
    )  # fmt: skip


def _answer(project, text, answers=SAID):
    sentence = _sentence(project, text)
    for task in project.tasks.all():
        Gold.objects.create(
            sentence=sentence, task=task, value=answers[task.name], source="imported",
            updated_at=timezone.now(),
        )  # fmt: skip
    return sentence


def _hints(project, sentence, **fields):
    ask_everything(project=project, now=timezone.now())
    ask = Ask.objects.get(sentence=sentence, queue__is_current=True)
    Ask.objects.filter(pk=ask.pk).update(**fields)
    return hints_for(Ask.objects.select_related("queue__project", "sentence").get(pk=ask.pk))


def test_the_same_words_bring_their_labels_whatever_their_case(project):
    _answer(project, "the BOAT left")
    hints = _hints(project, _sentence(project, "a boat left today"))
    assert hints["slots"] == {"words": [[1, 2, [["from", 1]]]]}
    assert hints["words"] == {"words": [[1, 2, [["NOUN", 1]]], [2, 3, [["VERB", 1]]]]}
    assert "topic" not in hints
    assert "links" not in hints


def test_a_word_that_is_mostly_left_alone_brings_no_label(project):
    _answer(project, "the boat left", {**SAID, "slots": [[0, 1, "from"], [1, 2, "from"]]})  # a slip
    for name in ("boat", "ferry", "tram", "train", "car", "bus"):
        _answer(project, f"the {name} left")
    hints = _hints(project, _sentence(project, "the boat sank"))
    assert hints["slots"] == {"words": [[1, 2, [["from", 2]]]]}


def test_of_several_labels_the_one_that_fits_between_its_neighbours_comes_first(project):
    for text, start, label in (
        ("to bergen today", 1, "to"),
        ("to bergen tomorrow", 1, "to"),
        ("to bergen soon", 1, "to"),
        ("from bergen now", 1, "from"),
        ("from oslo now", 1, "from"),
        ("from rome now", 1, "from"),
    ):
        _answer(project, text, {**SAID, "slots": [[start, start + 1, label]]})
    hints = _hints(project, _sentence(project, "not from bergen but to bergen"))
    assert hints["slots"]["words"] == [
        [2, 3, [["from", 1], ["to", 3]]],
        [5, 6, [["to", 3], ["from", 1]]],
    ]


def test_the_same_text_brings_its_class(project):
    _answer(project, "the boat left")
    hints = _hints(project, _sentence(project, "The boat left"))
    assert hints["topic"] == {"sentence": {"travel": 1}}


def test_heads_are_offered_as_similar_words_had_them(project):
    for text in ("the boat left", "the ferry left", "the tram left"):
        _answer(project, text)
    heads = _hints(project, _sentence(project, "the lorry left"))["syntax"]["heads"]
    assert [offers[0] for offers in heads] == [[2, "det"], [3, "nsubj"], [0, "root"]]
    assert all(len(offers) <= 4 for offers in heads)


def test_what_is_answered_meanwhile_is_remembered_too(project):
    asked = _sentence(project, "the boat left")
    assert _hints(project, asked) == {}
    _answer(project, "a boat sank")
    assert _hints(project, asked)["slots"] == {"words": [[1, 2, [["from", 1]]]]}


def test_answers_to_the_sentence_itself_stay_hidden(project, django_user_model):
    asked = _sentence(project, "the boat left")
    other = django_user_model.objects.create_user("ben")
    for task in project.tasks.all():
        Annotation.objects.create(
            sentence=asked, task=task, author=other, value=SAID[task.name],
            created_at=timezone.now(), updated_at=timezone.now(),
        )  # fmt: skip
    assert _hints(project, asked) == {}
    elsewhere = _sentence(project, "the boat left")
    assert _hints(project, elsewhere)["topic"] == {"sentence": {"travel": 1}}


def test_a_blind_ask_and_a_project_without_suggestions_get_none(project):
    _answer(project, "the boat left")
    asked = _sentence(project, "a boat left")
    assert _hints(project, asked, is_blind=True) == {}
    project.shows_suggestions = False
    project.save()
    assert _hints(project, asked) == {}


def test_words_on_which_nothing_ever_hung_are_no_likely_heads(project):
    for text, tree in (
        ("so boat .", [[2, "det"], [0, "root"], [2, "obj"]]),
        ("so ferry .", [[2, "det"], [0, "root"], [2, "obj"]]),
        ("so . tram", [[3, "det"], [3, "obj"], [0, "root"]]),
    ):
        _answer(project, text, {**SAID, "syntax": tree})
    heads = _hints(project, _sentence(project, "so . lorry"))["syntax"]["heads"]
    assert heads[0][0] == [
        3,
        "det",
    ]  # most heads of "so" were the next word; here it is a full stop


def test_hints_for_the_longest_sentences_come_at_once(project):
    """Each word of them was compared with all others: minutes in which nobody else was answered."""
    words = [f"w{i % 300}" for i in range(9_000)]
    tree = [[0, "root"], *([[1, "obj"]] * (len(words) - 1))]
    answers = {**SAID, "words": ["NOUN"] * len(words), "syntax": tree}
    _answer(project, " ".join(words), {**answers, "slots": [[0, 9_000, "from"], [0, 1, "to"]]})
    short, long = _sentence(project, " ".join(words[:400])), _sentence(project, " ".join(words[1:]))
    started = time.process_time()
    assert len(_hints(project, short)["syntax"]["heads"]) == 400
    assert set(_hints(project, long)) == {"words"}
    assert time.process_time() - started < 5


def test_of_very_long_answers_only_the_latest_are_remembered(project, monkeypatch):
    monkeypatch.setattr(suggestions, "MOST_REMEMBERED", 7)
    _answer(project, "the ship left")
    _answer(project, "the boat left")
    _answer(project, "the raft left")
    hints = _hints(project, _sentence(project, "the ship or boat or raft"))
    assert [words[:2] for words in hints["slots"]["words"]] == [[3, 4], [5, 6]]
