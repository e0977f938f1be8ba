"""Two small projects and sentences for them, made by hand-written patterns."""

import random
from typing import Any

TRAVEL = {
    "name": "Travel questions",
    "description": "Questions to a travel assistant.",
    "guidelines": "Mark each slot with its words and no more.",
    "overlap": 2,
    "tasks": [
        {"name": "Slots", "kind": "spans", "labels": ["from", "to", "day"]},
        {"name": "Intent", "kind": "classes", "labels": ["flight", "fare", "luggage"]},
    ],
}

HARBOUR = {
    "name": "Harbour notices",
    "description": "Notices of a harbour office.",
    "guidelines": "Mark vessels and places. A date is a weekday or a day of the month.",
    "language": "en",
    "lease_minutes": 30,
    "tasks": [
        {
            "name": "Entities",
            "kind": "spans",
            "labels": ["VESSEL", "PLACE", "DATE"],
            "nested": True,
            "guidelines": "Without articles.",
            "target": 0.8,
        },
        {"name": "Words", "kind": "tags", "labels": ["NOUN", "VERB", "OTHER"]},
        {"name": "Topic", "kind": "classes", "labels": ["arrival", "departure", "repair"]},
        {"name": "Syntax", "kind": "tree", "labels": []},
        {
            "name": "Relations",
            "kind": "relations",
            "parent": "Entities",
            "labels": ["calls at"],
            "pairs": {"calls at": [["VESSEL", "PLACE"]]},
        },
    ],
}

CITIES = ["Bergen", "Lübeck", "Porto", "Gdańsk", "Trieste", "Kraków", "Aarhus", "Cork"]
DAYS = ["Monday", "Tuesday", "Friday", "Sunday"]
SHIPS = ["Aurora", "Meridian", "Kittiwake", "Halcyon", "Petrel"]
QUESTIONS = {
    "flight": "Which planes go from {from} to {to} on {day} ?",
    "fare": "How much is a ticket from {from} to {to} ?",
    "luggage": "May I bring two bags to {to} on {day} ?",
}
NOTICES = {"arrival": "reaches", "departure": "leaves", "repair": "docks in"}


def travel_rows(n: int) -> list[dict[str, Any]]:
    """Return n different questions with slots and intent."""
    rng = random.Random(5)
    rows: dict[str, dict[str, Any]] = {}
    while len(rows) < n:
        intent = rng.choice(sorted(QUESTIONS))
        start, end = rng.sample(CITIES, 2)
        values = {"from": start, "to": end, "day": rng.choice(DAYS)}
        tokens, slots = [], []
        for i, word in enumerate(QUESTIONS[intent].split()):
            name = word.strip("{}")
            is_slot = word.startswith("{")
            tokens.append(values[name] if is_slot else word)
            if is_slot:
                slots.append([i, i + 1, name])
        row = _row(f"q{len(rows):02d}", tokens, {"Slots": slots, "Intent": intent})
        rows.setdefault(row["text"], row)
    return list(rows.values())


def harbour_rows(n: int) -> list[dict[str, Any]]:
    """Return n different notices with an answer to every task."""
    rng = random.Random(6)
    rows: dict[str, dict[str, Any]] = {}
    while len(rows) < n:
        topic = rng.choice(sorted(NOTICES))
        verb = NOTICES[topic].split()
        ship, place, day = rng.choice(SHIPS), rng.choice(CITIES), rng.choice(DAYS)
        number = str(rng.randint(2, 9))
        tokens = ["The", ship, number, *verb, place, "on", day, "."]
        at = 3 + len(verb)
        labels = {
            "Entities": [
                [1, 2, "VESSEL"], [1, 3, "VESSEL"], [at, at + 1, "PLACE"], [at + 2, at + 3, "DATE"],
            ],
            "Words": [
                "OTHER", "NOUN", "OTHER", "VERB", *["OTHER"] * (len(verb) - 1),
                "NOUN", "OTHER", "NOUN", "OTHER",
            ],
            "Topic": topic,
            "Syntax": [
                [2, "det"], [4, "nsubj"], [2, "nummod"], [0, "root"],
                *[[at + 1, "case"]] * (len(verb) - 1),
                [4, "obj"], [at + 3, "case"], [4, "obl"], [4, "punct"],
            ],
            "Relations": [[1, 3, at, at + 1, "calls at"]],
        }  # fmt: skip
        row = _row(f"n{len(rows):02d}", tokens, labels)
        rows.setdefault(row["text"], row)
    return list(rows.values())


def _row(key: str, tokens: list[str], labels: dict[str, Any]) -> dict[str, Any]:
    return {"id": key, "text": " ".join(tokens), "tokens": tokens, "labels": labels}
