// SVG path data of arc pieces and their tips.

const RADIUS = 9;
const TIP_WIDTH = 7.2;
const TIP_HEIGHT = 6.5;

/** Height of a piece's horizontal part. side: -1 above the words, 1 below. */
export function laneY(piece, base, side, lane) {
  return base + side * (piece.lane * lane + lane - 2);
}

/** Path of a piece whose legs stand at footLeft and footRight. */
export function piecePath(piece, y, side, footLeft, footRight) {
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
export function tipPath(x, foot, side) {
  return `M${round(x)} ${foot}l${-TIP_WIDTH / 2} ${side * TIP_HEIGHT}h${TIP_WIDTH}z`;
}

function round(x) {
  return Math.round(x * 10) / 10;
}
