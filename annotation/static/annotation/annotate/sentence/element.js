// <tandem-sentence>: the words of one sentence with tags, spans, trees and relations on them.
import { element, toggle } from "../dom.js";
import { layoutSentence, METRICS } from "../geometry/layout.js";
import { noItems } from "../model/items.js";
import { arcLabelWidth, Arcs } from "./arcs.js";
import { Chips, chipWidth } from "./chips.js";
import { nearItems } from "./focus.js";
import { readStyle } from "./measure.js";
import { readSource } from "./source.js";
import { Words } from "./words.js";

const NARROW = 640;
const GAP = 7;
const NARROW_GAP = 3;

export class TandemSentence extends HTMLElement {
  #sentence = { tokens: [] };
  #items = { ...noItems(), treeBelow: [] };
  #marks = { cursor: null, range: null, selected: null, head: null, words: new Set() };
  #hovered = null;
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

  /** Show another sentence and the things on it; room as for draw. */
  show({ sentence, items, differing = new Set(), room = {} }) {
    this.#sentence = sentence;
    this.#marks = { cursor: null, range: null, selected: null, head: null, words: differing };
    this.#style = null;
    this.words.fill(sentence, this.isReadOnly);
    this.lang = sentence.language ?? "";
    this.dir = this.words.direction;
    this.draw(items, room);
  }

  /** Draw other things on the same words. nTagRows and leastWordWidth keep words from moving. */
  draw(items, { nTagRows = 0, leastWordWidth = 0 } = {}) {
    this.#items = { ...noItems(), treeBelow: [], ...items };
    this.#room = { nTagRows, leastWordWidth };
    this.#render();
  }

  /** Mark the cursor, a range of words, the selected thing, and the head that waits for a word. */
  mark({ cursor = null, range = null, selected = null, head = null }) {
    this.#marks = { ...this.#marks, cursor, range, selected, head };
    this.#showMarks();
  }

  /** Height of all, and of what stands above the first line of words. */
  get heights() {
    return this.#heights;
  }

  /** The element of a word, to focus it or to hang something beside it. */
  wordNode(i) {
    return this.words.nodes[i];
  }

  itemNode(id) {
    return this.querySelector(
      `.chip[data-item="${CSS.escape(id)}"], text[data-item="${CSS.escape(id)}"]`,
    );
  }

  #room = { nTagRows: 0, leastWordWidth: 0 };

  #build() {
    const layer = (name) => this.appendChild(element("div", { class: `layer ${name}` }));
    const behind = layer("behind");
    this.arcs = new Arcs(this);
    this.words = new Words(this);
    this.chips = new Chips(behind, layer("front"));
    this.classes = this.appendChild(element("p", { class: "classes" }));
    if (this.isReadOnly) this.setAttribute("role", "group");
    this.addEventListener("pointerover", (event) => this.#hover(event.target));
    this.addEventListener("pointerleave", () => this.#hover(null));
    this.addEventListener("click", (event) => this.#pick(event));
  }

  #render() {
    if (!this.isConnected || !this.#sentence.tokens.length) return;
    const style = (this.#style ??= this.#measure());
    const layout = layoutSentence(this.#layoutInput(style));
    const height = layout.height + style.padding.y;
    const common = { items: this.#items, layout, style, tokens: this.#sentence.tokens };
    this.words.place(layout.places, layout.lines, style);
    this.chips.render({ ...common, isReadOnly: this.isReadOnly });
    this.arcs.render({ ...common, size: { width: this.#width, height } });
    this.classes.replaceChildren(...this.#items.classes.flatMap(classWords));
    this.words.box.style.height = `${layout.height}px`;
    this.#heights = { all: height, above: layout.lines[0].wordTop + style.padding.y };
    this.#showMarks(true);
  }

  /** Fonts and widths, read once and again when the width changes. */
  #measure() {
    this.#width = this.clientWidth;
    return readStyle(this, METRICS);
  }

  #style = null;
  #width = 0;
  #heights = { all: 0, above: 0 };

  #layoutInput({ fonts, inner, metrics }) {
    const items = this.#items;
    const gap = Number(this.getAttribute("gap") ?? GAP);
    const arc = (entry) => ({
      id: entry.id,
      from: entry.head ? entry.head - 1 : null,
      to: entry.dep,
      labelWidth: arcLabelWidth(entry, fonts),
    });
    const order = new Map(items.spans.map((span, i) => [span.id, i]));
    return {
      words: this.words.measure(this.#leastWidths(fonts)),
      direction: this.words.direction,
      tree: items.tree.map(arc),
      treeBelow: items.treeBelow.map(arc),
      spans: items.spans.map((span) => ({ ...span, labelWidth: chipWidth(span, fonts) })),
      relations: items.relations.map((link) => ({
        id: link.id,
        from: order.get(link.from),
        to: order.get(link.to),
        labelWidth: arcLabelWidth(link, fonts),
      })),
      nTagRows: Math.max(this.#room.nTagRows, ...items.tags.map(({ row }) => row + 1)),
      width: inner,
      gap: inner < NARROW ? Math.min(NARROW_GAP, gap) : gap,
      metrics,
    };
  }

  #leastWidths(fonts) {
    const least = this.#sentence.tokens.map(() => this.#room.leastWordWidth);
    for (const tag of this.#items.tags)
      least[tag.at] = Math.max(least[tag.at], chipWidth(tag, fonts));
    return least;
  }

  /** Show the marks: on everything after a drawing, else only where they changed. */
  #showMarks(isFresh = false) {
    const next = { ...this.#marks, near: this.#near() };
    const last = isFresh ? null : this.#shown;
    this.#shown = next;
    this.words.mark(next, last, this.isReadOnly);
    if (isFresh) this.#nodesOf = nodesByItem(this);
    const ids = last
      ? [...last.near, last.selected, ...next.near, next.selected]
      : this.#nodesOf.keys();
    for (const id of new Set(ids)) {
      for (const node of this.#nodesOf.get(id) ?? []) {
        toggle(node, "data-near", next.near.has(id));
        toggle(node, "data-selected", id === next.selected);
      }
    }
    toggle(this, "data-focus", this.#hovered !== null && next.near.size > 0);
  }

  #shown = null;
  #nodesOf = new Map();

  /** What steps forward: the hovered word or thing, else the selected thing, else the cursor's. */
  #near() {
    if (this.#hovered) return nearItems(this.#items, this.#hovered);
    if (this.#marks.selected !== null) return nearItems(this.#items, { id: this.#marks.selected });
    if (this.#marks.cursor !== null) return nearItems(this.#items, { word: this.#marks.cursor });
    return new Set();
  }

  #hover(target) {
    const word = target?.closest(".word");
    const item = target?.closest("[data-item]");
    const next = word
      ? { word: Number(word.dataset.word) }
      : item
        ? { id: item.dataset.item }
        : null;
    if (JSON.stringify(next) === JSON.stringify(this.#hovered)) return;
    this.#hovered = next;
    this.#showMarks();
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
    this.#render();
  }
}

/** The elements of each thing, by its id. */
function nodesByItem(host) {
  const nodes = new Map();
  for (const node of host.querySelectorAll("[data-item]")) {
    const id = node.dataset.item;
    if (nodes.has(id)) nodes.get(id).push(node);
    else nodes.set(id, [node]);
  }
  return nodes;
}

function classWords({ task, label, differs }) {
  return [
    element(
      "span",
      { class: "class", "data-differs": differs },
      `${task}: `,
      element("b", {}, label),
    ),
  ];
}

customElements.define("tandem-sentence", TandemSentence);
