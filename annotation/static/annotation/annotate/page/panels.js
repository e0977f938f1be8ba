// Panels around the sentence: what is left and saved, why this sentence is asked, guidelines.
import { element, setText, svg, toggle } from "../dom.js";
import { shortNumber } from "../sentence/speech.js";
import { bar } from "./detail.js";
import { clockTime, number, t, tn } from "../words.js";

const TICK = "M3 8.5l3.2 3.2L13 5";
const CLOUD = "M3 3l10 10M5 6a4 4 0 0 0-1 6h7M7.5 4.2A4 4 0 0 1 12 8a2.4 2.4 0 0 1 1.4 3";
const ARROWS = "M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3";
const KEPT_OUT = {
  signedOut: t("Signed out: kept here. Sign in in another tab."),
  otherPerson: t("Signed in as somebody else: kept here. Sign in as yourself."),
  removed: t("No longer in this project: kept here. Ask an owner."),
  forbidden: t("No longer allowed by your role: kept here. Ask an owner."),
};

export class Facts {
  constructor({ counts, minutes, saved, round }) {
    Object.assign(this, { counts, minutes, saved, round });
  }

  renderCounts(counts, ask) {
    const key = JSON.stringify([counts, ask?.round]);
    if (key === this.shown) return;
    this.shown = key;
    this.round.textContent = ask?.round ? t("Round {n}", { n: ask.round }) : "";
    if (!counts) return;
    this.title ??= document.title;
    document.title = counts.left ? `(${number(counts.left)}) ${this.title}` : this.title;
    const part = (n, word) => element("span", {}, element("b", {}, number(n)), ` ${word}`);
    this.counts.replaceChildren(
      part(counts.left, t("left")),
      part(counts.done, t("done")),
      part(counts.skipped, t("skipped")),
    );
    this.#renderMinutes(counts);
  }

  #renderMinutes({ minutes, budget_minutes: budget }) {
    this.minutes.hidden = false;
    const spent = element("b", {}, String(Math.round(minutes)));
    if (!budget) {
      this.minutes.replaceChildren(element("span", {}, spent, ` ${t("min")}`));
      return;
    }
    const meter = element("progress", { max: budget, value: Math.min(minutes, budget) });
    meter.setAttribute(
      "aria-label",
      t("{n} of {all} minutes used", { n: Math.round(minutes), all: Math.round(budget) }),
    );
    this.minutes.replaceChildren(
      meter,
      element("span", {}, spent, ` ${t("of {all} min", { all: Math.round(budget) })}`),
    );
  }

  /** Whether all is saved; returns words to announce when that changed for better or worse. */
  renderSaved(connection) {
    const [state, path, text] = savedWords(connection);
    if (text === this.savedText) return null;
    const wasBad = this.savedState === "bad";
    this.savedText = text;
    this.savedState = state;
    this.saved.dataset.state = state;
    const icon = svg("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" });
    icon.append(svg("path", { d: path }));
    const isOut = connection.barrier === "signedOut";
    const link = { href: "/sign-in/", target: "_blank", rel: "noopener" };
    this.saved.replaceChildren(icon, isOut ? element("a", link, text) : text);
    return state === "bad" || wasBad ? text : null;
  }
}

function savedWords({ barrier, isReached, isSaving, savedAt }) {
  if (barrier) return ["bad", CLOUD, KEPT_OUT[barrier]];
  if (!isReached) return ["bad", CLOUD, t("Offline: kept in this browser")];
  if (isSaving) return ["busy", ARROWS, t("Saving…")];
  return ["good", TICK, savedAt ? t("Saved {time}", { time: clockTime(savedAt) }) : t("Nothing to save")];
}

const WIDE = "(min-width: 641px)";
const LOOKS = {
  second: t("Second opinion"),
  adjudicate: t("People differ: decide"),
  repair: t("Is this an error?"),
  check: t("Check of a suggestion"),
};

/** Show the reason of an ask; the panel is open wherever there is room, and for second looks. */
export function renderWhy(root, state) {
  const ask = state?.ask;
  if (root.dataset.ask === String(ask?.id)) return;
  root.dataset.ask = String(ask?.id);
  root.replaceChildren();
  if (!ask) return;
  const look = LOOKS[ask.purpose];
  const isOpen = look !== undefined || (root.dataset.open ?? String(matchMedia(WIDE).matches)) === "true";
  const details = element("details", { open: isOpen });
  const rank = element("span", { class: "push small faint number" }, rankText(ask));
  details.append(element("summary", {}, look ?? t("Why this sentence?"), rank));
  details.append(element("div", { class: "body stack" }, ...reasons(ask)));
  details.addEventListener("toggle", () => {
    if (look === undefined) root.dataset.open = String(details.open);
  });
  root.append(details);
}

function rankText({ rank, n_asks: n }) {
  return t("rank {n} of {all}", { n: number(rank), all: number(n) });
}

function reasons(ask) {
  const parts = [element("p", { class: "small muted" }, ask.why || t("It is next in the queue."))];
  const sure = Object.entries(ask.confidences ?? {}).sort(([, a], [, b]) => a - b);
  if (sure.length) {
    const list = element("ul", { class: "bars", "aria-label": t("The model's confidence") });
    for (const [task, confidence] of sure) {
      const name = element("span", { class: "bar-name", title: task }, task);
      list.append(element("li", {}, name, bar(confidence), shortNumber(confidence)));
    }
    parts.push(
      list,
      element("p", { class: "small faint" }, t("The model's confidence. Lower is asked first.")),
    );
  }
  if (ask.predicted_seconds) {
    parts.push(element("p", { class: "small faint" }, t("Expected effort: {time}.", { time: seconds(ask) })));
  }
  if (ask.is_blind) {
    parts.push(
      element("p", { class: "small faint" }, t("Shown without suggestions, to keep them honest.")),
    );
  }
  return parts;
}

function seconds({ predicted_seconds: value }) {
  const [n, unit] = value < 90 ? [Math.round(value), "s"] : [Math.round(value / 60), "min"];
  return unit === "s" ? tn("{n} second", "{n} seconds", n) : tn("{n} minute", "{n} minutes", n);
}

/** Guidelines, which the page brings along as safe HTML: those of the open task, then the project's. */
export class Guidelines {
  constructor(root) {
    this.details = root.querySelector("details");
    this.title = root.querySelector("[data-title]");
    this.parts = [...root.querySelectorAll("[data-task]")];
    const own = root.querySelector(".guidelines-text > div:not([data-task])");
    this.hasOwn = own.textContent.trim() !== "";
    this.none = root.querySelector("[data-none]");
  }

  render(state) {
    const name = state?.ui.task ?? "";
    if (this.shown === name) return;
    this.shown = name;
    const shown = this.parts.filter((part) => {
      const isShown = part.dataset.task === name;
      toggle(part, "hidden", !isShown);
      return isShown;
    });
    setText(this.title, shown.length ? `: ${name}` : "");
    toggle(this.none, "hidden", shown.length > 0 || this.hasOwn);
  }

  /** Open or close the guidelines. */
  toggle() {
    this.details.open = !this.details.open;
    if (this.details.open) this.details.scrollIntoView({ block: "nearest" });
  }
}
