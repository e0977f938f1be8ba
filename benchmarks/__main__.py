"""Run the benchmarks, all of them or those that are named: python -m benchmarks [name ...]."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def runnable() -> list[str]:
    """Return the benchmarks that can be run by themselves."""
    marker = '__name__ == "__main__"'
    files = (path for path in sorted(HERE.glob("*.py")) if not path.name.startswith("__"))
    return [path.stem for path in files if marker in path.read_text(encoding="utf-8")]


def main(names: list[str]) -> int:
    """Run benchmarks one after the other; return how many failed."""
    known = runnable()
    strangers = [name for name in names if name not in known]
    if strangers:
        print(f"No benchmark '{strangers[0]}'. Known: {', '.join(known)}.", file=sys.stderr)
        return 2
    n_failed = 0
    for name in names or known:
        print(f"== {name}", flush=True)
        done = subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False)
        n_failed += done.returncode != 0
    return n_failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
