// Tags and spans as elements: a fill behind the words, a rail below them, a chip with the label.
import { element, KeyedChildren, place, setAttributes } from "../dom.js";
import { sayTag, saySpan, shortNumber } from "./speech.js";
import { textWidth } from "./measure.js";

const PADDING = 14; // of a chip, both sides together
const CONFIDENCE_GAP = 6;
const RAIL = 1; // below the top of its row
const CHIP = 6;

/** Width of the chip of a span or tag. */
export function chipWidth(item, fonts) {
  const guess = item.state === "suggested" && item.confidence !== null;
  const extra = guess ? textWidth(shortNumber(item.confidence), fonts.plain) + CONFIDENCE_GAP : 0;
  return textWidth(chipText(item), fonts.strong) + extra + PADDING;
}

function chipText({ label, differs }) {
  return differs ? `≠ ${label}` : label;
}

export class Chips {
  constructor(behind, front) {
    const box = (className) => ({
      make: () => element("span", { class: className, "aria-hidden": "true" }),
      update,
    });
    const chip = { make: () => element("span", { class: "chip" }), update: updateChip };
    this.fills = new KeyedChildren(behind, box("fill"));
    this.rails = new KeyedChildren(front, box("rail"));
    this.chips = new KeyedChildren(front, chip);
    this.tags = new KeyedChildren(front, {
      ...chip,
      make: () => element("span", { class: "chip tag" }),
    });
  }

  render({ items, layout, style, tokens, isReadOnly }) {
    const pieces = layout.chips.flatMap((onLine, k) =>
      onLine.map((piece) => ({ piece, line: layout.lines[k], span: items.spans[piece.index] })),
    );
    this.fills.render(pieces.map((entry, i) => fillOf(entry, i, style)));
    this.rails.render(pieces.map((entry, i) => railOf(entry, i, style)));
    this.chips.render(
      pieces
        .filter(({ piece }) => piece.chipWidth !== undefined)
        .map((entry) => chipOf(entry, style, saySpan(entry.span, tokens), isReadOnly)),
    );
    this.tags.render(items.tags.map((tag) => tagOf(tag, layout, style, tokens, isReadOnly)));
  }
}

function look({ id, colour, state, differs }) {
  return { "data-item": id, "data-colour": colour, "data-state": state, "data-differs": differs };
}

function pieceKey({ piece, span }, i) {
  return `${span.id} ${piece.hasStart ? "start" : i}`;
}

function fillOf(entry, i, { padding, metrics }) {
  const { piece, line, span } = entry;
  return {
    key: pieceKey(entry, i),
    look: { ...look(span), "data-starts": piece.hasStart, "data-ends": piece.hasEnd },
    at: [piece.x1 + padding.x, line.wordTop + padding.y, piece.x2 - piece.x1, metrics.word],
    depth: 50 - piece.row,
  };
}

function railOf(entry, i, { padding, metrics }) {
  const { piece, line, span } = entry;
  const y = line.rowTop + padding.y + piece.row * metrics.row + RAIL;
  return {
    key: pieceKey(entry, i),
    look: look(span),
    at: [piece.x1 + padding.x, y, piece.x2 - piece.x1],
    depth: 0,
  };
}

function chipOf({ piece, line, span }, { padding, metrics }, words, isReadOnly) {
  const y = line.rowTop + padding.y + piece.row * metrics.row + CHIP;
  return chipEntry(span, [piece.chipX + padding.x, y], words, isReadOnly);
}

function tagOf(tag, layout, { padding, metrics, fonts }, tokens, isReadOnly) {
  const { mid, line } = layout.places[tag.at];
  const y = layout.lines[line].tagTop + padding.y + tag.row * metrics.tagRow + 1;
  const x = mid - chipWidth(tag, fonts) / 2 + padding.x;
  return chipEntry(tag, [x, y], sayTag(tag, tokens), isReadOnly);
}

function chipEntry(item, at, words, isReadOnly) {
  const confidence = item.state === "suggested" ? item.confidence : null;
  const role = isReadOnly ? "img" : "button";
  return {
    key: item.id,
    look: { ...look(item), role, "aria-label": words },
    at,
    text: chipText(item),
    confidence: confidence === null ? "" : shortNumber(confidence),
  };
}

function update(node, { look: attributes, at, depth }) {
  setAttributes(node, attributes);
  place(node, ...at);
  node.style.zIndex = depth;
}

function updateChip(node, { look: attributes, at, text, confidence }) {
  setAttributes(node, attributes);
  place(node, ...at);
  const words = `${text} ${confidence}`;
  if (node.words === words) return;
  node.words = words;
  node.replaceChildren(text);
  if (confidence) node.append(element("span", { class: "confidence" }, confidence));
}
