"""Files in, reports out, and the command between them."""

import io
import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis.errors import AnalysisError
from analysis.methods.sequential_lda import SequentialLDA, load_model
from analysis.methods.sequential_lda.report import write_report
from analysis.methods.sequential_lda.sources import Layout, read_sequences
from analysis.methods.sequential_lda.storage import load_task_names
from analysis.methods.sequential_lda.typical import typical_sequences


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_a_tsv_without_a_header_is_task_and_sequence(tmp_path):
    data = read_sequences(write(tmp_path / "a.tsv", "ana\taccept edit\nbo\tskip\nana\tskip\n"))
    assert data.names == ["ana", "bo"]
    assert data.tasks == [[["accept", "edit"], ["skip"]], [["skip"]]]
    assert data.n_sequences == 3


def test_named_columns_can_be_joined_into_the_task(tmp_path):
    path = write(tmp_path / "a.tsv", "sex\tlang\tsteps\nman\tfr\t0 1\nman\tde\t1\n")
    data = read_sequences(path, Layout(task=("sex", "lang"), sequence="steps"))
    assert data.names == ["man / fr", "man / de"]
    assert data.tasks == [[["0", "1"]], [["1"]]]


def test_steps_can_be_characters(tmp_path):
    data = read_sequences(write(tmp_path / "a.tsv", "greek\tAdamou\n"), Layout(characters=True))
    assert data.tasks == [[list("Adamou")]]


def test_steps_can_be_points(tmp_path):
    data = read_sequences(write(tmp_path / "a.tsv", "s1\t1,2 3,4.5\n"), Layout(numbers=True))
    assert data.tasks == [[[[1.0, 2.0], [3.0, 4.5]]]]


def test_jsonl_rows_hold_lists_or_text(tmp_path):
    rows = [{"task": "a", "sequence": [1, 2]}, {"task": 7, "sequence": "x y"}]
    data = read_sequences(write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)) + "\n\n"))
    assert data.names == ["a", "7"]
    assert data.tasks == [[[1, 2]], [["x", "y"]]]


def test_all_bad_lines_are_named_at_once(tmp_path):
    tsv = write(tmp_path / "a.tsv", "a\tx y\na\nb\t \nc\tz\n")
    with pytest.raises(AnalysisError) as caught:
        read_sequences(tsv)
    assert str(caught.value).splitlines() == [
        f"{tsv}:2: 1 columns, the first line has 2",
        f"{tsv}:3: the sequence is empty",
    ]
    jsonl = write(tmp_path / "a.jsonl", '{"task": 1}\nnope\n{"task": 1, "sequence": [[1]]}\n')
    with pytest.raises(AnalysisError, match=r"(?s):1: no sequence.*:2: not JSON.*:3: a step is"):
        read_sequences(jsonl)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "", "readable are"),
        ("a.tsv", "", "no sequences"),
        ("a.tsv", "x\ty\tz\n", "needed are task, sequence"),
        ("b.tsv", "a\tx\n", "not a number"),
    ],
)
def test_unreadable_files_are_refused(tmp_path, name, text, message):
    layout = Layout(numbers=name == "b.tsv")
    with pytest.raises(AnalysisError, match=message):
        read_sequences(write(tmp_path / name, text), layout)


def test_typical_sequences_are_those_a_topic_explains_and_others_do_not():
    tasks = [["abababab"] * 6 + ["aaaabbbb"] * 2, ["aaaabbbb"] * 5 + ["bababa"]]
    model = SequentialLDA(2, n_restarts=6, seed=0).fit(tasks)
    firsts = {
        "".join(sequences[0].steps): sequences[0] for sequences in typical_sequences(model, tasks)
    }
    assert set(firsts) == {"abababab", "aaaabbbb"}
    assert firsts["aaaabbbb"].count == 7
    assert firsts["aaaabbbb"].share > 0.9


@pytest.mark.parametrize("topic", ["markov", "hmm", "gaussian"])
def test_a_report_holds_mixtures_typical_sequences_and_pictures(tmp_path, topic):
    tasks = [[[1.0, 2.0], [1.0]], [[5.0, 6.0, 5.0]]]
    model = SequentialLDA(2, topic=topic, n_restarts=1, max_iter=5).fit(tasks)
    files = write_report(model, tasks, tmp_path, task_names=["<one>", "t|wo"])
    assert all(path.stat().st_size > 0 for path in files)
    assert {path.suffix for path in files} == {".md", ".html", ".png"}
    markdown = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "| t\\|wo |" in markdown
    assert "Most typical sequences" in markdown
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "&lt;one&gt;" in page
    assert "<one>" not in page
    for path in files[2:]:
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.name in markdown
        assert path.name in page


