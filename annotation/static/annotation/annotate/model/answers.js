// Values of answers: when two are the same, when spans touch, how labels are sorted.

/** Whether two values of a kind say the same. */
export function sameValue(a, b) {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b;
  return a.length === b.length && a.every((part, i) => part === b[i]);
}

/** The pieces, [start, end], of a span: [start, end, label], or of several [s, e, s, e, label]. */
export function pieces(span) {
  const places = span.slice(0, -1);
  return places.flatMap((_, i) => (i % 2 ? [] : [places.slice(i, i + 2)]));
}

/** Whether two spans share a word. */
export function overlap(a, b) {
  if (a.length + b.length < 7) return a[0] < b[1] && b[0] < a[1];
  return pieces(a).some(([from, to]) => pieces(b).some(([start, end]) => from < end && start < to));
}

/** Whether two spans cover the same words; of pieces the first, by which others name the span. */
export function sameWords(a, b) {
  return a[0] === b[0] && a[1] === b[1];
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
