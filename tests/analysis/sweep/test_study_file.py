import subprocess
import sys

import pytest

from analysis.errors import AnalysisError
from analysis.sweep.study_file import parse_study, read_study


def _study(scale: str = "", **content):
    return parse_study({"kind": "trivial", **content}, where="x.toml", scale=scale)


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
        ({"kind": "trivial", "sedes": [0]}, "unknown key 'sedes'. Known: description"),
        ({"seeds": [0]}, "names its kind"),
        ({"kind": "bandits"}, "No study kind 'bandits'. Known: .*bandit"),
        ({"kind": "trivial", "settings": {"levle": 1}}, "no setting 'levle'. Known: .*level"),
        ({"kind": "trivial", "factors": {"level": 3}}, "must be a list"),
        ({"kind": "trivial", "zip": [{"level": [1], "n_rows": [1, 2]}]}, "equally long"),
        ({"kind": "trivial", "seeds": [1, 1]}, "distinct whole numbers"),
    ],
)
def test_a_bad_study_file_is_an_error_that_names_the_remedy(content, message):
    with pytest.raises(AnalysisError, match=message):
        parse_study(content, where="x.toml")


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
        "import sys; from analysis.sweep.kinds import get_kind; get_kind('active_learning'); "
        "get_kind('replay'); assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
