"""Inbox and review in the browser's terms: pages, forms, and what they change."""

import re

import pytest
from django.utils import timezone

from annotation.models import Annotation, Flag, Gold, Lease, Role, Suggestion
from annotation.queue.asks import ask_everything
from tests.annotation.queue.conftest import ANSWERS, Desk, new_project


@pytest.fixture
def desk(db):
    project = new_project(n_sentences=3)
    ask_everything(project=project)
    return Desk(project)


@pytest.fixture
def ann(desk):
    return desk.person("ann")


@pytest.fixture
def curator(desk, client):
    cleo = desk.person("cleo", Role.CURATOR)
    client.force_login(cleo)
    return cleo


@pytest.fixture
def flag(desk, ann):
    return Flag.objects.create(
        sentence=desk.project.sentences.order_by("id").first(),
        author=ann,
        comment="is this one sentence?",
        created_at=timezone.now(),
    )


def address(desk, page="inbox"):
    return f"/projects/{desk.project.pk}/{page}/"


def act(client, desk, flag, action, **values):
    body = {"item": f"flag-{flag.pk}", "action": action, **values}
    response = client.post(address(desk), body, follow=True)
    flag.refresh_from_db()
    return response.content.decode()


def test_the_tab_counts_what_the_list_counts(client, desk, curator, flag, ann):
    bob = desk.person("bob")
    desk.project.queues.get().asks.update(overlap=2)
    desk.project.queues.update(overlap=2)
    first = desk.take(ann)
    desk.submit(ann, first)
    desk.submit(bob, desk.take(bob), {**ANSWERS, "topic": "other"})
    skipped = Lease.objects.get(pk=desk.take(ann)["id"])
    Lease.objects.filter(pk=skipped.pk).update(state=Lease.State.SKIPPED)
    desk.submit(bob, desk.take(bob))  # answers what ann skipped
    Annotation.objects.filter(sentence=skipped.ask.sentence, task__name="topic").update(version=9)
    page = client.get(address(desk))
    counts = {name: n for name, _, _, n in page.context["kinds"]}
    assert counts == {"": 3, "flags": 1, "disputes": 1, "shaky": 1, "skips": 0}
    words = '<span class="visually-hidden"> open items</span>'
    badge = f'<span class="badge warn" title="open items">3{words}</span>'
    for name in ("inbox", "review", "data"):
        assert badge in client.get(address(desk, name)).content.decode()
    page = page.content.decode()
    assert "is this one sentence?" in page
    assert "ann asks" in page


def test_a_flag_is_answered_and_its_author_reads_the_answer_once(client, desk, curator, ann, flag):
    page = act(client, desk, flag, "answered", answer="Yes, both halves.")
    assert "Nothing is waiting" in page
    assert (flag.outcome, flag.answer, flag.resolved_by) == (
        "answered",
        "Yes, both halves.",
        curator,
    )
    client.force_login(ann)
    assert b"Yes, both halves." in client.get(address(desk, "annotate")).content
    assert b"Yes, both halves." not in client.get(address(desk, "annotate")).content


def test_what_is_left_for_later_stays_open_at_the_end(client, desk, curator, ann, flag):
    other = Flag.objects.create(
        sentence=flag.sentence, author=ann, comment="and this?", created_at=timezone.now()
    )
    names = [item.name for item in client.get(address(desk)).context["items"]]
    assert names == [f"flag-{other.pk}", f"flag-{flag.pk}"]
    act(client, desk, other, "later", following=f"flag-{flag.pk}")
    assert other.resolved_at is None
    names = [item.name for item in client.get(address(desk)).context["items"]]
    assert names == [f"flag-{flag.pk}", f"flag-{other.pk}"]


