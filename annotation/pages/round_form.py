"""The form in which a round is planned: every choice in plain words, with a good default."""

from typing import Any

from django import forms

from annotation.models import Project
from annotation.round_config import WEIGHTED, RoundConfig, known_encoders

UNITS = (("minutes", "minutes"), ("sentences", "sentences"), ("cost", "cost units"))
STRATEGIES = (
    (
        "MT-RRF",
        "Joined ranks",
        "High on each task's own list of doubts, however sure it is. Best mean in our studies.",
    ),
    (
        "MT-AVG",
        "Unsure on average",
        "The tasks' mean confidence is low. Good when their confidences are comparable.",
    ),
    (
        "MT-MAX",
        "Unsure on every task",
        "Even the surest task is unsure. One reading helps all tasks.",
    ),
    (
        "MT-MIN",
        "Unsure on any task",
        "At least one task is very unsure. Finds hard corners of single tasks.",
    ),
    (
        "MT-PAR",
        "Pareto frontier",
        "No other sentence is less sure in every task. Good when tasks disagree.",
    ),
    ("MT-IND", "Each task its share", "Every task chooses its part of the batch by itself."),
    (
        "UDJS",
        "Task by task",
        "May ask a sentence for one task only. Saves time when tasks need different sentences.",
    ),
    ("RANDOM", "By chance", "No strategy: what everything else is compared with."),
)
NOTES = {
    "amount": "Annotators' time for this round, all of them together.",
    "overlap": "Two answers measure agreement and feed adjudication, at twice the time.",
    "decision": (
        "Best value prefers two short sentences to one long one when they teach more together. "
        "The Pareto frontier, shares and chance always go first in rank."
    ),
    "value": (
        "Per word, short sentences look as good as long ones; in all, a budget is not spent on the "
        "shortest."
    ),
    "scale": "As they are, a task that is always less sure than the others decides alone.",
    "diversity": (
        "Leaves out near-duplicates: the batch covers what the model is unsure of. Goes with "
        "strategies that give each sentence a value, and decides the fit to the budget itself."
    ),
    "random_share": (
        "Chosen by chance, as the control in the learning curves. Below 10 % the control becomes "
        "too noisy to read."
    ),
    "blind_share": "Suggestions save time but pull answers their way. Blind asks measure how much.",
    "test_size": "Frozen in the first round: never chosen, never trained on; scores come from it.",
    "encoder": "Reads the sentence for all tasks.",
    "architecture": (
        "Shared learns the tasks together. Add the gate when tasks seem to hurt each other."
    ),
    "loss": "Smoothing keeps the model from being too sure.",
    "confidence": "Entropy is fast. Votes ask the model ten times with dropout: ten times slower.",
    "has_temperature": "Corrects confidence on held-out sentences, so that tasks can be compared.",
    "policy": "Which task's sentences the trainer takes next.",
    "is_warm_start": (
        "Faster, but early mistakes may stick. Off: every round starts fresh and is easier to "
        "compare."
    ),
    "is_fast": "Keeps the lowest layers as they are and computes them once: about half the time.",
    "has_control": "Trains a second, smaller model on the random share, for an honest comparison.",
    "next_at_percent": "0 waits for you.",
}


