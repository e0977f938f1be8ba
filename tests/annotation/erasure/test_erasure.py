"""What is erased is gone: rows, files, names; and the queue goes on."""

import gzip
import io
import json
import uuid
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.adjudication.final import final_answers
from annotation.adjudication.services import settle_agreed
from annotation.archive.tables import forget_deleted
from annotation.corpora.exports import export_corpus
from annotation.corpora.imports import import_corpus
from annotation.erasure.services import (
    anonymise,
    delete_answers,
    delete_corpus,
    delete_sentences,
    erase,
    set_active,
)
from annotation.errors import Conflict
from annotation.jobs.services import enqueue_job
from annotation.models import (
    Annotation,
    Ask,
    Flag,
    Gold,
    Job,
    Lease,
    LogEntry,
    Project,
    Role,
    Round,
    Submission,
)
from annotation.projects.services import create_project, delete_project
from annotation.queue.asks import ask_everything
from annotation.queue.history import flag_sentence
from annotation.rounds.workspace import Workspace
from config.home import home
from mtl_engine.active_learning.pool import LabelledData, LabelledExample
from mtl_engine.types import Example
from tests.annotation.queue.conftest import ANSWERS, NOON, Desk, new_project

User = get_user_model()


@pytest.fixture
def boss(db):
    return User.objects.create_superuser("boss")


@pytest.fixture
def desk(db):
    project = new_project(n_sentences=3, overlap=2)
    ask_everything(project=project, now=NOON)
    return Desk(project)


def answer_all(desk, user):
    while (lease := desk.take(user)) is not None:
        desk.submit(user, lease)


@pytest.fixture
def two(desk):
    """Two people who have answered everything alike, settled as gold."""
    ann, ben = desk.person("ann"), desk.person("ben")
    answer_all(desk, ann)
    answer_all(desk, ben)
    settle_agreed(project=desk.project, now=NOON)
    return ann, ben


def test_one_persons_answers_go_and_are_asked_again(desk, two, boss):
    ann, ben = two
    assert not Ask.objects.filter(is_open=True).exists()
    assert delete_answers(project=desk.project, person=ann, actor=boss) == 9
    assert not Annotation.objects.filter(author=ann).exists()
    assert not Gold.objects.exists()  # one answer is no agreement
    assert {f.source for row in final_answers(desk.project).values() for f in row.values()} == {
        "single"
    }
    assert desk.take(ann)["ask"]["rank"] == 1
    assert desk.take(ben) is None
    entry = LogEntry.objects.get(action="answers.deleted")
    assert (entry.actor, entry.details["n"]) == (boss, 9)


def test_gold_that_others_still_agree_on_and_that_was_decided_stays(desk, two, boss):
    ann, _ = two
    cyd = desk.person("cyd")
    sentence = desk.project.sentences.first()
    for task, value in ANSWERS.items():
        Annotation.objects.create(
            sentence=sentence,
            task=desk.project.tasks.get(name=task),
            author=cyd,
            value=value,
            created_at=NOON,
            updated_at=NOON,
        )
    decided = Gold.objects.exclude(sentence=sentence).first()
    Gold.objects.filter(pk=decided.pk).update(source=Gold.Source.ADJUDICATED)
    delete_answers(project=desk.project, person=ann, actor=boss)
    assert set(Gold.objects.values_list("sentence_id", flat=True)) == {
        sentence.pk,
        decided.sentence_id,
    }


def test_a_closed_account_holds_nothing_and_can_be_opened_again(desk, boss):
    ann = desk.person("ann")
    desk.take(ann)
    set_active(person=ann, is_active=False, actor=boss)
    assert not User.objects.get(pk=ann.pk).is_active
    assert not Lease.objects.filter(state__in=Lease.IN_HAND).exists()
    assert Ask.objects.get(rank=1).n_leases == 0
    set_active(person=ann, is_active=True, actor=boss)
    actions = LogEntry.objects.filter(action__startswith="person.").values_list("action", flat=True)
    assert list(actions.order_by("id")) == ["person.deactivated", "person.activated"]


