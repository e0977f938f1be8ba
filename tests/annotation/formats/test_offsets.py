"""Tokens and their places in the text."""

import subprocess
import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace

import pytest

from annotation.formats import offsets as places
from annotation.formats.offsets import cut_tokens, tokeniser_for, whitespace_tokens
from annotation.formats.records import FormatError, ReadOptions
from tests.annotation.formats.reading import archive, read


@pytest.mark.parametrize(
    ("text", "tokens", "offsets"),
    [
        ("a  bb", ["a", "bb"], [[0, 1], [3, 5]]),
        (" a ", ["a"], [[1, 2]]),
        ("👩‍👩‍👧 x", ["👩‍👩‍👧", "x"], [[0, 5], [6, 7]]),  # five code points, one picture
        ("e\u0301 x", ["e\u0301", "x"], [[0, 2], [3, 4]]),  # e and a combining accent
        ("أحمد هنا", ["أحمد", "هنا"], [[0, 4], [5, 8]]),
        ("東京\u3000都", ["東京", "都"], [[0, 2], [3, 4]]),  # ideographic space
        ("a\u00a0b a", ["a", "b", "a"], [[0, 1], [2, 3], [4, 5]]),  # no-break space
    ],
)
def test_white_space_separates_tokens_and_offsets_are_code_points(text, tokens, offsets):
    assert whitespace_tokens(text) == (tokens, offsets)


def test_a_language_tokenises_and_keeps_offsets():
    [record], problems = read("text", 'He said: "Don\'t 🙂 go!"\n', tokeniser="en")
    assert problems == []
    assert record.tokens == ["He", "said", ":", '"', "Do", "n't", "🙂", "go", "!", '"']
    for token, (start, end) in zip(record.tokens, record.offsets, strict=True):
        assert record.text[start:end] == token


def test_a_language_splits_sentences_of_one_line():
    records, _ = read("text", "It rains.  It pours! Why?\n", tokeniser="en", split_sentences=True)
    assert [record.text for record in records] == ["It rains.", "It pours!", "Why?"]
    assert [record.offsets[0] for record in records] == [[0, 2], [0, 2], [0, 3]]


@pytest.mark.parametrize(
    ("language", "text", "sentences"),
    [
        ("en", 'He left. "Go!" she said.', ["He left.", '"Go!"', "she said."]),
        ("en", "It rains. (So what?) Go.", ["It rains.", "(So what?)", "Go."]),
        ("ko", '줘. "가자!"라고 그가 말했다.', ["줘.", '"가자!"라고 그가 말했다.']),
    ],
)
def test_an_opening_sign_goes_with_the_sentence_that_it_opens(language, text, sentences):
    records, _ = read("text", f"{text}\n", tokeniser=language, split_sentences=True)
    assert [record.text for record in records] == sentences


def test_rows_that_are_split_have_numbered_ids():
    records, _ = read(
        "jsonl", '{"id":"a","text":"One. Two."}', tokeniser="en", split_sentences=True
    )
    assert [record.key for record in records] == ["a.1", "a.2"]


def test_chinese_is_cut_by_its_own_rules():
    [record], _ = read("text", "我去北京\n", tokeniser="zh")
    assert "".join(record.tokens) == "我去北京"
    assert len(record.tokens) > 1


@pytest.mark.parametrize("language", ["en", "xx"])
def test_what_is_seen_as_one_character_is_never_cut(language):
    text = "A 👩‍👩‍👧, 👍🏽 🇨🇭🇩🇪🏴󠁧󠁢󠁥󠁮󠁧󠁿 and ❤️."
    [record], _ = read("text", text, tokeniser=language)
    assert record.tokens == ["A", "👩‍👩‍👧", ",", "👍🏽", "🇨🇭", "🇩🇪", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "and", "❤️", "."]
    assert [text[start:end] for start, end in record.offsets] == record.tokens


def test_scripts_without_spaces_are_cut_where_no_language_is_stated():
    [record], _ = read("text", "東京でラーメン 2つ、Tokyoは", tokeniser="xx")
    assert record.tokens == ["東", "京", "で", "ラーメン", "2", "つ", "、", "Tokyo", "は"]


def test_labels_on_a_text_that_is_split_are_a_problem():
    content = '{"text":"One. Two.","label":[[0,3,"X"]]}'
    _, problems = read("jsonl", content, tokeniser="en", split_sentences=True)
    assert "labels on a text of 2 sentences" in problems[0]


def test_an_unknown_language_is_refused_with_the_remedy():
    with pytest.raises(FormatError, match="Tokeniser 'klingon' cannot be had"):
        read("text", "nuqneH\n", tokeniser="klingon")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("text", "fine\n" + "w " * 500_001),
        ("csv", 'text\nfine\n"' + "w " * 500_001 + '"\n'),
        ("jsonl", '{"text":"fine"}\n{"text":"' + "w " * 500_001 + '"}'),
    ],
)
def test_a_text_too_long_for_a_language_is_a_problem(name, content):
    records, problems = read(name, content, tokeniser="en")
    assert [record.text for record in records] == ["fine"]
    assert len(problems) == 1
    assert "at most 1,000,000" in problems[0] or "field larger than field limit" in problems[0]


def test_splitting_needs_a_language():
    with pytest.raises(FormatError, match="needs a language"):
        read("text", "One. Two.\n", split_sentences=True)


