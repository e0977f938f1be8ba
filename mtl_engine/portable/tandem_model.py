# mypy: ignore-errors
"""A model that answers several tasks on one sentence, loaded without Tandem.

    from tandem_model import load

    model = load("folder")                     # the folder that this file lies in
    model(["flights from Boston to Denver"])   # texts, cut into words by a simple rule
    model([["flights", "from", "Boston"]])     # or words

Each sentence gives ``{"tokens", "answers": {task: {"value", "confidence", "items"}}}``. Needed are
torch, transformers, tokenizers, safetensors and numpy. The lower part of this file holds the code
that computes the answers, as it was when the model was made: answers are the same to the last bit.
The classes below let ``transformers.pipeline(..., trust_remote_code=True)`` load the folders under
``transformers/``.
"""

import importlib
import importlib.abc
import importlib.util
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast
from transformers.modeling_outputs import SequenceClassifierOutput, TokenClassifierOutput

PACKAGE = "mtl_engine"
SOURCES: dict[str, str] = {}  # of the modules below, by name
PACKAGES: frozenset[str] = frozenset()
WORDS = re.compile(r"\w+|[^\w\s]")


class Model:
    """All tasks of a project, answered together."""

    def __init__(self, folder: str | Path = ".", device: str = "cpu") -> None:
        self.folder = Path(folder)
        self.ensemble = engine("ensemble").load_ensemble(self.folder / "model", device=device)
        names = json.loads((self.folder / "names.json").read_text(encoding="utf-8"))
        self.task_names, self.label_names = names["tasks"], names["labels"]

    @property
    def tasks(self) -> dict[str, dict[str, Any]]:
        """Return the tasks by name: kind, labels, and whether answers may nest."""
        found = {}
        for task in self.ensemble.tasks:
            name = self.task_names.get(task.name, task.name)
            labels = (self.label_names.get(name, {}).get(label, label) for label in task.labels)
            found[name] = {**task.to_dict(), "name": name, "labels": list(dict.fromkeys(labels))}
            if task.parent:
                found[name]["parent"] = self.task_names.get(task.parent, task.parent)
        return found

    def __call__(self, sentences: list[Any]) -> list[dict[str, Any]]:
        """Return the answers to sentences, which are texts or lists of words."""
        tokens = [WORDS.findall(one) if isinstance(one, str) else list(one) for one in sentences]
        found: list[dict[str, Any]] = [{"tokens": words, "answers": {}} for words in tokens]
        readable = [row for row, words in enumerate(tokens) if words]
        suggest = engine("active_learning.suggest").suggest
        for one in suggest(self.ensemble, [tokens[row] for row in readable]):
            name, value, items = self._named(one)
            answer = {"value": value, "confidence": one.confidence, "items": items}
            found[readable[one.row]]["answers"][name] = answer
        return found

    def _named(self, one: Any) -> tuple[str, Any, list[Any]]:
        """Return a task's name, the answer and its items, as they are called since the training."""
        name = self.task_names.get(one.task, one.task)
        labels = self.label_names.get(name)
        if not labels:
            return name, one.value, list(one.items)
        kind = next(task.kind for task in self.ensemble.tasks if task.name == one.task)
        kinds = engine("kinds").KINDS
        return name, *kinds[kind].rename_suggestion(one.value, one.items, labels)


def load(folder: str | Path = ".", device: str = "cpu") -> Model:
    """Return the model of a folder."""
    return Model(folder, device)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules that this file holds."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in SOURCES:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=name in PACKAGES)

    def exec_module(self, module: Any) -> None:
        source = SOURCES[module.__name__]
        exec(compile(source, f"<{module.__name__}>", "exec"), module.__dict__)


def engine(name: str) -> Any:
    """Return a module of the code that computes the answers."""
    is_held = f"{PACKAGE}.{name}" in SOURCES
    if is_held and not any(isinstance(f, _Finder) and f.of == PACKAGE for f in _finders()):
        finder = _Finder()
        finder.of = PACKAGE  # type: ignore[attr-defined]
        sys.meta_path.insert(0, finder)
        for module in sorted(SOURCES):  # kinds register themselves when they are loaded
            if module.startswith(f"{PACKAGE}.kinds."):
                importlib.import_module(module)
    return importlib.import_module(f"{PACKAGE}.{name}")


def _finders() -> list[Any]:
    return [finder for finder in sys.meta_path if hasattr(finder, "of")]


class TandemConfig(PreTrainedConfig):
    """Which task of a model a pipeline answers, and where the model lies from here."""

    model_type = "tandem"

    def __init__(self, task: str = "", model_folder: str = "../../model", **others: Any) -> None:
        self.task = task
        self.model_folder = model_folder
        super().__init__(**others)


