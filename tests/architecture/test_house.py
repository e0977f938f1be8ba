"""The rules of the house hold for the product, and each of them can fail."""

from pathlib import Path

import pytest

from tests.architecture import house

ROOT = Path(__file__).resolve().parents[2]
MOST_FILES = 166  # before a new one, look for the module whose concept it is part of
SQL_PLACES = ("annotation/queue/store.py", "annotation/archive/")
SQL_OF_ITS_OWN = {
    "annotation/management/commands/serve.py": "an advisory lock, which the ORM has not"
}
READ_WHERE_KEPT = {  # the queue of jobs and what is read of it stand in one module
    f"annotation.jobs.services.{name}" for name in ("Progress", "TRAINING", "alive_workers")
}
# Who needs a room above, and why that is no cycle: it is loaded by name when it is asked for.
LOOKS_FOR = {
    "annotation": {},
    "analysis": {("sweep", "studies"): "the registry finds kinds of studies by their files"},
    "mtl_engine": {("kinds", "heads"): "a kind makes its head, and only then loads torch"},
}


def test_annotation_never_imports_analysis():
    assert house.imports_of(ROOT, "annotation", ("analysis",)) == []


@pytest.mark.parametrize("package", LOOKS_FOR)
def test_rooms_need_each_other_in_one_direction(package):
    edges = house.room_edges(ROOT, package)
    assert len(edges) > 30
    for edge in LOOKS_FOR[package]:
        del edges[edge]
    for group in house.cycles(edges):
        within = {e: edges[e] for e in edges if set(e) <= set(group)}
        pytest.fail(f"{group} need each other: {within}")


@pytest.mark.parametrize("package", ["annotation", "analysis"])
def test_pages_stand_above_services_and_services_above_selectors(package):
    found = house.upward_imports(ROOT, package)
    assert [line for line in found if line.split()[-1] not in READ_WHERE_KEPT] == []


def test_no_module_lies_loose_beside_the_rooms():
    assert house.loose_modules(ROOT, "annotation") == {"apps", "bridge", "errors"}


def test_a_module_beside_the_rooms_is_found(build):
    root = build(queue__asks="", storable="A = 1\n")
    assert house.loose_modules(root, "annotation") == {"storable"}


@pytest.mark.parametrize("package", LOOKS_FOR)
def test_every_room_is_on_the_map(package):
    told = (ROOT / "docs" / "architecture.md").read_text()
    places = {path.parent for path in house.with_content(ROOT, package)}
    rooms = {path.relative_to(ROOT).parts[1] for path in places if path.name != package}
    assert {room for room in rooms - {"migrations"} if f"`{package}/{room}`" not in told} == set()


def test_the_app_stays_a_house_that_one_can_know():
    assert 100 < len(house.with_content(ROOT, "annotation")) <= MOST_FILES


def test_files_with_content_are_counted_without_markers_and_migrations(build):
    root = build(
        queue____init__='"""The queue."""\n',
        queue__asks="import json\n\nASKS = 1\n",
        migrations__0001_initial="import json\n\nA = 1\n",
    )
    names = [path.name for path in house.with_content(root, "annotation")]
    assert names == ["asks.py"]


def _who_needs_the_wiring(root):
    return [edge for edge in house.room_edges(root, "annotation") if edge[1] in house.WIRING]


def test_nobody_needs_the_wiring():
    assert _who_needs_the_wiring(ROOT) == []


def test_whoever_needs_the_wiring_is_found(build):
    root = build(web__urls="", queue__api="from annotation.web.urls import PAGES")
    assert _who_needs_the_wiring(root) == [("queue", "urls")]


def test_pages_views_forms_and_selectors_never_write():
    assert house.writes(ROOT, "annotation") == []


def test_sql_is_written_in_two_places():
    found = house.raw_sql(ROOT, "annotation", SQL_PLACES)
    files = {line.split(":")[0] for line in found}
    assert files == set(SQL_OF_ITS_OWN), found


@pytest.fixture
def build(tmp_path):
    """Return a function that writes a small house of rooms."""

    def write(**files):
        for name, text in files.items():
            path = tmp_path / "annotation" / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write


@pytest.mark.parametrize(
    "line",
    [
        "import analysis",
        "from analysis.methods import forecast",
        "def page():\n    from analysis.web.pages import studies",
        "if TYPE_CHECKING:\n    import analysis.sweep",
        "run('analysis.insights.jobs.compute')",
    ],
)
def test_an_import_of_the_app_above_is_found_wherever_it_stands(build, line):
    root = build(rounds__pages=line)
    assert len(house.imports_of(root, "annotation", ("analysis",))) == 1


