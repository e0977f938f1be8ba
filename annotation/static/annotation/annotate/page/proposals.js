// Proposed heads under the sentence, each with the key that takes it; words that still wait for one.
import { element, keyCap, put, toggle } from "../dom.js";
import { commandCap } from "../input/keys.js";
import { kindOf } from "../kinds/index.js";
import { taskOf } from "../model/state.js";
import { shortNumber } from "../sentence/speech.js";
import { t, tn } from "../words.js";
import { bar } from "./detail.js";

const MOST_WAITING = 12; // words that are listed

export class Proposals {
  /** on: {command(id), go(word)}; the cursor keeps the focus. */
  constructor(root, on) {
    Object.assign(this, { root, on });
    root.addEventListener("mousedown", (event) => event.preventDefault());
  }

  /** Use these keys on the rows. */
  build(keys) {
    this.keys = keys;
    this.shown = null;
  }

  render(state) {
    const task = state && taskOf(state, state.ui.task);
    const proposed = task ? kindOf(task).propose(state, task) : null;
    const key = JSON.stringify(proposed);
    if (key === this.shown) return;
    this.shown = key;
    toggle(this.root, "hidden", !proposed);
    if (!proposed) return this.root.replaceChildren();
    const parts = [this.#cycle(proposed), this.#heads(proposed), this.#waiting(proposed, state)];
    this.root.replaceChildren(...parts.filter(Boolean));
  }

  #cycle({ cycle }) {
    if (!cycle) return null;
    const words = t("Cycle: {words}. One of them needs another head.", { words: cycle });
    const go = this.#button("nextProblem", "button slim", t("Go there"));
    return element("p", { class: "proposals-cycle" }, `↻ ${words} `, go);
  }

  #heads({ word, place, standing, rows, picked }) {
    const title = element(
      "p",
      { class: "proposals-title" },
      t("Head of"),
      " ",
      element("b", { dir: "auto" }, word),
      " ",
      element("span", { class: "muted" }, t("word {n}, {standing}", { n: place + 1, standing })),
    );
    if (picked) title.append(" ", element("span", { class: "badge guess" }, picked));
    const list = element("div", { class: "proposals-rows", role: "group", "aria-label": t("Proposed heads") });
    for (const row of rows) list.append(this.#row(row, word));
    if (rows.every(({ head }) => head !== 0)) list.append(this.#button("root", "proposal", t("root")));
    const other = this.#button("head", "proposal", t("another head"));
    if (other.querySelector("kbd")) list.append(other);
    return element("div", { class: "proposals-heads" }, title, list);
  }

  #row({ command, head, from, label, confidence }, word) {
    const node = this.#button(command, "proposal");
    put(node, "data-head", String(head));
    put(node, "data-label", label);
    const name = element("b", { dir: "auto" }, from);
    node.append(name, element("span", { class: "proposal-label" }, label || t("ask the label")));
    if (confidence !== null) node.append(bar(confidence), element("span", { class: "number" }, shortNumber(confidence)));
    put(node, "aria-label", t("{head} is the head of {word}, {label}", { head: from, word, label }));
    return node;
  }

  #waiting({ open, place }, { sentence }) {
    if (!open.length) return null;
    const title = tn("{n} word without a head", "{n} words without a head", open.length);
    const list = element("div", { class: "proposals-words" });
    for (const i of open.slice(0, MOST_WAITING)) {
      const node = element("button", { type: "button", class: "proposal-word", dir: "auto" }, sentence.tokens[i]);
      toggle(node, "data-here", i === place);
      node.addEventListener("click", () => this.on.go(i));
      list.append(node);
    }
    if (open.length > MOST_WAITING) list.append("…");
    return element("div", { class: "proposals-waiting" }, element("p", { class: "small muted" }, title), list);
  }

  #button(command, look, text = "") {
    const cap = commandCap(this.keys, command);
    const node = element("button", { type: "button", class: look, "data-command": command });
    if (cap) node.append(keyCap(cap), " ");
    node.append(text);
    node.addEventListener("click", () => this.on.command(command));
    return node;
  }
}
