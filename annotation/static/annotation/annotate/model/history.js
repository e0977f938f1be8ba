// Undo and redo over documents. A history is {past, doc, future}; nothing in it is ever changed.
import { change } from "./document.js";

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
