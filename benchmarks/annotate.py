"""The annotate page in a real Chromium: how fast, how light, how many keys.

    python -m benchmarks.annotate [--results FILE]

A server as the product runs it (gunicorn, SQLite, collected static files) and a headless browser on
the same machine. Prints a table and writes it to the results file.
"""

import argparse
import json
import shutil
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from benchmarks.annotate_typist import Typist
from benchmarks.web_server import WebServer, serving

BROWSERS = ("chromium", "chromium-headless-shell", "google-chrome")
FLAGS = "--headless --no-sandbox --disable-gpu --no-first-run".split()
HOW = (
    "`python -m benchmarks.annotate`: headless Chromium and the product's web server (gunicorn, "
    "SQLite) on one machine of two cores."
)
WATCH = Path(__file__).with_name("annotate_watch.js")
N_KEYS = 180
SENTENCES = {
    "blank": ("news desk, four tasks, without suggestions", "<= 75"),
    "right": ("news desk, suggestions right", "2"),
    "atis": ("ATIS, 67 + 16 labels, by hand after 500 labelled sentences", "<= 20"),
    "atis-right": ("ATIS, suggestions right", "2"),
}
PAUSE = 100  # milliseconds between key presses: ten a second, faster than hands think
KEYS = [
    "ArrowRight",
    "p",
    "ArrowRight",
    "ArrowRight",
    "o",
    "Control+z",
    "ArrowRight",
    "a",
    "ArrowUp",
]
LABEL_KEYS = """async (files) => {
  const [{ allocateKeys }] = await Promise.all(files.map((file) => import(file)));
  const { project } = JSON.parse(document.getElementById("annotate-data").textContent);
  const keys = allocateKeys(project.tasks);
  const written = (key) => (/^[A-Z]$/.test(key) ? `Shift+${key}` : key);
  return Object.fromEntries(project.tasks.map(({ name, labels }) => [
    name,
    Object.fromEntries(labels.map((label) => [label.name, written(keys.keyOf(name, label.name))])),
  ]));
}"""


