from collections import Counter

import pytest

from annotation.demo.grammar import sentences
from annotation.demo.templates import NEWS, TRAVEL
from mtl_engine.kinds import KINDS

SAMPLES = {
    "news": list(sentences(NEWS, 400, seed=1)),
    "travel": list(sentences(TRAVEL, 400, seed=1)),
}


@pytest.mark.parametrize("domain", SAMPLES)
def test_every_demo_sentence_has_valid_answers_to_every_task(domain):
    for sentence in SAMPLES[domain]:
        for kind, value in (
            ("tree", sentence.tree),
            ("tags", sentence.tags),
            ("spans", sentence.entities),
            ("spans", sentence.slots),
        ):
            assert KINDS[kind].check(value, sentence.tokens, is_open=True) == [], sentence
        problems = KINDS["relations"].check(
            sentence.relations, sentence.tokens, is_open=True, parent_spans=sentence.entities
        )
        assert problems == []


def test_the_same_seed_gives_the_same_sentences_and_another_seed_others():
    again = list(sentences(NEWS, 400, seed=1))
    other = list(sentences(NEWS, 400, seed=2))
    assert again == SAMPLES["news"]
    assert [s.tokens for s in other] != [s.tokens for s in again]


def test_no_sentence_is_there_twice():
    texts = [" ".join(s.tokens) for s in SAMPLES["travel"]]
    assert len(set(texts)) == len(texts)


def test_some_words_stand_for_several_types_so_that_context_matters():
    types: dict[str, Counter[str]] = {}
    for sentence in SAMPLES["news"]:
        for start, end, label in sentence.entities:
            for word in sentence.tokens[start:end]:
                types.setdefault(word, Counter())[label] += 1
    assert len(types["Lincoln"]) >= 3


@pytest.mark.parametrize("domain", SAMPLES)
def test_some_labels_are_rare_and_the_words_have_a_long_tail(domain):
    labels = Counter(sentence.label for sentence in SAMPLES[domain])
    assert max(labels.values()) > 5 * min(labels.values())
    words = Counter(word for sentence in SAMPLES[domain] for word in sentence.tokens)
    assert sum(n == 1 for n in words.values()) > len(words) / 4
    lower = [s for s in SAMPLES[domain] if all(w == w.lower() for w in s.tokens)]
    assert lower
