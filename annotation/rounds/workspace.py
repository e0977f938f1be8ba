"""The files of a round: what it learned from, its models, its scores, its choice.

Every path below ``rounds/`` is made here and nowhere else. Files appear whole or not at all.
"""

import gzip
import hashlib
import io
import json
import shutil
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from annotation.errors import Refused
from annotation.models import Ask, Round
from annotation.queue.asks import AskRow
from annotation.rounds.data import pool_of
from config.home import home
from config.store import Digests, RoundFiles
from mtl_engine.active_learning.pool import LabelledData, LabelledExample, Pool
from mtl_engine.atomic import current_place, remove_folder, replaced_file
from mtl_engine.checksums import is_whole
from mtl_engine.documents import DocumentWords
from mtl_engine.types import Example, TaskSpec

if TYPE_CHECKING:  # these load torch, which the web process never does
    from mtl_engine.active_learning.choose import Selected
    from mtl_engine.active_learning.price import Prices
    from mtl_engine.active_learning.score import PoolScores

EXAMPLES, SCORES, CHOICE = "examples.jsonl.gz", "scores.npz", "choice.json"
ONNX = "onnx"
MODEL, POLICY_LOG = "model", "policy_log.jsonl"
OWNER = "owner.json"  # whose files these are


@dataclass(frozen=True)
class ScoredPool:
    """A pool with what the models say of it and what it costs."""

    pool: Pool
    scores: "PoolScores"
    prices: "Prices"

    def cost(self, one: "Selected") -> float:
        """Return what asking one sentence costs, in the unit of the prices."""
        costs = self.prices.costs
        return float(costs.read[one.row] + costs.label[one.row, list(one.tasks)].sum())

    def cost_per_token(self) -> float:
        """Return what a token of the pool costs on average, with all tasks; 0 without a pool."""
        n_tokens = int(self.pool.n_tokens.sum())
        costs = self.prices.costs
        return float((costs.read.sum() + costs.label.sum()) / n_tokens) if n_tokens else 0.0


@dataclass(frozen=True)
class StoredSuggestion:
    """A model's answer to a sentence of the project, as plain values."""

    sentence: int
    task: str
    value: Any
    confidence: float
    details: Mapping[str, Any]


def feature_cache() -> Path:
    """Return where the frozen layers' outputs are kept between rounds."""
    return home().features