def test_somebody_else_is_asked_without_seeing_the_first_answer(client, desk, curator, ann):
    desk.submit(ann, desk.take(ann))
    answer = Annotation.objects.get(task__name="topic")
    Annotation.objects.filter(pk=answer.pk).update(version=9)
    page = client.get(address(desk)).content.decode()
    assert "Ask somebody else" in page
    name = f"shaky-{answer.pk}"
    client.post(address(desk), {"item": name, "action": "another"})
    assert not client.get(address(desk)).context["items"]  # waits for somebody else now
    ask = desk.project.queues.get().asks.get(sentence=answer.sentence)
    assert (ask.is_open, ask.overlap, ask.n_answers) == (True, 2, 1)
    assert desk.take(ann)["sentence"]["id"] != answer.sentence_id
    bob = desk.person("bob")
    taken = desk.take(bob)
    assert taken["sentence"]["id"] == answer.sentence_id
    assert taken["suggestions"] == {}
    desk.submit(bob, taken, {**ANSWERS, "topic": "other"})
    (item,) = client.get(address(desk)).context["items"]
    assert item.name == f"dispute-{answer.sentence_id}"


def test_nobody_is_offered_where_everybody_has_answered(client, desk, curator, ann):
    desk.submit(ann, desk.take(ann))
    desk.project.queues.get().asks.update(overlap=2, is_open=True)
    desk.submit(curator, desk.take(curator))
    answer = Annotation.objects.filter(task__name="topic", author=ann).get()
    Flag.objects.create(
        sentence=answer.sentence, author=ann, comment="why?", created_at=timezone.now()
    )
    assert "Ask somebody else <kbd>" not in client.get(address(desk)).content.decode()
    flag = Flag.objects.get()
    assert "Nobody else can be asked" in act(client, desk, flag, "another")
    assert flag.resolved_at is None


def test_an_answer_goes_into_the_guidelines_with_its_sentence_and_day(client, desk, curator, flag):
    topic = desk.project.tasks.get(name="topic")
    topic.guidelines = "Choose one."
    topic.save()
    act(client, desk, flag, "answered", answer="Travel, whoever goes.", guidelines="topic")
    topic.refresh_from_db()
    today = f"{timezone.now():%Y-%m-%d}"
    added = f"`Ann visits Rome.` ({today}): Travel, whoever goes."
    assert topic.guidelines == f"Choose one.\n\n{added}"
    assert flag.outcome == "answered"


def test_guidelines_of_a_task_that_is_not_there_are_not_found(client, desk, curator, flag):
    body = {"item": f"flag-{flag.pk}", "action": "answered", "answer": "Yes.", "guidelines": "x"}
    assert client.post(address(desk), body).status_code == 404
    flag.refresh_from_db()
    assert flag.resolved_at is None


def test_an_answer_without_words_is_refused_and_the_flag_stays(client, desk, curator, flag):
    assert "Write an answer" in act(client, desk, flag, "answered", answer=" ")
    assert flag.resolved_at is None


def test_leaving_a_sentence_out_can_be_undone_in_place(client, desk, curator, flag):
    act(client, desk, flag, "left_out")
    flag.sentence.refresh_from_db()
    assert flag.sentence.left_out == "is this one sentence?"
    assert "is open again" in act(client, desk, flag, "reopen")
    flag.sentence.refresh_from_db()
    assert (flag.sentence.left_out, flag.resolved_at) == ("", None)


def test_a_skipped_sentence_is_left_out_and_taken_back(client, desk, curator, ann):
    lease = Lease.objects.get(pk=desk.take(ann)["id"])
    sentence = lease.ask.sentence
    Lease.objects.filter(pk=lease.pk).update(
        state=Lease.State.SKIPPED, skip_kind="broken", skip_reason="half a line"
    )
    assert "ann: broken, half a line" in client.get(address(desk)).content.decode()
    body = {"item": f"skip-{sentence.pk}", "action": "left_out", "answer": "half a line"}
    page = client.post(address(desk), body, follow=True).content.decode()
    assert "left out: half a line" in page
    client.post(address(desk), {"item": f"skip-{sentence.pk}", "action": "take-back"})
    sentence.refresh_from_db()
    assert sentence.left_out == ""


@pytest.mark.parametrize("body", [{}, {"item": "flag-x"}, {"item": "flag-0", "action": "closed"}])
def test_what_is_not_there_is_not_found(client, desk, curator, body):
    assert client.post(address(desk), body).status_code == 404


