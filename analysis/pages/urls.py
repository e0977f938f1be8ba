"""Pages of the offline studies."""

from django.urls import URLPattern, URLResolver, path

from analysis.pages import studies

urlpatterns: list[URLPattern | URLResolver] = [
    path("projects/<int:project_id>/studies/", studies.studies, name="studies"),
    path("projects/<int:project_id>/studies/<int:study_id>/", studies.study, name="study"),
]
