// Words of the page in the language of the person: t("Submit and next"). The English text is the
// key of its translation, which the page brings along; without one it stays English.

const catalogue = readCatalogue();

/** A text in the person's language. Parts in braces are filled from values: t("{n} left", {n: 3}). */
export function t(text, values = null) {
  return filled(catalogue[text] ?? text, values);
}

function filled(text, values) {
  return values === null ? text : text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

/** The right form of a text for a number, which is {n} in all: English has two, Arabic six. */
export function tn(one, many, n, values = {}) {
  const forms = catalogue[`${one}|${many}`] ?? [one, many];
  return filled(forms[FORMS[forms.length]?.[plurals.select(n)] ?? forms.length - 1], { n: number(n), ...values });
}

const LANGUAGE = document.documentElement.lang || undefined;
const plurals = new Intl.PluralRules(LANGUAGE);
// Which form of the catalogue a number takes, by how many forms there are; else the last.
const FORMS = { 2: { one: 0 }, 6: { zero: 0, one: 1, two: 2, few: 3, many: 4 } };
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

/** A share as it is written in the person's language: 0.95 -> 95 %. */
export function percent(share) {
  return `${number(Math.round(100 * share))} %`;
}

/** A time of the day, to the second. */
export function clockTime(date) {
  return times.format(date);
}

function readCatalogue() {
  const script = document.getElementById("words");
  return script ? JSON.parse(script.textContent) : {};
}
