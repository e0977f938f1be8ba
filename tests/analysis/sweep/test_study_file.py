import subprocess
import sys

import pytest

from analysis.errors import AnalysisError
from analysis.sweep.study_file import parse_study, read_study

TRIVIAL = "benchmarks.trivial_study"


def _study(scale: str = "", **content):
    return parse_study({"kind": TRIVIAL, **content}, where="x.toml", scale=scale)


def test_factors_are_crossed_and_every_seed_is_finished_before_the_next():
    study = _study(seeds=[0, 1], factors={"level": [1, 2], "n_rows": [3]})
    runs = [(r.settings["level"], r.settings["n_rows"], r.seed) for r in study.runs()]
    assert runs == [(1, 3, 0), (2, 3, 0), (1, 3, 1), (2, 3, 1)]


def test_zipped_lists_vary_together_and_explicit_choices_alternate():
    study = _study(zip=[{"level": [1, 2], "n_rows": [5, 6]}], list=[{"cpu_seconds": 0.5}, {}])
    runs = [
        (r.settings["level"], r.settings["n_rows"], r.settings["cpu_seconds"]) for r in study.runs()
    ]
    assert runs == [(1, 5, 0.5), (1, 5, 0.0), (2, 6, 0.5), (2, 6, 0.0)]
    assert study.varying == ("level", "n_rows", "cpu_seconds")


def test_a_scale_replaces_what_it_names_and_keeps_the_rest():
    content = {
        "settings": {"level": 9, "n_rows": 2},
        "seeds": [0, 1, 2],
        "scales": {"small": {"note": "one seed", "seeds": [7], "settings": {"n_rows": 1}}},
    }
    study = _study("small", **content)
    (run,) = study.runs()
    assert (run.settings["level"], run.settings["n_rows"], run.seed) == (9, 1, 7)
    assert study.note == "one seed"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"kind": TRIVIAL, "sedes": [0]},
            "unknown key 'sedes'. Known: description",
        ),
        ({"seeds": [0]}, "names its kind"),
        (
            {"kind": "bandits"},
            "No study kind 'bandits'. Did you mean 'bandit'.*active",
        ),
        (
            {"kind": TRIVIAL, "settings": {"levle": 1}},
            "kind 'trivial': No TrivialSettings key 'levle'. Did you mean 'level'",
        ),
        ({"kind": TRIVIAL, "factors": {"level": 3}}, "must be a list"),
        (
            {"kind": TRIVIAL, "zip": [{"level": [1], "n_rows": [1, 2]}]},
            "equally long",
        ),
        ({"kind": TRIVIAL, "zip": [{}]}, "equally long"),
        (
            {"kind": TRIVIAL, "zip": {"level": [1]}},
            r"must be tables, each below \[\[zip\]\]",
        ),
        ({"kind": TRIVIAL, "list": [1]}, "list must be a table, not 1"),
        ({"kind": TRIVIAL, "factors": 3}, "factors must be a table, not 3"),
        (
            {"kind": TRIVIAL, "factors": {"level": []}},
            "must be a list of values",
        ),
        ({"kind": TRIVIAL, "settings": []}, "settings must be a table"),
        ({"kind": TRIVIAL, "name": 3}, "name must be a text, not 3"),
        ({"kind": TRIVIAL, "name": " "}, "name must have 1 to 120 characters"),
        (
            {"kind": TRIVIAL, "name": "x" * 121},
            "must have 1 to 120 characters, not 121",
        ),
        (
            {
                "kind": TRIVIAL,
                "settings": {"level": 5},
                "factors": {"level": [1, 2]},
            },
            "'level' is 5 in settings and varies too",
        ),
        (
            {
                "kind": TRIVIAL,
                "settings": {"level": 5},
                "zip": [{"level": [1, 2]}],
            },
            "'level' is 5 in settings and varies too",
        ),
        ({"kind": TRIVIAL, "seeds": [2**31]}, "from 0 to 2147483647"),
        (
            {"kind": TRIVIAL, "scales": {"small": {"sedes": [0]}}},
            "small: unknown key 'sedes'",
        ),
        ({"kind": TRIVIAL, "seeds": 3}, "distinct whole numbers"),
        ({"kind": TRIVIAL, "seeds": [True]}, "distinct whole numbers"),
        ({"kind": TRIVIAL, "seeds": [-1]}, "distinct whole numbers"),
        ({"kind": TRIVIAL, "seeds": [1, 1]}, "distinct whole numbers"),
    ],
)
def test_a_bad_study_file_is_an_error_that_names_the_remedy(content, message):
    with pytest.raises(AnalysisError, match=message):
        parse_study(content, where="x.toml")


@pytest.mark.parametrize(
    "content",
    [
        {"factors": {"level": [1, 2, 1]}},
        {"list": [{"level": 2}, {"level": 2}]},
        {"list": [{}, {"level": 0}]},  # 0 is the default
        {"factors": {"cpu_seconds": [1, 1.0]}},
    ],
)
def test_a_combination_that_is_there_twice_is_refused(content):
    with pytest.raises(AnalysisError, match="is there 2 times"):
        _study(**content)


