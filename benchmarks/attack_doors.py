"""Attacks on who may do what: access by role, forged requests, signing in."""

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode

from benchmarks.attack_target import Attack, Finding, counted
from benchmarks.attack_victim import CANARIES, PASSWORD

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
OWNED = (
    "sentence_id", "corpus_id", "task_id", "label_id", "job_id", "lease_id", "ask_id",
    "membership_id", "invitation_id", "flag_id", "submission_id", "token_id", "group_id",
    "webhook_id", "entry_id", "answer_id", "study_id", "person_id",
)  # fmt: skip
RIGHT_TOKEN = [("X-CSRFToken", "a" * 64), ("Cookie", f"csrftoken={'a' * 64}")]
NEXT_PAGES = (
    "https://evil.example/", "//evil.example", "///evil.example", "\\\\evil.example",
    "/\\evil.example", "http:evil.example", "javascript:alert(1)", "data:text/html,x",
    "https:evil.example", " //evil.example", "\t//evil.example", "//evil.example/%2f..",
    "http://127.0.0.1.evil.example/", "https://user@evil.example/",
)  # fmt: skip


def attack_access(attack: Attack) -> Finding:
    """Ask for everything of B as everybody else, and for B's things inside A."""
    ids, found, n = attack.made["ids"], [], Counter[str]()
    crossed = {**ids["B"], "project_id": ids["A"]["project_id"]}
    outsiders = ["stranger", "closed", "owner-A", "curator-A", "annotator-A", ""]
    jobs = []
    for person in outsiders:
        ways: dict[str, str] = attack.made["people"].get(person, {"nobody": ""})
        for way, secret in ways.items():
            how = {"session": secret} if way == "session" else {"token": secret}
            for kind, values in (("of B", ids["B"]), ("of B inside A", crossed)):
                for path, holes in attack.addresses(values):
                    if kind == "of B inside A" and len(holes) < 2:
                        continue  # A's own page
                    if "project_id" not in holes and not set(holes) & set(OWNED):
                        continue  # belongs to no project: what it may say is in the tests
                    jobs += [(person, way, how, kind, m, path, holes) for m in METHODS]
    attack.rng.shuffle(jobs)
    jobs = jobs[: int(len(jobs) * min(attack.scale, 1))]

    def one(job: Any) -> str | None:
        person, way, how, kind, method, path, holes = job
        status, body, _ = attack.ask(method, path, **how)
        n[str(status)] += 1
        who = f"{person or 'nobody'} by {way}: {method} {path} ({kind})"
        if status >= 500 or status == 0:
            return f"{who} answered {status}"
        if CANARIES["B"].encode() in body:
            return f"{who} shows a word of B"
        is_listing = kind == "of B inside A" and not set(holes) & set(OWNED)
        if 200 <= status < 300 and method != "OPTIONS" and not is_listing:
            return f"{who} answered {status}"
        return None

    with ThreadPoolExecutor(4) as pool:
        found = [words for words in pool.map(one, jobs) if words]
    # A number that both projects have (a round's) is A's own inside A.
    found = [words for words in found if not ("inside A" in words and "/rounds/1/" in words)]
    return Finding(
        "Access by role and scope",
        f"{len(jobs):,} requests: {len(attack.made['routes'])} routes, 7 methods, "
        f"{len(outsiders)} people who are not in B by session and tokens of 4 scopes, "
        "B's ids and B's ids inside A",
        f"answers: {counted(n)}",
        found,
    )


def attack_csrf(attack: Attack) -> Finding:
    """Send what changes something in an owner's session, without the token of a form."""
    session = attack.made["people"]["owner-A"]["session"]
    tricks: list[tuple[str, list[tuple[str, str]]]] = [
        ("no token", []),
        (
            "wrong token",
            [("X-CSRFToken", "a" * 32 + "b" * 32), ("Cookie", f"csrftoken={'a' * 64}")],
        ),
        ("foreign origin", [("Origin", "https://evil.example"), *RIGHT_TOKEN]),
        ("form type", [("Content-Type", "text/plain")]),
    ]
    found, n = [], 0
    for path, _ in attack.addresses(attack.made["ids"]["A"]):
        if path.startswith(("/sign-in/x", "/invitations/")):
            continue  # for people without a session
        for method in UNSAFE:
            for name, headers in tricks:
                n += 1
                status, _, _ = attack.ask(method, path, session=session, headers=headers)
                if status not in (400, 403, 404, 405, 413, 415):
                    found.append(f"{method} {path} with {name} answered {status}")
    return Finding("CSRF", f"{n:,} requests in an owner's session", found=found)


def attack_sign_in(attack: Attack) -> Finding:
    """Guess in parallel, use one link twelve times at once, and ask for foreign pages."""
    found = []

    def csrf() -> tuple[str, str]:
        _, body, headers = attack.ask("GET", "/sign-in/")
        cookie = re.search(r"csrftoken=(\w+)", headers.get("Set-Cookie", ""))
        field_value = re.search(rb'csrfmiddlewaretoken" value="(\w+)"', body)
        assert cookie is not None
        assert field_value is not None
        return cookie[1], field_value[1].decode()

    def post(path: str, **values: str) -> tuple[int, bytes, dict[str, str]]:
        cookie, value = csrf()
        body = urlencode({**values, "csrfmiddlewaretoken": value}).encode()
        headers = [
            ("Cookie", f"csrftoken={cookie}"),
            ("Content-Type", "application/x-www-form-urlencoded"),
        ]
        return attack.ask("POST", path, body=body, headers=headers)

    with ThreadPoolExecutor(12) as pool:
        guesses = list(
            pool.map(
                lambda i: post("/sign-in/", username="curator-B", password=f"wrong {i}"), range(40)
            )
        )
    checked = sum(status == 200 for status, _, _ in guesses)
    if checked > 10 or any(status not in (200, 429) for status, _, _ in guesses):
        found.append(f"{checked} of 40 guesses were looked at")
    link = attack.server.run("manage", "sign_in_link", "annotator-B").strip().split("/sign-in/")[1]
    with ThreadPoolExecutor(12) as pool:
        uses = list(pool.map(lambda _: post(f"/sign-in/{link}")[0], range(12)))
    if uses.count(302) != 1:
        found.append(f"one link signed in {uses.count(302)} times")
    for page in NEXT_PAGES:
        status, _, headers = post("/sign-in/", username="owner-B", password=PASSWORD, next=page)
        if status != 302 or re.match(r"(https?:)?[/\\]{2}", headers.get("Location", "//")):
            found.append(f"next={page}: {status} to {headers.get('Location')}")
    return Finding(
        "Guessing, links, redirects",
        f"40 guesses at once; 12 uses of one link at once; {len(NEXT_PAGES)} foreign `next` pages",
        f"{checked} guesses were looked at, the link worked once",
        found,
    )
