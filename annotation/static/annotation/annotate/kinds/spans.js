// Spans: labelled stretches of words, which may nest where the task says so. An answer is a list
// of [start, end, label], end exclusive, sorted by start, then the longer first, then by label. A
// span in several pieces has a start and an end for each: [start, end, start, end, label].
import { kindOf, register } from "./index.js";
import { collection, without } from "./shapes.js";
import { letterKeys } from "../input/keys.js";
import { compare, overlap, pieces, sameValue, sameWords } from "../model/answers.js";
import { refuse } from "../model/editor.js";
import { isOn, itemId } from "../model/items.js";
import { colourOf } from "../model/labels.js";
import { documentOf, findItem, itemsIn, rangeOf, selectedIn, taskOf } from "../model/state.js";
import { pendingItems } from "../model/suggestions.js";
import { sayLabel, spanText } from "../sentence/speech.js";
import { t, tn } from "../words.js";

register({
  ...collection,
  name: "spans",
  noun: t("span"),
  layer: "rails",
  isAnchor: true,

  labelOf: (span) => span.at(-1),
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
      return spans.reduce((next, span) => addValue(next, task, span, context), doc);
    },

    "span.relabel"(doc, { task, span, label }, context) {
      return replaceSpan(doc, task, span, [...span.slice(0, -1), label], context);
    },

    /** Words that become a piece of a span, or no longer are one. */
    "span.piece"(doc, { task, span, start, end }, context) {
      const changed = withPiece(span, start, end);
      const moved = moveChildren(doc, task, span, changed, context);
      return replaceSpan(moved, task, span, changed, context);
    },

    /** Other words for the same span; its relations come along. */
    "span.resize"(doc, { task, span, start, end }, context) {
      const between = span.slice(2, -1); // the further pieces of one in several
      const resized = between.length
        ? joined(
            [[start, span[1]], ...pieces([...between, ""]).with(-1, [between.at(-2), end])],
            span.at(-1),
          )
        : [start, end, span.at(-1)];
      const moved = moveChildren(doc, task, span, resized, context);
      return replaceSpan(moved, task, span, resized, context);
    },
  },
  accept: (doc, task, { value }, context) => addValue(doc, task, value, context),
  remove: (doc, task, { value }, context) =>
    withSpans(doc, task, without(doc, task, value), context),
  take: ({ task }, value) => ({ kind: "spans.add", task, spans: [value] }),

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
    const span = item ? [...item.value.slice(0, -1), label] : [...rangeOf(state.ui), label];
    const words = textOf(state.sentence.tokens, span);
    const action =
      item?.state === "own"
        ? { kind: "span.relabel", task, span: item.value, label }
        : item
          ? { kind: "spans.add", task, spans: [span] }
          : adding(task, span);
    const selected = spanId(task, span);
    return { action, ui: { task, anchor: null, selected }, say: t("{label} on {words}", { label, words }) };
  },
  usesLabel: ({ ui }) => ui.anchor !== null,
  paints: true,
  keys: letterKeys,
  known: unlabelled,
  commands: [
    { id: "equalSpans", key: "=", words: t("label all equal words"), run: labelEqual, isLocal: true },
    { id: "pieceOfSpan", key: "+", words: t("add a piece to the span"), run: startPiece },
  ],
  confirm: addPiece,
  modeText({ span }, tokens, isFinger) {
    const words = textOf(tokens, span);
    return isFinger
      ? t("Another piece of ‘{words}’: tap its word; a piece is taken away.", { words })
      : t("Another piece of ‘{words}’: choose its words, then ↵; a piece is taken away.", { words });
  },
  modeAction: () => t("Add these words"),
  modeMarks: () => ({}),
  clickWord: (state, word) => (isPiecing(state) && state.ui.anchor === null ? addPiece(state) : null),

  resize,
  tools: [
    { words: t("⇤ start"), run: (state, item) => resize(state, item, "start", -1) },
    { words: t("start ⇥"), run: (state, item) => resize(state, item, "start", 1) },
    { words: t("⇤ end"), run: (state, item) => resize(state, item, "end", -1) },
    { words: t("end ⇥"), run: (state, item) => resize(state, item, "end", 1) },
    { words: t("+ piece"), command: "pieceOfSpan", run: startPiece },
    { words: t("all equal words"), command: "equalSpans", run: labelEqual, isForFingers: true },
  ],

  draw: ({ value }, task) => ({
    start: value[0],
    end: value[1],
    ...(value.length > 3 ? { pieces: pieces(value) } : {}),
    label: value.at(-1),
    colour: colourOf(task, value.at(-1)),
  }),
  say: saySpan,
  sayOn: (span, tokens) => t("in {words}", { words: saySpan(span, tokens) }),
  describe: (span, tokens) => ({ from: spanText(tokens, span), to: "", label: span.label }),
  optionText: (span, item, tokens) =>
    sameValue(span.slice(0, -1), item.value.slice(0, -1))
      ? span.at(-1)
      : `${textOf(tokens, span)}, ${span.at(-1)}`,
  labels: { isRadio: false, look: "label-button", isColoured: true },
});

function adding(task, [start, end, label]) {
  return { kind: "span.add", task, start, end, label };
}

function addSpan(doc, { task, start, end, label }, context) {
  return addValue(doc, task, [start, end, label], context);
}

function addValue(doc, task, added, context) {
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
    values[child.name] = kindOf(child).keepEnds(values[child.name], stands, child, task);
  }
  return { ...doc, values };
}

