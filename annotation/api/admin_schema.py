"""How the endpoints of owners and curators are documented."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from annotation.api import admin_shapes as shapes
from annotation.api.schema import PAGE, documented
from annotation.api.shapes import ProjectShape

_READS = (400, 401, 403, 404)
_CHANGES = (400, 401, 403, 404, 409)


def _choice(name: str, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, str, description=description)


LIST_PROJECTS = documented(
    tag="projects",
    answers={200: shapes.ProjectPage},
    errors=(400, 401, 403),
    parameters=PAGE,
    name="projects_list",
)
NEW_PROJECT = documented(
    tag="projects", body=shapes.NewProjectBody, answers={201: ProjectShape}, errors=_CHANGES
)
CHANGE_PROJECT = documented(
    tag="projects", body=shapes.ProjectChanges, answers={200: ProjectShape}, errors=_CHANGES
)
LIST_CORPORA = documented(
    tag="data", answers={200: shapes.CorpusPage}, errors=_READS, parameters=PAGE
)
IMPORT = documented(
    tag="data",
    body={"multipart/form-data": shapes.ImportBody},
    answers={200: shapes.ImportReportShape, 201: shapes.ImportReportShape, 202: shapes.JobShape},
    errors=_CHANGES,
)
EXPORT = documented(
    tag="data",
    answers={200: OpenApiTypes.BINARY},
    errors=_READS,
    parameters=[
        _choice("format", "One of the formats: conllu, conll2003, slu, ie, jsonl, csv, ..."),
        _choice("labels", "gold, all, suggestions, none or annotator:NAME; gold unless given."),
        _choice("corpus", "The name of one corpus; all of them unless given."),
    ],
)
LIST_SENTENCES = documented(
    tag="data",
    answers={200: shapes.SentencePage},
    errors=_READS,
    parameters=[
        *PAGE,
        _choice("corpus", "The name of one corpus."),
        _choice("text", "What the sentence contains, in any case."),
    ],
)
LIST_MEMBERS = documented(
    tag="people", answers={200: shapes.MemberPage}, errors=_READS, parameters=PAGE
)
CHANGE_MEMBER = documented(
    tag="people", body=shapes.RoleBody, answers={200: shapes.MemberShape}, errors=_CHANGES
)
REMOVE_MEMBER = documented(tag="people", answers={204: None}, errors=(401, 403, 404, 409))
INVITE = documented(
    tag="people", body=shapes.InviteBody, answers={201: shapes.Invited}, errors=_READS
)
LIST_ROUNDS = documented(
    tag="rounds",
    answers={200: shapes.RoundPage},
    errors=_READS,
    parameters=PAGE,
    name="projects_rounds_list",
)
LAUNCH = documented(
    tag="rounds",
    body={"application/json": {"type": "object", "additionalProperties": True}},
    answers={201: shapes.RoundShape},
    errors=_CHANGES,
)
ADVICE = documented(tag="rounds", answers={200: shapes.AdviceShape})
ASK_ADVICE = documented(
    tag="rounds", body=shapes.AdviceBody, answers={202: shapes.AdviceShape}, errors=_CHANGES
)
ROUND = documented(tag="rounds", answers={200: shapes.RoundShape})
ROUND_ASKS = documented(
    tag="rounds", answers={200: shapes.RoundAskPage}, errors=_READS, parameters=PAGE
)
CANCEL_ROUND = documented(
    tag="rounds", answers={200: shapes.RoundShape}, errors=(401, 403, 404, 409)
)
RETRY_ROUND = documented(
    tag="rounds", answers={200: shapes.RoundShape}, errors=(401, 403, 404, 409)
)
DISPUTES = documented(
    tag="adjudication", answers={200: shapes.DisputeList}, name="projects_adjudication_list"
)
CASE = documented(tag="adjudication", answers={200: shapes.CaseShape})
DECIDE = documented(
    tag="adjudication", body=shapes.DecideBody, answers={200: shapes.Decided}, errors=_CHANGES
)
AGREEMENT = documented(tag="adjudication", answers={200: OpenApiTypes.OBJECT})
DASHBOARD = documented(tag="insights", answers={200: OpenApiTypes.OBJECT})
SUGGESTION_BIAS = documented(tag="insights", answers={200: OpenApiTypes.OBJECT})
WORKING_STYLES = documented(tag="insights", answers={200: OpenApiTypes.OBJECT})
JOB = documented(tag="jobs", answers={200: shapes.JobShape})
CANCEL_JOB = documented(tag="jobs", answers={200: shapes.JobShape}, errors=(401, 403, 404, 409))
