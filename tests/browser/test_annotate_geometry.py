"""Places of words, arcs and chips: pure numbers, computed in a real browser."""

import itertools

import pytest

LAYOUT = """async (input) => {
  const { layoutSentence } = await import("/annotation/annotate/geometry/layout.js");
  return layoutSentence(input);
}"""
BIDI = """async ({ tokens, language }) => {
  const bidi = await import("/annotation/annotate/geometry/bidi.js");
  const base = bidi.baseDirection(tokens, language);
  const order = bidi.visualOrder(tokens.map(bidi.wordDirection), base);
  return [base, order.map((i) => tokens[i]).join(" ")];
}"""


def _words(*widths):
    return [{"width": width} for width in widths]


def _arc(i, head, dep, label_width=20):
    return {"id": i, "from": head, "to": dep, "labelWidth": label_width}


def _pieces(layout, layer="above"):
    return [piece for line in layout[layer] for piece in line]


def test_words_fill_lines_and_a_closing_mark_never_starts_one(modules):
    words = _words(40, 40, 40, 10)
    words[3] |= {"isGlued": True, "isClosing": True}
    layout = modules.evaluate(LAYOUT, {"words": words, "width": 135, "gap": 7})
    assert [(line["first"], line["end"]) for line in layout["lines"]] == [(0, 2), (2, 4)]
    assert [place["x"] for place in layout["places"]] == [0, 47, 0, 42]


def test_every_sentence_of_a_document_starts_a_line(modules):
    words = _words(40, 40, 40, 40)
    words[1]["startsLine"] = words[3]["startsLine"] = True
    layout = modules.evaluate(LAYOUT, {"words": words, "width": 900, "gap": 7})
    lines = [(line["first"], line["end"]) for line in layout["lines"]]
    assert lines == [(0, 1), (1, 3), (3, 4)]


def test_narrower_gaps_save_a_line_with_a_lone_word(modules):
    layout = modules.evaluate(LAYOUT, {"words": _words(40, 40, 40), "width": 127, "gap": 7})
    assert [place["x"] for place in layout["places"]] == [0, 43, 86]


def test_an_arc_lies_above_all_that_it_contains(modules):
    tree = [_arc("in", 1, 2), _arc("mid", 0, 2), _arc("out", 0, 3), _arc("root", None, 0)]
    layout = modules.evaluate(LAYOUT, {"words": _words(*[60] * 4), "width": 900, "arcs": tree})
    lanes = {piece["arc"]["id"]: piece["lane"] for piece in _pieces(layout)}
    assert lanes == {"in": 0, "mid": 1, "out": 2, "root": 3}  # its name would lie on them


def test_arcs_side_by_side_share_a_lane_but_not_across_a_wide_label(modules):
    words = _words(*[60] * 6)
    for width, lanes in ((20, [0, 0]), (300, [0, 1])):
        tree = [_arc("a", 0, 1, width), _arc("b", 3, 4, width)]
        layout = modules.evaluate(LAYOUT, {"words": words, "width": 900, "arcs": tree})
        assert [piece["lane"] for piece in _pieces(layout)] == lanes


def test_legs_of_a_projective_tree_never_cross_an_arc(modules):
    heads = [2, 5, 2, 5, 0, 8, 8, 5, 10, 8, 5]  # of 11 words, from 1
    tree = [_arc(i, head - 1 if head else None, i, 30) for i, head in enumerate(heads)]
    for width in (2000, 330):
        layout = modules.evaluate(
            LAYOUT, {"words": _words(*[70] * 11), "width": width, "arcs": tree}
        )
        assert _crossings(layout) == []


def _crossings(layout):
    """Return pairs of pieces of which one's leg passes through the other's horizontal part."""
    found = []
    for line in layout["above"]:
        for tall, low in itertools.permutations(line, 2):
            legs = [tall["x1"]] * bool(tall["left"]) + [tall["x2"]] * bool(tall["right"])
            if tall["lane"] <= low["lane"] or low["isRoot"]:
                continue
            found += [(tall, low) for x in legs if low["x1"] < x < low["x2"]]
    return found


