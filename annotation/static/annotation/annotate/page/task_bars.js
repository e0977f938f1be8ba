// Label bars: one row a task with its labels, how far it is, and its suggestions.
import { element, keyCap, put, toggle } from "../dom.js";
import { capText, commandCap } from "../input/keys.js";
import { colourOf } from "../model/items.js";
import { standingOf, standingText } from "./standing.js";

const N_TREE_LABELS = 5; // shown; all are there by type-ahead

export class TaskBars {
  /** on: {label(task, name), more(task), acceptAll(task), activate(task)}. */
  constructor(root, project, on) {
    this.root = root;
    this.project = project;
    this.on = on;
  }

  /** Make the rows anew, with these keys. */
  build(keys) {
    this.rows = this.project.tasks.map((task) => new TaskRow(task, keys, this.on));
    this.root.replaceChildren(...this.rows.map((row) => row.node));
  }

  render(state) {
    for (const row of this.rows) row.render(state);
    const current = this.rows.find((row) => row.isCurrent)?.node;
    if (current && current !== this.current) reveal(this.root, current);
    this.current = current;
  }
}

class TaskRow {
  constructor(task, keys, on) {
    this.task = task;
    this.labels = element("div", labelBox(task));
    this.labels.append(...this.#buttons(keys, on));
    this.words = element("span", { class: "standing" });
    this.accept = element("button", { class: "button slim", type: "button", hidden: true });
    this.accept.title = `Accept all of ${task.name}: ${commandCap(keys, "acceptAll")}`;
    const heading = element("h2", { title: task.name }, task.name);
    const state = element("div", { class: "task-state" }, this.words, this.accept);
    this.node = element("div", { class: `task-bar ${task.kind}` }, heading, this.labels, state);
    heading.addEventListener("click", () => on.activate(task.name));
    this.accept.addEventListener("click", () => on.acceptAll(task.name));
    if (task.kind === "classes") this.labels.addEventListener("keydown", moveInGroup);
    this.node.addEventListener("mousedown", (event) => event.preventDefault()); // keeps the cursor
  }

  get isCurrent() {
    return this.node.hasAttribute("aria-current");
  }

  #buttons(keys, on) {
    const { task } = this;
    const shown = task.kind === "tree" ? task.labels.slice(0, N_TREE_LABELS) : task.labels;
    const buttons = shown.map(({ name }) => {
      const button = labelButton(task, name, keys.keyOf(task.name, name));
      button.addEventListener("click", () => on.label(task.name, name));
      return button;
    });
    if (task.kind === "tree") buttons.unshift(treeHint(keys));
    if (shown.length < task.labels.length || task.is_open) {
      const text = task.labels.length ? `all ${task.labels.length}…` : "label…";
      const more = element("button", { type: "button", class: "label-button plain" }, text);
      more.addEventListener("click", () => on.more(task.name));
      buttons.push(more);
    }
    return buttons;
  }

  render(state) {
    const { name, kind } = this.task;
    const isWanted = state !== null && state.wanted.includes(name);
    put(this.node, "aria-current", isWanted && state.ui.task === name ? "true" : null);
    toggle(this.node, "data-unasked", !isWanted);
    const standing = isWanted ? standingOf(state, this.task) : null;
    this.#showStanding(standing);
    const value = isWanted ? state.history.doc.values[name] : null;
    const guesses = isWanted && kind === "classes" ? classGuesses(state, name) : new Map();
    for (const button of this.labels.querySelectorAll("[data-label]")) {
      const label = button.dataset.label;
      toggle(button, "disabled", !isWanted);
      if (kind === "classes") showChoice(button, value === label, guesses.get(label));
      else put(button, "aria-pressed", String(isArmed(state, name, label)));
    }
  }

  #showStanding(standing) {
    const text = JSON.stringify(standing);
    if (text === this.shown) return;
    this.shown = text;
    this.words.replaceChildren(
      ...(standing ? standingText(this.task, standing) : ["not asked here"]),
    );
    const n = standing?.toCheck ?? 0;
    this.accept.hidden = n === 0 || this.task.kind === "classes";
    this.accept.textContent = `Accept ${n}`;
  }
}

/** Scroll the bars alone, never the page, until a row is in view. */
function reveal(bars, row) {
  const [box, at] = [bars, row].map((node) => node.getBoundingClientRect());
  const above = at.top - box.top;
  const below = at.bottom - box.bottom;
  if (above < 0) bars.scrollTop += above;
  else if (below > 0) bars.scrollTop += Math.min(above, below);
}

function labelBox({ kind, name }) {
  const role = kind === "classes" ? "radiogroup" : "group";
  return { class: "task-labels", role, "aria-label": `Labels of ${name}` };
}

function labelButton(task, name, key) {
  const cap = key ? [keyCap(capText(key))] : [];
  if (task.kind === "classes") {
    const attributes = { type: "button", class: "choice", role: "radio", "data-label": name };
    return element("button", attributes, ...cap, name);
  }
  const isColoured = task.kind === "spans" || task.kind === "tags";
  const look = isColoured ? "" : task.kind === "tree" ? " tree" : " relation";
  const attributes = {
    type: "button",
    class: `label-button${look}`,
    "data-label": name,
    "data-colour": isColoured ? colourOf(task, name) : undefined,
  };
  return element("button", attributes, ...cap, name);
}

/** Arrows go from choice to choice, as in every group of radio buttons. */
function moveInGroup(event) {
  const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!by || event.ctrlKey || event.altKey) return;
  event.preventDefault();
  const choices = [...event.currentTarget.querySelectorAll("[role=radio]")];
  const next = choices.indexOf(document.activeElement) + by + choices.length;
  choices[next % choices.length].focus();
}

function treeHint(keys) {
  const words = element("span", { class: "tree-hint small muted" });
  words.append(keyCap(commandCap(keys, "markHead")), "head", keyCap("↵"), "dependent");
  return words;
}

function showChoice(button, isChosen, confidence) {
  const guess = confidence === undefined ? "" : confidence;
  if (button.dataset.guess !== guess) {
    button.dataset.guess = guess;
    button.querySelector(".confidence")?.remove();
    if (guess) button.append(element("span", { class: "confidence" }, guess));
  }
  put(button, "aria-checked", String(isChosen));
  put(button, "data-state", guess && !isChosen ? "suggested" : null);
}

/** Confidence of the model in each class that it considered, as short text. */
function classGuesses(state, name) {
  const item = state.context.suggested[name][0];
  if (!item || (state.history.doc.rejected[name] ?? []).length) return new Map();
  const options = [{ value: item.value, confidence: item.confidence }, ...item.others];
  return new Map(options.map(({ value, confidence }) => [value, short(confidence)]));
}

function short(confidence) {
  return confidence === null ? "?" : confidence.toFixed(2).replace(/^0/, "");
}

function isArmed(state, task, label) {
  const armed = state?.ui.armed;
  return armed?.task === task && armed.label === label;
}
