// Rails under the words: one along the words of a span on each line, and its label once.
import { packLanes } from "./lanes.js";

const ROW_GAP = 2;

/** Pieces of all spans on each line, with rows; inner spans lie nearest the words. A chip hangs in
 *  the row of its rail, or lower where another chip is in its way. Span: {start, end, labelWidth}. A
 *  piece knows whether the span starts or ends in it. */
export function hangRails(spans, places, lines, frame) {
  const byLine = lines.map(() => []);
  spans.forEach((span, index) => {
    for (const run of visualRuns(span, places)) byLine[run.line].push({ index, ...run });
    labelFirstRun(byLine[places[span.start].line], index, span, frame);
  });
  for (const pieces of byLine) {
    const rows = packLanes(
      pieces.map((piece) => outline(piece, spans[piece.index])),
      ROW_GAP,
    );
    pieces.forEach((piece, i) => (piece.row = rows[i]));
    hangChips(pieces, spans);
  }
  return byLine;
}

/** Give every chip a row of its own, the inner and shorter spans first. */
function hangChips(pieces, spans) {
  const length = ({ index }) => spans[index].end - spans[index].start;
  const hung = [];
  const chips = pieces
    .filter(({ chipWidth }) => chipWidth !== undefined)
    .sort((a, b) => a.row - b.row || length(a) - length(b) || a.chipX - b.chipX);
  for (const chip of chips) {
    const isTaken = (row) => hung.some((other) => other.chipRow === row && touch(chip, other));
    chip.chipRow = chip.row;
    while (isTaken(chip.chipRow)) chip.chipRow += 1;
    hung.push(chip);
  }
}

function touch(a, b) {
  return a.chipX < b.chipX + b.chipWidth + ROW_GAP && b.chipX < a.chipX + a.chipWidth + ROW_GAP;
}

/** Stretches of a span's words that stand side by side on one line; of all of its pieces. */
function visualRuns(span, places) {
  const runs = [];
  const pieces = span.pieces ?? [[span.start, span.end]];
  for (const [start, end] of pieces) {
    const isLast = (i) => i === end - 1;
    for (let i = start; i < end; i++) {
      const { x, width, line } = places[i];
      const run = i > start ? runs.at(-1) : null;
      if (run && run.line === line && touches(places, run, i)) {
        run.x1 = Math.min(run.x1, x);
        run.x2 = Math.max(run.x2, x + width);
        run.hasEnd ||= isLast(i);
      } else {
        runs.push({ line, x1: x, x2: x + width, hasStart: i === span.start, hasEnd: isLast(i) });
      }
    }
  }
  return runs;
}

/** Whether no word of the line stands between a run and the next word of the span. */
function touches(places, run, i) {
  const { x, width } = places[i];
  const [from, to] = x >= run.x2 ? [run.x2, x] : [x + width, run.x1];
  return !places.some((p) => p.line === run.line && p.x >= from && p.x + p.width <= to);
}

/** The label hangs where the reader meets the span first, and never leaves the line. */
function labelFirstRun(pieces, index, span, { width, direction }) {
  const piece = pieces.find((candidate) => candidate.index === index && candidate.hasStart);
  const wanted = direction === "rtl" ? piece.x2 - span.labelWidth : piece.x1;
  piece.chipX = Math.max(0, Math.min(wanted, width - span.labelWidth));
  piece.chipWidth = span.labelWidth;
}

function outline({ x1, x2 }, span) {
  return {
    left: x1,
    right: x2,
    legs: [x1, x2],
    length: span.end - span.start,
    isOnTop: false,
  };
}

/** Where relations take hold of each chip: {mid, width, line, row}, on the widest part of its lower
 *  edge that no chip of a lower row covers. */
export function railAnchors(spans, byLine) {
  return spans.map((_, index) => {
    const line = byLine.findIndex((pieces) => pieces.some((p) => isChipOf(p, index)));
    const chip = byLine[line].find((p) => isChipOf(p, index));
    const below = byLine[line].filter((p) => p.chipWidth && p.chipRow > chip.chipRow);
    const [left, right] = widestFree(chip, below);
    return { mid: (left + right) / 2, width: right - left, line, row: chip.chipRow };
  });
}

function isChipOf(piece, index) {
  return piece.index === index && piece.chipWidth !== undefined;
}

function widestFree(chip, below) {
  const whole = [chip.chipX, chip.chipX + chip.chipWidth];
  let free = [whole];
  for (const other of below) {
    const [from, to] = [other.chipX - ROW_GAP, other.chipX + other.chipWidth + ROW_GAP];
    free = free
      .flatMap(([l, r]) => [
        [l, Math.min(r, from)],
        [Math.max(l, to), r],
      ])
      .filter(([l, r]) => r - l >= 8);
  }
  return free.reduce(
    (best, part) => (part[1] - part[0] > best[1] - best[0] ? part : best),
    free[0] ?? whole,
  );
}
