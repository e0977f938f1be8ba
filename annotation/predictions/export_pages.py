"""Taking data out, people's answers and the model's, in every format that can be brought in."""

import tempfile
from collections.abc import Iterator
from typing import IO

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from annotation.accounts.access import get_project
from annotation.accounts.log import record
from annotation.corpora.export_records import ALL, SENTENCES
from annotation.corpora.exports import (
    ANNOTATOR,
    PREDICTED,
    export_corpus,
    which_of,
)
from annotation.corpora.jobs import export_file, safe_file_name, start_export
from annotation.corpora.selectors import count_sentences
from annotation.errors import Refused
from annotation.formats.format import formats, get_format
from annotation.jobs.pages import find
from annotation.jobs.services import FILES, alive_workers
from annotation.models import Annotation, Corpus, Project
from annotation.predictions.services import start_prediction
from annotation.rounds.selectors import find_model
from annotation.web.errors import show_refusal
from annotation.web.frame import render_in_project

SMALL_SENTENCES = 20_000  # what is written while the person waits; the rest is the worker's
IN_MEMORY_BYTES = 8 * 1024 * 1024
LABELS = (
    ("final", "final answers: gold, else what people say together, else the one answer"),
    ("gold", "gold alone"),
    ("all", "everybody's answers, side by side"),
    ("suggestions", "suggestions"),
    ("none", "no labels, the sentences alone"),
)


MODEL_LABELS = (
    ("final+model", "final answers, and the model's for the rest; each says whose it is"),
    ("model", "the model's answers to what nobody answered"),
)


class ExportForm(forms.Form):
    """What to write, and how."""

    format = forms.ChoiceField()
    labels = forms.ChoiceField()
    corpus = forms.ModelChoiceField(
        Corpus.objects.none(), required=False, empty_label="all corpora, one after the other"
    )
    sentences = forms.ChoiceField(choices=list(SENTENCES.items()), required=False)
    round = forms.TypedChoiceField(coerce=int, empty_value=None, required=False)
    tasks = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen: all that have answers. A format without room for one of them says "
        "so; plain text is the sentences alone.",
    )

    as_suggestions = forms.BooleanField(
        label="Offer the model's answers to annotators, too", required=False
    )

    def __init__(self, *args: object, project: Project, has_model: bool) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        people = (
            Annotation.objects.filter(task__project=project)
            .order_by("author__username")
            .values_list("author__username", flat=True)
            .distinct()
        )
        own = [(f"{ANNOTATOR}{name}", f"answers of {name}") for name in people]
        names = project.tasks.values_list("name", flat=True)
        choices = {
            "format": [(name, format.title) for name, format in formats().items()],
            "labels": [*LABELS, *(MODEL_LABELS if has_model else ()), *own],
            "tasks": [(name, name) for name in names],
            "round": [
                ("", "whatever asked for them"),
                *(
                    (number, f"what round {number} asked for")
                    for number in project.rounds.order_by("-number").values_list(
                        "number", flat=True
                    )
                ),
            ],
        }
        for field, values in choices.items():
            self.fields[field].choices = values  # type: ignore[attr-defined]
        self.fields["corpus"].queryset = project.corpora.order_by("pk")  # type: ignore[attr-defined]


@login_required
@require_http_methods(["GET", "POST"])
def export(request: HttpRequest, project_id: int) -> HttpResponse | FileResponse:
    """Show the form, or write a file: now if it is small, else in the worker."""
    project = get_project(request.user, project_id)
    has_model = _has_model(project)
    form = ExportForm(request.POST or None, project=project, has_model=has_model)
    form.initial["format"] = _likely_format(project)
    if request.method == "POST" and form.is_valid():
        try:
            return _export(request, project, form)
        except Refused as refusal:
            show_refusal(form, refusal)
    context = {
        "form": form,
        "n_sentences": count_sentences(project),
        "has_rounds": project.rounds.exists(),
        "has_model": has_model,
        "is_worker_alive": bool(alive_workers(timezone.now(), FILES)),
    }
    status = 400 if form.errors else 200
    return render_in_project(
        request, "annotation/export.html", project, "data", context, status=status
    )


def _likely_format(project: Project) -> str:
    """Return the format of the newest corpus, else the one that carries everything."""
    newest = project.corpora.order_by("-pk").values_list("format", flat=True).first()
    carries_labels = newest in formats() and bool(get_format(newest).kinds)
    return newest if newest and carries_labels else "jsonl"


def _export(
    request: HttpRequest, project: Project, form: ExportForm
) -> HttpResponse | FileResponse:
    wanted = dict(form.cleaned_data)
    corpus = wanted.pop("corpus")
    wanted["sentences"] = wanted["sentences"] or ALL
    as_suggestions = wanted.pop("as_suggestions")
    if wanted["labels"] in PREDICTED:
        _refuse_part(wanted["sentences"], wanted["round"])
        job = start_prediction(
            project=project,
            created_by=request.user,
            format=wanted["format"],
            labels=wanted["labels"],
            corpora=[corpus.name] if corpus else [],
            tasks=wanted["tasks"],
            as_suggestions=as_suggestions,
        )
        return redirect("job", project.pk, job.pk)
    n_sentences = corpus.n_sentences if corpus else count_sentences(project)
    if n_sentences > SMALL_SENTENCES or get_format(wanted["format"]).is_heavy:
        names = [corpus.name] if corpus else []
        job = start_export(project=project, created_by=request.user, corpora=names, **wanted)
        return redirect("job", project.pk, job.pk)
    which = which_of(project, wanted.pop("sentences"), wanted.pop("round"))
    pieces = export_corpus(
        project=project, corpora=[corpus] if corpus else [], which=which, **wanted
    )
    record("export.taken", project=project, actor=request.user, format=wanted["format"])
    title = f"{project}-{corpus}" if corpus else str(project)
    format = get_format(wanted["format"])
    return FileResponse(
        _written(pieces),
        as_attachment=True,
        filename=safe_file_name(f"{title}{format.suffixes[0]}"),
        content_type=format.media_type,
    )


def _has_model(project: Project) -> bool:
    try:
        find_model(project)
    except Refused:
        return False
    return True


def _refuse_part(sentences: str, round: int | None) -> None:
    """Refuse the model's answers to some sentences only, which are given to all of a corpus."""
    if sentences != ALL or round is not None:
        raise Refused(
            "The model answers all sentences of the corpora that are chosen. Choose all sentences "
            "and no round, or labels without the model's."
        )


def _written(pieces: Iterator[bytes]) -> IO[bytes]:
    """Return a whole file, so that a problem at its end is told before a byte is sent."""
    file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115
    for piece in pieces:
        file.write(piece)
    file.seek(0)
    return file


@login_required
@require_GET
def job_file(request: HttpRequest, project_id: int, job_id: int) -> HttpResponse | FileResponse:
    """Send the file of a finished export."""
    project, job = find(request, project_id, job_id)
    try:
        path = export_file(job)
    except Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("export", project.pk)
    return FileResponse(path.open("rb"), as_attachment=True, filename=path.name)
