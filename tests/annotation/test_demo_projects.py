import pytest

from annotation.models import Ask, Gold, Project, Sentence
from annotation.services.demo import N_LABELLED, N_OPEN, create_demo_projects

pytestmark = pytest.mark.django_db


def test_the_demo_projects_are_made_once_labelled_in_part_and_ready_to_annotate(monkeypatch):
    monkeypatch.setattr("annotation.services.demo.N_LABELLED", 30)
    monkeypatch.setattr("annotation.services.demo.N_OPEN", 50)
    names = [project.name for project in create_demo_projects(owner=None)]
    assert names == ["Demo: news desk", "Demo: travel assistant"]
    assert list(create_demo_projects(owner=None)) == []
    news = Project.objects.get(name=names[0])
    assert Sentence.objects.filter(project=news).count() == 80
    assert Gold.objects.filter(sentence__project=news).count() == 4 * 30
    assert Ask.objects.filter(queue__project=news).exists()
    assert (N_LABELLED, N_OPEN) == (300, 2000)
