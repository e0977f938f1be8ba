"""Writes the lock files, every package with its hashes on all platforms: `make lock`.

torch has files of its own. Its CPU build, which the package index itself does not list, is taken
where pip finds it; else the one of the index, which on Linux brings gigabytes of CUDA along.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEV = "requirements-dev.lock"  # first: what it takes binds the others
LOCKS = {"requirements-dev.txt": DEV, "requirements.txt": "requirements.lock"}
TORCH, TORCH_CPU = "requirements-torch.lock", "requirements-torch-cpu.lock"
OF_TORCH = re.compile(r"(torch|nvidia-\S+|cuda-\S+|triton)==")
CPU_BUILDS = [
    # CPython 3.11, Linux x86_64
    "sha256:6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b",
]
HEAD = "# Written by `make lock` from {}; pip install --require-hashes --no-deps -r this\n"


def main() -> None:
    """Write all locks."""
    for source, target in LOCKS.items():
        entries = resolve(source)
        _write(target, source, [entry for entry in entries if not OF_TORCH.match(entry)])
        if source == "requirements.txt":
            own = [entry for entry in entries if OF_TORCH.match(entry)]
            _write(TORCH, source, own)
            pin = next(entry for entry in own if entry.startswith("torch==")).split()[0]
            hashes = "".join(f" \\\n    --hash={digest}" for digest in CPU_BUILDS)
            _write(TORCH_CPU, source, [f"{pin}+cpu{hashes}\n"])


def resolve(source: str) -> list[str]:
    """Return an entry per package: its pin and hashes, on as many lines."""
    bound = [] if LOCKS[source] == DEV else ["--constraint", DEV]
    done = subprocess.run(
        [sys.executable, "-m", "uv", "pip", "compile", source, "--universal", "--quiet",
         "--python-version", "3.11", "--generate-hashes", "--no-header", "--no-annotate", *bound],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return re.findall(r"^\S.*?(?:\n    .*)*\n", done.stdout, re.MULTILINE)


def _write(target: str, source: str, entries: list[str]) -> None:
    (ROOT / target).write_text(HEAD.format(source) + "".join(entries))


if __name__ == "__main__":
    main()
