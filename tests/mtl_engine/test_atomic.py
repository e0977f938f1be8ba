"""Files and folders replaced as a whole, whenever the writer dies and whoever reads meanwhile."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mtl_engine import atomic
from mtl_engine.atomic import current_place, read_whole, remove_folder, replaced_folder
from mtl_engine.errors import EngineError

# Replaces a folder again and again, each time killed one step later, until it ends by itself.
KILLED_AT_EVERY_STEP = """
import json, os, sys
from pathlib import Path
from mtl_engine import atomic

folder, has_exchange = Path(sys.argv[1]), sys.argv[2] == "exchange"
if not has_exchange:
    atomic._exchange = lambda new, folder: False

def write(text):
    with atomic.replaced_folder(folder) as new:
        for part in ("a", "b"):
            (new / part).write_text(text)

def read(path):
    return [(path / part).read_text() for part in ("a", "b")]

def write_until(n_steps):
    def count(event, arguments):
        nonlocal n_steps
        if event.partition(".")[0] in ("open", "os", "shutil", "tempfile", "ctypes"):
            n_steps -= 1
            if n_steps < 0:
                os._exit(9)
    sys.addaudithook(count)
    write("new")
    os._exit(0)

found, status, n_steps = [], None, 0
while status != 0:
    write("old")
    left = sorted(path.name for path in folder.parent.iterdir())
    child = os.fork()
    if child == 0:
        write_until(n_steps)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    found.append([left, folder.exists(), *atomic.read_whole(folder, read)])
    n_steps += 1
print(json.dumps(found))
"""


@pytest.mark.parametrize("way", ["exchange", "renames"])
def test_a_writer_killed_before_any_step_leaves_the_old_or_the_new_whole(way, tmp_path):
    command = [sys.executable, "-c", KILLED_AT_EVERY_STEP, str(tmp_path / "m"), way]
    root = Path(__file__).parents[2]
    shown = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    found = json.loads(shown)
    assert len(found) > 20
    assert {tuple(parts) for _, _, *parts in found} == {("old", "old"), ("new", "new")}
    assert found[-1][2:] == ["new", "new"]
    assert all(left == ["m"] for left, *_ in found)  # the next writer tidies up
    is_in_place = [there for _, there, *_ in found]
    assert all(is_in_place) == (way == "exchange")  # else a reader finds it beside its name


def write(folder, text):
    with replaced_folder(folder) as new:
        for part in ("a", "b"):
            (new / part).write_text(text)


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_reader_whose_folder_is_replaced_reads_again(can_exchange, tmp_path, monkeypatch):
    if not can_exchange:
        monkeypatch.setattr(atomic, "_exchange", lambda new, folder: False)
    write(tmp_path / "m", "old")
    tries = []

    def read(path):
        first = (path / "a").read_text()
        tries.append(first)
        if len(tries) == 1:
            write(tmp_path / "m", "new")
        return first + (path / "b").read_text()

    assert read_whole(tmp_path / "m", read) == "newnew"
    assert tries == ["old", "new"]


def test_an_error_of_an_unchanged_folder_is_told_at_once(tmp_path):
    def read(path):
        tries.append(path)
        raise EngineError("damaged")

    tries = []
    with pytest.raises(EngineError, match="damaged"):
        read_whole(tmp_path / "m", read)
    assert len(tries) == 1


def test_a_folder_that_changes_all_the_time_is_given_up_with_a_reason(tmp_path):
    def read(path):
        write(tmp_path / "m", "again")

    write(tmp_path / "m", "old")
    with pytest.raises(EngineError, match="replaced 10 times while it was read"):
        read_whole(tmp_path / "m", read)


def test_a_removed_folder_is_not_found_beside_its_name(tmp_path):
    write(tmp_path / "m", "new")
    os.rename(tmp_path / "m", tmp_path / ".m.old")
    assert current_place(tmp_path / "m") == tmp_path / ".m.old"
    remove_folder(tmp_path / "m")
    write(tmp_path / "m", "newer")
    remove_folder(tmp_path / "m")
    assert not current_place(tmp_path / "m").exists()
    assert list(tmp_path.iterdir()) == []


def test_folders_with_similar_names_leave_each_other_alone(tmp_path):
    with replaced_folder(tmp_path / "m.5") as new:
        write(tmp_path / "m", "other")
        (new / "a").write_text("mine")
    assert (tmp_path / "m.5" / "a").read_text() == "mine"


def test_a_link_is_replaced_and_what_it_points_to_stays(tmp_path):
    write(tmp_path / "target", "old")
    (tmp_path / "m").symlink_to(tmp_path / "target")
    write(tmp_path / "m", "new")
    assert (tmp_path / "m" / "a").read_text() == "new"
    assert (tmp_path / "target" / "a").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "target"]


def test_a_file_is_replaced_whole_and_for_its_owner_alone(tmp_path):
    path = tmp_path / "choice.json"
    path.write_text("old")
    with atomic.replaced_file(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_whose_writer_fails_stays_as_it_was(tmp_path):
    path = tmp_path / "choice.json"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), atomic.replaced_file(path) as file:
        file.write(bytes([1, 2, 3 // 0]))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("has_links", [True, False])
def test_of_several_writers_of_a_new_file_the_first_wins(tmp_path, monkeypatch, has_links):
    if not has_links:
        monkeypatch.setattr(atomic.os, "link", lambda new, path: (_ for _ in ()).throw(OSError()))
    path = tmp_path / "key"
    with atomic.first_file(path) as slow:
        slow.write(b"slow")
        if has_links:
            with atomic.first_file(path) as fast:
                fast.write(b"fast")
    assert path.read_bytes() == (b"fast" if has_links else b"slow")
    assert list(tmp_path.iterdir()) == [path]


def test_of_several_writers_of_a_new_folder_the_first_wins(tmp_path):
    folder = tmp_path / "runs" / "ab"
    with atomic.first_folder(folder) as slow:
        (slow / "a").write_text("slow")
        with atomic.first_folder(folder) as fast:
            (fast / "a").write_text("fast")
    assert (folder / "a").read_text() == "fast"
    assert list(folder.parent.iterdir()) == [folder]


def test_a_new_folder_whose_writer_fails_never_appears(tmp_path):
    with pytest.raises(ZeroDivisionError), atomic.first_folder(tmp_path / "ab"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
