"""REST: one line a resource; every other address under /api/ answers in the one error shape."""

from django.urls import URLPattern, URLResolver, path, re_path

from annotation.api import (
    adjudication,
    collection,
    corpora,
    docs,
    jobs,
    leases,
    people,
    projects,
    queue,
    rounds,
    submissions,
    tokens,
)

urlpatterns: list[URLPattern | URLResolver] = [
    path("schema/", docs.SchemaView.as_view(), name="schema"),
    path("docs/", docs.DocsView.as_view(), name="api-docs"),
    path("tokens/", tokens.TokensView.as_view()),
    path("tokens/<int:token_id>/", tokens.TokenView.as_view()),
    path("projects/", collection.ProjectsView.as_view()),
    path("projects/<int:project_id>/", projects.ProjectView.as_view()),
    path("projects/<int:project_id>/corpora/", corpora.CorporaView.as_view()),
    path("projects/<int:project_id>/sentences/", corpora.SentencesView.as_view()),
    path("projects/<int:project_id>/export/", corpora.ExportView.as_view()),
    path("projects/<int:project_id>/members/", people.MembersView.as_view()),
    path("projects/<int:project_id>/members/<int:membership_id>/", people.MemberView.as_view()),
    path("projects/<int:project_id>/invitations/", people.InvitationsView.as_view()),
    path("projects/<int:project_id>/rounds/", rounds.RoundsView.as_view()),
    path("projects/<int:project_id>/rounds/<int:number>/", rounds.RoundView.as_view()),
    path("projects/<int:project_id>/rounds/<int:number>/asks/", rounds.RoundAsksView.as_view()),
    path("projects/<int:project_id>/rounds/<int:number>/cancel/", rounds.CancelRoundView.as_view()),
    path("projects/<int:project_id>/rounds/<int:number>/retry/", rounds.RetryRoundView.as_view()),
    path("projects/<int:project_id>/adjudication/", adjudication.DisputesView.as_view()),
    path(
        "projects/<int:project_id>/adjudication/<int:sentence_id>/",
        adjudication.CaseView.as_view(),
    ),
    path("projects/<int:project_id>/agreement/", adjudication.AgreementView.as_view()),
    path("projects/<int:project_id>/jobs/<int:job_id>/", jobs.JobView.as_view()),
    path("projects/<int:project_id>/jobs/<int:job_id>/cancel/", jobs.CancelJobView.as_view()),
    path("projects/<int:project_id>/next/", queue.NextView.as_view()),
    path("projects/<int:project_id>/peek/", queue.PeekView.as_view()),
    path("projects/<int:project_id>/history/", queue.HistoryView.as_view()),
    path("leases/<int:lease_id>/draft/", leases.DraftView.as_view()),
    path("leases/<int:lease_id>/heartbeat/", leases.HeartbeatView.as_view()),
    path("leases/<int:lease_id>/submit/", leases.SubmitView.as_view()),
    path("leases/<int:lease_id>/skip/", leases.SkipView.as_view()),
    path("leases/<int:lease_id>/release/", leases.ReleaseView.as_view()),
    path("submissions/<int:submission_id>/reopen/", submissions.ReopenView.as_view()),
    path("sentences/<int:sentence_id>/flag/", submissions.FlagView.as_view()),
    re_path("", docs.NothingHere.as_view()),  # stays last
]