class Workspace:
    """The directory of one round, under a name that no other round ever has.

    Each file stands beside its SHA-256 and is compared with it when it is read.
    """

    def __init__(
        self,
        folder: str,
        owner: Mapping[str, int] | None = None,
        check: Callable[[], None] = lambda: None,
        digests: Digests | None = None,
    ) -> None:
        self.directory, self.owner, self.check = home().round(folder), owner, check
        self.files = RoundFiles(folder, digests or {})
        self.written: set[str] = set()  # here, since the round recorded its files

    @classmethod
    def of(cls, round: Round, *, check: Callable[[], None] = lambda: None) -> Self:
        """Return the workspace of a round; refuse files that belong to another project.

        ``check`` is called before anything is written, and raises where the round is another
        worker's by now.
        """
        owner = {"project": round.project_id, "round": round.pk}
        found = cls(round.folder, owner, check, round.files)
        if found.has(OWNER) and found._json(OWNER) != found.owner:
            raise Refused(
                f"The files in '{found.directory}' are another project's or round's: they are not "
                "read. Move the folder away; the round can then be retried."
            )
        return found

    @classmethod
    def scratch(cls) -> Self:
        """Return a workspace that belongs to no round; its maker removes it."""
        return cls(f"scratch-{uuid.uuid4().hex}")

    @property
    def model(self) -> Path:
        """Return where the round's models are, brought from the store if they are not here."""
        self.bring(MODEL)
        return self.directory / MODEL

    def new_model(self) -> Path:
        """Return where to write the round's models."""
        self.written.add(MODEL)
        return self.directory / MODEL

    @property
    def onnx(self) -> Path:
        """Return where the round's model is kept for onnxruntime, if it was made anywhere."""
        self.bring(ONNX)
        return self.directory / ONNX

    @property
    def policy_log(self) -> Path:
        """Return where the training tells which tasks it drew."""
        return self.directory / POLICY_LOG

    def snapshot(self, number: int) -> Path:
        """Return where an unfinished training of a member is kept."""
        return self.directory / ("snapshot" if number == 0 else f"snapshot-{number}")

    def member(self, number: int) -> Path:
        """Return where a finished member waits for the others of its ensemble."""
        return self.directory / "members" / str(number)

    @property
    def has_model(self) -> bool:
        """Return whether there are models, here or in the store."""
        is_here = current_place(self.directory / MODEL).exists()
        return is_here or any(name.startswith(f"{MODEL}/") for name in self.files.digests)

    def has(self, name: str) -> bool:
        """Return whether there is a file of the round, here or in the store."""
        return name in self.files.digests or (self.directory / name).exists()

    def bring_training(self, number: int) -> None:
        """Let what another machine left of a member's training lie here."""
        for place in (self.snapshot(number), self.member(number), self.policy_log):
            self.bring(place.relative_to(self.directory).as_posix())

    def bring(self, name: str) -> None:
        """Let a file or folder that is recorded lie here, unless it was written anew."""
        if name not in self.written:
            self.files.bring(name)

    def publish(self) -> Digests:
        """Put what is new into the store; return what the round has to record."""
        self.check()
        return self.files.publish()

    def recorded(self, digests: Digests) -> None:
        """Learn what the round has recorded; what it no longer names leaves the store."""
        before = self.files.digests
        self.files = RoundFiles(self.directory.name, digests)
        self.files.forget(before)
        self.written.clear()

    def is_whole(self, name: str) -> bool:
        """Return whether a file of the round is there, as it was written."""
        try:
            self.read(name)
        except (Refused, OSError):
            return False
        return True

    @property
    def has_whole_model(self) -> bool:
        """Return whether the models are there, as they were written."""
        place = current_place(self.model)
        parts = [path for path in (place, *place.glob("*")) if (path / "model.json").exists()]
        return bool(parts) and all(is_whole(part) for part in parts)

    def read(self, name: str) -> bytes:
        """Return a file of the round; refuse one that has changed on the disk."""
        self.bring(name)
        self.bring(f"{name}.sha256")
        content = (self.directory / name).read_bytes()
        digest = self.directory / f"{name}.sha256"
        is_known = digest.exists()  # files of the first release have none
        if is_known and digest.read_text().strip() != hashlib.sha256(content).hexdigest():
            raise Refused(
                f"'{self.directory / name}' is damaged: it is not what was written. Retry the "
                "round, which computes it again."
            )
        return content

    def remove(self) -> None:
        """Remove everything, here and in the store."""
        self.files.remove()
        shutil.rmtree(self.directory, ignore_errors=True)

    def drop_trainings(self) -> None:
        """Forget trainings that have ended."""
        for folder in self.directory.glob("snapshot*"):
            remove_folder(folder)
        shutil.rmtree(self.directory / "members", ignore_errors=True)

    def save_examples(self, data: LabelledData) -> None:
        """Keep what the round learns from and is tested on."""
        out = io.BytesIO()
        with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as file:
            for one in data.examples:
                row = {
                    "id": one.example.id,
                    "split": one.part,
                    "is_chosen": one.is_selected,
                    "is_control": one.is_control,
                    "tokens": list(one.example.tokens),
                    "labels": dict(one.example.labels),
                    **_inside(one.example.tokens),
                }
                file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
        self._write(EXAMPLES, out.getvalue())

    def examples(self) -> LabelledData:
        """Return what the round learns from and is tested on."""
        rows = [json.loads(line) for line in gzip.decompress(self.read(EXAMPLES)).splitlines()]
        return LabelledData(
            tuple(
                LabelledExample(
                    Example(_words(row), row["labels"], row["id"]),
                    row["split"],
                    row["is_chosen"],
                    row.get("is_control", False),
                )
                for row in rows
            )
        )

    def save_scored(self, scored: ScoredPool) -> None:
        """Keep the pool with its scores and prices."""
        pool = scored.pool
        arrays: dict[str, Any] = {
            "ids": pool.ids,
            "n_tokens": pool.n_tokens,
            "is_closed": pool.is_closed,
            **scored.scores.arrays(),
            **scored.prices.arrays(),
        }
        out = io.BytesIO()
        np.savez_compressed(out, **arrays)
        self._write(SCORES, out.getvalue())

    def scored(self, tasks: Sequence[TaskSpec], unit: str) -> ScoredPool:
        """Return the pool with its scores and prices, for tasks in the order of the columns."""
        from mtl_engine.active_learning.price import Prices
        from mtl_engine.active_learning.score import PoolScores

        arrays = self.arrays()
        pool = pool_of(tasks, arrays["ids"], arrays["n_tokens"], arrays["is_closed"])
        prices = Prices.from_arrays(arrays, "seconds" if unit == "seconds" else "cost")
        return ScoredPool(pool, PoolScores.from_arrays(arrays), prices)

    def arrays(self) -> dict[str, Any]:
        """Return the kept arrays of the pool by name."""
        with np.load(io.BytesIO(self.read(SCORES)), allow_pickle=False) as file:
            return {key: file[key] for key in file.files}

    def save_choice(
        self,
        asks: Sequence[AskRow],
        suggestions: Sequence[StoredSuggestion],
        withheld: Sequence[StoredSuggestion],
    ) -> None:
        """Keep what is asked, what is offered with it, and what is kept back."""
        choice = {
            "asks": [ask_to_dict(ask) for ask in asks],
            "suggestions": [vars(one) for one in suggestions],
        }
        self._write(
            home().withheld_answers("any").name,
            json.dumps([vars(one) for one in withheld]).encode(),
        )
        self._write(CHOICE, json.dumps(choice, ensure_ascii=False).encode())

    def choice(self) -> tuple[list[AskRow], list[StoredSuggestion]]:
        """Return what is asked and what is offered with it."""
        choice = self._json(CHOICE)
        asks = [ask_from_dict(row) for row in choice["asks"]]
        return asks, [StoredSuggestion(**row) for row in choice["suggestions"]]

    def drop_sentences(self, ids: Collection[int]) -> None:
        """Forget sentences that are deleted; a replay will tell that something is missing."""
        if self.has(EXAMPLES):
            known = self.examples().examples
            kept = [one for one in known if one.example.id not in ids]
            if len(kept) < len(known):
                self.save_examples(LabelledData(tuple(kept)))
        if self.has(CHOICE):
            choice = self._json(CHOICE)
            withheld = home().withheld_answers("any").name
            rows = {"asks": choice["asks"], "suggestions": choice["suggestions"]}
            left = {k: [row for row in v if row["sentence"] not in ids] for k, v in rows.items()}
            self._write(CHOICE, json.dumps(left, ensure_ascii=False).encode())
            if self.has(withheld):
                kept_back = [row for row in self._json(withheld) if row["sentence"] not in ids]
                self._write(withheld, json.dumps(kept_back).encode())

    def file_hash(self, *names: str) -> str:
        """Return the SHA-256 of files, by their paths in the directory."""
        digest = hashlib.sha256()
        for name in names:
            self.bring(name)
            with (self.directory / name).open("rb") as file:
                while piece := file.read(1 << 20):
                    digest.update(piece)
        return digest.hexdigest()

    def model_hash(self) -> str | None:
        """Return the hash of all weights, None without a model."""
        weights = sorted(self.model.rglob("model.safetensors"))
        names = [path.relative_to(self.directory).as_posix() for path in weights]
        return self.file_hash(*names) if names else None

    def _json(self, name: str) -> Any:
        return json.loads(self.read(name))

    def _write(self, name: str, content: bytes) -> None:
        self.check()
        self.directory.mkdir(parents=True, exist_ok=True)
        if self.owner and not self.has(OWNER):
            self._put(OWNER, json.dumps(dict(self.owner)).encode())
        self._put(name, content)
        self._put(f"{name}.sha256", hashlib.sha256(content).hexdigest().encode())

    def _put(self, name: str, content: bytes) -> None:
        self.written.add(name)
        with replaced_file(self.directory / name) as file:
            file.write(content)


