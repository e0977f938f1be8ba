// <tandem-sentence>: the words of one sentence with tags, spans, trees and relations on them.
import { element } from "../dom.js";
import { layoutSentence, METRICS } from "../geometry/layout.js";
import { noItems } from "../model/items.js";
import { Arcs } from "./arcs.js";
import { Chips } from "./chips.js";
import { layoutInput } from "./layout_input.js";
import { Marks } from "./marks.js";
import { readStyle } from "./measure.js";
import { readSource } from "./source.js";
import { shortNumber } from "./speech.js";
import { Words } from "./words.js";

class TandemSentence extends HTMLElement {
  #sentence = { tokens: [] };
  #items = { ...noItems(), treeBelow: [] };
  #room = { nTagRows: 0, nSpanRows: 0, leastWordWidth: 0 };
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
  show({ sentence, items, differing = new Set(), room = {} }) {
    this.#sentence = sentence;
    this.#style = null;
    this.marks.clear(differing);
    this.words.fill(sentence, this.isReadOnly);
    this.lang = sentence.language ?? "";
    this.dir = this.words.direction;
    this.draw(items, room);
  }

  /** Draw other things on the same words; room that is kept free keeps words from moving. */
  draw(items, { nTagRows = 0, nSpanRows = 0, leastWordWidth = 0 } = {}) {
    this.#items = { ...noItems(), treeBelow: [], ...items };
    this.#room = { nTagRows, nSpanRows, leastWordWidth };
    this.#render();
  }

  /** Mark the cursor, a range of words, the selected thing, and the head that waits for a word. */
  mark({ cursor = null, range = null, selected = null, head = null }) {
    this.marks.set({ cursor, range, selected, head });
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
    this.classes = this.appendChild(element("p", { class: "classes" }));
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
    if (items.classes.length || this.classes.hasChildNodes())
      this.classes.replaceChildren(...items.classes.map(classWords));
    this.words.box.style.height = `${layout.height}px`;
    this.#heights = { all: height, above: layout.lines[0].wordTop + style.padding.y };
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

function classWords({ task, label, state, confidence, differs }) {
  const attributes = { class: "class", "data-state": state, "data-differs": differs };
  const words = element("span", attributes, `${task}: `, element("b", {}, label));
  if (confidence !== null) {
    words.append(" ", element("span", { class: "confidence" }, shortNumber(confidence)));
  }
  return words;
}

customElements.define("tandem-sentence", TandemSentence);
