// The detail panel: what is selected, how sure the model is of it, and what can be done with it.
import { element, keyCap, svg } from "../dom.js";
import { commandCap } from "../input/keys.js";
import { findItem } from "../model/state.js";
import { endsOf } from "../model/suggestions.js";
import { shortNumber } from "../sentence/speech.js";

const KINDS = { spans: "span", tags: "tag", tree: "arc", relations: "relation", classes: "class" };
const STATES = { own: ["your", "good"], suggested: ["suggested", "guess"], given: ["given", ""] };

export class Detail {
  /** on: {accept(), reject(), option(item, value), remove(), relabel(), reverse(), root(item),
   *  edge(item, edge, by)}. */
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
    const key = JSON.stringify([item, state?.sentence.id]);
    if (key === this.shown) return;
    this.shown = key;
    this.root.toggleAttribute("data-empty", item === null);
    this.root.replaceChildren(...(item ? this.#describe(state, item) : nothingSelected()));
  }

  #describe(state, item) {
    const [word, look] = STATES[item.state];
    const badge = element("span", { class: `badge push ${look}` }, `${word} ${KINDS[item.kind]}`);
    const heading = element("h2", { class: "breaks" }, item.task);
    const body = element("div", { class: "body stack" }, ...headline(state, item));
    if (item.state === "suggested") body.append(...this.#decisions(state, item));
    else if (item.state === "own") body.append(...this.#changes(item));
    return [element("header", {}, heading, badge), body];
  }

  #decisions(state, item) {
    const options = optionsOf(state, item);
    const parts = options.length ? [optionBars(state, item, options, this.on.option)] : [];
    const accept = button("Accept", this.on.accept, commandCap(this.keys, "accept"));
    const reject = button("Reject", this.on.reject, commandCap(this.keys, "reject"));
    return [...parts, element("div", { class: "pair-of-buttons decisions" }, accept, reject)];
  }

  #changes(item) {
    const { on } = this;
    const buttons = {
      spans: () => [
        button("⇤ start", () => on.edge(item, "start", -1)),
        button("start ⇥", () => on.edge(item, "start", 1)),
        button("⇤ end", () => on.edge(item, "end", -1)),
        button("end ⇥", () => on.edge(item, "end", 1)),
      ],
      relations: () => [
        button("Reverse", on.reverse, commandCap(this.keys, "reverse")),
        button("Label…", on.relabel, "Space"),
      ],
      tree: () => [button("Label…", on.relabel, "Space"), button("Make root", () => on.root(item))],
      tags: () => [],
      classes: () => [],
    };
    const hint = element("p", { class: "small muted" }, "A label key or click changes it.");
    const box = element("div", { class: "pair-of-buttons" }, ...buttons[item.kind]());
    box.append(button("Delete", on.remove, "⌫"));
    return [hint, box];
  }
}

function nothingSelected() {
  const words =
    "Nothing is selected. Up and down select what is on the word under the cursor; " +
    "a full stop goes to the next suggestion.";
  return [
    element("header", {}, element("h2", {}, "Details")),
    element("div", { class: "body" }, element("p", { class: "small muted" }, words)),
  ];
}

function headline(state, item) {
  const [from, to] = endTexts(state, item);
  const pair = element("p", { class: "pair" }, from);
  if (to) pair.append(" ", element("span", { class: "arrow" }, "→"), " ", to);
  const label = to || item.kind === "tags" || item.kind === "spans" ? item.label : "";
  return label ? [pair, element("p", { class: "pair-label" }, label || "no label yet")] : [pair];
}

function endTexts(state, item) {
  const { tokens } = state.sentence;
  const text = ([start, end]) => tokens.slice(start, end).join(" ");
  if (item.kind === "tree") return [item.head ? tokens[item.head - 1] : "root", tokens[item.dep]];
  if (item.kind === "relations") return endsOf(item.value).map(text);
  if (item.kind === "spans") return [text([item.start, item.end]), ""];
  return [item.kind === "tags" ? tokens[item.at] : item.label, ""];
}

/** The model's options for a suggested thing: [{value, confidence}], its own choice first. */
function optionsOf(state, item) {
  const key = item.id.slice(item.task.length + 1);
  const found = state.context.suggested[item.task].find((other) => other.key === key);
  const first = { value: found.value, confidence: found.confidence };
  return [first, ...found.others].filter(({ confidence }) => confidence !== null);
}

function optionBars(state, item, options, onPick) {
  const list = element("ul", { class: "bars", "aria-label": "The model's options" });
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
  const { tokens } = state.sentence;
  if (value === null) return "nothing here";
  if (item.kind === "tree") {
    return `${value[0] ? tokens[value[0] - 1] : "root"} → ${tokens[item.dep]}, ${value[1]}`;
  }
  if (item.kind === "spans") return `${tokens.slice(value[0], value[1]).join(" ")}, ${value[2]}`;
  return item.kind === "relations" ? value[4] : value;
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
