// Tasks and their labels: one task is open, every other one keeps its name and state in sight.
import { element, keyCap, put, setText, svg, toggle } from "../dom.js";
import { capText, commandCap, LIST_KEY } from "../input/keys.js";
import { kindOf } from "../kinds/index.js";
import {
  colourOf,
  likelyLabels,
  matchNames,
  MOST_IN_LINE,
  prefixGroups,
  splitName,
} from "../model/labels.js";
import { checkTask } from "../model/state.js";
import { shortNumber } from "../sentence/speech.js";
import { t } from "../words.js";

const MOST_LIKELY = 5;
const MOST_SHOWN = 12; // labels in sight of a task that has more: the likely ones, then the most used
const MOST_IN_LINES = 24; // labels without prefixes; of more, the finder shows the rest
const MOST_FOUND = 12;
const MOST_PICKS = 4; // of a class whose task is not open
const MOST_HEIGHT = 0.4; // of the window; less is shown before it takes more
const ROOMS = ["", "no-used", "no-prefixes"]; // what is left out, step by step
const LENS = "M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9M10.5 10.5L14 14";

export class TaskList {
  /** on: {label(task, name), arm(task, name), find(task), act(command), acceptAll(task), activate(task)}; usage:
   *  Usage; memory: {get(name), set(name, value)}, what stays open from visit to visit. */
  constructor(root, project, on, { usage, memory }) {
    Object.assign(this, { root, project, on, usage, memory });
    root.addEventListener("mousedown", (event) => {
      if (!event.target.closest("input")) event.preventDefault(); // keeps the cursor
    });
    addEventListener("resize", () => {
      this.measured.clear();
      if (this.state !== undefined) this.#hold(this.state);
    });
  }

  /** Make everything anew, with these keys. */
  build(keys) {
    this.keys = keys;
    const { project, on } = this;
    this.tabs = project.tasks.map((task) => new TaskTab(task, on));
    this.panels = new Map(
      project.tasks.map((task) => [task.name, new OpenTask(task, this)]),
    );
    this.picks = new Map(
      project.tasks
        .filter((task) => kindOf(task).takesDigits)
        .map((task) => [task.name, new Picks(task, this)]),
    );
    const strip = element("div", { class: "task-tabs", role: "group", "aria-label": t("Tasks") });
    strip.append(...this.tabs.map(({ node }) => node), tabHint());
    const nodes = [...this.panels.values(), ...this.picks.values()].map(({ node }) => node);
    this.root.replaceChildren(...nodes, strip);
    this.open = null;
    this.measured = new Map(); // what is shown -> the height of the tallest task
    this.tallest = 0;
    this.state = undefined; // is measured anew
  }

  /** The element in which a task's labels are shown now. */
  nodeOf(task) {
    return this.open.task.name === task ? this.open.node : this.picks.get(task).node;
  }

  /** Close the open prefix of the open task. */
  closePrefix() {
    this.open?.closePrefix?.();
  }

  render(state) {
    const isNew = this.state?.ask !== state?.ask || this.state === undefined;
    this.state = state;
    this.#show(state, state?.ui.task ?? this.project.tasks[0].name);
    if (isNew) this.#hold(state);
  }

  /** Show one task open and the others folded. */
  #show(state, active) {
    for (const [name, panel] of this.panels) toggle(panel.node, "hidden", name !== active);
    this.open = this.panels.get(active);
    this.open.render(state);
    const chosen = this.keys.digitsTask(active);
    const digits = chosen && isWanted(state, chosen) ? chosen.name : null;
    for (const [name, picks] of this.picks) {
      toggle(picks.node, "hidden", name !== digits);
      if (name === digits) picks.render(state);
    }
    for (const tab of this.tabs) tab.render(state, active, tab.task.name === digits);
  }

  /** What the tallest task takes more than the open one: the sentence leaves it free above its words,
   *  so that they stay where they are when another task opens. */
  get spare() {
    return Math.max(0, this.tallest - this.root.offsetHeight);
  }

  /** Measure the tallest task; an editor on another page keeps its room in the list. */
  #hold(state) {
    const tasks = this.project.tasks.filter((task) => isWanted(state, task));
    const rows = tasks.map((task) => [task.name, this.panels.get(task.name).nRows(state)]);
    const key = JSON.stringify(rows);
    if (!this.measured.has(key)) {
      this.root.style.removeProperty("--tallest");
      const heights = tasks.map((task) => {
        this.#show(state, task.name);
        this.open.fit();
        return this.root.offsetHeight;
      });
      this.measured.set(key, Math.max(0, ...heights));
      if (state) this.#show(state, state.ui.task);
    }
    this.tallest = this.measured.get(key);
    this.root.style.setProperty("--tallest", `${this.tallest}px`);
  }
}

