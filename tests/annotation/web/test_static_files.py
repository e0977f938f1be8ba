"""Static files as they are collected to be served: hashed, compressed, without comments."""

import re
from pathlib import Path

import pytest
from django.core.files.storage import FileSystemStorage

import annotation
from annotation.web.static_storage import COMMENT, StaticStorage

pytestmark = pytest.mark.any_database

SOURCES = Path(annotation.__file__).parent / "static"
IMPORT = re.compile(r'(?:from|import)\s*"(\.[^"]+)"')


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """The folder of the collected files, and the hashed name of each."""
    folder = tmp_path_factory.mktemp("static")
    source = FileSystemStorage(location=SOURCES)
    storage = StaticStorage(location=folder, base_url="/static/")
    names = [path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.*")]
    for name in names:
        with source.open(name) as file:
            storage.save(name, file)
    done = list(storage.post_process({name: (source, name) for name in names}))
    assert [error for _, _, error in done if isinstance(error, Exception)] == []
    return folder, storage.hashed_files


def _scripts():
    return sorted(SOURCES.rglob("*.js"))


def test_every_import_of_a_served_script_is_there_under_its_hashed_name(collected):
    folder, names = collected
    hashed = {(folder / name).resolve() for name in names.values()}
    n_imports = 0
    for name in (name for name in names.values() if name.endswith(".js")):
        for target in IMPORT.findall((folder / name).read_text()):
            assert ((folder / name).parent / target).resolve() in hashed, (name, target)
            n_imports += 1
    assert n_imports > 200


def test_served_scripts_have_no_lines_of_comment_and_keep_their_line_numbers(collected):
    folder, names = collected
    source = (SOURCES / "annotation/annotate/dom.js").read_text().split("\n")
    served = (folder / names["annotation/annotate/dom.js"]).read_text().split("\n")
    assert len(served) == len(source)
    for before, after in zip(source, served, strict=True):
        assert after == ("" if before.lstrip().startswith(("//", "/*", "*")) else before)


@pytest.mark.parametrize("path", _scripts(), ids=lambda path: path.name)
def test_what_is_taken_for_a_comment_is_not_inside_a_text(path):
    source = path.read_text()
    for found in COMMENT.finditer(source):
        before = COMMENT.sub("", source[: found.start()])
        assert before.count("`") % 2 == 0, found.group()


def test_scripts_of_others_are_served_as_they_are(tmp_path):
    text = "/* licence */\n// note\nconst a = 1;\n"
    (tmp_path / "others").mkdir()
    (tmp_path / "others/a.js").write_text(text)
    source = FileSystemStorage(location=tmp_path)
    storage = StaticStorage(location=tmp_path / "collected", base_url="/static/")
    with source.open("others/a.js") as file:
        storage.save("others/a.js", file)
    list(storage.post_process({"others/a.js": (source, "others/a.js")}))
    assert (tmp_path / "collected" / storage.hashed_files["others/a.js"]).read_text() == text
