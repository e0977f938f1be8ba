"""A model that has left runs by public libraries alone, and says what it said here."""

import json
import os
import subprocess
import sys

import pytest
import torch

from mtl_engine.active_learning.suggest import suggest
from mtl_engine.bundle import Names, loader_source, write_portable
from mtl_engine.config import EngineConfig
from mtl_engine.ensemble import Ensemble, TrainedModel, save_ensemble
from mtl_engine.model import new_model
from mtl_engine.onnx_export import compare, export_onnx
from mtl_engine.types import TaskSpec

TASKS = (
    TaskSpec("slots", "spans", ("from city", "to city")),
    TaskSpec("pos", "tags", ("NOUN", "VERB", "PUNCT")),
    TaskSpec("intent", "classes", ("flight", "fare", "meal")),
    TaskSpec("topics", "multiclasses", ("air", "food")),
    TaskSpec("tree", "tree", ("root", "nsubj", "obj")),
    TaskSpec("things", "spans", ("PER", "LOC"), is_nested=True),
    TaskSpec("links", "relations", ("in", "of"), parent="things"),
)
SENTENCES = [
    ["Flights", "from", "Boston", "to", "DENVER", "on", "May", "7th"],
    ["ada", "Lovelace", "'s", "unbelievably-long", "compoundword", "."],
    ["meals"],
]

RUN = """
import json, sys
import spacy, tandem_model, tandem_spacy
from transformers import pipeline
assert not [name for name in sys.modules if name.split(".")[0] in ("mtl_engine", "annotation")]
sentences = json.load(open("sentences.json"))
found = {"loader": tandem_model.load(".")(sentences)}
kinds = {"slots": "token", "pos": "token", "intent": "text", "topics": "text"}
for task, kind in kinds.items():
    run = pipeline(f"{kind}-classification", model=f"transformers/{task}", trust_remote_code=True)
    if kind == "token":
        options = {"is_split_into_words": True, "aggregation_strategy": "first"}
        rows = run(sentences, ignore_labels=[], **options)
        found[task] = [[(e["word"], e["entity_group"], float(e["score"])) for e in r] for r in rows]
    else:
        rows = run([" ".join(s) for s in sentences], top_k=None)
        found[task] = [[(e["label"], e["score"]) for e in row] for row in rows]
nlp = spacy.blank("en")
nlp.add_pipe("tandem", config={"folder": "."})
docs = list(nlp.pipe(spacy.tokens.Doc(nlp.vocab, words=s) for s in sentences))
found["spacy"] = [
    {
        "ents": [[e.start, e.end, e.label_] for e in doc.ents],
        "cats": doc.cats,
        "tags": [t.tag_ for t in doc],
        "heads": [0 if t.head.i == t.i else t.head.i + 1 for t in doc],
        "deps": [t.dep_ for t in doc],
        "things": [[s.start, s.end, s.label_] for s in doc.spans["things"]],
        "relations": [[a.start, a.end, b.start, b.end, label] for a, b, label in doc._.relations],
    }
    for doc in docs
]
json.dump(found, open("found.json", "w"))
"""


@pytest.fixture(scope="module")
def model():
    made = new_model(EngineConfig(), TASKS)
    with torch.no_grad():
        made.shapes.weight.normal_(std=0.2)
        for head in made.heads:
            for weight in head.parameters():
                weight.normal_(std=0.15)
    return TrainedModel(made.eval(), {"slots": 1.7, "intent": 0.8})


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    here = tmp_path_factory.mktemp("portable")
    save_ensemble(Ensemble((model,)), here / "saved", data_hash="")
    out = here / "out"
    out.mkdir()
    write_portable(here / "saved", out, card="# A card\n")
    return out


@pytest.fixture(scope="module")
def own(model):
    rows = [{} for _ in SENTENCES]
    for one in suggest(Ensemble((model,)), SENTENCES):
        rows[one.row][one.task] = one
    return rows


@pytest.fixture(scope="module")
def found(folder):
    return say(folder, RUN)


def say(folder, code):
    """Return what another process says, which has nothing of this library on its path."""
    (folder / "sentences.json").write_text(json.dumps(SENTENCES))
    keep = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "HF_HOME")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**keep, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "cache")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads((folder / "found.json").read_text())


