"""A restore that is killed leaves an empty server; one over a server in use is refused."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.releases.contents import read_contents
from tests.releases.server import ROOT, Server, Session, environment, run_command
from tests.releases.test_upgrade import ALL, assert_same, contents_of


def _start(own, file):
    return subprocess.Popen(
        [sys.executable, "manage.py", "restore", str(file)],
        cwd=ROOT, env=own, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def _kill_when(process, is_time):
    """Kill a restore as soon as something can be seen of it; return whether it was under way."""
    while process.poll() is None and not is_time():
        time.sleep(0.001)
    was_running = process.poll() is None
    if was_running:
        os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return was_running


@pytest.mark.parametrize("moment", ["rows", "files"])
def test_a_restore_that_is_killed_can_be_made_again(moment, new_home):
    release = ALL[-1]
    own = environment(new_home)
    log = new_home / "tandem.sqlite3-wal"

    def is_time():
        if moment == "rows":
            return log.exists() and log.stat().st_size > 0
        return any(path.is_file() for path in (new_home / "rounds").rglob("*"))

    if _kill_when(_start(own, release / "backup.zip"), is_time):  # else it was quicker: whole
        assert read_contents(new_home / "tandem.sqlite3")["projects"] == {}
        run_command(own, "restore", str(release / "backup.zip"))
    assert_same(read_contents(new_home / "tandem.sqlite3"), contents_of(release))


def test_a_server_that_people_use_is_not_restored_over(tmp_path):
    with Server(tmp_path) as server:  # makes its first admin
        with pytest.raises(AssertionError, match="has projects or people already"):
            server.command("restore", str(ALL[-1] / "backup.zip"))
        assert "Sign in" in Session(server.address).get("/sign-in/")
    assert read_contents(tmp_path / "tandem.sqlite3")["projects"] == {}
    assert not any(path.is_file() for path in (tmp_path / "rounds").rglob("*"))
