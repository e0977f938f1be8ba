// Several classes: any number of labels for the whole sentence. An answer is a list of labels in
// the order of the alphabet; a label is set and taken away by the same key.
import { register } from "./index.js";
import { collection, perSentence } from "./shapes.js";
import { compare } from "../model/answers.js";
import { withValue } from "../model/document.js";
import { documentOf, selectedIn } from "../model/state.js";
import { t } from "../words.js";

const DIGITS = [..."123456789"]; // 0 opens the list

register({
  ...perSentence,
  name: "multiclasses",
  noun: t("class"),
  keys: () => DIGITS,

  blank: () => [],
  items: (value) => value.map((label) => ({ key: label, value: label })),
  keyOf: ({ value }) => value,
  isOneOf: false,
  group: ([label]) => `class-${label}`,
  compose: (units) => sorted(units.map(([label]) => label)),

  detail: (details, { value }) => details.find((detail) => detail.value === value),
  fate: (item, task, doc) =>
    doc.values[task.name].includes(item.value) ? "accepted" : "pending",
  changes: {
    "classes.set": (doc, { task, label }) => withLabel(doc, task, label),
    "classes.unset": (doc, { task, label }) => withLabels(doc, task, without(doc, task, label)),
    "classes.swap": (doc, { task, old, label }) =>
      withLabel(withLabels(doc, task, without(doc, task, old)), task, label),
  },
  accept: (doc, task, { value }) => withLabel(doc, task, value),
  removal: ({ value }) => ({ value }),
  remove: (doc, task, { value }) => withLabels(doc, task, without(doc, task, value)),
  take: ({ task }, value) => ({ kind: "classes.set", task, label: value }),

  check: (_, labels) => ({ own: labels.length, open: 0, problems: [] }),
  progress: collection.progress,

  apply(state, task, label) {
    const item = selectedIn(state, task);
    const isSet = documentOf(state).values[task].includes(label);
    const action =
      item?.state === "own" && item.value !== label
        ? { kind: "classes.swap", task, old: item.value, label }
        : { kind: isSet ? "classes.unset" : "classes.set", task, label };
    const said = action.kind === "classes.unset" ? t("not {label}", { label }) : label;
    return { action, ui: { selected: null }, say: `${task}: ${said}` };
  },
  holds: (value, label) => value.includes(label),
  labels: { isRadio: false, look: "choice", isColoured: false },
});

function withLabel(doc, task, label) {
  return withLabels(doc, task, [...without(doc, task, label), label]);
}

function withLabels(doc, task, labels) {
  return withValue(doc, task, sorted(labels));
}

function without(doc, task, label) {
  return doc.values[task].filter((other) => other !== label);
}

function sorted(labels) {
  return [...labels].sort(compare);
}
