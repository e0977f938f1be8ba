// Navigation: the cursor, ranges, from thing to thing, from task to task, and out of every mode.
import { kindOf } from "../kinds/index.js";
import { itemId, itemsOn, wordsOf } from "../model/items.js";
import {
  checkTask,
  findItem,
  itemsIn,
  nearestAsked,
  pendingByTask,
  taskOf,
  wantedTasks,
} from "../model/state.js";
import { sayItem } from "../sentence/speech.js";
import { t } from "../words.js";

/** Move the cursor by some words; a range ends. */
export function moveCursor(state, by) {
  return moveTo(state, state.ui.cursor + by, by);
}

/** Move the cursor to a word; of an ask for single words only those can be reached, unless a mode
 *  looks for another word, such as a head. */
export function moveTo(state, word, by = word > state.ui.cursor ? -1 : 1) {
  const { task, mode } = state.ui;
  const place = clampWord(state, word);
  const cursor = mode ? place : nearestAsked(state, task, place, by);
  return { ui: { cursor, anchor: null, selected: null } };
}

/** Stretch the selected own thing where it can be, else the range of words, by one word. */
export function stretch(state, by) {
  const item = resizable(state);
  if (item) return kindOf(item).resize(state, item, "end", by);
  const { cursor, anchor } = state.ui;
  return {
    ui: { cursor: clampWord(state, cursor + by), anchor: anchor ?? cursor, selected: null },
  };
}

/** Move the first word of the selected own thing. */
export function stretchStart(state, by) {
  const item = resizable(state);
  return item ? kindOf(item).resize(state, item, "start", by) : {};
}

function resizable(state) {
  const item = findItem(state, state.ui.selected);
  return item?.state === "own" && kindOf(item).resize ? item : null;
}

/** Select the next thing on the word under the cursor: arcs above, chips and links below. */
export function cycleItems(state, by) {
  const { cursor, selected } = state.ui;
  const { arcs, chips, rails, links } = itemsIn(state);
  const above = itemsOn(arcs, cursor);
  const covering = itemsOn(rails, cursor);
  const ids = new Set(covering.map(({ id }) => id));
  const touching = links.filter(({ from, to }) => ids.has(from) || ids.has(to));
  const below = [...itemsOn(chips, cursor), ...covering, ...touching];
  const stops = [...above.map(({ id }) => id), null, ...below.map(({ id }) => id)];
  const at = stops.indexOf(selected ?? null);
  const next = stops[Math.max(0, Math.min(stops.length - 1, (at < 0 ? above.length : at) + by))];
  return { ui: { selected: next, anchor: null }, ...spoken(state, next) };
}

/** Select a thing; the cursor and the active task follow it. */
export function selectItem(state, id) {
  const item = findItem(state, id);
  if (!item) return { ui: { selected: null } };
  const cursor = wordsOf(item)?.[0] ?? state.ui.cursor;
  return { ui: { selected: id, anchor: null, cursor, task: item.task }, ...spoken(state, id) };
}

/** Select the next or previous suggestion that waits, task by task. */
export function goToSuggestion(state, by) {
  const waiting = waitingIds(state);
  if (!waiting.length) return goToKnown(state, by);
  const at = waiting.indexOf(state.ui.selected);
  const start =
    at < 0 ? (by > 0 ? 0 : waiting.length - 1) : (at + by + waiting.length) % waiting.length;
  return selectItem(state, waiting[start]);
}

/** Choose the next words that earlier answers label and that have no label here. */
function goToKnown(state, by) {
  const task = taskOf(state, state.ui.task);
  const known = task ? kindOf(task).known(state, task) : [];
  if (!known.length) return { warn: t("No suggestions are left to check.") };
  const { cursor, anchor } = state.ui;
  const here = Math.min(cursor, anchor ?? cursor);
  const isHere = anchor !== null;
  const after = known.find(([start]) => (isHere ? start > here : start >= here));
  const before = known.findLast(([start]) => start < here);
  const [start, end] = (by > 0 ? after : before) ?? known[by > 0 ? 0 : known.length - 1];
  return {
    ui: { anchor: start, cursor: end - 1, selected: null },
    say: state.sentence.tokens.slice(start, end).join(" "),
  };
}

/** What is selected after a suggestion was decided: the next that waits, or {} after the last. */
export function nextWaiting(state, id) {
  const waiting = waitingIds(state);
  const next = waiting[waiting.indexOf(id) + 1] ?? waiting.find((other) => other !== id);
  return next ? selectItem(state, next).ui : {};
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

/** Open a task. Whoever is done with one at the end of the sentence begins the next at its first gap. */
export function activate(state, task) {
  const { ui, sentence } = state;
  const problemsOf = (name) => checkTask(state, taskOf(state, name)).problems;
  const isDone = ui.cursor === sentence.tokens.length - 1 && !problemsOf(ui.task).length;
  const gap = isDone ? problemsOf(task)[0]?.at : null;
  const cursor = nearestAsked(state, task, gap ?? ui.cursor);
  return { ui: { task, mode: null, cursor }, say: t("{task}, active task", { task }) };
}

/** Leave the innermost mode, or return null when nothing is left to leave. */
export function escape(state) {
  for (const part of ["mode", "anchor", "selected", "armed"]) {
    if (state.ui[part] === null) continue;
    const { task, cursor } = state.ui;
    return { ui: { [part]: null, ...(part === "mode" && { cursor: nearestAsked(state, task, cursor) }) } };
  }
  return null;
}

function spoken(state, id) {
  const item = findItem(state, id);
  return item ? { say: sayItem(item, state.sentence.tokens, itemsIn(state)) } : {};
}

function clampWord(state, word) {
  return Math.max(0, Math.min(state.sentence.tokens.length - 1, word));
}
