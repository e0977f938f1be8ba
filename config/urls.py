from django.urls import include, path

urlpatterns = [
    path("api/", include("annotation.api.urls")),
    path("", include("annotation.pages.urls")),
    path("", include("analysis.pages.urls")),
]
