"""Words for templates: numbers as people read them, fields by name, task kinds, insights."""

import json
import re
from dataclasses import dataclass
from datetime import date, datetime

from django import forms, template
from django.template import defaultfilters
from django.templatetags.static import static
from django.utils import timezone, translation
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from annotation.jobs.insights import INSIGHTS, KnownInsight, insights_at
from annotation.models import Project, Role
from annotation.web.code_texts import said, written_number
from annotation.web.frame import page_of
from annotation.web.languages import script_words as words_of_scripts
from annotation.web.static_storage import (
    JOINED_SCRIPT,
    JOINED_STYLE,
    has_joined_files,
    page_scripts,
    page_styles,
)
from mtl_engine.kinds import KINDS, Kind

FOLDER = "annotation/annotate/kinds"
DECIMAL = re.compile(r"\d[\d,]{0,30}\.\d+")  # bounded: a text of digits alone stays linear
NOUGHT = re.compile(r"(?<![\d.,])0(?=\.\d)")
register = template.Library()


@register.simple_tag
def script_words() -> dict[str, str | list[str]]:
    """Return the texts of the scripts in the active language, none for English."""
    return words_of_scripts()


@register.filter
def grouped(number: int) -> str:
    """Return a whole number with its thousands apart, as the language does: 5214 -> 5,214."""
    return written_number(f"{number:,}")


@register.filter
def for_programs(value: object) -> object:
    """Return a number as programs read it, whatever the language; the loader asks for it."""
    return str(value) if isinstance(value, float) else value


@register.filter
def counted(number: int, words: str) -> str:
    """Return a number with the right form of its word: 1, "person,people" -> 1 person."""
    one, many = words.split(",")
    told = ngettext(one, many, number)
    if told in (one, many):  # no forms of its own
        told = gettext(told)
    return told.replace("{n}", grouped(number)) if "{n}" in told else f"{grouped(number)} {told}"


@register.filter
def as_number(value: object) -> int:
    """Return the whole number that a phrase goes by; 0 where there is none."""
    text = str(value).replace(",", "")
    return int(text) if text.isdecimal() else 0


@register.filter(name="date")
def written(moment: date | None, pattern: str = "j M Y") -> str:
    """Return a day or moment as the language writes it; patterns are texts of the catalogues."""
    return defaultfilters.date(moment, gettext(pattern))


@register.filter
def percent_of(part: int, whole: int) -> str:
    """Return a share in whole percent, never rounded up to 100: 999 of 1000 -> 99 %."""
    return f"{100 * part // whole if whole else 0} %"


@register.filter
def as_json(value: object) -> str:
    """Return a value as JSON, with all its letters."""
    return json.dumps(value, ensure_ascii=False)


@register.filter
def last_of(first: int, rows: list[object]) -> str:
    """Return the number of the last row of a list that begins with a number: 51, 50 rows -> 100."""
    return grouped(first + len(rows) - 1)


@register.filter
def most_common(counts: dict[str, int]) -> list[tuple[str, int]]:
    """Return things with their counts, the most frequent first."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


@register.filter
def words(text: str) -> list[str]:
    """Return the words of a text."""
    return text.split()


@register.filter
def as_words(name: str) -> str:
    """Return the name of an action as words: member.role_changed -> member: role changed."""
    return name.replace(".", ": ").replace("_", " ")


@register.filter
def field(form: forms.Form, name: str) -> forms.BoundField:
    """Return a form's field by its name."""
    return form[name]


@register.filter
def as_share(value: float) -> str:
    """Return a score as people write it: 0.544 -> .54, 1 -> 1.00, -0.04 -> −.04."""
    text = f"{abs(value):.2f}"
    if translation.get_language() == "en":  # other languages keep the nought
        text = text.removeprefix("0")
    return written_number(f"−{text}" if value < 0 and float(f"{value:.2f}") else text)


@register.filter
def as_cell(text: str) -> str:
    """Return a cell of a report with its numbers as pages write them: 0.69 ±0.04 -> .69 ±.04."""
    if translation.get_language() == "en":
        return NOUGHT.sub("", text)
    return DECIMAL.sub(lambda number: written_number(number[0]), text)


@register.filter
def percent(value: float) -> str:
    """Return a share in per cent: .04 -> 4 %."""
    return f"{100 * value:.0f} %"


@register.filter
def signed_points(value: float) -> str:
    """Return a difference in points with its sign: -1.34 -> −1.3."""
    return written_number(f"{'+' if value >= 0 else '−'}{abs(value):.1f}")


@register.filter
def half_width(interval: list[float]) -> str:
    """Return half of what an interval spans: [.70, .80] -> .05."""
    return as_share((interval[1] - interval[0]) / 2)


@register.filter
def since(moment: datetime | None) -> str:
    """Return how long ago something was, as people say it: just now, 5 min ago, yesterday."""
    if moment is None:
        return ""
    seconds = (timezone.now() - moment).total_seconds()
    days = (timezone.localdate() - timezone.localdate(moment)).days
    if seconds < 60:
        return gettext("just now")
    if seconds < 3600:
        return str(said(f"{int(seconds // 60)} min ago"))
    if days == 0:
        return str(said(f"{int(seconds // 3600)} h ago"))
    if days == 1:
        return gettext("yesterday")
    if days < 30:
        return str(said(f"{days} days ago"))
    return written(timezone.localdate(moment), "j M Y")


@register.filter
def state_tone(state: str) -> str:
    """Return the tone of a round's state."""
    tones = {"done": "good", "labelling": "good", "failed": "bad", "cancelled": "warn"}
    return tones.get(state, "busy")


@register.simple_tag
def kind_scripts() -> SafeString:
    """Return a script element for each kind of task; the kind's name is the script's."""
    scripts = ((static(f"{FOLDER}/{kind.name}.js"),) for kind in KINDS.annotated())
    return format_html_join("\n", '<script type="module" src="{}"></script>', scripts)


@register.simple_tag
def page_files() -> SafeString:
    """Return the styles and scripts of the annotate page: joined where files are collected."""
    is_joined = has_joined_files()
    styles = [JOINED_STYLE] if is_joined else page_styles()
    scripts = [JOINED_SCRIPT] if is_joined else page_scripts()
    return format_html(
        "{}\n{}",
        format_html_join(
            "\n", '<link rel="stylesheet" href="{}">', ((static(name),) for name in styles)
        ),
        format_html_join(
            "\n", '<script type="module" src="{}"></script>', ((static(name),) for name in scripts)
        ),
    )


@register.simple_tag
def annotated_kinds() -> list[Kind]:
    """Return the kinds of tasks that people answer, in the order of forms."""
    return KINDS.annotated()


@register.filter
def labels_on(kind: str) -> str:
    """Return where the labels of a kind are drawn: words, sentence, arcs or links."""
    return KINDS[kind].labels_on


@dataclass(frozen=True)
class InsightPage:
    """A link to an insight's page."""

    name: str
    title: str
    href: str


@register.simple_tag
def insight_pages(project: Project, place: str) -> list[InsightPage]:
    """Return the pages of the insights that belong to one of this app's pages."""
    return [
        InsightPage(kind.name, kind.title, page_of(kind.page, project))
        for kind in INSIGHTS.values()
        if kind.place == place
    ]


@register.simple_tag
def known_insights(project: Project, place: str) -> list[KnownInsight]:
    """Return the insights that one of this app's pages shows itself."""
    return insights_at(project, place)


@register.filter
def may_compute(known: KnownInsight, role: Role | None) -> bool:
    """Return whether a role may have an insight computed again."""
    return role is not None and role.reaches(known.kind.role)
