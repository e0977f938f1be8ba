import pytest

from analysis.data.glue import SourceSettings, read_sources
from analysis.errors import AnalysisError
from analysis.sweep.registry import get_kind
from mtl_engine.encoders.subwords import PAIR_SEPARATOR
from mtl_engine.errors import EngineError


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path / "home"))


def _source(tmp_path, task, rows, **changes):
    path = tmp_path / f"{task}.tsv"
    path.write_text("\n".join("\t".join(row) for row in rows) + "\n", encoding="utf-8")
    return {
        "task": task, "format": "tsv", "train": str(path), "dev": str(path),
        "n_train": 16, "n_dev": 8, **changes,
    }  # fmt: skip


def _read(tables):
    return [SourceSettings.from_dict(table) for table in tables]


def _sources(tmp_path):
    single = [("label", "sentence"), *((str(i % 2), f"word{i % 2} here") for i in range(20))]
    pairs = [("label", "a", "b"), *((f"{i % 5}.5", "one two", f"two {i % 5}") for i in range(20))]
    return [
        _source(tmp_path, "CoLA", single, score="matthews"),
        _source(tmp_path, "STS-B", pairs, score="correlations", high=5.0),
    ]


def test_pairs_are_one_sentence_with_a_separator_and_numbers_a_regression(tmp_path):
    single, pair = read_sources(_read(_sources(tmp_path)))
    assert single.task.labels == ("0", "1")
    assert pair.task.kind == "regression"
    assert pair.train[1].tokens == ("one", "two", PAIR_SEPARATOR, "two", "1")
    assert pair.train[1].labels == {"STS-B": 1.5}


def test_quotes_are_text_and_short_rows_are_named(tmp_path):
    rows = [("label", "sentence"), ("1", '"so he said'), ("0", "no")]
    (source,) = read_sources(_read([_source(tmp_path, "a", rows)]))
    assert source.train[0].tokens == ('"so', "he", "said")
    with pytest.raises(AnalysisError, match=r"b.tsv:3: 1 columns"):
        read_sources(_read([_source(tmp_path, "b", [("label", "sentence"), ("1", "x"), ("0",)])]))
    with pytest.raises(EngineError, match="No SourceSettings key 'n_test'"):
        _read([_source(tmp_path, "c", rows, n_test=3)])


@pytest.mark.parametrize("policy", ["RANDOM", "EXP3.S", "LEARNED"])
def test_a_run_scores_every_task_and_tells_the_policys_shares(tmp_path, policy):
    kind = get_kind("policy")
    chosen = {"sources": _sources(tmp_path), "encoder": "tiny", "epochs": 1}
    chosen |= {"n_points": 2, "batch_size": 8}
    settings = kind.read(kind.resolve({**chosen, "policy": policy, "frozen_layers": 1}))
    rows = list(kind.run(settings, 0, kind.load(settings)))
    assert [row["step"] for row in rows[:-1]] == [2, 4]
    final = rows[-1]["final"]
    assert final["mean"] == pytest.approx((final["CoLA"] + final["STS-B"]) / 2)
    assert final["CoLA share"] + final["STS-B share"] == pytest.approx(1)
    again = list(kind.run(settings, 0, kind.load(settings)))
    assert again == rows


def test_single_tasks_are_trained_alone(tmp_path):
    kind = get_kind("policy")
    sources = _sources(tmp_path)
    chosen = {"encoder": "tiny", "epochs": 1, "batch_size": 8, "frozen_layers": 1}

    def final(sources, policy):
        settings = kind.read(kind.resolve({**chosen, "sources": sources, "policy": policy}))
        return list(kind.run(settings, 0, kind.load(settings)))[-1]["final"]

    both = final(sources, "SINGLE TASK")
    assert set(both) == {"CoLA", "STS-B", "mean"}
    assert both["mean"] == pytest.approx((both["CoLA"] + both["STS-B"]) / 2)
    assert both["CoLA"] == pytest.approx(final(sources[:1], "RANDOM")["CoLA"])
