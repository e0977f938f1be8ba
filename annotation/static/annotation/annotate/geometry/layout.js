// Geometry of one annotated sentence. Pure: numbers in, numbers out, no DOM.
import { routeArcs } from "./arcs.js";
import { hangRails, railAnchors } from "./rails.js";
import { visualOrder } from "./bidi.js";

/** Heights in pixels at the normal text size. */
export const METRICS = { word: 30, lane: 24, row: 24, chipRow: 19, lineGap: 14, arcRoom: 20 };

const NARROWEST_GAP = 3;
const MOST_EXTRA = 24; // a gap grows at most this much for labels
const LABEL_AIR = 10;
const CHIP_AIR = 6;

/** Places of everything in a sentence:
 *  words  [{width, direction, isGlued, isClosing, startsLine}], direction of the sentence "ltr" or "rtl",
 *  arcs, arcsBelow  [{id, from: word or null, to: word, labelWidth}],
 *  rails  [{id, start, end, labelWidth}], links [{id, from: rail, to: rail, labelWidth}].
 *  Returns lines (with their heights), places of words, and pieces by line of the rest. */
export function layoutSentence({
  words,
  direction = "ltr",
  arcs = [],
  arcsBelow = [],
  rails = [],
  links = [],
  nChipRows = 0,
  nRailRows = 0,
  width,
  gap = 7,
  metrics = METRICS,
}) {
  const frame = { width, direction };
  const labels = { arcs: [...arcs, ...arcsBelow], rails };
  const { gaps, lines } = fewestLines(words, labels, gap, width);
  const places = placeWords(words, gaps, lines, frame);
  const above = routeArcs(arcs, places, lines, frame);
  const below = routeArcs(arcsBelow, places, lines, frame);
  const hung = hangRails(rails, places, lines, frame);
  const anchors = railAnchors(rails, hung);
  const linked = routeArcs(links, anchors, lines, frame);
  const parts = { above, below, rails: hung, links: linked };
  const height = stackLines(lines, { ...parts, nChipRows, nRailRows, metrics });
  return { lines, places, anchors, ...parts, height };
}

/** Lines and the gaps in them: narrower gaps only where they save a line, so that no full stop
 *  stands alone. */
function fewestLines(words, labels, gap, width) {
  const wide = fillLines(words, labels, gap, width);
  if (wide.lines.length === 1 || gap <= NARROWEST_GAP) return wide;
  const narrow = fillLines(words, labels, NARROWEST_GAP, width);
  return narrow.lines.length < wide.lines.length ? narrow : wide;
}

function fillLines(words, { arcs, rails }, gap, width) {
  const natural = naturalGaps(words, gap);
  const gaps = growForRails(growForArcs(natural, words, arcs), words, rails);
  return { gaps, lines: breakLines(words, gaps, width) };
}

/** Give each line its heights, one under the other, and return the height of all. */
function stackLines(lines, { above, below, rails, links, nChipRows, nRailRows, metrics }) {
  let y = 0;
  lines.forEach((line, k) => {
    const lanesAbove = count(above[k], "lane");
    const lanesBelow = Math.max(count(below[k], "lane"), count(links[k], "lane"));
    line.base = y + (lanesAbove ? lanesAbove * metrics.lane + metrics.arcRoom : 4);
    line.wordTop = line.base + 2;
    line.chipTop = line.wordTop + metrics.word;
    line.rowTop = line.chipTop + nChipRows * metrics.chipRow;
    const nRows = Math.max(nRailRows, count(rails[k], "row"), count(rails[k], "chipRow"));
    line.below = line.rowTop + nRows * metrics.row;
    y = line.below + (lanesBelow ? lanesBelow * metrics.lane + 16 : 4);
    line.bottom = y;
    if (k < lines.length - 1) y += metrics.lineGap;
  });
  return y;
}

function count(pieces, key) {
  return pieces.reduce((most, piece) => Math.max(most, (piece[key] ?? -1) + 1), 0);
}

/** Room before each word: wide after a space, narrow inside written-together text. */
function naturalGaps(words, gap) {
  return words.map((word, i) => (i === 0 ? 0 : word.isGlued ? Math.min(2, gap) : gap));
}

/** The same gaps, grown where the label of an arc between neighbours would not fit. */
function growForArcs(gaps, words, arcs) {
  const grown = [...gaps];
  for (const { from, to, labelWidth } of arcs) {
    if (from === null || Math.abs(from - to) !== 1) continue;
    const right = Math.max(from, to);
    const room = words[right - 1].width / 2 + grown[right] + words[right].width / 2;
    grown[right] += Math.max(0, Math.min(MOST_EXTRA, labelWidth + LABEL_AIR - room));
  }
  return grown;
}

/** The same gaps, grown where a chip is wider than the words up to the next chip. */
function growForRails(gaps, words, rails) {
  const grown = [...gaps];
  const sorted = [...rails].sort((a, b) => a.start - b.start || a.end - b.end);
  sorted.forEach((rail, k) => {
    const next = sorted.slice(k + 1).find((other) => other.start >= rail.end);
    if (!next) return;
    let room = 0;
    for (let i = rail.start; i < next.start; i++) room += words[i].width + grown[i + 1];
    const missing = rail.labelWidth + CHIP_AIR - room;
    grown[next.start] += Math.max(0, Math.min(MOST_EXTRA, missing));
  });
  return grown;
}

/** Lines of words: [{first, end}], end exclusive. A line never starts with a closing mark. */
function breakLines(words, gaps, width) {
  const lines = [];
  let x = 0;
  words.forEach((word, i) => {
    const isFull = !word.startsLine && x + gaps[i] + word.width > width && x > 0;
    if (i === 0 || isFull || word.startsLine) {
      const first = isFull ? lastBreakBefore(words, lines.at(-1).first, i) : i;
      if (isFull) lines.at(-1).end = first;
      lines.push({ first, end: i + 1 });
      x = 0;
      for (let k = first; k < i; k++) x += words[k].width + gaps[k + 1];
    } else {
      x += gaps[i];
      lines.at(-1).end = i + 1;
    }
    x += word.width;
  });
  return lines;
}

/** A closing mark takes the word before it along to the next line. */
function lastBreakBefore(words, lineStart, i) {
  return words[i].isClosing && i - 1 > lineStart ? i - 1 : i;
}

/** Place of every word, {x, width, mid, line}, in pixels from the left of the sentence. */
function placeWords(words, gaps, lines, { width, direction }) {
  const places = new Array(words.length);
  lines.forEach((line, k) => {
    const order = orderOf(words, line, direction);
    const total = order.reduce(
      (sum, i, at) => sum + words[i].width + gapBefore(gaps, order, at),
      0,
    );
    let x = direction === "rtl" ? width - total : 0;
    line.left = x;
    order.forEach((i, at) => {
      x += gapBefore(gaps, order, at);
      places[i] = { x, width: words[i].width, mid: x + words[i].width / 2, line: k };
      x += words[i].width;
    });
    line.right = x;
  });
  return places;
}

function orderOf(words, line, direction) {
  const directions = words.slice(line.first, line.end).map((word) => word.direction ?? "ltr");
  return visualOrder(directions, direction).map((i) => i + line.first);
}

/** Room between two words that stand beside each other: the gap of the later one in the text. */
function gapBefore(gaps, order, at) {
  return at === 0 ? 0 : gaps[Math.max(order[at], order[at - 1])];
}