/** A task that is not open: its name and how far it is. */
class TaskTab {
  constructor(task, on) {
    this.task = task;
    this.words = element("span", { class: "task-progress" });
    this.node = element("button", { type: "button", class: "task-tab" });
    this.node.append(element("b", {}, task.name), this.words);
    this.node.addEventListener("click", () => on.activate(task.name));
  }

  render(state, active, isElsewhere) {
    const { task } = this;
    put(this.node, "aria-current", task.name === active ? "true" : null);
    toggle(this.node, "data-elsewhere", isElsewhere);
    toggle(this.node, "disabled", !isWanted(state, task));
    showProgress(this.words, progressOf(state, task, "brief"));
  }
}

/** The class whose digits work while another task is open: the likeliest choices in one line. */
class Picks {
  constructor(task, { keys, on, usage }) {
    Object.assign(this, { task, keys, usage });
    const title = element("button", { type: "button", class: "task-title" }, task.name);
    title.addEventListener("click", () => on.activate(task.name));
    this.labels = element("div", labelBox(task));
    this.words = element("span", { class: "task-progress" });
    this.more = element("button", { type: "button", class: "button quiet slim" });
    this.more.addEventListener("click", () => on.find(task.name));
    this.node = element("div", { class: "task-picks", "data-task": task.name });
    this.node.append(element("h2", {}, title), this.labels, this.words);
    listenToLabels(this.labels, task, on);
  }

  render(state) {
    const { task } = this;
    if (this.ask !== state?.ask) this.#fill(state);
    showLabels(this.labels, state, task);
    showProgress(this.words, progressOf(state, task, "progress"));
  }

  /** Choices in the order of the task, whatever their likelihood: each keeps its place. */
  #fill(state) {
    const { task, keys, usage } = this;
    this.ask = state?.ask;
    const names = task.labels.map(({ name }) => name);
    const likely = state ? likelyLabels(state, task) : new Map();
    const isShort = names.length <= MOST_PICKS + 1;
    const ranked = new Set([...byLikelihood(likely), ...usage.ranked(task)]);
    const first = [...ranked].slice(0, MOST_PICKS);
    const shown = names.filter((name) => isShort || first.includes(name));
    this.labels.replaceChildren(...shown.map((name) => labelButton(task, name, keys)));
    if (isShort) return;
    this.more.replaceChildren(`${t("{n} more", { n: names.length - shown.length })} `, keyCap(LIST_KEY));
    this.labels.append(this.more);
  }
}

/** The open task: all its labels in a line, or a finder, the likeliest, the most used, and all by
 *  their prefixes. */
class OpenTask {
  constructor(task, { keys, on, usage, memory }) {
    Object.assign(this, { task, keys, on, usage, memory });
    this.kind = kindOf(task);
    this.isLong = task.labels.length > MOST_IN_LINE;
    this.words = element("span", { class: "task-progress" });
    this.accept = element("button", { type: "button", class: "button slim", hidden: true });
    this.accept.append(element("span"), " ", keyCap(commandCap(keys, "acceptAll")));
    this.accept.addEventListener("click", () => on.acceptAll(task.name));
    this.labels = element("div", labelBox(task));
    listenToLabels(this.labels, task, on);
    const state = element("div", { class: "task-state" }, this.words, this.accept);
    const title = element("h2", {}, task.name);
    this.node = element("div", { class: "task-open", "data-task": task.name, "aria-current": true });
    this.node.toggleAttribute("data-long", this.isLong);
    if (this.kind.here) this.here = element("span", { class: "labels-here", role: "group", "aria-label": t("For this word") });
    if (this.isLong) this.#buildFinder();
    this.node.append(title, ...(this.isLong ? [this.finder] : []), state, this.labels);
  }

