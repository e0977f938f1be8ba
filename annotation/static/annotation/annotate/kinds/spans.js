// Spans: labelled stretches of words, which may nest where the task says so. An answer is a list
// of [start, end, label], end exclusive, sorted by start, then the longer first, then by label.
import { kindOf, register } from "./index.js";
import { collection, without } from "./shapes.js";
import { letterKeys } from "../input/keys.js";
import { compare, overlap, sameValue, sameWords } from "../model/answers.js";
import { refuse } from "../model/editor.js";
import { itemId } from "../model/items.js";
import { colourOf } from "../model/labels.js";
import { findItem, itemsIn, rangeOf, selectedIn, taskOf } from "../model/state.js";
import { pendingItems } from "../model/suggestions.js";
import { sayLabel, spanText } from "../sentence/speech.js";
import { t, tn } from "../words.js";

register({
  ...collection,
  name: "spans",
  noun: t("span"),
  layer: "rails",

  labelOf: ([, , label]) => label,
  title: unitText,
  unitText,

  check(task, spans, { tokens }) {
    return { own: spans.length, open: 0, problems: task.is_nested ? [] : overlaps(spans, tokens) };
  },

  fate(item, task, doc) {
    const own = doc.values[task.name];
    if (own.some((span) => sameValue(span, item.value))) return "accepted";
    const stands = task.is_nested ? sameWords : overlap;
    return own.some((span) => stands(span, item.value)) ? "edited" : "pending";
  },

  changes: {
    /** A span over [start, end); where the task is flat, it takes the place of what it overlaps. */
    "span.add": addSpan,

    /** Several spans at once. */
    "spans.add"(doc, { task, spans }, context) {
      const add = (next, [start, end, label]) => addSpan(next, { task, start, end, label }, context);
      return spans.reduce(add, doc);
    },

    "span.relabel"(doc, { task, span, label }, context) {
      return replaceSpan(doc, task, span, [span[0], span[1], label], context);
    },

    /** Other words for the same span; its relations come along. */
    "span.resize"(doc, { task, span, start, end }, context) {
      const resized = [start, end, span[2]];
      const moved = moveChildren(doc, task, span, resized, context);
      return replaceSpan(moved, task, span, resized, context);
    },
  },
  accept: (doc, task, { value }, context) => addSpan(doc, adding(task, value), context),
  remove: (doc, task, { value }, context) =>
    withSpans(doc, task, without(doc, task, value), context),
  take: ({ task }, value) => adding(task, value),

  /** The document in which suggested spans with these words are own spans. */
  acceptAt(doc, task, wordsList, context) {
    const needed = pendingItems(task, doc, context).filter(({ value }) =>
      wordsList.some((words) => sameWords(words, value)),
    );
    if (!needed.length) return doc;
    const spans = [...doc.values[task.name], ...needed.map(({ value }) => value)];
    return withSpans(doc, task.name, spans, context);
  },

  apply(state, task, label) {
    const item = selectedIn(state, task);
    const [start, end] = item ? [item.start, item.end] : rangeOf(state.ui);
    const words = state.sentence.tokens.slice(start, end).join(" ");
    const action =
      item?.state === "own"
        ? { kind: "span.relabel", task, span: item.value, label }
        : adding(task, [start, end, label]);
    const selected = spanId(task, [start, end, label]);
    return { action, ui: { task, anchor: null, selected }, say: t("{label} on {words}", { label, words }) };
  },
  usesLabel: ({ ui }) => ui.anchor !== null,
  paints: true,
  keys: letterKeys,
  known: unlabelled,
  commands: [{ id: "equalSpans", key: "=", words: t("label all equal words"), run: labelEqual }],

  resize,
  tools: [
    { words: t("⇤ start"), run: (state, item) => resize(state, item, "start", -1) },
    { words: t("start ⇥"), run: (state, item) => resize(state, item, "start", 1) },
    { words: t("⇤ end"), run: (state, item) => resize(state, item, "end", -1) },
    { words: t("end ⇥"), run: (state, item) => resize(state, item, "end", 1) },
  ],

  draw: ({ value: [start, end, label] }, task) => ({
    start,
    end,
    label,
    colour: colourOf(task, label),
  }),
  say: saySpan,
  sayOn: (span, tokens) => t("in {words}", { words: saySpan(span, tokens) }),
  describe: (span, tokens) => ({ from: spanText(tokens, span), to: "", label: span.label }),
  optionText: ([start, end, label], item, tokens) =>
    start === item.start && end === item.end ? label : `${spanText(tokens, { start, end })}, ${label}`,
  labels: { isRadio: false, look: "label-button", isColoured: true },
});

function adding(task, [start, end, label]) {
  return { kind: "span.add", task, start, end, label };
}

function addSpan(doc, { task, start, end, label }, context) {
  const added = [start, end, label];
  const clashes = context.tasks.get(task).is_nested ? sameWords : overlap;
  const kept = doc.values[task].filter((span) => !clashes(span, added));
  return withSpans(doc, task, [...kept, added], context);
}

