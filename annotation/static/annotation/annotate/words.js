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
  return t(n === 1 ? one : many, { n: n.toLocaleString(), ...values });
}

function readCatalogue() {
  const script = document.getElementById("words");
  return script ? JSON.parse(script.textContent) : {};
}
