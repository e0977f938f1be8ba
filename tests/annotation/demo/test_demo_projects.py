import pytest

from annotation.demo.services import create_demo_projects
from annotation.models import Gold, Project, Sentence

pytestmark = [pytest.mark.any_database, pytest.mark.django_db]


def test_the_demo_projects_are_made_once_labelled_in_part_and_ready_to_annotate(monkeypatch):
    monkeypatch.setattr("annotation.demo.services.N_LABELLED", 30)
    monkeypatch.setattr("annotation.demo.services.N_TEST", 20)
    monkeypatch.setattr("annotation.demo.services.N_OPEN", 50)
    names = [project.name for project in create_demo_projects(owner=None)]
    assert names == ["Demo: news desk", "Demo: travel assistant"]
    assert list(create_demo_projects(owner=None)) == []
    news = Project.objects.get(name=names[0])
    assert dict(news.corpora.values_list("name", "n_sentences")) == {
        "labelled to begin with": 30,
        "test": 20,
        "to annotate": 50,
    }
    assert Gold.objects.filter(sentence__project=news).count() == 4 * 50
    asked = Sentence.objects.filter(asks__queue__project=news)
    assert asked.count() == 50
    assert not asked.filter(gold__isnull=False).exists()
    assert Sentence.objects.filter(project=news, is_test=True).count() == 20
