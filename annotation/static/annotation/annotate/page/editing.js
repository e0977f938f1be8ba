// Editing: what keys, label bars and the detail panel do to the answers, wherever one edits.
import { attachRoot, confirmHead, markHead } from "../commands/attaching.js";
import {
  accept,
  acceptAll,
  deleteHere,
  reject,
  rejectAll,
  takeOption,
} from "../commands/deciding.js";
import { applyLabel, armLabel, askLabel } from "../commands/labelling.js";
import * as moving from "../commands/moving.js";
import { confirmRelation, reverseRelation, startRelation } from "../commands/relating.js";
import { findItem, taskOf } from "../model/state.js";

/** Actions of the keyboard. view: {sentence, focusCursor()}; Enter outside a mode is submit(). */
export function editingActions({ hands, view, submit }) {
  const run = (command, ...values) => {
    if (hands.state) hands.perform(command(hands.state, ...values));
  };
  const walk = (command, ...values) => {
    run(command, ...values);
    view.focusCursor();
  };
  const toTheEye = (by) => (view.sentence.direction === "rtl" ? -by : by);
  return {
    move: (by) => walk(moving.moveCursor, toTheEye(by)),
    moveTo: (word) => walk(moving.moveTo, word),
    stretch: (by) => walk(moving.stretch, toTheEye(by)),
    stretchStart: (by) => walk(moving.stretchStart, toTheEye(by)),
    cycle: (by) => walk(moving.cycleItems, by),
    task: (by) => changeTask(hands, by),
    label: ({ task, label }) => walk(applyLabel, task, label),
    choose: () => run(askLabel),
    confirm: () => confirm(hands, submit),
    escape: () => leave(hands, view),
    remove: () => walk(deleteHere),
    accept: () => walk(accept),
    reject: () => walk(reject),
    acceptAll: () => run(acceptAll),
    rejectAll: () => run(rejectAll),
    markHead: () => run(markHead),
    relate: () => run(startRelation),
    reverse: () => run(reverseRelation),
    nextSuggestion: () => walk(moving.goToSuggestion, 1),
    previousSuggestion: () => walk(moving.goToSuggestion, -1),
    undo: () => void hands.stepBack(),
    undoHere: () => void hands.stepBack(),
    redo: () => void hands.stepForward(),
    submit,
  };
}

/** What clicks do on {bars, detail}; the cursor has the focus again after each. */
export function editingClicks(hands, focusCursor) {
  const run = (command, ...values) => {
    if (!hands.state) return;
    hands.perform(command(hands.state, ...values));
    focusCursor();
  };
  return {
    bars: {
      label: (task, label) => run(clickLabel, task, label),
      more: (task) =>
        run((state) => ({ ...moving.activate(state, task), ...askLabel(inTask(state, task)) })),
      acceptAll: (task) => {
        run(moving.activate, task);
        run(acceptAll);
      },
      activate: (task) => run(moving.activate, task),
    },
    detail: {
      accept: () => run(accept),
      reject: () => run(reject),
      remove: () => run(deleteHere),
      reverse: () => run(reverseRelation),
      relabel: () => run(askLabel),
      option: (item, value) => run(takeOption, item, value),
      root: (item) => run((state) => attachRoot(state, item.task, item.dep)),
      edge: (item, edge, by) => run(moving.resizeSpan, item, edge, by),
    },
  };
}

/** Tab goes from task to task, and past the last one on to the rest of the page. */
function changeTask(hands, by) {
  const outcome = hands.state && moving.goToTask(hands.state, by);
  if (!outcome) return false;
  hands.perform(outcome);
  return true;
}

/** Enter ends the mode that the hands are in; without one it submits. */
function confirm(hands, submit) {
  const kind = hands.state?.ui.mode?.kind;
  if (kind === "head") hands.perform(confirmHead(hands.state));
  else if (kind === "relation") hands.perform(confirmRelation(hands.state));
  else submit();
}

function leave(hands, view) {
  const outcome = hands.state && moving.escape(hands.state);
  if (outcome) hands.perform(outcome);
  view.focusCursor();
}

/** A click on a label uses it on what is selected, or arms it for the mouse. */
function clickLabel(state, task, label) {
  const { kind } = taskOf(state, task);
  const isSelected = findItem(state, state.ui.selected)?.task === task;
  const isDirect = kind === "classes" || kind === "tree" || isSelected;
  const isMarked = state.ui.anchor !== null && (kind === "spans" || kind === "tags");
  const isLinking = kind === "relations" && state.ui.mode?.kind === "relation";
  if (isDirect || isMarked || isLinking) return applyLabel(state, task, label);
  return armLabel(state, task, label);
}

function inTask(state, task) {
  return { ...state, ui: { ...state.ui, task } };
}