@pytest.mark.parametrize(
    "line",
    [
        "from annotation.rounds.services import launch",
        "from annotation.rounds import services",
        "from annotation import rounds",
        "from ..rounds import services",
        "def submit():\n    import annotation.rounds.services",
        "later('annotation.rounds.services.launch')",
    ],
)
def test_a_cycle_between_rooms_is_found_by_every_kind_of_import(build, line):
    root = build(
        rounds__services="from annotation.projects.services import rename",
        projects__services="from annotation.queue.asks import put_asks",
        queue__asks=line,
        jobs__services="from annotation.queue.asks import put_asks",
    )
    assert house.cycles(house.room_edges(root, "annotation")) == [["projects", "queue", "rounds"]]


def test_rooms_in_one_direction_make_no_cycle_and_neither_does_the_wiring(build):
    root = build(
        web__urls="from annotation.queue import api",
        web__frame="",
        queue__api="from annotation.web.frame import render\nfrom annotation.queue import asks",
        queue__asks="from annotation.models import Ask",
        models__queue="",
    )
    edges = house.room_edges(root, "annotation")
    assert set(edges) == {("urls", "queue"), ("queue", "web"), ("queue", "models")}
    assert house.cycles(edges) == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("queue__selectors", "from annotation.jobs.services import run"),
        ("queue__selectors", "from annotation.jobs import services"),
        ("queue__services", "def later():\n    from annotation.jobs.pages import job"),
        ("queue__leases", "from annotation.web.forms import Search"),
        ("queue__history_api", "from annotation.jobs.task_pages import job"),
        ("queue__pages", "import annotation.jobs.api"),
        ("queue__forms", "from annotation.jobs.services import run"),
        ("models__queue", "from annotation.queue.selectors import count"),
    ],
)
def test_an_import_from_below_is_found(build, module, line):
    below = ("queue__selectors", "web__forms")
    others = (f"jobs__{name}" for name in ("services", "pages", "task_pages", "api"))
    root = build(**{**dict.fromkeys((*below, *others), ""), module: line})
    assert len(house.upward_imports(root, "annotation")) == 1


def test_pages_may_ask_for_all_below_them_and_the_wiring_for_pages(build):
    root = build(
        queue__pages="from annotation.queue import forms, leases, selectors, services",
        queue__services="from annotation.queue.selectors import count",
        queue__selectors="from annotation.models import Ask\nfrom annotation.queue import leases",
        **dict.fromkeys(("queue__forms", "queue__leases", "models____init__"), ""),
        web__urls="from annotation.queue import pages",
        apps="def ready():\n    run('annotation.queue.pages.ask')",
    )
    assert house.upward_imports(root, "annotation") == []


@pytest.mark.parametrize(
    "line",
    [
        "Lease.objects.create(ask=1)",
        "lease.save()",
        "lease.save(update_fields=['state'])",
        "project.tasks.all().delete()",
        "Lease.objects.filter(pk=1).update(state='live')",
        "leases.update(state='live')",
        "Ask.objects.bulk_create(rows)",
        "project.memberships.add(member)",
        "project.memberships.set([])",
        "Lease.objects.get_or_create(pk=1)",
        "connection.cursor()",
        "cursor.execute('DELETE FROM annotation_lease')",
        "Lease.objects.raw('UPDATE annotation_lease SET state = 1 RETURNING *')",
    ],
)
@pytest.mark.parametrize(
    "module", ["queue__api", "queue__pages", "queue__selectors", "adjudication__agreement_pages"]
)
def test_a_write_behind_a_door_is_found(build, line, module):
    root = build(**{module: f"def view(request):\n    {line}"})
    assert len(house.writes(root, "annotation")) == 1


def test_services_write_and_doors_may_fill_sets_and_dicts(build):
    root = build(
        queue__services="Lease.objects.create(ask=1)",
        queue__pages="context.update({'a': 1})\nnames.add('x')\nform.add_error(None, 'x')",
    )
    assert house.writes(root, "annotation") == []


@pytest.mark.parametrize(
    "line",
    [
        "with connection.cursor() as cursor:\n    pass",
        "cursor.executemany('INSERT INTO a VALUES (1)', [])",
        "connection.connection.execute('SELECT 1')",
        "Ask.objects.raw('SELECT 1')",
        "Ask.objects.extra(where=['1 = 1'])",
        "Ask.objects.annotate(x=RawSQL('SELECT 1', []))",
    ],
)
def test_sql_outside_its_places_is_found(build, line):
    root = build(rounds__services=line, queue__store=line, archive__bulk=line)
    found = house.raw_sql(root, "annotation", SQL_PLACES)
    assert {place.split(":")[0] for place in found} == {"annotation/rounds/services.py"}
