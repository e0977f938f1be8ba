// The state of the page for one ask: what is asked, what has been answered, where the cursor is.
import { kindOf } from "../kinds/index.js";
import { openDocument, replay, startHistory, step } from "./document.js";
import { drawAnswers, drawItems, joinItems, tieItems } from "./items.js";
import { pendingItems, suggestedItems } from "./suggestions.js";

/** State of an ask that has just come. project: {tasks, language}; lease as the server sends it. */
export function openState(project, lease) {
  const wanted = lease.ask.tasks;
  const tasks = project.tasks;
  const suggested = {};
  for (const task of tasks) {
    if (wanted.includes(task.name)) {
      const items = suggestedItems(task, lease.suggestions?.[task.name]);
      const words = lease.ask.words?.[task.name] ?? null; // of the others nothing is to be checked
      suggested[task.name] = words ? items.filter(({ at }) => words.includes(at)) : items;
    }
  }
  const context = {
    tasks: new Map(tasks.map((task) => [task.name, task])),
    suggested,
    given: lease.context ?? {},
    starts: lease.sentence.starts ?? [], // of a document: the first word of each of its sentences
  };
  const m = lease.sentence.tokens.length;
  const doc = openDocument(tasks, wanted, lease.answers ?? {}, m, lease.note);
  return {
    tasks,
    wanted,
    context,
    ask: lease.ask,
    sentence: { ...lease.sentence, language: lease.sentence.language || project.language },
    findings: [], // rules that the answers break, [{task, level, word, message}]; they come later
    hints: {}, // what earlier answers say, {task: {words, sentence, heads}}; it comes later
    history: startHistory(doc),
    ui: { ...initialUi(wanted[0] ?? null), cursor: firstWord(lease.ask) },
  };
}

/** The first word that is asked for, where an ask names words. */
function firstWord({ words = null, tasks }) {
  return words?.[tasks[0]]?.[0] ?? 0;
}

/** The words that a task is asked of, in order: those that the ask names, else all. */
export function askedWords({ ask, sentence }, name) {
  return ask.words?.[name] ?? [...sentence.tokens.keys()];
}

/** Whether a task is asked of a word. */
export function isAsked({ ask }, name, word) {
  return ask.words?.[name]?.includes(word) ?? true;
}

/** The answers to some tasks as they are handed in: null on words that are not asked. */
export function answersIn(state, names = state.wanted) {
  const { values } = documentOf(state);
  const answer = (name) =>
    state.ask.words?.[name]
      ? values[name].map((entry, word) => (isAsked(state, name, word) ? entry : null))
      : values[name];
  return Object.fromEntries(names.map((name) => [name, answer(name)]));
}

/** The asked word that is nearest to a place, further on in the direction of `by` if it can be. */
export function nearestAsked(state, name, place, by = 1) {
  const words = state.ask.words?.[name];
  if (!words?.length || words.includes(place)) return place;
  const further = by > 0 ? words.find((word) => word > place) : words.findLast((word) => word < place);
  return further ?? (by > 0 ? words.at(-1) : words[0]);
}

/** Nothing begun: cursor on the first word, nothing selected. */
export function initialUi(task) {
  return { cursor: 0, anchor: null, selected: null, task, mode: null, armed: null, held: null, passed: [] };
}

/** The state after a journal was replayed on a document. */
export function restoreState(state, doc, actions) {
  return { ...state, history: replay(doc, actions, state.context) };
}

/** The state after one action. */
export function act(state, action) {
  return { ...state, history: step(state.history, action, state.context) };
}

export function documentOf(state) {
  return state.history.doc;
}

export function taskOf(state, name) {
  return state.context.tasks.get(name);
}

export function wantedTasks(state) {
  return state.tasks.filter((task) => state.wanted.includes(task.name));
}

/** Words, from left to right, on which an answer to a task breaks a rule. */
export function wordsOfFindings({ findings }, name) {
  const words = findings.filter(({ task, word }) => task === name && word !== null).map(({ word }) => word);
  return [...new Set(words)].sort((a, b) => a - b);
}

/** Words of the selection: [start, end) of the range, or the word under the cursor. */
export function rangeOf({ cursor, anchor }) {
  if (anchor === null) return [cursor, cursor + 1];
  return [Math.min(anchor, cursor), Math.max(anchor, cursor) + 1];
}

/** Suggested items that still wait, for each wanted task. */
export function pendingByTask(state) {
  const doc = documentOf(state);
  return wantedTasks(state).map((task) => ({
    task,
    items: pendingItems(task, doc, state.context),
  }));
}

/** Suggested items of all wanted tasks that still wait. */
export function countPending(state) {
  return wantedTasks(state).reduce((sum, task) => sum + checkTask(state, task).toCheck, 0);
}

const checkedBefore = new WeakMap(); // document -> Map task -> check; neither ever changes

/** How far a task is: {own, open, toCheck, problems: [{message, at}], hints: [message]}.
 *  own: answers given; open: answers missing before it can be submitted; at: a word to look at. */
export function checkTask(state, task) {
  const doc = documentOf(state);
  if (!checkedBefore.has(doc)) checkedBefore.set(doc, new Map());
  const known = checkedBefore.get(doc);
  if (!known.has(task)) known.set(task, check(state, task));
  return known.get(task);
}

function check(state, task) {
  const doc = documentOf(state);
  const { context, sentence } = state;
  const { tokens } = sentence;
  const asked = askedWords(state, task.name);
  const checked = kindOf(task).check(task, doc.values[task.name], { doc, context, tokens, asked });
  return { hints: [], ...checked, toCheck: pendingItems(task, doc, context).length };
}

/** What stands in the way of handing in: [{task, message, at}]. */
export function problemsOf(state) {
  return wantedTasks(state).flatMap((task) =>
    checkTask(state, task).problems.map((problem) => ({ task: task.name, ...problem })),
  );
}

const drawnBefore = new WeakMap(); // document -> {task, context, items}: both never change

/** All things to draw: own answers, given spans, and suggestions that wait. */
export function itemsIn(state) {
  const doc = documentOf(state);
  const known = drawnBefore.get(doc);
  if (known?.task === state.ui.task && known.context === state.context) return known.items;
  const items = drawAll(state, doc);
  drawnBefore.set(doc, { task: state.ui.task, context: state.context, items });
  return items;
}

function drawAll(state, doc) {
  const pending = new Map(pendingByTask(state).map(({ task, items }) => [task.name, items]));
  const items = joinItems(
    drawAnswers(state.tasks, doc.values, "own"),
    drawAnswers(state.tasks, state.context.given, "given"),
    drawItems(state.tasks, (task) => pending.get(task.name) ?? [], "suggested"),
  );
  const shown = taskAbove(state, doc);
  items.arcs = items.arcs.filter((arc) => arc.task === shown?.name);
  return tieItems(state.tasks, items, { ...state.context.given, ...doc.values });
}

/** Above the words is room for the arcs of one task: the active one, else the first. */
function taskAbove(state, doc) {
  const tasks = state.tasks.filter(
    (task) => kindOf(task).layer === "arcs" && task.name in doc.values,
  );
  return tasks.find((task) => task.name === state.ui.task) ?? tasks[0];
}

/** One thing by its id, or null. */
export function findItem(state, id) {
  if (id === null) return null;
  for (const items of Object.values(itemsIn(state))) {
    const found = items.find((item) => item.id === id);
    if (found) return found;
  }
  return null;
}

/** The selected thing if it is one of a task, else null. */
export function selectedIn(state, task) {
  const item = findItem(state, state.ui.selected);
  return item?.task === task ? item : null;
}
