"""Projects from specifications: strict, with colours and keys."""

import pytest
from django.core.management import CommandError, call_command

from annotation.errors import Conflict, InvalidInput, Refused
from annotation.models import Label, Project, Role, Task
from annotation.projects.labels import add_labels
from annotation.projects.selectors import find_project
from annotation.projects.services import (
    add_task,
    create_project,
    delete_project,
    update_project,
)
from annotation.projects.spec import read_spec, read_template, read_toml, template_names

TOML = """
name = "Harbour"
overlap = 2

[[tasks]]
name = "entities"
kind = "spans"
labels = ["ORG", "VESSEL", "PLACE", "DURATION", "DATE", "WEATHER", "CARGO"]

[[tasks]]
name = "class"
kind = "classes"
labels = ["Arrival", "Delay"]

[[tasks]]
name = "links"
kind = "relations"
parent = "entities"
labels = ["located at", "lasts", "issued by", "carries"]
"""


def keys(spec, task):
    found = next(t for t in spec.tasks if t.spec.name == task)
    return [label.key for label in found.labels]


def problems(raw):
    with pytest.raises(InvalidInput) as caught:
        read_spec(raw)
    return {problem.path: problem.message for problem in caught.value.problems}


def test_labels_take_the_first_free_letter_of_their_name():
    spec = read_toml(TOML)
    # r is reserved as there is a relations task, a always: DATE gets its t.
    assert keys(spec, "entities") == ["o", "v", "p", "d", "t", "w", "c"]
    assert keys(spec, "class") == ["1", "2"]
    assert keys(spec, "links") == ["L", "S", "I", "C"]


def test_no_two_labels_of_a_task_share_a_key_and_none_takes_a_reserved_one():
    many = [f"label{i}" for i in range(30)]
    spec = read_spec(
        {
            "name": "Many",
            "tasks": [
                {"name": "a", "kind": "spans", "labels": many},
                {"name": "b", "kind": "tags", "labels": many},
                {"name": "c", "kind": "classes", "labels": many},
                {"name": "d", "kind": "tree", "labels": many},
            ],
        }
    )
    for task in spec.tasks:
        used = [key for key in keys(spec, task.spec.name) if key]
        assert len(used) == len(set(used))
        assert not set(used) & set("axhfg")
    assert keys(spec, "a")[:6] == keys(spec, "b")[:6] == list("lbecdi")  # each for itself
    assert len(keys(spec, "c")) == 30
    assert [key for key in keys(spec, "c") if key] == list("1234567890")
    assert set(keys(spec, "d")) == {""}


def test_stated_keys_are_kept_and_wrong_ones_refused():
    def task(*labels):
        rows = [{"name": name, "key": key} for name, key in labels]
        return {"name": "P", "tasks": [{"name": "t", "kind": "spans", "labels": rows}]}

    assert keys(read_spec(task(("PER", "z"), ("LOC", ""))), "t") == ["z", "l"]
    found = problems(task(("PER", "a"), ("LOC", "q"), ("ORG", "q"), ("X", "1")))
    assert set(found) == {"tasks.0.labels.0.key", "tasks.0.labels.2.key", "tasks.0.labels.3.key"}
    assert "Free: b c d e i" in found["tasks.0.labels.0.key"]


def test_every_problem_is_named_with_its_path():
    found = problems(
        {
            "nam": "x",
            "overlap": 0,
            "tasks": [
                {"name": "e", "kind": "span", "labels": ["A"]},
                {"name": "e", "kind": "spans", "labels": ["A", "A"], "colour": 1},
                {"name": "r", "kind": "relations", "labels": [], "parent": "nobody"},
                {"name": "c", "kind": "classes", "labels": []},
                {"name": "t", "kind": "tree", "labels": [], "parent": "e", "target": 7},
            ],
        }
    )
    assert found["name"] == "'name' is missing; it is required."
    assert "Did you mean 'name'?" in found["nam"]
    assert found["overlap"] == "0 is not a whole number from 1 to 100."
    assert "Did you mean 'spans'?" in found["tasks.0.kind"]
    assert found["tasks.1.name"] == "The task 'e' is there already."
    assert found["tasks.1.labels.1.name"] == "The label 'A' is there twice."
    assert "Known: document, guidelines, kind, labels, name" in found["tasks.1.colour"]
    assert found["tasks.2.parent"] == "No spans task 'nobody'. Known: e."
    assert found["tasks.3.labels"] == "A classes task needs labels, or open = true."
    assert (
        found["tasks.4.parent"]
        == "Only a task of kind relations, attributes has a parent, not one of kind tree."
    )
    assert found["tasks.4.target"] == "7 is not a number from 0 to 1."