def main() -> None:
    """Run everything and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--results", default="benchmarks/results/annotate.md")
    parser.add_argument("--atis", help="folder with ATIS as dev.conll and test.conll")
    parser.add_argument("--note", default="", help="on the circumstances, for the results")
    options = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="tandem-annotate-"))
    server = WebServer(home, settings={"TANDEM_STATIC_FROM_SOURCE": ""})
    try:
        server.run("django", "collectstatic", "--noinput", "--settings", "config.settings")
        atis = [options.atis] if options.atis else []
        made = json.loads(server.run("benchmarks.annotate_project", *atis))
        made["files"] = script_files(home / "static")
        with serving(server), sync_playwright() as playwright:
            path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
            browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
            rows = measure_all(browser, f"http://127.0.0.1:{server.port}", made)
            browser.close()
    finally:
        server.stop()
        shutil.rmtree(home)
    text = "\n".join(["| what | measured | wanted |", "|---|---|---|", *rows])
    print(text)
    how = f"{HOW} {options.note}".strip()
    Path(options.results).write_text(f"# The annotate page, measured\n\n{how}\n\n{text}\n")


def script_files(static: Path) -> list[str]:
    """Return the served addresses of the script that gives out keys, and of the kinds of tasks."""
    names = json.loads((static / "staticfiles.json").read_text())["paths"]
    kinds = [name for name in names if name.startswith("annotation/annotate/kinds/")]
    return [f"/static/{names[name]}" for name in ("annotation/annotate/input/keys.js", *kinds)]


def measure_all(browser: Browser, url: str, made: dict[str, Any]) -> list[str]:
    """Return the rows of the report."""
    desk = Desk(browser, url, made)
    return [
        *desk.weight_and_shift(),
        *desk.key_to_effect("long-60", 16, ", 80 labels"),
        *desk.key_to_effect("long-200", 50),
        *desk.submit_to_next(),
        *desk.keystrokes(),
    ]


class Desk:
    """The annotator's browser."""

    def __init__(self, browser: Browser, url: str, made: dict[str, Any]) -> None:
        self.browser, self.url, self.projects = browser, url, made["projects"]
        self.files = made["files"]
        self.cookie = {"name": "sessionid", "value": made["session"], "url": url}

    def open(self, name: str) -> Page:
        """Return the annotate page of a project, ready for its first sentence."""
        context = self.browser.new_context(viewport={"width": 1280, "height": 900})
        context.add_cookies([self.cookie])
        context.add_init_script(path=WATCH)
        page = context.new_page()
        page.goto(f"{self.url}/projects/{self.projects[name]['id']}/annotate/")
        page.locator("#submit:not([disabled])").wait_for()
        return page

    def weight_and_shift(self) -> list[str]:
        """Return the rows about loading: bytes on the wire, and what moved by itself."""
        page = self.open("cycles")
        page.wait_for_load_state("networkidle")
        weight = page.evaluate("watch.weight()") / 1000
        n = page.evaluate("watch.requests()")
        shift = page.evaluate("watch.shift")
        page.context.close()
        return [
            f"| page weight, compressed | {weight:.0f} kB | < 150 kB |",
            f"| requests until the first sentence is there | {n} | <= 30 |",
            f"| layout shift while loading | {shift:.4f} | 0 |",
        ]

    def key_to_effect(self, name: str, limit: int, more: str = "") -> list[str]:
        """Return the row about key presses on a long sentence, suggestions accepted."""
        page = self.open(name)
        page.keyboard.press("Shift+Enter")
        page.evaluate("watch.clear()")
        with main_thread(page) as cpu:
            for i in range(N_KEYS):
                page.keyboard.press(KEYS[i % len(KEYS)])
                page.wait_for_timeout(PAUSE)
            page.wait_for_timeout(200)
        times, painted = page.evaluate("[watch.effects, watch.paints]")
        page.context.close()
        words = f"key to effect, {name.removeprefix('long-')} words{more}"
        return [
            f"| {words}: CPU of the page's thread, painting included | "
            f"mean {cpu['TaskDuration'] * 1000 / N_KEYS:.1f} ms | < {limit} ms |",
            f"| {words}: handled, laid out | {spread(times)} | < {limit} ms |",
            f"| {words}: on screen (60 Hz frames) | {spread(painted)} | |",
        ]

    def submit_to_next(self) -> list[str]:
        """Return the rows about the way from Enter to the next sentence."""
        page = self.open("cycles")
        page.evaluate("watch.clear()")
        used = []
        for _ in range(100):
            page.keyboard.press("Shift+Enter")
            page.wait_for_timeout(PAUSE)
            with main_thread(page) as cpu:
                with page.expect_response("**/peek/"):  # the sentence after the next is there then
                    page.keyboard.press("Enter")
                page.locator("#submit:not([disabled])").wait_for()
            used.append(cpu["TaskDuration"] * 1000)
        nexts, leases, at_once = page.evaluate("[watch.nexts, watch.leases, watch.atOnce]")
        shift = page.evaluate("watch.shift")
        page.context.close()
        return [
            "| submit to next painted and leased, one more fetched: CPU of the page's thread "
            f"| {spread(used)} | |",
            f"| submit to next painted (n = {len(nexts)}) | {spread(nexts)} | p95 < 60 ms |",
            f"| next sentences in the page before the key press has ended | {at_once} of 100 | |",
            f"| submit to next leased | {spread(leases)} | |",
            f"| layout shift over {len(nexts)} sentences | {shift:.4f} | 0 |",
        ]

    def keystrokes(self) -> list[str]:
        """Return the rows about keys for the reference sentences, stored answers compared."""
        rows = []
        for name, (words, wanted) in SENTENCES.items():
            if name not in self.projects:
                continue
            counts, n_words = self._type_all(name)
            rows.append(
                f"| keys per sentence: {words} (n = {len(counts)}) "
                f"| {statistics.mean(counts):.1f}, "
                f"{sum(counts) / n_words:.1f} per word | {wanted} |"
            )
        return rows

    def _type_all(self, name: str) -> tuple[list[int], int]:
        project = self.projects[name]
        page = self.open(name)
        label_keys = page.evaluate(LABEL_KEYS, self.files)
        counts = []
        for i, gold in enumerate(project["gold"]):
            page.wait_for_load_state("networkidle")  # what earlier answers say has come
            typist = Typist(page, label_keys)
            typist.answer(gold, project["suggestions"][i])
            with page.expect_response("**/submit/") as response:
                typist.press("Enter")
            sent = response.value.request.post_data_json["answers"]
            if not response.value.ok or sent != gold:
                raise AssertionError(f"Sentence {i} of {name}: sent {sent}, wanted {gold}.")
            counts.append(typist.n_keys)
            if i < len(project["gold"]) - 1:
                page.locator("#submit:not([disabled])").wait_for()
        page.context.close()
        return counts, sum(map(len, project["tokens"]))


@contextmanager
def main_thread(page: Page) -> Iterator[dict[str, float]]:
    """Yield the CPU seconds of the page's main thread in a block, by what it did."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = _metrics(session)
    used: dict[str, float] = {}
    yield used
    used |= {name: value - before[name] for name, value in _metrics(session).items()}


def _metrics(session: CDPSession) -> dict[str, float]:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return {metric["name"]: metric["value"] for metric in metrics}


def spread(values: Sequence[float]) -> str:
    """Return median, p95 and maximum in milliseconds."""
    ranked = sorted(values)
    p95 = ranked[min(len(ranked) - 1, round(0.95 * len(ranked)))]
    return f"median {statistics.median(ranked):.1f}, p95 {p95:.1f}, max {ranked[-1]:.1f} ms"


if __name__ == "__main__":
    main()
