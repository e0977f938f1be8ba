"""The model's way out by REST: predictions for everything left."""

from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.accounts.access import get_project
from annotation.accounts.log import record
from annotation.corpora.exports import PREDICTED
from annotation.errors import InvalidInput, Problem
from annotation.formats.format import formats
from annotation.jobs.api import JobMessage
from annotation.models import ApiToken, Role
from annotation.predictions.model_files import archive_name, zipped_model
from annotation.predictions.outside import put_suggestions
from annotation.predictions.predictor import MAX_SENTENCES, MAX_WORDS, ask_predictor
from annotation.predictions.services import start_prediction
from annotation.predictions.sources import start_asking
from annotation.queue.api import ItemField
from annotation.rounds.selectors import find_model
from annotation.web.serializers import (
    CHANGES,
    AnswerField,
    FlagField,
    ListField,
    Message,
    NameField,
    NumberField,
    TextField,
    WholeNumberField,
    documented,
)


class PredictBody(Message):
    """Sentences to ask a model about: texts, or words."""

    texts = ListField(
        child=TextField(max_length=20_000),
        max_length=MAX_SENTENCES,
        required=False,
        help_text="Cut into words by the rules of the project's language.",
    )
    sentences = ListField(
        child=ListField(child=serializers.CharField(trim_whitespace=False, max_length=2_000)),
        max_length=MAX_SENTENCES,
        required=False,
    )
    round = WholeNumberField(min_value=1, required=False, help_text="Else the newest model.")


class PredictedAnswer(Message):
    """A model's answer to a task."""

    value = AnswerField()
    confidence = serializers.FloatField(help_text="Of the whole answer, from 0 to 1.")
    items = serializers.ListField(
        child=ItemField(), help_text="Each item of the answer with its confidence."
    )


class PredictedSentence(Message):
    """What a model says of a sentence."""

    tokens = serializers.ListField(child=serializers.CharField())
    offsets = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField()), required=False
    )
    answers = serializers.DictField(child=PredictedAnswer())


class PredictMessage(Message):
    """The answers of a round's model, in the order of the sentences."""

    round = serializers.IntegerField()
    results = PredictedSentence(many=True)


class ModelView(APIView):
    """A round's model."""

    @documented(tag="models", answers={200: OpenApiTypes.BINARY}, errors=CHANGES)
    def get(self, request: Request, project_id: int, number: int) -> FileResponse:
        """Return the model as an archive that needs no Tandem to run."""
        project = get_project(request.user, project_id)
        found = find_model(project, number)
        record("model.taken", project=project, actor=request.user, round=number)
        return FileResponse(
            zipped_model(found), as_attachment=True, filename=f"{archive_name(found)}.zip"
        )


class OneSuggestion(Message):
    """An answer that a source suggests for a task on a sentence of the project."""

    sentence = WholeNumberField(min_value=1)
    task = TextField(max_length=60)
    value = AnswerField()
    confidence = NumberField(min_value=0, max_value=1, required=False)


class SuggestionsBody(Message):
    """What a source suggests; it replaces what the source suggested for the same."""

    source = TextField(max_length=60)  # type: ignore[assignment]
    suggestions = ListField(child=OneSuggestion(), max_length=5_000)


class StoredMessage(Message):
    """How many suggestions are stored."""

    n_stored = serializers.IntegerField()


class AskingBody(Message):
    """A source that an admin lists, and what to ask it."""

    source = TextField(max_length=60)  # type: ignore[assignment]
    url = TextField(max_length=500, default="", help_text="Of a chat endpoint, up to /v1.")
    model = TextField(max_length=200, default="")
    directory = TextField(max_length=500, default="", help_text="Of a model, instead of a url.")
    tasks = ListField(child=TextField(max_length=60), default=list)
    limit = WholeNumberField(min_value=1, max_value=10_000, default=200)


class SuggestionsView(APIView):
    """Suggestions from outside."""

    @documented(tag="models", body=SuggestionsBody, answers={200: StoredMessage}, errors=CHANGES)
    def put(self, request: Request, project_id: int) -> Response:
        """Store a source's suggestions: all of them, or none if one does not fit its task."""
        project = get_project(request.user, project_id)
        body = SuggestionsBody.read(request.data)
        n = put_suggestions(project=project, source=body["source"], rows=body["suggestions"])
        return Response(StoredMessage.render({"n_stored": n}))

    @documented(tag="models", body=AskingBody, answers={202: JobMessage}, errors=CHANGES)
    def post(self, request: Request, project_id: int) -> Response:
        """Ask a listed source for suggestions; the job's result counts what was dropped."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        body = AskingBody.read(request.data)
        job = start_asking(project=project, created_by=request.user, **body)
        return Response(JobMessage.render(job), status=202)


class PredictView(APIView):
    """Questions to a model."""

    scope = ApiToken.Scope.PREDICT

    @documented(
        tag="models", body=PredictBody, answers={200: PredictMessage}, errors=(*CHANGES, 503)
    )
    def post(self, request: Request, project_id: int) -> Response:
        """Return what the newest model, or that of a round, says of sentences."""
        project = get_project(request.user, project_id)
        body = PredictBody.read(request.data)
        given = [name for name in ("texts", "sentences") if name in body]
        if len(given) != 1:
            words = "Give either texts or sentences (lists of words), one of the two."
            raise InvalidInput([Problem("texts", words)])
        n_words = sum(
            len(one) if given == ["sentences"] else len(one.split()) for one in body[given[0]]
        )
        if n_words > MAX_WORDS:
            words = f"{n_words:,} words are too many; at most {MAX_WORDS:,} in one request."
            raise InvalidInput([Problem(given[0], words)])
        return Response(PredictMessage.render(ask_predictor({"project": project.pk, **body})))


class PredictionsBody(Message):
    """What to predict, and what becomes of it."""

    round = WholeNumberField(
        min_value=1, required=False, help_text="The newest model unless given."
    )
    format = NameField(list(formats()), required=False, help_text="Of the file; none unless given.")
    labels = NameField(PREDICTED, default="model")
    corpora = ListField(child=TextField(max_length=200), default=list)
    tasks = ListField(child=TextField(max_length=60), default=list)
    as_suggestions = FlagField(default=False, help_text="Offer them to annotators.")


class PredictionsView(APIView):
    """Predictions for everything without a final answer."""

    @documented(tag="models", body=PredictionsBody, answers={202: JobMessage}, errors=CHANGES)
    def post(self, request: Request, project_id: int) -> Response:
        """Queue predictions; the job's page and GET .../jobs/{job}/file/ have the file."""
        project = get_project(request.user, project_id)
        body = PredictionsBody.read(request.data)
        job = start_prediction(project=project, created_by=request.user, **body)
        return Response(JobMessage.render(job), status=202)
