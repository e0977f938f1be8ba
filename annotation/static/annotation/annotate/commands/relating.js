// Relations: from a span, to a span, with a label that the task allows.
import { allowedLabels, isAllowed } from "../model/relations.js";
import { itemId } from "../model/items.js";
import { documentOf, findItem, itemsIn, taskOf, wantedTasks } from "../model/state.js";
import { endsOf } from "../model/suggestions.js";
import { refuse } from "./outcome.js";

/** Start a relation at the selected span, or at the innermost span under the cursor. */
export function startRelation(state) {
  const span = spanHere(state, null);
  if (!span) return refuse("No span here: put the cursor on one.");
  const task = relationTask(state, span.task);
  if (!task) return refuse(`No relations hang on ${span.task} here.`);
  return {
    ui: {
      task: task.name,
      mode: { kind: "relation", task: task.name, from: wordsOf(span) },
      selected: null,
    },
    say: `Relation from ${textOf(state, wordsOf(span))}: go to the other span.`,
  };
}

/** End the relation at the span under the cursor; the label is asked for where several fit. */
export function confirmRelation(state) {
  const { mode } = state.ui;
  const target = targetOf(state);
  if (!target) return refuse("No other span here.");
  return relate(state, mode.task, mode.from, wordsOf(target));
}

/** Link two spans by the armed label, by the only label that fits, or by one that is asked for. */
export function relate(state, name, from, to) {
  const task = taskOf(state, name);
  const labels = allowedLabels(task, from, to, spansFor(state, task));
  if (!labels.length && !task.is_open) return refuse(nothingFits(state, task, from, to));
  const armed = state.ui.armed?.task === name ? state.ui.armed.label : null;
  const label = labels.includes(armed)
    ? armed
    : labels.length === 1 && !task.is_open
      ? labels[0]
      : null;
  if (label) return added(state, task, from, to, label);
  return { choose: { purpose: "relation", task: name, labels, isOpen: task.is_open, from, to } };
}

/** Link with a label from its key. */
export function linkTo(state, label) {
  const { task: name, from } = state.ui.mode;
  const target = targetOf(state);
  if (!target) return refuse("No other span here.");
  return link(state, name, from, wordsOf(target), label);
}

export function link(state, name, from, to, label) {
  const task = taskOf(state, name);
  if (!isAllowed(task, label, from, to, spansFor(state, task))) {
    return refuse(`${label} may not link ${textOf(state, from)} to ${textOf(state, to)}.`);
  }
  return added(state, task, from, to, label);
}

export function relabelRelation(state, item, label) {
  const task = taskOf(state, item.task);
  const [from, to] = endsOf(item.value);
  if (!isAllowed(task, label, from, to, spansFor(state, task))) {
    return refuse(`${label} may not link ${textOf(state, from)} to ${textOf(state, to)}.`);
  }
  const action =
    item.state === "own"
      ? { kind: "relation.relabel", task: item.task, link: item.value, label }
      : { kind: "relation.add", task: item.task, from, to, label };
  return { action, ui: { selected: relationId(item.task, from, to, label) }, say: label };
}

/** Turn the selected relation round. */
export function reverseRelation(state) {
  const item = findItem(state, state.ui.selected);
  if (item?.kind !== "relations" || item.state !== "own") return refuse("Select a relation first.");
  const task = taskOf(state, item.task);
  const [from, to] = endsOf(item.value);
  if (!isAllowed(task, item.label, to, from, spansFor(state, task))) {
    return refuse(`${item.label} may not link ${textOf(state, to)} to ${textOf(state, from)}.`);
  }
  return {
    action: { kind: "relation.reverse", task: item.task, link: item.value },
    ui: { selected: relationId(item.task, to, from, item.label) },
    say: `Reversed: ${textOf(state, to)} to ${textOf(state, from)}`,
  };
}

/** The relations task for spans of a task: the active one if it fits, else the first. */
export function relationTask(state, parent) {
  const fitting = wantedTasks(state).filter(
    (task) => task.kind === "relations" && task.parent === parent,
  );
  return fitting.find((task) => task.name === state.ui.task) ?? fitting[0] ?? null;
}

/** The selected span, or the innermost span under the cursor, of a task or of any. */
export function spanHere(state, task) {
  const item = findItem(state, state.ui.selected);
  if (item?.kind === "spans" && (task === null || item.task === task)) return item;
  return spanAt(state, state.ui.cursor, task);
}

export function spanAt(state, word, task) {
  const covering = itemsIn(state).spans.filter(
    (span) => span.start <= word && word < span.end && (task === null || span.task === task),
  );
  return covering.sort((a, b) => a.end - a.start - (b.end - b.start))[0] ?? null;
}

function targetOf(state) {
  const { task, from } = state.ui.mode;
  const parent = taskOf(state, task).parent;
  const isOther = (span) => span && wordsOf(span).join() !== from.join();
  const here = spanHere(state, parent);
  if (isOther(here)) return here;
  const { cursor } = state.ui;
  return (
    itemsIn(state).spans.find(
      (span) => span.task === parent && span.start <= cursor && cursor < span.end && isOther(span),
    ) ?? null
  );
}

function added(state, task, from, to, label) {
  return {
    action: { kind: "relation.add", task: task.name, from, to, label },
    ui: { task: task.name, mode: null, selected: relationId(task.name, from, to, label) },
    say: `${label}: ${textOf(state, from)} to ${textOf(state, to)}`,
  };
}

/** Spans whose labels decide which relations fit: own, given, and still suggested. */
function spansFor(state, task) {
  const own = documentOf(state).values[task.parent] ?? [];
  const given = state.context.given[task.parent] ?? [];
  const guessed = (state.context.suggested[task.parent] ?? []).map(({ value }) => value);
  return [...own, ...given, ...guessed];
}

function nothingFits(state, task, from, to) {
  return `${task.name}: no label may link ${textOf(state, from)} to ${textOf(state, to)}.`;
}

function relationId(task, from, to, label) {
  return itemId(task, [...from, ...to, label].join("-"));
}

function wordsOf(span) {
  return [span.start, span.end];
}

function textOf(state, [start, end]) {
  return state.sentence.tokens.slice(start, end).join(" ");
}
