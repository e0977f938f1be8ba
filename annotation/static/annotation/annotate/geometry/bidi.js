// Writing direction and visual order of whole words: the part of UAX #9 that a line of words needs.

const RIGHT_TO_LEFT_SCRIPTS = "Hebrew Arabic Syriac Thaana Nko Samaritan Mandaic Adlam".split(" ");
const RIGHT_TO_LEFT = new RegExp(
  `[${RIGHT_TO_LEFT_SCRIPTS.map((script) => `\\p{Script=${script}}`).join("")}]`,
  "u",
);
const LETTER = /\p{L}/u;
const DIGIT = /\p{Nd}/u;
const RIGHT_TO_LEFT_LANGUAGES = new Set(
  "ar arc ckb dv fa he ku-arab nqo ps sd syr ug ur yi".split(" "),
);

/** Direction of one word by its first strong letter: "rtl", "ltr", "number" or "neutral". */
export function wordDirection(word) {
  let found = "neutral";
  for (const character of word) {
    if (RIGHT_TO_LEFT.test(character) && LETTER.test(character)) return "rtl";
    if (LETTER.test(character)) return "ltr";
    if (DIGIT.test(character)) found = "number";
  }
  return found;
}

/** Direction of a sentence: its language's wherever a word has it, else that of most words. */
export function baseDirection(words, language = "") {
  const directions = words.map(wordDirection);
  const count = (wanted) => directions.filter((direction) => direction === wanted).length;
  const [nRight, nLeft] = [count("rtl"), count("ltr")];
  if (isRightToLeft(language)) return nRight || !nLeft ? "rtl" : "ltr";
  return nRight > nLeft ? "rtl" : "ltr";
}

function isRightToLeft(language) {
  const code = language.toLowerCase();
  return RIGHT_TO_LEFT_LANGUAGES.has(code) || RIGHT_TO_LEFT_LANGUAGES.has(code.split("-")[0]);
}

/** Indices of a line's words from left to right as they are read on screen. */
export function visualOrder(directions, base) {
  const levels = embeddingLevels(directions, base);
  const order = directions.map((_, i) => i);
  for (let level = Math.max(0, ...levels); level > 0; level--) {
    reverseRuns(order, (i) => levels[i] >= level);
  }
  return order;
}

function embeddingLevels(directions, base) {
  const baseLevel = base === "rtl" ? 1 : 0;
  const sides = sidesOf(directions, base);
  return directions.map((direction, i) => {
    if (direction === "number") return sides[i] === "rtl" ? 2 : 0;
    const side = direction === "neutral" ? neutralSide(directions, sides, i, base) : direction;
    if (side === "rtl") return 1;
    return baseLevel ? 2 : 0;
  });
}

/** Strong side of each word; a number takes the side of the strong word before it. */
function sidesOf(directions, base) {
  let last = base;
  return directions.map((direction) => {
    if (direction === "rtl" || direction === "ltr") last = direction;
    if (direction === "number") return base === "rtl" ? "rtl" : last;
    return direction === "neutral" ? null : direction;
  });
}

/** Side of a word without letters: that of its neighbours where they agree, else the sentence's. */
function neutralSide(directions, sides, i, base) {
  const before = nearestSide(sides, i, -1) ?? base;
  const after = nearestSide(sides, i, 1) ?? base;
  return before === after ? before : base;
}

function nearestSide(sides, from, step) {
  for (let i = from + step; i >= 0 && i < sides.length; i += step) if (sides[i]) return sides[i];
  return null;
}

function reverseRuns(order, belongs) {
  let start = 0;
  while (start < order.length) {
    if (!belongs(order[start])) {
      start += 1;
      continue;
    }
    let end = start;
    while (end < order.length && belongs(order[end])) end += 1;
    order.splice(start, end - start, ...order.slice(start, end).reverse());
    start = end;
  }
}
