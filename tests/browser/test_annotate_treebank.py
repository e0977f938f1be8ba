"""Lemmas and features on the annotate page, by keyboard and by mouse."""

from django.utils import timezone
from playwright.sync_api import expect

from annotation.models import Gold, Sentence
from tests.browser.annotate_fixtures import Given, start, submitted, suggestion
from tests.browser.looking import picture

LEMMA = {"name": "Lemma", "kind": "lemmas", "open": True}
FEATS = {
    "name": "Feats",
    "kind": "features",
    "labels": ["Case=Acc", "Case=Nom", "Number=Plur", "Number=Sing", "Tense=Past"],
}
TOKENS = ["Dogs", "barked", "."]


def test_lemmas_are_typed_into_the_words_by_keyboard(make_queue, open_page):
    queue = make_queue([Given(TOKENS)], tasks=[LEMMA])
    page = open_page(queue.annotator)
    hands = start(page, queue, "Dogs")
    hands.press("d")
    expect(page.get_by_role("combobox", name="Text of Lemma")).to_have_value("d")
    page.keyboard.type("og")
    hands.press("Enter")
    expect(page.locator(".chip")).to_have_text(["dog"])
    hands.press("Space")
    page.keyboard.type("bark")
    hands.press("Enter")
    expect(page.locator(".chip")).to_have_text(["dog", "bark"])
    expect(page.locator("#submit")).to_contain_text("Lemma ‘.’")
    hands.press("Enter")  # what is offered: the word itself
    expect(page.locator(".chip")).to_have_text(["dog", "bark", "."])
    found = submitted(page, queue, lambda: hands.press("Enter"))
    assert found == {"Lemma": ["dog", "bark", "."]}


def test_a_lemma_is_taken_as_it_is_written(make_queue, open_page):
    queue = make_queue([Given(["Rex", "met", "Ada"])], tasks=[LEMMA])
    page = open_page(queue.annotator)
    hands = start(page, queue, "Rex")
    expect(page.locator(".labels-here button")).to_have_text(["rex", "Rex"])
    hands.press("Space")
    page.keyboard.type("Rex")
    hands.press("Enter", "Enter")
    expect(page.locator("#submit")).to_contain_text("Lemma ‘Ada’")  # inside a sentence
    hands.press("Enter")
    found = submitted(page, queue, lambda: hands.press("Enter"))
    assert found == {"Lemma": ["Rex", "met", "Ada"]}


def test_a_suggested_lemma_is_checked_accepted_and_mended_by_mouse(make_queue, open_page):
    texts = ["dog", "barke", "."]
    guess = suggestion(texts, 0.8, [{"value": text, "confidence": 0.8} for text in texts])
    queue = make_queue([Given(TOKENS, {"Lemma": guess})], tasks=[LEMMA])
    page = open_page(queue.annotator)
    hands = start(page, queue, "Dogs")
    page.locator("#accept-all").click()
    page.locator(".chip", has_text="barke").click()
    page.get_by_role("button", name="Write…").click()
    box = page.get_by_role("combobox", name="Text of Lemma")
    box.fill("bark")
    page.get_by_role("option", name="Write ‘bark’").click()
    expect(page.locator(".chip")).to_have_text(["dog", "bark", "."])
    found = submitted(page, queue, lambda: hands.press("Control+Enter"))
    assert found == {"Lemma": ["dog", "bark", "."]}


def test_features_are_set_attribute_by_attribute(make_queue, open_page):
    queue = make_queue([Given(TOKENS)], tasks=[FEATS])
    page = open_page(queue.annotator)
    hands = start(page, queue, "Dogs")

    def feature(name):
        return page.get_by_role("button", name=name, exact=True)

    feature("Number=Sing").click()
    feature("Case=Nom").click()
    expect(page.locator(".chip")).to_have_text(["Nom Sing"])
    feature("Number=Plur").click()  # another value of the attribute takes its place
    expect(page.locator(".chip")).to_have_text(["Nom Plur"])
    expect(feature("Number=Plur")).to_have_attribute("aria-pressed", "true")
    expect(feature("Number=Sing")).to_have_attribute("aria-pressed", "false")
    hands.press("ArrowRight", "Space")
    page.keyboard.type("past")
    hands.press("Enter", "_")
    expect(page.locator(".chip")).to_have_text(["Nom Plur", "Past", "–"])
    found = submitted(page, queue, lambda: hands.press("Enter"))
    assert found == {"Feats": ["Case=Nom|Number=Plur", "Tense=Past", "_"]}


def test_features_that_a_word_had_before_take_one_key_or_click(make_queue, open_page):
    again = Given(["Dogs", "bark", "."])
    queue = make_queue([Given(TOKENS), again], tasks=[FEATS])
    page = open_page(queue.annotator)
    hands = start(page, queue, "Dogs")
    for name in ("Case=Nom", "Number=Plur"):
        page.get_by_role("button", name=name, exact=True).click()
    hands.press("_")
    submitted(page, queue, lambda: hands.press("Enter"))
    expect(page.locator(".word[data-word='1']")).to_have_text("bark")
    expect(page.locator("#submit")).to_contain_text("Features ‘Nom Plur’")
    hands.press("Enter")
    page.locator(".labels-here").get_by_text("no features").click()
    hands.press("Enter")  # the full stop had none before
    expect(page.locator(".chip")).to_have_text(["Nom Plur", "–", "–"])
    submitted(page, queue, lambda: hands.press("Enter"))
    assert queue.answers(1) == {"Feats": ["Case=Nom|Number=Plur", "_", "_"]}


