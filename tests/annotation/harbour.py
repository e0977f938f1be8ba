"""A project with a few answered sentences."""

import io
import json

import pytest

from annotation.corpora.imports import import_corpus

ROWS = (
    (["Ada", "sailed", "to", "Oster", "."], [[0, 1, "PER"], [3, 4, "LOC"]]),
    (["Nothing", "happened", "."], []),
)
JSONL = "".join(
    json.dumps({"tokens": tokens, "labels": {"entities": spans}}) + "\n" for tokens, spans in ROWS
)


@pytest.fixture
def harbour(project, ada):
    """The project with two sentences whose entities are gold."""
    import_corpus(
        project=project,
        stream=io.BytesIO(JSONL.encode()),
        file_name="harbour.jsonl",
        format="jsonl",
        labels="gold",
        created_by=ada,
    )
    return project
