"""Words and borders of sentences are corrected; answers follow, versions stay, hands are safe."""

import io
import os
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse
from django.utils import timezone

from annotation.corpora import corrections
from annotation.corpora.corrections import correct_words, cut_sentence, join_next
from annotation.corpora.exports import export_corpus
from annotation.corpora.imports import import_corpus
from annotation.corpora.restored_versions import restore_version
from annotation.errors import Conflict, InvalidInput
from annotation.formats.format import get_format
from annotation.formats.records import Problem
from annotation.models import (
    Annotation,
    Ask,
    Corpus,
    Gold,
    Lease,
    LogEntry,
    Sentence,
    SentenceVersion,
    Suggestion,
    WordAnswer,
)
from annotation.projects.services import create_project
from annotation.queue.asks import AskRow, ask_everything, put_asks
from tests.annotation.queue.conftest import Desk

pytestmark = pytest.mark.django_db(transaction=True)

TASKS = [
    {"name": "ner", "kind": "spans", "labels": ["PER", "LOC"]},
    {"name": "lemma", "kind": "lemmas"},
    {"name": "upos", "kind": "tags", "labels": ["PROPN", "AUX", "VERB", "PART", "PUNCT"]},
    {"name": "tree", "kind": "tree", "labels": ["root", "nsubj", "aux", "obj", "punct", "dep"]},
    {"name": "intent", "kind": "classes", "labels": ["a", "b"]},
]
FILE = """# newdoc id = d1
# sent_id = s1
# text = Ada cannot see Rome.
# intent = a
1	Ada	Ada	PROPN	_	_	3	nsubj	3:nsubj	NER=B-PER
2	cannot	can	AUX	_	_	3	aux	3:aux	NER=O
3	see	see	VERB	_	_	0	root	0:root	NER=O
4	Rome	Rome	PROPN	_	_	3	obj	3:obj	SpaceAfter=No|NER=B-LOC
5	.	.	PUNCT	_	_	3	punct	3:punct	NER=O

# sent_id = s2
# text = Ben sleeps.
# intent = b
1	Ben	Ben	PROPN	_	_	2	nsubj	2:nsubj	NER=B-PER
2	sleeps	sleep	VERB	_	_	0	root	0:root	SpaceAfter=No|NER=O
3	.	.	PUNCT	_	_	2	punct	2:punct	NER=O

"""


@pytest.fixture
def desk(db):
    desk = Desk(create_project(spec={"name": "Trees", "tasks": TASKS}))
    desk.read(FILE)
    return desk


@pytest.fixture(autouse=True)
def _reading(monkeypatch):
    def read(self, text, labels="gold"):
        import_corpus(
            project=self.project,
            stream=io.BytesIO(text.encode()),
            file_name=f"{labels}.conllu",
            format="conllu",
            labels=labels,
        )

    monkeypatch.setattr(Desk, "read", read, raising=False)


def gold(key):
    rows = Gold.objects.filter(sentence__key=key).values_list("task__name", "value")
    return dict(rows)


def correct(key, start, end, forms, **options):
    return correct_words(
        sentence=Sentence.objects.get(key=key),
        start=start,
        end=end,
        forms=forms,
        actor=None,
        now=timezone.now(),
        **options,
    )


def written(desk):
    return b"".join(export_corpus(project=desk.project, format="conllu", labels="gold")).decode()


def test_a_word_is_split_and_spans_tags_trees_and_columns_follow(desk):
    done = correct("s1", 1, 2, ["can", "not"])
    sentence = Sentence.objects.get(key="s1")
    assert sentence.tokens == ["Ada", "can", "not", "see", "Rome", "."]
    assert sentence.text == "Ada cannot see Rome."
    assert sentence.offsets[1:3] == [[4, 7], [7, 10]]
    found = gold("s1")
    assert found["ner"] == [[0, 1, "PER"], [4, 5, "LOC"]]
    assert found["upos"] == ["PROPN", "AUX", "AUX", "VERB", "PROPN", "PUNCT"]
    assert found["tree"] == [
        [4, "nsubj"],
        [4, "aux"],
        [2, "dep"],
        [0, "root"],
        [4, "obj"],
        [4, "punct"],
    ]
    assert found["intent"] == "a"
    assert "lemma" not in found  # 'can' says nothing of 'not'
    assert done.to_redo == {"lemma"}
    assert done.carried == {"ner", "upos", "tree", "intent"}
    text = written(desk)
    assert "2\tcan\t_\tAUX\t_\t_\t4\taux\t4:aux\tNER=O|SpaceAfter=No\n" in text
    assert "3\tnot\t_\tAUX\t_\t_\t2\tdep\t2:dep\t_\n" in text  # no NER= is O
    assert "5\tRome\t_\tPROPN\t_\t_\t4\tobj\t4:obj\tSpaceAfter=No|NER=B-LOC\n" in text