def test_tokenising_by_language_does_not_load_torch():
    code = (
        "import io, sys\n"
        "from annotation.formats.format import get_format\n"
        "from annotation.formats.records import ReadOptions\n"
        "options = ReadOptions(tokeniser='en')\n"
        "list(get_format('text').read(io.BytesIO(b'Hi there.'), file_name='f', options=options))\n"
        "print('spacy' in sys.modules, 'torch' in sys.modules, 'django' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False", "False"]


def test_tokens_are_cut_where_a_span_begins_or_ends_in_them():
    sentence = ("no pre-eclampsia", ["no", "pre-eclampsia"], [[0, 2], [3, 16]])
    cut, n = cut_tokens(sentence, [0, 2, 7, 16, 99])
    assert cut == (sentence[0], ["no", "pre-", "eclampsia"], [[0, 2], [3, 7], [7, 16]])
    assert n == 1
    assert cut_tokens(sentence, []) == (sentence, 0)


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("jsonl", '{"text": "no preeclampsia", "entities": [[6, 15, "DX"]]}'),
        ("doccano", '{"text": "no preeclampsia", "entities": [[6, 15, "DX"]]}'),
        (
            "labelstudio",
            '[{"data": {"text": "no preeclampsia"}, "annotations": [{"result": [{"id": "a", '
            '"from_name": "entities", "type": "labels", "value": {"start": 6, "end": 15, "labels": '
            '["DX"], "text": "eclampsia"}}]}]}]',
        ),
        ("brat", archive(d_txt="no preeclampsia\n", d_ann="T1\tDX 6 15\teclampsia\n")),
    ],
)
def test_a_span_inside_a_token_is_refused_or_cuts_it_as_one_wants(format, content):
    records, problems = read(format, content, tokeniser="whitespace")
    assert records == []
    assert "does not begin and end with tokens" in problems[0]
    [record], problems = read(format, content, tokeniser="whitespace", cuts_tokens=True)
    assert problems == []
    assert record.tokens == ["no", "pre", "eclampsia"]
    assert record.layers["entities"].value == [[2, 3, "DX"]]
    assert list(record.aside) == ["words cut where a span begins or ends"]


@pytest.mark.parametrize(("language", "package"), [("ja", "sudachipy"), ("vi", "pyvi")])
def test_a_language_whose_package_is_missing_is_told_with_the_package(
    monkeypatch, language, package
):
    monkeypatch.setitem(sys.modules, package, None)
    places._pipeline.cache_clear()
    with pytest.raises(FormatError, match=r"tandem\[languages\]") as refused:
        list(tokeniser_for(ReadOptions(tokeniser=language))("東京"))
    assert package in str(refused.value)


def test_korean_is_cut_by_its_spaces_without_a_dictionary():
    ((_, words, _),) = tokeniser_for(ReadOptions(tokeniser="ko"))("나는 학교에 간다.")
    assert words == ["나는", "학교에", "간다", "."]


WORDS = {  # as the packages cut them, where they are installed
    "ja": (
        "sudachipy",
        "東京都の天気は「雨」でしょう。🇯🇵🇨🇭👩‍👩‍👧",
        "東京 都 の 天気 は 「 雨 」 でしょう 。 🇯🇵 🇨🇭 👩‍👩‍👧",
    ),
    "zh": ("jieba", "李明在上海工作，女儿读书。", "李明 在 上海 工作 ， 女儿 读书 。"),
    "th": (
        "pythainlp",
        "โรงพยาบาลอยู่ใกล้สถานีรถไฟ🇹🇭🇨🇭",
        "โรงพยาบาล อยู่ ใกล้ สถานีรถไฟ 🇹🇭 🇨🇭",
    ),
    "vi": ("pyvi", "Hà Nội là thủ đô của Việt Nam.", "Hà_Nội là thủ_đô của Việt_Nam ."),
    "ko": (
        "spacy",
        '"가자!"라고 그가 3,000원을, 말했다.',
        '" 가자 ! " 라고 그가 3,000원을 , 말했다 .',
    ),
}


@pytest.mark.parametrize("language", WORDS)
def test_languages_without_spaces_are_cut_into_words_or_their_package_is_named(language):
    package, text, expected = WORDS[language]
    places._pipeline.cache_clear()
    tokenise = tokeniser_for(ReadOptions(tokeniser=language))
    if find_spec(package) is None and language != "zh":
        with pytest.raises(FormatError, match=package):
            list(tokenise(text))
        return
    ((_, words, offsets),) = tokenise(text)
    assert [text[start:end] for start, end in offsets] == words
    if find_spec(package) is None:
        assert words[:3] == ["李", "明", "在"]  # characters, without jieba
    else:
        assert words == [word.replace("_", " ") for word in expected.split()]


def test_chinese_is_cut_into_words_where_jieba_is_installed(monkeypatch):
    jieba = ModuleType("jieba")
    jieba.__spec__ = ModuleSpec("jieba", None)
    jieba.setLogLevel = lambda level: None
    jieba.dt = SimpleNamespace(  # whose own way reads a file that anybody may have put in /tmp
        initialized=False, get_dict_file=lambda: None, gen_pfdict=lambda file: ({"我们": 9}, 9)
    )
    jieba.cut = lambda text, cut_all=False: [text[i : i + 2] for i in range(0, len(text), 2)]
    monkeypatch.setitem(sys.modules, "jieba", jieba)
    places._pipeline.cache_clear()
    try:
        ((_, words, _),) = tokeniser_for(ReadOptions(tokeniser="zh"))("我们上学")
    finally:
        places._pipeline.cache_clear()
    assert words == ["我们", "上学"]
    assert (jieba.dt.initialized, jieba.dt.FREQ, jieba.dt.total) == (True, {"我们": 9}, 9)
