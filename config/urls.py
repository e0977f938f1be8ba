from django.urls import include, path, re_path

from analysis.web import urls as analysis
from annotation.jobs.health import MetricsView, health
from annotation.web import urls as annotation

urlpatterns = [
    path("health/", health),
    path("metrics/", MetricsView.as_view()),
    path("api/", include(annotation.RESOURCES)),
    path("api/", include(analysis.RESOURCES)),
    re_path("^api/", annotation.NothingHere.as_view()),
    path("", include(annotation.PAGES)),
    path("", include(analysis.PAGES)),
]
