"""Server-rendered pages: one line per page."""

from django.urls import URLPattern, URLResolver, path

from annotation.accounts import pages as accounts
from annotation.accounts import sign_in_pages as door
from annotation.adjudication import inbox_pages as inbox
from annotation.adjudication import pages as adjudicating
from annotation.adjudication import people_pages as people
from annotation.adjudication import review_pages as reviewing
from annotation.corpora import browse_pages as browsing
from annotation.corpora import import_pages as importing
from annotation.erasure import pages as erasure
from annotation.jobs import pages as jobs
from annotation.predictions import export_pages as exporting
from annotation.projects import pages as projects
from annotation.projects import task_pages as tasks
from annotation.queue import pages as annotate
from annotation.rounds import pages as rounds
from annotation.web import frame

urlpatterns: list[URLPattern | URLResolver] = [
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
