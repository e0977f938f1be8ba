// Attributes: labels of the spans of a parent task. An answer is a list of [start, end, label],
// sorted; labels with the same first part (certainty.high, certainty.low) exclude each other.
import { kindOf, register } from "./index.js";
import { collection, without } from "./shapes.js";
import { letterKeys } from "../input/keys.js";
import { compare, sameValue, sameWords } from "../model/answers.js";
import { withValue } from "../model/document.js";
import { refuse } from "../model/editor.js";
import { isOn, itemId } from "../model/items.js";
import { colourOf } from "../model/labels.js";
import { documentOf, findItem, itemsIn, selectedIn, taskOf } from "../model/state.js";
import { pendingItems } from "../model/suggestions.js";
import { sayLabel, spanText } from "../sentence/speech.js";
import { t } from "../words.js";

const NAME = "attributes";
const PARTS = /(?<=.)[.:](?=.)/; // between the parts of a label

register({
  ...collection,
  name: NAME,
  noun: t("attribute"),
  layer: "rails",

  labelOf: ([, , label]) => label,
  title: unitText,
  unitText,

  check: (_, rows) => ({ own: rows.length, open: 0, problems: [] }),

  fate(item, task, doc, context) {
    const own = doc.values[task.name];
    if (own.some((row) => sameValue(row, item.value))) return "accepted";
    if (own.some((row) => excludes(row, item.value))) return "edited";
    return hasSpan(item.value, task, doc, context) ? "pending" : "rejected";
  },

  changes: {
    /** A label of a span; it takes the place of another value of the same attribute. */
    "attribute.set": setAttribute,

    "attribute.unset": (doc, { task, value }) => withValue(doc, task, without(doc, task, value)),

    "attribute.swap"(doc, { task, old, label }, context) {
      const shorter = withValue(doc, task, without(doc, task, old));
      return setAttribute(shorter, setting(task, [old[0], old[1], label]), context);
    },
  },
  accept: (doc, task, { value }, context) => setAttribute(doc, setting(task, value), context),
  remove: (doc, task, { value }) => withValue(doc, task, without(doc, task, value)),
  take: ({ task }, value) => setting(task, value),

  keepEnds: (rows, stands) => rows.filter(stands),
  moveEnds: (rows, from, to) =>
    sorted(rows.map((row) => (sameWords(row, from) ? [to[0], to[1], row[2]] : row))),

  apply(state, task, label) {
    const item = selectedIn(state, task);
    if (item?.state === "own" && item.label !== label) {
      const [start, end] = item.value;
      return {
        action: { kind: "attribute.swap", task, old: item.value, label },
        ui: { selected: rowId(task, [start, end, label]) },
        say: label,
      };
    }
    const span = spanHere(state, taskOf(state, task));
    if (span) return toggled(state, task, span, label);
    return {
      ui: { task, armed: { task, label } },
      say: t("{label}: choose the spans it is true of.", { label }),
    };
  },
  usesLabel: (state) => Boolean(spanHere(state, taskOf(state, state.ui.task))),
  keys: letterKeys,

  clickWord(state, word) {
    const task = taskOf(state, state.ui.task);
    const span = spanAt(state, word, task);
    return span ? clicked(state, task, span) : refuse(t("No span here: put the cursor on one."));
  },
  clickItem(state, item) {
    const task = taskOf(state, state.ui.task);
    return item.task === task.parent ? clicked(state, task, item) : null;
  },

  draw: ({ value: [start, end, label] }, task) => ({
    start,
    end,
    label,
    colour: colourOf(task, label),
  }),
  say: sayRow,
  sayOn: (row) => sayLabel(row),
  describe: (row, tokens) => ({ from: spanText(tokens, row), to: "", label: row.label }),
  optionText: ([start, end, label], _, tokens) => `${spanText(tokens, { start, end })}, ${label}`,
  labels: { isRadio: false, look: "label-button", isColoured: true },
  holds: () => false,
});

function setting(task, [start, end, label]) {
  return { kind: "attribute.set", task, start, end, label };
}

function setAttribute(doc, { task, start, end, label }, context) {
  const row = [start, end, label];
  const parent = context.tasks.get(context.tasks.get(task).parent);
  const ready = kindOf(parent).acceptAt(doc, parent, [row], context);
  const kept = ready.values[task].filter((other) => !sameValue(other, row) && !excludes(other, row));
  return withValue(ready, task, sorted([...kept, row]));
}

/** Whether two labels of one span are values of the same attribute. */
function excludes(a, b) {
  return sameWords(a, b) && a[2].split(PARTS)[0] === b[2].split(PARTS)[0];
}

function sorted(rows) {
  return [...rows].sort((a, b) => a[0] - b[0] || a[1] - b[1] || compare(a[2], b[2]));
}

/** Set a label of a span, or take it away where it is set. */
function toggled(state, task, span, label) {
  const value = [span.start, span.end, label];
  const isSet = documentOf(state).values[task].some((row) => sameValue(row, value));
  const words = spanText(state.sentence.tokens, span);
  return {
    action: isSet ? { kind: "attribute.unset", task, value } : setting(task, value),
    ui: { task, anchor: null, selected: span.id },
    say: isSet ? t("not {label}", { label }) : t("{label} on {words}", { label, words }),
  };
}

/** What a click on a span does: it gets the armed label, else it is chosen. */
function clicked(state, task, span) {
  const { armed } = state.ui;
  const ui = { selected: span.id, cursor: span.start, anchor: null };
  if (armed?.task !== task.name) return { ui };
  const outcome = toggled(state, task.name, span, armed.label);
  return { ...outcome, ui: { ...outcome.ui, ...ui, selected: null } };
}

/** The chosen span, that of the chosen attribute, or the innermost under the cursor. */
function spanHere(state, task) {
  if (!task) return null;
  const item = findItem(state, state.ui.selected);
  if (item?.task === task.parent) return item;
  if (item?.task === task.name) return { ...item, id: item.id };
  return spanAt(state, state.ui.cursor, task);
}

function spanAt(state, word, task) {
  const covering = itemsIn(state).rails.filter((span) => span.task === task.parent && isOn(span, word));
  return covering.sort((a, b) => a.end - a.start - (b.end - b.start))[0] ?? null;
}

/** Whether a span with these words is there: own, given, or still suggested. */
function hasSpan(words, task, doc, context) {
  const given = [...(doc.values[task.parent] ?? []), ...(context.given[task.parent] ?? [])];
  if (given.some((span) => sameWords(span, words))) return true;
  const waiting = pendingItems(context.tasks.get(task.parent), doc, context);
  return waiting.some((item) => sameWords(item.value, words));
}

function rowId(task, row) {
  return itemId(task, row.join("-"));
}

function sayRow(row, tokens) {
  return `${spanText(tokens, row)}, ${sayLabel(row)}`;
}

function unitText([start, end, label], tokens) {
  return `${label}: ${spanText(tokens, { start, end })}`;
}