def test_words_are_merged_deleted_and_inserted(desk):
    correct("s1", 1, 3, ["cannot see"])
    sentence = Sentence.objects.get(key="s1")
    assert sentence.tokens == ["Ada", "cannot see", "Rome", "."]
    assert sentence.text == "Ada cannot see Rome."
    assert gold("s1")["tree"] == [[2, "nsubj"], [0, "root"], [2, "obj"], [2, "punct"]]
    assert gold("s1")["lemma"] == ["Ada", "can see", "Rome", "."]
    correct("s1", 1, 2, [])
    sentence.refresh_from_db()
    assert (sentence.text, sentence.tokens) == ("Ada Rome.", ["Ada", "Rome", "."])
    assert gold("s1")["tree"] == [[0, "root"], [1, "dep"], [1, "dep"]]
    assert gold("s1")["ner"] == [[0, 1, "PER"], [1, 2, "LOC"]]
    done = correct("s1", 1, 1, ["visits"])
    sentence.refresh_from_db()
    assert sentence.text == "Ada visits Rome."
    assert sentence.offsets == [[0, 3], [4, 10], [11, 15], [15, 16]]
    assert gold("s1")["ner"] == [[0, 1, "PER"], [2, 3, "LOC"]]
    assert done.to_redo == {"lemma", "upos"}


def test_the_syntactic_words_of_a_multiword_token_get_a_range(desk):
    correct("s1", 1, 2, ["can", "not"], is_multiword=True)
    text = written(desk)
    assert "2-3\tcannot\t_\t_\t_\t_\t_\t_\t_\t_\n2\tcan\t" in text
    assert "# text = Ada cannot see Rome.\n" in text
    correct("s1", 2, 3, [])  # one of its words goes: it is a plain word again
    assert "2-3\t" not in written(desk)


def test_what_was_there_before_is_kept_and_logged(desk):
    ann = desk.person("ann")
    sentence = Sentence.objects.get(key="s1")
    correct_words(
        sentence=sentence, start=1, end=2, forms=["can", "not"], actor=ann, now=timezone.now()
    )
    (version,) = SentenceVersion.objects.all()
    assert version.tokens == ["Ada", "cannot", "see", "Rome", "."]
    assert version.change == "cannot became can not"
    kept = [row[3] for row in version.answers if row[0] == "Gold"]
    assert ["Ada", "can", "see", "Rome", "."] in kept
    entry = LogEntry.objects.get(action="sentence.words_corrected")
    assert (entry.actor, entry.details["to_redo"]) == (ann, ["lemma"])
    assert "cannot" not in str(entry.details)


def test_a_sentence_is_cut_and_its_halves_have_their_answers_and_places(desk):
    done = cut_sentence(
        sentence=Sentence.objects.get(key="s1"), at=3, actor=None, now=timezone.now()
    )
    rows = Sentence.objects.order_by("position").values_list("key", "text", "position", "document")
    assert list(rows) == [
        ("s1", "Ada cannot see", 0, "d1"),
        ("s1-2", "Rome.", 1, "d1"),
        ("s2", "Ben sleeps.", 2, "d1"),
    ]
    assert Corpus.objects.get().n_sentences == 3
    assert gold("s1")["tree"] == [[3, "nsubj"], [3, "aux"], [0, "root"]]
    assert gold("s1-2")["tree"] == [[0, "root"], [1, "dep"]]
    assert gold("s1-2")["lemma"] == ["Rome", "."]
    assert gold("s1-2")["ner"] == [[0, 1, "LOC"]]
    assert done.to_redo == {"intent"}  # which half it was said of nobody knows
    again = written(desk)
    assert (
        "# sent_id = s1-2\n# text = Rome.\n1\tRome\tRome\tPROPN\t_\t_\t0\troot\t0:root\t" in again
    )


