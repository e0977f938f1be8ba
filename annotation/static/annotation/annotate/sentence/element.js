// <tandem-sentence>: the words of one sentence with chips, rails, arcs and links on them.
import { element } from "../dom.js";
import { layoutSentence, METRICS } from "../geometry/layout.js";
import {
  differingWords,
  drawAgainst,
  drawAnswers,
  drawItems,
  noItems,
  tieItems,
} from "../model/items.js";
import { suggestedItems } from "../model/suggestions.js";
import { arcLabelWidth, Arcs } from "./arcs.js";
import { chipWidth, Chips } from "./chips.js";
import { Marks } from "./marks.js";
import { readStyle } from "./measure.js";
import { shortNumber } from "./speech.js";
import { Words } from "./words.js";

const ANY = "xx"; // no language in particular, which HTML has no code for
const NARROW = 640; // pixels below which words stand closer
const GAP = 7;
const NARROW_GAP = 3;

class TandemSentence extends HTMLElement {
  #sentence = { tokens: [] };
  #items = { ...noItems(), arcsBelow: [] };
  #room = { nChipRows: 0, nRailRows: 0, leastWordWidth: 0 };
  #style = null; // fonts and widths, read once and again when the width changes
  #width = 0;
  #heights = { all: 0, above: 0 };
  #observer = new ResizeObserver(() => this.#resize());

  connectedCallback() {
    if (!this.words) this.#build();
    const source = this.getAttribute("from");
    if (source) this.show(readSource(document.getElementById(source), this.dataset));
    this.#observer.observe(this);
  }

  disconnectedCallback() {
    this.#observer.disconnect();
  }

  get isReadOnly() {
    return this.hasAttribute("readonly");
  }

  get items() {
    return this.#items;
  }

  get direction() {
    return this.words.direction;
  }

  /** Height of all, and of what stands above the first line of words. */
  get heights() {
    return this.#heights;
  }

  /** Show another sentence and the things on it; room as for draw. */
  show({ sentence, items, differing, room = {} }) {
    this.fill({ sentence, differing });
    this.draw(items, room);
  }

  /** Put in the words of another sentence, on which nothing is drawn yet. */
  fill({ sentence, differing = new Set() }) {
    this.#sentence = sentence;
    this.#style = null;
    this.marks.clear(differing);
    this.words.fill(sentence, this.isReadOnly);
    this.toggleAttribute("data-document", this.words.numbers.length > 0);
    this.lang = sentence.language === ANY ? "" : (sentence.language ?? "");
    this.dir = this.words.direction;
  }

  /** Draw other things on the same words; room that is kept free keeps words from moving. */
  draw(items, { nChipRows = 0, nRailRows = 0, leastWordWidth = 0 } = {}) {
    this.#items = { ...noItems(), arcsBelow: [], ...items };
    this.#room = { nChipRows, nRailRows, leastWordWidth };
    this.#render();
  }

