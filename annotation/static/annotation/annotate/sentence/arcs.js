// Arcs as SVG: strokes below, names above all strokes, so that a label is never crossed out.
import { KeyedChildren, put, setAttributes, svg } from "../dom.js";
import { laneY, piecePath, tipPath } from "../geometry/paths.js";
import { textWidth } from "./measure.js";
import { sayArc, sayRelation, shortNumber } from "./speech.js";

const UNSURE = 0.6; // an arc shows its confidence below this

/** Words beside an arc. */
export function arcText({ label, state, confidence, differs }) {
  const name = label || "?";
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
      ...draw("tree", items.tree, layout.above, layout.lines, -1, onWord, metrics),
      ...draw("tree", items.treeBelow, layout.below, layout.lines, 1, underWord, metrics),
      ...draw("relation", items.relations, layout.links, layout.lines, 1, onChip, metrics),
    ];
    this.strokes.render(drawn.map((arc) => strokesOf(arc, tokens, items.spans)));
    this.names.render(drawn.filter(({ name }) => name).map(nameOf));
  }
}

/** Pieces of each arc as path data, and the place of its name. */
function draw(kind, arcs, byLine, lines, side, footOn, { lane }) {
  const drawn = new Map(
    arcs.map((arc) => [arc.id, { kind, arc, paths: [], tips: [], name: null }]),
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
      if (piece.isLabelled) entry.name = { x: piece.nameX, y: side < 0 ? y - 4 : y + 12 };
    }
  });
  return [...drawn.values()];
}

function look(kind, { id, state, differs, label }) {
  return {
    class: `arc ${kind}`,
    "data-item": id,
    "data-state": state,
    "data-differs": differs,
    "data-bare": label === "",
  };
}

function strokesOf({ kind, arc, paths, tips }, tokens, spans) {
  const words = kind === "tree" ? sayArc(arc, tokens) : sayRelation(arc, tokens, spans);
  return {
    key: arc.id,
    look: { ...look(kind, arc), role: "img", "aria-label": words },
    paths,
    tips,
  };
}

function nameOf({ kind, arc, name }) {
  return { key: arc.id, look: look(kind, arc), ...name, text: arcText(arc) };
}

function updateStrokes(node, { look: attributes, paths, tips }) {
  setAttributes(node, attributes);
  const d = paths.join("");
  const wanted = [["hit", d], ["stroke", d], ...tips.map((tip) => ["tip", tip])];
  while (node.childElementCount > wanted.length) node.lastElementChild.remove();
  wanted.forEach(([name, path], i) => {
    const known = node.children[i];
    if (known) put(known, "d", path);
    else node.append(svg("path", { class: name, d: path }));
  });
}

function updateName(node, { look: attributes, x, y, text }) {
  setAttributes(node, { ...attributes, x: Math.round(x), y, "text-anchor": "middle" });
  if (node.textContent !== text) node.textContent = text;
}
