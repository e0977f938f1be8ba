"""Exporting: the same bytes back, the answers that were asked for, files that appear whole."""

import gzip
import io
import json
import sys
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.corpora.exports import export_corpus, export_to_file
from annotation.corpora.imports import import_corpus
from annotation.corpora.jobs import run_export
from annotation.errors import Refused
from annotation.formats.format import get_format
from annotation.jobs.services import claim_job, enqueue_job
from annotation.models import Annotation, Ask, Gold, Job, Queue, Round, Sentence
from annotation.projects.services import create_project
from tests.annotation.corpora.test_imports import CONLLU, load


def exported(project, **options):
    return b"".join(export_corpus(project=project, **{"format": "conllu", **options})).decode()


def test_an_untouched_file_comes_out_byte_for_byte(project):
    load(project, CONLLU)
    assert exported(project) == CONLLU


def test_a_layer_that_was_sent_to_a_task_goes_back_to_its_place(db):
    spec = {
        "name": "P",
        "tasks": [{"name": "pos", "kind": "tags", "labels": ["NNP", "VBZ", "."]}],
    }
    project = create_project(spec=spec)
    load(project, CONLLU, mapping={"pos": "xpos"})
    assert exported(project) == CONLLU


def test_changed_gold_changes_its_own_cells_alone(project):
    load(project, CONLLU)
    Gold.objects.filter(sentence__key="s2", task__name="entities").update(value=[[0, 2, "PER"]])
    expected = CONLLU.replace("NER=B-LOC", "NER=B-PER").replace(
        "root\t_\tNER=O\n\n", "root\t_\tNER=I-PER\n\n"
    )
    assert exported(project) == expected


def test_one_annotators_answers_or_everybodys_side_by_side(project, ada, bob):
    load(project, CONLLU, labels="annotations", author=ada)
    sentence = Sentence.objects.get(key="s1")
    task = project.tasks.get(name="pos")
    now = timezone.now()
    Annotation.objects.create(
        sentence=sentence, task=task, author=bob, value=["VERB", "VERB", "VERB"],
        created_at=now, updated_at=now,
    )  # fmt: skip
    assert exported(project, labels="annotator:ada") == CONLLU
    assert exported(project, labels="annotator:bob").count("\tVERB\t") == 3
    both = exported(project, labels="all")
    assert both.count("# annotator = ada") == 2
    assert both.count("# annotator = bob") == 1
    with pytest.raises(Refused, match="No annotator 'eve'. Known: ada, bob."):
        exported(project, labels="annotator:eve")


def test_suggestions_and_bare_sentences_are_exported_too(project):
    load(project, CONLLU, labels="suggestions")
    assert exported(project, labels="suggestions") == CONLLU
    assert "nsubj" not in exported(project, labels="gold")
    assert exported(project, format="text", labels="none") == "Ada sails.\nHull waits\n"


def test_corpora_come_one_after_the_other_or_by_name(project):
    load(project, CONLLU, name="a")
    load(project, CONLLU.replace("s1", "s3").replace("s2", "s4"), name="b")
    assert exported(project).count("# sent_id") == 4
    corpus = project.corpora.get(name="b")
    assert exported(project, corpora=[corpus]).count("# sent_id = s3") == 1


def test_a_task_with_answers_that_the_format_cannot_hold_is_never_dropped(project):
    text = '{"tokens": ["a", "b"], "labels": {"topic": "delay"}}\n'
    load(project, text, format="jsonl", file_name="x.jsonl")
    assert "intent" in exported(project) or "delay" in exported(project)
    with pytest.raises(Refused, match="has no place for task 'topic'"):
        exported(project, format="conll2003")
    assert exported(project, format="conll2003", tasks=["pos"])
    with pytest.raises(Refused, match="No task 'poss'. Did you mean 'pos'"):
        exported(project, tasks=["poss"])


def test_many_sentences_come_in_their_order(project):
    lines = "".join(f"sentence number {i}\n" for i in range(4321))
    load(project, lines, format="text", labels="none")
    assert exported(project, format="text", labels="none") == lines


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("before")

    def broken():
        yield b"half"
        raise RuntimeError

    with pytest.raises(RuntimeError):
        export_to_file(path, broken())
    assert path.read_text() == "before"
    assert [child.name for child in tmp_path.iterdir()] == ["out.txt"]
    assert export_to_file(path, iter([b"all", b" of it"])) == 9
    assert path.read_text() == "all of it"


def test_the_command_writes_a_file_that_can_be_gzipped(project, tmp_path):
    load(project, CONLLU)
    plain, packed = tmp_path / "out.conllu", tmp_path / "out.conllu.gz"
    for path in (plain, packed):
        call_command(
            "export_corpus", "Harbour", "--format=conllu", "--labels=gold", "-o", str(path)
        )
    assert plain.read_text() == gzip.decompress(packed.read_bytes()).decode() == CONLLU
    with pytest.raises(CommandError, match="No corpus 'x'"):
        call_command("export_corpus", "Harbour", "--format=conllu", "--corpus=x", "-o", str(plain))
    with pytest.raises(CommandError, match="Did you mean 'gold'"):
        call_command(
            "export_corpus", "Harbour", "--format=conllu", "--labels=god", "-o", str(plain)
        )