def test_an_empty_inbox_says_what_comes_here(client, desk, curator):
    assert (
        b"Flags, disputes, shaky answers and skips come here." in client.get(address(desk)).content
    )
    assert b"No flags." in client.get(address(desk) + "?show=flags").content


def test_a_dispute_waits_without_names_until_somebody_decides(client, desk, curator, ann):
    bob = desk.person("bob")
    desk.project.overlap, desk.project.hides_names = 2, True
    desk.project.save()
    desk.project.queues.get().asks.update(overlap=2)
    desk.submit(ann, desk.take(ann))
    desk.submit(bob, desk.take(bob), {**ANSWERS, "topic": "other"})
    sentence = desk.project.sentences.get(pk=Annotation.objects.first().sentence_id)
    page = client.get(address(desk) + "?show=disputes")
    (item,) = page.context["items"]
    assert (item.name, item.kind) == (f"dispute-{sentence.pk}", "disputes")
    assert item.words == "2 people differ on topic"
    assert list(page.context["shown"]["answers"]) == ["Person A", "Person B"]
    Annotation.objects.filter(task__name="topic").update(version=9)
    assert not client.get(address(desk) + "?show=shaky").context["items"]  # would tell names
    decide = f"/projects/{desk.project.pk}/adjudicate/?sentence={sentence.pk}"
    assert decide in page.content.decode()
    task = desk.project.tasks.get(name="topic")
    Gold.objects.create(
        sentence=sentence, task=task, value="other", source="adjudicated", updated_at=timezone.now()
    )
    assert not client.get(address(desk) + "?show=disputes").context["items"]


def test_a_sentence_is_not_said_to_be_decided_while_another_task_is_open(
    client, desk, curator, ann
):
    bob = desk.person("bob")
    desk.project.queues.get().asks.update(overlap=2)
    desk.submit(ann, desk.take(ann))
    desk.submit(bob, desk.take(bob), {"entities": [[0, 1, "PER"]], "links": [], "topic": "other"})
    sentence = Annotation.objects.first().sentence
    tasks = {task.name: task for task in desk.project.tasks.all()}
    for name, value in (("entities", ANSWERS["entities"]), ("links", ANSWERS["links"])):
        Gold.objects.create(
            sentence=sentence, task=tasks[name], value=value, source="majority",
            updated_at=timezone.now(),
        )  # fmt: skip
    asked = address(desk, "adjudicate") + f"?sentence={sentence.pk}"
    assert "Decided by majority" not in client.get(asked).content.decode()
    Gold.objects.create(
        sentence=sentence, task=tasks["topic"], value="other", source="majority",
        updated_at=timezone.now(),
    )  # fmt: skip
    assert "Decided by majority" in client.get(asked).content.decode()


def test_an_answer_that_a_sure_model_contradicts_is_shaky_until_it_is_kept(
    client, desk, curator, answer
):
    page = client.get(address(desk) + "?show=shaky")
    (item,) = page.context["items"]
    assert item.words == "ann: topic: the model disagrees, confidence .95"
    assert list(page.context["shown"]["answers"]) == ["by ann", "model"]
    client.post(address(desk), {"item": item.name, "action": "keep"})
    assert Gold.objects.get(task=answer.task).value == answer.value
    assert not client.get(address(desk)).context["items"]
    client.post(address(desk), {"item": item.name, "action": "undo-look"})
    assert not Gold.objects.exists()
    assert len(client.get(address(desk)).context["items"]) == 1


def test_a_shaky_answer_goes_back_only_with_words(client, desk, curator, answer):
    name = f"shaky-{answer.pk}"
    refused = client.post(address(desk), {"item": name, "action": "return"}, follow=True)
    assert "Say what to look at again." in refused.content.decode()
    body = {"item": name, "action": "return", "answer": "Look at the verb."}
    page = client.post(address(desk), body, follow=True)
    assert "ann is asked to look again, with your remark." in page.content.decode()
    assert Annotation.objects.get(pk=answer.pk).reviews.get().remark == "Look at the verb."


