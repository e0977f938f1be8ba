// Chips and rails as elements: a fill behind the words, a rail below them, a chip with the label.
import { element, KeyedChildren, place, setAttributes } from "../dom.js";
import { sayItem, shortNumber } from "./speech.js";
import { textWidth } from "./measure.js";

const PADDING = 14; // of a chip, both sides together
const CONFIDENCE_GAP = 6;
const RAIL = 1; // below the top of its row
const CHIP = 6;

/** Width of a chip, alone or under a rail. */
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
    this.leaders = new KeyedChildren(front, box("leader"));
    this.chips = new KeyedChildren(front, chip);
    this.alone = new KeyedChildren(front, {
      ...chip,
      make: () => element("span", { class: "chip tag" }),
    });
  }

  render({ items, layout, style, tokens, isReadOnly }) {
    const pieces = layout.rails.flatMap((onLine, k) =>
      onLine.map((piece) => ({ piece, line: layout.lines[k], rail: items.rails[piece.index] })),
    );
    this.fills.render(pieces.map((entry, i) => fillOf(entry, i, style)));
    this.rails.render(pieces.map((entry, i) => railOf(entry, i, style)));
    this.leaders.render(
      pieces.filter(({ piece }) => piece.chipRow > piece.row).map((entry) => leaderOf(entry, style)),
    );
    this.chips.render(
      pieces
        .filter(({ piece }) => piece.chipWidth !== undefined)
        .map((entry) => chipOf(entry, style, sayItem(entry.rail, tokens, items), isReadOnly)),
    );
    this.alone.render(
      items.chips.map((chip) =>
        chipAlone(chip, layout, style, sayItem(chip, tokens, items), isReadOnly),
      ),
    );
  }
}

function look({ id, colour, state, differs, isRetired }) {
  return {
    "data-item": id,
    "data-colour": colour,
    "data-state": state,
    "data-differs": differs,
    "data-retired": isRetired,
  };
}

function pieceKey({ piece, rail }, i) {
  return `${rail.id} ${piece.hasStart ? "start" : i}`;
}

function fillOf(entry, i, { padding, metrics }) {
  const { piece, line, rail } = entry;
  return {
    key: pieceKey(entry, i),
    look: { ...look(rail), "data-starts": piece.hasStart, "data-ends": piece.hasEnd },
    at: [piece.x1 + padding.x, line.wordTop + padding.y, piece.x2 - piece.x1, metrics.word],
    depth: 50 - piece.row,
  };
}

function railOf(entry, i, { padding, metrics }) {
  const { piece, line, rail } = entry;
  const y = line.rowTop + padding.y + piece.row * metrics.row + RAIL;
  return {
    key: pieceKey(entry, i),
    look: look(rail),
    at: [piece.x1 + padding.x, y, piece.x2 - piece.x1],
    depth: 0,
  };
}

/** A thin line from a rail to its chip, where another chip hangs between them. */
function leaderOf({ piece, line, rail }, { padding, metrics }) {
  const top = line.rowTop + padding.y + piece.row * metrics.row + CHIP;
  const right = Math.min(piece.x2, piece.chipX + piece.chipWidth);
  const x = Math.min(Math.max(piece.x1, piece.chipX) + 4, right - 2);
  return {
    key: rail.id,
    look: look(rail),
    at: [x + padding.x, top, undefined, (piece.chipRow - piece.row) * metrics.row],
    depth: 0,
  };
}

function chipOf({ piece, line, rail }, { padding, metrics }, words, isReadOnly) {
  const y = line.rowTop + padding.y + piece.chipRow * metrics.row + CHIP;
  return chipEntry(rail, [piece.chipX + padding.x, y], words, isReadOnly);
}

function chipAlone(chip, layout, { padding, metrics, fonts }, words, isReadOnly) {
  const { mid, line } = layout.places[chip.at];
  const y = layout.lines[line].chipTop + padding.y + chip.row * metrics.chipRow + 1;
  const x = mid - chipWidth(chip, fonts) / 2 + padding.x;
  return chipEntry(chip, [x, y], words, isReadOnly);
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
