"""People and projects that many tests start from."""

import pytest
from django.contrib.auth import get_user_model

from annotation.projects.services import create_project
from tests.annotation.harbour import harbour  # noqa: F401  (a fixture)


@pytest.fixture(autouse=True)
def _read_in_this_process(request, monkeypatch):
    """Spare tests the start of a process per import; those marked ``apart`` have it."""
    if "apart" not in request.keywords:
        monkeypatch.setattr(
            "annotation.corpora.imports.read_apart",
            lambda file, stage, tasks, mapping, limits: file.read(stage, tasks, mapping),
        )


@pytest.fixture
def ada(db):
    return get_user_model().objects.create_user("ada")


@pytest.fixture
def bob(db):
    return get_user_model().objects.create_user("bob")


@pytest.fixture
def admin(db):
    return get_user_model().objects.create_superuser("admin")


@pytest.fixture
def project(ada):
    """A project with one task of each kind, owned by ada."""
    spec = {
        "name": "Harbour",
        "tasks": [
            {"name": "entities", "kind": "spans", "labels": ["PER", "LOC"], "nested": False},
            {"name": "pos", "kind": "tags", "labels": ["NOUN", "VERB", "PUNCT"]},
            {"name": "topic", "kind": "classes", "labels": ["delay", "arrival"]},
            {"name": "tree", "kind": "tree", "labels": []},
            {"name": "links", "kind": "relations", "labels": ["in"], "parent": "entities"},
        ],
    }
    return create_project(spec=spec, owner=ada)


@pytest.fixture(scope="module")
def s3():
    """The address of a bucket on a real S3 server on loopback."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    variables = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "any",
        "AWS_SECRET_ACCESS_KEY": "any",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        boto3.client("s3").create_bucket(Bucket="tandem")
        yield "s3://tandem/some/place"
    server.stop()