  /** Show a state. */
  render(state) {
    const { task } = this;
    if (this.ask !== state?.ask || this.n !== task.labels.length) this.#fill(state);
    this.#fillHere(state);
    showLabels(this.labels, state, task);
    const progress = progressOf(state, task, "progress");
    showProgress(this.words, progress);
    const n = isWanted(state, task) ? checkTask(state, task).toCheck : 0;
    toggle(this.accept, "hidden", n === 0 || this.kind.isWhole);
    setText(this.accept.firstElementChild, t("Accept {n}", { n }));
    if (this.isLong) this.#showArmed(state);
  }

  /** Rows of labels for a state: their height changes with them alone. */
  nRows(state) {
    if (!this.isLong) return this.task.labels.length;
    return likelyLabels(state, this.task).size ? "likely" : "used";
  }

  /** Leave out what is least needed until the labels take no more than their share. */
  fit() {
    if (!this.isLong || !this.node.offsetParent) return;
    const list = this.node.parentElement;
    for (const room of ROOMS) {
      put(this.node, "data-room", room);
      if (list.offsetHeight <= innerHeight * MOST_HEIGHT) return;
    }
  }

  #fill(state) {
    const { task } = this;
    this.ask = state?.ask;
    this.n = task.labels.length;
    if (this.isLong) this.#fillRows(state);
    else {
      const more = this.kind.isText ? t("Write…") : t("other…");
      const open = task.is_open || this.kind.isText ? [this.#allButton(more)] : [];
      const buttons = task.labels.map(({ name }) => this.#button(name));
      this.labels.replaceChildren(...(this.here ? [this.here] : []), ...buttons, ...open, ...this.#commands());
    }
  }

  /** What the word under the cursor may get, one click away. */
  #fillHere(state) {
    if (!this.here) return;
    const names = isWanted(state, this.task) ? this.kind.here(state, this.task) : [];
    const key = JSON.stringify(names);
    if (this.here.dataset.names === key) return;
    this.here.dataset.names = key;
    this.here.replaceChildren(...names.map((name) => hereButton(this.task, name)));
  }

  /** Buttons of what the kind does by keys of its own. */
  #commands() {
    return this.kind.commands
      .filter(({ button }) => button)
      .map(({ id, button: words, run }) => {
        const button = element("button", { type: "button", class: "label-button plain" });
        button.append(words, " ", keyCap(commandCap(this.keys, id)));
        button.addEventListener("click", () => this.on.act(run));
        return button;
      });
  }

