"""A folder that ``datasets.load_dataset`` reads, as a zip: Parquet with features, splits, a card.

    data/train.parquet, data/test.parquet    the frozen test slice apart from the rest
    README.md                                what is in it, and which file is which split

A row is a sentence; side by side, one of each annotator. Classes are ``ClassLabel``, several of
them a list; spans, arcs and links are lists of structs that end with their label, spans that never
nest also ``TASK_tags`` in IOB2. A missing answer is null, an empty one an empty list. ``sources``
says where each answer comes from, ``confidences`` how sure a model is of it. Only written: nothing
here reads Parquet files of strangers.
"""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from annotation.formats.columns import tags_of
from annotation.formats.format import Format
from annotation.formats.records import (
    LAYER_KINDS,
    CannotWrite,
    ExportRecord,
    Placement,
    WriteOptions,
    has_pieces,
)
from annotation.formats.source import write_files
from mtl_engine.kinds import KINDS, TaskSpec

if TYPE_CHECKING:
    import pyarrow

NAME = "datasets"
TRAIN, TEST = "train", "test"
ROWS = 1_000  # of a row group: what is held in memory
IN_MEMORY = 8 * 1024 * 1024
_PLACES = {  # of the entries of a layer, before their label
    "spans": ("start", "end"),
    "tree": ("head",),
    "relations": ("start", "end", "to_start", "to_end"),
    "attributes": ("start", "end"),
    "graph": ("dependent", "head"),
}
RESERVED = ("id", "document", "text", "tokens", "offsets", "annotator", "sources", "confidences")
STRING = {"dtype": "string", "_type": "Value"}
INTEGER = {"dtype": "int32", "_type": "Value"}
NUMBER = {"dtype": "float32", "_type": "Value"}


class Labels:
    """The labels of a column by number; answers may bring ones that the task no longer lists."""

    def __init__(self, names: Iterable[str]) -> None:
        self.numbers = {name: number for number, name in enumerate(names)}

    def number(self, name: str) -> int:
        """The number of a label."""
        return self.numbers.setdefault(name, len(self.numbers))

    @property
    def feature(self) -> dict[str, Any]:
        """The column's type as ``datasets`` writes it."""
        return {"names": list(self.numbers), "_type": "ClassLabel"}


class Column:
    """One task: how its answers are written as values of Parquet."""

    def __init__(self, layer: str, task: TaskSpec) -> None:
        self.layer, self.task, self.kind = layer, task, KINDS[task.kind]
        self.labels = Labels(task.labels)
        self.is_text = self.kind.brings_classes  # entries are no labels
        self.is_list = self.kind.unit != "sentence"  # of labels, or of entries with one
        self.places = _PLACES.get(task.layer, ())
        self.place = STRING if task.layer == "graph" else INTEGER  # ids of words, or numbers
        tags = ("O", *(f"{part}-{label}" for label in task.labels for part in "BI"))
        self.tags = Labels(tags) if self.kind.marks_spans and not task.is_nested else None

    def values(self, answer: Any, n_tokens: int) -> dict[str, Any]:
        """The answer by column; None where there is none."""
        found: dict[str, Any] = {self.layer: None if answer is None else self._value(answer)}
        if self.tags is not None:
            words = None if answer is None else tags_of(answer, n_tokens, "IOB2")
            found[f"{self.layer}_tags"] = words and [self.tags.number(word) for word in words]
        return found

    def _value(self, answer: Any) -> Any:
        if not self.is_list:
            return self.labels.number(self.kind.labels_of(answer)[0])
        if self.is_text:
            return list(answer)
        if has_pieces(self.kind.layer, answer):
            raise CannotWrite(
                f"task '{self.task.name}' has spans in several pieces, which have no place here; "
                "write jsonl, csv or brat instead"
            )
        if not self.places:
            return [self.labels.number(label) for label in self.kind.entries(answer)]
        return [
            {**dict(zip(self.places, entry, strict=False)), "label": self.labels.number(entry[-1])}
            for entry in answer
        ]

    @property
    def features(self) -> dict[str, Any]:
        """The types of the columns, when all rows are written."""
        label = STRING if self.is_text else self.labels.feature
        entry = {**dict.fromkeys(self.places, self.place), "label": label} if self.places else label
        found: dict[str, Any] = {self.layer: [entry] if self.is_list else label}
        if self.tags is not None:
            found[f"{self.layer}_tags"] = [self.tags.feature]
        return found


def render(
    records: Iterable[ExportRecord], placement: Placement, options: WriteOptions
) -> Iterator[bytes]:
    tasks = {task.name: task for task in options.tasks}
    columns = [
        Column(spec.name, tasks[placement.task_of[spec.name]])
        for spec in placement.specs
        if spec.name in placement.task_of
    ]
    table = Table(columns, has_annotators=bool(options.annotators))
    for record in records:
        table.add(record, placement)
    files = table.close()
    card = _card(table, options)
    yield from write_files(
        [
            ("README.md", card.encode(), True),
            *((f"data/{split}.parquet", file, False) for split, file in files.items()),
        ]
    )
    for file in files.values():
        file.close()