GRAPH_TASKS = [
    {"name": "Syntax", "kind": "tree", "labels": ["root", "nsubj", "conj", "cc"]},
    {"name": "Deps", "kind": "graph", "labels": ["root", "nsubj", "conj:and", "conj", "cc"]},
]


def test_extra_arcs_are_drawn_over_the_tree_by_keyboard_and_by_mouse(make_queue, open_page):
    tokens = ["Dogs", "bark", "and", "bite"]
    tree = [[2, "nsubj"], [0, "root"], [4, "cc"], [2, "conj"]]
    arcs = [{"value": arc, "confidence": 0.9} for arc in tree]
    far = ["4", "3.1", "conj"]
    model = suggestion([far], 0.9, [{"value": far, "confidence": 0.9}])
    given = Given(tokens, {"Syntax": suggestion(tree, 0.9, arcs), "Deps": model})
    queue = make_queue([given], tasks=GRAPH_TASKS)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Dogs")
    hands.press("Shift+A")
    hands.open_task("Deps")
    expect(page.locator("text.arc")).to_have_text(["3.1→conj"])  # an arc of an empty node
    expect(page.locator("#submit")).to_contain_text("Take over the tree")
    hands.press("b")
    own = page.locator('text.arc[data-state="own"]')
    expect(own).to_have_text(["nsubj", "root", "cc", "conj"])
    hands.go(0)
    hands.press("h", "ArrowRight", "ArrowRight", "ArrowRight", "Enter")  # one more head of Dogs
    page.keyboard.type("nsubj")
    hands.press("Enter")
    expect(page.locator("text.arc[data-extra]")).to_have_text(["3.1→conj", "nsubj"])
    hands.drag(hands.word(2), hands.word(1))
    page.get_by_role("option", name="cc", exact=True).click()
    hands.press("Backspace")  # what was made last is selected
    page.locator('text.arc[data-state="own"]', has_text="conj").click()
    hands.label("Deps", "conj:and").click()
    expect(own.filter(has_text="conj:and")).to_have_count(1)
    picture(page, "annotate-graph")
    page.locator("#accept-all").click()
    answer = submitted(page, queue, lambda: hands.press("Control+Enter"))
    assert answer["Syntax"] == tree
    assert answer["Deps"] == [
        ["1", "2", "nsubj"],
        ["1", "4", "nsubj"],
        ["2", "0", "root"],
        ["3", "4", "cc"],
        ["4", "2", "conj:and"],
        ["4", "3.1", "conj"],
    ]


def test_broken_rules_are_told_while_one_works_and_lead_to_their_words(make_queue, open_page):
    tasks = [
        {"name": "Syntax", "kind": "tree", "labels": ["root", "nsubj", "punct", "subject"]},
        {"name": "upos", "kind": "tags", "labels": ["NOUN", "VERB", "PUNCT", "NN"]},
    ]
    tree = [[2, "subject"], [0, "root"], [2, "punct"]]
    guess = {
        "Syntax": suggestion(tree, 0.9, [{"value": arc, "confidence": 0.9} for arc in tree]),
        "upos": suggestion(["NOUN", "VERB", "VERB"], 0.9, [{"value": "x", "confidence": 0.9}] * 3),
    }
    queue = make_queue([Given(TOKENS, guess)], tasks=tasks)
    queue.project.ud_validation = True
    queue.project.save()
    page = open_page(queue.annotator)
    hands = start(page, queue, "Dogs")
    expect(page.locator("#rules")).to_be_hidden()
    page.locator("#accept-all").click()
    rules = page.locator("#rules .rule")
    told = "'subject' on 'Dogs' is no universal relation, or no subtype of one."
    expect(rules).to_have_text(
        [f"error {told}", "warning punct on '.' is for PUNCT, not for VERB."]
    )
    picture(page, "annotate-rules")
    rules.nth(1).click()
    expect(page.locator(".word[data-cursor]")).to_have_text(".")
    hands.press("n")
    expect(page.locator(".word[data-cursor]")).to_have_text("Dogs")
    hands.press(hands.key_of("Syntax", "nsubj"))
    expect(rules).to_have_count(1)
    answer = submitted(page, queue, lambda: hands.press("Control+Enter"))  # a warning only
    assert answer["Syntax"][0] == [2, "nsubj"]


def test_arcs_that_tree_and_graph_have_are_drawn_once_where_they_are_read(make_queue, open_page):
    tasks = [
        {"name": "Syntax", "kind": "tree", "labels": ["root", "nsubj", "obl"]},
        {"name": "Deps", "kind": "graph", "labels": ["root", "nsubj", "nsubj:pass", "obl:in"]},
    ]
    queue = make_queue([Given(TOKENS)], tasks=tasks)
    sentence = Sentence.objects.get()
    values = {
        "Syntax": [[2, "nsubj"], [0, "root"], [2, "obl"]],
        "Deps": [
            ["1", "2", "nsubj:pass"],
            ["1", "3", "nsubj"],
            ["2", "0", "root"],
            ["3.1", "2", "obl:in"],
        ],
    }
    for name, value in values.items():
        task = queue.project.tasks.get(name=name)
        Gold.objects.create(sentence=sentence, task=task, value=value, updated_at=timezone.now())
    owner = queue.project.memberships.get(role="owner").user
    page = open_page(owner)
    page.goto(f"/projects/{queue.project.pk}/sentences/{sentence.pk}/")
    names = page.locator("tandem-sentence text.arc")
    expect(names).to_have_count(5)
    assert sorted(names.all_text_contents()) == [
        "nsubj",
        "nsubj:pass",
        "obl",
        "obl:in→3.1",
        "root",
    ]
