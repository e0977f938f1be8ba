// Values of answers: when two are the same, when spans touch, how labels are sorted.

/** Whether two values of a kind say the same. */
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

/** Order by code point, as the server sorts. */
export function compare(a, b) {
  const [left, right] = [[...a], [...b]];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = left[i].codePointAt(0) - right[i].codePointAt(0);
    if (difference) return difference;
  }
  return left.length - right.length;
}
