"""Attacks a server of its own on 127.0.0.1 and writes what was tried and what was found.

    python -m benchmarks.attack [--part access ...] [--database sqlite|postgres] [--scale 1.0]

Everything goes to a server that this script starts and stops, bounded in count and time. A finding
is a wrong success, a word of another project, an answer of 500 or above, or a server that others
wait for. Exits with status 1 if there are any; all parts together write
benchmarks/results/attack.md.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.attack_doors import attack_access, attack_csrf, attack_sign_in
from benchmarks.attack_inputs import (
    attack_archives,
    attack_bombs,
    attack_forms,
    attack_imports,
    attack_json,
)
from benchmarks.attack_limits import attack_at_once, attack_clock, attack_disk, attack_slowly
from benchmarks.attack_target import PATIENCE, Attack, Finding
from benchmarks.databases import postgres_database
from benchmarks.web_server import ROOT, WebServer

RESULTS = ROOT / "benchmarks" / "results" / "attack.md"
LOG = Path(tempfile.gettempdir()) / "tandem-attack.log"
HEAD = """# Attacks

`python -m benchmarks.attack` starts a server of its own on this machine, attacks it and writes this table. A finding is a wrong success, a word of another project, an answer of 500 or above, an answer that
was lost, or a server that others wait for longer than {patience:.0f} s. Kills are in [chaos.md](chaos.md); attacks on the pages' scripts and markup are tests in a browser (`tests/browser`, `tests/annotation/accounts/test_who_may_open.py`).

Database: {database}. {seconds:.0f} s in all.

| attack | tried | found |
|---|---|---|
"""  # noqa: E501


PARTS: dict[str, Callable[[Attack], Finding]] = {
    "access": attack_access,
    "csrf": attack_csrf,
    "sign_in": attack_sign_in,
    "slow": attack_slowly,
    "bombs": attack_bombs,
    "imports": attack_imports,
    "archives": attack_archives,
    "clock": attack_clock,
    "at_once": attack_at_once,
    "json": attack_json,
    "forms": attack_forms,
    "disk": attack_disk,
}


def main() -> int:
    """Attack, and say what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", choices=list(PARTS), nargs="*", default=list(PARTS))
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started, rows = time.monotonic(), []
    is_postgres = options.database == "postgres"
    with tempfile.TemporaryDirectory() as home, postgres_database(is_postgres) as url:
        server = WebServer(Path(home), url, settings={"TANDEM_RATE_LIMIT": "0"}, log=LOG)
        made = json.loads(server.run("benchmarks.attack_victim", "make"))
        server.start()
        worker = subprocess.Popen(
            [sys.executable, "-m", "manage", "worker", "--lane", "files"],
            cwd=ROOT, env=server.environment, stderr=LOG.open("ab"),
        )  # fmt: skip
        attack = Attack(server, made, options.scale, random.Random(options.seed))
        try:
            for name in options.part:
                if name == "disk" and is_postgres:
                    continue  # its files are not the server's
                rows.append(PARTS[name](attack))
                print(rows[-1].row, flush=True)
                print("".join(f"  {words}\n" for words in rows[-1].found[:40]), end="", flush=True)
        finally:
            worker.terminate()
            worker.wait(60)
            server.stop()
    seconds = time.monotonic() - started
    head = HEAD.format(patience=PATIENCE, database=options.database, seconds=seconds)
    text = head + "".join(f"{row.row}\n" for row in rows)
    if len(rows) >= len(PARTS) - 1 and not is_postgres:
        RESULTS.write_text(text)
    return 1 if any(row.found for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
