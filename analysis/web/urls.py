"""Pages of this app: one line per page."""

from django.urls import URLPattern, URLResolver, path

from analysis.insights import pages as insights
from analysis.web import pages

urlpatterns: list[URLPattern | URLResolver] = [
    path("projects/<int:project_id>/advice/", insights.advice, name="advice"),
    path(
        "projects/<int:project_id>/insights/<slug:name>/", insights.compute, name="compute-insight"
    ),
    path(
        "projects/<int:project_id>/working-styles/", insights.working_styles, name="working-styles"
    ),
    path("projects/<int:project_id>/suspects/", insights.suspects, name="suspects"),
    path("projects/<int:project_id>/proposal/", insights.take_proposal, name="apply-proposal"),
    path("projects/<int:project_id>/quote/", insights.quote, name="quote"),
    path("projects/<int:project_id>/studies/", pages.studies, name="studies"),
    path(
        "projects/<int:project_id>/studies/new/<slug:study_name>/",
        pages.new_study,
        name="new-study",
    ),
    path("projects/<int:project_id>/studies/<int:study_id>/", pages.study, name="study"),
]
