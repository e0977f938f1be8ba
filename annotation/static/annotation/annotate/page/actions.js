// What every key and button does: names from the keyboard, commands from the model, one desk.
import { confirmHead, markHead } from "../commands/attaching.js";
import { accept, acceptAll, deleteHere, reject, rejectAll } from "../commands/deciding.js";
import { applyLabel, askLabel } from "../commands/labelling.js";
import * as moving from "../commands/moving.js";
import { confirmRelation, reverseRelation, startRelation } from "../commands/relating.js";
import { undo } from "../desk/recovering.js";
import { submit } from "../desk/submitting.js";

/** All actions of the page. talk: {skip(), flag()}; showKeys() and guidelines() open panels. */
export function pageActions({ desk, view, talk, showKeys, guidelines }) {
  const run = (command, ...values) => {
    if (desk.state) desk.perform(command(desk.state, ...values));
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
    task: (by) => changeTask(desk, by),
    label: ({ task, label }) => walk(applyLabel, task, label),
    choose: () => run(askLabel),
    confirm: () => confirm(desk),
    escape: () => leave(desk, view),
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
    undo: () => void undo(desk),
    undoHere: () => void desk.stepBack(),
    redo: () => void desk.stepForward(),
    submit: () => submit(desk),
    skip: talk.skip,
    flag: talk.flag,
    help: showKeys,
    guidelines,
  };
}

/** Tab goes from task to task, and past the last one on to the rest of the page. */
function changeTask(desk, by) {
  const outcome = desk.state && moving.goToTask(desk.state, by);
  if (!outcome) return false;
  desk.perform(outcome);
  return true;
}

/** Enter ends the mode that the hands are in; without one it submits. */
function confirm(desk) {
  const kind = desk.state?.ui.mode?.kind;
  if (kind === "head") desk.perform(confirmHead(desk.state));
  else if (kind === "relation") desk.perform(confirmRelation(desk.state));
  else submit(desk);
}

function leave(desk, view) {
  const outcome = desk.state && moving.escape(desk.state);
  if (outcome) desk.perform(outcome);
  view.focusCursor();
}