class Table:
    """The rows of each split, written while they come."""

    def __init__(self, columns: list[Column], *, has_annotators: bool) -> None:
        self.columns = columns
        self.has_annotators = has_annotators
        _require_names([name for column in columns for name in column.features])
        self.n_rows: dict[str, int] = {}
        self.n_answers: dict[str, int] = dict.fromkeys((c.layer for c in columns), 0)
        self._waiting: dict[str, list[dict[str, Any]]] = {}
        self._files: dict[str, BinaryIO] = {}
        self._writers: dict[str, Any] = {}

    def add(self, record: ExportRecord, placement: Placement) -> None:
        """Write a sentence with its answers."""
        sentence = record.sentence
        row: dict[str, Any] = {
            "id": sentence.key,
            "document": sentence.document,
            "text": sentence.text,
            "tokens": sentence.tokens,
            "offsets": sentence.offsets,
        }
        if self.has_annotators:
            row["annotator"] = record.annotator
        sources: dict[str, Any] = {}
        sure: dict[str, Any] = {}
        for column in self.columns:
            answer = record.answers.get(column.task.name)
            row |= column.values(answer, len(sentence.tokens))
            self.n_answers[column.layer] += answer is not None
            sources[column.layer] = record.sources.get(column.task.name)
            found = record.confidences.get(column.task.name)
            sure[column.layer] = None if found is None else found.answer
        if self.columns:
            row |= {"sources": sources, "confidences": sure}
        split = TEST if sentence.is_test else TRAIN
        waiting = self._waiting.setdefault(split, [])
        waiting.append(row)
        self.n_rows[split] = self.n_rows.get(split, 0) + 1
        if len(waiting) == ROWS:
            self._write(split)

    def close(self) -> dict[str, BinaryIO]:
        """The file of each split, from its beginning; an export of nothing has an empty one."""
        for split in list(self._waiting) or [TRAIN]:
            self._write(split)
        about = json.dumps({"info": {"features": self.features}})
        for split, writer in self._writers.items():
            writer.add_key_value_metadata({"huggingface": about})
            writer.close()
            self._files[split].seek(0)
        return dict(sorted(self._files.items(), reverse=True))

    @property
    def features(self) -> dict[str, Any]:
        """The types of all columns as ``datasets`` writes them."""
        names = [column.layer for column in self.columns]
        return {
            **dict.fromkeys(("id", "document", "text"), STRING),
            "tokens": [STRING],
            "offsets": [[INTEGER]],
            **({"annotator": STRING} if self.has_annotators else {}),
            **{name: f for column in self.columns for name, f in column.features.items()},
            **({"sources": dict.fromkeys(names, STRING)} if names else {}),
            **({"confidences": dict.fromkeys(names, NUMBER)} if names else {}),
        }

    def _write(self, split: str) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = pa.schema([(name, _arrow(pa, f)) for name, f in self.features.items()])
        if split not in self._writers:
            file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115
            self._files[split] = cast(BinaryIO, file)
            self._writers[split] = pq.ParquetWriter(
                file, schema, compression="zstd", store_schema=False
            )  # else readers look for features there, before all labels were seen
        rows = self._waiting.pop(split, [])
        self._writers[split].write_table(pa.Table.from_pylist(rows, schema=schema))


def _require_names(names: list[str]) -> None:
    for name in names:
        if name in RESERVED or names.count(name) > 1:
            raise CannotWrite(
                f"Two columns would be called '{name}'. Give the task another one: --map TASK=NAME."
            )


def _arrow(pa: Any, feature: Any) -> "pyarrow.DataType":
    """The type in which Parquet holds a feature."""
    if isinstance(feature, list):
        return pa.list_(_arrow(pa, feature[0]))
    if "_type" not in feature:
        return pa.struct([(name, _arrow(pa, inner)) for name, inner in feature.items()])
    if feature["_type"] == "ClassLabel":
        return pa.int64()
    return {"string": pa.string(), "int32": pa.int32(), "float32": pa.float32()}[feature["dtype"]]


def _card(table: Table, options: WriteOptions) -> str:
    configs = [
        {
            "config_name": "default",
            "data_files": [
                {"split": split, "path": f"data/{split}.parquet"}
                for split in sorted(table.n_rows or {TRAIN: 0}, reverse=True)
            ],
        }
    ]
    lines = [
        "---",
        f"pretty_name: {json.dumps(options.title or 'Dataset', ensure_ascii=False)}",
        *([f"language: {json.dumps(options.language)}"] if options.language else []),
        "license: other",
        "license_name: not-stated",
        "tags: [tandem]",
        f"configs: {json.dumps(configs)}",
        "---",
        "",
        f"# {options.title or 'Dataset'}",
        "",
        options.about or "Sentences labelled with Tandem.",
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        'load_dataset("this folder")',
        "```",
        "",
        "| split | rows |",
        "|---|---|",
        *(f"| {split} | {n:,} |" for split, n in sorted(table.n_rows.items(), reverse=True)),
        "",
        "| column | kind | answers | labels |",
        "|---|---|---|---|",
        *(_row(column, table.n_answers) for column in table.columns),
        "",
        "Places are numbers of tokens from 0, ends are exclusive; the head of a root is 0, that of "
        "others the head's number from 1. A link of a document stands with the sentence it begins "
        "in; numbers below 0 are words before it, those beyond its last word come after. "
        "A missing answer is null. The split `test` is the slice "
        "that was frozen to measure models and never trained on. `sources` says who gave each "
        "answer.",
        "",
        "Licence: not stated; fill in `license` above before you publish this.",
    ]
    return "\n".join(lines) + "\n"


def _row(column: Column, n_answers: Mapping[str, int]) -> str:
    labels = ", ".join(column.labels.numbers)
    cells = (column.layer, column.task.kind, f"{n_answers[column.layer]:,}", labels)
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


FORMAT = Format(
    name=NAME,
    title="Hugging Face datasets: a folder of Parquet (only written)",
    position=120,
    suffixes=(".zip",),
    kinds=LAYER_KINDS,
    is_open=True,
    links_across=True,
    parse=None,
    render=render,
    looks_like=lambda head: False,
    media_type="application/zip",
)