def ask_to_dict(ask: AskRow) -> dict[str, Any]:
    """Return an ask as plain values, as choices and manifests keep it."""
    look: dict[str, Any] = {}
    if ask.purpose != Ask.Purpose.LABEL:
        look = {"purpose": ask.purpose, "overlap": ask.overlap}
    return {
        "sentence": ask.sentence_id,
        "tasks": list(ask.tasks),
        **({"words": {name: list(at) for name, at in ask.words.items()}} if ask.words else {}),
        "is_random": ask.is_random,
        "is_blind": ask.is_blind,
        "confidences": dict(ask.confidences),
        "predicted_seconds": ask.predicted_seconds,
        "reason": dict(ask.reason),
        **look,
    }


def ask_from_dict(row: Mapping[str, Any]) -> AskRow:
    """Return the ask that ``ask_to_dict`` gave."""
    rest = {key: value for key, value in row.items() if key != "sentence"}
    return AskRow(sentence_id=row["sentence"], **rest)


def round_to(value: float, digits: int) -> float:
    """Return a number with the digits that are shown and compared."""
    return float(np.round(value, digits))


def whole_tenths(seconds: float) -> float:
    """Return seconds as they are shown: cut to tenths, so that asks stay within their budget."""
    return float(np.floor(seconds * 10) / 10)


def _inside(tokens: Sequence[str]) -> dict[str, Any]:
    """Return what is kept of a document beside its words."""
    if not isinstance(tokens, DocumentWords):
        return {}
    return {"starts": list(tokens.starts), "spans": dict(tokens.spans)}


def _words(row: Mapping[str, Any]) -> tuple[str, ...]:
    if "starts" not in row:
        return tuple(row["tokens"])
    return DocumentWords(row["tokens"], row["starts"], row["spans"])
