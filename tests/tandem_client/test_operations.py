"""The generated part: complete, and calling what it says."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tandem_client import Client
from tandem_client.operations import Operations
from tests.tandem_client.generate import DESCRIPTION, NAMES, name_of, operations

WHOLE = yaml.safe_load(DESCRIPTION.read_text())


class Recorder(Client):
    """A client that notes requests instead of sending them."""

    def __init__(self):
        super().__init__("http://localhost")
        self.sent = []

    def _json(self, method, path, *arguments, **options):
        self.sent.append((method.lower(), path))

    def _pages(self, path, query=None):
        self.sent.append(("get", path))

    def _download(self, path, query=None):
        self.sent.append(("get", path))

    def _upload(self, path, files, fields):
        self.sent.append(("post", path))


def test_no_two_operations_share_a_name_and_no_given_name_is_left_over():
    known = {(method, path) for method, path, _ in operations(WHOLE)}
    names = [name_of(*operation) for operation in known]
    assert len(names) == len(set(names))
    assert [key for key in NAMES if key not in known] == []


@pytest.mark.parametrize(
    ("method", "path"), [operation[:2] for operation in operations(WHOLE)], ids=" ".join
)
def test_every_operation_of_the_api_is_a_method_of_the_client(method, path):
    client = Recorder()
    call = getattr(client, name_of(method, path))
    wanted = [
        p for p in inspect.signature(call).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD
    ]
    call(*range(7, 7 + len(wanted)))
    for number in range(7, 7 + len(wanted)):
        if "{" in path:
            path = path[: path.index("{")] + str(number) + path[path.index("}") + 1 :]
    assert client.sent == [(method, path)]
    assert call.__doc__


def test_the_client_needs_nothing_but_the_standard_library():
    code = (
        "import sys; before = set(sys.modules); import tandem_client\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[2], capture_output=True, text=True
    )
    assert done.stdout.strip() == "['tandem_client']", done.stderr


def test_names_of_the_client_itself_hide_no_operation():
    assert not set(vars(Client)) & {name for name in vars(Operations) if name[0] != "_"}