def test_sentences_with_the_longest_keys_are_cut_and_all_keys_differ(desk):
    Sentence.objects.filter(key="s1").update(key="k" * 200)
    Sentence.objects.filter(key="s2").update(key="k" * 199)
    for _ in range(2):
        for sentence in list(Sentence.objects.filter(n_tokens__gt=1)):
            cut_sentence(sentence=sentence, at=1, actor=None, now=timezone.now())
    keys = list(Sentence.objects.values_list("key", flat=True))
    assert len(set(keys)) == len(keys) > 5
    assert max(map(len, keys)) <= 200


def test_sentences_are_joined_with_one_tree(desk):
    first = Sentence.objects.get(key="s1")
    done = join_next(sentence=first, actor=None, now=timezone.now())
    assert Sentence.objects.count() == 1
    assert Corpus.objects.get().n_sentences == 1
    first.refresh_from_db()
    assert first.text == "Ada cannot see Rome. Ben sleeps."
    found = gold("s1")
    assert found["tree"][6] == [3, "dep"]  # the second root hangs on the first
    assert found["ner"] == [[0, 1, "PER"], [3, 4, "LOC"], [5, 6, "PER"]]
    assert found["lemma"][5:] == ["Ben", "sleep", "."]
    assert done.to_redo == {"intent"}
    assert SentenceVersion.objects.count() == 2
    assert "6\tBen\tBen\tPROPN\t_\t_\t7\tnsubj\t7:nsubj\tNER=B-PER\n" in written(desk)


def test_what_was_joined_can_be_cut_again_to_the_same_file(desk):
    first = Sentence.objects.get(key="s1")
    join_next(sentence=first, actor=None, now=timezone.now())
    cut_sentence(sentence=first, at=5, actor=None, now=timezone.now())
    lines = [line for line in written(desk).splitlines() if not line.startswith("#")]
    assert lines == [line for line in FILE.splitlines() if not line.startswith("#")]


def test_no_sentence_grows_beyond_what_an_import_would_take(desk, monkeypatch):
    monkeypatch.setattr(corrections, "LONGEST_SENTENCE", 7)
    with pytest.raises(Conflict, match="Together they have 8 words; a sentence has at most 7"):
        join_next(sentence=Sentence.objects.get(key="s1"), actor=None, now=timezone.now())
    correct("s1", 1, 2, ["can", "n", "ot"])
    with pytest.raises(InvalidInput, match="at most 7 words"):
        correct("s1", 0, 0, ["Oh"])


def test_words_that_read_like_a_change_of_borders_are_put_back(desk):
    correct("s1", 0, 2, ["joined", "with"])
    correct("s1", 0, 2, ["joins"])
    latest = SentenceVersion.objects.latest("pk")
    sentence = Sentence.objects.get(key="s1")
    restore_version(sentence=sentence, version=latest.pk, actor=None, now=timezone.now())
    assert Sentence.objects.get(key="s1").tokens[:2] == ["joined", "with"]


def test_an_open_lease_refuses_the_correction(desk):
    desk.read(FILE.replace("s1", "t1").replace("s2", "t2").replace("d1", "d2"), labels="none")
    ask_everything(project=desk.project)
    ann = desk.person("ann")
    desk.take(ann)
    key = Lease.objects.get(state="live").ask.sentence.key
    with pytest.raises(Conflict, match="Somebody has this sentence open, until"):
        correct(key, 0, 1, [])
    assert not SentenceVersion.objects.exists()


