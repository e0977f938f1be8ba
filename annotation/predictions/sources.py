"""Asking sources for suggestions: chat endpoints, and models in local directories.

A chat endpoint is any that speaks OpenAI's protocol. Nothing leaves this installation unless
``TANDEM_SUGGESTION_SOURCES`` names the address. A name is
looked up once and must lead to a public address, unless the entry states a network: then to one of
it (``http://gpu.lan:8000/v1=10.0.0.0/8``). The connection goes to the address that was checked,
redirects are refused, answers have a time and a size, and only JSON that fits the task counts.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone

from annotation.adjudication.final import final_answers
from annotation.bridge import task_specs
from annotation.errors import Refused, unknown_name
from annotation.jobs.services import Progress, enqueue_job, finish_job
from annotation.models import Job, Label, Project, Sentence
from annotation.notifications.transport import BadAnswer, Endpoint, post
from annotation.predictions.outside import (
    SuggestionReport,
    checked,
    require_source,
    wanted_sentences,
)
from annotation.queue.suggestions import Suggested, offer_suggestions
from annotation.rounds.data import tokens_of
from mtl_engine.kinds import KINDS, TaskSpec

SECONDS = 60.0  # for one answer, from the first byte sent to the last one read
N_EXAMPLES = 4


def find_endpoint(url: str) -> Endpoint:
    """Return the listed endpoint of an address; refuse any other."""
    wanted = url.rstrip("/")
    for entry in settings.SUGGESTION_SOURCES:
        listed, _, network = entry.partition("=")
        if listed.rstrip("/") == wanted and urlsplit(wanted).scheme in ("http", "https"):
            return Endpoint(wanted, network)
    raise Refused(
        f"'{url}' is not among the addresses that this installation may ask. An admin lists "
        "them in TANDEM_SUGGESTION_SOURCES."
    )


def ask_chat(
    endpoint: Endpoint,
    model: str,
    messages: Sequence[Mapping[str, str]],
    *,
    seconds: float = SECONDS,
) -> Any:
    """Return the JSON that a chat model answers with."""
    body = {
        "model": model,
        "messages": list(messages),
        "temperature": 0,
        "response_format": {"type": "json_object"},
    }
    raw = _post(endpoint, json.dumps(body).encode(), seconds)
    try:
        content = json.loads(raw)["choices"][0]["message"]["content"]
        if not isinstance(content, str):
            raise TypeError("content is no text")
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        raise BadAnswer("not the protocol", f"No chat completion: {error}") from error
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadAnswer("no JSON", f"Not JSON: {content[:80]!r}") from error
    if not isinstance(answer, dict):
        raise BadAnswer("no JSON", f"Not a JSON object: {content[:80]!r}")
    return answer


def _post(endpoint: Endpoint, body: bytes, seconds: float) -> bytes:
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    key = os.environ.get("TANDEM_SUGGESTION_KEY", "")
    if key:
        headers["Authorization"] = f"Bearer {key}"
    status, answer = post(
        endpoint, body, headers=headers, seconds=seconds, path="/chat/completions"
    )
    if status != 200:
        raise BadAnswer("error", f"The endpoint answered {status}.")
    return answer


def messages_for(
    tasks: Sequence[TaskSpec],
    descriptions: Mapping[str, Mapping[str, str]],
    guidelines: Mapping[str, str],
    examples: Sequence[tuple[Sequence[str], Mapping[str, Any]]],
    tokens: Sequence[str],
) -> list[dict[str, str]]:
    """Return the questions to a chat model: the tasks, examples that people decided, a sentence."""
    lines = [
        "You label one sentence for several tasks. Words are numbered from 0. Answer with one JSON "
        "object that has a key for each task and nothing else.",
    ]
    for task in tasks:
        kind = KINDS[task.kind]
        lines += ["", f"Task {task.name}: {kind.summary} Form of the answer: {kind.shape}."]
        if guidelines.get(task.name):
            lines.append(guidelines[task.name][:2_000])
        lines.append("Labels:")
        words = descriptions.get(task.name, {})
        lines += [
            f"- {name}: {words[name]}" if words.get(name) else f"- {name}" for name in task.labels
        ]
    messages = [{"role": "system", "content": "\n".join(lines)}]
    for its_tokens, answers in examples[:N_EXAMPLES]:
        messages.append({"role": "user", "content": _numbered(its_tokens)})
        messages.append({"role": "assistant", "content": json.dumps(answers, ensure_ascii=False)})
    return [*messages, {"role": "user", "content": _numbered(tokens)}]


def _numbered(tokens: Sequence[str]) -> str:
    return " ".join(f"{number}:{token}" for number, token in enumerate(tokens))


MAX_SENTENCES = 10_000
FAILURES = 5  # in a row, after which a source is given up
BATCH = 20  # sentences between two commits
Ask = Callable[[Sequence[str]], dict[str, Any]]


def start_asking(
    *,
    project: Project,
    created_by: Any,
    source: str,
    url: str = "",
    model: str = "",
    directory: str = "",
    tasks: Sequence[str] = (),
    limit: int = 200,
) -> Job:
    """Queue the questions to a source; its answers become suggestions."""
    require_source(source)
    if bool(url) == bool(directory):
        raise Refused("Name either the address of a chat endpoint or a directory with a model.")
    if url:
        find_endpoint(url)
    else:
        require_directory(directory)
    _tasks(project, tasks)
    if not 1 <= limit <= MAX_SENTENCES:
        raise Refused(f"A limit of {limit} sentences; allowed are 1 to {MAX_SENTENCES:,}.")
    arguments = {
        "source": source,
        "url": url,
        "model": model,
        "directory": directory,
        "tasks": list(tasks),
        "limit": limit,
    }
    return enqueue_job(
        project=project, kind=Job.Kind.SUGGEST, arguments=arguments, created_by=created_by
    )


def run_asking(job: Job, progress: Progress) -> None:
    """Ask a source about sentences it has not seen; what it said before is kept."""
    report = ask_source(project=job.project, told=progress, **job.arguments)
    finish_job(job=job, result=report.to_dict(), now=timezone.now())


def ask_source(
    *,
    project: Project,
    source: str,
    url: str = "",
    model: str = "",
    directory: str = "",
    tasks: Sequence[str] = (),
    limit: int = 200,
    told: Progress,
    seconds: float | None = None,
) -> SuggestionReport:
    """Return what became of a source's answers, which are stored as they come."""
    specs = _tasks(project, tasks)
    report = SuggestionReport()
    ask = (
        _chat(project, specs, find_endpoint(url), model, seconds)
        if url
        else _local(specs, require_directory(directory))
    )
    known = {task.name: task for task in specs}
    rows = list(wanted_sentences(project, source, limit))
    suggested: list[Suggested] = []
    n_failed = 0

    def store() -> None:
        report.n_stored += offer_suggestions(
            project_id=project.pk, source=source, suggested=suggested, now=timezone.now()
        )
        suggested.clear()

    for number, (sentence_id, tokens) in enumerate(rows):
        told(f"asking {source}"[:40], number, len(rows))
        try:
            answers = ask(tokens)
            n_failed = 0
        except BadAnswer as bad:
            report.drop(bad.why, str(bad))
            n_failed = n_failed + 1 if bad.why in ("time-out", "no connection", "redirect") else 0
            if n_failed == FAILURES:
                store()
                raise Refused(f"{source} failed {FAILURES} times in a row: {bad}") from bad
            continue
        good = checked(answers, tokens, known, report)
        suggested += [Suggested(sentence_id, name, value) for name, value in good.items()]
        if number % BATCH == BATCH - 1:
            store()
    store()
    return report


