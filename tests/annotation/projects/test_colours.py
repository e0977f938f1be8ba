"""The palette: readable in both themes, and apart for every eye."""

import re
from itertools import combinations
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders

from annotation.projects.forms import COLOURS
from tests.annotation.web.colour_science import contrast, distance

THEMES = {"light": 0, "dark": 1}
TEXT, SIGN = 4.5, 3.0  # WCAG 2 AA
GROUNDS = ("page", "surface", "sunken", "raised")
PAIRS = [
    *((ink, ground, TEXT) for ink in ("ink", "ink-2", "ink-3", "accent") for ground in GROUNDS),
    *((ink, "accent-tint", TEXT) for ink in ("ink", "ink-2", "accent")),
    *((ink, "grid", TEXT) for ink in ("ink", "ink-2")),
    *(("accent-ink", ground, TEXT) for ground in ("accent", "accent-strong")),
    *((state, ground, TEXT) for state in ("good", "warn", "bad") for ground in GROUNDS),
    *((state, f"{state}-tint", TEXT) for state in ("good", "warn", "bad")),
    *(
        (ink, f"{state}-tint", TEXT)
        for ink in ("ink", "ink-2")
        for state in ("good", "warn", "bad")
    ),
    *((layer, "surface", TEXT) for layer in ("tree", "tree-guess", "relation", "relation-guess")),
    *((line, ground, SIGN) for line in ("line-strong", "control", "focus") for ground in GROUNDS),
    ("focus", "accent-tint", SIGN),
]


def _css(name):
    return Path(finders.find(f"annotation/{name}")).read_text()


def _colours(text):
    """Return name -> (light, dark) of every light-dark() pair of hex colours."""
    found = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", text)
    return {name: (light, dark) for name, light, dark in found}


def _labels():
    """Return colour index -> its ink, tint, rail and pattern, as the rules of palette.css say."""
    labels = {}
    for selectors, body in re.findall(r"((?:\[data-colour[^{]+))\{([^}]+)\}", _css("palette.css")):
        pattern = re.search(r"--label-pattern: (.+);", body, re.DOTALL)
        values = {"pattern": pattern[1]} if pattern else _colours(body)
        for index in re.findall(r'"(\d+)"', selectors):
            labels.setdefault(int(index), {}).update(values)
    return labels


@pytest.mark.parametrize("theme", THEMES)
def test_every_pair_of_colours_in_use_reads_at_aa(theme):
    colours = _colours(_css("tokens.css"))
    faint = {
        f"{ink} on {ground}": round(ratio, 2)
        for ink, ground, needed in PAIRS
        if (ratio := contrast(colours[ink][THEMES[theme]], colours[ground][THEMES[theme]])) < needed
    }
    assert faint == {}


@pytest.mark.parametrize("theme", THEMES)
def test_every_label_reads_at_aa_on_its_tint_and_on_the_page(theme):
    tokens, mode, faint = _colours(_css("tokens.css")), THEMES[theme], {}
    for index, label in _labels().items():
        ink, tint, rail = (label[f"label-{part}"][mode] for part in ("ink", "tint", "rail"))
        word, surface, sunken = (tokens[name][mode] for name in ("ink", "surface", "sunken"))
        for name, one, other, needed in (
            ("ink on tint", ink, tint, TEXT),
            ("ink on surface", ink, surface, TEXT),
            ("words on tint", word, tint, TEXT),
            ("rail on surface", rail, surface, SIGN),
            ("rail on sunken", rail, sunken, SIGN),
        ):
            if contrast(one, other) < needed:
                faint[f"{index} {name}"] = round(contrast(one, other), 2)
    assert faint == {}


def test_all_72_label_colours_differ_in_hue_or_pattern():
    labels = _labels()
    assert sorted(labels) == list(range(72)) == [index for index, _ in COLOURS]
    looks = {(label["label-rail"], label["pattern"]) for label in labels.values()}
    assert len(looks) == 72
    assert len({words for _, words in COLOURS}) == 72


@pytest.mark.parametrize("theme", THEMES)
def test_no_eye_confuses_two_of_the_first_twelve_with_one_pattern(theme):
    labels = _labels()
    near = {
        (a, b): round(apart, 3)
        for a, b in combinations(range(12), 2)
        if labels[a]["pattern"] == labels[b]["pattern"]
        and (apart := distance(*(labels[i]["label-rail"][THEMES[theme]] for i in (a, b)))) < 0.13
    }
    assert near == {}


def test_only_tokens_and_palette_name_a_colour():
    folder = Path(finders.find("annotation/tokens.css")).parent
    naming = re.compile(r"#[0-9a-fA-F]{3,8}\b(?!\")|\b(?:rgb|hsl|oklch)\(")
    offenders = [
        path.name
        for path in folder.rglob("*.css")
        if path.name not in ("tokens.css", "palette.css") and naming.search(path.read_text())
    ]
    assert offenders == []


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