def test_answers_that_cannot_follow_are_asked_again(desk):
    desk.read(FILE.replace("s1", "t1").replace("s2", "t2").replace("d1", "d2"), labels="none")
    ask_everything(project=desk.project)
    ann = desk.person("ann")
    lease = desk.take(ann)
    answers = {
        "ner": [[0, 1, "PER"]],
        "lemma": ["Ada", "can", "see", "Rome", "."],
        "upos": ["PROPN", "AUX", "VERB", "PROPN", "PUNCT"],
        "tree": [[3, "nsubj"], [3, "aux"], [0, "root"], [3, "obj"], [3, "punct"]],
        "intent": "a",
    }
    desk.submit(ann, lease, answers)
    sentence = Lease.objects.get(state="submitted").ask.sentence
    assert sentence.key == "t1"
    correct("t1", 1, 2, ["can", "not"])
    left = set(Annotation.objects.values_list("task__name", flat=True))
    assert left == {"ner", "upos", "tree", "intent"}
    ask = Ask.objects.get(sentence=sentence)
    assert (ask.tasks, ask.is_open, ask.n_answers) == (["lemma"], True, 0)
    again = desk.take(ann)
    assert again["sentence"]["tokens"][1:3] == ["can", "not"]
    desk.submit(ann, again, {"lemma": ["Ada", "can", "not", "see", "Rome", "."]})
    assert Annotation.objects.filter(task__name="lemma").count() == 1


def test_an_old_hand_cannot_bring_words_back_that_are_gone(desk):
    desk.read(FILE.replace("s1", "t1").replace("s2", "t2").replace("d1", "d2"), labels="none")
    ask_everything(project=desk.project)
    ann = desk.person("ann")
    desk.take(ann)
    row = Lease.objects.get(state="live")
    Lease.objects.update(state="returned", draft={"doc": {}})
    Ask.objects.filter(pk=row.ask_id).update(n_leases=0)
    correct(row.ask.sentence.key, 1, 2, ["can", "not"])
    after = Lease.objects.get(pk=row.pk)
    assert after.token != row.token
    assert after.draft is None


@pytest.mark.parametrize(
    ("start", "end", "forms", "message"),
    [
        (3, 9, ["x"], "not among the 5"),
        (0, 0, [], "Choose words to change"),
        (0, 5, [], "keeps at least one word"),
        (0, 1, [" "], "is no word"),
        (0, 1, ["a\tb"], "is no word"),
        (0, 1, ["a"] * 21, "at most 20"),
        (0, 1, ["a" * 201], "at most 200"),
    ],
)
def test_words_that_cannot_be_are_refused(desk, start, end, forms, message):
    with pytest.raises(InvalidInput, match=message):
        correct("s1", start, end, forms)
    assert Sentence.objects.get(key="s1").text == "Ada cannot see Rome."


def test_whoever_saw_other_words_is_refused(desk):
    with pytest.raises(Conflict, match="corrected meanwhile"):
        correct("s1", 0, 1, ["Eve"], seen=["Ada", "sees"])


def test_documents_have_the_words_of_their_sentences(db):
    tasks = [*TASKS, {"name": "topic", "kind": "classes", "labels": ["x"], "document": True}]
    desk = Desk(create_project(spec={"name": "Docs", "tasks": tasks}))
    desk.read(FILE)
    correct("s1", 1, 2, ["can", "not"])
    document = Sentence.objects.get(is_document=True)
    assert document.tokens[:4] == ["Ada", "can", "not", "see"]
    with pytest.raises(Conflict, match="whole document"):
        correct_words(
            sentence=document, start=0, end=1, forms=["x"], actor=None, now=timezone.now()
        )


