"""Imports by REST: the files of a project, how each is taken, and what was found in it."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.accounts.access import find_member, get_project
from annotation.corpora.jobs import (
    AUTO,
    Upload,
    discard_upload,
    keep_upload,
    read_now,
    reading_here,
    start_import,
)
from annotation.corpora.report import (
    DUPLICATES,
    LABELS_AS,
    NEW_LABELS,
    ImportChoices,
    ImportRefused,
)
from annotation.errors import InvalidInput, Problem, Refused
from annotation.formats.format import readable_formats
from annotation.formats.records import ReadOptions
from annotation.jobs.api import JobMessage
from annotation.models import Project
from annotation.web.rest import page_of
from annotation.web.security import read_json
from annotation.web.serializers import (
    CHANGES,
    PAGE,
    READS,
    FlagField,
    Message,
    NameField,
    TextField,
    documented,
    page_message,
)

TEXT = serializers.CharField
TRUE, FALSE = ("1", "true", "True", "on"), ("", "0", "false", "False")


class FormFlagField(FlagField):
    """True or false, as a form writes it."""

    def to_internal_value(self, data: Any) -> bool:
        """Return the truth value."""
        if data in (*TRUE, *FALSE):
            return data in TRUE
        raise serializers.ValidationError(f"{data!r} is neither true nor false.")


class FormatField(NameField):
    """The name of a format that is read, or "auto"."""

    def __init__(self, **options: Any) -> None:
        options.pop("choices", None)
        super().__init__(choices=[AUTO, *readable_formats()], **options)


@extend_schema_field({"type": "string", "description": "A JSON object of names."})
class FormTableField(serializers.Field[Any, Any, Any, Any]):
    """A table of names, written as JSON in a form; ``depth`` tables within each other."""

    def __init__(self, *, depth: int = 1, **options: Any) -> None:
        self.depth = depth
        super().__init__(**options)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Return the table."""
        try:
            table = read_json(data) if isinstance(data, str) else data
        except InvalidInput as refusal:
            raise serializers.ValidationError(refusal.problems[0].message) from refusal
        if not _is_table(table, self.depth):
            what = "names" if self.depth == 1 else "tables of names"
            raise serializers.ValidationError(f"{data!r} is not a JSON object of {what}.")
        return dict(table)


class ImportBody(Message):
    """A file, and how it is to be taken."""

    file = serializers.FileField(
        error_messages={"required": "Send the file as the multipart field 'file'."}
    )
    format = FormatField(default=AUTO, help_text="auto: recognised from the file.")
    labels = NameField(LABELS_AS)
    name = TextField(max_length=200, default="")
    author = TextField(max_length=150, default="", help_text="Whose annotations; oneself unless.")
    mapping = FormTableField(default=dict, help_text="Task -> layer of the file, as JSON.")
    new_labels = NameField(NEW_LABELS, default="refuse")
    label_map = FormTableField(
        depth=2, default=dict, help_text="Task -> {label in the file: label of the task}, as JSON."
    )
    duplicates = NameField(DUPLICATES, default="keep")
    skip_bad = FormFlagField(default=False, help_text="Import what is good, report the rest.")
    onto_existing = FormFlagField(default=False, help_text="Labels for sentences that are there.")
    language = TextField(
        max_length=16, default="", help_text="Of the sentences: en, de, ...; empty: the project's."
    )
    as_test = FormFlagField(default=False, help_text="The sentences are the test slice.")
    is_dry_run = FormFlagField(default=False)
    tokeniser = TextField(max_length=20, default="")
    split_sentences = FormFlagField(default=False)
    scheme = TextField(max_length=10, default="")
    columns = TextField(
        max_length=2000,
        default="",
        help_text='Columns of a table that answer tasks, as JSON: {"COLUMN": "TASK"}; no other '
        "plain column does, nor key of jsonl. Or, where a table has no heading, its names, "
        "separated by commas.",
    )
    text_column = TextField(max_length=100, default="")
    label_separator = TextField(
        max_length=5, default="", help_text="Between several labels in a cell, as | in a|b."
    )
    cuts_tokens = FormFlagField(
        default=False, help_text="Cut a token where a span begins or ends inside it."
    )
    annotator = TextField(max_length=150, default="")
    encoding = TextField(max_length=40, default="utf-8")


class CorpusMessage(Message):
    """One import."""

    id = serializers.IntegerField()
    name = TEXT()
    format = TEXT()
    language = TEXT(allow_blank=True)
    n_sentences = serializers.IntegerField()
    created_at = serializers.DateTimeField()


class ProblemMessage(Message):
    """Something wrong with a file, and where."""

    file = TEXT()
    line = serializers.IntegerField()
    message = TEXT()


class ProblemKindMessage(Message):
    """Problems that differ only in names and numbers."""

    message = TEXT()
    n = serializers.IntegerField()
    lines = serializers.ListField(child=serializers.IntegerField())


class ChoicesMessage(Message):
    """How an import meets the project."""

    new_labels = TEXT()
    label_map = serializers.DictField(child=serializers.DictField(child=TEXT()))
    duplicates = TEXT()
    skips_bad = serializers.BooleanField()
    is_test = serializers.BooleanField()
    language = TEXT(allow_blank=True, required=False)
    is_onto_existing = serializers.BooleanField()


class BrokenRuleMessage(Message):
    """A rule of Universal Dependencies that a sentence of a file breaks."""

    line = serializers.IntegerField()
    rule = TEXT()
    level = TEXT()
    message = TEXT()


