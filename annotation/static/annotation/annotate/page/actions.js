// Actions: what keys, label bars and the detail panel do to the answers, wherever one edits.
import {
  accept,
  acceptAll,
  acceptEverything,
  deleteHere,
  nextStep,
  offerOf,
  reject,
  rejectAll,
  takeOption,
} from "../commands/decisions.js";
import { applyLabel, armLabel, askLabel, clickLabel } from "../commands/labels.js";
import * as navigation from "../commands/navigation.js";
import { kindOf } from "../kinds/index.js";
import { selectedIn, taskOf } from "../model/state.js";

/** Actions of the keyboard. tasks: those of the project, whose kinds add their own; keys(): the
 *  allocated keys; view: {sentence, focusCursor(), escape()}; Enter outside a mode is submit(). */
export function editingActions({ editor, tasks, keys, view, submit }) {
  const run = (command, ...values) => {
    if (editor.state) editor.perform(command(editor.state, ...values));
  };
  const walk = (command, ...values) => {
    run(command, ...values);
    view.focusCursor();
  };
  const ofKinds = Object.fromEntries(
    [...new Set(tasks.map(kindOf))].flatMap(({ commands }) =>
      commands.map(({ id, run: command }) => [id, () => walk(command)]),
    ),
  );
  const toTheEye = (by) => (view.sentence.direction === "rtl" ? -by : by);
  return {
    move: (by) => walk(navigation.moveCursor, toTheEye(by)),
    moveTo: (word) => walk(navigation.moveTo, word),
    stretch: (by) => walk(navigation.stretch, toTheEye(by)),
    stretchStart: (by) => walk(navigation.stretchStart, toTheEye(by)),
    cycle: (by) => walk(navigation.cycleItems, by),
    task: (by) => changeTask(editor, by, view),
    label: ({ task, label }) => walk(applyLabel, task, label),
    find: (typed = "") => run(askLabel, { typed }),
    listClasses: () => run(askLabel, { name: keys().digitsTask(editor.state?.ui.task)?.name }),
    confirm() {
      confirm(editor, submit, () => run(navigation.goToSuggestion, 1));
      view.focusCursor();
    },
    acceptEverything: () => run(acceptEverything),
    escape: () => leave(editor, view),
    remove: () => walk(deleteHere),
    accept: () => walk(accept),
    reject: () => walk(reject),
    acceptAll: () => run(acceptAll),
    rejectAll: () => run(rejectAll),
    ...ofKinds,
    nextSuggestion: () => walk(navigation.goToSuggestion, 1),
    previousSuggestion: () => walk(navigation.goToSuggestion, -1),
    undo: () => void editor.stepBack(),
    undoHere: () => void editor.stepBack(),
    redo: () => void editor.stepForward(),
    submit,
    ...NOT_EVERYWHERE,
  };
}

const NOT_HERE = () => false;

/** What only the annotate page has; elsewhere these keys are the browser's. */
const NOT_EVERYWHERE = {
  back: NOT_HERE,
  forth: NOT_HERE,
  note: NOT_HERE,
  later: NOT_HERE,
  history: NOT_HERE,
  document: NOT_HERE,
};

/** What clicks do on {labels, detail}; the cursor has the focus again after each. */
export function editingClicks(editor, focusCursor) {
  const run = (command, ...values) => {
    if (!editor.state) return;
    editor.perform(command(editor.state, ...values));
    focusCursor();
  };
  return {
    labels: {
      label: (task, label) => run(clickLabel, task, label),
      arm: (task, label) => run(armLabel, task, label),
      find: (task, options) => find(editor, task, options),
      act: (command) => run(command),
      acceptAll: (task) => {
        run(navigation.activate, task);
        run(acceptAll);
      },
      activate: (task) => run(navigation.activate, task),
    },
    detail: {
      accept: () => run(accept),
      reject: () => run(reject),
      remove: () => run(deleteHere),
      label: (task, label) => run(applyLabel, task, label),
      option: (item, value) => run(takeOption, item, value),
      tool: (command, item) => run(command, item),
    },
  };
}

/** Tab goes from task to task, and past the last one on to the rest of the page. */
function changeTask(editor, by, view) {
  const outcome = editor.state && navigation.goToTask(editor.state, by);
  if (!outcome) return false;
  editor.perform(outcome);
  view.focusCursor(); // it may begin elsewhere
  return true;
}

/** Enter ends the mode one is in; without one it goes to the next suggestion that was not looked at,
 *  and submits only when none is left. */
function confirm(editor, submit, checkNext) {
  const { state } = editor;
  const { step } = state ? nextStep(state) : {};
  if (step === "mode") editor.perform(kindOf(taskOf(state, state.ui.mode.task)).confirm(state));
  else if (step === "offer") editor.perform(offerOf(state).run());
  else if (step === "check") checkNext();
  else submit();
}

function leave(editor, view) {
  const outcome = editor.state && navigation.escape(editor.state);
  if (outcome) editor.perform(outcome);
  else view.escape();
  view.focusCursor();
}

/** Ask for a label of a task; false where the finder was clicked and no words are chosen yet: then
 *  it filters the labels in place. */
function find(editor, task, { isByFinder = false } = {}) {
  const { state } = editor;
  if (!state) return false;
  const isChosen = state.ui.anchor !== null || selectedIn(state, task) !== null;
  if (isByFinder && !isChosen) return false;
  editor.perform(askLabel(state, { name: task }));
  return true;
}
