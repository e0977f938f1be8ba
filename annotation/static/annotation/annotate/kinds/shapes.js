// Shapes of answers that several kinds share: one entry per word, one for the sentence, or a
// collection of items. A kind takes a shape and adds what is its own.
import { sameValue } from "../model/answers.js";
import { withValue } from "../model/document.js";
import { sayLabel } from "../sentence/speech.js";
import { t } from "../words.js";

/** One entry per word, or null where there is none yet: tags, trees. */
export const perWord = {
  blank: (m) => new Array(m).fill(null),
  items: (value) =>
    value.flatMap((entry, at) => (entry === null ? [] : [{ key: String(at), value: entry, at }])),
  keyOf: ({ at }) => String(at),

  isOneOf: true,
  group: ([at]) => `token-${at}`,
  title: ([at], tokens) => tokens[at],
  unit: ({ at, value }) => [at, ...[value].flat()],

  detail: (details, { at }) => details[at],
  fate(item, task, doc) {
    const own = doc.values[task.name][item.at];
    if (own === null) return "pending";
    return sameValue(own, item.value) ? "accepted" : "edited";
  },
  accept: (doc, task, { at, value }) => withEntry(doc, task, at, value),
  removal: ({ at }) => ({ at }),
  remove: (doc, task, { at }) => withEntry(doc, task, at, null),
};

function withEntry(doc, task, at, entry) {
  return withValue(doc, task, doc.values[task].with(at, entry));
}

/** Units, [word, ...], in the order of the words. */
export function inOrder(units) {
  return [...units].sort((a, b) => a[0] - b[0]);
}

/** One label for the sentence, or null while there is none: classes. */
export const perSentence = {
  layer: "badges",
  isWhole: true,
  blank: () => null,
  items: (value) => (value === null ? [] : [{ key: "class", value }]),
  keyOf: () => "class",

  isOneOf: true,
  group: () => "class",
  title: () => t("whole sentence"),
  labelOf: (value) => value,
  unit: ({ value }) => [value],
  unitText: ([label]) => label,
  compose: ([[label]]) => label,

  detail: ([found], _, { confidence }) => ({
    confidence: found?.confidence ?? confidence,
    others: found?.others,
  }),
  fate(item, task, doc) {
    const own = doc.values[task.name];
    if (own === null) return "pending";
    return own === item.value ? "accepted" : "edited";
  },
  changes: {
    "class.choose": (doc, { task, label }) => withValue(doc, task, label),
  },
  accept: (doc, task, { value }) => withValue(doc, task, value),
  removal: () => ({}),
  remove: (doc, task) => withValue(doc, task, null),
  take: ({ task }, value) => ({ kind: "class.choose", task, label: value }),

  check(task, label) {
    const isOpen = label === null;
    const problems = isOpen ? [{ message: t("{task}: choose one.", { task: task.name }), at: null }] : [];
    return { own: isOpen ? 0 : 1, open: isOpen ? 1 : 0, problems };
  },
  progress({ open, toCheck }) {
    if (!open) return [{ look: "good", text: t("✓ yours") }];
    return [{ look: "todo", text: toCheck ? t("1 to check") : t("choose one") }];
  },

  apply: (_, task, label) => ({
    action: { kind: "class.choose", task, label },
    ui: { selected: null },
    say: `${task}: ${label}`,
  }),
  usesLabel: () => true,
  takesDigits: true,

  draw: ({ value }) => ({ label: value }),
  say: (item) => `${item.task}, ${sayLabel(item)}`,
  describe: ({ label }) => ({ from: label, to: "", label: "" }),
  optionText: (value) => value,
  labels: { isRadio: true, look: "choice", isColoured: false },
};

/** Any number of items, each a list of values that is its own name: spans, relations. */
export const collection = {
  blank: () => [],
  items: (value) => value.map((item) => ({ key: item.join("-"), value: item })),
  keyOf: ({ value }) => value.join("-"),

  isOneOf: false,
  group: (_, i) => `item-${i}`,
  unit: ({ value }) => value,
  compose: (units) => units,

  detail: (details, { value }) => details.find((detail) => sameValue(detail.value, value)),
  removal: ({ value }) => ({ value }),

  progress: ({ own, toCheck, problems }) => [
    ...(problems.length ? [{ look: "bad", text: problems[0].message }, " · "] : []),
    t("{n} yours", { n: own }),
    ...toCheckText(toCheck),
  ],
};

/** " · 3 to check", or nothing. */
export function toCheckText(n) {
  return n ? [" · ", { look: "todo", text: t("{n} to check", { n }) }] : [];
}

/** The items of a collection without one. */
export function without(doc, task, value) {
  return doc.values[task].filter((other) => !sameValue(other, value));
}
