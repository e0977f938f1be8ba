// Type-ahead: a list of labels beside the words or the chip, filtered by what is typed.
import { useChosen } from "../commands/labels.js";
import { stretch } from "../commands/navigation.js";
import { element, keyCap, put, setText } from "../dom.js";
import { capText } from "../input/keys.js";
import { kindOf } from "../kinds/index.js";
import {
  branchesOf,
  colourOf,
  labelledBefore,
  likelyLabels,
  matchName,
  matchNames,
} from "../model/labels.js";
import { rangeOf, selectedIn, taskOf } from "../model/state.js";
import { wordsOf } from "../model/items.js";
import { shortNumber } from "../sentence/speech.js";
import { t } from "../words.js";

const LEAST_ROOM = 240; // pixels under the words; with less it opens above them
const GAP = 8;
const NOTHING = -2; // is highlighted

/** Ask for a label and use it where the command wanted it. question: {task, labels, isOpen, first,
 *  typed, ...}; anchorOf(task): an element of the page for labels of the whole sentence. */
export async function askForLabel(chooser, editor, sentence, question, anchorOf) {
  const task = taskOf(editor.state, question.task);
  const onwards = sentence.direction === "rtl" ? -1 : 1; // arrows go as the eye does
  const label = await chooser.ask(
    { ...question, task, onwards, ...knownOf(editor.state, task, question) },
    () => anchorAt(editor.state, task, sentence, anchorOf),
    (by) => {
      const outcome = stretch(editor.state, by);
      if (!outcome.ui || outcome.action) return null;
      editor.perform(outcome);
      return knownOf(editor.state, task, question);
    },
  );
  if (label === null || !editor.state) return;
  if (isFirstUse(task, label)) {
    task.labels.push({ name: label, colour: task.labels.length, key: "" }); // offered from now on
    editor.tell("labels");
  }
  editor.perform(useChosen(editor.state, question, label));
}

/** What the words at hand are, and how likely the model holds each label for them. */
function knownOf(state, task, { words: given }) {
  const item = selectedIn(state, task.name);
  const range = (item && wordsOf(item)) ?? rangeOf(state.ui);
  const { isWhole } = kindOf(task);
  const words = given ?? (isWhole ? "" : state.sentence.tokens.slice(...range).join(" "));
  const at = isWhole ? null : range;
  const before = labelledBefore(state, task, at);
  return { words, before, likely: likelyLabels(state, task, at) };
}

function anchorAt(state, task, sentence, anchorOf) {
  const { labelAt, isWhole } = kindOf(task);
  if (isWhole) return anchorOf(task.name);
  const chip = labelAt === "item" ? sentence.itemNode(state.ui.selected ?? "") : null;
  return chip ?? sentence.wordNode(rangeOf(state.ui)[0]);
}

/** Whether a label was typed for the first time. */
function isFirstUse(task, label) {
  return !kindOf(task).isText && task.labels.every(({ name }) => name !== label);
}

export class Chooser {
  /** keys(): the allocated keys; usage: Usage. */
  constructor({ keys, usage }) {
    Object.assign(this, { keys, usage });
    addEventListener("pointerdown", ({ target }) => {
      if (this.question && !this.box.contains(target)) this.close();
    });
  }

  /** Ask for a label; resolves to it, or to null when left by Escape. question: {task, labels,
   *  isOpen, first, typed, words, likely}; anchor(): the element it stands beside; onStretch(by):
   *  takes another word in and returns {words, likely} for it, or null. */
  ask(question, anchor, onStretch = () => null) {
    this.close();
    return new Promise((resolve) => {
      const unknown = { first: "", typed: "", onwards: 1, likely: new Map(), before: new Map() };
      this.question = { ...unknown, ...question, resolve };
      this.onStretch = onStretch;
      this.#build();
      document.body.append(this.box);
      this.input.value = this.question.typed;
      this.#filter();
      this.#place(anchor());
      this.input.focus({ preventScroll: true });
    });
  }

  get isAsking() {
    return Boolean(this.question);
  }

  close(answer = null) {
    if (!this.question) return;
    const { resolve } = this.question;
    this.question = null;
    this.box.remove();
    resolve(answer);
  }