class RoundForm(forms.Form):
    """All choices of a round."""

    amount = forms.FloatField(min_value=0.1, label="Budget")
    unit = forms.ChoiceField(choices=UNITS, widget=forms.RadioSelect)
    overlap = forms.ChoiceField(
        choices=[("1", "1"), ("2", "2"), ("3", "3")],
        widget=forms.RadioSelect,
        label="Answers per sentence",
    )
    strategy = forms.ChoiceField(choices=[(v, w) for v, w, _ in STRATEGIES])
    decision = forms.ChoiceField(
        choices=[("BLP", "best value (BLP)"), ("GREEDY", "first in rank (greedy)")],
        widget=forms.RadioSelect,
        label="Fit to budget",
    )
    value = forms.ChoiceField(
        choices=[("mean", "per word"), ("information", "in all")],
        widget=forms.RadioSelect,
        label="Uncertainty counts",
    )
    scale = forms.ChoiceField(
        choices=[("none", "as they are"), ("scaled", "stretched"), ("quantile", "by rank")],
        widget=forms.RadioSelect,
        label="Tasks compared",
    )
    diversity = forms.ChoiceField(
        choices=[("none", "may repeat itself"), ("facility", "cover"), ("badge", "spread out")],
        widget=forms.RadioSelect,
        label="Batch",
    )
    random_share = forms.FloatField(min_value=0, max_value=100, label="Random share")
    shows_suggestions = forms.BooleanField(required=False, label="show the model's answers")
    blind_share = forms.FloatField(min_value=0, max_value=100, label="blind for")
    test_size = forms.IntegerField(min_value=1, label="Test slice")
    encoder = forms.ChoiceField()
    architecture = forms.ChoiceField(
        choices=[
            ("ST", "one per task (ST)"),
            ("SMT", "shared (SMT)"),
            ("CMT", "shared + gate (CMT)"),
        ],
        widget=forms.RadioSelect,
    )
    loss = forms.ChoiceField(
        choices=[("plain", "plain"), ("smoothing", "label smoothing")], widget=forms.RadioSelect
    )
    confidence = forms.ChoiceField(
        choices=[("entropy", "entropy"), ("dropout", "dropout votes")], widget=forms.RadioSelect
    )
    has_temperature = forms.BooleanField(required=False, label="temperature")
    policy = forms.ChoiceField(
        choices=[
            ("joint", "all together"),
            ("uniform", "uniform"),
            ("size", "by size"),
            ("learned", "learned from earlier rounds"),
        ],
        widget=forms.RadioSelect,
        label="Task order",
    )
    is_warm_start = forms.BooleanField(required=False, label="continue from the last round's model")
    is_fast = forms.BooleanField(required=False, label="keep the lowest layers")
    has_control = forms.BooleanField(required=False, label="train a control")
    next_at_percent = forms.FloatField(min_value=0, max_value=100, label="Next round")

    def __init__(self, *args: Any, project: Project, **options: Any) -> None:
        super().__init__(*args, **options)
        self.tasks = list(project.tasks.values_list("name", flat=True))
        encoder: Any = self.fields["encoder"]
        encoder.choices = [(name, _encoder_words(name)) for name in known_encoders()]
        for name, note in NOTES.items():
            self.fields[name].help_text = note
        for i, name in enumerate(self.tasks):
            self.fields[f"weight_{i}"] = forms.IntegerField(
                min_value=0,
                max_value=100,
                required=False,
                label=name,
                widget=forms.NumberInput(attrs={"type": "range", "min": 0, "max": 100}),
            )

    def weights(self) -> list[forms.BoundField]:
        """Return the fields that say how much each task counts."""
        return [self[f"weight_{i}"] for i in range(len(self.tasks))]

    def config(self) -> dict[str, Any]:
        """Return the choices as a round's configuration."""
        data = dict(self.cleaned_data)
        given = {name: data.pop(f"weight_{i}") or 0 for i, name in enumerate(self.tasks)}
        data["overlap"] = int(data["overlap"])
        for share in ("random_share", "blind_share"):
            data[share] = data[share] / 100
        total = sum(given.values())
        are_equal = len(set(given.values())) <= 1
        if total and not are_equal and data["strategy"] in WEIGHTED:
            data["weights"] = {name: value / total for name, value in given.items()}
        return data


def initial_of(config: RoundConfig, project: Project) -> dict[str, Any]:
    """Return a configuration as the form shows it."""
    values = {**config.to_dict(), "overlap": str(config.overlap or project.overlap)}
    for share in ("random_share", "blind_share"):
        values[share] = round(100 * values[share])
    values["amount"] = f"{config.amount:g}"
    values["next_at_percent"] = f"{config.next_at_percent:g}"
    for i, name in enumerate(project.tasks.values_list("name", flat=True)):
        values[f"weight_{i}"] = round(100 * config.weights.get(name, 0.5))
    return values


def _encoder_words(name: str) -> str:
    words = {"bundled": "MiniLM, 6 layers: fast", "tiny": "tiny, learns from scratch: for trials"}
    return words.get(name, name)