def test_a_name_steps_aside_where_a_leg_would_cross_it(modules):
    spans = [{"id": i, "start": i, "end": i + 1, "labelWidth": 30} for i in range(5)]
    links = [_arc("low", 0, 2), _arc("high", 1, 4)]  # they cross whatever one does
    given = {
        "words": _words(*[90] * 5),
        "width": 900,
        "rails": spans,
        "links": links,
        "gap": 10,
    }
    low, high = _pieces(modules.evaluate(LAYOUT, given), "links")
    assert (low["x1"], low["x2"], high["x1"]) == (15, 215, 115)
    assert low["nameX"] == 115 - 20  # 10 for half its name, 5 for air, in steps of 5


def test_an_arc_is_cut_at_a_line_break_and_open_there(modules):
    tree = [_arc("a", 0, 2)]
    layout = modules.evaluate(LAYOUT, {"words": _words(100, 100, 100), "width": 210, "arcs": tree})
    first, second = _pieces(layout)
    assert (first["line"], first["left"], first["right"]) == (0, "from", None)
    assert (second["line"], second["left"], second["right"]) == (1, None, "to")
    assert (second["x1"], second["x2"]) == (0, 50)
    assert [first["isLabelled"], second["isLabelled"]] == [True, True]


def test_inner_spans_hang_nearest_and_relations_hold_what_is_free_of_a_chip(modules):
    spans = [
        {"id": "out", "start": 0, "end": 3, "labelWidth": 30},
        {"id": "in", "start": 0, "end": 1, "labelWidth": 60},
    ]
    layout = modules.evaluate(LAYOUT, {"words": _words(50, 50, 50), "width": 500, "rails": spans})
    rows = {spans[piece["index"]]["id"]: piece["row"] for piece in _pieces(layout, "rails")}
    assert rows == {"out": 1, "in": 0}
    outer, inner = layout["anchors"]
    assert (outer["mid"], outer["width"]) == (15, 30)
    assert (inner["mid"], inner["width"]) == (46, 28)  # 60 wide, of which 32 hang over the outer


def test_right_to_left_lines_start_at_the_right_and_arcs_follow(modules):
    words = [{"width": 50, "direction": "rtl"} for _ in range(3)]
    tree = [_arc("a", 0, 2)]
    layout = modules.evaluate(
        LAYOUT, {"words": words, "width": 300, "arcs": tree, "direction": "rtl", "gap": 10}
    )
    assert [place["x"] for place in layout["places"]] == [250, 190, 130]
    (piece,) = _pieces(layout)
    assert (piece["x1"], piece["left"], piece["x2"], piece["right"]) == (155, "to", 275, "from")


@pytest.mark.parametrize(
    ("tokens", "language", "base", "visual"),
    [
        ("the ferry left", "en", "ltr", "the ferry left"),
        ("سفينة في الميناء", "ar", "rtl", "الميناء في سفينة"),
        ("قال New York Times إن", "ar", "rtl", "إن New York Times قال"),
        ("في 10 - 20", "ar", "rtl", "20 - 10 في"),
        ("see שלום עולם now please", "en", "ltr", "see עולם שלום now please"),
        ("12 !", "he", "rtl", "! 12"),
        ("only English", "he", "ltr", "only English"),
    ],
)
def test_words_stand_as_the_bidirectional_algorithm_has_them(
    modules,
    tokens,
    language,
    base,
    visual,
):
    given = {"tokens": tokens.split(), "language": language}
    assert modules.evaluate(BIDI, given) == [base, visual]


def test_a_span_over_mixed_directions_has_a_rail_for_each_stretch(modules):
    directions = ["rtl", "ltr", "ltr"]
    words = [{"width": 50, "direction": direction} for direction in directions]
    spans = [{"id": "s", "start": 0, "end": 2, "labelWidth": 20}]
    given = {"words": words, "width": 300, "rails": spans, "direction": "rtl", "gap": 10}
    layout = modules.evaluate(LAYOUT, given)
    # on screen from left to right: word 1, word 2, word 0; word 2 is not in the span
    assert [(p["x1"], p["x2"]) for p in _pieces(layout, "rails")] == [(250, 300), (130, 180)]
