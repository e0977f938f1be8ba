"""A walk of a round that bought second looks: each is asked of whoever may answer it."""

import io

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from annotation.corpora.imports import import_corpus
from annotation.models import Annotation, Gold, Membership, Role, Round
from annotation.queue.asks import AskRow, put_asks
from annotation.rounds.settings import RoundSettings
from tests.browser.looking import overflow, picture, severe_violations

WHY = {
    "second": "One person answered; such answers are wrong about 12 times in a hundred.",
    "adjudicate": "People differ on topic: decide what counts.",
    "repair": "Suspected error: delay. Expected: arrival.",
}
SPLIT = [
    {"purpose": purpose, "title": title, "n_offered": 9, "n": n, "minutes": minutes,
     "points": 0.5, "points_per_minute": 0.5, "best_per_minute": 0.7, "why": WHY.get(purpose, "")}
    for purpose, title, n, minutes in (
        ("label", "New labels", 1, 12.0),
        ("second", "Second opinions", 1, 0.5),
        ("adjudicate", "Adjudications", 1, 0.6),
        ("repair", "Repairs of suspected errors", 1, 0.4),
    )
]  # fmt: skip


@pytest.fixture
def team(person, make_project):
    """A round with an ask of each purpose, answers to look at, and people of three roles."""
    olga, cora, ann, ben = (person(name) for name in ("olga", "cora", "ann", "ben"))
    project = make_project(olga, hour_price=30)
    for user, role in ((cora, Role.CURATOR), (ann, Role.ANNOTATOR), (ben, Role.ANNOTATOR)):
        Membership.objects.create(project=project, user=user, role=role)
    texts = "Fog closes pier two\nThe ferry is late\nA liner comes in\nThe quay is full\n"
    import_corpus(
        project=project, stream=io.BytesIO(texts.encode()), file_name="notices.txt",
        format="text", labels="none",
    )  # fmt: skip
    sentences = list(project.sentences.order_by("position"))
    topic, now = project.tasks.get(name="topic"), timezone.now()

    def answer(sentence, author, value):
        Annotation.objects.create(
            sentence=sentence, task=topic, author=author, value=value,
            created_at=now, updated_at=now,
        )  # fmt: skip

    answer(sentences[1], ann, "delay")
    answer(sentences[2], ann, "delay")
    answer(sentences[2], ben, "arrival")
    answer(sentences[3], ann, "delay")
    lengths = {"words": ["1-4"], "asked": [1.0], "pool": [1.0], "mean_asked": 4, "mean_pool": 4}
    stages = {"selecting": {"market": SPLIT, "n_asks": 4, "cost": 810.0, "lengths": lengths}}
    bought = Round.objects.create(
        project=project, number=1, state=Round.State.LABELLING, stages=stages,
        config=RoundSettings().to_dict() | {"buys_looks": True, "unit": "minutes"},
    )  # fmt: skip
    rows = [AskRow(sentences[0].pk, ["topic"], reason={"why": "It is new."}, overlap=1)]
    rows += [
        AskRow(
            sentence.pk, ["topic"], reason={"why": why, "source": "market"}, purpose=purpose,
            overlap=1, is_blind=purpose == "second", predicted_seconds=9.0,
        )
        for sentence, (purpose, why) in zip(sentences[1:], WHY.items(), strict=True)
    ]  # fmt: skip
    put_asks(project=project, round=bought, rows=rows, overlap=1, now=now)
    return project, {user.username: user for user in (olga, cora, ann, ben)}


def _choose(page, label):
    page.locator("#task-bars").get_by_text(label, exact=True).click()
    page.locator("#submit").click()


def test_an_owner_reads_how_the_minutes_are_split_and_everybody_gets_their_kind_of_ask(
    open_page, team
):
    project, people = team
    page = open_page(people["olga"])
    page.goto(f"/projects/{project.pk}/rounds/1/")
    split = page.locator("[data-market]")
    for row in SPLIT:
        expect(split).to_contain_text(row["title"])
    expect(split).to_contain_text("People differ on topic")
    title = split.get_by_text("Repairs of suspected errors").bounding_box()
    assert title["width"] > title["height"]  # in words, not letter by letter
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for width in (390, 1400):
            page.set_viewport_size({"width": width, "height": 900})
            assert overflow(page) == 0, (scheme, width)
            picture(page, f"market-round-{scheme}-{width}")
        assert severe_violations(page) == []

    ben = open_page(people["ben"], viewport={"width": 390, "height": 844})
    ben.goto(f"/projects/{project.pk}/annotate/")
    why = ben.locator("#why")
    expect(why).to_contain_text("Why this sentence?")
    _choose(ben, "other")  # a new label
    expect(why).to_contain_text("Second opinion")
    expect(why).to_contain_text("wrong about 12 times")  # open on a phone, too
    assert ben.locator("#sentence").get_by_text("delay").count() == 0  # he does not see hers
    picture(ben, "market-second-390")
    _choose(ben, "arrival")
    expect(ben.locator("#empty")).to_be_visible()  # curators' asks are not his

    cora = open_page(people["cora"])
    cora.goto(f"/projects/{project.pk}/annotate/")
    why = cora.locator("#why")
    expect(why).to_contain_text("People differ: decide")
    picture(cora, "market-adjudicate-1400")
    _choose(cora, "arrival")
    expect(why).to_contain_text("Is this an error?")
    expect(why).to_contain_text("Expected: arrival")
    picture(cora, "market-repair-1400")
    _choose(cora, "arrival")
    expect(cora.locator("#empty")).to_be_visible()
    told = dict(Gold.objects.values_list("sentence__text", "source"))
    assert told == {"A liner comes in": "adjudicated", "The quay is full": "reviewed"}
    assert set(Gold.objects.values_list("value", flat=True)) == {"arrival"}
    assert Annotation.objects.filter(author=people["ann"], value="delay").count() == 3
