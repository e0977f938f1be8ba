"""Bringing in a file: looked at first, then stored as a whole or not at all."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import get_user_model
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.accounts.access import get_project
from annotation.corpora.jobs import (
    AUTO,
    Upload,
    discard_upload,
    find_upload,
    keep_upload,
    read_now,
    reading_here,
    start_import,
)
from annotation.corpora.report import ImportChoices, ImportRefused, ImportReport
from annotation.errors import Refused
from annotation.formats.format import readable_formats
from annotation.formats.records import ReadOptions
from annotation.jobs.services import FILES, alive_workers
from annotation.models import Job, Project
from annotation.web.errors import show_refusal
from annotation.web.frame import render_in_project

MOST_PAIRS = 100  # labels that are matched by hand
LABELS = (
    ("gold", "as gold", "They are right: models learn from them and are measured by them."),
    ("suggestions", "as suggestions", "A machine made them: people see, check and correct them."),
    ("annotations", "as one person's answers", "Somebody made them: they count as that person's."),
    ("none", "not at all", "Only the sentences are taken."),
)
SCHEMES = [("", "recognised"), *((name, name) for name in ("IOB1", "IOB2", "IO", "BIOES"))]
OPTIONS = (
    *("encoding", "tokeniser", "split_sentences", "scheme", "text_column", "annotator"),
    *("label_separator", "cuts_tokens"),
)


class ImportForm(forms.Form):
    """A file, its format, and what its labels are."""

    file = forms.FileField(
        required=False,
        help_text="Plain or gzipped. It stays on this server and is deleted after the import.",
    )
    upload = forms.CharField(required=False, widget=forms.HiddenInput, max_length=64)
    format = forms.ChoiceField()
    labels = forms.ChoiceField(
        label="Labels are taken",
        choices=[(value, words) for value, words, _ in LABELS],
        widget=forms.RadioSelect,
        initial="gold",
    )
    author = forms.ModelChoiceField(
        get_user_model().objects.none(),
        label="Whose answers",
        required=False,
        empty_label=None,
    )
    name = forms.CharField(
        label="Name of the corpus",
        max_length=200,
        required=False,
        help_text="Empty: the name of the file.",
    )
    language = forms.CharField(
        label="Language of the sentences",
        max_length=16,
        required=False,
        widget=forms.TextInput({"class": "short", "autocapitalize": "none"}),
        help_text="Its code: en, de, zh, ... Empty: the project's. Scores are told per language.",
    )
    tokeniser = forms.CharField(
        label="Words are cut by",
        max_length=20,
        required=False,
        widget=forms.TextInput({"class": "short", "autocapitalize": "none"}),
        help_text="For plain text: the code of a language (en, de, zh, xx for any), or whitespace. "
        "Empty: the language of the sentences. Files with words of their own keep them.",
    )
    split_sentences = forms.BooleanField(
        label="A line holds several sentences: split it", required=False
    )
    scheme = forms.ChoiceField(
        label="Tagging scheme", choices=SCHEMES, required=False, help_text="Of B-, I- columns."
    )
    columns = forms.CharField(
        max_length=400,
        required=False,
        help_text="Names of the columns, with commas, where the file has no header.",
    )
    text_column = forms.CharField(
        label="Text column", max_length=100, required=False, help_text="If not called text."
    )
    label_separator = forms.CharField(
        label="Between several labels",
        max_length=5,
        required=False,
        help_text="What parts the labels in a cell, as | in a|b. Found by itself where all are "
        "known.",
    )
    cuts_tokens = forms.BooleanField(
        label="Cut a word where a span begins or ends inside it", required=False
    )
    new_labels = forms.ChoiceField(
        label="Labels that are new",
        choices=[("refuse", "stop and tell me"), ("take", "take them")],
        required=False,
    )
    duplicates = forms.ChoiceField(
        label="Sentences that are there already",
        choices=[("keep", "take them once more"), ("skip", "leave them out")],
        required=False,
    )
    skip_bad = forms.BooleanField(
        label="Import what is good, and tell me of the rest", required=False
    )
    as_test = forms.BooleanField(
        label="These sentences are for testing: never asked, never learned from", required=False
    )
    onto_existing = forms.BooleanField(
        label="Labels for sentences that are here already", required=False
    )
    annotator = forms.CharField(
        label="Annotator in the file",
        max_length=150,
        required=False,
        help_text="Whose answers to read from a file with several people's.",
    )
    encoding = forms.CharField(
        max_length=40, required=False, widget=forms.TextInput({"class": "short"})
    )

    def __init__(self, *args: Any, project: Project, user: Any, **kwargs: Any) -> None:
        initial = {
            "format": AUTO,
            "labels": "gold",
            "encoding": "utf-8",
            "author": user.pk,
        }
        kwargs["initial"] = {**initial, **kwargs.get("initial", {})}
        super().__init__(*args, **kwargs)
        self.project = project
        people = get_user_model().objects.filter(memberships__project=project)
        own = get_user_model().objects.filter(pk=user.pk)
        fields: dict[str, Any] = self.fields
        fields["tokeniser"].widget.attrs["placeholder"] = project.language
        fields["author"].queryset = (people | own).distinct().order_by("username")
        fields["format"].choices = [
            (AUTO, "recognised from the file"),
            *((name, format.title) for name, format in readable_formats().items()),
        ]
        for task in project.tasks.all():
            self.fields[f"layer-{task.name}"] = forms.CharField(required=False, max_length=200)

    def clean(self) -> dict[str, Any]:
        """Return the values; exactly one file is there, sent now or kept from before."""
        values = super().clean() or {}
        if not values.get("file") and not values.get("upload"):
            self.add_error("file", "Choose a file.")
        return values

    def keep_file(self) -> Upload:
        """Return the file, kept on the server until it is imported."""
        file = self.cleaned_data["file"]
        if file is None:
            return find_upload(project=self.project, upload_id=self.cleaned_data["upload"])
        return keep_upload(project=self.project, file_name=file.name, chunks=file.chunks())

    def arguments(self) -> dict[str, Any]:
        """Return what an import is called with, but for the file and its format."""
        values = self.cleaned_data
        return {
            "labels": values["labels"],
            "author": values["author"] if values["labels"] == "annotations" else None,
            "name": values["name"],
            "mapping": {
                name.removeprefix("layer-"): layer
                for name, layer in values.items()
                if name.startswith("layer-") and layer and values["labels"] != "none"
            },
            "options": self._options(),
            "choices": ImportChoices(
                new_labels=values["new_labels"] or "refuse",
                duplicates=values["duplicates"] or "keep",
                skips_bad=values["skip_bad"],
                is_test=values["as_test"],
                language=values["language"],
                is_onto_existing=values["onto_existing"],
                label_map=self._label_map(),
            ),
        }

    def _label_map(self) -> dict[str, dict[str, str]]:
        """Return which labels of the file are labels of a task: fields map-TASK-LABEL."""
        found: dict[str, dict[str, str]] = {}
        for task in self.project.tasks.prefetch_related("labels"):
            names = {label.name for label in task.labels.all()}
            prefix = f"map-{task.pk}-"
            for key, value in self.data.items():
                if key.startswith(prefix) and value in names:
                    found.setdefault(task.name, {})[key.removeprefix(prefix)] = str(value)
        return found

    def _options(self) -> ReadOptions:
        values = {name: self.cleaned_data[name] for name in OPTIONS if self.cleaned_data[name]}
        values.setdefault("tokeniser", self.cleaned_data["language"] or self.project.language)
        columns = [name.strip() for name in self.cleaned_data["columns"].split(",")]
        return ReadOptions(**values, columns=tuple(filter(None, columns)))


def values_of_job(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the form values with which a job was started, to start it again."""
    options = arguments["options"]
    return {
        **{name: arguments[name] for name in ("upload", "format", "labels", "author", "name")},
        **{name: options[name] for name in OPTIONS},
        **{f"layer-{task}": layer for task, layer in arguments["mapping"].items()},
        "columns": ",".join(options["columns"]),
        **_choice_values(arguments.get("choices", {})),
    }