def test_a_setting_varies_in_one_place():
    with pytest.raises(AnalysisError, match="'level' varies in two places"):
        _study(factors={"level": [1, 2]}, zip=[{"level": [3, 4]}])


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "study.toml").write_bytes(b"\xff\xfe")
    for path in (tmp_path, tmp_path / "study.toml"):
        with pytest.raises(AnalysisError, match="cannot be read as a study file"):
            read_study(path)


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (TRIVIAL, {"n_rows": "2"}, "'n_rows' is '2'; allowed: a value of type int"),
        (TRIVIAL, {"n_rows": 1.5}, "'n_rows' is 1.5; allowed: a value of type int"),
        (TRIVIAL, {"once": True}, "'once' is True; allowed: a value of type str"),
        ("bandit", {"policy": "RANDON"}, "policy 'RANDON'. Did you mean 'RANDOM'?"),
        ("bandit", {"n_steps": 0}, "'n_steps' is 0; allowed: 1 or more"),
        ("active_learning", {"strategy": "MT-PARR"}, "Did you mean 'MT-PAR'"),
        ("active_learning", {"strategy": "STCS", "decision": "BLP"}, "name it in 'task'"),
        ("active_learning", {"strategy": "MT-AVG", "task": "ner"}, "goes by all tasks"),
        ("active_learning", {"strategy": "UDJS", "budget": 0, "n_per_round": 9}, "spends a budget"),
        ("active_learning", {"weights": {"a": 0.5, "b": 0.6}}, "sum to 1"),
        ("active_learning", {"weights": {"a": "x"}}, "'weights.a' is 'x'"),
        ("active_learning", {"strategy": "MT-MIN", "weights": {"a": 0.3, "b": 0.7}}, "not weigh"),
        ("active_learning", {"initial": 0}, "'initial' is 0; allowed: 1 or more"),
        ("active_learning", {"n_rounds": "5"}, "'n_rounds' is '5'; allowed: a value of type int"),
        ("active_learning", {"test_size": -1}, "'test_size' is -1; allowed: 0 or more"),
        ("active_learning", {"architecture": "XX"}, "Known: CMT, SMT, ST"),
        ("active_learning", {"is_warm_start": 1}, "'is_warm_start' is 1; .* type bool"),
        ("mtl_simulation", {"context": -1, "dev": "c"}, "'context' is -1"),
        ("mtl_simulation", {"dev_tokens": -1, "dev": "c"}, "'dev_tokens' is -1"),
        ("mtl_simulation", {}, "The setting 'dev' is needed"),
        ("surrogate", {"application": "text"}, "The setting 'target' is needed"),
        ("policy", {}, "The setting 'sources' is needed"),
        ("policy", {"sources": [{"task": "a"}]}, "A task source needs 'train'"),
        ("replay", {"project": "x"}, "'project' is 'x'"),
        ("replay", {"project": 1, "target": 0.0}, "'target' is 0.0; allowed: more than 0"),
        ("replay", {"project": 1, "budget": 9.0}, "'unit' is no setting of a replay"),
    ],
)
def test_settings_that_no_run_could_use_are_refused_before_any_run(kind, settings, message):
    files = {"train": "a", "test": "b"} if kind in ("active_learning", "mtl_simulation") else {}
    content = {"kind": kind, "settings": {**files, **settings}}
    with pytest.raises(AnalysisError, match=message):
        parse_study(content, where="x.toml")


def test_a_command_line_sets_what_does_not_vary():
    content = {"kind": TRIVIAL, "factors": {"level": [1, 2]}}
    study = parse_study(content, where="x.toml", assignments=["n_rows=3", "cpu_seconds=0.5"])
    assert {(c["n_rows"], c["cpu_seconds"]) for c in study.combinations} == {(3, 0.5)}
    with pytest.raises(AnalysisError, match="--set level: it varies .* use --only level=VALUE"):
        parse_study(content, where="x.toml", assignments=["level=3"])
    with pytest.raises(AnalysisError, match="--set: No TrivialSettings key 'n_row'"):
        parse_study(content, where="x.toml", assignments=["n_row=3"])


def test_a_scale_that_fixes_what_varies_is_not_ignored():
    scales = {"small": {"settings": {"level": 1}}}
    with pytest.raises(AnalysisError, match=r"\[scales.NAME.factors\] level = \[1\]"):
        _study("small", factors={"level": [1, 2]}, scales=scales)


def test_an_unknown_scale_names_the_known_ones():
    with pytest.raises(AnalysisError, match="no scale 'tiny'. Known: small"):
        _study("tiny", scales={"small": {}})


def test_every_study_that_is_shipped_can_be_read_at_every_scale(pytestconfig):
    files = sorted((pytestconfig.rootpath / "studies").glob("*.toml"))
    assert files
    for path in files:
        import tomllib

        for scale in ("", *tomllib.loads(path.read_text()).get("scales", {})):
            assert list(read_study(path, scale=scale).runs())


def test_a_page_that_shows_a_study_of_active_learning_does_not_load_torch():
    code = (
        "import sys; from analysis.sweep.registry import get_kind; get_kind('active_learning'); "
        "get_kind('replay'); assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
