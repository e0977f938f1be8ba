"""The tasks of a project as a form: one row per task, labels as lines."""

from collections.abc import Mapping
from typing import Any

from django import forms
from rest_framework import serializers

from annotation.errors import Problem
from annotation.projects.spec import PairsField
from mtl_engine.kinds import KINDS

HUES = tuple("blue orange green rose olive violet brick moss sky umber slate teal".split(" "))
PATTERNS = ("solid", "double", "hatched", "battlement", "comb", "beads")


class KindSelect(forms.Select):
    """Kinds that say, each in its option, which fields of the row a task of the kind has."""

    def create_option(self, name: str, value: Any, *rest: Any, **more: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *rest, **more)
        kind = KINDS.get(str(value))
        if kind is not None:
            option["attrs"] |= {
                "data-nests": kind.may_nest,
                "data-documents": kind.may_be_of_document,
                "data-links": kind.parent_kind or False,
                "data-pairs": kind.may_have_two_parents,
            }
        return option


class TaskForm(forms.Form):
    """One task; which of its values fit together is checked where projects are read."""

    name = forms.CharField(max_length=60, required=False)
    kind = forms.ChoiceField(
        choices=lambda: [(kind.name, kind.title) for kind in KINDS.annotated()],
        required=False,
        widget=KindSelect,
    )
    labels = forms.CharField(
        required=False,
        widget=forms.Textarea({"rows": 5, "spellcheck": "false", "class": "mono"}),
        help_text="One label per line. A tree or relations may leave this empty: the labels then "
        "come with the imported data.",
    )
    parent = forms.CharField(
        label="Of the spans of",
        max_length=60,
        required=False,
        widget=forms.TextInput({"list": "span-tasks", "autocomplete": "off"}),
        help_text="The name of the spans task above. May be empty if there is only one.",
    )
    second_parent = forms.CharField(
        label="To the spans of",
        max_length=60,
        required=False,
        widget=forms.TextInput({"list": "span-tasks", "autocomplete": "off"}),
        help_text="Where relations end, if in the spans of another task. Empty: the same task.",
    )
    nested = forms.BooleanField(label="Spans may lie inside each other", required=False)
    document = forms.BooleanField(label="Answered once per document", required=False)
    open = forms.BooleanField(label="An import may bring new labels", required=False)

    # What a template says and the form does not show, as JSON.
    pairs = forms.JSONField(required=False, widget=forms.HiddenInput)
    guidelines = forms.CharField(required=False, widget=forms.HiddenInput)

    def clean_pairs(self) -> dict[str, list[list[str]]]:
        """Return the pairs of the template."""
        try:
            return PairsField().to_internal_value(self.cleaned_data["pairs"] or {})
        except serializers.ValidationError as refusal:
            raise forms.ValidationError(list(map(str, refusal.detail))) from refusal


TaskFormSet = forms.formset_factory(TaskForm, extra=0, max_num=40)


def rows_of(spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the form rows of a project's description, for example of a template."""
    return [
        {**task, "labels": "\n".join(str(label) for label in task.get("labels", []))}
        for task in spec.get("tasks", [])
    ]


def tasks_of(formset: "forms.BaseFormSet[TaskForm]") -> list[dict[str, Any]]:
    """Return the tasks of a valid form as a project's description has them."""
    filled = [form.cleaned_data for form in formset if form.cleaned_data]
    tasks = [(row["name"], row["kind"]) for row in filled]
    made = [task_of(row, tasks) for row in filled]
    labels = {task["name"]: set(task["labels"]) for task in made}
    return [_with_pairs_of(task, labels) for task in made]


def _with_pairs_of(task: dict[str, Any], labels: Mapping[str, set[str]]) -> dict[str, Any]:
    """Return a task without the pairs of its template, which no form shows, that fit no label."""
    if not task.get("pairs"):
        return task
    first = labels.get(task["parent"], set())
    second = labels.get(task["second_parent"] or task["parent"], set())
    fitting = {
        relation: [[a, b] for a, b in rows if a in first and b in second]
        for relation, rows in task["pairs"].items()
        if relation in labels[task["name"]]
    }
    return task | {"pairs": {relation: rows for relation, rows in fitting.items() if rows}}


def show_problems(formset: "forms.BaseFormSet[TaskForm]", problems: list[Problem]) -> list[Problem]:
    """Add the problems with tasks (tasks.1.labels.0) to their rows, and return the others."""
    filled = [form for form in formset if form.cleaned_data]
    others = []
    for problem in problems:
        head, _, rest = problem.path.partition(".")
        number, _, rest = rest.partition(".")
        if head == "tasks" and number.isdecimal() and int(number) < len(filled):
            form = filled[int(number)]
            field = rest.partition(".")[0]
            form.add_error(field if field in form.fields else None, problem.message)
        else:
            others.append(problem)
    return others


def task_of(row: Mapping[str, Any], tasks: list[tuple[str, str]]) -> dict[str, Any]:
    """Return one task as a project's description has it; ``tasks`` (name, kind) it may link."""
    task = {
        "name": row["name"],
        "kind": row["kind"],
        "labels": [line.strip() for line in row["labels"].splitlines() if line.strip()],
        "guidelines": row["guidelines"],
    }
    if row["open"]:
        task["open"] = True
    if row["kind"] not in KINDS:
        return task
    kind = KINDS[row["kind"]]
    if kind.may_nest:
        task["nested"] = row["nested"]
    if kind.may_be_of_document:
        task["document"] = row["document"]
    if kind.parent_kind is not None:
        parents = [name for name, of_kind in tasks if of_kind == kind.parent_kind]
        task["parent"] = row["parent"] or (parents[0] if len(parents) == 1 else "")
    if kind.may_have_two_parents:
        task["second_parent"] = row["second_parent"]
        task["pairs"] = row["pairs"]
    return task


def colour_name(index: int) -> str:
    """Return a colour of the palette as its hue and its pattern: 13 -> orange, hatched."""
    turn, hue = divmod(index, len(HUES))
    return f"{HUES[hue]}, {PATTERNS[(index + turn) % len(PATTERNS)]}"


COLOURS = tuple((i, colour_name(i)) for i in range(len(HUES) * len(PATTERNS)))
