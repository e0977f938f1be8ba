// Where the words of a sentence stand: the room between them, the lines they fill, their places.
import { visualOrder } from "./bidi.js";

const MOST_EXTRA = 24; // a gap grows at most this much for labels
const LABEL_AIR = 10;
const CHIP_AIR = 6;

/** Room before each word: wide after a space, narrow inside written-together text. */
export function naturalGaps(words, gap) {
  return words.map((word, i) => (i === 0 ? 0 : word.isGlued ? Math.min(2, gap) : gap));
}

/** The same gaps, grown where the label of an arc between neighbours would not fit. */
export function growForArcs(gaps, words, arcs) {
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
export function growForChips(gaps, words, spans) {
  const grown = [...gaps];
  const sorted = [...spans].sort((a, b) => a.start - b.start || a.end - b.end);
  sorted.forEach((span, k) => {
    const next = sorted.slice(k + 1).find((other) => other.start >= span.end);
    if (!next) return;
    let room = 0;
    for (let i = span.start; i < next.start; i++) room += words[i].width + grown[i + 1];
    const missing = span.labelWidth + CHIP_AIR - room;
    grown[next.start] += Math.max(0, Math.min(MOST_EXTRA, missing));
  });
  return grown;
}

/** Lines of words: [{first, end}], end exclusive. A line never starts with a closing mark. */
export function breakLines(words, gaps, width) {
  const lines = [];
  let x = 0;
  words.forEach((word, i) => {
    const isFull = x + gaps[i] + word.width > width && x > 0;
    if (i === 0 || isFull) {
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
export function placeWords(words, gaps, lines, { width, direction }) {
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