def test_what_comes_out_goes_in_again(project, bob):
    load(project, CONLLU)
    text = exported(project, format="jsonl", labels="gold")
    import_corpus(
        project=project, stream=io.BytesIO(text.encode()), file_name="again.jsonl",
        format="jsonl", labels="annotations", author=bob,
    )  # fmt: skip
    corpus = project.corpora.get(name="again")
    assert exported(project, format="jsonl", labels="annotator:bob", corpora=[corpus]) == text


@pytest.fixture
def asked(project, ada):
    """Return a project with labelled, open and test sentences and a round that asked for one."""
    load(project, CONLLU)
    load(project, "Rain fell.\nIt stopped.\n", format="text", labels="none", name="open")
    Sentence.objects.filter(key="s2").update(is_test=True)
    now = timezone.now()
    round = Round.objects.create(project=project, number=1, config={}, created_by=ada)
    queue = Queue.objects.create(project=project, round=round, overlap=1, created_at=now)
    for rank, sentence in enumerate(Sentence.objects.filter(position=0), start=1):
        Ask.objects.create(queue=queue, sentence=sentence, rank=rank, tasks=[], overlap=1)
    return project


WHICH = [
    ({}, ["Ada sails.", "Hull waits", "Rain fell.", "It stopped."]),
    ({"sentences": "labelled"}, ["Ada sails.", "Hull waits"]),
    ({"sentences": "train"}, ["Ada sails."]),
    ({"sentences": "test"}, ["Hull waits"]),
    ({"round": 1}, ["Ada sails.", "Rain fell."]),
    ({"sentences": "labelled", "round": 1}, ["Ada sails."]),
]


@pytest.mark.parametrize(("which", "texts"), WHICH)
def test_labelled_only_one_round_and_the_test_slice_by_command_page_and_rest(
    asked, ada, client, tmp_path, which, texts
):
    def in_file(data):
        return [json.loads(line)["text"] for line in data.splitlines()]

    out = tmp_path / "out.jsonl"
    call_command("export_corpus", asked.name, format="jsonl", output=out, **which)
    assert in_file(out.read_bytes()) == texts
    client.force_login(ada)
    answer = client.get(f"/api/projects/{asked.pk}/export/", {"format": "jsonl", **which})
    assert in_file(answer.getvalue()) == texts
    posted = {"format": "jsonl", "labels": "final", **which}
    page = client.post(f"/projects/{asked.pk}/export/", posted)
    assert in_file(page.getvalue()) == texts


def test_a_choice_or_round_that_is_not_there_is_refused(asked, ada, client):
    client.force_login(ada)
    for query, words in [
        ({"sentences": "labeled"}, "Did you mean 'labelled'"),
        ({"round": "7"}, "No round 7"),
        ({"round": "x"}, "not the number of a round"),
    ]:
        answer = client.get(f"/api/projects/{asked.pk}/export/", {"format": "jsonl", **query})
        assert answer.status_code in (400, 409)
        assert words in answer.content.decode()


@pytest.mark.parametrize("labels", ["final", "all", "none"])
@pytest.mark.parametrize("format", ["conllu", "jsonl"])
def test_a_file_written_apart_is_the_one_written_here(project, bob, monkeypatch, format, labels):
    load(project, CONLLU)
    load(project, CONLLU, labels="annotations", author=bob, name="bobs")
    here = exported(project, format=format, labels=labels)

    def heavy(name):
        return replace(get_format(name), is_heavy=True)

    monkeypatch.setattr("annotation.corpora.exports.get_format", heavy)
    assert exported(project, format=format, labels=labels) == here


def test_what_a_format_cannot_hold_is_refused_apart_as_it_is_here(project, monkeypatch):
    load(project, CONLLU)
    task = project.tasks.get(name="entities")
    Gold.objects.filter(task=task).update(value=[[0, 1, "a\tb"]])
    words = []
    for is_heavy in (False, True):
        target = replace(get_format("conllu"), is_heavy=is_heavy)
        monkeypatch.setattr("annotation.corpora.exports.get_format", lambda name, t=target: t)
        with pytest.raises(Refused) as refusal:
            exported(project, format="conllu", labels="gold")
        words.append(str(refusal.value))
    assert words[0] == words[1] != ""


def test_an_export_counts_the_sentences_that_it_wrote(project, ada):
    load(project, CONLLU)
    now = timezone.now()
    Gold.objects.filter(sentence=project.sentences.last()).delete()
    for labels, sentences, n in (("gold", "labelled", 1), ("gold", "all", 2), ("none", "all", 2)):
        arguments = {"format": "jsonl", "labels": labels, "corpora": [], "tasks": []}
        arguments |= {"sentences": sentences, "round": None}
        enqueue_job(project=project, kind="export", arguments=arguments, created_by=ada)
        job = claim_job(worker="w", now=now)
        run_export(job, lambda *args: None)
        job.refresh_from_db()
        assert job.result["n_sentences"] == n


def test_a_docbin_is_never_written_by_the_web_process(project, ada, client, monkeypatch):
    load(project, CONLLU)
    client.force_login(ada)
    monkeypatch.setitem(sys.modules, "spacy", None)  # here it cannot be imported
    answer = client.get(f"/api/projects/{project.pk}/export/", {"format": "spacy"})
    data = answer.getvalue()
    page = client.post(f"/projects/{project.pk}/export/", {"format": "spacy", "labels": "final"})
    job = Job.objects.get(kind="export")
    assert page.url == f"/projects/{project.pk}/jobs/{job.pk}/"
    monkeypatch.undo()
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    texts = [doc.text for doc in DocBin().from_bytes(data).get_docs(Vocab())]
    assert texts == ["Ada sails.", "Hull waits"]
