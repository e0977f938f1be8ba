"""A project's data: corpora in, sentences to look at, files out."""

from typing import Any

from django.http import FileResponse, StreamingHttpResponse
from django.utils import timezone
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework import serializers
from rest_framework.parsers import JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.accounts.access import find_member, get_project
from annotation.accounts.log import record
from annotation.corpora.corrections import (
    Correction,
    correct_words,
    cut_sentence,
    join_next,
    restore_version,
)
from annotation.corpora.exports import ALL, SENTENCES, WAYS, export_corpus, which_of
from annotation.corpora.jobs import (
    AUTO,
    Upload,
    discard_upload,
    export_file,
    keep_upload,
    read_now,
    reading_here,
    safe_file_name,
    start_import,
)
from annotation.corpora.report import (
    DUPLICATES,
    LABELS_AS,
    NEW_LABELS,
    ImportChoices,
    ImportRefused,
)
from annotation.corpora.selectors import find_corpus, find_sentences, get_sentence
from annotation.erasure.services import delete_corpus, delete_sentences
from annotation.errors import InvalidInput, NotFound, Problem, Refused, unknown_name
from annotation.formats.format import formats, get_format, readable_formats
from annotation.formats.records import ReadOptions
from annotation.jobs.api import JobMessage
from annotation.jobs.services import find_job
from annotation.models import Project, Role, Sentence
from annotation.web.rest import page_of
from annotation.web.security import read_json
from annotation.web.serializers import (
    CHANGES,
    PAGE,
    READS,
    FlagField,
    ListField,
    Message,
    NameField,
    TextField,
    WholeNumberField,
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


class SentenceRow(Message):
    """A sentence in a list."""

    id = serializers.IntegerField()
    corpus = TEXT()
    position = serializers.IntegerField()
    key = TEXT(allow_blank=True)
    document = TEXT(allow_blank=True)
    text = TEXT()
    tokens = serializers.ListField(child=TEXT())
    is_test = serializers.BooleanField()
    left_out = TEXT(allow_blank=True)


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


class CorpusView(APIView):
    """A corpus."""

    parser_classes = [JSONParser]

    @documented(tag="data", answers={204: None}, errors=CHANGES)
    def delete(self, request: Request, project_id: int, corpus_id: int) -> Response:
        """Delete a corpus with its sentences and all answers to them."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        corpus = project.corpora.filter(pk=corpus_id).first()
        if corpus is None:
            raise NotFound("No such corpus.")
        delete_corpus(corpus=corpus, actor=request.user)
        return Response(status=204)


class ExportView(APIView):
    """A file."""

    @documented(
        tag="data",
        answers={200: OpenApiTypes.BINARY},
        errors=READS,
        parameters=[
            OpenApiParameter("format", str, enum=list(formats()), required=True),
            OpenApiParameter("labels", str, description=f"{', '.join(WAYS)}; final unless given."),
            OpenApiParameter("corpus", str, description="One corpus; all of them unless given."),
            OpenApiParameter(
                "task", str, many=True, description="Again for each; all with answers unless given."
            ),
            OpenApiParameter(
                "sentences",
                str,
                enum=list(SENTENCES),
                description="; ".join(f"{name}: {words}" for name, words in SENTENCES.items()),
            ),
            OpenApiParameter("round", int, description="Only what this round asked for."),
        ],
    )
    def get(self, request: Request, project_id: int) -> StreamingHttpResponse:
        """Return a project's sentences and answers as a file."""
        project = get_project(request.user, project_id)
        query = request.query_params
        name = query.get("format", "")
        if name not in formats():
            raise InvalidInput([Problem("format", unknown_name("format", name, formats()))])
        corpus = query.get("corpus", "")
        pieces = export_corpus(
            project=project,
            format=name,
            labels=query.get("labels", "final"),
            corpora=[find_corpus(project, corpus)] if corpus else [],
            tasks=query.getlist("task"),
            which=which_of(project, query.get("sentences", ALL), _round_number(query)),
        )
        record("export.taken", project=project, actor=request.user, format=name)
        file_name = safe_file_name(f"{project.name}{get_format(name).suffixes[0]}")
        return StreamingHttpResponse(
            pieces,
            content_type="application/octet-stream",
            headers={"Content-Disposition": str(content_disposition_header(True, file_name))},
        )


def _round_number(query: Any) -> int | None:
    text = query.get("round", "")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise InvalidInput([Problem("round", f"{text!r} is not the number of a round.")])
    return int(text)


class JobFileView(APIView):
    """The file of a job."""

    @documented(tag="jobs", answers={200: OpenApiTypes.BINARY}, errors=READS)
    def get(self, request: Request, project_id: int, job_id: int) -> FileResponse:
        """Return the file that a finished export or prediction has written."""
        job = find_job(get_project(request.user, project_id), job_id)
        if job is None:
            raise NotFound("No such job.")
        path = export_file(job)
        return FileResponse(path.open("rb"), as_attachment=True, filename=path.name)


class SentencesBody(Message):
    """Which sentences."""

    sentences = ListField(child=WholeNumberField(min_value=1), max_length=10_000)


class SentencesDeleted(Message):
    """What went."""

    n_sentences = serializers.IntegerField()


class SentencesView(APIView):
    """Sentences."""

    @documented(tag="data", body=SentencesBody, answers={200: SentencesDeleted}, errors=CHANGES)
    def delete(self, request: Request, project_id: int) -> Response:
        """Delete sentences with all answers to them."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        ids = SentencesBody.read(request.data)["sentences"]
        n_sentences = delete_sentences(project=project, ids=ids, actor=request.user)
        return Response(SentencesDeleted.render({"n_sentences": n_sentences}))

    @documented(
        tag="data",
        answers={200: page_message(SentenceRow)},
        errors=READS,
        parameters=[
            *PAGE,
            OpenApiParameter("corpus", str, description="The name of one corpus."),
            OpenApiParameter("text", str, description="What the sentence contains, in any case."),
        ],
    )
    def get(self, request: Request, project_id: int) -> Response:
        """Return sentences in the order of import, filtered by corpus and text."""
        project = get_project(request.user, project_id)
        query = request.query_params
        rows = find_sentences(project, query.get("corpus", ""), query.get("text", ""))
        page = page_of(rows, request, sort="id")
        shown = SentenceRow.render_all([_describe(row) for row in page.rows])
        return Response({"results": shown, "next": page.next})


class WordsBody(Message):
    """Words of a sentence, and those that take their place."""

    start = WholeNumberField(min_value=0, help_text="The first word to change, from 0.")
    end = WholeNumberField(min_value=0, help_text="The word behind the last one to change.")
    forms = ListField(
        child=TextField(max_length=1000),
        max_length=100,
        help_text="The words instead: two for one split it, one for two merge them, none deletes. "
        "With start = end they are inserted.",
    )
    is_multiword = FlagField(
        default=False, help_text="They are the syntactic words of one token; the text stays."
    )
    tokens = ListField(
        child=TextField(max_length=1000),
        required=False,
        max_length=10_000,
        help_text="All words as you know them: other ones refuse the change.",
    )


class BordersBody(Message):
    """A border between sentences."""

    action = NameField(
        ("cut", "join", "restore"),
        help_text="cut in two, join with the next sentence, or restore a version of words and "
        "borders.",
    )
    version = WholeNumberField(min_value=1, default=1, help_text="restore: its number.")
    at = WholeNumberField(min_value=0, default=0, help_text="cut: the second half's first word.")
    tokens = ListField(child=TextField(max_length=1000), required=False, max_length=10_000)


class Corrected(Message):
    """What a correction did."""

    sentence = SentenceRow()
    other = SentenceRow(allow_null=True, help_text="The second half of a sentence that was cut.")
    carried = ListField(child=TEXT(), help_text="Tasks whose answers followed.")
    to_redo = ListField(child=TEXT(), help_text="Tasks whose answers are asked again.")
    version = serializers.IntegerField(
        help_text="What was there before: restore it to undo the change."
    )


class WordsView(APIView):
    """The words of a sentence."""

    @documented(tag="data", body=WordsBody, answers={200: Corrected}, errors=CHANGES)
    def post(self, request: Request, project_id: int, sentence_id: int) -> Response:
        """Split, merge, insert, delete or replace words; answers follow where they can."""
        project = get_project(request.user, project_id)
        sentence = get_sentence(project, sentence_id)
        body = WordsBody.read(request.data)
        seen = body.pop("tokens", None)
        done = correct_words(
            sentence=sentence, **body, seen=seen, actor=request.user, now=timezone.now()
        )
        return _corrected(done)


class BordersView(APIView):
    """Where a sentence begins and ends."""

    @documented(tag="data", body=BordersBody, answers={200: Corrected}, errors=CHANGES)
    def post(self, request: Request, project_id: int, sentence_id: int) -> Response:
        """Cut a sentence in two, or join it with the next one of its document."""
        project = get_project(request.user, project_id)
        sentence = get_sentence(project, sentence_id)
        body = BordersBody.read(request.data)
        known: dict[str, Any] = {
            "sentence": sentence,
            "seen": body.get("tokens"),
            "actor": request.user,
            "now": timezone.now(),
        }
        if body["action"] == "restore":
            return _corrected(restore_version(version=body["version"], **known))
        done = (
            cut_sentence(at=body["at"], **known) if body["action"] == "cut" else join_next(**known)
        )
        return _corrected(done)


def _corrected(done: Correction) -> Response:
    found = {
        "sentence": _describe(done.sentence),
        "other": None if done.other is None else _describe(done.other),
        "carried": sorted(done.carried),
        "to_redo": sorted(done.to_redo),
        "version": _version_before(done.sentence),
    }
    return Response(Corrected.render(found))


def _version_before(sentence: Sentence) -> int:
    """Return the number of the version that the last change kept; of a join the first half's."""
    last = sentence.versions.latest("pk")
    found = sentence.versions.filter(created_at=last.created_at).earliest("pk")
    return int(found.pk)


def _describe(sentence: Sentence) -> dict[str, Any]:
    return {
        "id": sentence.pk,
        "corpus": sentence.corpus.name,
        "position": sentence.position,
        "key": sentence.key,
        "document": sentence.document,
        "text": sentence.text,
        "tokens": sentence.tokens,
        "is_test": sentence.is_test,
        "left_out": sentence.left_out,
    }


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
