"""Labels and tasks change while a project runs; answers, gold and suggestions follow."""

import pytest
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.errors import Conflict, InvalidInput
from annotation.models import (
    Annotation,
    Ask,
    Corpus,
    Gold,
    GoldVersion,
    Lease,
    Round,
    Sentence,
    Suggestion,
)
from annotation.projects.labels import (
    add_labels,
    merge_labels,
    remove_label,
    undo_change,
    update_label,
)
from annotation.projects.selectors import label_usage
from annotation.projects.services import update_project
from annotation.projects.tasks import delete_task, hide_task, rename_task, renames_since
from annotation.queue.asks import AskRow, ask_everything, leave_out, put_asks, take_back
from annotation.queue.leases import claim_next, save_draft
from annotation.queue.submissions import Work, submit
from mtl_engine.kinds import KINDS

NOW = timezone.now()


@pytest.fixture
def sentence(project):
    corpus = Corpus.objects.create(project=project, name="c", format="text", n_sentences=1)
    return Sentence.objects.create(
        project=project, corpus=corpus, position=0, text="Ada sailed to Oster",
        tokens=["Ada", "sailed", "to", "Oster"],
        offsets=[[0, 3], [4, 10], [11, 13], [14, 19]], n_tokens=4,
    )  # fmt: skip


@pytest.fixture
def answered(project, sentence, ada):
    """One answer, one gold with a version, one suggestion, all with PER and LOC."""
    task = project.tasks.get(name="entities")
    spans = [[0, 1, "PER"], [3, 4, "LOC"]]
    Annotation.objects.create(
        sentence=sentence, task=task, author=ada, value=spans, created_at=NOW, updated_at=NOW
    )
    gold = Gold.objects.create(
        sentence=sentence, task=task, value=spans, source="imported", updated_at=NOW
    )
    GoldVersion.objects.create(gold=gold, version=1, value=spans, source="x", created_at=NOW)
    Suggestion.objects.create(
        sentence=sentence, task=task, value=spans, source="import", created_at=NOW
    )
    links = project.tasks.get(name="links")
    links.pairs = {"in": [["PER", "LOC"]]}
    links.save()
    return task


def label(task, name):
    return task.labels.get(name=name)


def values(task):
    return [
        Annotation.objects.get(task=task).value,
        Gold.objects.get(task=task).value,
        GoldVersion.objects.get(gold__task=task).value,
        Suggestion.objects.get(task=task).value,
    ]


def pairs(project):
    return project.tasks.get(name="links").pairs


def test_a_new_name_follows_into_every_answer_and_pair(project, answered, ada):
    update_label(label=label(answered, "LOC"), changes={"name": "PLACE"}, actor=ada)
    assert values(answered) == [[[0, 1, "PER"], [3, 4, "PLACE"]]] * 4
    assert pairs(project) == {"in": [["PER", "PLACE"]]}
    entry = project.log.get(action="label.renamed")
    assert entry.details["n_answers"] == 1


def test_a_renaming_can_be_undone(project, answered, ada):
    before = values(answered)
    update_label(label=label(answered, "LOC"), changes={"name": "PLACE"}, actor=ada)
    undo_change(entry=project.log.get(action="label.renamed"), actor=ada)
    assert values(answered) == before
    assert pairs(project) == {"in": [["PER", "LOC"]]}
    first, second = project.log.filter(action="label.renamed").order_by("id")
    assert first.undone_by == second
    with pytest.raises(Conflict, match="undone already"):
        undo_change(entry=first, actor=ada)


def test_a_taken_name_is_refused_and_nothing_changes(answered, ada):
    before = values(answered)
    with pytest.raises(Conflict, match="Merge the two instead"):
        update_label(label=label(answered, "LOC"), changes={"name": "PER"}, actor=ada)
    assert values(answered) == before


