"""Every address: one line per page, one line per resource of REST, and REST's own description."""

from typing import NoReturn

from django.http import Http404
from django.urls import URLPattern, URLResolver, path
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.permissions import AllowAny
from rest_framework.renderers import TemplateHTMLRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from annotation.accounts import api as accounts_api
from annotation.accounts import pages as accounts
from annotation.accounts import sign_in_pages as door
from annotation.adjudication import api as adjudication_api
from annotation.adjudication import inbox_api
from annotation.adjudication import inbox_pages as inbox
from annotation.adjudication import pages as adjudicating
from annotation.adjudication import people_pages as people
from annotation.adjudication import review_pages as reviewing
from annotation.corpora import api as corpora_api
from annotation.corpora import browse_pages as browsing
from annotation.corpora import import_api
from annotation.corpora import import_pages as importing
from annotation.erasure import api as erasure_api
from annotation.erasure import pages as erasure
from annotation.jobs import api as jobs_api
from annotation.jobs import pages as jobs
from annotation.predictions import api as predictions_api
from annotation.predictions import export_pages as exporting
from annotation.projects import api as projects_api
from annotation.projects import pages as projects
from annotation.projects import task_pages as tasks
from annotation.projects import webhook_api
from annotation.queue import api as queue_api
from annotation.queue import history_api
from annotation.queue import pages as annotate
from annotation.rounds import api as rounds_api
from annotation.rounds import pages as rounds
from annotation.web import frame


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


