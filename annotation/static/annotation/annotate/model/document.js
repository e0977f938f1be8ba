// The document: all values of one ask while a person works on it, every change to it, and undo.
import { kindOf } from "../kinds/index.js";

/** Document of an ask: own answers where there are some, else blank values. */
export function openDocument(tasks, wanted, answers, m, note = "") {
  const values = {};
  for (const task of tasks) {
    if (wanted.includes(task.name))
      values[task.name] = answers[task.name] ?? kindOf(task).blank(m);
  }
  return { values, rejected: {}, note };
}

/** The document with another value for one task. */
export function withValue(doc, task, value) {
  return { ...doc, values: { ...doc.values, [task]: value } };
}

/** The document after a change. Context: {tasks: Map by name, suggested, given: fixed spans}. */
function change(doc, action, context) {
  const task = context.tasks.get(action.task);
  const known = { ...CHANGES, ...(task ? kindOf(task).changes : {}) };
  const apply = known[action.kind];
  if (!apply)
    throw new Error(`No change '${action.kind}'. Known: ${Object.keys(known).join(", ")}.`);
  return apply(doc, action, context);
}

const CHANGES = {
  /** Take suggested items over as own answers; a relation brings the spans that it needs. */
  "suggestion.accept"(doc, { task, keys }, context) {
    const { accept } = kindOf(context.tasks.get(task));
    return context.suggested[task]
      .filter(({ key }) => keys.includes(key))
      .reduce((next, item) => accept(forget(next, task, item.key), task, item, context), doc);
  },

  /** The same for several tasks at once; of: {task: keys}. */
  "suggestions.accept"(doc, { of }, context) {
    return Object.entries(of).reduce(
      (next, [task, keys]) => CHANGES["suggestion.accept"](next, { task, keys }, context),
      doc,
    );
  },

  "suggestion.reject": reject,

  /** Take an own answer away; where it was the model's, that suggestion is rejected too. */
  delete(doc, action, context) {
    const { task } = action;
    const kind = kindOf(context.tasks.get(task));
    const key = kind.keyOf(action);
    const shorter = kind.remove(doc, task, action, context);
    const isSuggested = (context.suggested[task] ?? []).some((item) => item.key === key);
    return isSuggested ? reject(shorter, { task, keys: [key] }) : shorter;
  },

  /** A note of the annotator on the whole answer. */
  "note.set": (doc, { text }) => ({ ...doc, note: text }),

  /** Another version of everything, such as one from another device. */
  replace: (_, { doc }) => doc,
};

/** Put suggested items away. */
function reject(doc, { task, keys }) {
  const rejected = [...new Set([...(doc.rejected[task] ?? []), ...keys])];
  return { ...doc, rejected: { ...doc.rejected, [task]: rejected } };
}

/** An accepted item is no longer rejected. */
function forget(doc, task, key) {
  const rejected = (doc.rejected[task] ?? []).filter((other) => other !== key);
  return { ...doc, rejected: { ...doc.rejected, [task]: rejected } };
}

// Undo and redo over documents. A history is {past, doc, future}; nothing in it is ever changed.

export function startHistory(doc) {
  return { past: [], doc, future: [] };
}

/** The history after an action; "undo" and "redo" are actions too, so that a journal replays. */
export function step(history, action, context) {
  if (action.kind === "undo") return undo(history);
  if (action.kind === "redo") return redo(history);
  const doc = change(history.doc, action, context);
  if (JSON.stringify(doc) === JSON.stringify(history.doc)) return history;
  return { past: [...history.past, history.doc], doc, future: [] };
}

/** The history after all actions of a journal. */
export function replay(doc, actions, context) {
  return actions.reduce((history, action) => step(history, action, context), startHistory(doc));
}

export function canUndo(history) {
  return history.past.length > 0;
}

export function canRedo(history) {
  return history.future.length > 0;
}

function undo(history) {
  if (!canUndo(history)) return history;
  const { past, doc, future } = history;
  return { past: past.slice(0, -1), doc: past.at(-1), future: [doc, ...future] };
}

function redo(history) {
  if (!canRedo(history)) return history;
  const { past, doc, future } = history;
  return { past: [...past, doc], doc: future[0], future: future.slice(1) };
}
