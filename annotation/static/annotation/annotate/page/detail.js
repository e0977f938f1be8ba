// The detail panel: what is selected, how sure the model is of it, and what can be done with it.
import { element, keyCap, svg } from "../dom.js";
import { commandCap } from "../input/keys.js";
import { kindOf } from "../kinds/index.js";
import { isOn, keyOf, wordsOf } from "../model/items.js";
import { labelledBefore } from "../model/labels.js";
import { findItem, itemsIn, rangeOf, taskOf, wantedTasks } from "../model/state.js";
import { shortNumber } from "../sentence/speech.js";
import { t } from "../words.js";

const STATES = { own: [t("your"), "good"], suggested: [t("suggested"), "guess"], given: [t("given"), ""] };

export class Detail {
  /** on: {accept(), reject(), option(item, value), remove(), tool(command, item)}. */
  constructor(root, on) {
    this.root = root;
    this.on = on;
    root.addEventListener("mousedown", (event) => {
      if (event.target.closest("button")) event.preventDefault(); // keeps the cursor
    });
  }

  /** Use these keys on the buttons. */
  build(keys) {
    this.keys = keys;
    this.shown = null;
  }

  render(state) {
    const item = state ? findItem(state, state.ui.selected) : null;
    const before = state ? beforeHere(state, item) : [];
    const about = state && !item ? aboutWord(state) : null;
    const key = JSON.stringify([item, before, about, state?.sentence.id]);
    if (key === this.shown) return;
    this.shown = key;
    this.root.toggleAttribute("data-empty", item === null);
    const parts = item ? this.#describe(state, item) : about ? wordCard(about) : nothingSelected();
    this.root.replaceChildren(...parts);
    if (before.length) this.root.lastElementChild.append(this.#similar(before));
  }

  #describe(state, item) {
    const [word, look] = STATES[item.state];
    const badge = element("span", { class: `badge push ${look}` }, `${word} ${kindOf(item).noun}`);
    const heading = element("h2", { class: "breaks" }, item.task);
    const body = element("div", { class: "body stack" }, ...headline(state, item));
    if (item.state === "suggested") body.append(...this.#decisions(state, item), ...whose(state, item));
    else if (item.state === "own") body.append(...this.#changes(item));
    return [element("header", {}, heading, badge), body];
  }

  /** How the same words were answered before; a click gives them that label. */
  #similar(before) {
    const list = element("ul", { class: "similar" });
    for (const { task, label, text, n, isElsewhere } of before) {
      const pick = element("button", { type: "button", class: "bar-name" }, text);
      pick.addEventListener("click", () => this.on.label?.(task, label));
      const count = element("span", { class: "muted number" }, `${n}×`);
      const whose = isElsewhere ? [element("span", { class: "muted" }, `${task}:`), " "] : [];
      list.append(element("li", {}, ...whose, pick, " ", count));
    }
    const title = element("p", { class: "small muted" }, t("The same words before:"));
    return element("div", { class: "similar-box" }, title, list);
  }

  #decisions(state, item) {
    const options = optionsOf(state, item);
    const parts = options.length ? [optionBars(state, item, options, this.on.option)] : [];
    const accept = button(t("Accept"), this.on.accept, commandCap(this.keys, "accept"));
    const reject = button(t("Reject"), this.on.reject, commandCap(this.keys, "reject"));
    return [...parts, element("div", { class: "pair-of-buttons decisions" }, accept, reject)];
  }

  #changes(item) {
    const { on, keys } = this;
    const hint = element("p", { class: "small muted" }, t("A label key or click changes it."));
    const tools = kindOf(item).tools.map(({ words, cap, command, run, isForFingers }) => {
      const node = button(words, () => on.tool(run, item), cap ?? (command && commandCap(keys, command)));
      node.classList.toggle("for-fingers", Boolean(isForFingers)); // with a keyboard its key is enough
      return node;
    });
    const box = element("div", { class: "pair-of-buttons" }, ...tools);
    const remove = button(t("Delete"), on.remove, "⌫");
    remove.classList.add("first-if-narrow"); // further buttons may be out of sight
    box.append(remove);
    return [hint, box];
  }
}

const MOST_SIMILAR = 4;

/** Labels that the words at hand had in earlier answers, those of the open task first. */
function beforeHere(state, item) {
  const range = (item && wordsOf(item)) ?? rangeOf(state.ui);
  const isElsewhere = (task) => task.name !== state.ui.task;
  return wantedTasks(state)
    .sort((a, b) => isElsewhere(a) - isElsewhere(b))
    .flatMap((task) => {
      const found = labelledBefore(state, task, kindOf(task).isWhole ? null : range);
      return [...found].map(([label, n]) => ({
        ...{ task: task.name, label, text: kindOf(task).hereText(label), n },
        isElsewhere: isElsewhere(task),
      }));
    })
    .slice(0, MOST_SIMILAR);
}

