// Marks on a drawn sentence: cursor, range, selection, and what steps forward. Only what changes is
// touched, since every key press comes through here.
import { toggle } from "../dom.js";
import { nearItems } from "./focus.js";

const NOTHING = { cursor: null, range: null, selected: null, head: null };

export class Marks {
  #wanted = { ...NOTHING, words: new Set() };
  #shown = null;
  #hovered = null;
  #nodes = new Map(); // id of a thing -> its elements

  constructor(host, words) {
    this.host = host;
    this.words = words;
  }

  /** Start again on another sentence; `differing` words are underlined. */
  clear(differing) {
    this.#wanted = { ...NOTHING, words: differing };
    this.#shown = null;
  }

  /** Other things were drawn on the same words; those that stayed keep their marks. */
  redrawn() {
    this.#nodes = nodesByItem(this.host);
  }

  set(marks) {
    this.#wanted = { ...this.#wanted, ...NOTHING, ...marks };
  }

  /** Let the word or thing under the pointer step forward; true if that is another one. */
  hover(target) {
    const word = target?.closest(".word");
    const item = target?.closest("[data-item]");
    const next = word
      ? { word: Number(word.dataset.word) }
      : item
        ? { id: item.dataset.item }
        : null;
    const isOther = JSON.stringify(next) !== JSON.stringify(this.#hovered);
    this.#hovered = next;
    return isOther;
  }

  /** Show the marks; on a sentence that is not new, only where they changed. */
  show(items, isReadOnly) {
    const next = { ...this.#wanted, near: this.#near(items) };
    const last = this.#shown;
    this.#shown = next;
    this.words.mark(next, last, isReadOnly);
    const ids = last
      ? [...last.near, last.selected, ...next.near, next.selected]
      : this.#nodes.keys();
    for (const id of new Set(ids)) {
      for (const node of this.#nodes.get(id) ?? []) {
        toggle(node, "data-near", next.near.has(id));
        toggle(node, "data-selected", id === next.selected);
      }
    }
    toggle(this.host, "data-focus", this.#hovered !== null && next.near.size > 0);
  }

  /** What steps forward: the hovered word or thing, else the selected thing, else the cursor's. */
  #near(items) {
    const { selected, cursor } = this.#wanted;
    if (this.#hovered) return nearItems(items, this.#hovered);
    if (selected !== null) return nearItems(items, { id: selected });
    return cursor === null ? new Set() : nearItems(items, { word: cursor });
  }
}

function nodesByItem(host) {
  const nodes = new Map();
  for (const node of host.querySelectorAll("[data-item]")) {
    const id = node.dataset.item;
    if (nodes.has(id)) nodes.get(id).push(node);
    else nodes.set(id, [node]);
  }
  return nodes;
}
