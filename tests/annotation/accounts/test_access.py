"""Who sees a project, and who may do what in it."""

import pytest
from django.contrib.auth.models import AnonymousUser

from annotation.accounts.access import get_project, has_role, role_in, visible_projects
from annotation.errors import Forbidden, NotFound
from annotation.models import Membership, Role


def test_strangers_do_not_learn_that_a_project_exists(project, bob):
    assert not visible_projects(bob).exists()
    for project_id in (project.pk, project.pk + 1, "nonsense", "²"):
        with pytest.raises(NotFound):
            get_project(bob, project_id, at_least=Role.ANNOTATOR)
    with pytest.raises(NotFound):
        get_project(AnonymousUser(), project.pk, at_least=Role.ANNOTATOR)


def test_a_member_is_held_to_their_role(project, ada, bob):
    Membership.objects.create(project=project, user=bob, role=Role.ANNOTATOR)
    assert list(visible_projects(bob)) == [project]
    assert get_project(bob, project.pk, at_least=Role.ANNOTATOR) == project
    with pytest.raises(Forbidden, match="needs the role curator; yours is annotator"):
        get_project(bob, project.pk)
    assert get_project(ada, str(project.pk), at_least=Role.OWNER) == project
    assert has_role(bob, project.pk, Role.ANNOTATOR)
    assert not has_role(bob, project.pk, Role.CURATOR)


def test_an_admin_may_do_everything(project, admin):
    assert role_in(admin, project.pk) == Role.OWNER
    assert get_project(admin, project.pk, at_least=Role.OWNER) == project
    with pytest.raises(NotFound):
        get_project(admin, project.pk + 1)


def test_an_inactive_person_sees_nothing(project, ada):
    ada.is_active = False
    assert not visible_projects(ada).exists()
    assert role_in(ada, project.pk) is None