def require_directory(directory: str) -> Path:
    """Return the directory of a model that the admin lists."""
    listed = {str(Path(entry).resolve()) for entry in settings.SUGGESTION_SOURCES if "/" in entry}
    path = Path(directory).resolve()
    if str(path) not in listed or not path.is_dir():
        raise Refused(
            f"'{directory}' is not among the directories that may be used. An admin lists them in "
            "TANDEM_SUGGESTION_SOURCES."
        )
    return path


def _tasks(project: Project, names: Sequence[str]) -> list[TaskSpec]:
    known = {task.name: task for task in task_specs(project)}
    for name in names:
        if name not in known:
            raise Refused(unknown_name("task", name, known))
    return [task for name, task in known.items() if not names or name in names]


def _chat(
    project: Project,
    tasks: Sequence[TaskSpec],
    endpoint: Endpoint,
    model: str,
    seconds: float | None,
) -> Ask:
    rows = Label.objects.filter(task__project=project, is_retired=False)
    descriptions: dict[str, dict[str, str]] = {}
    for task, name, words in rows.values_list("task__name", "name", "description"):
        descriptions.setdefault(task, {})[name] = words
    guidelines = dict(project.tasks.values_list("name", "guidelines"))
    examples = _examples(project, tasks)
    options = {} if seconds is None else {"seconds": seconds}

    def ask(tokens: Sequence[str]) -> dict[str, Any]:
        messages = messages_for(tasks, descriptions, guidelines, examples, tokens)
        answer: dict[str, Any] = ask_chat(endpoint, model, messages, **options)
        return answer

    return ask