function moveChildren(doc, task, from, to, context) {
  const isAlone = doc.values[task].filter((span) => sameWords(span, from)).length === 1;
  if (!isAlone) return doc;
  const values = { ...doc.values };
  for (const child of childrenOf(task, values, context)) {
    values[child.name] = kindOf(child).moveEnds(values[child.name], from, to, child, task);
  }
  return { ...doc, values };
}

/** Tasks of a document whose items hang on spans of a task. */
function childrenOf(parent, values, context) {
  return [...context.tasks.values()].filter(
    (task) => [task.parent, task.second_parent].includes(parent) && task.name in values,
  );
}

/** Move the first or last edge of a span by some words; it stays in the sentence and off its
 *  neighbours, and no piece of it is lost. */
function resize(state, item, edge, by) {
  const task = taskOf(state, item.task);
  const parts = pieces(item.value);
  const start = edge === "start" ? parts[0][0] + by : parts[0][0];
  const end = edge === "end" ? parts.at(-1)[1] + by : parts.at(-1)[1];
  if (start < 0 || end > state.sentence.tokens.length) return {};
  const moved = parts.map((part) => [...part]);
  moved[0][0] = start;
  moved.at(-1)[1] = end;
  if (moved.some(([from, to]) => from >= to)) return {};
  const resized = joined(moved, item.label);
  const others = itemsIn(state).rails.filter(
    (span) => span.task === item.task && span.state === "own" && span.id !== item.id,
  );
  if (!task.is_nested && others.some((span) => overlap(span.value, resized))) return {};
  return {
    action: { kind: "span.resize", task: item.task, span: item.value, start, end },
    ui: {
      selected: spanId(item.task, resized),
      cursor: edge === "end" ? end - 1 : start,
    },
  };
}

function isPiecing({ ui }) {
  return ui.mode?.kind === "piece";
}

/** Begin another piece of the selected span, or of the one under the cursor. */
function startPiece(state) {
  const item = findItem(state, state.ui.selected) ?? spanUnder(state);
  if (item?.state !== "own" || !kindOf(item).isAnchor) return refuse(t("Select a span first."));
  return {
    ui: {
      task: item.task,
      mode: { kind: "piece", task: item.task, span: item.value },
      ...{ selected: null, anchor: null, armed: null },
    },
    say: t("Another piece of {words}: choose its words.", { words: textOf(state.sentence.tokens, item.value) }),
  };
}

/** Make the chosen words a piece of the span, or take them away where they are one. */
function addPiece(state) {
  const { mode } = state.ui;
  const [start, end] = rangeOf(state.ui);
  const changed = withPiece(mode.span, start, end);
  if (!changed) return refuse(t("A span has at least one piece."));
  const others = documentOf(state).values[mode.task].filter((span) => !sameValue(span, mode.span));
  if (!taskOf(state, mode.task).is_nested && others.some((span) => overlap(span, changed))) {
    return refuse(t("These words are part of another span."));
  }
  return {
    action: { kind: "span.piece", task: mode.task, span: mode.span, start, end },
    ui: { mode: null, anchor: null, selected: spanId(mode.task, changed) },
    say: textOf(state.sentence.tokens, changed),
  };
}

/** The span with one more piece, or without the piece that holds these words; null if none is left. */
function withPiece(span, start, end) {
  const parts = pieces(span);
  const holding = parts.findIndex(([from, to]) => from <= start && end <= to);
  if (holding < 0) return joined([...parts, [start, end]], span.at(-1));
  const left = parts.toSpliced(holding, 1);
  return left.length ? joined(left, span.at(-1)) : null;
}

/** One span of its pieces; those that touch are one. */
function joined(parts, label) {
  const places = [];
  for (const [start, end] of [...parts].sort((a, b) => a[0] - b[0])) {
    if (places.length && start <= places.at(-1)) places[places.length - 1] = Math.max(places.at(-1), end);
    else places.push(start, end);
  }
  return [...places, label];
}

function textOf(tokens, span) {
  return pieces(span).map(([start, end]) => tokens.slice(start, end).join(" ")).join(" … ");
}

/** Words that earlier answers label and that have no span yet and were not passed over, the longest first
 *  where they overlap. */
function unlabelled(state, task) {
  const isPassed = (hint) => state.ui.passed.some((of) => sameValue(of, [task.name, hint[0], hint[1]]));
  const found = (state.hints?.[task.name]?.words ?? []).filter((hint) => !isPassed(hint));
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
  return itemsIn(state).rails.find((span) => span.task === task && isOn(span, cursor));
}

function overlaps(spans, tokens) {
  return spans.slice(1).flatMap((span, i) => {
    if (!overlap(spans[i], span)) return [];
    const message = t("{label} on ‘{word}’ overlaps {other}.", { label: span.at(-1), word: tokens[span[0]], other: spans[i].at(-1) });
    return [{ message, at: span[0] }];
  });
}

function sortSpans(spans) {
  return [...spans].sort(
    (a, b) =>
      a[0] - b[0] || b[1] - a[1] || compare(a.at(-1), b.at(-1)) || comparePlaces(a, b),
  );
}

function comparePlaces(a, b) {
  for (let i = 2; i < Math.min(a.length, b.length) - 1; i++) if (a[i] !== b[i]) return a[i] - b[i];
  return a.length - b.length;
}

function spanId(task, span) {
  return itemId(task, span.join("-"));
}

function saySpan(span, tokens) {
  return `${spanText(tokens, span)}, ${sayLabel(span)}`;
}

function unitText(span, tokens) {
  return `${span.at(-1)}: ${textOf(tokens, span)}`;
}
