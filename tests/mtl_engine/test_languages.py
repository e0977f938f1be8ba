"""English is told from other languages by its commonest words."""

from mtl_engine.languages import FEWEST_WORDS, looks_english

ENGLISH = "the flight that I want to book from Boston is not on your list".split()
COMMANDS = "show me all flights from denver to boston with a stop".split()
GERMAN = "der Flug den ich von Boston buchen will steht nicht auf der Liste".split()
FRENCH = "le vol que je veux prendre de Boston ne figure pas sur la liste".split()


def test_languages_are_told_apart_where_there_are_enough_words():
    for tokens, is_english in ((ENGLISH, True), (COMMANDS, True), (GERMAN, False), (FRENCH, False)):
        assert looks_english([tokens] * 30) is is_english
    assert looks_english([["東京", "に", "行く"]] * 100) is False


def test_too_few_words_may_be_of_any_language():
    assert looks_english([GERMAN] * (FEWEST_WORDS // len(GERMAN) - 1))
    assert looks_english([])
