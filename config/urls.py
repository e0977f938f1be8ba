from django.urls import include, path, re_path

from annotation.jobs.health import MetricsView, health
from annotation.web.api_urls import NothingHere

urlpatterns = [
    path("health/", health),
    path("metrics/", MetricsView.as_view()),
    path("api/", include("annotation.web.api_urls")),
    path("api/", include("analysis.web.api_urls")),
    re_path("^api/", NothingHere.as_view()),
    path("", include("annotation.web.urls")),
    path("", include("analysis.web.urls")),
]
