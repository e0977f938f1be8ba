// Live checks of a tree that is still growing. heads: per word null (open), 0 (root) or 1..m.

/** Words (from 0) whose head is the root. */
export function rootsOf(heads) {
  return heads.flatMap((head, i) => (head === 0 ? [i] : []));
}

/** Words of one cycle in head order, or an empty list. */
export function findCycle(heads) {
  const state = heads.map(() => "new");
  for (let first = 0; first < heads.length; first++) {
    const path = [];
    let word = first;
    while (word !== null && word >= 0 && state[word] === "new") {
      state[word] = "on path";
      path.push(word);
      word = heads[word] === null ? null : heads[word] - 1;
    }
    if (word !== null && word >= 0 && state[word] === "on path")
      return path.slice(path.indexOf(word));
    for (const seen of path) state[seen] = "done";
  }
  return [];
}

/** Pairs of words whose arcs cross; the root's arc comes from before the first word. */
export function crossingArcs(heads) {
  const arcs = heads.flatMap((head, i) => (head === null ? [] : [sorted(head, i + 1)]));
  const words = heads.flatMap((head, i) => (head === null ? [] : [i]));
  const crossings = [];
  for (let a = 0; a < arcs.length; a++) {
    for (let b = a + 1; b < arcs.length; b++) {
      if (crosses(arcs[a], arcs[b])) crossings.push([words[a], words[b]]);
    }
  }
  return crossings;
}

function sorted(a, b) {
  return a < b ? [a, b] : [b, a];
}

function crosses([a, b], [c, d]) {
  return (a < c && c < b && b < d) || (c < a && a < d && d < b);
}
