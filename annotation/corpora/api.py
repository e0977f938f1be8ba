"""A project's data: sentences to look at and to correct, files out, corpora that go."""

from typing import Any

from django.http import FileResponse, StreamingHttpResponse
from django.utils import timezone
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.accounts.access import get_project
from annotation.accounts.log import record
from annotation.corpora.carried_answers import Correction
from annotation.corpora.corrections import correct_words, cut_sentence, join_next
from annotation.corpora.export_records import ALL, SENTENCES
from annotation.corpora.exports import WAYS, export_corpus, which_of
from annotation.corpora.jobs import (
    export_file,
    safe_file_name,
)
from annotation.corpora.restored_versions import restore_version
from annotation.corpora.selectors import find_corpus, find_sentences, get_sentence
from annotation.erasure.services import delete_corpus, delete_sentences
from annotation.errors import InvalidInput, NotFound, Problem, unknown_name
from annotation.formats.format import formats, get_format
from annotation.jobs.services import find_job
from annotation.models import Role, Sentence
from annotation.web.rest import page_of
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
