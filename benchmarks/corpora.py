"""Imports, exports and browsing: CPU seconds, memory and milliseconds.

    python -m benchmarks.corpora [--postgres] [--sentences 1000000]

Each part runs in a process of its own with a database of its own, and says what it used. CPU
seconds are those of the process that imports; on PostgreSQL the database's own are not in them.
Writes benchmarks/results/corpora.md (corpora-postgres.md).
"""

import argparse
import io
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks import corpora_data
from benchmarks.databases import postgres_database

N = 10_000
RUNS = 5
# What is measured, its limit and Label Studio's own figure for the same work.
LIMITS = {
    "import text": (0.52, 2.6),
    "import jsonl": (1.24, 12.4),
    "import conll2003": (1.24, 12.4),
    "import conllu": (1.24, 12.4),
    "export jsonl": (1.0, 18.0),
    "export conll2003": (1.0, 18.0),
    "export conllu": (1.0, 18.0),
}
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Run all parts and write the report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--sentences", type=int, default=1_000_000)
    parser.add_argument("--part", choices=["small", "large"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        set_up()
        found = small_part() if options.part == "small" else large_part(options.sentences)
        print(json.dumps(found))
        return
    with postgres_database(options.postgres) as url:
        small = in_own_process("small", options.sentences, url)
        large = in_own_process("large", options.sentences, url)
    name = "corpora-postgres.md" if options.postgres else "corpora.md"
    report = write_report(small, large, options)
    (RESULTS / name).write_text(report)
    print(report)


def in_own_process(part: str, n_sentences: int, url: str | None) -> dict[str, Any]:
    """Return what a part measures in a fresh process with a fresh data directory."""
    with tempfile.TemporaryDirectory(prefix="tandem-bench-") as home:
        environment = {**os.environ, "TANDEM_HOME": home, "TANDEM_LOG_LEVEL": "WARNING"}
        environment["TANDEM_STATIC_FROM_SOURCE"] = "1"
        environment.pop("DATABASE_URL", None)
        if url:
            environment["DATABASE_URL"] = url
        command = [sys.executable, "-m", "benchmarks.corpora", "--part", part]
        command += ["--sentences", str(n_sentences)]
        done = subprocess.run(
            command, env=environment, check=True, stdout=subprocess.PIPE, text=True
        )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def set_up() -> None:
    """Make the database of this process."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0, skip_checks=True)


def small_part() -> dict[str, Any]:
    """Return the CPU seconds of importing and exporting 10,000 sentences, the least of runs."""
    from annotation.corpora.exports import export_corpus
    from annotation.corpora.imports import import_corpus

    project = project_with_owner()
    seconds: dict[str, float] = {}
    files: dict[str, Iterable[str]] = {
        "text": corpora_data.plain_lines(N),
        "jsonl": corpora_data.labelled_jsonl(N),
        "conll2003": corpora_data.labelled_conll(N),
        "conllu": corpora_data.labelled_conllu(N),
    }
    tasks = {"jsonl": ["ner", "topic"], "conll2003": ["ner"], "conllu": ["ner", "tree"]}
    for name, lines in files.items():
        raw = "".join(lines).encode()

        def load(run: int, name: str = name, raw: bytes = raw) -> None:
            import_corpus(
                project=project,
                stream=io.BytesIO(raw),
                file_name=f"{name}-{run}",
                format=name,
                labels="none" if name == "text" else "gold",
            )

        def dump(run: int, name: str = name) -> None:
            corpora = [project.corpora.get(name=f"{name}-{run}")]
            pieces = export_corpus(project=project, format=name, corpora=corpora, tasks=tasks[name])
            assert sum(map(len, pieces)) > 100_000

        seconds[f"import {name}"] = least_cpu(load)
        if name in tasks:
            seconds[f"export {name}"] = least_cpu(dump)
    return seconds


def large_part(n_sentences: int) -> dict[str, Any]:
    """Return what importing and browsing very many sentences costs."""
    from django.db import connection
    from django.test import Client
    from django.urls import reverse

    from annotation.corpora.imports import import_corpus
    from annotation.corpora.selectors import SentenceFilter, browse_sentences, place_of_number

    project = project_with_owner()
    before = peak_megabytes()
    stages: dict[str, float] = {}
    with tempfile.NamedTemporaryFile("w+b", suffix=".txt") as file:
        for line in corpora_data.plain_lines(n_sentences):
            file.write(line.encode())
        start_cpu, start = time.process_time(), time.perf_counter()
        import_corpus(
            project=project,
            stream=file,  # type: ignore[arg-type]
            file_name="large.txt",
            format="text",
            labels="none",
            progress=lambda stage, *_: (
                stages.setdefault(stage, time.perf_counter() - start) and None
            ),
        )
        found: dict[str, Any] = {
            "cpu": time.process_time() - start_cpu,
            "wall": time.perf_counter() - start,
            "locked": time.perf_counter() - start - stages["storing"],
            "bytes": os.path.getsize(file.name),
        }
    found |= {"before": before, "peak": peak_megabytes()}

    client = Client(HTTP_HOST="localhost")
    client.force_login(project.created_by)
    address = reverse("data", args=[project.pk])
    places = {"page 1": 1, "the middle": n_sentences // 2, "the last page": n_sentences - 49}
    for name, number in places.items():
        place = place_of_number(project, number)
        assert place

        def page(place: Any = place) -> None:
            assert browse_sentences(project, start=place).sentences

        def request(number: int = number) -> None:
            assert client.get(address, {"number": number}).status_code == 200

        found[f"query of {name}"] = milliseconds(page)
        found[f"request of {name}"] = milliseconds(request)
    wanted = SentenceFilter(text=f" {n_sentences - 1}")
    found["search of one sentence"] = milliseconds(
        lambda: browse_sentences(project, wanted).sentences, runs=3
    )
    connection.close()
    return found


def project_with_owner() -> Any:
    """Return an empty project with an owner who may browse it."""
    from django.contrib.auth import get_user_model

    from annotation.projects.services import create_project

    users = get_user_model().objects
    owner = users.filter(username="bench").first() or users.create_user("bench")
    spec = {**corpora_data.SPEC, "name": f"Corpora {time.time_ns()}"}
    return create_project(spec=spec, owner=owner)


def least_cpu(work: Callable[[int], None]) -> float:
    """Return the least CPU seconds of some runs: other work on the machine only adds to them."""
    seconds = []
    for run in range(RUNS):
        start = time.process_time()
        work(run)
        seconds.append(time.process_time() - start)
    return min(seconds)


def milliseconds(work: Callable[[], Any], runs: int = 21) -> dict[str, float]:
    """Return the median wall clock and CPU milliseconds of some runs, after one to warm up."""
    work()
    wall, cpu = [], []
    for _ in range(runs):
        start, start_cpu = time.perf_counter(), time.process_time()
        work()
        wall.append(1000 * (time.perf_counter() - start))
        cpu.append(1000 * (time.process_time() - start_cpu))
    return {"wall": statistics.median(wall), "cpu": statistics.median(cpu)}


def peak_megabytes() -> float:
    """Return the most memory this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def write_report(small: dict[str, Any], large: dict[str, Any], options: argparse.Namespace) -> str:
    """Return the results as Markdown."""
    database = "PostgreSQL" if options.postgres else "SQLite"
    lines = [
        f"# Corpora on {database}",
        "",
        f"`python -m benchmarks.corpora{' --postgres' if options.postgres else ''}` on Python "
        f"{platform.python_version()}, {os.cpu_count()} cores that other work shares.",
        "",
        f"CPU seconds for {N:,} sentences, least of {RUNS} runs. Label Studio's figures are of the "
        "same work on a machine of this kind.",
        "",
        "| | CPU s | limit | Label Studio |",
        "|---|---|---|---|",
    ]
    for name, seconds in small.items():
        limit, peer = LIMITS[name]
        lines.append(f"| {name} | {seconds:.2f} | {limit:.2f} | {peer:.1f} |")
    lines += [
        "",
        f"{options.sentences:,} plain sentences ({large['bytes'] / 1e6:.0f} MB): "
        f"{large['cpu']:.0f} CPU s, {large['wall']:.0f} s by the clock, of which "
        f"{large['locked']:.0f} s in the storing transaction. Peak memory {large['peak']:.0f} MB "
        f"(limit 400; {large['before']:.0f} before the import).",
        "",
        "| browsing | ms by the clock | CPU ms |",
        "|---|---|---|",
    ]
    for name, value in large.items():
        if isinstance(value, dict):
            lines.append(f"| {name} | {value['wall']:.1f} | {value['cpu']:.1f} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