def _examples(
    project: Project, tasks: Sequence[TaskSpec]
) -> list[tuple[list[str], dict[str, Any]]]:
    """Return sentences that people decided for all tasks; never those that test models."""
    first = Sentence.objects.filter(project=project, is_test=False, gold__isnull=False)
    ids = list(first.order_by("id").distinct().values_list("id", flat=True)[:200])
    finals = final_answers(project, sentences=ids, tasks=tasks)
    whole = [i for i in ids if len(finals.get(i, {})) == len(tasks)][:N_EXAMPLES]
    return [
        (list(tokens), {name: one.value for name, one in finals[i].items()})
        for i, tokens in zip(whole, tokens_of(whole), strict=True)
    ]


def _local(tasks: Sequence[TaskSpec], directory: Path) -> Ask:
    """Return what a public model in a directory can say: zero-shot classes, or tags of words."""
    from transformers import AutoConfig, pipeline

    config = AutoConfig.from_pretrained(directory, trust_remote_code=False)
    names = {str(label).lower() for label in (config.id2label or {}).values()}
    if any("entail" in name for name in names):
        run = pipeline("zero-shot-classification", model=str(directory), device="cpu")
        return lambda tokens: dict(_zero_shot(run, tasks, tokens))
    run = pipeline("token-classification", model=str(directory), device="cpu")  # type: ignore
    return lambda tokens: dict(_tagged(run, tasks, tokens))


def _zero_shot(
    run: Any, tasks: Sequence[TaskSpec], tokens: Sequence[str]
) -> Iterator[tuple[str, Any]]:
    for task in tasks:
        if KINDS[task.kind].blank(1) is None and KINDS[task.kind].unit == "sentence":
            yield task.name, run(" ".join(tokens), candidate_labels=list(task.labels))["labels"][0]


def _tagged(
    run: Any, tasks: Sequence[TaskSpec], tokens: Sequence[str]
) -> Iterator[tuple[str, Any]]:
    found = run(
        [list(tokens)], is_split_into_words=True, aggregation_strategy="first", delimiter=" "
    )[0]
    starts: dict[int, int] = {}
    at = 0
    for number, token in enumerate(tokens):
        starts |= dict.fromkeys(range(at, at + len(token) + 1), number)
        at += len(token) + 1
    for task in tasks:
        if not KINDS[task.kind].marks_spans:
            continue
        label_of = {label.lower(): label for label in task.labels}
        yield (
            task.name,
            [
                [
                    starts[one["start"]],
                    starts[one["end"] - 1] + 1,
                    label_of[one["entity_group"].lower()],
                ]
                for one in found
                if one["entity_group"].lower() in label_of
            ],
        )