PAGES: list[URLPattern | URLResolver] = [
    path("", projects.projects, name="projects"),
    path("theme/", frame.set_theme, name="theme"),
    path("language/", frame.set_language, name="language"),
    path("sign-in/", door.sign_in, name="sign-in"),
    path("sign-in/code/", door.sign_in_code, name="sign-in-code"),
    path("sign-in/single/", door.single_sign_on, name="single-sign-on"),
    path("sign-in/single/back/", door.single_sign_on_back, name="single-sign-on-back"),
    path("sign-in/<str:token>/", door.sign_in_by_link, name="sign-in-link"),
    path("sign-out/", door.sign_out, name="sign-out"),
    path("invitations/<str:token>/", door.accept, name="invitation"),
    path("account/", accounts.account, name="account"),
    path("account/password/", accounts.new_password, name="set-password"),
    path("account/second-step/", accounts.second_step, name="second-step"),
    path("account/single-sign-on/", accounts.disconnect_sign_on, name="disconnect-sign-on"),
    path("account/tokens/<int:token_id>/", accounts.end_token, name="end-token"),
    path("account/mail/", accounts.change_mail, name="change-mail"),
    path("account/mail/<str:token>/", accounts.confirm_mail, name="confirm-address"),
    path("people/", erasure.accounts, name="people"),
    path("people/<int:user_id>/", erasure.change_account, name="change-account"),
    path("log/", projects.server_log, name="server-log"),
    path("projects/<int:project_id>/log/", projects.project_log, name="log"),
    path("projects/new/", projects.new_project, name="new-project"),
    path("projects/<int:project_id>/", rounds.overview, name="overview"),
    path("projects/<int:project_id>/data/", browsing.data, name="data"),
    path(
        "projects/<int:project_id>/sentences/<int:sentence_id>/", browsing.sentence, name="sentence"
    ),
    path("projects/<int:project_id>/import/", importing.import_file, name="import"),
    path("projects/<int:project_id>/export/", exporting.export, name="export"),
    path("projects/<int:project_id>/jobs/<int:job_id>/", jobs.job_page, name="job"),
    path(
        "projects/<int:project_id>/jobs/<int:job_id>.json", jobs.job_progress, name="job-progress"
    ),
    path("projects/<int:project_id>/jobs/<int:job_id>/cancel/", jobs.cancel, name="cancel-job"),
    path("projects/<int:project_id>/jobs/<int:job_id>/file/", exporting.job_file, name="job-file"),
    path("projects/<int:project_id>/annotate/", annotate.annotate, name="annotate"),
    path("projects/<int:project_id>/dashboard/", rounds.dashboard_data, name="dashboard-data"),
    path("projects/<int:project_id>/standing/", rounds.where_it_stands, name="standing"),
    path("projects/<int:project_id>/adjudicate/", adjudicating.adjudicate, name="adjudicate"),
    path("projects/<int:project_id>/team/", people.team, name="team"),
    path("projects/<int:project_id>/team/groups/<int:group_id>/", people.group, name="group"),
    path("projects/<int:project_id>/team/<int:membership_id>/quota/", people.quota, name="quota"),
    path("projects/<int:project_id>/inbox/", inbox.inbox, name="inbox"),
    path("projects/<int:project_id>/review/", reviewing.review, name="review"),
    path("projects/<int:project_id>/agreement/", adjudicating.agreement, name="agreement"),
    path("projects/<int:project_id>/rounds/", rounds.rounds, name="rounds"),
    path(
        "projects/<int:project_id>/settings/rounds/", rounds.round_defaults, name="round-defaults"
    ),
    path("projects/<int:project_id>/rounds/plan/", rounds.plan, name="plan-round"),
    path("projects/<int:project_id>/rounds/<int:number>/", rounds.round_detail, name="round"),
    path(
        "projects/<int:project_id>/rounds/<int:number>/status/",
        rounds.round_status,
        name="round-status",
    ),
    path(
        "projects/<int:project_id>/rounds/<int:number>/cancel/", rounds.cancel, name="cancel-round"
    ),
    path("projects/<int:project_id>/rounds/<int:number>/retry/", rounds.retry, name="retry-round"),
    path("projects/<int:project_id>/settings/", projects.project_settings, name="settings"),
    path("projects/<int:project_id>/webhooks/", projects.webhooks, name="webhooks"),
    path(
        "projects/<int:project_id>/webhooks/<int:webhook_id>/",
        projects.change_webhook_state,
        name="change-webhook",
    ),
    path("projects/<int:project_id>/delete/", projects.delete, name="delete-project"),
    path(
        "projects/<int:project_id>/people/<int:person_id>/delete-answers/",
        erasure.remove_answers,
        name="delete-answers",
    ),
    path("projects/<int:project_id>/state/", projects.change_state, name="project-state"),
    path(
        "projects/<int:project_id>/corpora/<int:corpus_id>/delete/",
        browsing.remove_corpus,
        name="delete-corpus",
    ),
    path(
        "projects/<int:project_id>/sentences/<int:sentence_id>/delete/",
        browsing.remove_sentence,
        name="delete-sentence",
    ),
    path("projects/<int:project_id>/tasks/", tasks.tasks, name="tasks"),
    path("projects/<int:project_id>/labels/", tasks.labels, name="labels"),
    path("projects/<int:project_id>/tasks/new/", tasks.new_task, name="new-task"),
    path("projects/<int:project_id>/tasks/<int:task_id>/", tasks.edit_task, name="edit-task"),
    path("projects/<int:project_id>/tasks/<int:task_id>/end/", tasks.end_task, name="end-task"),
    path(
        "projects/<int:project_id>/tasks/<int:task_id>/labels/",
        tasks.new_labels,
        name="new-labels",
    ),
    path("projects/<int:project_id>/members/", accounts.members, name="members"),
    path(
        "projects/<int:project_id>/members/<int:membership_id>/",
        accounts.change_member,
        name="change-member",
    ),
    path(
        "projects/<int:project_id>/members/<int:membership_id>/sign-in-link/",
        accounts.let_in,
        name="let-in",
    ),
    path(
        "projects/<int:project_id>/invitations/<int:invitation_id>/withdraw/",
        accounts.withdraw,
        name="withdraw",
    ),
]

