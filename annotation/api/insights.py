"""How a project goes: the numbers behind the overview and its neighbours."""

from dataclasses import asdict

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.admin_schema import DASHBOARD, SUGGESTION_BIAS, WORKING_STYLES
from annotation.models import Role
from annotation.selectors.access import get_project
from annotation.selectors.dashboard import dashboard
from annotation.selectors.suggestion_bias import suggestion_bias
from annotation.selectors.working_styles import described_styles


class DashboardView(APIView):
    """Dashboard."""

    @DASHBOARD
    def get(self, request: Request, project_id: int) -> Response:
        """Return curves with forecasts, the pool, calibration, drift, budget and people."""
        return Response(dashboard(get_project(request.user, project_id)))


class SuggestionBiasView(APIView):
    """Suggestions and answers."""

    @SUGGESTION_BIAS
    def get(self, request: Request, project_id: int) -> Response:
        """Return how close people come to the model and each other, shown its answers or blind."""
        project = get_project(request.user, project_id)
        return Response({"tasks": [asdict(bias) for bias in suggestion_bias(project)]})


class WorkingStylesView(APIView):
    """Working styles."""

    @WORKING_STYLES
    def get(self, request: Request, project_id: int) -> Response:
        """Return the styles of a project's work; ``is_off`` where its owners did not want that."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        return Response(described_styles(project))
