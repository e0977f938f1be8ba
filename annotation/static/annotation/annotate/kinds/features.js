// Features: attributes with values on every word, one value per attribute. An answer is a list of texts
// such as "Case=Nom|Number=Sing", "_" where a word has none, null while nobody has said.
import { register } from "./index.js";
import { openHere, openIn, tags } from "./tags.js";
import { refuse } from "../model/editor.js";
import { withValue } from "../model/document.js";
import { labelledBefore } from "../model/labels.js";
import { askedWords, documentOf, rangeOf, selectedIn, taskOf } from "../model/state.js";
import { t, tn } from "../words.js";

const NONE = "_";
const MOST_HERE = 3; // texts of features that are offered as buttons

register({
  ...tags,
  name: "features",
  noun: t("features"),
  labelsIn: split,

  changes: {
    ...tags.changes,

    /** One feature on some words: it takes the place of another value of its attribute. */
    "features.set"(doc, { task, places, label }) {
      const put = (old, i) => (places.includes(i) ? withFeature(old, label) : old);
      return withValue(doc, task, doc.values[task].map(put));
    },

    /** One feature less on some words. */
    "features.drop"(doc, { task, places, label }) {
      const drop = (old, i) => (places.includes(i) ? join(split(old).filter((one) => one !== label)) : old);
      return withValue(doc, task, doc.values[task].map(drop));
    },
  },

  apply,
  options: (state, task) => [...new Set([...before(state, task), ...task.labels.map(({ name }) => name)])],
  here: (state, task) => [...new Set([...before(state, task).slice(0, MOST_HERE), NONE])],
  hereText: (name) => (name === NONE ? t("no features") : name),
  offer,
  holds: (_, label, state) => isHeld(state, label),
  keys: () => [],
  usesLabel: () => true,
  paints: false,
  commands: [
    ...tags.commands,
    { id: "noFeatures", key: "-", words: t("no features on this word"), run: setNone, isLocal: true },
    { id: "noneElsewhere", key: "_", words: t("no features on all open words"), run: noneElsewhere, isLocal: true, button: t("None on the rest") },
  ],

  draw: ({ at, value }) => ({ at, label: short(value), colour: null }),
  say: ({ at, value, label }, tokens) => `${tokens[at]}, ${label}, ${spoken(value)}`,
  sayOn: ({ value }) => spoken(value),
  describe: ({ at, value }, tokens) => ({ from: tokens[at], to: "", label: value }),
  unitText: ([, value]) => spoken(value),
  optionText: (value) => spoken(value),
  labels: { isRadio: false, look: "label-button", isColoured: true },
});

/** A label on the words at hand: a feature is put on or, where all have it, taken off; a whole text
 *  of features, as earlier answers have it, replaces all. */
function apply(state, task, label) {
  const item = selectedIn(state, task);
  const [start, end] = item ? [item.at, item.at + 1] : rangeOf(state.ui);
  const places = askedWords(state, task).filter((word) => start <= word && word < end);
  if (!places.length) return refuse(t("{task} is not asked of this word.", { task }));
  const isWhole = label === NONE || label.includes("|");
  if (isWhole) return tags.apply(state, task, label);
  const values = documentOf(state).values[task];
  const isOn = places.every((word) => split(values[word] ?? NONE).includes(label));
  const words = places.map((word) => state.sentence.tokens[word]).join(" ");
  return {
    action: { kind: isOn ? "features.drop" : "features.set", task, places, label },
    ui: { task, selected: null },
    say: isOn ? t("Deleted {label}", { label }) : t("{label} on {words}", { label, words }),
  };
}

/** All features together that the word under the cursor had in earlier answers, the most frequent first. */
function before(state, task) {
  const { cursor } = state.ui;
  return [...labelledBefore(state, task, [cursor, cursor + 1]).keys()];
}

/** Enter gives an open word the features that it had most often before. */
function offer(state) {
  if (openHere(state) === null) return null;
  const { task } = state.ui;
  const [value] = before(state, taskOf(state, task));
  if (value === undefined) return null;
  const words = value === NONE ? t("no features") : t("Features ‘{text}’", { text: short(value) });
  return { words, run: () => tags.apply(state, task, value) };
}

function setNone(state) {
  return tags.apply(state, state.ui.task, NONE);
}

/** All words that nobody has looked at have no features. */
function noneElsewhere(state) {
  const { task } = state.ui;
  const places = openIn(documentOf(state).values[task], askedWords(state, task));
  if (!places.length) return refuse(t("Every word has its features."));
  return {
    action: { kind: "tags.set", task, places, label: NONE },
    ui: { selected: null, anchor: null },
    say: tn("{n} word without features", "{n} words without features", places.length),
  };
}

/** Whether the word under the cursor has a feature. */
function isHeld(state, label) {
  const value = documentOf(state).values[state.ui.task]?.[state.ui.cursor];
  return typeof value === "string" && (value === label || split(value).includes(label));
}

function split(value) {
  return value === null || value === NONE ? [] : value.split("|");
}

/** Features as one text, sorted by attribute. */
function join(features) {
  const attribute = (feature) => feature.split("=")[0].toLowerCase();
  const order = (a, b) => (attribute(a) < attribute(b) ? -1 : Number(attribute(a) > attribute(b)));
  return [...features].sort(order).join("|") || NONE;
}

function withFeature(value, feature) {
  const [attribute] = feature.split("=");
  return join([...split(value).filter((other) => other.split("=")[0] !== attribute), feature]);
}

/** The values alone, which fit under a word. */
function short(value) {
  return value === NONE ? "–" : split(value).map((feature) => feature.split("=")[1]).join(" ");
}

function spoken(value) {
  return value === NONE ? t("no features") : split(value).join(", ");
}
