// Always visible: what is left and done, the minutes, and whether everything is saved.
import { element, svg } from "../dom.js";

const TICK = "M3 8.5l3.2 3.2L13 5";
const CLOUD = "M3 3l10 10M5 6a4 4 0 0 0-1 6h7M7.5 4.2A4 4 0 0 1 12 8a2.4 2.4 0 0 1 1.4 3";
const ARROWS = "M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3";
const KEPT_OUT = {
  signedOut: "Signed out: kept here. Sign in in another tab.",
  otherPerson: "Signed in as somebody else: kept here. Sign in as yourself.",
  removed: "No longer in this project: kept here. Ask an owner.",
  forbidden: "No longer allowed by your role: kept here. Ask an owner.",
};

export class Facts {
  constructor({ counts, minutes, saved, round }) {
    Object.assign(this, { counts, minutes, saved, round });
  }

  renderCounts(counts, ask) {
    const key = JSON.stringify([counts, ask?.round]);
    if (key === this.shown) return;
    this.shown = key;
    this.round.textContent = ask?.round ? `Round ${ask.round}` : "";
    if (!counts) return;
    const part = (n, word) => element("span", {}, element("b", {}, n.toLocaleString()), ` ${word}`);
    this.counts.replaceChildren(
      part(counts.left, "left"),
      part(counts.done, "done"),
      part(counts.skipped, "skipped"),
    );
    this.#renderMinutes(counts);
  }

  #renderMinutes({ minutes, budget_minutes: budget }) {
    this.minutes.hidden = false;
    const spent = element("b", {}, String(Math.round(minutes)));
    if (!budget) {
      this.minutes.replaceChildren(element("span", {}, spent, " min"));
      return;
    }
    const meter = element("progress", { max: budget, value: Math.min(minutes, budget) });
    meter.setAttribute(
      "aria-label",
      `${Math.round(minutes)} of ${Math.round(budget)} minutes used`,
    );
    this.minutes.replaceChildren(
      meter,
      element("span", {}, spent, ` of ${Math.round(budget)} min`),
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
    this.saved.replaceChildren(icon, text);
    return state === "bad" || wasBad ? text : null;
  }
}

function savedWords({ barrier, isReached, isSaving, savedAt }) {
  if (barrier) return ["bad", CLOUD, KEPT_OUT[barrier]];
  if (!isReached) return ["bad", CLOUD, "Offline: kept in this browser"];
  if (isSaving) return ["busy", ARROWS, "Saving…"];
  return ["good", TICK, savedAt ? `Saved ${clockTime(savedAt)}` : "Nothing to save"];
}

export function clockTime(date) {
  return date.toLocaleTimeString([], { hour12: false });
}
