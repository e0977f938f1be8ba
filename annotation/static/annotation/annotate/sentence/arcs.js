// Arcs as SVG: strokes below, names above all strokes, so that a label is never crossed out.
import { KeyedChildren, put, setAttributes, svg } from "../dom.js";
import { textWidth } from "./measure.js";
import { sayItem, shortNumber } from "./speech.js";

const RADIUS = 9;
const TIP_WIDTH = 7.2;
const TIP_HEIGHT = 6.5;
const UNSURE = 0.6; // an arc shows its confidence below this

/** Words beside an arc. */
export function arcText({ label, state, confidence, differs, isWrong, rank }) {
  const name = label || "?";
  if (rank) return `${rank} ${name}`;
  if (isWrong) return `↻ ${name}`;
  if (differs) return `≠ ${name}`;
  const isUnsure = state === "suggested" && confidence !== null && confidence < UNSURE;
  return isUnsure ? `${name} ${shortNumber(confidence)}` : name;
}

export function arcLabelWidth(arc, fonts) {
  return textWidth(arcText(arc), fonts.strong);
}

export class Arcs {
  constructor(parent) {
    this.canvas = svg("svg", { class: "arcs" });
    const [strokes, names] = [svg("g"), svg("g", { "aria-hidden": "true" })];
    this.canvas.append(strokes, names);
    parent.append(this.canvas);
    this.strokes = new KeyedChildren(strokes, { make: () => svg("g"), update: updateStrokes });
    this.names = new KeyedChildren(names, { make: () => svg("text"), update: updateName });
  }

  render({ items, layout, style, tokens, size }) {
    const { padding, metrics } = style;
    setAttributes(this.canvas, {
      width: size.width,
      height: size.height,
      viewBox: `${-padding.x} ${-padding.y} ${size.width} ${size.height}`,
    });
    const onWord = (line) => () => line.base;
    const underWord = (line) => () => line.below + 3;
    const onChip = (line) => (anchor) =>
      line.rowTop + layout.anchors[anchor].row * metrics.row + metrics.row - 2;
    const drawn = [
      ...draw("over", items.arcs, layout.above, layout.lines, -1, onWord, metrics),
      ...draw("over", items.arcsBelow, layout.below, layout.lines, 1, underWord, metrics),
      ...draw("link", items.links, layout.links, layout.lines, 1, onChip, metrics),
    ];
    this.strokes.render(drawn.map((arc) => strokesOf(arc, tokens, items)));
    this.names.render(drawn.flatMap(namesOf));
  }
}

/** Pieces of each arc as path data, and the places of its name; look: the class of its elements. */
function draw(look, arcs, byLine, lines, side, footOn, { lane }) {
  const drawn = new Map(
    arcs.map((arc) => [arc.id, { look, arc, paths: [], tips: [], names: [] }]),
  );
  byLine.forEach((pieces, k) => {
    const foot = footOn(lines[k]);
    const base = side < 0 ? lines[k].base : lines[k].below + 4;
    for (const piece of pieces) {
      const entry = drawn.get(piece.arc.id);
      const y = laneY(piece, base, side, lane);
      const footAt = (end) => (end ? foot(piece.arc[end]) : y);
      const [left, right] = [footAt(piece.left), footAt(piece.right)];
      entry.paths.push(piecePath(piece, y, side, left, right));
      if (piece.left === "to") entry.tips.push(tipPath(piece.x1, left, side));
      if (piece.right === "to") entry.tips.push(tipPath(piece.x2, right, side));
      if (piece.isLabelled) entry.names.push({ x: piece.nameX, y: side < 0 ? y - 4 : y + 12 });
    }
  });
  return [...drawn.values()];
}

function attributesOf(look, { id, state, differs, isWrong, isExtra, isRetired, label, rank }) {
  return {
    class: `arc ${look}`,
    "data-item": id,
    "data-state": state,
    "data-differs": differs,
    "data-wrong": isWrong,
    "data-extra": isExtra,
    "data-retired": isRetired,
    "data-bare": label === "" && !rank,
    "data-rank": rank,
  };
}

function strokesOf({ look, arc, paths, tips }, tokens, items) {
  const words = sayItem(arc, tokens, items);
  return {
    key: arc.id,
    looks: { ...attributesOf(look, arc), role: "img", "aria-label": words },
    paths,
    tips,
  };
}

/** An arc that a line break cuts has its name on every piece with room for it. */
function namesOf({ look, arc, names }) {
  const [looks, text] = [attributesOf(look, arc), arcText(arc)];
  return names.map((name, i) => ({ key: i ? `${arc.id} ${i}` : arc.id, looks, ...name, text }));
}

function updateStrokes(node, { looks, paths, tips }) {
  setAttributes(node, looks);
  const d = paths.join("");
  const wanted = [["hit", d], ["stroke", d], ...tips.map((tip) => ["tip", tip])];
  while (node.childElementCount > wanted.length) node.lastElementChild.remove();
  wanted.forEach(([name, path], i) => {
    const known = node.children[i];
    if (known) put(known, "d", path);
    else node.append(svg("path", { class: name, d: path }));
  });
}

function updateName(node, { looks, x, y, text }) {
  setAttributes(node, { ...looks, x: Math.round(x), y, "text-anchor": "middle" });
  if (node.textContent !== text) node.textContent = text;
}

/** Height of a piece's horizontal part. side: -1 above the words, 1 below. */
function laneY(piece, base, side, lane) {
  return base + side * (piece.lane * lane + lane - 2);
}

/** Path of a piece whose legs stand at footLeft and footRight. */
function piecePath(piece, y, side, footLeft, footRight) {
  const { x1, x2 } = piece;
  if (piece.isRoot) return `M${round(x1)} ${y}V${footRight}`;
  const legs = [piece.left && footLeft, piece.right && footRight].filter(Number.isFinite);
  const r = Math.min(RADIUS, (x2 - x1) / 2, ...legs.map((foot) => Math.abs(y - foot)));
  const start = piece.left
    ? `M${round(x1)} ${footLeft}V${y - side * r}Q${round(x1)} ${y} ${round(x1 + r)} ${y}`
    : `M${round(x1)} ${y}`;
  const end = piece.right
    ? `H${round(x2 - r)}Q${round(x2)} ${y} ${round(x2)} ${y - side * r}V${footRight}`
    : `H${round(x2)}`;
  return start + end;
}

/** Path of the arrow tip at a foot. */
function tipPath(x, foot, side) {
  return `M${round(x)} ${foot}l${-TIP_WIDTH / 2} ${side * TIP_HEIGHT}h${TIP_WIDTH}z`;
}

function round(x) {
  return Math.round(x * 10) / 10;
}