function replaceSpan(doc, task, old, replacement, context) {
  const clashes = context.tasks.get(task).is_nested ? sameValue : overlap;
  const kept = without(doc, task, old).filter((span) => !clashes(span, replacement));
  return withSpans(doc, task, [...kept, replacement], context);
}

/** The document with these spans; what hung on spans that are gone goes too. */
function withSpans(doc, task, spans, context) {
  const values = { ...doc.values, [task]: sortSpans(spans) };
  const given = context.given[task] ?? [];
  const stands = (end) => [...spans, ...given].some((span) => sameWords(span, end));
  for (const child of childrenOf(task, values, context)) {
    values[child.name] = kindOf(child).keepEnds(values[child.name], stands);
  }
  return { ...doc, values };
}

function moveChildren(doc, task, from, to, context) {
  const isAlone = doc.values[task].filter((span) => sameWords(span, from)).length === 1;
  if (!isAlone) return doc;
  const values = { ...doc.values };
  for (const child of childrenOf(task, values, context)) {
    values[child.name] = kindOf(child).moveEnds(values[child.name], from, to);
  }
  return { ...doc, values };
}

/** Tasks of a document whose items hang on spans of a task. */
function childrenOf(parent, values, context) {
  return [...context.tasks.values()].filter((task) => task.parent === parent && task.name in values);
}

/** Move one edge of a span by some words; it stays in the sentence and off its neighbours. */
function resize(state, item, edge, by) {
  const task = taskOf(state, item.task);
  const start = edge === "start" ? item.start + by : item.start;
  const end = edge === "end" ? item.end + by : item.end;
  if (start < 0 || end > state.sentence.tokens.length || start >= end) return {};
  const others = itemsIn(state).rails.filter(
    (span) => span.task === item.task && span.state === "own" && span.id !== item.id,
  );
  if (!task.is_nested && others.some((span) => span.start < end && start < span.end)) return {};
  return {
    action: { kind: "span.resize", task: item.task, span: item.value, start, end },
    ui: {
      selected: spanId(item.task, [start, end, item.label]),
      cursor: edge === "end" ? end - 1 : start,
    },
  };
}

/** Words that earlier answers label and that have no span yet, the longest first where they overlap. */
function unlabelled(state, task) {
  const found = state.hints?.[task.name]?.words ?? [];
  if (!found.length) return [];
  const taken = itemsIn(state).rails.filter((span) => span.task === task.name);
  const isFree = ([start, end], others) =>
    others.every((other) => end <= other.start || other.end <= start);
  const chosen = [];
  for (const hint of [...found].sort((a, b) => b[1] - b[0] - (a[1] - a[0]))) {
    const others = [...taken, ...chosen.map(([start, end]) => ({ start, end }))];
    if (isFree(hint, others)) chosen.push(hint);
  }
  return chosen.sort((a, b) => a[0] - b[0]);
}

/** Give the label of the selected span to all equal words of the sentence. */
function labelEqual(state) {
  const item = findItem(state, state.ui.selected) ?? spanUnder(state);
  if (item?.start === undefined || item.state === "given") return refuse(t("Select a span first."));
  const { tokens } = state.sentence;
  const length = item.end - item.start;
  const folded = tokens.map((token) => token.toLowerCase());
  const wanted = folded.slice(item.start, item.end);
  const own = itemsIn(state).rails.filter((span) => span.task === item.task && span.state === "own");
  const isFree = (start) => own.every((span) => span.end <= start || start + length <= span.start);
  const spans = folded.flatMap((_, start) =>
    sameValue(folded.slice(start, start + length), wanted) && isFree(start)
      ? [[start, start + length, item.label]]
      : [],
  );
  if (!spans.length) return refuse(t("No other words here are equal to these."));
  return {
    action: { kind: "spans.add", task: item.task, spans },
    ui: { anchor: null },
    say: tn("{n} span added", "{n} spans added", spans.length),
  };
}

function spanUnder(state) {
  const { task, cursor } = state.ui;
  return itemsIn(state).rails.find(
    (span) => span.task === task && span.start <= cursor && cursor < span.end,
  );
}

function overlaps(spans, tokens) {
  return spans.slice(1).flatMap((span, i) => {
    if (!overlap(spans[i], span)) return [];
    const message = t("{label} on ‘{word}’ overlaps {other}.", { label: span[2], word: tokens[span[0]], other: spans[i][2] });
    return [{ message, at: span[0] }];
  });
}

function sortSpans(spans) {
  return [...spans].sort((a, b) => a[0] - b[0] || b[1] - a[1] || compare(a[2], b[2]));
}

function spanId(task, span) {
  return itemId(task, span.join("-"));
}

function saySpan(span, tokens) {
  return `${spanText(tokens, span)}, ${sayLabel(span)}`;
}

function unitText([start, end, label], tokens) {
  return `${label}: ${spanText(tokens, { start, end })}`;
}
