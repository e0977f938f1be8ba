"""REST: one line per resource, and its own description without anything from elsewhere."""

from typing import NoReturn

from django.http import Http404
from django.urls import URLPattern, URLResolver, path
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.permissions import AllowAny
from rest_framework.renderers import TemplateHTMLRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from annotation.accounts import api as accounts
from annotation.adjudication import api as adjudication
from annotation.adjudication import inbox_api as inbox
from annotation.corpora import api as corpora
from annotation.erasure import api as erasure
from annotation.jobs import api as jobs
from annotation.predictions import api as predictions
from annotation.projects import api as projects
from annotation.projects import webhook_api as webhooks
from annotation.queue import api as queue
from annotation.queue import history_api as history
from annotation.rounds import api as rounds
from annotation.rounds import dashboard_api


class SchemaView(SpectacularAPIView):
    """OpenAPI."""

    permission_classes = [AllowAny]


class DocsView(SpectacularSwaggerSplitView):
    """Browsable documentation."""

    permission_classes = [AllowAny]
    renderer_classes = [TemplateHTMLRenderer]
    template_name = "annotation/api_docs.html"


@extend_schema(exclude=True)
class NothingHere(APIView):
    """Every other address."""

    permission_classes = [AllowAny]

    def initial(self, request: Request, *args: object, **kwargs: object) -> NoReturn:
        """Answer in the one error shape."""
        raise Http404(f"There is no {request.path}. /api/docs/ shows what there is.")


