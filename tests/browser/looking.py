"""What tests look at on a page: accessibility, width, and a picture for people."""

import os
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe

PICTURES = os.environ.get("TANDEM_SCREENSHOTS", "")
SEVERE = ("serious", "critical")
TEXTS = """(without) => {
    const texts = [document.title];
    const unseen = "script, style, noscript, kbd, code, pre, .avatar";
    const silent = without ? `${unseen}, ${without}` : unseen;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode())
        if (!node.parentElement.closest(silent)) texts.push(node.data);
    for (const node of document.body.querySelectorAll("*"))
        for (const name of ["aria-label", "title", "placeholder", "alt"])
            if (node.hasAttribute(name) && !(without && node.closest(without)))
                texts.push(node.getAttribute(name));
    return texts;
}"""


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


def texts_of(page, *, without: str = "") -> list[str]:
    """Return the texts of a page that people see or hear, without those of some elements."""
    return page.evaluate(TEXTS, without)


def overflow(page) -> int:
    """Return by how many pixels a page is wider than its window."""
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


def picture(page, name: str) -> None:
    """Keep a picture of the whole page, where TANDEM_SCREENSHOTS names a directory."""
    if PICTURES:
        Path(PICTURES).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=True)