def test_an_answer_that_was_changed_often_or_far_too_fast_is_shaky(client, desk, curator, ann):
    for seconds in (20.0, 30.0, 0.5):
        desk.submit(ann, desk.take(ann), seconds=seconds)
    first, _, hasty = Annotation.objects.filter(task__name="topic").order_by("id")
    Annotation.objects.filter(pk=first.pk).update(version=4)
    words = {i.sentence.pk: i.words for i in client.get(address(desk)).context["items"]}
    assert words[first.sentence_id] == "ann: topic, changed 3 times"
    n_words = hasty.sentence.n_tokens
    assert words[hasty.sentence_id] == f"ann: 0.5 s for {n_words} words"
    assert len(words) == 2


def test_gold_of_a_sentence_can_be_edited_where_nobody_answered(client, desk, curator, flag):
    edit = address(desk, "adjudicate") + f"?sentence={flag.sentence_id}&edit=1"
    page = client.get(edit)
    assert b"Edit gold" in page.content
    names = [case["task"] for case in page.context["decisions"]["cases"]]
    assert names == list(desk.project.tasks.values_list("name", flat=True))
    assert not Annotation.objects.exists()
    assert not Gold.objects.exists()


@pytest.fixture
def answer(desk, ann):
    """An answer that a model contradicts."""
    desk.submit(ann, desk.take(ann))
    found = Annotation.objects.get(task__name="topic")
    Suggestion.objects.create(
        sentence=found.sentence, task=found.task, value="other", confidence=0.95,
        source="round 1", created_at=found.created_at,
    )  # fmt: skip
    return found


def decide(client, desk, answer, action, **values):
    body = {"answer": answer.pk, "action": action, **values}
    return client.post(address(desk, "review"), body, follow=True).content.decode()


def test_review_shows_what_a_sure_model_contradicts_and_keeps_it(client, desk, curator, answer):
    page = client.get(address(desk, "review")).content.decode()
    assert "1 of 1" in page
    assert re.search(
        r"<b>model</b><span[^>]*> round 1, confidence \.\d\d; not trained on this answer", page
    )
    Suggestion.objects.update(source="model")  # of a round that is named nowhere
    page = client.get(address(desk, "review")).content.decode()
    assert re.search(r"<b>model</b><span[^>]*>, confidence \.\d\d; not trained on this", page)
    assert "Kept: the answer of ann is gold." in decide(client, desk, answer, "keep")
    assert Gold.objects.get().value == answer.value
    assert "Undone." in decide(client, desk, answer, "undo")
    assert not Gold.objects.exists()


def test_review_takes_the_models_answer_and_puts_the_persons_back(client, desk, curator, answer):
    decide(client, desk, answer, "model")
    assert Gold.objects.get().value == "other"
    page = client.get(address(desk, "review") + f"?show=reviewed&answer={answer.pk}")
    sources = [version.source for version in page.context["versions"]]
    decide(client, desk, answer, "put-back", version=sources.index("answer"))
    gold = Gold.objects.get()
    assert (gold.value, gold.version) == (answer.value, 2)


def test_review_sends_back_and_flags_only_with_words(client, desk, curator, ann, answer):
    assert "Say what to look at again" in decide(client, desk, answer, "return")
    assert "Say what the flag is about" in decide(client, desk, answer, "flag")
    decide(client, desk, answer, "flag", remark="Both read it well.")
    assert Flag.objects.get().author == curator
    decide(client, desk, answer, "return", remark="Look at the verb.")
    client.force_login(ann)
    assert b"Look at the verb." in client.get(address(desk, "annotate")).content


@pytest.mark.parametrize("query", ["?answer=x", "?answer=0"])
def test_review_of_what_is_not_there_is_not_found(client, desk, curator, query):
    assert client.get(address(desk, "review") + query).status_code == 404


@pytest.mark.parametrize("value", ['"\\ud800"', '"\\u0000"', "[" * 200_000, "9" * 5_000])
def test_gold_that_could_not_be_stored_is_refused_on_the_page(client, desk, curator, value):
    sentence = desk.project.sentences.first()
    body = {"sentence": sentence.pk, "answers": f'{{"topic": {value}}}'}
    response = client.post(address(desk, "adjudicate"), body)
    assert response.status_code < 500
    assert not Gold.objects.exists()
