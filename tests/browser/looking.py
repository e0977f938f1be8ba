"""What tests look at on a page: accessibility, width, and a picture for people."""

import os
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe

PICTURES = os.environ.get("TANDEM_SCREENSHOTS", "")
SEVERE = ("serious", "critical")


def severe_violations(page, *rules: str) -> list[str]:
    """Return the serious accessibility faults of a page, of all rules unless some are named."""
    options = {"runOnly": {"type": "rule", "values": list(rules)}} if rules else {}
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{fault['id']}: {node['html'][:160]} {node['any'][0]['message'] if node['any'] else ''}"
        for fault in found
        if fault["impact"] in SEVERE
        for node in fault["nodes"]
    ]


def overflow(page) -> int:
    """Return by how many pixels a page is wider than its window."""
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


def picture(page, name: str) -> None:
    """Keep a picture of the whole page, where TANDEM_SCREENSHOTS names a directory."""
    if PICTURES:
        Path(PICTURES).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=True)
