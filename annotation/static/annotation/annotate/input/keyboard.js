// The keyboard: every key press becomes one command.
import { printableKey } from "./keys.js";

/** Hand key presses to commands. `actions` has a function for each name below; `keys()` returns the
 *  allocated keys; `active()` the name of the open task; `isFree()` says whether no dialog or list
 *  has the keyboard. */
export function listenToKeyboard(target, { actions, keys, active, isFree, usesLetters }) {
  target.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || !isFree() || isTyping(event.target)) return;
    const handled = event.ctrlKey || event.metaKey ? withControl(event) : plain(event);
    if (handled && event.repeat && !mayRepeat(event)) event.preventDefault();
    else if (handled && handled() !== false) event.preventDefault();
  });

  function withControl(event) {
    if (event.altKey) return null;
    const key = event.key.toLowerCase();
    if (key === "arrowup") return actions.back;
    if (key === "arrowdown") return actions.forth;
    if (key === "enter") return actions.submit;
    if (key === " ") return actions.skip;
    if (key === "z") return event.shiftKey ? actions.redo : undoOf(event);
    return key === "y" ? actions.redo : null;
  }

  /** Held down, undo stops at the start of the sentence. */
  function undoOf({ repeat }) {
    return repeat ? actions.undoHere : actions.undo;
  }

  function plain(event) {
    const named = NAMED[event.key];
    if (named) return isForButton(event) ? null : () => named(actions, event);
    if (event.altKey) return null;
    const key = printableKey(event);
    const isLetter = /^[\p{L}\p{N}]$/u.test(key);
    if (!key || (isLetter && !usesLetters())) return null;
    const found = keys().find(key, active());
    if (found?.command) return () => actions[found.command]();
    if (found?.label) return () => actions.label(found);
    return found && (() => actions.find(found.typed));
  }
}

const NAMED = {
  ArrowLeft: (actions, event) => arrow(actions, event, -1),
  ArrowRight: (actions, event) => arrow(actions, event, 1),
  ArrowUp: (actions) => actions.cycle(-1),
  ArrowDown: (actions) => actions.cycle(1),
  Home: (actions) => actions.moveTo(0),
  End: (actions) => actions.moveTo(Infinity),
  Tab: (actions, event) => actions.task(event.shiftKey ? -1 : 1, event.target),
  Enter: (actions, event) => (event.shiftKey ? actions.acceptEverything() : actions.confirm()),
  Escape: (actions) => actions.escape(),
  " ": (actions) => actions.find(),
  Backspace: (actions) => actions.remove(),
  Delete: (actions) => actions.remove(),
  F2: (actions) => actions.note(),
  F4: (actions) => actions.later(),
  F8: (actions) => actions.history(),
  F9: (actions) => actions.document(),
};

/** Arrows go as the eye does; Shift stretches, with Alt from the start. */
function arrow(actions, { shiftKey, altKey }, by) {
  if (!shiftKey) return altKey ? false : actions.move(by);
  return altKey ? actions.stretchStart(by) : actions.stretch(by);
}

/** A key that is held down moves, undoes and redoes; it neither answers nor submits again. */
function mayRepeat({ key, ctrlKey, metaKey }) {
  if (ctrlKey || metaKey) return /^[zy]$/i.test(key);
  return key.startsWith("Arrow") || key === "." || key === ",";
}

/** Enter, Space and Tab belong to a focused control; arrows do not leave a group of boxes. */
function isForButton({ key, target }) {
  const isControl = target.closest("button, a, summary, [role=radio], input") !== null;
  return isControl && ["Enter", " ", "Tab"].includes(key);
}

function isTyping(target) {
  return target.matches("input:not([type=checkbox]), textarea, select, [contenteditable]");
}