  #build() {
    const { task, onwards } = this.question;
    const { isText } = kindOf(task);
    const of = { task: task.name };
    const title = isText ? t("Text of {task}", of) : t("Label of {task}", of);
    this.input = element("input", {
      type: "text",
      role: "combobox",
      "aria-label": title,
      "aria-expanded": "true",
      "aria-controls": "chooser-options",
      "aria-autocomplete": "list",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
    });
    this.list = element("ul", { id: "chooser-options", role: "listbox", "aria-label": title });
    this.words = element("b", { dir: "auto" });
    this.count = element("span", { class: "push" });
    const hint = (caps, text) => element("span", {}, ...caps.map(keyCap), ` ${text}`);
    this.box = element(
      "div",
      { class: "chooser" },
      element("p", { class: "chooser-for" }, `${task.name} `, this.words),
      element("div", { class: "chooser-typed" }, this.input, keyCap("Esc")),
      this.list,
      element(
        "p",
        { class: "chooser-hints" },
        hint(["↑", "↓"], t("choose")),
        hint(["↵"], t("label")),
        hint([onwards > 0 ? "⇧→" : "⇧←"], t("one word more")),
        this.count,
      ),
    );
    this.input.addEventListener("input", () => this.#filter());
    this.input.addEventListener("keydown", (event) => this.#key(event));
    this.box.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget && !this.box.contains(relatedTarget)) this.close();
    });
    this.list.addEventListener("mousedown", (event) => event.preventDefault());
    this.list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.close(option.dataset.label);
    });
  }

  #filter() {
    const typed = this.input.value;
    const { task, labels, isOpen, words } = this.question;
    const found = matchNames(this.#ranked(), typed);
    const written = typed.trim();
    const isNew = isOpen && written && !labels.includes(written);
    const isFlat = written || kindOf(task).isText;
    const options = isFlat ? found.map((name) => this.#option(name, typed)) : this.#tree(found);
    if (isNew && kindOf(task).isText) {
      options.unshift(optionNode(written, t("Write ‘{text}’", { text: written })));
    }
    if (!options.length) options.push(element("li", { class: "none" }, t("No label begins like that.")));
    const isMade = isNew && !kindOf(task).isText;
    if (isMade) options.push(makeNode(written));
    this.list.replaceChildren(...options);
    this.words.textContent = words;
    const count = t("{n} of {all}", { n: found.length, all: labels.length });
    setText(this.count, kindOf(task).isText ? "" : count);
    // A slip of the fingers and Enter make no new label.
    this.#highlight(isMade && !found.length && labels.length ? NOTHING : 0);
  }

  /** All labels: what is known of the words first, then the model's, then those that the same words
   *  had, then by use. */
  #ranked() {
    const { task, labels, first, likely, before } = this.question;
    const used = this.usage.ranked(task).filter((name) => labels.includes(name));
    const order = [...used, ...labels.filter((name) => !used.includes(name))];
    const by = (known) => (a, b) => (known.get(b) ?? 0) - (known.get(a) ?? 0);
    order.sort((a, b) => by(likely)(a, b) || by(before)(a, b));
    return first ? [first, ...order.filter((name) => name !== first)] : order;
  }

  /** What is known to fit or is used most, then all else by the first part of its name. */
  #tree(names) {
    const { task, first, likely, before } = this.question;
    const used = new Set([first, ...this.usage.favourites(task), ...likely.keys(), ...before.keys()]);
    const rest = names.filter((name) => !used.has(name));
    return [
      ...names.filter((name) => used.has(name)).map((name) => this.#option(name, "")),
      ...branchesOf(rest).flatMap(({ branch, leaves }) => [
        ...(branch ? [element("li", { class: "branch", role: "presentation" }, branch)] : []),
        ...leaves.map((name) => this.#option(name, "", branch.length)),
      ]),
    ];
  }

  /** from: where the part of the name begins that is written, below a branch of names. */
  #option(name, typed, from = 0) {
    const { task, likely, before } = this.question;
    const known = task.labels.some((label) => label.name === name);
    const key = known ? this.keys().keyOf(task.name, name) : "";
    const sure = likely.get(name);
    const text = element("span", { class: "chooser-name" });
    let at = from;
    for (const [start, end] of matchName(name, typed) ?? []) {
      text.append(name.slice(at, start), element("u", {}, name.slice(start, end)));
      at = end;
    }
    text.append(name.slice(at));
    const colour = kindOf(task).labels.isColoured ? colourOf(task, name) : null;
    const cap = element("span", { class: "chooser-key" });
    if (key) cap.append(keyCap(capText(key)));
    const times = before.get(name) ? t("{n} × before", { n: before.get(name) }) : "";
    const meta =
      sure === undefined ? times : t("likely {p}", { p: shortNumber(Math.min(1, sure)) });
    const option = optionNode(name, cap, text, element("span", { class: "small muted" }, meta));
    option.classList.toggle("leaf", from > 0);
    put(option, "data-colour", colour === null ? null : String(colour));
    const { description = "" } = task.labels.find((label) => label.name === name) ?? {};
    put(option, "title", description || null);
    put(option, "aria-label", meta ? `${name}, ${meta}` : name);
    return option;
  }

  #highlight(at) {
    const options = [...this.list.querySelectorAll("[role=option]")];
    const isAny = options.length && at !== NOTHING;
    this.at = isAny ? (at + options.length) % options.length : NOTHING;
    options.forEach((option, i) => {
      option.id = `chooser-option-${i}`;
      option.setAttribute("aria-selected", String(i === this.at));
    });
    options[this.at]?.scrollIntoView({ block: "nearest" });
    put(this.input, "aria-activedescendant", options[this.at]?.id ?? null);
  }

  #key(event) {
    event.stopPropagation();
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const act = {
      ArrowDown: () => this.#highlight(Math.max(-1, this.at) + 1),
      ArrowUp: () => this.#highlight(Math.max(0, this.at) - 1),
      Escape: () => this.close(),
      Enter: () => this.#pick(),
      Tab: () => this.#pick(),
    }[event.key];
    if (by && event.shiftKey) this.#stretch(by);
    else if (act) act();
    else return;
    event.preventDefault();
  }

  #stretch(by) {
    const known = this.onStretch(by * this.question.onwards);
    if (!known) return;
    Object.assign(this.question, known);
    this.#filter();
  }

  #pick() {
    const option = this.list.querySelector("[aria-selected=true]");
    if (option) this.close(option.dataset.label);
  }

  /** Beside its anchor, held by the edge that is nearest to it, so that it never drifts away while
   *  the list shortens. */
  #place(anchor) {
    const at = anchor.getBoundingClientRect();
    const below = Math.max(at.bottom, lowestChip(anchor, at)) + GAP;
    const x = Math.max(GAP, Math.min(at.left, innerWidth - this.box.offsetWidth - GAP));
    this.box.style.left = `${x}px`;
    const isBelow = innerHeight - below >= LEAST_ROOM || at.top < LEAST_ROOM;
    if (isBelow) this.box.style.top = `${below}px`;
    else this.box.style.bottom = `${innerHeight - at.top + GAP}px`;
    const room = isBelow ? innerHeight - below - GAP : at.top - 2 * GAP;
    const rest = this.box.offsetHeight - this.list.offsetHeight;
    this.list.style.maxHeight = `${Math.max(96, Math.min(252, room - rest))}px`;
  }
}

/** The lower edge of the chips that hang under a word's line. */
function lowestChip(anchor, { bottom }) {
  const host = anchor.closest("tandem-sentence");
  const edges = [...(host?.querySelectorAll(".chip") ?? [])]
    .map((chip) => chip.getBoundingClientRect())
    .filter((chip) => chip.bottom > bottom && chip.top - bottom < 60)
    .map((chip) => chip.bottom);
  return Math.max(bottom, ...edges);
}

/** The row that makes a label: it is gone to, and not taken by Enter alone. */
function makeNode(label) {
  const cap = element("span", { class: "chooser-key" }, keyCap("↓"));
  return optionNode(label, cap, t("Make ‘{label}’", { label }));
}

function optionNode(label, ...content) {
  return element("li", { role: "option", "data-label": label }, ...content);
}