def _choice_values(choices: dict[str, Any]) -> dict[str, Any]:
    return {
        "new_labels": choices.get("new_labels", "refuse"),
        "duplicates": choices.get("duplicates", "keep"),
        "skip_bad": choices.get("skips_bad", False),
        "as_test": choices.get("is_test", False),
        "language": choices.get("language", ""),
        "onto_existing": choices.get("is_onto_existing", False),
    }


@login_required
@require_http_methods(["GET", "POST"])
def import_file(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show the form, look at a file, or import it."""
    project = get_project(request.user, project_id)
    if request.method == "GET":
        return _page(request, project, ImportForm(project=project, user=request.user))
    form = ImportForm(request.POST, request.FILES, project=project, user=request.user)
    if not form.is_valid():
        return _page(request, project, form, status=400)
    try:
        upload = form.keep_file()
        return _handle(request, project, form, upload)
    except Refused as refusal:
        show_refusal(form, refusal)
        return _page(request, project, form, status=400)


def _handle(
    request: HttpRequest, project: Project, form: ImportForm, upload: Upload
) -> HttpResponse:
    """Check or import a kept file: small ones now, big ones in the worker."""
    is_dry_run = "import" not in request.POST
    wanted = {
        **form.arguments(),
        "format": upload.format_of(form.cleaned_data["format"]),
        "is_dry_run": is_dry_run,
    }
    with reading_here(upload) as is_turn:
        if not is_turn:
            job = start_import(project=project, upload=upload, created_by=request.user, **wanted)
            return redirect("job", project.pk, job.pk)
        report = _import_now(request, project, upload, wanted)
    if "problems" in request.POST:
        return _problem_file(report)
    if report.corpus_id is None:
        return _report_page(request, project, form, upload, report)
    discard_upload(upload=upload)
    messages.success(
        request, f"{report.n_sentences:,} sentences are in the corpus {report.corpus_name}."
    )
    return redirect("data", project.pk)


def _import_now(
    request: HttpRequest, project: Project, upload: Upload, wanted: dict[str, Any]
) -> ImportReport:
    """Return the report of a check, an import, or an import that was refused."""
    try:
        return read_now(project=project, upload=upload, created_by=request.user, **wanted)
    except ImportRefused as refusal:
        return refusal.report


def _problem_file(report: ImportReport) -> HttpResponse:
    """Return every problem of a file as a list to keep."""
    response = HttpResponse(
        "".join(f"{problem}\n" for problem in report.problems),
        content_type="text/plain; charset=utf-8",
    )
    response["Content-Disposition"] = 'attachment; filename="problems.txt"'
    return response


def _pairs(project: Project, report: dict[str, Any], values: Any) -> list[dict[str, Any]]:
    """Return labels that a task does not have beside those it has."""
    found = []
    for task in project.tasks.prefetch_related("labels"):
        own = [label.name for label in task.labels.all() if not label.is_retired]
        unknown = report.get("unknown_labels", {}).get(task.name, {})
        ranked = sorted(unknown.items(), key=lambda row: -row[1])
        rows = [
            (name, n, values.get(f"map-{task.pk}-{name}") or _same_name(name, own))
            for name, n in ranked[:MOST_PAIRS]
        ]
        if rows:
            found.append({"task": task, "own": own, "rows": rows, "n": len(unknown)})
    return found


def _same_name(name: str, known: list[str]) -> str:
    """Return the label that differs in case and punctuation only; a guess would spoil gold."""
    folded = {_folded(label): label for label in known}
    return folded.get(_folded(name), "")


def _folded(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _report_page(
    request: HttpRequest,
    project: Project,
    form: ImportForm,
    upload: Upload,
    report: ImportReport,
) -> HttpResponse:
    """Show what an import would do, with the form to change it or to go on."""
    values = request.POST.dict() | {"upload": upload.id, "format": report.format}
    again = ImportForm(initial=values, project=project, user=request.user)
    shown = report.as_json()
    context = {
        "report": shown,
        "form": again,
        "pairs": _pairs(project, shown, request.POST),
        "mapped": {key: text for key, text in request.POST.items() if key.startswith("map-")},
        "has_file": True,
    }
    return render_in_project(request, "annotation/import_report.html", project, "data", context)


def job_response(request: HttpRequest, project: Project, job: Job) -> HttpResponse | None:
    """Show the report of an import that the worker has looked at."""
    if not job.result:
        return None
    form = ImportForm(initial=values_of_job(job.arguments), project=project, user=request.user)
    context = {
        "report": job.result,
        "form": form,
        "job": job,
        "pairs": _pairs(project, job.result, {}),
    }
    return render_in_project(request, "annotation/import_report.html", project, "data", context)


def _page(
    request: HttpRequest, project: Project, form: ImportForm, *, status: int = 200
) -> HttpResponse:
    context = {
        "form": form,
        "labels": LABELS,
        "is_worker_alive": bool(alive_workers(timezone.now(), FILES)),
    }
    return render_in_project(
        request, "annotation/import.html", project, "data", context, status=status
    )