def test_merging_is_previewed_done_and_undone(project, answered, ada):
    into, gone = label(answered, "PER"), label(answered, "LOC")
    usage = label_usage(gone, into=into)
    assert (usage.n_answers, usage.n_gold, usage.n_sentences, usage.n_people) == (1, 1, 1, 1)
    assert usage.examples == ("Ada sailed to Oster",)
    before, key = values(answered), gone.key
    entry = merge_labels(label=gone, into=into, actor=ada)
    assert values(answered) == [[[0, 1, "PER"], [3, 4, "PER"]]] * 4
    assert not answered.labels.filter(name="LOC").exists()
    assert pairs(project) == {"in": [["PER", "PER"]]}
    undo_change(entry=entry, actor=ada)
    assert values(answered) == before
    assert label(answered, "LOC").key == key
    assert pairs(project) == {"in": [["PER", "LOC"]]}


def test_a_merge_that_answers_build_on_cannot_be_undone(answered, ada):
    entry = merge_labels(label=label(answered, "LOC"), into=label(answered, "PER"), actor=ada)
    Annotation.objects.update(value=[])
    with pytest.raises(Conflict, match="later change builds on"):
        undo_change(entry=entry, actor=ada)


def test_items_that_become_equal_are_one_and_counted_before(answered, ada):
    both = [[0, 1, "LOC"], [0, 1, "PER"]]
    Annotation.objects.update(value=both)
    assert label_usage(label(answered, "LOC"), into=label(answered, "PER")).n_conflicts == 1
    merge_labels(label=label(answered, "LOC"), into=label(answered, "PER"), actor=ada)
    assert Annotation.objects.get().value == [[0, 1, "PER"]]


def test_labels_merge_within_their_task_only(project, answered, ada):
    other = project.tasks.get(name="topic").labels.first()
    with pytest.raises(InvalidInput):
        merge_labels(label=label(answered, "LOC"), into=other, actor=ada)


def test_a_label_in_use_is_retired_only_if_that_is_said(answered, ada):
    with pytest.raises(Conflict, match="1 answers and 1 gold"):
        remove_label(label=label(answered, "LOC"), is_retired_if_used=False, actor=ada)
    kept = remove_label(label=label(answered, "LOC"), is_retired_if_used=True, actor=ada)
    assert kept.is_retired
    assert Annotation.objects.get().value[1][2] == "LOC"
    back = update_label(label=kept, changes={"is_retired": False}, actor=ada)
    assert not back.is_retired


def test_an_unused_label_is_removed_for_good(answered, ada):
    add_labels(task=answered, names=["ORG"])
    assert remove_label(label=label(answered, "ORG"), is_retired_if_used=False, actor=ada) is None
    assert not answered.labels.filter(name="ORG").exists()


def test_labels_change_places(answered, ada):
    add_labels(task=answered, names=["ORG"])
    update_label(label=label(answered, "ORG"), changes={"position": 0}, actor=ada)
    assert list(answered.labels.values_list("name", flat=True)) == ["ORG", "PER", "LOC"]


def test_a_key_that_is_taken_is_refused(answered, ada):
    with pytest.raises(InvalidInput, match="cannot be used for 'LOC'"):
        update_label(label=label(answered, "LOC"), changes={"key": "p"}, actor=ada)


def test_nothing_changes_while_a_round_trains(project, answered, ada):
    Round.objects.create(project=project, number=1, state=Round.State.TRAINING)
    with pytest.raises(Conflict, match="Round 1 is training"):
        update_label(label=label(answered, "LOC"), changes={"name": "PLACE"}, actor=ada)


def test_a_task_is_renamed_wherever_it_is_kept_by_name(project, sentence, ada):
    ask_everything(project=project)
    task = project.tasks.get(name="topic")
    rename_task(task=task, name="subject", actor=ada)
    assert "subject" in Ask.objects.get().tasks
    assert "topic" not in Ask.objects.get().tasks
    with pytest.raises(Conflict, match="a task 'pos' already"):
        rename_task(task=task, name="pos", actor=ada)


def test_a_hidden_task_is_no_longer_asked(project, sentence, ada):
    ask_everything(project=project)
    hide_task(task=project.tasks.get(name="topic"), is_hidden=True, actor=ada)
    assert "topic" not in Ask.objects.get().tasks
    with pytest.raises(Conflict, match="Hide the tasks that link entities first"):
        hide_task(task=project.tasks.get(name="entities"), is_hidden=True, actor=ada)