def test_curators_correct_by_rest_and_annotators_do_not(desk, client):
    owner, ann = desk.person("owner", role="owner"), desk.person("ann")
    sentence = Sentence.objects.get(key="s1")
    where = f"/api/projects/{desk.project.pk}/sentences/{sentence.pk}"
    body = {"start": 1, "end": 2, "forms": ["can", "not"], "tokens": sentence.tokens}
    client.force_login(ann)
    refused = client.post(f"{where}/words/", body, content_type="application/json")
    assert refused.status_code == 403
    client.force_login(owner)
    found = client.post(f"{where}/words/", body, content_type="application/json")
    assert found.status_code == 200
    assert found.json()["sentence"]["tokens"][1:3] == ["can", "not"]
    assert found.json()["to_redo"] == ["lemma"]
    stale = client.post(f"{where}/words/", body, content_type="application/json")
    assert (stale.status_code, "meanwhile" in stale.content.decode()) == (409, True)
    cut = {"action": "cut", "at": 4}
    halves = client.post(f"{where}/borders/", cut, content_type="application/json").json()
    assert halves["other"]["text"] == "Rome."
    join = {"action": "join"}
    whole = client.post(f"{where}/borders/", join, content_type="application/json").json()
    assert whole["sentence"]["text"] == "Ada cannot see Rome."
    back = {"action": "restore", "version": whole["version"]}
    again = client.post(f"{where}/borders/", back, content_type="application/json").json()
    assert again["other"]["text"] == "Rome."
    back["version"] = again["version"]
    again = client.post(f"{where}/borders/", back, content_type="application/json").json()
    assert again["sentence"]["text"] == "Ada cannot see Rome."
    wrong = client.post(f"{where}/borders/", {"action": "melt"}, content_type="application/json")
    assert wrong.status_code == 400


def test_a_page_corrects_words_and_tells_what_became_of_answers(desk, client):
    client.force_login(desk.person("owner", role="owner"))
    sentence = Sentence.objects.get(key="s1")
    page = f"/projects/{desk.project.pk}/sentences/{sentence.pk}/"
    assert "Correct words and borders" in client.get(page).content.decode()
    values = {"action": "replace", "word": ["1"], "forms": "can not"}
    shown = client.post(page, values, follow=True).content.decode()
    assert "To be answered again: lemma." in shown
    assert "Put back" in shown
    last = sentence.versions.get().pk
    shown = client.post(page, {"action": "restore", "version": last}, follow=True)
    assert "Answers followed:" in shown.content.decode()
    sentence.refresh_from_db()
    assert sentence.tokens[1] == "cannot"
    shown = client.post(page, values, follow=True).content.decode()
    assert "cannot became can not" in shown
    apart = client.post(page, {"action": "merge", "word": ["0", "2"]}, follow=True)
    assert "side by side" in apart.content.decode()
    none = client.post(page, {"action": "remove"}, follow=True)
    assert "Choose the words first." in none.content.decode()
    client.post(page, {"action": "merge", "word": ["1", "2"]})
    client.post(page, {"action": "cut", "word": ["2"]})
    assert Sentence.objects.count() == 3
    client.post(page, {"action": "join"})
    client.post(page, {"action": "insert", "word": ["0"], "forms": "still"})
    client.post(page, {"action": "remove", "word": ["1"]})
    sentence.refresh_from_db()
    assert sentence.text == "Ada cannot see Rome."


def restore(key, version):
    return restore_version(
        sentence=Sentence.objects.get(key=key),
        version=version.pk,
        actor=None,
        now=timezone.now(),
    )


def test_words_are_put_back_with_their_answers_and_newer_answers_are_asked_again(desk):
    before, text = gold("s1"), written(desk)
    correct("s1", 1, 2, ["can", "not"])
    sentence = Sentence.objects.get(key="s1")
    newer = {"task": desk.project.tasks.get(name="lemma"), "author": desk.person("ann")}
    times = {"created_at": timezone.now(), "updated_at": timezone.now()}
    value = ["Ada", "can", "not", "see", "Rome", "."]
    Annotation.objects.create(sentence=sentence, value=value, **newer, **times)
    done = restore("s1", sentence.versions.get())
    assert (gold("s1"), written(desk)) == (before, text)
    assert done.to_redo == {"lemma"}
    assert not Annotation.objects.exists()
    kept = sentence.versions.last()  # and this can be undone as well
    assert kept.change == "put back as before: cannot became can not"
    assert ["Annotation", newer["task"].pk, newer["author"].pk, value] in kept.answers
    restore("s1", kept)
    assert Sentence.objects.get(key="s1").tokens[1:3] == ["can", "not"]
    assert Annotation.objects.get().value == value