/** What is said of the word under the cursor, {word, rows: [[title, [thing]]]}, or null where nothing is.
 *  A thing: {label, of, confidence, isGuess}. */
function aboutWord(state) {
  const { tokens } = state.sentence;
  const word = state.ui.cursor;
  const items = itemsIn(state);
  const rows = wantedTasks(state)
    .filter((task) => !kindOf(task).isWhole)
    .flatMap((task) => kindOf(task).about?.(items, task, word, tokens) ?? [onWord(items, task, word)])
    .map(([title, things]) => [
      title,
      things.map(({ label, of = "", confidence, state: standing }) => ({
        label,
        of,
        confidence,
        isGuess: standing === "suggested",
      })),
    ]);
  const open = taskOf(state, state.ui.task);
  const isWanted = open && kindOf(open).about !== null;
  return isWanted || rows.some(([, things]) => things.length) ? { word: tokens[word], rows } : null;
}

/** A task's name and its things on a word. */
function onWord(items, { name }, word) {
  return [name, Object.values(items).flat().filter((item) => item.task === name && isOn(item, word))];
}

function wordCard({ word, rows }) {
  const list = element("dl", { class: "facts-of-word" });
  for (const [title, things] of rows) {
    const said = things.flatMap((thing, i) => [...(i ? [", "] : []), thingNode(thing)]);
    list.append(element("dt", {}, title), element("dd", {}, ...(said.length ? said : [t("none yet")])));
  }
  return [
    element("header", {}, element("h2", { class: "breaks", dir: "auto" }, word)),
    element("div", { class: "body stack" }, list),
  ];
}

function thingNode({ label, of, confidence, isGuess }) {
  const node = element("span", isGuess ? { class: "guess", title: t("suggested") } : {});
  if (of) node.append(element("bdi", {}, of), " ");
  node.append(element("b", {}, label || t("no label")));
  if (isGuess && confidence !== null) node.append(` ${shortNumber(confidence)}`);
  return node;
}

function nothingSelected() {
  const isFinger = matchMedia("(pointer: coarse)").matches;
  const words = isFinger
    ? t("Nothing is selected. Tap what is on a word to change it; hold a word to begin a range.")
    : t("Nothing is selected. Up and down select what is on the word under the cursor; a full stop goes to the next suggestion.");
  return [
    element("header", {}, element("h2", {}, t("Details"))),
    element("div", { class: "body" }, element("p", { class: "small muted" }, words)),
  ];
}

function headline(state, item) {
  const { from, to, label } = kindOf(item).describe(item, state.sentence.tokens);
  const pair = element("p", { class: "pair" }, element("bdi", {}, from));
  if (to) pair.append(" ", element("span", { class: "arrow" }, "→"), " ", element("bdi", {}, to));
  return label ? [pair, element("p", { class: "pair-label" }, label)] : [pair];
}

/** Whose suggestion it is: the model of a round, or what the source is called. */
function whose(state, item) {
  const source = state.context.suggested[item.task]?.[0]?.source;
  return source ? [element("p", { class: "small faint breaks" }, `${t("suggested")}: ${source}`)] : [];
}

/** The model's options for a suggested thing: [{value, confidence}], its own choice first. */
function optionsOf(state, item) {
  const found = state.context.suggested[item.task].find(({ key }) => key === keyOf(item));
  const first = { value: found.value, confidence: found.confidence };
  return [first, ...found.others].filter(({ confidence }) => confidence !== null);
}

function optionBars(state, item, options, onPick) {
  const list = element("ul", { class: "bars", "aria-label": t("The model's options") });
  options.forEach(({ value, confidence }, i) => {
    const text = optionText(state, item, value);
    const pick = element("button", { type: "button", class: "bar-name", title: text }, text);
    if (i === 0) pick.classList.add("first");
    pick.addEventListener("click", () => onPick(item, value));
    list.append(element("li", {}, pick, bar(confidence), shortNumber(confidence)));
  });
  return list;
}

function optionText(state, item, value) {
  if (value === null) return t("nothing here");
  return kindOf(item).optionText(value, item, state.sentence.tokens);
}

/** A bar from 0 to 1. */
export function bar(value) {
  const fill = svg("rect", { width: `${Math.round(value * 1000) / 10}%`, height: "100%" });
  return svg("svg", { class: "bar", "aria-hidden": "true" }, fill);
}

function button(text, onClick, key) {
  const node = element("button", { type: "button", class: "button slim" }, text);
  if (key) node.append(keyCap(key));
  node.addEventListener("click", onClick);
  return node;
}