def test_an_ask_whose_only_task_is_gone_is_not_opened_by_wanting_more_answers(
    project, sentence, ada
):
    put_asks(project=project, round=None, rows=[AskRow(sentence.pk, ["topic"])])
    delete_task(task=project.tasks.get(name="topic"), actor=ada)
    update_project(project=project, changes={"overlap": 2})
    leave_out(sentence=sentence, reason="odd", actor=ada)
    take_back(sentence=sentence, actor=ada)
    ask = Ask.objects.get()
    assert (ask.tasks, ask.is_open) == ([], False)


def test_a_task_with_answers_is_deleted_only_if_that_is_said(project, answered, ada):
    delete_task(task=project.tasks.get(name="links"), actor=ada)
    with pytest.raises(Conflict, match="2 answers"):
        delete_task(task=answered, actor=ada)
    delete_task(task=answered, actor=ada, is_forced=True)
    assert not Annotation.objects.exists()


def test_what_a_model_said_before_is_read_in_todays_words(project, answered, ada):
    since = timezone.now()
    update_label(label=label(answered, "LOC"), changes={"name": "PLACE"}, actor=ada)
    update_label(label=label(answered, "PLACE"), changes={"name": "SPOT"}, actor=ada)
    rename_task(task=answered, name="names", actor=ada)
    renames = renames_since(project, since)
    assert renames.task("entities") == "names"
    assert renames.answer("names", "spans", [[3, 4, "LOC"]]) == [[3, 4, "SPOT"]]


def test_drafts_and_second_guesses_follow_a_renaming(project, answered, sentence, ada):
    Gold.objects.filter(task=answered).delete()
    ask_everything(project=project)
    lease = Lease.objects.get(pk=claim_next(project=project, annotator_id=ada.pk, now=NOW))
    doc = {"values": {"entities": [[3, 4, "LOC"]], "kind": "x"}, "rejected": {}, "note": ""}
    save_draft(lease=lease, token=lease.token, draft={"doc": doc}, version=1, now=NOW)
    suggestion = Suggestion.objects.get()
    items = [([0, 1, "PER"], 0.9), ([3, 4, "LOC"], 0.6)]
    suggestion.details = {"items": [{"value": v, "confidence": c} for v, c in items]}
    others = [{"value": [0, 1, "LOC"], "confidence": 0.1}, {"value": None, "confidence": 0.1}]
    suggestion.details["items"][0]["others"] = others
    suggestion.save()
    update_label(label=label(answered, "LOC"), changes={"name": "PLACE"}, actor=ada)
    lease.refresh_from_db()
    assert lease.draft["doc"]["values"]["entities"] == [[3, 4, "PLACE"]]
    suggestion.refresh_from_db()
    first, second = suggestion.details["items"]
    assert [other["value"] for other in first["others"]] == [[0, 1, "PLACE"], None]
    assert second == {"value": [3, 4, "PLACE"], "confidence": 0.6}


def test_what_an_open_page_still_calls_by_the_old_name_is_stored_by_the_new_one(
    project, answered, ada
):
    Gold.objects.all().delete()
    ask_everything(project=project)
    lease = Lease.objects.get(pk=claim_next(project=project, annotator_id=ada.pk, now=NOW))
    update_label(label=label(answered, "LOC"), changes={"name": "PLACE"}, actor=ada)
    old = {
        "entities": [[3, 4, "LOC"]], "pos": ["NOUN"] * 4, "topic": "delay", "links": [],
        "tree": [[0, "root"], [1, "x"], [2, "x"], [3, "x"]],
    }  # fmt: skip
    lease.refresh_from_db()
    work = Work(answers=old)
    submit(lease=lease, token=lease.token, work=work, key="k", request_hash="h", now=NOW)
    assert Annotation.objects.get(task=answered, author=ada).value == [[3, 4, "PLACE"]]


@settings(max_examples=40, deadline=None)
@given(
    spans=st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from(["A", "B", "C"])), unique=True, max_size=6
    )
)
def test_renaming_there_and_back_loses_nothing(spans):
    kind = KINDS["spans"]
    value = kind.canonical([[i, i + 1, name] for i, name in spans])
    there = kind.replace_labels(value, {"A": "Z"})
    assert kind.replace_labels(there, {"Z": "A"}) == value
    assert len(there) == len(value)
