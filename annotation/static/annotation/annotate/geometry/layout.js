// Geometry of one annotated sentence. Pure: numbers in, numbers out, no DOM.
import { routeArcs } from "./arcs.js";
import { chipAnchors, hangSpans } from "./chips.js";
import { breakLines, growForArcs, growForChips, naturalGaps, placeWords } from "./lines.js";

/** Heights in pixels at the normal text size. */
export const METRICS = { word: 30, lane: 24, row: 24, tagRow: 19, lineGap: 14, arcRoom: 20 };

const NARROWEST_GAP = 3;

/** Places of everything in a sentence:
 *  words  [{width, direction, isGlued, isClosing}], direction of the sentence "ltr" or "rtl",
 *  tree, treeBelow  [{id, from: word or null, to: word, labelWidth}],
 *  spans  [{id, start, end, labelWidth}], relations [{id, from: span, to: span, labelWidth}].
 *  Returns lines (with their heights), places of words, and pieces by line of the rest. */
export function layoutSentence({
  words,
  direction = "ltr",
  tree = [],
  treeBelow = [],
  spans = [],
  relations = [],
  nTagRows = 0,
  nSpanRows = 0,
  width,
  gap = 7,
  metrics = METRICS,
}) {
  const frame = { width, direction };
  const labels = { arcs: [...tree, ...treeBelow], spans };
  const { gaps, lines } = fewestLines(words, labels, gap, width);
  const places = placeWords(words, gaps, lines, frame);
  const above = routeArcs(tree, places, lines, frame);
  const below = routeArcs(treeBelow, places, lines, frame);
  const chips = hangSpans(spans, places, lines, frame);
  const anchors = chipAnchors(spans, chips);
  const links = routeArcs(relations, anchors, lines, frame);
  const height = stackLines(lines, { above, below, chips, links, nTagRows, nSpanRows, metrics });
  return { lines, places, above, below, chips, anchors, links, height };
}

/** Lines and the gaps in them: narrower gaps only where they save a line, so that no full stop
 *  stands alone. */
function fewestLines(words, labels, gap, width) {
  const wide = fillLines(words, labels, gap, width);
  if (wide.lines.length === 1 || gap <= NARROWEST_GAP) return wide;
  const narrow = fillLines(words, labels, NARROWEST_GAP, width);
  return narrow.lines.length < wide.lines.length ? narrow : wide;
}

function fillLines(words, { arcs, spans }, gap, width) {
  const natural = naturalGaps(words, gap);
  const gaps = growForChips(growForArcs(natural, words, arcs), words, spans);
  return { gaps, lines: breakLines(words, gaps, width) };
}

/** Give each line its heights, one under the other, and return the height of all. */
function stackLines(lines, { above, below, chips, links, nTagRows, nSpanRows, metrics }) {
  let y = 0;
  lines.forEach((line, k) => {
    const lanesAbove = count(above[k], "lane");
    const lanesBelow = Math.max(count(below[k], "lane"), count(links[k], "lane"));
    line.base = y + (lanesAbove ? lanesAbove * metrics.lane + metrics.arcRoom : 4);
    line.wordTop = line.base + 2;
    line.tagTop = line.wordTop + metrics.word;
    line.rowTop = line.tagTop + nTagRows * metrics.tagRow;
    line.below = line.rowTop + Math.max(nSpanRows, count(chips[k], "row")) * metrics.row;
    y = line.below + (lanesBelow ? lanesBelow * metrics.lane + 16 : 4);
    line.bottom = y;
    if (k < lines.length - 1) y += metrics.lineGap;
  });
  return y;
}

function count(pieces, key) {
  return pieces.reduce((most, piece) => Math.max(most, piece[key] + 1), 0);
}