  /** Mark the cursor, a range of words, the selected thing, a word that waits for its head, and words
   *  that are open, known, asked for by digits, or not asked; see marks.js. */
  mark(marks) {
    this.marks.set(marks);
    this.marks.show(this.#items, this.isReadOnly);
  }

  /** The element of a word, to focus it or to hang something beside it. */
  wordNode(i) {
    return this.words.nodes[i];
  }

  /** The chip of a span or tag, or the name of an arc. */
  itemNode(id) {
    const wanted = `[data-item="${CSS.escape(id)}"]`;
    return this.querySelector(`.chip${wanted}, text${wanted}`);
  }

  #build() {
    const layer = (name) => this.appendChild(element("div", { class: `layer ${name}` }));
    const behind = layer("behind");
    this.arcs = new Arcs(this);
    this.words = new Words(this);
    this.chips = new Chips(behind, layer("front"));
    this.badges = this.appendChild(element("p", { class: "badges" }));
    this.marks = new Marks(this, this.words);
    if (this.isReadOnly) this.setAttribute("role", "group");
    this.addEventListener("pointerover", (event) => this.#hover(event.target));
    this.addEventListener("pointerleave", () => this.#hover(null));
    this.addEventListener("click", (event) => this.#pick(event));
  }

  #render() {
    if (!this.isConnected || !this.#sentence.tokens.length) return;
    const style = (this.#style ??= this.#measure());
    const items = this.#items;
    const gap = this.hasAttribute("gap") ? Number(this.getAttribute("gap")) : undefined;
    const layout = layoutSentence(
      layoutInput({ items, words: this.words, room: this.#room, style, gap }),
    );
    const height = layout.height + style.padding.y;
    const drawing = { items, layout, style, tokens: this.#sentence.tokens };
    this.words.place(layout.places, layout.lines, style);
    this.chips.render({ ...drawing, isReadOnly: this.isReadOnly });
    this.arcs.render({ ...drawing, size: { width: this.#width, height } });
    if (items.badges.length || this.badges.hasChildNodes())
      this.badges.replaceChildren(...items.badges.map(badgeWords));
    this.words.box.style.height = `${layout.height}px`;
    this.#heights = {
      all: height + style.padding.below,
      above: layout.lines[0].wordTop + style.padding.y,
    };
    this.marks.redrawn();
    this.marks.show(items, this.isReadOnly);
  }

  #measure() {
    this.#width = this.clientWidth;
    return readStyle(this, METRICS);
  }

  #hover(target) {
    if (this.marks.hover(target)) this.marks.show(this.#items, this.isReadOnly);
  }

  #pick(event) {
    const item = event.target.closest("[data-item]");
    if (!item) return;
    const detail = { id: item.dataset.item };
    this.dispatchEvent(new CustomEvent("item-pick", { detail, bubbles: true }));
  }

  #resize() {
    if (this.clientWidth === this.#width) return;
    this.#style = null;
    this.words.forget();
    this.#render();
  }
}

function badgeWords({ task, label, state, confidence, differs }) {
  const attributes = { class: "class", "data-state": state, "data-differs": differs };
  const words = element("span", attributes, `${task}: `, element("b", {}, label));
  if (confidence !== null) {
    words.append(" ", element("span", { class: "confidence" }, shortNumber(confidence)));
  }
  return words;
}

/** Input of layoutSentence. words: Words; room: {nChipRows, nRailRows,
 *  leastWordWidth} that is kept free. */
function layoutInput({ items, words, room, style, gap = GAP }) {
  const { fonts, inner, metrics } = style;
  const order = new Map(items.rails.map((rail, i) => [rail.id, i]));
  const arc = (entry) => ({
    id: entry.id,
    from: entry.head ? entry.head - 1 : null,
    to: entry.dep,
    labelWidth: arcLabelWidth(entry, fonts),
  });
  return {
    words: words.measure(leastWidths(items.chips, words, room, fonts)),
    direction: words.direction,
    arcs: items.arcs.map(arc),
    arcsBelow: items.arcsBelow.map(arc),
    rails: items.rails.map((rail) => ({ ...rail, labelWidth: chipWidth(rail, fonts) })),
    links: items.links.map((link) => ({
      id: link.id,
      from: order.get(link.from),
      to: order.get(link.to),
      labelWidth: arcLabelWidth(link, fonts),
    })),
    nChipRows: Math.max(room.nChipRows, ...items.chips.map(({ row }) => row + 1)),
    nRailRows: room.nRailRows,
    width: inner,
    gap: inner < NARROW ? Math.min(NARROW_GAP, gap) : gap,
    metrics,
  };
}

/** A word is at least as wide as the chips under it. */
function leastWidths(chips, words, room, fonts) {
  const least = words.nodes.map(() => room.leastWordWidth);
  for (const chip of chips) least[chip.at] = Math.max(least[chip.at], chipWidth(chip, fonts));
  return least;
}

/** What <tandem-sentence from="id"> shows, from a JSON script {"sentence": {tokens, offsets,
 *  language}, "tasks": [...], "answers": {name: {task: value}}, "suggestions": {task: {value,
 *  confidence, details}}}.
 *  answer: whose answers (the only ones if there is one author); against: whose to compare with;
 *  below: whose arcs to draw under the words; tasks: a JSON list of the names to show;
 *  suggested: given where the suggestions are to be drawn, and no answers. */
function readSource(script, { answer, against, below, tasks: names, suggested }) {
  const { sentence, tasks: all, answers, suggestions } = JSON.parse(script.textContent);
  const shown = names ? JSON.parse(names) : null;
  const tasks = shown ? all.filter((task) => shown.includes(task.name)) : all;
  if (suggested !== undefined) {
    const items = drawItems(
      tasks,
      (task) => suggestedItems(task, suggestions[task.name]),
      "suggested",
    );
    return { sentence, items: once(tieItems(tasks, items)) };
  }
  const values = answers[answer ?? Object.keys(answers)[0]] ?? {};
  const others = answers[against ?? below];
  if (!others) {
    return { sentence, items: once(tieItems(tasks, drawAnswers(tasks, values, "own"), values)) };
  }
  const drawn = drawAgainst(tasks, values, others);
  const opposite = drawAgainst(tasks, others, values);
  const items = tieItems(tasks, drawn);
  return {
    sentence,
    items: { ...items, arcsBelow: below ? renamed(opposite.arcs) : [] },
    differing: differingWords(drawn, opposite),
  };
}

/** The same things; what two tasks say of an arc is drawn once, by the name that says more. */
function once(items) {
  const arcs = new Map(); // by their ends
  for (const arc of items.arcs) {
    const ends = `${arc.dep} ${arc.head}`;
    const others = (arcs.get(ends) ?? []).filter((other) => !isSaidBy(other, arc));
    arcs.set(ends, others.some((other) => isSaidBy(arc, other)) ? others : [...others, arc]);
  }
  return { ...items, arcs: [...arcs.values()].flat() };
}

function isSaidBy(arc, other) {
  return arc.task !== other.task && !other.isExtra && other.label.startsWith(arc.label);
}

/** Arcs under the words need ids of their own. */
function renamed(arcs) {
  return arcs.map((arc) => ({ ...arc, id: `${arc.id}/below` }));
}

customElements.define("tandem-sentence", TandemSentence);
