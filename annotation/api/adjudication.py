"""Where people differ, what curators decide, and how far people agree."""

from dataclasses import asdict
from typing import Any

from django.http import Http404
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.answers import Problem
from annotation.api.admin_schema import AGREEMENT, CASE, DECIDE, DISPUTES
from annotation.api.bodies import reading_body
from annotation.errors import InvalidInput
from annotation.models import Project, Sentence
from annotation.selectors.access import get_project
from annotation.selectors.adjudication import adjudication_case, disputes
from annotation.selectors.agreement import project_agreement
from annotation.services.adjudicating import decide

MOST = 200


class DisputesView(APIView):
    """Sentences to decide."""

    @DISPUTES
    def get(self, request: Request, project_id: int) -> Response:
        """Return the sentences on which people differ, most disagreement first."""
        found = disputes(get_project(request.user, project_id))
        texts = dict(
            Sentence.objects.filter(pk__in=[d.sentence_id for d in found[:MOST]]).values_list(
                "id", "text"
            )
        )
        rows = [
            {
                "sentence": dispute.sentence_id,
                "text": texts[dispute.sentence_id],
                "disagreement": round(dispute.disagreement, 4),
                "tasks": list(dispute.tasks),
            }
            for dispute in found[:MOST]
        ]
        return Response({"results": rows, "total": len(found)})


class CaseView(APIView):
    """One sentence to decide."""

    @CASE
    def get(self, request: Request, project_id: int, sentence_id: int) -> Response:
        """Return everybody's answers to a sentence side by side, with the differences."""
        project = get_project(request.user, project_id)
        sentence = find_sentence(project, sentence_id)
        return Response(describe_case(project, sentence))

    @DECIDE
    def post(self, request: Request, project_id: int, sentence_id: int) -> Response:
        """Make answers gold, all of them or none."""
        project = get_project(request.user, project_id)
        sentence = find_sentence(project, sentence_id)
        with reading_body(request) as body:
            answers = body.take("answers")
        if not isinstance(answers, dict) or not answers:
            raise InvalidInput([Problem("answers", "Give the gold of at least one task.")])
        decided = decide(
            project=project,
            sentence=sentence,
            answers=answers,
            decided_by=request.user,
            now=timezone.now(),
        )
        names = dict(project.tasks.values_list("id", "name"))
        return Response({"gold": {names[gold.task_id]: gold.version for gold in decided}})


class AgreementView(APIView):
    """Agreement."""

    @AGREEMENT
    def get(self, request: Request, project_id: int) -> Response:
        """Return how far people agree on each task: overall, per pair and per label."""
        project = get_project(request.user, project_id)
        return Response({n: asdict(a) for n, a in project_agreement(project).items()})


def find_sentence(project: Project, sentence_id: int) -> Sentence:
    """Return a sentence of the project."""
    sentence = Sentence.objects.filter(project=project, pk=sentence_id).first()
    if sentence is None:
        raise Http404("No such sentence.")
    return sentence


def describe_case(project: Project, sentence: Sentence) -> dict[str, Any]:
    """Return a sentence and its answers task by task, as plain values."""
    return {
        "sentence": {
            "id": sentence.pk,
            "text": sentence.text,
            "tokens": sentence.tokens,
            "offsets": sentence.offsets,
        },
        "tasks": [asdict(case) for case in adjudication_case(project, sentence)],
    }
