"""One project as the annotate page needs it."""

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.admin_schema import CHANGE_PROJECT
from annotation.api.bodies import read_table
from annotation.api.schema import PROJECT
from annotation.models import Role
from annotation.selectors.access import get_project, role_in
from annotation.selectors.project_view import describe_project
from annotation.services.projects import update_project


class ProjectView(APIView):
    """A project."""

    @PROJECT
    def get(self, request: Request, project_id: int) -> Response:
        """Return a project with its tasks, their labels and one's own role."""
        project = get_project(request.user, project_id, at_least=Role.ANNOTATOR)
        return Response({**describe_project(project), "role": role_in(request.user, project_id)})

    @CHANGE_PROJECT
    def patch(self, request: Request, project_id: int) -> Response:
        """Change what a project says and how it is worked on."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        changed = update_project(project=project, changes=read_table(request))
        return Response({**describe_project(changed), "role": role_in(request.user, project_id)})
