"""Server-rendered pages: one line a page."""

from django.urls import URLPattern, URLResolver, path

from annotation.pages import (
    account,
    adjudicating,
    advising,
    agreeing,
    annotate,
    browsing,
    create_project,
    exporting,
    importing,
    invitations,
    jobs,
    members,
    projects,
    rounds,
    settings,
    signing_in,
    tasks,
    theme,
    working_styles,
)

urlpatterns: list[URLPattern | URLResolver] = [
    path("", projects.projects, name="projects"),
    path("theme/", theme.set_theme, name="theme"),
    path("sign-in/", signing_in.sign_in, name="sign-in"),
    path("sign-in/<str:token>/", signing_in.sign_in_by_link, name="sign-in-link"),
    path("sign-out/", signing_in.sign_out, name="sign-out"),
    path("invitations/<str:token>/", invitations.accept, name="invitation"),
    path("account/", account.account, name="account"),
    path("account/password/", account.new_password, name="set-password"),
    path("projects/new/", create_project.new_project, name="new-project"),
    path("projects/<int:project_id>/", projects.overview, name="overview"),
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
    path("projects/<int:project_id>/jobs/<int:job_id>/file/", jobs.job_file, name="job-file"),
    path("projects/<int:project_id>/annotate/", annotate.annotate, name="annotate"),
    path("projects/<int:project_id>/dashboard/", projects.dashboard_data, name="dashboard-data"),
    path("projects/<int:project_id>/adjudicate/", adjudicating.adjudicate, name="adjudicate"),
    path("projects/<int:project_id>/advice/", advising.advice, name="advice"),
    path("projects/<int:project_id>/agreement/", agreeing.agreement, name="agreement"),
    path("projects/<int:project_id>/rounds/", rounds.rounds, name="rounds"),
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
    path(
        "projects/<int:project_id>/working-styles/",
        working_styles.working_styles,
        name="working-styles",
    ),
    path("projects/<int:project_id>/settings/", settings.project_settings, name="settings"),
    path("projects/<int:project_id>/delete/", settings.delete, name="delete-project"),
    path("projects/<int:project_id>/tasks/", tasks.tasks, name="tasks"),
    path("projects/<int:project_id>/tasks/new/", tasks.new_task, name="new-task"),
    path("projects/<int:project_id>/tasks/<int:task_id>/", tasks.edit_task, name="edit-task"),
    path(
        "projects/<int:project_id>/tasks/<int:task_id>/labels/",
        tasks.new_labels,
        name="new-labels",
    ),
    path("projects/<int:project_id>/members/", members.members, name="members"),
    path(
        "projects/<int:project_id>/members/<int:membership_id>/",
        members.change_member,
        name="change-member",
    ),
    path(
        "projects/<int:project_id>/members/<int:membership_id>/sign-in-link/",
        members.let_in,
        name="let-in",
    ),
    path(
        "projects/<int:project_id>/invitations/<int:invitation_id>/withdraw/",
        members.withdraw,
        name="withdraw",
    ),
]
