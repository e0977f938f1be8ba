// Chips under the words: a rail along the words of a span on each line, and its label once.
import { packLanes } from "./lanes.js";

const ROW_GAP = 2;

/** Pieces of all spans on each line, with rows; inner spans lie nearest the words.
 *  Span: {start, end, labelWidth}. A piece knows whether the span starts or ends in it. */
export function hangSpans(spans, places, lines, frame) {
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
  }
  return byLine;
}

/** Stretches of a span's words that stand side by side on one line. */
function visualRuns(span, places) {
  const runs = [];
  for (let i = span.start; i < span.end; i++) {
    const { x, width, line } = places[i];
    const run = runs.at(-1);
    if (run && run.line === line && touches(places, run, i)) {
      run.x1 = Math.min(run.x1, x);
      run.x2 = Math.max(run.x2, x + width);
      run.hasEnd ||= i === span.end - 1;
    } else {
      const hasEnd = i === span.end - 1;
      runs.push({ line, x1: x, x2: x + width, hasStart: i === span.start, hasEnd });
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

function outline(piece, span) {
  const { x1, x2, chipX = x1, chipWidth = 0 } = piece;
  return {
    left: Math.min(x1, chipX),
    right: Math.max(x2, chipX + chipWidth),
    legs: [x1, x2],
    length: span.end - span.start,
    isOnTop: false,
  };
}

/** Where relations take hold of each chip: {mid, width, line, row}, on the widest part of its lower
 *  edge that no chip of a lower row covers. */
export function chipAnchors(spans, byLine) {
  return spans.map((_, index) => {
    const line = byLine.findIndex((pieces) => pieces.some((p) => isChipOf(p, index)));
    const chip = byLine[line].find((p) => isChipOf(p, index));
    const below = byLine[line].filter((p) => p.chipWidth && p.row > chip.row);
    const [left, right] = widestFree(chip, below);
    return { mid: (left + right) / 2, width: right - left, line, row: chip.row };
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
