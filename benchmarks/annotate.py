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

FLAGS = "--headless --no-sandbox --disable-gpu --no-first-run".split()
HOW = (
    "`python -m benchmarks.annotate`: headless Chromium and the product's web server (gunicorn, "
    "SQLite) on one machine of two cores."
)
WATCH = Path(__file__).with_name("annotate_watch.js")
N_KEYS = 180
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
LABEL_KEYS = """() => Object.fromEntries([...document.querySelectorAll(".task-bar")].map((bar) => [
  bar.querySelector("h2").textContent,
  Object.fromEntries([...bar.querySelectorAll("[data-label]")].map((button) => [
    button.dataset.label, button.querySelector("kbd")?.textContent.replace("⇧", "Shift+") ?? "",
  ])),
]))"""
CHOOSER = """() => [...document.querySelectorAll("link[rel=modulepreload]")]
  .map(({ href }) => href).find((href) => href.includes("/page/chooser."))"""
PREFIXES = """async (base) => {
  const { matchLabels } = await import(base);
  const desk = JSON.parse(document.getElementById("desk").textContent);
  const labels = desk.project.tasks.find(({ kind }) => kind === "tree").labels.map((l) => l.name);
  const shortest = (label) => {
    for (let n = 1; n <= label.length; n++) {
      if (matchLabels(labels, label.slice(0, n))[0] === label) return label.slice(0, n);
    }
    return label;
  };
  return Object.fromEntries(labels.map((label) => [label, shortest(label)]));
}"""


def main() -> None:
    """Run everything and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--results", default="benchmarks/results/annotate.md")
    options = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="tandem-annotate-"))
    server = WebServer(home, settings={"TANDEM_STATIC_FROM_SOURCE": ""})
    try:
        server.run("django", "collectstatic", "--noinput", "--settings", "config.settings")
        made = json.loads(server.run("benchmarks.annotate_project"))
        with serving(server), sync_playwright() as playwright:
            path = shutil.which("chromium") or shutil.which("google-chrome")
            browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
            rows = measure_all(browser, f"http://127.0.0.1:{server.port}", made)
            browser.close()
    finally:
        server.stop()
        shutil.rmtree(home)
    text = "\n".join(["| what | measured | wanted |", "|---|---|---|", *rows])
    print(text)
    Path(options.results).write_text(f"# The annotate page, measured\n\n{HOW}\n\n{text}\n")


def measure_all(browser: Browser, url: str, made: dict[str, Any]) -> list[str]:
    """Return the rows of the report."""
    desk = Desk(browser, url, made)
    return [
        *desk.weight_and_shift(),
        *desk.key_to_effect("long-60", 16),
        *desk.key_to_effect("long-200", 50),
        *desk.submit_to_next(),
        *desk.keystrokes(),
    ]


class Desk:
    """The annotator's browser."""

    def __init__(self, browser: Browser, url: str, made: dict[str, Any]) -> None:
        self.browser, self.url, self.projects = browser, url, made["projects"]
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
            f"| page weight, compressed ({n} requests) | {weight:.0f} kB | < 150 kB |",
            f"| layout shift while loading | {shift:.4f} | 0 |",
        ]

    def key_to_effect(self, name: str, limit: int) -> list[str]:
        """Return the row about key presses on a long sentence, suggestions accepted."""
        page = self.open(name)
        for _ in range(3):
            page.keyboard.press("Shift+A")
        page.evaluate("watch.clear()")
        with main_thread(page) as cpu:
            for i in range(N_KEYS):
                page.keyboard.press(KEYS[i % len(KEYS)])
                page.wait_for_timeout(PAUSE)
            page.wait_for_timeout(200)
        times, painted = page.evaluate("[watch.effects, watch.paints]")
        page.context.close()
        words = f"key to effect, {name.removeprefix('long-')} words"
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
            for _ in range(4):
                page.keyboard.press("Shift+A")
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
            f"| submit to next painted (n = {len(nexts)}) | {spread(nexts)} | p95 < 100 ms |",
            f"| next sentences in the page before the key press has ended | {at_once} of 100 | |",
            f"| submit to next leased | {spread(leases)} | |",
            f"| layout shift over {len(nexts)} sentences | {shift:.4f} | 0 |",
        ]

    def keystrokes(self) -> list[str]:
        """Return the rows about keys for the reference sentences, stored answers compared."""
        rows = []
        for name in ("blank", "suggested"):
            counts, n_words = self._type_all(name)
            total, per_word = sum(counts), sum(counts) / n_words
            words = "without suggestions" if name == "blank" else "with suggestions, 90 % right"
            rows.append(
                f"| keys for {len(counts)} sentences, four tasks, {words} | {total} "
                f"({statistics.mean(counts):.0f} a sentence, {per_word:.1f} a word) | |"
            )
        return rows

    def _type_all(self, name: str) -> tuple[list[int], int]:
        project = self.projects[name]
        page = self.open(name)
        label_keys = page.evaluate(LABEL_KEYS)
        script = page.evaluate(CHOOSER)
        prefixes = page.evaluate(PREFIXES, script)
        counts = []
        for i, gold in enumerate(project["gold"]):
            typist = Typist(len(project["tokens"][i]), label_keys, prefixes)
            keys = typist.answer(gold, project["suggestions"][i])
            with page.expect_response("**/submit/") as response:
                for key in keys:
                    page.keyboard.press(key)
            sent = response.value.request.post_data_json["answers"]
            if not response.value.ok or sent != gold:
                raise AssertionError(f"Sentence {i} of {name}: sent {sent}, wanted {gold}.")
            counts.append(len(keys))
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
