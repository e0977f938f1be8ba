// Lanes for things that lie beside each other on a line: arcs above, chips and relations below.

/** Lane of every piece, 0 = nearest the words. A piece: {left, right, legs: [x1, x2], length,
 *  isOnTop}. Short pieces choose first; a piece lies beyond all whose legs stand between its own
 *  and shares its lane with nothing that it overlaps. */
export function packLanes(pieces, gap) {
  const lanes = new Array(pieces.length).fill(0);
  const placed = [];
  for (const i of shortestFirst(pieces)) {
    const piece = pieces[i];
    const neighbours = placed.filter((j) => overlaps(pieces[j], piece, gap));
    let lane = 0;
    for (const j of neighbours) {
      if (piece.isOnTop || encloses(piece, pieces[j], gap)) lane = Math.max(lane, lanes[j] + 1);
    }
    const taken = new Set(neighbours.map((j) => lanes[j]));
    while (taken.has(lane)) lane += 1;
    lanes[i] = lane;
    placed.push(i);
  }
  return lanes;
}

function shortestFirst(pieces) {
  return pieces
    .map((_, i) => i)
    .sort((a, b) => pieces[a].length - pieces[b].length || pieces[a].left - pieces[b].left);
}

function overlaps(a, b, gap) {
  return a.left < b.right + gap && b.left < a.right + gap;
}

function encloses(outer, inner, gap) {
  return inner.legs[0] >= outer.legs[0] - gap && inner.legs[1] <= outer.legs[1] + gap;
}