def test_an_empty_label_list_opens_a_tree_or_relations_task_only():
    spec = read_spec(
        {
            "name": "UD",
            "tasks": [
                {"name": "tree", "kind": "tree", "labels": []},
                {"name": "ner", "kind": "spans", "labels": ["PER"]},
                {"name": "rel", "kind": "relations", "parent": "ner", "labels": []},
                {"name": "slots", "kind": "spans", "labels": [], "open": True},
            ],
        }
    )
    assert [task.spec.is_open for task in spec.tasks] == [True, False, True, True]


def test_spans_of_a_relations_task_nest_unless_the_project_says_otherwise():
    def nested(**more):
        spans = {"name": "ner", "kind": "spans", "labels": ["PER"], **more}
        links = {"name": "rel", "kind": "relations", "parent": "ner", "labels": []}
        return read_spec({"name": "P", "tasks": [spans, links]}).tasks[0].spec.is_nested

    assert nested()
    assert not nested(nested=False)


def test_pairs_name_known_relations_and_labels():
    spans = {"name": "ner", "kind": "spans", "labels": ["PER", "ORG"]}
    links = {"name": "rel", "kind": "relations", "parent": "ner", "labels": ["works"]}
    good = read_spec(
        {"name": "P", "tasks": [spans, {**links, "pairs": {"works": [["PER", "ORG"]]}}]}
    )
    assert good.tasks[1].spec.pairs == {"works": [["PER", "ORG"]]}
    pairs = {"work": [["PER", "ORGANISATION"]]}
    found = problems({"name": "P", "tasks": [spans, {**links, "pairs": pairs}]})
    assert "Did you mean 'works'?" in found["tasks.1.pairs"]
    assert found["tasks.1.pairs.work"] == "No label 'ORGANISATION'. Known: ORG, PER."


def test_names_that_cannot_be_shown_are_refused():
    for name in ("a\x00b", "a\tb", "a\u202eb"):
        assert "name" in problems({"name": name, "tasks": []})
    assert read_spec({"name": "Dünen 👩‍🚀 می‌خواهم", "tasks": TASKS}).name == "Dünen 👩‍🚀 می‌خواهم"


TASKS = [{"name": "t", "kind": "spans", "labels": ["A"]}]


@pytest.mark.parametrize("name", template_names())
def test_every_template_makes_a_project(db, name):
    assert create_project(spec=read_template(name)).tasks.exists()


def test_templates_are_those_that_are_promised():
    assert template_names() == ["entities-relations", "ner", "slots-intent", "treebank", "ud-ner"]


def test_a_treebank_made_on_the_page_is_checked_by_the_rules_of_ud(client, ada):
    client.force_login(ada)
    page = client.get("/projects/new/?template=treebank")
    rows = page.context["formset"]
    sent = {name: page.context["form"][name].value() for name in page.context["form"].fields}
    sent |= {f"form-{i}-{f}": r[f].value() or "" for i, r in enumerate(rows) for f in r.fields}
    sent |= {"form-TOTAL_FORMS": len(rows.forms), "form-INITIAL_FORMS": "0"}
    flags = {key: value for key, value in sent.items() if value not in (None, False)}
    assert client.post("/projects/new/", {**flags, "name": "Trees"}).status_code == 302
    project = Project.objects.get(name="Trees")
    assert project.ud_validation
    kinds = dict(project.tasks.values_list("name", "kind"))
    assert kinds == {
        "lemma": "lemmas",
        "upos": "tags",
        "xpos": "tags",
        "feats": "features",
        "tree": "tree",
        "deps": "graph",
    }


def test_a_project_is_stored_as_described(project, ada):
    assert project.memberships.get().role == Role.OWNER
    kinds = {task.name: task.kind for task in project.tasks.all()}
    assert list(kinds.values()) == ["spans", "tags", "classes", "tree", "relations"]
    assert Task.objects.get(name="links").parent.name == "entities"
    assert Task.objects.get(name="tree").is_open
    labels = Task.objects.get(name="entities").labels
    assert list(labels.values_list("name", "position", "colour", "key")) == [
        ("PER", 0, 0, "p"),
        ("LOC", 1, 1, "l"),
    ]


def test_a_command_uses_a_name_once(project):
    with pytest.raises(Conflict, match="a project 'Harbour' already"):
        create_project(spec={"name": "Harbour", "tasks": TASKS})


