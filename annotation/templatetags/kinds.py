"""What templates ask of the task kinds: their scripts, their words, where labels are drawn."""

from django import template
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotation.web.static_storage import (
    JOINED_SCRIPT,
    JOINED_STYLE,
    has_joined_files,
    page_scripts,
    page_styles,
)
from mtl_engine.kinds import KINDS, Kind

register = template.Library()

FOLDER = "annotation/annotate/kinds"


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
