"""No text of any page, or of its scripts, escapes the catalogues."""

from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from analysis.models import Study
from analysis.web.services import shipped_studies
from analysis.web.urls import PAGES as ANALYSIS_PAGES
from annotation.accounts.services import create_sign_in_link, invite
from annotation.formats.format import readable_formats
from annotation.models import Flag, Job, Label, Role
from annotation.projects.spec import read_template, template_names
from annotation.rounds.settings import RoundSettings
from annotation.web.urls import PAGES
from mtl_engine.selection.registry import STRATEGIES
from tests.browser.looking import texts_of
from tests.browser.team_project import NAMES, PEOPLE, TOPICS, make_team, store_research
from tests.marked_language import escaped, marked_language

# Addresses without a page of their own: they take a form, send data, or lead on.
NO_PAGES = frozenset(
    """
    theme language single-sign-on single-sign-on-back sign-out disconnect-sign-on end-token
    change-mail confirm-address change-account job-progress cancel-job job-file dashboard-data
    standing group quota round-status cancel-round retry-round change-webhook delete-project
    delete-answers project-state delete-corpus delete-sentence end-task new-labels change-member
    let-in withdraw apply-proposal compute-insight sign-in sign-in-code
    """.split()
)
# What these tell is written for researchers and administrators, in English: records, study files.
RECORDS = frozenset("log server-log studies study new-study papers".split())
ROWS = "td, th, dd, p.small, .body.small, svg"
SETTINGS = sorted(RoundSettings.__dataclass_fields__, key=len, reverse=True)


def test_no_text_of_any_page_escapes_the_catalogues(
    open_page, person, transactional_db, live_server, settings, tmp_path, monkeypatch
):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path))
    (tmp_path / "levels.toml").write_text(
        'name = "levels"\nkind = "benchmarks.trivial_study"\nseeds = [0]\n'
        "settings = { n_rows = 3 }\nfactors = { level = [1, 2] }\n"
    )
    call_command("run_sweep", str(tmp_path / "levels.toml"), "--executor", "serial")
    admin, now = person("olga", is_superuser=True), timezone.now()
    project = make_team(admin, n_rounds=3, per_round=6)
    store_research(project)
    sentence = project.sentences.first()
    Flag.objects.create(sentence=sentence, author=admin, comment="Ann?", created_at=now)
    places = {
        "project_id": project.pk,
        "sentence_id": sentence.pk,
        "task_id": project.tasks.first().pk,
        "number": 3,
        "job_id": Job.objects.create(project=project, kind="export", created_by=admin).pk,
        "study_name": "bandit",
        "token": "",
    }
    names = _names(project)
    left, looked_at = {}, set()
    with marked_language(settings) as code:
        page = open_page(admin)
        page.context.add_cookies([{"name": "language", "value": code, "url": live_server.url}])
        page.goto(f"/projects/{project.pk}/studies/")
        places["study_id"] = Study.objects.get().pk
        for pattern in (*PAGES, *ANALYSIS_PAGES):
            if pattern.name in NO_PAGES:
                continue
            if pattern.name == "invitation":
                invited = invite(project=project, role=Role.OWNER, invited_by=admin, now=now)
                places["token"] = invited.token
            elif pattern.name == "sign-in-link":
                places["token"] = create_sign_in_link(user=admin, now=now)
            wanted = pattern.pattern.converters
            page.goto(reverse(pattern.name, kwargs={name: places[name] for name in wanted}))
            page.wait_for_load_state("networkidle")
            looked_at.add(pattern.name)
            settings_of_rounds = SETTINGS if pattern.name == "round" else ()
            texts = texts_of(page, without=ROWS if pattern.name in RECORDS else "")
            left[pattern.name] = escaped(texts, *settings_of_rounds, *names)
    assert {name: texts for name, texts in left.items() if texts} == {}
    assert len(looked_at) > 40


def _names(project):
    """Return what is called the same in every language, the longest first."""
    names = {"Harbour team", "levels", "bandit", "notices", "Ann?", "olga", *PEOPLE, *TOPICS}
    names.add(shipped_studies()["bandit"]["description"])
    names |= {name for some in NAMES.values() for name in some}
    names |= {"Deutsch", "English", "Español", "Français", "zz"}
    names |= {"CSV", "PNG", "SVG", "LAS", "F1", *STRATEGIES, *readable_formats()}
    names |= set(Label.objects.filter(task__project=project).values_list("name", flat=True))
    for rows in (project.tasks.values_list("name"), project.sentences.values_list("text")):
        names |= {text for (text,) in rows}
    names |= {word for text in [*names] if " " in text for word in text.split()}
    for template in map(read_template, template_names()):
        for task in template["tasks"]:
            names |= {task["name"], "\n".join(task.get("labels", ()))}
    return sorted(names - {""}, key=len, reverse=True)
