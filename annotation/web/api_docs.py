"""The API's own description, and pages that show it without anything from elsewhere."""

from typing import NoReturn

from django.http import Http404
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.permissions import AllowAny
from rest_framework.renderers import TemplateHTMLRenderer
from rest_framework.request import Request
from rest_framework.views import APIView


class SchemaView(SpectacularAPIView):
    """OpenAPI."""

    permission_classes = [AllowAny]


class DocsView(SpectacularSwaggerSplitView):
    """Browsable documentation."""

    permission_classes = [AllowAny]
    renderer_classes = [TemplateHTMLRenderer]
    template_name = "annotation/api_docs.html"


@extend_schema(exclude=True)
class NothingHere(APIView):
    """Every other address."""

    permission_classes = [AllowAny]

    def initial(self, request: Request, *args: object, **kwargs: object) -> NoReturn:
        """Answer in the one error shape."""
        raise Http404(f"There is no {request.path}. /api/docs/ shows what there is.")