def test_a_cut_is_joined_again_and_a_join_cut_with_all_answers(desk):
    before, text = (gold("s1"), gold("s2")), written(desk)
    sentence = Sentence.objects.get(key="s1")
    cut_sentence(sentence=sentence, at=2, actor=None, now=timezone.now())
    cut = sentence.versions.get()
    assert "intent" not in gold("s1")
    restore("s1", cut)
    assert (gold("s1"), gold("s2")) == before
    assert written(desk) == text
    join_next(sentence=Sentence.objects.get(key="s1"), actor=None, now=timezone.now())
    assert not Sentence.objects.filter(key="s2").exists()
    halves = list(sentence.versions.order_by("-pk")[:2])
    with pytest.raises(Conflict, match="changed since"):
        restore("s1", cut)
    correct("s1", 0, 1, ["Eve"])
    with pytest.raises(Conflict, match="changed since"):
        restore("s1", halves[0])
    restore("s1", sentence.versions.last())
    with pytest.raises(Conflict):
        restore("s1", halves[0])  # words were corrected between: the border is cut by hand


def test_words_are_put_back_behind_borders_that_were_put_back(desk):
    before, text = gold("s1"), written(desk)
    correct("s1", 1, 2, ["can", "not"])
    sentence = Sentence.objects.get(key="s1")
    words = sentence.versions.get()
    cut_sentence(sentence=sentence, at=2, actor=None, now=timezone.now())
    with pytest.raises(Conflict, match="changed since"):
        restore("s1", words)
    restore("s1", sentence.versions.last())
    restore("s1", words)
    assert (gold("s1"), written(desk)) == (before, text)


def test_a_join_is_cut_again_where_it_was(desk):
    before, text = (gold("s1"), gold("s2")), written(desk)
    sentence = Sentence.objects.get(key="s1")
    join_next(sentence=sentence, actor=None, now=timezone.now())
    restore("s1", sentence.versions.first())
    assert (gold("s1"), gold("s2")) == before
    assert written(desk) == text
    with pytest.raises(InvalidInput, match="no version"):
        restore_version(sentence=sentence, version=10**9, actor=None, now=timezone.now())


def test_suggestions_follow_corrected_words_where_they_can(desk):
    sentence = Sentence.objects.get(key="s1")
    values = {"upos": ["PROPN", "AUX", "VERB", "PROPN", "PUNCT"], "lemma": list("abcde")}
    for name, value in values.items():
        task = desk.project.tasks.get(name=name)
        about = {"source": "model", "confidence": 0.5, "created_at": timezone.now()}
        Suggestion.objects.create(sentence=sentence, task=task, value=value, **about)
    correct("s1", 1, 2, ["can", "not"])
    (left,) = Suggestion.objects.all()
    assert left.value == ["PROPN", "AUX", "AUX", "VERB", "PROPN", "PUNCT"]
    assert left.confidence == 0.5


def words_said():
    rows = WordAnswer.objects.order_by("sentence__position", "task__name")
    return [tuple(row) for row in rows.values_list("sentence__position", "task__name", "value")]


def words_asked():
    asks = Ask.objects.exclude(sentence__is_document=True).order_by("sentence__position")
    return [(ask.sentence.position, ask.tasks, ask.words) for ask in asks if ask.words]


def test_what_is_said_and_asked_of_single_words_follows_them(desk):
    asked = {"upos": [1, 2], "tree": [0, 3]}
    ann, first = desk.person("ann"), Sentence.objects.get(key="s1")
    said = {
        "tree": [[3, "nsubj"], None, None, [2, "obj"], None],
        "upos": [None, "AUX", "VERB", None, None],
    }
    for task, value in said.items():
        WordAnswer.objects.create(
            sentence=first,
            task=desk.project.tasks.get(name=task),
            author=ann,
            value=value,
            created_at=timezone.now(),
            updated_at=timezone.now(),
        )
    put_asks(
        project=desk.project,
        round=None,
        rows=[AskRow(first.pk, ["upos", "tree"], words=asked)],
        overlap=2,
    )
    before = [(0, task, said[task]) for task in sorted(said)]
    assert words_said() == before
    correct("s1", 1, 2, ["can", "not"])
    assert words_said() == [
        (0, "tree", [[4, "nsubj"], None, None, None, None, None]),  # the other head went
        (0, "upos", [None, None, None, "VERB", None, None]),
    ]
    assert words_asked() == [(0, ["upos", "tree"], {"upos": [3], "tree": [0, 4]})]
    restore("s1", first.versions.get())
    assert words_said() == before
    cut_sentence(sentence=Sentence.objects.get(key="s1"), at=3, actor=None, now=timezone.now())
    assert words_said() == [
        (0, "tree", [[3, "nsubj"], None, None]),
        (0, "upos", [None, "AUX", "VERB"]),
    ]
    assert words_asked() == [
        (0, ["upos", "tree"], {"upos": [2], "tree": [0]}),
        (1, ["tree"], {"tree": [0]}),
    ]
    join_next(sentence=Sentence.objects.get(key="s1"), actor=None, now=timezone.now())
    assert [len(value) for *_, value in words_said()] == [5, 5]


