"""The README's commands are run, so that they stay true."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONLLU = (
    "# sent_id = 1\n# text = The ferry left Brask\n"
    "1\tThe\tthe\tDET\t_\t_\t2\tdet\t_\tNER=O\n"
    "2\tferry\tferry\tNOUN\t_\t_\t3\tnsubj\t_\tNER=O\n"
    "3\tleft\tleave\tVERB\t_\t_\t0\troot\t_\tNER=O\n"
    "4\tBrask\tBrask\tPROPN\t_\t_\t3\tobj\t_\tNER=B-PLACE\n\n"
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    environment = {**os.environ, "TANDEM_HOME": str(home), "TANDEM_LOG_LEVEL": "ERROR"}
    environment.pop("DATABASE_URL", None)

    def command(line: str, *, cwd: Path) -> str:
        words = [sys.executable, str(ROOT / "manage.py"), *_split(line)]
        done = subprocess.run(
            words, cwd=cwd, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    command("migrate -v0", cwd=ROOT)
    return command


def _split(line: str) -> list[str]:
    return [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', line)]


def _commands() -> list[str]:
    marker = ".venv/bin/python manage.py "
    return [
        line.removeprefix(marker)
        for block in re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)
        for line in block.splitlines()
        if line.startswith(marker)
    ]


def test_every_command_of_the_readme_works_in_its_order(run, tmp_path):
    (tmp_path / "harbour.toml").write_text(re.findall(r"```toml\n(.*?)```", README, re.DOTALL)[0])
    blocks = [CONLLU.replace("sent_id = 1", f"sent_id = {i}") for i in range(1, 13)]
    (tmp_path / "notices.conllu").write_text("".join(blocks))
    run("create_demo", cwd=tmp_path)
    commands = _commands()
    assert len(commands) >= 5
    for line in commands:
        run(line, cwd=tmp_path)
    assert (tmp_path / "travel.conll").read_text().startswith("# intent = ")


def test_every_setting_of_the_code_is_in_the_readmes_table():
    code = "".join(path.read_text() for path in (ROOT / "config").glob("*.py"))
    used = set(re.findall(r"\b(TANDEM_[A-Z_]+|DATABASE_URL)\b", code))
    used -= {"TANDEM_HOME"} if "`TANDEM_HOME`" in README else set()
    assert sorted(name for name in used if f"`{name}`" not in README) == []


def test_every_page_of_the_documentation_that_is_linked_exists():
    links = re.findall(r"\]\(((?!http)[^)#]+)\)", README)
    assert [link for link in links if not (ROOT / link).exists()] == []
