// The state of the page for one ask: what is asked, what has been answered, where the hands are.
import { checkTask } from "./checks.js";
import { openDocument } from "./document.js";
import { replay, startHistory, step } from "./history.js";
import { connectRelations, drawAnswers, drawItems, joinItems } from "./items.js";
import { pendingItems, suggestedItems } from "./suggestions.js";

/** State of an ask that has just come. project: {tasks, language}; lease as the server sends it. */
export function openState(project, lease) {
  const wanted = lease.ask.tasks;
  const tasks = project.tasks;
  const suggested = {};
  for (const task of tasks) {
    if (wanted.includes(task.name)) {
      suggested[task.name] = suggestedItems(task.kind, lease.suggestions?.[task.name]);
    }
  }
  const context = {
    tasks: new Map(tasks.map((task) => [task.name, task])),
    suggested,
    given: lease.context ?? {},
  };
  const m = lease.sentence.tokens.length;
  const doc = openDocument(tasks, wanted, lease.answers ?? {}, m);
  return {
    tasks,
    wanted,
    context,
    ask: lease.ask,
    sentence: { ...lease.sentence, language: project.language },
    history: startHistory(doc),
    ui: restingHands(wanted[0] ?? null),
  };
}

/** Hands at rest: cursor on the first word, nothing selected. */
export function restingHands(task) {
  return { cursor: 0, anchor: null, selected: null, task, mode: null, armed: null };
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

/** What stands in the way of handing in: [{task, message, at}]. */
export function problemsOf(state) {
  const doc = documentOf(state);
  return wantedTasks(state).flatMap((task) =>
    checkTask(task, doc, state.context, state.sentence.tokens).problems.map((problem) => ({
      task: task.name,
      ...problem,
    })),
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
  const trees = state.tasks.filter((task) => task.kind === "tree" && task.name in doc.values);
  const shown = trees.find((task) => task.name === state.ui.task) ?? trees[0];
  items.tree = items.tree.filter((arc) => arc.task === shown?.name);
  return connectRelations(state.tasks, items);
}

/** One thing by its id, with the kind of its task, or null. */
export function findItem(state, id) {
  if (id === null) return null;
  for (const [kind, items] of Object.entries(itemsIn(state))) {
    const found = items.find((item) => item.id === id);
    if (found) return { ...found, kind };
  }
  return null;
}

/** The first word of a thing, or null for a class. */
export function wordOf(item) {
  return item.at ?? item.start ?? item.dep ?? item.value?.[0] ?? null;
}
