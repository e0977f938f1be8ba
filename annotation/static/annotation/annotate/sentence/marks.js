// Marks on a drawn sentence: cursor, range, selection, and what steps forward. Only what changes is
// touched, since every key press comes through here.
import { toggle } from "../dom.js";
import { isOn } from "../model/items.js";

const NOTHING = {
  cursor: null,
  range: null,
  selected: null,
  head: null,
  open: new Set(), // words that wait for an answer
  known: new Set(), // words that earlier answers label
  digits: new Map(), // word -> the key that takes it
  grey: new Set(), // words that are not asked
};

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

/** Ids of all that hangs on a word, or of one thing and, for a rail, its links. */
function nearItems(items, { word = null, id = null }) {
  const near = new Set();
  if (id !== null) addItem(near, items, id);
  if (word !== null) {
    for (const chip of items.chips) if (chip.at === word) near.add(chip.id);
    for (const arc of [...items.arcs, ...items.arcsBelow]) {
      if (arc.dep === word || arc.head - 1 === word) near.add(arc.id);
    }
    for (const rail of items.rails) if (isOn(rail, word)) addItem(near, items, rail.id);
  }
  return near;
}

function addItem(near, items, id) {
  near.add(id);
  for (const link of items.links) if (link.from === id || link.to === id) near.add(link.id);
}
