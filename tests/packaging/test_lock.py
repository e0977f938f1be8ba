"""The locks: everything that is installed is pinned with hashes, as the requirements say."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENTRY = re.compile(
    r"^([A-Za-z0-9._-]+)==([^ ;\\\n]+)[^\n]*\n((?:    --hash=sha256:[0-9a-f]{64}.*\n)+)", re.M
)


def entries(name):
    """Return the versions of every package of a lock; a package may differ between Pythons."""
    text = (ROOT / name).read_text()
    found = {}
    for package, version, _ in ENTRY.findall(text):
        found.setdefault(_normal(package), set()).add(version)
    n_pins = sum(1 for line in text.splitlines() if re.match(r"[A-Za-z0-9].*==", line))
    assert n_pins == len(ENTRY.findall(text)), "an entry without hashes"
    return found


def pins(*names):
    lines = [line for name in names for line in (ROOT / name).read_text().splitlines()]
    pairs = [line.split("==") for line in lines if re.match(r"[A-Za-z]", line)]
    return {_normal(name.partition("[")[0]): version for name, version in pairs}


def _normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize(
    ("locks", "sources"),
    [
        (["requirements.lock", "requirements-torch.lock"], ["requirements.txt"]),
        (
            ["requirements-dev.lock", "requirements-torch.lock"],
            [
                "requirements.txt",
                "requirements-cluster.txt",
                "requirements-extras.txt",
                "requirements-dev.txt",
            ],
        ),
    ],
)
def test_every_pin_is_locked_with_hashes(locks, sources):
    locked = {name: versions for lock in locks for name, versions in entries(lock).items()}
    wanted = pins(*sources)
    assert {n: v for n, v in wanted.items() if v not in locked.get(n, ())} == {}, "run `make lock`"


def test_the_locks_agree_with_each_other():
    run, dev = entries("requirements.lock"), entries("requirements-dev.lock")
    assert {name: (run[name], dev.get(name)) for name in run if run[name] != dev.get(name)} == {}


def test_torch_and_what_only_cuda_needs_are_apart():
    torch, cpu = entries("requirements-torch.lock"), entries("requirements-torch-cpu.lock")
    assert cpu == {"torch": {f"{version}+cpu" for version in torch["torch"]}}
    own = entries("requirements.lock")
    assert "torch" not in own
    assert not [name for name in own if name.startswith(("nvidia", "cuda", "triton"))]
