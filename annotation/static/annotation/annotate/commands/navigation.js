// Moving: the cursor, ranges, from thing to thing, from task to task, and out of every mode.
import { findItem, itemsIn, pendingByTask, wantedTasks, wordOf } from "../model/state.js";
import { itemId } from "../model/items.js";
import { sayItem } from "../sentence/speech.js";

/** Move the cursor by some words; a range ends. */
export function moveCursor(state, by) {
  return moveTo(state, state.ui.cursor + by);
}

export function moveTo(state, word) {
  const cursor = clampWord(state, word);
  return { ui: { cursor, anchor: null, selected: null } };
}

/** Stretch the range of words, or the selected own span, by one word. */
export function stretch(state, by) {
  const item = findItem(state, state.ui.selected);
  if (item?.kind === "spans" && item.state === "own") return resizeSpan(state, item, "end", by);
  const { cursor, anchor } = state.ui;
  return {
    ui: { cursor: clampWord(state, cursor + by), anchor: anchor ?? cursor, selected: null },
  };
}

/** Move the first word of the selected own span. */
export function stretchStart(state, by) {
  const item = findItem(state, state.ui.selected);
  return item?.kind === "spans" && item.state === "own" ? resizeSpan(state, item, "start", by) : {};
}

/** Move one edge of a span by some words; it stays in the sentence and off its neighbours. */
export function resizeSpan(state, item, edge, by) {
  const task = state.context.tasks.get(item.task);
  const m = state.sentence.tokens.length;
  const start = edge === "start" ? item.start + by : item.start;
  const end = edge === "end" ? item.end + by : item.end;
  if (start < 0 || end > m || start >= end) return {};
  const others = itemsIn(state).spans.filter(
    (span) => span.task === item.task && span.state === "own" && span.id !== item.id,
  );
  if (!task.is_nested && others.some((span) => span.start < end && start < span.end)) return {};
  const span = [item.start, item.end, item.label];
  return {
    action: { kind: "span.resize", task: item.task, span, start, end },
    ui: {
      selected: itemId(item.task, [start, end, item.label].join("-")),
      cursor: edge === "end" ? end - 1 : start,
    },
  };
}

/** Select the next thing on the word under the cursor: arcs above, chips and relations below. */
export function cycleItems(state, by) {
  const { cursor, selected } = state.ui;
  const { tree, tags, spans, relations } = itemsIn(state);
  const above = tree.filter((arc) => arc.dep === cursor);
  const covering = spans
    .filter((span) => span.start <= cursor && cursor < span.end)
    .sort((a, b) => a.end - a.start - (b.end - b.start));
  const ids = new Set(covering.map((span) => span.id));
  const links = relations.filter((link) => ids.has(link.from) || ids.has(link.to));
  const below = [...tags.filter((tag) => tag.at === cursor), ...covering, ...links];
  const stops = [...above.map(({ id }) => id), null, ...below.map(({ id }) => id)];
  const at = stops.indexOf(selected ?? null);
  const next = stops[Math.max(0, Math.min(stops.length - 1, (at < 0 ? above.length : at) + by))];
  return { ui: { selected: next, anchor: null }, ...spoken(state, next) };
}

/** Select a thing; the cursor and the active task follow it. */
export function selectItem(state, id) {
  const item = findItem(state, id);
  if (!item) return { ui: { selected: null } };
  const cursor = wordOf(item) ?? state.ui.cursor;
  return { ui: { selected: id, anchor: null, cursor, task: item.task }, ...spoken(state, id) };
}

/** Select the next or previous suggestion that waits, task by task. */
export function goToSuggestion(state, by) {
  const waiting = waitingIds(state);
  if (!waiting.length) return { warn: "No suggestions are left to check." };
  const at = waiting.indexOf(state.ui.selected);
  const start =
    at < 0 ? (by > 0 ? 0 : waiting.length - 1) : (at + by + waiting.length) % waiting.length;
  return selectItem(state, waiting[start]);
}

/** Ids of waiting suggestions, the active task's first. */
export function waitingIds(state) {
  const groups = pendingByTask(state);
  const at = groups.findIndex(({ task }) => task.name === state.ui.task);
  const turned = [...groups.slice(Math.max(0, at)), ...groups.slice(0, Math.max(0, at))];
  return turned.flatMap(({ task, items }) => items.map(({ key }) => itemId(task.name, key)));
}

/** Make the next wanted task active, or return null after the last one. */
export function goToTask(state, by) {
  const names = wantedTasks(state).map((task) => task.name);
  const next = names.indexOf(state.ui.task) + by;
  return next < 0 || next >= names.length ? null : activate(state, names[next]);
}

export function activate(state, task) {
  return { ui: { task, mode: null }, say: `${task}, active task` };
}

/** Leave the innermost mode, or return null when nothing is left to leave. */
export function escape(state) {
  for (const part of ["mode", "anchor", "selected", "armed"]) {
    if (state.ui[part] !== null) return { ui: { [part]: null } };
  }
  return null;
}

function spoken(state, id) {
  const item = findItem(state, id);
  return item ? { say: sayItem(item, state.sentence.tokens, itemsIn(state).spans) } : {};
}

function clampWord(state, word) {
  return Math.max(0, Math.min(state.sentence.tokens.length - 1, word));
}
