"""The command line: `tandem` where Tandem is installed, `manage.py` in its source tree."""

import os
import sys

from config import VERSION

EXTRAS = {  # packages that a lean installation lacks
    "studies": ("cma", "gplearn", "matplotlib", "pyoperon", "sklearn", "sympy"),
    "cluster": ("ray",),
}


def main() -> None:
    """Run the command that the arguments name."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if sys.argv[1:] in (["--version"], ["version"]):
        print(f"Tandem {VERSION}")
        return
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ModuleNotFoundError as error:
        remedy = missing_extra(error.name or "")
        if not remedy:
            raise
        sys.exit(f"This command needs the package '{error.name}'. Install it with: {remedy}")


def missing_extra(module: str) -> str:
    """Return how to install a package of an extra; nothing for any other."""
    package = module.partition(".")[0]
    found = [extra for extra, packages in EXTRAS.items() if package in packages]
    return f"pip install 'tandem[{found[0]}]'" if found else ""