def test_nobody_learns_the_names_of_projects_of_others(project, django_user_model):
    olga, bo = (django_user_model.objects.create_user(name) for name in ("olga", "bo"))
    mine = create_project(spec={"name": "Harbour", "tasks": TASKS}, owner=olga)
    with pytest.raises(Conflict, match="a project 'Harbour' already"):
        create_project(spec={"name": "Harbour", "tasks": TASKS}, owner=olga)
    other = create_project(spec={"name": "Quay", "tasks": TASKS}, owner=bo)
    update_project(project=other, changes={"name": "Harbour"}, actor=bo)
    with pytest.raises(Refused, match=rf"Several projects .* number .*{mine.pk} \(of olga\)"):
        find_project("Harbour")
    assert find_project(str(other.pk)) == other


def test_labels_added_later_continue_colours_and_keys(project):
    task = project.tasks.get(name="entities")
    added = add_labels(task=task, names=["LOC", "PLACE", "ORG", "PLACE"])
    assert [(label.name, label.position, label.colour) for label in added] == [
        ("PLACE", 2, 2),
        ("ORG", 3, 3),
    ]
    keys = list(Label.objects.filter(task=task).exclude(key="").values_list("key"))
    assert len(keys) == len(set(keys))


def test_a_task_is_added_with_keys_of_its_own(project):
    task = add_task(
        project=project,
        task={"name": "more", "kind": "relations", "parent": "entities", "labels": ["inside"]},
    )
    assert (task.position, task.parent.name) == (5, "entities")
    assert task.labels.get().key == "I"  # whatever "in" has in another task
    with pytest.raises(InvalidInput, match="name: The task 'more' is there already"):
        add_task(project=project, task={"name": "more", "kind": "classes", "labels": ["x"]})
    with pytest.raises(InvalidInput, match=r"^parent: No spans task"):
        add_task(project=project, task={"name": "n", "kind": "relations", "parent": "pos"})


def test_a_task_that_takes_a_key_for_itself_moves_the_label_that_had_it(db):
    spans = {"name": "t", "kind": "spans", "labels": [{"name": "ROAD", "key": "r"}, "SEA"]}
    project = create_project(spec={"name": "P", "tasks": [spans]})
    links = {"name": "l", "kind": "relations", "parent": "t", "labels": ["to"]}
    add_task(project=project, task=links)
    keys = dict(Label.objects.values_list("name", "key"))
    assert keys == {"ROAD": "o", "SEA": "s", "to": "T"}


def test_a_stated_key_of_a_new_task_is_kept_or_refused(project):
    def task(name, key):
        return {"name": name, "kind": "tags", "labels": [{"name": "X", "key": key}]}

    assert add_task(project=project, task=task("a", "z")).labels.get().key == "z"
    assert add_task(project=project, task=task("b", "z")).labels.get().key == "z"
    with pytest.raises(InvalidInput, match="labels.0.key: The key 'a' cannot be used for 'X'"):
        add_task(project=project, task=task("c", "a"))


def test_a_project_is_changed_field_by_field(project):
    update_project(project=project, changes={"overlap": 3, "guidelines": "Be brief."})
    project.refresh_from_db()
    assert (project.overlap, project.guidelines, project.name) == (3, "Be brief.", "Harbour")
    with pytest.raises(InvalidInput, match="Did you mean 'overlap'"):
        update_project(project=project, changes={"overlaps": 3})


def test_a_deleted_project_leaves_nothing_behind(project, ada):
    delete_project(project=project)
    assert not Project.objects.exists()
    assert not Label.objects.exists()
    assert ada.pk


def test_the_command_creates_a_project(db, tmp_path, capsys):
    file = tmp_path / "project.toml"
    file.write_text(TOML)
    call_command("create_project", str(file))
    assert "'Harbour'" in capsys.readouterr().out
    assert Project.objects.get().overlap == 2
    call_command("create_project", "--template", "ner", "--name", "Second")
    assert Project.objects.filter(name="Second").exists()


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("overlap = 2", "overlap = 'two'", 3),
        ("overlap = 2", "overlap = = 2", 3),
        ('kind = "classes"', 'kind = "class"', 12),
        ('parent = "entities"', 'parent = "entity"', 18),
        ('labels = ["Arrival", "Delay"]', 'lables = ["Arrival", "Delay"]', 13),
    ],
)
def test_the_command_names_file_and_line_of_a_problem(db, tmp_path, old, new, line):
    file = tmp_path / "project.toml"
    file.write_text(TOML.replace(old, new))
    with pytest.raises(CommandError) as caught:
        call_command("create_project", str(file))
    assert f"{file}:{line}: " in str(caught.value)
    assert caught.value.returncode == 1
    assert not Project.objects.exists()