urlpatterns: list[URLPattern | URLResolver] = [
    # Annotators wait for these all day: first in the list, first found.
    path("projects/<key:project_id>/next/", queue.NextView.as_view()),
    path("projects/<key:project_id>/peek/", queue.PeekView.as_view()),
    path("projects/<key:project_id>/asks/<key:ask_id>/hints/", queue.HintsView.as_view()),
    path("leases/<key:lease_id>/draft/", queue.DraftView.as_view()),
    path("leases/<key:lease_id>/findings/", queue.FindingsView.as_view()),
    path("leases/<key:lease_id>/heartbeat/", queue.HeartbeatView.as_view()),
    path("leases/<key:lease_id>/submit/", queue.SubmitView.as_view()),
    path("leases/<key:lease_id>/skip/", queue.SkipView.as_view()),
    path("leases/<key:lease_id>/release/", queue.ReleaseView.as_view()),
    path("leases/<key:lease_id>/later/", queue.LaterView.as_view()),
    path("sentences/<key:sentence_id>/document/", history.DocumentView.as_view()),
    path("schema/", SchemaView.as_view(), name="schema"),
    path("docs/", DocsView.as_view(), name="api-docs"),
    path("tokens/", accounts.TokensView.as_view()),
    path("tokens/<key:token_id>/", accounts.TokenView.as_view()),
    path("projects/", projects.ProjectsView.as_view()),
    path("projects/<key:project_id>/", projects.ProjectView.as_view()),
    path("projects/<key:project_id>/tasks/", projects.TasksView.as_view()),
    path("projects/<key:project_id>/tasks/<key:task_id>/", projects.TaskView.as_view()),
    path("projects/<key:project_id>/tasks/<key:task_id>/labels/", projects.LabelsView.as_view()),
    path(
        "projects/<key:project_id>/tasks/<key:task_id>/labels/<key:label_id>/",
        projects.LabelView.as_view(),
    ),
    path(
        "projects/<key:project_id>/tasks/<key:task_id>/labels/<key:label_id>/merge/",
        projects.MergeLabelView.as_view(),
    ),
    path("projects/<key:project_id>/log/", projects.LogView.as_view()),
    path("projects/<key:project_id>/log/<key:entry_id>/undo/", projects.UndoView.as_view()),
    path("projects/<key:project_id>/corpora/", corpora.CorporaView.as_view()),
    path("projects/<key:project_id>/corpora/<key:corpus_id>/", corpora.CorpusView.as_view()),
    path("projects/<key:project_id>/sentences/", corpora.SentencesView.as_view()),
    path(
        "projects/<key:project_id>/sentences/<key:sentence_id>/words/",
        corpora.WordsView.as_view(),
    ),
    path(
        "projects/<key:project_id>/sentences/<key:sentence_id>/borders/",
        corpora.BordersView.as_view(),
    ),
    path("projects/<key:project_id>/export/", corpora.ExportView.as_view()),
    path("projects/<key:project_id>/members/", accounts.MembersView.as_view()),
    path("projects/<key:project_id>/members/<key:membership_id>/", accounts.MemberView.as_view()),
    path("projects/<key:project_id>/groups/", adjudication.GroupsView.as_view()),
    path("projects/<key:project_id>/groups/<key:group_id>/", adjudication.GroupView.as_view()),
    path("projects/<key:project_id>/team/", adjudication.TeamView.as_view()),
    path("projects/<key:project_id>/invitations/", accounts.InvitationsView.as_view()),
    path("projects/<key:project_id>/rounds/", rounds.RoundsView.as_view()),
    path("projects/<key:project_id>/rounds/defaults/", rounds.RoundDefaultsView.as_view()),
    path("projects/<key:project_id>/rounds/<key:number>/", rounds.RoundView.as_view()),
    path("projects/<key:project_id>/rounds/<key:number>/asks/", rounds.RoundAsksView.as_view()),
    path("projects/<key:project_id>/rounds/<key:number>/cancel/", rounds.CancelRoundView.as_view()),
    path("projects/<key:project_id>/rounds/<key:number>/retry/", rounds.RetryRoundView.as_view()),
    path("projects/<key:project_id>/rounds/<key:number>/model/", predictions.ModelView.as_view()),
    path("projects/<key:project_id>/suggestions/", predictions.SuggestionsView.as_view()),
    path("projects/<key:project_id>/predict/", predictions.PredictView.as_view()),
    path("projects/<key:project_id>/predictions/", predictions.PredictionsView.as_view()),
    path("projects/<key:project_id>/adjudication/", adjudication.DisputesView.as_view()),
    path(
        "projects/<key:project_id>/adjudication/<key:sentence_id>/",
        adjudication.CaseView.as_view(),
    ),
    path("projects/<key:project_id>/webhooks/", webhooks.WebhooksView.as_view()),
    path("projects/<key:project_id>/webhooks/<key:webhook_id>/", webhooks.WebhookView.as_view()),
    path(
        "projects/<key:project_id>/webhooks/<key:webhook_id>/test/",
        webhooks.WebhookTestView.as_view(),
    ),
    path(
        "projects/<key:project_id>/webhooks/<key:webhook_id>/deliveries/",
        webhooks.DeliveriesView.as_view(),
    ),
    path("projects/<key:project_id>/flags/", inbox.FlagsView.as_view()),
    path(
        "projects/<key:project_id>/flags/<key:flag_id>/resolve/",
        inbox.ResolveFlagView.as_view(),
    ),
    path(
        "projects/<key:project_id>/flags/<key:flag_id>/reopen/",
        inbox.ReopenFlagView.as_view(),
    ),
    path("projects/<key:project_id>/skipped/", inbox.SkippedView.as_view()),
    path("projects/<key:project_id>/reviews/", inbox.ReviewsView.as_view()),
    path("people/", erasure.PeopleView.as_view()),
    path("people/<key:person_id>/", erasure.PersonView.as_view()),
    path("people/<key:person_id>/anonymise/", erasure.AnonymiseView.as_view()),
    path("projects/<key:project_id>/answers/", erasure.AnswersView.as_view()),
    path("projects/<key:project_id>/answers/<key:answer_id>/", inbox.ReviewView.as_view()),
    path(
        "projects/<key:project_id>/sentences/<key:sentence_id>/pool/",
        inbox.LeaveOutView.as_view(),
    ),
    path(
        "projects/<key:project_id>/sentences/<key:sentence_id>/history/",
        inbox.HistoryOfSentenceView.as_view(),
    ),
    path("projects/<key:project_id>/agreement/", adjudication.AgreementView.as_view()),
    path("projects/<key:project_id>/dashboard/", dashboard_api.DashboardView.as_view()),
    path("projects/<key:project_id>/suggestion-bias/", adjudication.SuggestionBiasView.as_view()),
    path("projects/<key:project_id>/jobs/<key:job_id>/", jobs.JobView.as_view()),
    path("projects/<key:project_id>/jobs/<key:job_id>/file/", corpora.JobFileView.as_view()),
    path("projects/<key:project_id>/jobs/<key:job_id>/cancel/", jobs.CancelJobView.as_view()),
    path("projects/<key:project_id>/history/", history.HistoryView.as_view()),
    path("projects/<key:project_id>/news/", history.NewsView.as_view()),
    path("submissions/<key:submission_id>/", history.OwnAnswersView.as_view()),
    path("submissions/<key:submission_id>/reopen/", history.ReopenView.as_view()),
    path("sentences/<key:sentence_id>/flag/", history.FlagView.as_view()),
]
