"""Measures how long the pages of a project of ten rounds and five people take to be served.

python -m benchmarks.overview [--answers 100] [--pool 5000]

A project is made of rows in a data directory of its own; nothing is trained. Every page is opened
some times by its owner; the median and the slowest are told, the processor time that does not
depend on what else the machine does, and how many queries it took. The overview must be served
within 300 ms.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable

PAGES = (
    ("overview", "overview"),
    ("its charts", "dashboard-data"),
    ("rounds", "rounds"),
    ("plan a round", "plan-round"),
    ("people", "team"),
    ("agreement", "agreement"),
    ("adjudicate", "adjudicate"),
    ("inbox", "inbox"),
    ("review", "review"),
    ("data", "data"),
)
LIMIT = 0.3  # seconds, of the overview and of its charts


def main() -> int:
    """Print the table; return 1 where the overview is slower than its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=100, help="asks of each round")
    parser.add_argument("--pool", type=int, default=5000, help="sentences that nobody answered")
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--profile", default="", help="print where this page spends its time")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"TANDEM_HOME": folder, "TANDEM_STATIC_FROM_SOURCE": "1"}
        os.environ["TANDEM_LOG_LEVEL"] = "ERROR"
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        return _measure(options)


def _measure(options: argparse.Namespace) -> int:
    from django.contrib.auth import get_user_model
    from django.db import connection
    from django.test import Client
    from django.urls import reverse

    from tests.browser.team_project import make_team

    owner = get_user_model().objects.create_superuser("owner")
    started = time.monotonic()
    project = make_team(owner, per_round=options.answers, n_pool=options.pool)
    seconds = time.monotonic() - started
    print(f"10 rounds of {options.answers} asks, 5 people, {project.sentences.count():,} sentences")
    load = os.getloadavg()[0]
    print(
        f"(made, with all reports, in {seconds:.0f} s; load {load:.1f} on {os.cpu_count()} cores)\n"
    )
    print("| page | median | slowest | processor | queries |\n|---|---|---|---|---|")
    client = Client(SERVER_NAME="localhost")
    client.force_login(owner)
    queries: list[str] = []

    def count(run: Callable[..., object], sql: str, *rest: object) -> object:
        queries.append(sql)
        return run(sql, *rest)

    is_slow = False
    for words, name in PAGES:
        address = reverse(name, args=[project.pk])
        queries.clear()
        with connection.execute_wrapper(count):
            assert client.get(address).status_code == 200, name
        taken, busy = [], []
        for _ in range(options.times):
            began, worked = time.perf_counter(), time.process_time()
            client.get(address)
            taken.append(time.perf_counter() - began)
            busy.append(time.process_time() - worked)
        median = statistics.median(taken)
        is_slow |= name in ("overview", "dashboard-data") and median > LIMIT
        times = [f"{1000 * one:.0f} ms" for one in (median, max(taken), statistics.median(busy))]
        print(f"| {words} | {' | '.join(times)} | {len(queries)} |")
        if options.profile == name:
            _profile(client, address)
    return int(is_slow)


def _profile(client: object, address: str) -> None:
    import cProfile
    import pstats

    with cProfile.Profile() as profile:
        client.get(address)  # type: ignore[attr-defined]
    pstats.Stats(profile).sort_stats("cumulative").print_stats(45)


if __name__ == "__main__":
    sys.exit(main())
