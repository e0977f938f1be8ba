"""Server-rendered pages: one line a page."""

from django.urls import URLPattern, URLResolver, path

from annotation.pages import account, create_project, invitations, projects, signing_in, theme

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
]
