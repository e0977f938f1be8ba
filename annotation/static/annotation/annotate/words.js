// Words of the page in the language of the person: t("Submit and next"). The English text is the
// key of its translation, which the page brings along; without one it stays English.

const catalogue = readCatalogue();

/** A text in the person's language. Parts in braces are filled from values: t("{n} left", {n: 3}). */
export function t(text, values = null) {
  const found = catalogue[text] ?? text;
  return values === null ? found : found.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

/** The right one of two texts for a number, which is {n} in both. */
export function tn(one, many, n, values = {}) {
  return t(n === 1 ? one : many, { n: number(n), ...values });
}

const LANGUAGE = document.documentElement.lang || undefined;
const numbers = new Intl.NumberFormat(LANGUAGE, { numberingSystem: "latn" }); // making one takes long
const times = new Intl.DateTimeFormat(LANGUAGE, {
  timeStyle: "medium",
  hourCycle: "h23",
  numberingSystem: "latn",
});

/** A number as it is written in the person's language, with the digits that all pages use. */
export function number(n) {
  return numbers.format(n);
}

/** A time of the day, to the second. */
export function clockTime(date) {
  return times.format(date);
}

function readCatalogue() {
  const script = document.getElementById("words");
  return script ? JSON.parse(script.textContent) : {};
}
