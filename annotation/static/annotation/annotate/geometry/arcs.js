// Arcs between places on lines: where their legs stand, how lines cut them, which lanes they take.
import { packLanes } from "./lanes.js";

const LANE_GAP = 3;
const NAME_AIR = 5;
const SHORTEST_STUB = 18; // a cut arc stays this long, so that it is seen
const NARROWEST_STEP = 4;
const WIDEST_STEP = 9;

/** Pieces of all arcs on each line, with lanes. Arc: {id, from: index or null for the root, to,
 *  labelWidth}; place: {mid, width, line}; line: {left, right}; frame: {width, direction}. */
export function routeArcs(arcs, places, lines, frame) {
  const feet = placeFeet(arcs, places, frame.direction);
  const byLine = lines.map(() => []);
  arcs.forEach((arc, i) => {
    for (const piece of cutArc(arc, feet[i], places, lines, frame)) byLine[piece.line].push(piece);
  });
  for (const pieces of byLine) {
    const lanes = packLanes(pieces.map(outline), LANE_GAP);
    pieces.forEach((piece, i) => (piece.lane = lanes[i]));
    placeNames(pieces);
  }
  return byLine;
}

/** x of both feet of each arc. The feet on one word fan out so that legs never cross:
 *  left-going near to far, then the root, then right-going far to near. */
function placeFeet(arcs, places, direction) {
  const feet = arcs.map(() => ({}));
  const onPlace = places.map(() => []);
  arcs.forEach(({ from, to }, i) => {
    const isRoot = from === null;
    onPlace[to].push({ i, end: "to", order: isRoot ? 0 : footOrder(places, to, from, direction) });
    if (isRoot) return;
    onPlace[from].push({ i, end: "from", order: footOrder(places, from, to, direction) });
  });
  onPlace.forEach((ends, n) => {
    ends.sort((a, b) => a.order - b.order);
    const step = footStep(places[n].width, ends.length);
    ends.forEach(({ i, end }, k) => {
      feet[i][end] = places[n].mid + (k - (ends.length - 1) / 2) * step;
    });
  });
  return feet;
}

function footStep(width, n) {
  return Math.max(NARROWEST_STEP, Math.min(WIDEST_STEP, (width - 8) / Math.max(1, n - 1)));
}

/** Sort key of a foot: negative to the left with the nearest first, positive to the right. */
function footOrder(places, self, other, direction) {
  const a = places[self];
  const b = places[other];
  const far = a.line === b.line ? Math.abs(a.mid - b.mid) : 1e5 + Math.abs(self - other);
  return goesLeft(a, b, direction) ? far - 1e7 : 1e7 - far;
}

function goesLeft(a, b, direction) {
  if (a.line === b.line) return b.mid < a.mid;
  return b.line > a.line === (direction === "rtl");
}

/** One piece for every line that an arc touches; open where a line break cuts it. */
function cutArc(arc, foot, places, lines, frame) {
  if (arc.from === null) return [rootPiece(arc, foot, places[arc.to].line)];
  const [first, last] = [places[arc.from].line, places[arc.to].line].sort((a, b) => a - b);
  const starts = places[arc.from].line <= places[arc.to].line ? "from" : "to";
  const ends = starts === "from" ? "to" : "from";
  const pieces = [];
  for (let line = first; line <= last; line++) {
    const a = { end: line === first ? starts : null, x: foot[starts] };
    const b = { end: line === last ? ends : null, x: foot[ends] };
    if (!a.end) a.x = lineEdge(lines[line], frame, "start");
    if (!b.end) b.x = lineEdge(lines[line], frame, "end", foot[starts], line === first);
    pieces.push(orientPiece(arc, line, a, b));
  }
  const length = ({ x1, x2 }) => x2 - x1;
  const longest = pieces.reduce((best, piece) => (length(piece) > length(best) ? piece : best));
  for (const piece of pieces) {
    piece.isLabelled = piece === longest || length(piece) >= arc.labelWidth + 2 * NAME_AIR;
  }
  return pieces;
}

/** Where a cut arc leaves or enters a line, in the reading direction of the sentence. */
function lineEdge(line, { width, direction }, side, footX = 0, hasFoot = false) {
  const toTheRight = (direction === "ltr") === (side === "end");
  if (side === "start") return toTheRight ? width : 0;
  if (toTheRight) {
    const edge = Math.min(width, line.right + LANE_GAP * 3);
    return hasFoot ? Math.max(edge, footX + SHORTEST_STUB) : edge;
  }
  const edge = Math.max(0, line.left - LANE_GAP * 3);
  return hasFoot ? Math.min(edge, footX - SHORTEST_STUB) : edge;
}

function rootPiece(arc, foot, line) {
  return {
    arc,
    line,
    x1: foot.to,
    x2: foot.to,
    isRoot: true,
    isLabelled: true,
    left: null,
    right: "to",
  };
}

/** A piece with x1 <= x2; left and right name the end of the arc that stands there, or null. */
function orientPiece(arc, line, a, b) {
  const [l, r] = a.x <= b.x ? [a, b] : [b, a];
  return {
    arc,
    line,
    x1: l.x,
    x2: r.x,
    left: l.end,
    right: r.end,
    isRoot: false,
    isLabelled: false,
  };
}

/** Put the name of each labelled piece in its middle, or beside it where a leg would cross it. */
function placeNames(pieces) {
  for (const piece of pieces) {
    if (!piece.isLabelled) continue;
    const legs = pieces.filter((other) => other.lane > piece.lane).flatMap(legsOf);
    piece.nameX = freeMiddle(piece, legs);
  }
}

function legsOf(piece) {
  return [...(piece.left ? [piece.x1] : []), ...(piece.right ? [piece.x2] : [])];
}

function freeMiddle({ x1, x2, arc }, legs) {
  const middle = (x1 + x2) / 2;
  const half = arc.labelWidth / 2 + NAME_AIR;
  const isFree = (x) => legs.every((leg) => Math.abs(leg - x) > half);
  for (let shift = 0; shift <= (x2 - x1) / 2 - half; shift += NAME_AIR) {
    if (isFree(middle - shift)) return middle - shift;
    if (isFree(middle + shift)) return middle + shift;
  }
  return middle;
}

/** What a piece covers, label included, for packing. */
function outline(piece) {
  const half = piece.isLabelled ? piece.arc.labelWidth / 2 : 0;
  const middle = (piece.x1 + piece.x2) / 2;
  return {
    left: Math.min(piece.x1, middle - half),
    right: Math.max(piece.x2, middle + half),
    legs: [piece.x1, piece.x2],
    length: piece.isRoot ? Infinity : piece.x2 - piece.x1,
    isOnTop: piece.isRoot,
  };
}
