"""Working styles: annotators' actions as mixtures of shared behaviours; no verdict on a person.

The method names styles by number and actions as the annotate page logs them; the words, pictures
and advice for people who never saw a log are made here.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from annotation.errors import Refused
from annotation.jobs.insights import InsightKind, NoSettings, register_insight
from annotation.jobs.services import Progress
from annotation.models import Job, Project, Role, Sentence, Submission

NEWEST = 2000  # answers that are described
N_EXAMPLES = 3  # sentences shown of each style

ACCEPT, REJECT, MARK, CORRECT, BACK, OTHER = "accept reject mark correct back other".split()
FAMILIES = {
    ACCEPT: "accepts suggestions",
    MARK: "marks by hand",
    CORRECT: "changes what is marked",
    REJECT: "rejects suggestions",
    BACK: "undoes steps",
    OTHER: "something else",
}
COLOURS = {ACCEPT: 0, MARK: 2, CORRECT: 1, REJECT: 3, BACK: 4, OTHER: 10}  # of palette.css
ACTIONS = {
    "suggestion.accept": (ACCEPT, "accepts a suggestion"),
    "suggestions.accept": (ACCEPT, "accepts all suggestions"),
    "suggestion.reject": (REJECT, "rejects a suggestion"),
    "span.add": (MARK, "marks words"),
    "spans.add": (MARK, "marks the same words everywhere"),
    "class.choose": (MARK, "chooses a class"),
    "classes.set": (MARK, "adds a class"),
    "tags.set": (MARK, "tags a word"),
    "tags.paint": (MARK, "tags several words"),
    "tree.attach": (MARK, "attaches a word"),
    "graph.add": (MARK, "draws a link"),
    "graph.addAll": (MARK, "draws a link"),
    "relation.add": (MARK, "draws a link"),
    "attribute.set": (MARK, "gives a span an attribute"),
    "span.piece": (MARK, "adds words to a span in pieces"),
    "span.relabel": (CORRECT, "changes a label"),
    "span.resize": (CORRECT, "moves a border"),
    "classes.swap": (CORRECT, "changes a class"),
    "attribute.swap": (CORRECT, "changes an attribute"),
    "classes.unset": (CORRECT, "removes a class"),
    "relation.relabel": (CORRECT, "changes the label of a link"),
    "relation.reverse": (CORRECT, "reverses a link"),
    "delete": (CORRECT, "deletes something"),
    "replace": (CORRECT, "takes another version"),
    "undo": (BACK, "undoes a step"),
    "redo": (BACK, "redoes a step"),
    "note.set": (OTHER, "writes a note"),
}


@dataclass(frozen=True)
class Way:
    """What a style is called, what it means, and what can be done with knowing it."""

    title: str
    words: str
    advice: str
    page: str  # where to look
    page_words: str


ALL_AT_ONCE = Way(
    title="Takes all suggestions at once",
    words="One key accepts whatever the model suggests.",
    advice="Quick, and right where the model is. See whether people who saw no suggestion say the "
    "same; if they do not, show fewer (blind share) or ask a second person.",
    page="agreement",
    page_words="Do suggestions influence answers?",
)
ONE_BY_ONE = Way(
    title="Checks suggestions one by one",
    words="Suggestions are accepted one after the other.",
    advice="Careful, with the model's help. Where nearly all are accepted, the key that accepts "
    "them together (Shift+Enter) saves time.",
    page="agreement",
    page_words="How good are the suggestions?",
)
SOME = Way(
    title="Takes some suggestions, marks the rest",
    words="The model's part is accepted, the rest is marked by hand.",
    advice="The model knows a part of the work. A new round teaches it more of the rest.",
    page="plan-round",
    page_words="Plan a round",
)
BACK_AND_FORTH = Way(
    title="Goes back and forth",
    words="Steps are often taken back and done again.",
    advice="Something is hard to do or hard to decide. Look at the examples together; a key may be "
    "unknown, or the guidelines silent.",
    page="inbox",
    page_words="What people asked",
)
CORRECTS = Way(
    title="Marks, then corrects",
    words="Much of what is marked, or suggested, is changed before it is submitted.",
    advice="Labels or borders may be unclear. Look at the examples and write the rule into the "
    "guidelines of the task.",
    page="tasks",
    page_words="Tasks and guidelines",
)
BY_HAND = Way(
    title="Marks by hand",
    words="Answers are built from nothing; suggestions play no part.",
    advice="Before the first model everybody works like this. Later, see whether suggestions are "
    "shown and whether they are good enough to use.",
    page="agreement",
    page_words="How good are the suggestions?",
)


def compute(project: Project, settings: NoSettings, progress: Progress) -> dict[str, Any]:
    """Return the styles of a project's work, or the reason why there are none."""
    from analysis.errors import AnalysisError  # what follows loads scipy
    from analysis.methods.sequential_lda.working_styles import ActionSequence, find_working_styles

    progress("describing", 0, None)
    rows = Submission.objects.filter(project=project).order_by("-id")
    sequences, sentences = [], dict[tuple[str, ...], list[int]]()
    for name, when, seconds, sentence, logged in rows.values_list(
        "annotator__username", "submitted_at", "seconds", "lease__ask__sentence", "actions"
    )[:NEWEST]:
        actions = tuple(action["kind"] for action in logged)
        sequences.append(ActionSequence(name, when, actions, seconds))
        sentences.setdefault(actions, []).append(sentence)
    try:
        found = find_working_styles(sequences).as_json()
    except AnalysisError as error:
        return {"found": None, "reason": str(error)}
    for style in found["styles"]:
        typical = [i for one in style["typical"] for i in sentences[tuple(one["steps"])]]
        style["examples"] = list(dict.fromkeys(typical))[:N_EXAMPLES]
    return {"found": {**found, "notes": _notes(found)}, "reason": ""}


