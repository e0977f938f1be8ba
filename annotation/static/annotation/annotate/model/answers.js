// Answers as the server knows them, and the unfinished values a person works on.
// Unfinished: a tag, a class or an arc may be null; an arc without a label has the label "".

/** Value of a task that nobody has touched, for a sentence of m words. */
export function blankValue(kind, m) {
  if (kind === "tags" || kind === "tree") return new Array(m).fill(null);
  return kind === "classes" ? null : [];
}

/** Spans in the one order that answers have: by start, then the longer first, then by label. */
export function sortSpans(spans) {
  return [...spans].sort((a, b) => a[0] - b[0] || b[1] - a[1] || compare(a[2], b[2]));
}

/** Relations in the one order that answers have. */
export function sortRelations(relations) {
  return [...relations].sort((a, b) => {
    for (let i = 0; i < 4; i++) if (a[i] !== b[i]) return a[i] - b[i];
    return compare(a[4], b[4]);
  });
}

/** Order by code point, as the server sorts. */
export function compare(a, b) {
  const [left, right] = [[...a], [...b]];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = left[i].codePointAt(0) - right[i].codePointAt(0);
    if (difference) return difference;
  }
  return left.length - right.length;
}

/** Items of an answer, each {key, value}; the key is what makes an item the same item. */
export function itemsOf(kind, value) {
  if (kind === "classes") return value === null ? [] : [{ key: "class", value }];
  if (kind === "spans") return value.map((span) => ({ key: span.join("-"), value: span }));
  if (kind === "relations") return value.map((link) => ({ key: link.join("-"), value: link }));
  return value.flatMap((entry, i) =>
    entry === null ? [] : [{ key: String(i), value: entry, at: i }],
  );
}

/** Whether two items of a kind say the same. */
export function sameValue(a, b) {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b;
  return a.length === b.length && a.every((part, i) => part === b[i]);
}

/** Whether two spans share a word. */
export function overlap(a, b) {
  return a[0] < b[1] && b[0] < a[1];
}

/** Whether two spans cover the same words. */
export function sameWords(a, b) {
  return a[0] === b[0] && a[1] === b[1];
}
