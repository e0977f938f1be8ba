// The words of a sentence as elements: made once per sentence, measured once per width.
import { element, place, put, setAttributes, toggle } from "../dom.js";
import { baseDirection, wordDirection } from "../geometry/bidi.js";
import { number, t, tn } from "../words.js";

const CLOSING = /^[\p{Pe}\p{Pf}\p{Po}]+$/u;

export class Words {
  constructor(parent) {
    this.box = element("div", { class: "words" });
    parent.append(this.box);
    this.nodes = [];
    this.numbers = []; // of a document's sentences, beside their first lines
  }

  /** Make the elements of another sentence. */
  fill({ tokens, offsets, text, language, is_document: isDocument, starts }, isReadOnly) {
    this.direction = baseDirection(tokens, language);
    const role = isReadOnly ? undefined : "option";
    setAttributes(this.box, {
      role: isReadOnly ? undefined : "listbox",
      "aria-label": isReadOnly ? undefined : tn("Sentence, {n} word", "Sentence, {n} words", tokens.length),
      "aria-multiselectable": isReadOnly ? undefined : "true",
      "aria-orientation": isReadOnly ? undefined : "horizontal",
    });
    this.kinds = tokens.map((token) => wordDirection(token));
    this.nodes = tokens.map((token, i) => {
      const strong = this.kinds[i] === "rtl" || this.kinds[i] === "ltr";
      const dir = strong ? this.kinds[i] : this.direction;
      return element("span", { class: "word", "data-word": i, role, dir }, token);
    });
    this.numbers = (starts?.length > 1 ? starts : []).map((word, i) => {
      const title = t("Sentence {number}", { number: number(i + 1) });
      return { word, node: element("span", { class: "sentence-number", title }, number(i + 1)) };
    });
    this.box.replaceChildren(...this.nodes, ...this.numbers.map(({ node }) => node));
    this.glued = tokens.map((_, i) => i > 0 && offsets?.[i][0] === (offsets?.[i - 1][1] ?? -1));
    const breaks = isDocument && !starts ? lineBreaks(text) : [];
    this.starts = starts
      ? tokens.map((_, i) => i > 0 && starts.includes(i))
      : tokens.map((_, i) => i > 0 && offsetsHold(breaks, offsets, i));
    this.closing = tokens.map((token, i) => this.glued[i] && CLOSING.test(token));
    this.widths = null;
  }

  /** Sizes for the layout; a word is at least as wide as the tags under it. */
  measure(leastWidths) {
    this.widths ??= this.#naturalWidths();
    return this.nodes.map((_, i) => ({
      width: Math.max(this.widths[i], leastWidths[i] ?? 0),
      direction: this.kinds[i],
      isGlued: this.glued[i],
      isClosing: this.closing[i],
      startsLine: this.starts[i],
    }));
  }

  /** Measure anew: the text may have another size now, or was not shown before. */
  forget() {
    this.widths = null;
  }

  #naturalWidths() {
    for (const node of this.nodes) {
      node.style.width = "";
      node.placedAt = null;
    }
    return this.nodes.map((node) => Math.ceil(node.getBoundingClientRect().width * 10) / 10);
  }

  place(places, lines, { padding, metrics }) {
    this.nodes.forEach((node, i) => {
      const { x, width, line } = places[i];
      const y = lines[line].wordTop + padding.y;
      const key = `${x} ${y} ${width} ${metrics.word}`;
      if (node.placedAt === key) return;
      node.placedAt = key;
      place(node, x + padding.x, y, width, metrics.word);
    });
    for (const { word, node } of this.numbers) {
      node.style.top = `${lines[places[word].line].wordTop + padding.y}px`;
      node.style.height = `${metrics.word}px`;
    }
  }

  /** Mark words; only those that the last marks or the new ones touch. */
  mark(next, last, isReadOnly) {
    const touched = last ? new Set([...wordsOf(last), ...wordsOf(next)]) : this.nodes.keys();
    for (const i of touched) {
      const node = this.nodes[i];
      const isInRange = next.range !== null && next.range[0] <= i && i < next.range[1];
      toggle(node, "data-cursor", i === next.cursor);
      toggle(node, "data-range", isInRange);
      toggle(node, "data-head", i === next.head);
      toggle(node, "data-differs", next.words.has(i));
      toggle(node, "data-open", next.open.has(i));
      toggle(node, "data-known", next.known.has(i));
      put(node, "data-digit", next.digits.get(i) ?? null);
      toggle(node, "data-grey", next.grey.has(i));
      if (isReadOnly) continue;
      put(node, "tabindex", i === (next.cursor ?? 0) ? "0" : "-1");
      put(node, "aria-selected", String(isInRange || i === next.cursor));
    }
  }
}

/** Code points at which a document's text has a line break: its sentences end there. */
function lineBreaks(text) {
  return [...text].flatMap((character, i) => (character === "\n" ? [i] : []));
}

/** Whether a break lies between a word and the one before it; both come in rising order. */
function offsetsHold(breaks, offsets, i) {
  while (breaks.length && breaks[0] < offsets[i - 1][1]) breaks.shift();
  return breaks.length > 0 && breaks[0] < offsets[i][0];
}

function wordsOf({ cursor, range, head, open, known, digits, grey }) {
  const words = [cursor, head].filter((word) => word !== null);
  words.push(...open, ...known, ...digits.keys(), ...grey);
  if (range) for (let i = range[0]; i < range[1]; i++) words.push(i);
  return words;
}