def run_command(*words, **options):
    out = io.StringIO()
    call_command("fit_sequential_lda", *map(str, words), stdout=out, **options)
    return out.getvalue()


def test_the_command_saves_a_model_and_a_report(tmp_path):
    rows = "".join(f"{name}\t{steps}\n" for name in ("a", "b") for steps in ("x y x", "y y", "x"))
    data = write(tmp_path / "a.tsv", rows)
    said = run_command(
        data, "--topics", "2", "--family", "hmm", "--set", "n_states=2", "--restarts", "1",
        "-o", tmp_path / "out",
    )  # fmt: skip
    assert "2 tasks, 6 sequences, 2 topics" in said
    model = load_model(tmp_path / "out")
    assert model.topics_.settings.n_states == 2
    assert load_task_names(tmp_path / "out") == ["a", "b"]
    assert np.isfinite(model.score([[["x", "y"]], []]))
    assert (tmp_path / "out" / "report.html").exists()


def test_without_an_output_the_command_writes_below_the_data_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path / "home"))
    data = write(tmp_path / "My data.tsv", "a\tx y\nb\ty\n")
    run_command(data, "--topics", "1", "--restarts", "1")
    assert load_task_names(tmp_path / "home" / "sequential_lda" / "my-data") == ["a", "b"]


def test_the_command_chooses_among_several_numbers_of_topics(tmp_path):
    data = write(tmp_path / "a.tsv", "a\tx y\na\ty x\nb\tx x\nb\tx x x\n")
    said = run_command(data, "--topics", "1,2", "--restarts", "1", "-o", tmp_path / "out")
    assert "1 topics: " in said
    assert "2 topics: " in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--topics", "two"], "--topics is 'two'"),
        (["--topics", "2", "--set", "states=3"], "no option 'states'. Known: order"),
        (["--topics", "2", "--set", "order=x"], "'x' is not of type int"),
        (["--topics", "0"], "must be 1 or more"),
        (["--topics", "2", "--project", "1"], "either a data file or --project"),
    ],
)
def test_the_command_says_what_is_wrong(tmp_path, words, message):
    data = write(tmp_path / "a.tsv", "a\tx y\n")
    with pytest.raises(CommandError, match=message):
        run_command(data, *words, "-o", tmp_path / "out")


@pytest.fixture
def harbour(db):
    from django.contrib.auth import get_user_model

    from annotation.corpora.imports import import_corpus
    from annotation.projects.services import create_project

    spec = {
        "name": "Harbour",
        "tasks": [{"name": "pos", "kind": "tags", "labels": ["NOUN", "VERB"]}],
    }
    project = create_project(spec=spec, owner=get_user_model().objects.create_user("ada"))
    rows = [("Ada", "NOUN", 2, "nsubj"), ("sails", "VERB", 0, "root")]
    lines = [
        f"{i}\t{w}\t_\t{tag}\t_\t_\t{h}\t{r}\t_\t_" for i, (w, tag, h, r) in enumerate(rows, 1)
    ]
    text = "# sent_id = s1\n# text = Ada sails\n" + "\n".join(lines) + "\n\n"
    import_corpus(
        project=project,
        stream=io.BytesIO(text.encode()),
        format="conllu",
        labels="gold",
        file_name="harbour.conllu",
    )
    return project


def test_the_command_reads_the_labels_of_a_project(tmp_path, harbour):
    run_command("--project", "Harbour", "--topics", "1", "--restarts", "1", "-o", tmp_path / "out")
    model = load_model(tmp_path / "out")
    assert model.space_.symbols == ("NOUN", "VERB")
    assert load_task_names(tmp_path / "out") == ["pos"]


def test_a_project_without_actions_or_an_unknown_one_is_refused(tmp_path, harbour):
    with pytest.raises(CommandError, match="has no actions yet"):
        run_command(
            "--project", "Harbour", "--source", "actions", "--topics", "1", "-o", tmp_path / "x"
        )
    with pytest.raises(CommandError, match="Harbor"):
        run_command("--project", "Harbor", "--topics", "1", "-o", tmp_path / "x")
