"""REST: one line a resource; every other address under /api/ answers in the one error shape."""

from django.urls import URLPattern, URLResolver, path, re_path

from annotation.api import (
    adjudication,
    advice,
    collection,
    corpora,
    docs,
    insights,
    jobs,
    leases,
    people,
    projects,
    queue,
    rounds,
    submissions,
    tokens,
)
from annotation.api.converters import register_converters

register_converters()

urlpatterns: list[URLPattern | URLResolver] = [
    # Annotators wait for these all day: first in the list, first found.
    path("projects/<key:project_id>/next/", queue.NextView.as_view()),
    path("projects/<key:project_id>/peek/", queue.PeekView.as_view()),
    path("leases/<key:lease_id>/draft/", leases.DraftView.as_view()),
    path("leases/<key:lease_id>/heartbeat/", leases.HeartbeatView.as_view()),
    path("leases/<key:lease_id>/submit/", leases.SubmitView.as_view()),
    path("leases/<key:lease_id>/skip/", leases.SkipView.as_view()),
    path("leases/<key:lease_id>/release/", leases.ReleaseView.as_view()),
    path("schema/", docs.SchemaView.as_view(), name="schema"),
    path("docs/", docs.DocsView.as_view(), name="api-docs"),
    path("tokens/", tokens.TokensView.as_view()),
    path("tokens/<key:token_id>/", tokens.TokenView.as_view()),
    path("projects/", collection.ProjectsView.as_view()),
    path("projects/<key:project_id>/", projects.ProjectView.as_view()),
    path("projects/<key:project_id>/corpora/", corpora.CorporaView.as_view()),
    path("projects/<key:project_id>/sentences/", corpora.SentencesView.as_view()),
    path("projects/<key:project_id>/export/", corpora.ExportView.as_view()),
    path("projects/<key:project_id>/members/", people.MembersView.as_view()),
    path("projects/<key:project_id>/members/<key:membership_id>/", people.MemberView.as_view()),
    path("projects/<key:project_id>/invitations/", people.InvitationsView.as_view()),
    path("projects/<key:project_id>/rounds/", rounds.RoundsView.as_view()),
    path("projects/<key:project_id>/rounds/<key:number>/", rounds.RoundView.as_view()),
    path("projects/<key:project_id>/rounds/<key:number>/asks/", rounds.RoundAsksView.as_view()),
    path("projects/<key:project_id>/rounds/<key:number>/cancel/", rounds.CancelRoundView.as_view()),
    path("projects/<key:project_id>/rounds/<key:number>/retry/", rounds.RetryRoundView.as_view()),
    path("projects/<key:project_id>/adjudication/", adjudication.DisputesView.as_view()),
    path(
        "projects/<key:project_id>/adjudication/<key:sentence_id>/",
        adjudication.CaseView.as_view(),
    ),
    path("projects/<key:project_id>/advice/", advice.AdviceView.as_view()),
    path("projects/<key:project_id>/agreement/", adjudication.AgreementView.as_view()),
    path("projects/<key:project_id>/dashboard/", insights.DashboardView.as_view()),
    path("projects/<key:project_id>/suggestion-bias/", insights.SuggestionBiasView.as_view()),
    path("projects/<key:project_id>/working-styles/", insights.WorkingStylesView.as_view()),
    path("projects/<key:project_id>/jobs/<key:job_id>/", jobs.JobView.as_view()),
    path("projects/<key:project_id>/jobs/<key:job_id>/cancel/", jobs.CancelJobView.as_view()),
    path("projects/<key:project_id>/history/", queue.HistoryView.as_view()),
    path("submissions/<key:submission_id>/reopen/", submissions.ReopenView.as_view()),
    path("sentences/<key:sentence_id>/flag/", submissions.FlagView.as_view()),
    re_path("", docs.NothingHere.as_view()),  # stays last
]