  #fillRows(state) {
    const { task, usage } = this;
    const likely = byLikelihood(state ? likelyLabels(state, task) : new Map());
    const first = likely.filter((name) => this.#isKnown(name)).slice(0, MOST_LIKELY);
    const used = usage.ranked(task).filter((name) => !first.includes(name));
    const row = (name, title, nodes) =>
      element(
        "div",
        { class: `label-row ${name}` },
        element("span", { class: "label-row-title" }, title),
        element("div", { class: "label-row-labels" }, ...nodes),
      );
    const buttons = (names) => names.map((name) => this.#button(name));
    this.rows = [
      ...(this.here ? [row("here", t("This word"), [this.here, ...this.#commands()])] : []),
      ...(first.length ? [row("likely", t("Likely here"), buttons(first))] : []),
      row("used", t("Most used"), buttons(this.#inPlace(used.slice(0, MOST_SHOWN - first.length)))),
      ...this.#otherRows(row, used.slice(MOST_SHOWN - first.length)),
      row("all", "", [this.#allButton(t("All {n}", { n: task.labels.length }))]),
    ];
    this.labels.replaceChildren(...this.rows);
    this.found = null;
    this.input.value = "";
  }

  /** The most used labels, each where it was in the sentence before: a newcomer takes the place of
   *  one that left, so that the eye finds them and no line breaks elsewhere. */
  #inPlace(names) {
    const newcomers = names.filter((name) => !this.inSight?.includes(name));
    const kept = this.inSight?.map((name) => (names.includes(name) ? name : newcomers.shift())) ?? [];
    this.inSight = [...kept.filter((name) => name !== undefined), ...newcomers];
    return this.inSight;
  }

  /** The labels that are not in sight yet: by prefix, or in a line where they share none. */
  #otherRows(row, others) {
    const { task } = this;
    const n = task.labels.length;
    if (prefixGroups(task).length > 1) {
      return [row("prefixes", t("All {n} by prefix", { n }), this.#prefixes())];
    }
    if (n > MOST_IN_LINES) return [];
    return [row("prefixes", t("Others"), others.map((name) => this.#button(name)))];
  }

  /** Chips of the prefixes, one of which may be open in a box below them. */
  #prefixes() {
    const { task, memory } = this;
    const key = `prefix/${task.name}`;
    const body = element("div", { class: "prefix-labels", role: "group", hidden: true });
    const chips = prefixGroups(task).map(({ prefix, names }) => {
      const chip = element("button", {
        type: "button",
        class: "prefix",
        "aria-expanded": "false",
        "data-colour": this.kind.labels.isColoured ? colourOf(task, names[0]) : undefined,
      });
      chip.append(element("b", {}, prefix), ` ${names.length}`);
      chip.addEventListener("click", () => {
        const isOpen = chip.getAttribute("aria-expanded") === "true";
        memory.set(key, isOpen ? null : prefix);
        show(isOpen ? null : prefix);
        this.fit();
      });
      return { chip, prefix, names };
    });
    const show = (open) => {
      const group = chips.find(({ prefix }) => prefix === open);
      for (const { chip, prefix } of chips) {
        put(chip, "aria-expanded", String(prefix === open && Boolean(group)));
      }
      toggle(body, "hidden", !group);
      if (!group) return;
      put(body, "aria-label", t("Labels that begin with {prefix}", { prefix: group.prefix }));
      body.replaceChildren(...group.names.map((name) => this.#button(name)));
    };
    this.closePrefix = () => {
      if (body.hidden) return false;
      memory.set(key, null);
      show(null);
      return true;
    };
    show(memory.get(key));
    return [...chips.map(({ chip }) => chip), body];
  }

  /** The finder filters all labels in place; Enter arms the first, Escape puts that away. */
  #buildFinder() {
    const { task, on } = this;
    const n = task.labels.length;
    this.input = element("input", {
      type: "text",
      placeholder: t("Find one of {n} labels", { n }),
      "aria-label": t("Find a label of {task}", { task: task.name }),
      autocomplete: "off",
      spellcheck: "false",
    });
    const icon = svg("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" });
    icon.append(svg("path", { d: LENS }));
    this.finder = element("label", { class: "finder" }, icon, this.input);
    this.finder.append(keyCap(commandCap(this.keys, "find")));
    this.input.addEventListener("input", () => this.#filter());
    this.input.addEventListener("focus", () => {
      if (on.find(task.name, { isByFinder: true })) this.input.blur();
    });
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && this.found?.length) on.arm(task.name, this.found[0]);
      else if (event.key === "Escape") on.arm(task.name, null);
      else return;
      event.preventDefault();
      event.stopPropagation();
      this.#clear();
    });
  }

  #filter() {
    const typed = this.input.value;
    if (!typed.trim()) return this.#clear();
    const names = matchNames(this.usage.ranked(this.task), typed);
    this.found = names.slice(0, MOST_FOUND);
    const none = element("span", { class: "small muted" }, t("No label begins like that."));
    const nodes = names.length ? this.found.map((name) => this.#button(name)) : [none];
    const box = element("div", { class: "label-row-labels" }, ...nodes);
    this.labels.replaceChildren(element("div", { class: "label-row" }, box));
  }

  #clear() {
    this.found = null;
    this.input.value = "";
    this.labels.replaceChildren(...this.rows);
    this.input.blur();
  }

  #showArmed(state) {
    const armed = state?.ui.armed;
    const name = armed?.task === this.task.name ? armed.label : null;
    put(this.input, "placeholder", name ?? t("Find one of {n} labels", { n: this.task.labels.length }));
    toggle(this.finder, "data-armed", name !== null);
  }

  #button(name) {
    return labelButton(this.task, name, this.keys);
  }

  #allButton(text) {
    const button = element("button", { type: "button", class: "label-button plain" }, text);
    button.addEventListener("click", () => this.on.find(this.task.name));
    return button;
  }

  #isKnown(label) {
    return this.task.labels.some(({ name }) => name === label);
  }
}

/** Names by how likely they are, the likeliest first. */
function byLikelihood(likely) {
  return [...likely].sort(([, a], [, b]) => b - a).map(([name]) => name);
}

function labelBox(task) {
  const role = kindOf(task).labels.isRadio ? "radiogroup" : "group";
  return { class: "task-labels", role, "aria-label": t("Labels of {task}", { task: task.name }) };
}

/** A label with its key; the prefix of its name is written lighter than the rest. */
export function labelButton(task, name, keys) {
  const { isRadio, look, isColoured } = kindOf(task).labels;
  const key = keys.keyOf(task.name, name);
  const [prefix, rest] = splitName(task, name);
  const text = element("span", { class: "label-name" });
  if (prefix) text.append(element("span", { class: "label-prefix" }, prefix));
  text.append(rest);
  const attributes = {
    type: "button",
    class: look,
    role: isRadio ? "radio" : undefined,
    title: describedAs(task, name),
    "data-label": name,
    "data-colour": isColoured ? colourOf(task, name) : undefined,
  };
  return element("button", attributes, ...(key ? [keyCap(capText(key))] : []), text);
}

/** Something that a word may get, as a button: a label, or a whole text. */
function hereButton(task, name) {
  const text = element("span", { class: "label-name", dir: "auto" }, kindOf(task).hereText(name));
  return element("button", { type: "button", class: "label-button plain", title: name, "data-label": name }, text);
}

/** A label with its meaning, where the task says it. */
function describedAs(task, label) {
  const { description = "" } = task.labels.find(({ name }) => name === label) ?? {};
  return description ? `${label}: ${description}` : label;
}

function listenToLabels(box, task, on) {
  box.addEventListener("click", (event) => {
    const button = event.target.closest("[data-label]");
    if (button) on.label(task.name, button.dataset.label);
  });
  if (kindOf(task).labels.isRadio) box.addEventListener("keydown", moveInGroup);
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

/** Which label is armed, or chosen, and what the model holds of each class. */
function showLabels(box, state, task) {
  const isAsked = isWanted(state, task);
  const { labels, isWhole, holds } = kindOf(task);
  const { isRadio } = labels;
  const value = isAsked ? state.history.doc.values[task.name] : null;
  const guesses = isAsked && isWhole ? guessesOf(state, task) : new Map();
  const armed = state?.ui.armed;
  for (const button of box.querySelectorAll("[data-label]")) {
    const name = button.dataset.label;
    toggle(button, "disabled", !isAsked);
    if (isRadio) {
      showGuess(button, value === name, guesses.get(name));
      put(button, "aria-checked", String(value === name));
    } else {
      const isHeld = isAsked && holds(value, name, state);
      if (isWhole) showGuess(button, isHeld, guesses.get(name));
      const isArmed = armed?.task === task.name && armed.label === name;
      put(button, "aria-pressed", String(isArmed || isHeld));
    }
  }
}

function showGuess(button, isChosen, confidence = "") {
  if (button.dataset.guess !== confidence) {
    button.dataset.guess = confidence;
    button.querySelector(".confidence")?.remove();
    if (confidence) button.append(element("span", { class: "confidence" }, confidence));
  }
  put(button, "data-state", confidence && !isChosen ? "suggested" : null);
}

/** Confidence of the model in each class that it considered, as short text. */
function guessesOf(state, task) {
  const rejected = state.history.doc.rejected[task.name] ?? [];
  const items = state.context.suggested[task.name].filter(({ key }) => !rejected.includes(key));
  return new Map(
    items.flatMap((item) => [item, ...item.others]).map(({ value, confidence }) => [
      value,
      confidence === null ? "?" : shortNumber(confidence),
    ]),
  );
}

function isWanted(state, task) {
  return state?.wanted.includes(task.name) ?? false;
}

/** How far a task is, [text or {look, text}]; form: "progress" or "brief". */
function progressOf(state, task, form) {
  return isWanted(state, task) ? kindOf(task)[form](checkTask(state, task)) : [t("not asked here")];
}

function showProgress(node, parts) {
  const signature = JSON.stringify(parts);
  if (node.signature === signature) return;
  node.signature = signature;
  node.replaceChildren(
    ...parts.map((part) =>
      typeof part === "string" ? part : element("span", { class: part.look }, part.text),
    ),
  );
}

function tabHint() {
  return element("span", { class: "tab-hint small muted" }, keyCap("Tab"), ` ${t("opens the next task")}`);
}
