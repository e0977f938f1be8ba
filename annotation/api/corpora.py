"""A project's data: corpora in, sentences to look at, files out."""

from typing import Any

from django.http import StreamingHttpResponse
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.answers import Problem
from annotation.api.admin_schema import EXPORT, IMPORT, LIST_CORPORA, LIST_SENTENCES
from annotation.api.bodies import read_table
from annotation.api.jobs import describe_job
from annotation.api.pagination import page_of
from annotation.corpus_jobs import start_import
from annotation.errors import InvalidInput, unknown_name
from annotation.formats.catalogue import formats
from annotation.import_report import ImportRefused
from annotation.models import Corpus, Project, Sentence
from annotation.pages.importing import is_small
from annotation.selectors.access import get_project
from annotation.services.exporting import export_corpus
from annotation.services.importing import LABELS_AS, import_corpus
from annotation.services.uploads import Upload, discard_upload, keep_upload, safe_file_name

TRUE, FALSE = ("1", "true", "True"), ("", "0", "false", "False")


class CorporaView(APIView):
    """Corpora."""

    parser_classes = [MultiPartParser]

    @LIST_CORPORA
    def get(self, request: Request, project_id: int) -> Response:
        """Return the imports of a project."""
        page = page_of(get_project(request.user, project_id).corpora.all(), request)
        rows = [
            {
                "id": row.pk,
                "name": row.name,
                "format": row.format,
                "n_sentences": row.n_sentences,
                "created_at": row.created_at,
            }
            for row in page.rows
        ]
        return Response({"results": rows, "next": page.next})

    @IMPORT
    def post(self, request: Request, project_id: int) -> Response:
        """Import a file: 201 when it is stored, 200 after a dry run, 202 when the worker has it."""
        project = get_project(request.user, project_id)
        wanted = _read_import(request)
        file = request.FILES["file"]
        upload = keep_upload(project=project, file_name=file.name or "", chunks=file.chunks())
        if not is_small(upload):
            job = start_import(project=project, upload=upload, created_by=request.user, **wanted)
            return Response(describe_job(job), status=202)
        return _import_now(request, project, upload, wanted)


class ExportView(APIView):
    """A file."""

    @EXPORT
    def get(self, request: Request, project_id: int) -> StreamingHttpResponse:
        """Return a project's sentences and answers as a file."""
        project = get_project(request.user, project_id)
        query = request.query_params
        name = query.get("format", "")
        if name not in formats():
            raise InvalidInput([Problem("format", unknown_name("format", name, formats()))])
        pieces = export_corpus(
            project=project,
            format=name,
            labels=query.get("labels", "gold"),
            corpora=_named_corpora(project, query.get("corpus", "")),
        )
        file_name = safe_file_name(f"{project.name}.{name}")
        return StreamingHttpResponse(
            pieces,
            content_type="application/octet-stream",
            headers={"Content-Disposition": f'attachment; filename="{file_name}"'},
        )


class SentencesView(APIView):
    """Sentences."""

    @LIST_SENTENCES
    def get(self, request: Request, project_id: int) -> Response:
        """Return sentences in the order of import, filtered by corpus and text."""
        project = get_project(request.user, project_id)
        rows = Sentence.objects.filter(project=project).select_related("corpus")
        corpora = _named_corpora(project, request.query_params.get("corpus", ""))
        if corpora:
            rows = rows.filter(corpus__in=corpora)
        text = request.query_params.get("text", "")
        if "\0" in text:
            raise InvalidInput([Problem("text", "A text has no NUL character.")])
        if text:
            rows = rows.filter(text__icontains=text)
        page = page_of(rows, request, sort="id")
        return Response({"results": [_describe(row) for row in page.rows], "next": page.next})


def _describe(sentence: Sentence) -> dict[str, Any]:
    return {
        "id": sentence.pk,
        "corpus": sentence.corpus.name,
        "position": sentence.position,
        "key": sentence.key,
        "text": sentence.text,
        "tokens": sentence.tokens,
        "is_test": sentence.is_test,
    }


def _import_now(
    request: Request, project: Project, upload: Upload, wanted: dict[str, Any]
) -> Response:
    try:
        with upload.path.open("rb") as stream:
            report = import_corpus(
                project=project,
                stream=stream,
                file_name=upload.file_name,
                created_by=request.user,
                **wanted,
            )
    except ImportRefused as refusal:
        problems = [Problem("file", str(problem)) for problem in refusal.report.problems]
        raise InvalidInput(problems) from refusal
    finally:
        discard_upload(upload=upload)
    return Response(report.as_json(), status=200 if wanted["is_dry_run"] else 201)


def _read_import(request: Request) -> dict[str, Any]:
    """Return the options of an import, or raise all that is wrong with them."""
    data = read_table(request)
    problems = []
    if "file" not in request.FILES:
        problems.append(Problem("file", "Send the file as the multipart field 'file'."))
    if data.get("format") not in formats():
        message = unknown_name("format", data.get("format", ""), formats())
        problems.append(Problem("format", message))
    if data.get("labels") not in LABELS_AS:
        message = unknown_name("way to take labels", data.get("labels", ""), LABELS_AS)
        problems.append(Problem("labels", message))
    dry = data.get("is_dry_run", "")
    if dry not in (*TRUE, *FALSE):
        problems.append(Problem("is_dry_run", f"'{dry}' is neither true nor false."))
    if problems:
        raise InvalidInput(problems)
    return {
        "format": data["format"],
        "labels": data["labels"],
        "author": request.user if data["labels"] == "annotations" else None,
        "name": str(data.get("name", "")),
        "is_dry_run": dry in TRUE,
    }


def _named_corpora(project: Project, name: str) -> list[Corpus]:
    if not name:
        return []
    corpora = list(project.corpora.filter(name=name)) if "\0" not in name else []
    if not corpora:
        known = project.corpora.values_list("name", flat=True)
        raise InvalidInput([Problem("corpus", unknown_name("corpus", name, known))])
    return corpora