def test_an_anonymised_person_keeps_answers_but_no_name(desk, two, boss):
    ann, _ = two
    anonymise(person=ann, actor=boss)
    name = User.objects.get(pk=ann.pk).username
    assert name.startswith("former-")
    assert Annotation.objects.filter(author=ann).count() == 9
    assert "ann" not in {p for entry in LogEntry.objects.all() for p in entry.details.values()}
    assert not desk.project.memberships.filter(user=ann).exists()


@pytest.mark.parametrize("keeps_answers", [True, False])
def test_an_erased_person_leaves_answers_alone_or_nothing(desk, two, boss, keeps_answers):
    ann, ben = two
    flag_sentence(
        sentence=desk.project.sentences.first(), author=ann, comment="My phone is 555", now=NOON
    )
    Submission.objects.filter(annotator=ann).update(actions=[{"at": 1, "kind": "key"}])
    n_deleted = erase(person=ann, keeps_answers=keeps_answers, actor=boss)
    assert n_deleted == (0 if keeps_answers else 9)
    assert Annotation.objects.count() == (18 if keeps_answers else 9)
    assert not Flag.objects.exists()
    assert not any(Submission.objects.filter(annotator=ann.pk).values_list("actions", flat=True))
    assert User.objects.filter(pk=ann.pk).exists() == keeps_answers
    assert not User.objects.filter(username="ann").exists()
    assert Annotation.objects.filter(author=ben).count() == 9


def test_nobody_erases_themselves_the_last_admin_or_a_lonely_owner(desk, boss):
    olga = desk.person("olga", Role.OWNER)
    with pytest.raises(Conflict, match="your own account"):
        erase(person=boss, keeps_answers=True, actor=boss)
    with pytest.raises(Conflict, match="last admin"):
        anonymise(person=boss, actor=olga)
    with pytest.raises(Conflict, match="alone owns Journeys"):
        erase(person=olga, keeps_answers=False, actor=boss)


def test_deleted_sentences_leave_the_queue_the_exports_and_the_rounds(
    desk, boss, django_capture_on_commit_callbacks
):
    ann = desk.person("ann")
    first, second, _ = desk.project.sentences.order_by("id")
    round = Round.objects.create(project=desk.project, number=1, state=Round.State.DONE)
    workspace = Workspace.of(round)
    workspace.save_examples(
        LabelledData(
            tuple(
                LabelledExample(Example(("secret", str(s.pk)), {}, s.pk), "train", False)
                for s in (first, second)
            )
        )
    )
    with django_capture_on_commit_callbacks(execute=True):
        delete_sentences(project=desk.project, ids=[first.pk], actor=boss)
    assert [one.example.id for one in workspace.examples().examples] == [second.pk]
    exported = b"".join(export_corpus(project=desk.project, format="jsonl"))
    assert len(exported.splitlines()) == 2
    assert desk.take(ann)["sentence"]["id"] == second.pk
    assert desk.project.corpora.get().n_sentences == 2
    import_corpus(  # the queue grows behind the gap
        project=desk.project,
        stream=io.BytesIO(b"A new one comes in ."),
        file_name="new.txt",
        format="text",
        labels="none",
    )
    assert list(Ask.objects.order_by("rank").values_list("rank", flat=True)) == [2, 3, 4]
    with pytest.raises(Conflict, match="in somebody's hands"):
        delete_sentences(project=desk.project, ids=[second.pk], actor=boss)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_in_use", [False, True])
def test_what_models_made_of_sentences_goes_unless_a_job_reads_it(desk, boss, is_in_use):
    kept = home().features / "encoder" / "rows.f32"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(b"numbers")
    topic = {"name": "topic", "kind": "classes", "labels": ["a"]}
    other = create_project(spec={"name": "Other", "tasks": [topic]}, owner=boss)
    job = enqueue_job(project=other, kind=Job.Kind.EXPORT, arguments={}, created_by=boss)
    Job.objects.filter(pk=job.pk).update(state="running" if is_in_use else "done")
    delete_project(project=desk.project, actor=boss)
    assert kept.exists() == is_in_use