class ImportReportMessage(Message):
    """What an import found and did."""

    file_name = TEXT()
    format = TEXT()
    corpus_name = TEXT()
    is_dry_run = serializers.BooleanField()
    is_good = serializers.BooleanField()
    corpus_id = serializers.IntegerField(allow_null=True)
    n_sentences = serializers.IntegerField()
    n_tokens = serializers.IntegerField()
    layers = serializers.DictField(child=TEXT(allow_blank=True))
    columns = serializers.ListField(child=TEXT(), help_text="Among which the text may be.")
    schemes = serializers.DictField(child=TEXT())
    n_answers = serializers.DictField(child=serializers.IntegerField())
    labels = serializers.DictField(child=serializers.DictField(child=serializers.IntegerField()))
    new_labels = serializers.DictField(child=serializers.ListField(child=TEXT()))
    tasks_without_layer = serializers.ListField(child=TEXT())
    problems = ProblemMessage(many=True)
    problem_kinds = ProblemKindMessage(many=True)
    n_problems = serializers.IntegerField()
    n_bad = serializers.IntegerField()
    n_duplicates = serializers.IntegerField()
    aside = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="What no task can hold: kept and written back, not asked or learned.",
    )
    rules = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Of Universal Dependencies: how often each is broken, where the project asks.",
    )
    broken = BrokenRuleMessage(many=True)
    sample = serializers.ListField(child=serializers.ListField(child=TEXT()))
    choices = ChoicesMessage()


class CorporaView(APIView):
    """Corpora."""

    parser_classes = [MultiPartParser]

    @documented(
        tag="data", answers={200: page_message(CorpusMessage)}, errors=READS, parameters=PAGE
    )
    def get(self, request: Request, project_id: int) -> Response:
        """Return the imports of a project."""
        page = page_of(get_project(request.user, project_id).corpora.all(), request)
        rows = CorpusMessage.render_all(page.rows)
        return Response({"results": rows, "next": page.next})

    @documented(
        tag="data",
        body={"multipart/form-data": ImportBody},
        answers={200: ImportReportMessage, 201: ImportReportMessage, 202: JobMessage},
        errors=CHANGES,
    )
    def post(self, request: Request, project_id: int) -> Response:
        """Import a file: 201 when it is stored, 200 after a dry run, 202 when the worker has it."""
        project = get_project(request.user, project_id)
        data: Any = request.data
        body = ImportBody.read(dict(data.items()))
        file = body["file"]
        wanted = _wanted(project, request.user, body)
        upload = keep_upload(project=project, file_name=file.name or "", chunks=file.chunks())
        try:
            wanted["format"] = upload.format_of(body["format"])
        except Refused:
            discard_upload(upload=upload)
            raise
        with reading_here(upload) as is_turn:
            if is_turn:
                return _import_now(request, project, upload, wanted)
        job = start_import(project=project, upload=upload, created_by=request.user, **wanted)
        return Response(JobMessage.render(job), status=202)


def _columns(text: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the column of each task that is stated, and the names of a table without a heading."""
    if not text.lstrip().startswith("{"):
        return {}, tuple(filter(None, (name.strip() for name in text.split(","))))
    try:
        found = read_json(text)
    except ValueError as error:
        raise InvalidInput([Problem("columns", f"No JSON: {error}.")]) from error
    if not all(isinstance(task, str) for task in found.values()):
        raise InvalidInput([Problem("columns", 'Write {"COLUMN": "TASK"}, both as text.')])
    return {task: column for column, task in found.items()}, ()


def _wanted(project: Project, user: Any, body: dict[str, Any]) -> dict[str, Any]:
    """Return what an import is called with, but for its file."""
    author = None
    if body["labels"] == "annotations":
        author = find_member(project, body["author"]) if body["author"] else user
    stated, columns = _columns(body["columns"])
    return {
        "labels": body["labels"],
        "author": author,
        "name": body["name"],
        "mapping": {**body["mapping"], **stated},
        "is_dry_run": body["is_dry_run"],
        "choices": ImportChoices(
            new_labels=body["new_labels"],
            label_map=body["label_map"],
            duplicates=body["duplicates"],
            skips_bad=body["skip_bad"],
            is_test=body["as_test"],
            language=body["language"],
            is_onto_existing=body["onto_existing"],
        ),
        "options": ReadOptions(
            encoding=body["encoding"],
            tokeniser=body["tokeniser"] or body["language"] or project.language,
            split_sentences=body["split_sentences"],
            scheme=body["scheme"],
            columns=columns,
            text_column=body["text_column"],
            label_separator=body["label_separator"],
            cuts_tokens=body["cuts_tokens"],
            annotator=body["annotator"],
        ),
    }


def _import_now(
    request: Request, project: Project, upload: Upload, wanted: dict[str, Any]
) -> Response:
    try:
        report = read_now(project=project, upload=upload, created_by=request.user, **wanted)
    except ImportRefused as refusal:
        problems = [Problem("file", str(problem)) for problem in refusal.report.problems]
        raise InvalidInput(problems) from refusal
    finally:
        discard_upload(upload=upload)
    status = 200 if wanted["is_dry_run"] else 201
    return Response(ImportReportMessage.render(report.as_json()), status=status)


def _is_table(value: Any, depth: int) -> bool:
    if depth == 0:
        return isinstance(value, str)
    return isinstance(value, dict) and all(_is_table(part, depth - 1) for part in value.values())