class TandemTokenizer(PreTrainedTokenizerFast):
    """Tells besides the sub-words where words begin and how they are written."""

    def __call__(self, text: Any = None, *args: Any, **options: Any) -> Any:
        tensors = options.pop("return_tensors", None)
        found = super().__call__(text, *args, **options)
        is_batch = bool(found["input_ids"]) and isinstance(found["input_ids"][0], list)
        rows = found["input_ids"] if is_batch else [found["input_ids"]]
        is_split = options.get("is_split_into_words", False)
        owners = found.get("overflow_to_sample_mapping") or list(range(len(rows)))
        is_one = isinstance(text, str) or (is_split and not isinstance(text[0], list))
        starts = [
            _word_starts(found, row, text if is_one else text[owners[row]], is_split, len(ids))
            for row, ids in enumerate(rows)
        ]
        found["word_starts"] = starts if is_batch else starts[0]
        if tensors is not None:
            found = found.convert_to_tensors(tensors, prepend_batch_axis=not is_batch)
        return found


def _word_starts(found: Any, row: int, text: Any, is_split: bool, length: int) -> list[int]:
    """Return 1 + the shape of the word that begins at each sub-word, 0 where none does."""
    shape = engine("encoders.subwords").word_shape
    starts, before = [0] * length, None
    for place, word in enumerate(found.word_ids(row)):
        if word is not None and word != before:
            span = None if is_split else found.word_to_chars(row, word)
            written = text[word] if span is None else text[span.start : span.end]
            starts[place] = 1 + shape(written, is_first=word == 0)
        before = word
    return starts


class _TaskModel(PreTrainedModel):
    """One task of a model in the form that pipelines know."""

    config_class = TandemConfig

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.member: Any = None
        self.temperature = 1.0

    @classmethod
    def from_pretrained(cls, folder: Any, *args: Any, config: Any = None, **options: Any) -> Any:
        """Return the model of a folder under ``transformers/``."""
        config = config or TandemConfig.from_pretrained(folder)
        made = cls(config)
        ensemble = engine("ensemble").load_ensemble(
            (Path(folder) / config.model_folder).resolve(), device="cpu"
        )
        owner = ensemble.owners()[config.task]
        made.member = owner.model
        made.temperature = float(owner.temperatures.get(config.task, 1.0))
        return made.eval()

    def scores(self, ids: Any, mask: Any, starts: Any) -> tuple[Any, list[np.ndarray]]:
        """Return the head's scores, and where the words of each sentence begin."""
        pack = engine("encoders.pack")
        if mask is None:
            mask = torch.ones_like(ids)
        pieces, places = [], []
        for row, its_mask, its_starts in zip(*map(_array, (ids, mask, starts)), strict=True):
            kept = row[its_mask > 0].astype(np.int32)
            marks = its_starts[its_mask > 0]
            firsts = np.flatnonzero(marks)
            shapes = None if self.member.encoder.reads_case else (marks[firsts] - 1).astype(np.int8)
            windows = np.array([len(kept)], dtype=np.int32)
            pieces.append(pack.Pieces(kept, windows, firsts.astype(np.int32), shapes))
            places.append(np.flatnonzero(its_mask > 0)[firsts])
        collated = pack.collate(pieces, self.member.device)
        return self.member.scores(collated, [self.config.task])[self.config.task], places


def _array(tensor: Any) -> np.ndarray:
    return np.asarray(tensor.detach().cpu().numpy())


class TandemForTokenClassification(_TaskModel):
    """Tags of words: every sub-word of a word has the tag of its first one."""

    @torch.no_grad()
    def forward(
        self, input_ids: Any, attention_mask: Any = None, word_starts: Any = None, **others: Any
    ) -> Any:
        scores, places = self.scores(input_ids, attention_mask, word_starts)
        rows = scores.logits / self.temperature
        logits = rows.new_zeros(*input_ids.shape, rows.shape[1])
        inside = self._inside(rows)
        at = 0
        for row, firsts in enumerate(places):
            ends = [*firsts[1:], input_ids.shape[1]]
            for first, end in zip(firsts, ends, strict=True):
                logits[row, first] = rows[at]
                logits[row, first + 1 : end] = inside[at]
                at += 1
        return TokenClassifierOutput(logits=logits)

    def _inside(self, rows: Any) -> Any:
        """Return the scores of a word's later sub-words: what began a span goes on in it."""
        names = self.config.id2label  # B-x, I-x, B-y, I-y: two labels of one name stay apart
        inside = rows.clone()
        for begin, name in names.items():
            on = begin + 1
            if name.startswith("B-") and names.get(on) == f"I-{name[2:]}":
                inside[:, on] = torch.maximum(rows[:, begin], rows[:, on])
                inside[:, begin] = rows.min() - 20.0
        return inside


class TandemForSequenceClassification(_TaskModel):
    """Classes of sentences."""

    @torch.no_grad()
    def forward(
        self, input_ids: Any, attention_mask: Any = None, word_starts: Any = None, **others: Any
    ) -> Any:
        scores, _ = self.scores(input_ids, attention_mask, word_starts)
        return SequenceClassifierOutput(logits=scores / self.temperature)


if __name__ == "__main__":
    here = load(Path(__file__).parent)
    for line in sys.argv[1:] or sys.stdin:
        print(json.dumps(here([line.strip()])[0], ensure_ascii=False))
