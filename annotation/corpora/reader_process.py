"""Reading a file in a process of its own, with limits on time, memory and size.

Whatever a file holds, the process that serves people or runs other jobs neither waits for it nor
grows by it. The child knows no database and no secret; rows come back in the stage's file.
"""

import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

from annotation.corpora.corpus_file import CorpusFile
from annotation.corpora.report import ImportChoices
from annotation.corpora.staging import Findings, Stage
from annotation.errors import Refused
from annotation.formats.catalogue import get_format
from annotation.formats.records import FormatError, Limits, Problem, ReadOptions
from config.home import BASE_DIR
from mtl_engine.errors import EngineError
from mtl_engine.kinds import TaskSpec

MARK = 8  # bytes of a sentence's fingerprint
SIMPLE = (
    *("n_sentences", "n_tokens", "fields", "columns", "schemes"),
    *("n_problems", "n_bad", "n_duplicates", "sample", "aside"),
)


@dataclass(frozen=True)
class ReadingLimits:
    """What reading one file may cost."""

    cpu_seconds: int = 20
    wall_seconds: int = 60
    memory_bytes: int = 1 << 30


def read_apart(
    file: CorpusFile,
    stage: Stage,
    tasks: Iterable[TaskSpec],
    mapping: Mapping[str, str],
    limits: ReadingLimits,
) -> tuple[dict[str, str], Findings]:
    """Do what ``CorpusFile.read`` does in a child, and refuse a file that costs too much."""
    files = (file.stream.fileno(), stage.fileno())
    request = {
        "stream": files[0],
        "stage": files[1],
        "name": file.name,
        "format": file.format.name,
        "options": asdict(file.options or ReadOptions()),
        "choices": file.choices.to_dict(),
        "tasks": [{**task.to_dict(), "id": task.id} for task in tasks],
        "mapping": dict(mapping),
        "limits": asdict(limits),
    }
    known = b"".join(file.known_texts())
    started = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", "annotation.corpora.reader_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=files,
        cwd=BASE_DIR,
        env={"PYTHONPATH": os.pathsep.join([str(BASE_DIR), *filter(None, sys.path)])},
    ) as child:
        try:
            answer = _talk(child, request, known, file, started + limits.wall_seconds)
        finally:
            child.kill()
    if answer is None:
        raise Refused(_why_it_ended(file.name, child.returncode, limits))
    if "refused" in answer:
        raise Refused(answer["refused"])
    return answer["layers"], _findings(answer["found"])


def _talk(
    child: "subprocess.Popen[bytes]",
    request: Mapping[str, Any],
    known: bytes,
    file: CorpusFile,
    deadline: float,
) -> dict[str, Any] | None:
    """Send the request and return the last thing the child says; nothing if it says none."""
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        child.stdin.write(json.dumps(request).encode() + b"\n" + known)
        child.stdin.close()
    except BrokenPipeError:
        return None
    heard, n_read = b"", 0
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while time.monotonic() < deadline:
            if selector.select(timeout=0.5):
                piece = os.read(child.stdout.fileno(), 1 << 16)
                heard += piece
                if not piece:
                    break
                *lines, heard = heard.split(b"\n")
                n_read = max([n_read, *(json.loads(line)["read"] for line in lines)])
            if file.progress:  # stops a job that is cancelled or parked, whatever the child does
                file.progress("reading", n_read, file.size)
        else:
            return None
    answer: dict[str, Any] | None = json.loads(heard) if heard else None
    return answer


def _why_it_ended(name: str, code: int | None, limits: ReadingLimits) -> str:
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return (
            f"Reading '{name}' took longer than {limits.cpu_seconds} seconds of computing, so it "
            "was stopped and nothing is stored. Break up very long lines, split the file, or let "
            "an admin use the command import_corpus."
        )
    return (
        f"Reading '{name}' needed more than {limits.memory_bytes >> 20:,} MB of memory, so it was "
        "stopped and nothing is stored. Split the file into smaller ones."
    )


def _findings(values: dict[str, Any]) -> Findings:
    found = Findings(**{name: values[name] for name in SIMPLE})
    found.layers = {name: TaskSpec.from_dict(layer) for name, layer in values["layers"].items()}
    found.n_answers = Counter(values["n_answers"])
    found.labels = {task: Counter(counts) for task, counts in values["labels"].items()}
    unknown = values["unknown_labels"].items()
    found.unknown_labels = {task: Counter(counts) for task, counts in unknown}
    found.problems = [Problem(*problem) for problem in values["problems"]]
    return found


def _child() -> None:
    """Read what the parent asks for; the last line of the output is the answer."""
    first = sys.stdin.buffer.readline()
    if not first:  # whoever asked is gone
        return
    request = json.loads(first)
    marks = sys.stdin.buffer.read()
    limits = ReadingLimits(**request["limits"])
    _limit(resource.RLIMIT_CPU, limits.cpu_seconds)
    _limit(resource.RLIMIT_AS, limits.memory_bytes)
    _limit(resource.RLIMIT_CORE, 0)
    known = {marks[i : i + MARK] for i in range(0, len(marks), MARK)}
    try:
        answer = _read(request, known)
    except (FormatError, EngineError, Refused) as refusal:
        answer = {"refused": str(refusal)}
    except MemoryError:
        answer = {"refused": _why_it_ended(request["name"], None, limits)}
    except RecursionError:
        answer = {"refused": f"'{request['name']}' is nested too deeply to be read."}
    except Exception as error:  # noqa: BLE001  (a parser that a file breaks refuses the file)
        traceback.print_exc()
        answer = {
            "refused": f"'{request['name']}' cannot be read ({type(error).__name__}: "
            f"{str(error)[:200]}). Nothing is stored; the server's log has the details."
        }
    sys.stdout.write(json.dumps(answer))


def _read(request: Mapping[str, Any], known: set[bytes]) -> dict[str, Any]:
    stream: BinaryIO = os.fdopen(request["stream"], "rb")
    raw = request["options"]
    options = ReadOptions(
        **{
            **raw,
            "columns": tuple(raw["columns"]),
            "fields": tuple(raw["fields"]),
            "limits": Limits(**raw["limits"]),
        }
    )
    stage = Stage.on_file(os.fdopen(request["stage"], "r+b"))
    file = CorpusFile(
        stream,
        name=request["name"],
        format=get_format(request["format"]),
        options=options,
        choices=ImportChoices(**request["choices"]),
        progress=lambda what, n_done, n_total: print(json.dumps({"read": n_done}), flush=True),
        known_texts=lambda: set(known),
    )
    tasks = [TaskSpec.from_dict(task) for task in request["tasks"]]
    layers, found = file.read(stage, tasks, request["mapping"])
    stage.close()
    values = {
        **{name: getattr(found, name) for name in SIMPLE},
        "layers": {name: layer.to_dict() for name, layer in found.layers.items()},
        "n_answers": found.n_answers,
        "labels": found.labels,
        "unknown_labels": found.unknown_labels,
        "problems": [[p.file, p.line, p.message] for p in found.problems],
    }
    return {"layers": layers, "found": values}


def _limit(what: int, most: int) -> None:
    """Lower a limit of this process, where the system has it."""
    try:
        resource.setrlimit(what, (most, most))
    except (ValueError, OSError):
        traceback.print_exc()


if __name__ == "__main__":
    _child()
