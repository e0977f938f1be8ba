from collections import Counter

import pytest

from annotation.answers import AnswerRules, check_answer
from annotation.demo.grammar import sentences
from annotation.demo.templates import NEWS, TRAVEL

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
            rules = AnswerRules(kind, (), is_open=True)
            assert check_answer(rules, value, sentence.tokens) == [], sentence
        rules = AnswerRules("relations", (), is_open=True)
        assert check_answer(rules, sentence.relations, sentence.tokens, sentence.entities) == []


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
