"""The demo projects, created like any other project and import."""

import io
from collections.abc import Iterator
from typing import Any

from annotation.demo.projects import DEMO_PROJECTS, DemoProject, corpus_lines
from annotation.models import Project
from annotation.services.asking import ask_everything
from annotation.services.importing import import_corpus
from annotation.services.projects import create_project

N_LABELLED = 300
N_OPEN = 2000


def create_demo_projects(*, owner: Any) -> Iterator[Project]:
    """Yield the demo projects that did not exist and now do, each ready to be annotated."""
    for demo in DEMO_PROJECTS:
        if not Project.objects.filter(name=demo.spec["name"]).exists():
            yield _create(demo, owner)


def _create(demo: DemoProject, owner: Any) -> Project:
    project = create_project(spec=demo.spec, owner=owner)
    _import(project, demo, "labelled", first=0, last=N_LABELLED, labelled=True)
    _import(project, demo, "open", first=N_LABELLED, last=N_LABELLED + N_OPEN, labelled=False)
    ask_everything(project=project)
    return project


def _import(
    project: Project, demo: DemoProject, name: str, *, first: int, last: int, labelled: bool
) -> None:
    lines = corpus_lines(demo, first=first, last=last, labelled=labelled)
    import_corpus(
        project=project,
        stream=io.BytesIO("".join(lines).encode()),
        file_name=f"{name}.jsonl",
        format="jsonl",
        labels="gold" if labelled else "none",
        name=name,
    )