def test_an_erased_person_is_in_no_kept_version(desk):
    from annotation.erasure.services import delete_answers

    ann, owner = desk.person("ann"), desk.person("owner", role="owner")
    sentence = Sentence.objects.get(key="s1")
    Annotation.objects.create(
        sentence=sentence,
        task=desk.project.tasks.get(name="intent"),
        author=ann,
        value="b",
        created_at=timezone.now(),
        updated_at=timezone.now(),
    )
    correct("s1", 1, 2, ["can", "not"])
    assert any(row[0] == "Annotation" for row in SentenceVersion.objects.get().answers)
    delete_answers(project=desk.project, person=ann, actor=owner)
    assert not any(row[0] == "Annotation" for row in SentenceVersion.objects.get().answers)


@pytest.mark.corpora("ewt_ner")
def test_a_real_treebank_goes_out_as_it_came_and_is_well_formed_after_corrections(db):
    raw = (Path(os.environ["TANDEM_DATA"]) / "ewt_ner" / "dev.conllu").read_bytes()
    text = b"\n\n".join(raw.split(b"\n\n")[:200]) + b"\n\n"
    kinds = {"lemma": "lemmas", "upos": "tags", "xpos": "tags", "feats": "features"}
    kinds |= {"tree": "tree", "ner": "spans"}
    tasks = [{"name": name, "kind": kind, "open": True} for name, kind in kinds.items()]
    desk = Desk(create_project(spec={"name": "EWT", "tasks": tasks}))
    desk.read(text.decode())
    assert written(desk).encode() == text
    rows = Sentence.objects.filter(n_tokens__gt=4).order_by("pk")
    for n, sentence in enumerate(rows[:40]):
        known = {"sentence": sentence, "actor": None, "now": timezone.now()}
        places = sentence.offsets
        at = next((i for i in range(1, 4) if places[i] not in (places[i - 1], places[i + 1])), 0)
        word = sentence.tokens[at]
        if n % 4 == 0 and at:
            cut_sentence(at=at, **known)
        elif n % 4 == 1 and len(word) > 1 and at:
            correct_words(start=at, end=at + 1, forms=[word[:1], word[1:]], **known)
        elif n % 4 == 2 and at:
            correct_words(start=at, end=at + 1, forms=[], **known)
        elif at:
            correct_words(start=at, end=at, forms=["new"], **known)
    assert SentenceVersion.objects.count() >= 30
    again = get_format("conllu").read(io.BytesIO(written(desk).encode()), file_name="again")
    assert [item for item in again if isinstance(item, Problem)] == []


@pytest.mark.parametrize("seen", ["5", "true", '{"a": 1}', "1.5"])
def test_words_that_are_no_list_are_refused_in_words(desk, client, seen):
    sentence = Sentence.objects.get(key="s1")
    client.force_login(desk.project.created_by or get_user_model().objects.create_superuser("olga"))
    body = {"action": "replace", "word": ["1"], "forms": "can not", "tokens": seen}
    address = reverse("sentence", args=[desk.project.pk, sentence.pk])
    answer = client.post(address, body, follow=True)
    assert "The words were corrected meanwhile" in answer.content.decode()
    sentence.refresh_from_db()
    assert sentence.tokens[1] == "cannot"
