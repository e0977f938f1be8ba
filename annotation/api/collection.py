"""The projects one can see; making and changing them."""

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.admin_schema import LIST_PROJECTS, NEW_PROJECT
from annotation.api.bodies import read_table
from annotation.api.pagination import page_of
from annotation.selectors.access import role_in, visible_projects
from annotation.selectors.project_view import describe_project
from annotation.services.projects import create_project


class ProjectsView(APIView):
    """Projects."""

    @LIST_PROJECTS
    def get(self, request: Request) -> Response:
        """Return one's own projects, newest first."""
        page = page_of(visible_projects(request.user), request)
        rows = [
            {"id": row.pk, "name": row.name, "role": role_in(request.user, row.pk)}
            for row in page.rows
        ]
        return Response({"results": rows, "next": page.next})

    @NEW_PROJECT
    def post(self, request: Request) -> Response:
        """Make a project with its tasks and become its owner."""
        project = create_project(spec=read_table(request), owner=request.user)
        answer = {**describe_project(project), "role": role_in(request.user, project.pk)}
        return Response(answer, status=201)