RESOURCES: list[URLPattern | URLResolver] = [
    # Annotators wait for these all day: first in the list, first found.
    path("projects/<key:project_id>/next/", queue_api.NextView.as_view()),
    path("projects/<key:project_id>/peek/", queue_api.PeekView.as_view()),
    path("projects/<key:project_id>/asks/<key:ask_id>/hints/", queue_api.HintsView.as_view()),
    path("leases/<key:lease_id>/draft/", queue_api.DraftView.as_view()),
    path("leases/<key:lease_id>/findings/", queue_api.FindingsView.as_view()),
    path("leases/<key:lease_id>/heartbeat/", queue_api.HeartbeatView.as_view()),
    path("leases/<key:lease_id>/submit/", queue_api.SubmitView.as_view()),
    path("leases/<key:lease_id>/skip/", queue_api.SkipView.as_view()),
    path("leases/<key:lease_id>/release/", queue_api.ReleaseView.as_view()),
    path("leases/<key:lease_id>/later/", queue_api.LaterView.as_view()),
    path("sentences/<key:sentence_id>/document/", history_api.DocumentView.as_view()),
    path("schema/", SchemaView.as_view(), name="schema"),
    path("docs/", DocsView.as_view(), name="api-docs"),
    path("tokens/", accounts_api.TokensView.as_view()),
    path("tokens/<key:token_id>/", accounts_api.TokenView.as_view()),
    path("projects/", projects_api.ProjectsView.as_view()),
    path("projects/<key:project_id>/", projects_api.ProjectView.as_view()),
    path("projects/<key:project_id>/tasks/", projects_api.TasksView.as_view()),
    path("projects/<key:project_id>/tasks/<key:task_id>/", projects_api.TaskView.as_view()),
    path(
        "projects/<key:project_id>/tasks/<key:task_id>/labels/", projects_api.LabelsView.as_view()
    ),
    path(
        "projects/<key:project_id>/tasks/<key:task_id>/labels/<key:label_id>/",
        projects_api.LabelView.as_view(),
    ),
    path(
        "projects/<key:project_id>/tasks/<key:task_id>/labels/<key:label_id>/merge/",
        projects_api.MergeLabelView.as_view(),
    ),
    path("projects/<key:project_id>/log/", projects_api.LogView.as_view()),
    path("projects/<key:project_id>/log/<key:entry_id>/undo/", projects_api.UndoView.as_view()),
    path("projects/<key:project_id>/corpora/", import_api.CorporaView.as_view()),
    path("projects/<key:project_id>/corpora/<key:corpus_id>/", corpora_api.CorpusView.as_view()),
    path("projects/<key:project_id>/sentences/", corpora_api.SentencesView.as_view()),
    path(
        "projects/<key:project_id>/sentences/<key:sentence_id>/words/",
        corpora_api.WordsView.as_view(),
    ),
    path(
        "projects/<key:project_id>/sentences/<key:sentence_id>/borders/",
        corpora_api.BordersView.as_view(),
    ),
    path("projects/<key:project_id>/export/", corpora_api.ExportView.as_view()),
    path("projects/<key:project_id>/members/", accounts_api.MembersView.as_view()),
    path(
        "projects/<key:project_id>/members/<key:membership_id>/", accounts_api.MemberView.as_view()
    ),
    path("projects/<key:project_id>/groups/", adjudication_api.GroupsView.as_view()),
    path("projects/<key:project_id>/groups/<key:group_id>/", adjudication_api.GroupView.as_view()),
    path("projects/<key:project_id>/team/", adjudication_api.TeamView.as_view()),
    path("projects/<key:project_id>/invitations/", accounts_api.InvitationsView.as_view()),
    path("projects/<key:project_id>/rounds/", rounds_api.RoundsView.as_view()),
    path("projects/<key:project_id>/rounds/defaults/", rounds_api.RoundDefaultsView.as_view()),
    path("projects/<key:project_id>/rounds/<key:number>/", rounds_api.RoundView.as_view()),
    path("projects/<key:project_id>/rounds/<key:number>/asks/", rounds_api.RoundAsksView.as_view()),
    path(
        "projects/<key:project_id>/rounds/<key:number>/cancel/",
        rounds_api.CancelRoundView.as_view(),
    ),
    path(
        "projects/<key:project_id>/rounds/<key:number>/retry/", rounds_api.RetryRoundView.as_view()
    ),
    path(
        "projects/<key:project_id>/rounds/<key:number>/model/", predictions_api.ModelView.as_view()
    ),
    path("projects/<key:project_id>/suggestions/", predictions_api.SuggestionsView.as_view()),
    path("projects/<key:project_id>/predict/", predictions_api.PredictView.as_view()),
    path("projects/<key:project_id>/predictions/", predictions_api.PredictionsView.as_view()),
    path("projects/<key:project_id>/adjudication/", adjudication_api.DisputesView.as_view()),
    path(
        "projects/<key:project_id>/adjudication/<key:sentence_id>/",
        adjudication_api.CaseView.as_view(),
    ),
    path("projects/<key:project_id>/webhooks/", webhook_api.WebhooksView.as_view()),
    path("projects/<key:project_id>/webhooks/<key:webhook_id>/", webhook_api.WebhookView.as_view()),
    path(
        "projects/<key:project_id>/webhooks/<key:webhook_id>/test/",
        webhook_api.WebhookTestView.as_view(),
    ),
    path(
        "projects/<key:project_id>/webhooks/<key:webhook_id>/deliveries/",
        webhook_api.DeliveriesView.as_view(),
    ),
    path("projects/<key:project_id>/flags/", inbox_api.FlagsView.as_view()),
    path(
        "projects/<key:project_id>/flags/<key:flag_id>/resolve/",
        inbox_api.ResolveFlagView.as_view(),
    ),
    path(
        "projects/<key:project_id>/flags/<key:flag_id>/reopen/",
        inbox_api.ReopenFlagView.as_view(),
    ),
    path("projects/<key:project_id>/skipped/", inbox_api.SkippedView.as_view()),
    path("projects/<key:project_id>/reviews/", inbox_api.ReviewsView.as_view()),
    path("people/", erasure_api.PeopleView.as_view()),
    path("people/<key:person_id>/", erasure_api.PersonView.as_view()),
    path("people/<key:person_id>/anonymise/", erasure_api.AnonymiseView.as_view()),
    path("projects/<key:project_id>/answers/", erasure_api.AnswersView.as_view()),
    path("projects/<key:project_id>/answers/<key:answer_id>/", inbox_api.ReviewView.as_view()),
    path(
        "projects/<key:project_id>/sentences/<key:sentence_id>/pool/",
        inbox_api.LeaveOutView.as_view(),
    ),
    path(
        "projects/<key:project_id>/sentences/<key:sentence_id>/another/",
        inbox_api.AskAnotherView.as_view(),
    ),
    path(
        "projects/<key:project_id>/sentences/<key:sentence_id>/history/",
        inbox_api.HistoryOfSentenceView.as_view(),
    ),
    path("projects/<key:project_id>/agreement/", adjudication_api.AgreementView.as_view()),
    path("projects/<key:project_id>/dashboard/", rounds_api.DashboardView.as_view()),
    path(
        "projects/<key:project_id>/suggestion-bias/", adjudication_api.SuggestionBiasView.as_view()
    ),
    path("projects/<key:project_id>/jobs/<key:job_id>/", jobs_api.JobView.as_view()),
    path("projects/<key:project_id>/jobs/<key:job_id>/file/", corpora_api.JobFileView.as_view()),
    path("projects/<key:project_id>/jobs/<key:job_id>/cancel/", jobs_api.CancelJobView.as_view()),
    path("projects/<key:project_id>/history/", history_api.HistoryView.as_view()),
    path("projects/<key:project_id>/news/", history_api.NewsView.as_view()),
    path("submissions/<key:submission_id>/", history_api.OwnAnswersView.as_view()),
    path("submissions/<key:submission_id>/reopen/", history_api.ReopenView.as_view()),
    path("sentences/<key:sentence_id>/flag/", history_api.FlagView.as_view()),
]