def shown_styles(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return stored styles as pages show them: in words, with a picture and what to do."""
    ids = [i for style in found["styles"] for i in style.get("examples", ())]
    texts = dict(Sentence.objects.filter(pk__in=ids).values_list("pk", "text"))
    return [
        {
            **style,
            "way": way,
            "title": title,
            "parts": _parts(style),
            "typical": [
                {"steps": _runs(one["steps"]), "count": one["count"]} for one in style["typical"]
            ],
            "examples": [(i, texts[i]) for i in style.get("examples", ()) if i in texts],
        }
        for style, (way, title) in zip(found["styles"], _ways(found), strict=True)
    ]


def shown_mixtures(mixtures: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return stored mixtures with the parts of a bar each, and their time as a time."""
    return [
        {
            **one,
            "start": datetime.fromisoformat(one["start"]),
            "parts": _bar((k, share["mean"]) for k, share in enumerate(one["shares"])),
        }
        for one in mixtures
    ]


def _families(style: Mapping[str, Any]) -> Counter[str]:
    """Return the share of each family among a style's actions."""
    shares: Counter[str] = Counter()
    for action, share in style.get("actions") or [mark[:2] for mark in style["marks"]]:
        shares[ACTIONS.get(action, (OTHER, ""))[0]] += share
    return shares


def _way(style: Mapping[str, Any]) -> Way:
    shares = _families(style)
    at_once = dict(style.get("actions") or ()).get("suggestions.accept", 0.0)
    if shares[BACK] >= 0.15:
        return BACK_AND_FORTH
    if shares[CORRECT] + shares[REJECT] >= 0.3:
        return CORRECTS
    if shares[ACCEPT] >= 0.6:
        return ALL_AT_ONCE if at_once >= shares[ACCEPT] / 2 else ONE_BY_ONE
    return SOME if shares[ACCEPT] >= 0.15 else BY_HAND


def _ways(found: Mapping[str, Any]) -> list[tuple[Way, str]]:
    """Return each style's way and a title that no other style has."""
    ways = [_way(style) for style in found["styles"]]
    titles = [way.title for way in ways]
    for words in ("in about {mean_length:.0f} steps", "{mean_seconds:.0f} s"):
        times = Counter(titles)
        titles = [
            f"{title}, {words.format(**{'mean_seconds': 0.0, **style})}"
            if times[title] > 1
            else title
            for title, style in zip(titles, found["styles"], strict=True)
        ]
    return list(zip(ways, titles, strict=True))


def _parts(style: Mapping[str, Any]) -> list[dict[str, Any]]:
    shares = _families(style)
    words = [(FAMILIES[name], name, shares[name]) for name in FAMILIES if shares[name] >= 0.005]
    bar = _bar((COLOURS[name], share) for _, name, share in words)
    return [{**part, "words": said} for part, (said, _, _) in zip(bar, words, strict=True)]


def _bar(shares: Iterable[tuple[int, float]]) -> list[dict[str, Any]]:
    """Return the pieces of a bar of 100: their colours, where they begin, how long they are."""
    parts: list[dict[str, Any]] = []
    start = 0.0
    for colour, share in shares:
        parts.append({"colour": colour, "share": share, "at": f"{start:.2f}"})
        parts[-1]["size"] = f"{100 * share:.2f}"
        start += 100 * share
    return parts


def _runs(steps: Sequence[str]) -> list[dict[str, Any]]:
    """Return a sequence with equal neighbours as one: what is done, how often."""
    return [
        {
            "colour": COLOURS[ACTIONS.get(action, (OTHER, ""))[0]],
            "words": ACTIONS.get(action, (OTHER, action))[1],
            "n": len(list(group)),
        }
        for action, group in groupby(steps)
    ]


def _notes(found: Mapping[str, Any]) -> list[str]:
    """Return what an owner may want to look at, never what to think of it."""
    titles = [title for _, title in _ways(found)]
    few = [one for one in found["annotators"] if not one["is_described"]]
    notes = [
        f"{one['annotator']}: 1 sentence is too little to describe."
        if one["n_sequences"] == 1
        else f"{one['annotator']}: {one['n_sequences']} sentences are too few to describe."
        for one in few
    ]
    for change in found["changes"]:
        early, late = (datetime.fromisoformat(change[key]) for key in ("early", "late"))
        notes.append(
            f"{change['annotator']}: '{titles[change['style']]}' was "
            f"{100 * change['before']:.0f} % of the work from {_day(early)} on and is "
            f"{100 * change['after']:.0f} % from {_day(late)} on. Compare some sentences "
            "of both; the guidelines, the suggestions or the texts may have changed."
        )
    return notes


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%b %Y}"


def _inputs(project: Project) -> Any:
    newest = Submission.objects.filter(project=project).order_by("-id").values_list("id").first()
    return newest[0] if newest else 0


def _check(project: Project) -> None:
    if not project.shows_working_styles:
        raise Refused("Working styles are switched off. An owner switches them on under Settings.")


WORKING_STYLES = register_insight(
    InsightKind(
        name="working_styles",
        title="Working styles",
        compute="analysis.insights.working_styles.compute",
        inputs=_inputs,
        check=_check,
        is_wanted=lambda project: project.shows_working_styles,
        role=Role.OWNER,
        job=Job.Kind.RESEARCH,
        page="working-styles",
        place="settings",
    )
)