def test_the_loader_says_the_same_to_the_last_digit(found, own):
    for row, ours in zip(found["loader"], own, strict=True):
        assert set(row["answers"]) == set(ours)
        for task, answer in row["answers"].items():
            assert answer["value"] == json.loads(json.dumps(ours[task].value))
            assert answer["confidence"] == ours[task].confidence
            assert [i["confidence"] for i in answer["items"]] == [
                i["confidence"] for i in ours[task].items
            ]


def test_transformers_pipelines_give_the_same_tags_spans_and_classes(found, own):
    for row, ours in enumerate(own):
        tags = [group for word, group, _ in found["pos"][row] for _ in word.split()]
        assert without_repeats(tags) == without_repeats(ours["pos"].value)
        spans = [group for _, group, _ in found["slots"][row] if group != "O"]
        assert spans == [label for *_, label in ours["slots"].value]
        if not "".join(SENTENCES[row]).isalnum():
            continue  # texts are cut at punctuation, which these words have inside
        best, sure = max(found["intent"][row], key=lambda pair: pair[1])
        assert best == ours["intent"].value
        assert sure == pytest.approx(ours["intent"].items[0]["confidence"], abs=2e-3)
        assert len(found["topics"][row]) == 2


def without_repeats(tags):
    return [tag for n, tag in enumerate(tags) if n == 0 or tags[n - 1] != tag]


def test_spacy_documents_carry_every_task(found, own):
    for row, ours in zip(found["spacy"], own, strict=True):
        assert row["ents"] == ours["slots"].value
        assert row["tags"] == ours["pos"].value
        assert row["things"] == ours["things"].value
        assert row["relations"] == ours["links"].value
        assert row["heads"] == [head for head, _ in ours["tree"].value]
        labels = ["ROOT" if head == 0 else label for head, label in ours["tree"].value]
        assert row["deps"] == labels
        key = f"intent:{ours['intent'].value}"
        assert row["cats"][key] == ours["intent"].items[0]["confidence"]


SAY_NAMES = """
import json, sys
import spacy, tandem_model, tandem_spacy
from transformers import pipeline
sentences = json.load(open("sentences.json"))
model = tandem_model.load(".")
run = pipeline("token-classification", model="transformers/places", trust_remote_code=True)
options = {"is_split_into_words": True, "aggregation_strategy": "first"}
nlp = spacy.blank("en")
nlp.add_pipe("tandem", config={"folder": "."})
docs = nlp.pipe(spacy.tokens.Doc(nlp.vocab, words=s) for s in sentences)
json.dump({
    "tasks": model.tasks,
    "answers": [row["answers"] for row in model(sentences)],
    "spans": [[e["entity_group"] for e in row] for row in run(sentences, **options)],
    "ents": [[[e.start, e.end, e.label_] for e in doc.ents] for doc in docs],
}, open("found.json", "w"))
"""


def test_what_was_renamed_or_merged_since_has_its_present_name(model, own, tmp_path):
    save_ensemble(Ensemble((model,)), tmp_path / "saved", data_hash="")
    folder = tmp_path / "out"
    folder.mkdir()
    names = Names(
        {"slots": "places", "things": "who"},
        {"places": {"from city": "city", "to city": "city"}, "who": {"LOC": "PLACE"}},
    )
    write_portable(tmp_path / "saved", folder, card="# A card\n", names=names)
    found = say(folder, SAY_NAMES)
    assert found["tasks"]["places"]["labels"] == ["city"]
    assert found["tasks"]["links"]["parent"] == "who"
    for row, ours in enumerate(own):
        places = [[start, end, "city"] for start, end, _ in ours["slots"].value]
        assert found["answers"][row]["places"]["value"] == places
        assert set(found["spans"][row]) == {label for *_, label in places}
        assert found["ents"][row] == places
        who = [[s, e, {"LOC": "PLACE"}.get(label, label)] for s, e, label in ours["things"].value]
        assert found["answers"][row]["who"]["value"] == who


def test_the_loader_is_one_file_that_names_no_module_of_ours():
    source = loader_source()
    assert "mtl_engine" not in source
    compile(source, "tandem_model.py", "exec")


def test_onnxruntime_gives_the_same_scores_for_tags_spans_and_classes(model, tmp_path):
    difference = export_onnx(model.model, tmp_path)
    assert difference < 1e-3
    about = json.loads((tmp_path / "model.json").read_text())
    assert set(about["outputs"]) == {"slots", "pos", "intent", "topics"}
    pieces = model.model.encoder.read([["DENVER", "flights"], ["a"] * 30])
    assert compare(model.model, list(about["outputs"]), tmp_path / "model.onnx", pieces) < 1e-3