WORDS = st.lists(
    st.text(alphabet="abcdefghijklmnoäßλ", min_size=9, max_size=14).map("zqx{}xqz".format),
    min_size=3,
    max_size=6,
    unique=True,
)


def _everything_on_disk(root: Path) -> bytes:
    found = []
    for path in root.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            found.append(gzip.decompress(content) if path.suffix == ".gz" else content)
    return b"\n".join(found)


@pytest.mark.django_db(transaction=True)
@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(words=WORDS, how=st.sampled_from(["project", "corpus", "sentences"]))
def test_erasure_leaves_no_text_on_the_disk(words, how):
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL keeps its own files, and vacuums them itself")
    boss = User.objects.filter(username="erna").first() or User.objects.create_superuser("erna")
    marker = "".join(words)
    project = create_project(
        spec={
            "name": f"P {uuid.uuid4()}",
            "tasks": [{"name": "topic", "kind": "classes", "labels": ["a", "b"]}],
        },
        owner=boss,
    )
    row = {"id": marker[:40], "text": " ".join(words), "labels": {"topic": "a"}}
    import_corpus(
        project=project,
        stream=io.BytesIO(json.dumps(row, ensure_ascii=False).encode()),
        file_name="c.jsonl",
        format="jsonl",
        labels="suggestions",
        name=f"corpus of {words[0]}",
    )
    sentence = project.sentences.get()
    desk = Desk(project)
    ann = desk.person(f"ann{project.pk}")
    lease = desk.take(ann)
    desk.submit(ann, lease, {"topic": "b"}, key=f"key-{project.pk}")
    flag_sentence(sentence=sentence, author=ann, comment=f"odd: {words[1]}", now=NOON)
    round = Round.objects.create(project=project, number=1, state=Round.State.DONE)
    example = Example(tuple(words), {"topic": "b"}, sentence.pk)
    Workspace.of(round).save_examples(LabelledData((LabelledExample(example, "train", False),)))
    export = enqueue_job(project=project, kind=Job.Kind.EXPORT, arguments={}, created_by=boss)
    upload = home().uploads(project.pk) / "x" / "c.jsonl"
    for path in (home().export(export.folder) / "out.jsonl", upload):
        path.parent.mkdir(parents=True)
        path.write_text(row["text"])
    forget_deleted()
    assert words[0].encode() in _everything_on_disk(home().root) + _database()
    if how == "corpus":
        delete_corpus(corpus=project.corpora.get(), actor=boss)
    elif how == "sentences":
        delete_sentences(project=project, ids=[sentence.pk], actor=boss)
    if how != "project":
        left = _database() + _everything_on_disk(home().rounds)
        assert not any(word.encode() in left for word in words[1:])
    delete_project(project=project, actor=boss)
    left = _everything_on_disk(home().root) + _database()
    assert [word for word in words if word.encode() in left] == []
    assert not Project.objects.filter(pk=project.pk).exists()


def _database() -> bytes:
    """Return the bytes of the test database and of its log of writes."""
    name = connection.settings_dict["NAME"]
    files = [Path(str(name)), Path(f"{name}-wal")]
    return b"".join(path.read_bytes() for path in files if path.exists())


def test_the_command_removes_what_it_names(desk, two, capsys):
    call_command("erase", "--yes", "answers", "Journeys", "ann")
    assert Annotation.objects.count() == 9
    call_command("erase", "--yes", "person", "ben", "--how", "with-answers")
    assert not Annotation.objects.exists()
    call_command("erase", "--yes", "project", "Journeys")
    assert not Project.objects.exists()
    assert "Backups made before still have it" in capsys.readouterr().out
