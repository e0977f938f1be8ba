"""Reading and writing 10,000 sentences in each format: CPU seconds, best of five.

    python -m benchmarks.formats [--sentences 10000] [FORMAT ...]

Sentences have 13 tokens, two spans, a class, a tree, tags and a relation, as far as the format has
places for them. Reading streams: no record is kept. The last column is what is stored beside text,
tokens and answers to write the same bytes again.
"""

import argparse
import io
import json
import random
import time
from collections.abc import Callable, Iterator

from annotation.formats.format import Format, formats
from annotation.formats.offsets import join_tokens
from annotation.formats.records import (
    ExportRecord,
    ReadOptions,
    SentenceRecord,
    WriteOptions,
    layer_spec,
)
from mtl_engine.kinds import TaskSpec

N_TOKENS = 13
RUNS = 5
WORDS = "the flight from boston to denver leaves on monday morning at nine o'clock sharp".split()
TASKS = (
    layer_spec("ner", "spans"),
    layer_spec("pos", "tags"),
    layer_spec("intent", "classes"),
    layer_spec("tree", "tree"),
    layer_spec("relations", "relations", "ner"),
)


def main() -> None:
    """Print a line for each format."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="FORMAT", default=list(formats()))
    parser.add_argument("--sentences", type=int, default=10_000)
    options = parser.parse_args()
    print(f"{'format':12} {'read s':>8} {'write s':>8} {'MB':>7} {'extra bytes/sentence':>21}")
    for name in options.names:
        _measure(formats()[name], options.sentences)


def _measure(format: Format, n: int) -> None:
    tasks = _tasks(format)
    records = [ExportRecord(sentence, answers) for sentence, answers in _corpus(n)]
    writing = WriteOptions(tasks=tasks)
    data = b"".join(format.write(records, options=writing))
    reading = ReadOptions(tokeniser="whitespace")

    def read() -> int:
        extra = 0
        for record in format.read(io.BytesIO(data), file_name="corpus", options=reading):
            if not isinstance(record, SentenceRecord):
                raise SystemExit(str(record))
            extra += len(record.extra)
        return extra

    def write() -> None:
        for _ in format.write(records, options=writing):
            pass

    read_seconds, write_seconds = _best(read), _best(write)
    stored = sum(
        len(json.dumps(record.extra))
        for record in format.read(io.BytesIO(data), file_name="corpus", options=reading)
        if isinstance(record, SentenceRecord)
    )
    print(
        f"{format.name:12} {read_seconds:8.3f} {write_seconds:8.3f} {len(data) / 1e6:7.2f} "
        f"{stored / n:21.0f}"
    )


def _best(work: Callable[[], object]) -> float:
    """The fewest CPU seconds of several runs."""
    found = []
    for _ in range(RUNS):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def _tasks(format: Format) -> tuple[TaskSpec, ...]:
    """The tasks that the format has places for."""
    if format.is_open:
        return tuple(task for task in TASKS if task.kind in format.kinds)
    kinds = {layer.kind for layer in format.layers}
    return tuple(task for task in TASKS if task.kind in kinds)


def _corpus(n: int) -> Iterator[tuple[SentenceRecord, dict[str, object]]]:
    rng = random.Random(1)
    heads = [2, 0, 4, 2, 6, 2, 2, 9, 7, 9, 12, 7, 12]
    for number in range(n):
        tokens = rng.choices(WORDS, k=N_TOKENS)
        text, offsets = join_tokens(tokens)
        answers: dict[str, object] = {
            "ner": [[3, 4, "city"], [5, 7, "date"]],
            "pos": ["NOUN"] * N_TOKENS,
            "intent": "flight",
            "tree": [[head, "dep"] for head in heads],
            "relations": [[3, 4, 5, 7, "to"]],
        }
        yield SentenceRecord(tokens, text, offsets, f"s{number}", f"d{number // 20}"), answers


if __name__ == "__main__":
    main()
