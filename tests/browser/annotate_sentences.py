"""Sentences that are hard to show: long, right to left, without spaces, hostile."""

import random

from tests.browser.annotate_fixtures import Given, suggestion

SLOT_TASKS = [
    {
        "name": "Slots",
        "kind": "spans",
        "labels": ["room", "temperature", "start", "end", "device", "level"],
    },
    {
        "name": "Intent",
        "kind": "classes",
        "labels": ["Set heating", "Set lights", "Plan absence", "Ask status", "Other"],
    },
]
SLOTS = "keep the nursery at nineteen degrees from six tomorrow morning until we are back".split()
ENTITY_TASKS = [
    {"name": "Entities", "kind": "spans", "labels": ["PER", "ORG", "LOC", "DATE"], "nested": True},
    {"name": "Words", "kind": "tags", "labels": ["NOUN", "VERB", "ADP", "PROPN", "PUNCT"]},
    {"name": "Syntax", "kind": "tree", "labels": ["nsubj", "obl", "case", "flat", "root", "punct"]},
    {"name": "Links", "kind": "relations", "parent": "Entities", "labels": ["works for", "in"]},
]


def slots() -> Given:
    """Return slots and an intent as a phone shows them."""
    spans = [[2, 3, "room"], [4, 6, "temperature"], [7, 10, "start"], [10, 14, "end"]]
    items = [{"value": span, "confidence": 0.57, "others": []} for span in spans]
    intents = [
        {
            "value": "Set heating",
            "confidence": 0.74,
            "others": [{"value": "Plan absence", "confidence": 0.21}],
        }
    ]
    return Given(
        SLOTS,
        {
            "Slots": suggestion(spans, 0.57, items),
            "Intent": suggestion("Set heating", 0.74, intents),
        },
        reason={"why": "Chosen for both tasks: reading it once pays twice."},
        confidences={"Slots": 0.57, "Intent": 0.74},
    )


def arabic() -> Given:
    """Return a sentence from right to left with a Latin name and a number in it."""
    tokens = "قال جون سميث من New York Times إن الميناء أغلق في 2020 .".split()
    tree = [
        [0, "root"], [1, "nsubj"], [2, "flat"], [5, "case"], [2, "obl"], [5, "flat"], [5, "flat"],
        [10, "case"], [10, "nsubj"], [1, "obl"], [12, "case"], [10, "obl"], [1, "punct"],
    ]  # fmt: skip
    tags = "VERB PROPN PROPN ADP PROPN PROPN PROPN ADP NOUN VERB ADP NOUN PUNCT".split()
    return Given(
        tokens,
        {
            "Entities": suggestion([[1, 3, "PER"], [4, 7, "ORG"], [11, 12, "DATE"]], 0.7, []),
            "Words": suggestion(tags, 0.9, []),
            "Syntax": suggestion(tree, 0.6, []),
            "Links": suggestion([[1, 3, 4, 7, "works for"]], 0.6, []),
        },
    )


def japanese() -> Given:
    """Return words that are written together, with combining marks and an emoji among them."""
    tokens = [
        "東京",
        "湾",
        "で",
        "Zoë\u0308",
        "さん",
        "👩‍🚀",
        "が",
        "フェリー",
        "に",
        "乗っ",
        "た",
        "。",
    ]
    ends, offsets = 0, []
    for token in tokens:
        offsets.append([ends, ends + len(token)])
        ends += len(token)
    return Given(
        tokens,
        {"Entities": suggestion([[0, 2, "LOC"], [3, 5, "PER"]], 0.7, [])},
        offsets=offsets,
    )


def long_sentence(m: int = 200, n_relations: int = 60) -> Given:
    """Return m words with a whole tree, spans and relations; always the same."""
    rng = random.Random(7)
    syllables = "ka ri mo ten sul va do per lin gra to me".split()
    tokens = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(m)]
    spans = [[i, i + 2, rng.choice(["PER", "ORG", "LOC", "DATE"])] for i in range(0, m - 2, 4)]
    links = set()
    while len(links) < min(n_relations, len(spans) * 2):
        a, b = rng.sample(range(len(spans)), 2)
        if abs(a - b) < 8:
            links.add((*spans[a][:2], *spans[b][:2], rng.choice(["works for", "in"])))
    return Given(
        tokens,
        {
            "Entities": suggestion(spans, 0.6, []),
            "Syntax": suggestion(projective_tree(m), 0.6, []),
            "Links": suggestion(sorted(list(link) for link in links), 0.6, []),
        },
        tasks=["Entities", "Syntax", "Links"],
    )


def projective_tree(m: int) -> list[list[object]]:
    """Return a tree of m words in which every clause of five hangs on its second word."""
    tree: list[list[object]] = []
    for i in range(m):
        clause, place = divmod(i, 5)
        head = clause * 5 + 2
        if place != 1:
            tree.append([min(head, m), ["nsubj", "", "obl", "case", "flat"][place]])
        else:
            tree.append([0, "root"] if clause == 0 else [(clause - 1) // 2 * 5 + 2, "obl"])
    return tree


HOSTILE = "<img src=x onerror=document.title='broken'>"
HOSTILE_TASKS = [
    {
        "name": f"<b>{HOSTILE}"[:60],
        "kind": "spans",
        "labels": [f"<script>alert(1)</script>{HOSTILE}", "</script><b>x"],
        "guidelines": HOSTILE,
    },
    {"name": "Type", "kind": "classes", "labels": [HOSTILE, "javascript:alert(1)"]},
]


def hostile() -> Given:
    """Return words that would run if they were markup."""
    return Given([HOSTILE, "</script>", "{{7*7}}", "&lt;b&gt;"], reason={"why": HOSTILE})
