// Giving labels: one key or click means the same on whatever is selected.
import { kindOf } from "../kinds/index.js";
import { refuse } from "../model/editor.js";
import { selectedIn, taskOf } from "../model/state.js";
import { t } from "../words.js";
import { nextWaiting } from "./navigation.js";

/** Use a label of a task on what is selected, or on the words under the cursor. Another label for a
 *  suggestion decides it, so that the next one comes, as after accepting. */
export function applyLabel(state, name, label) {
  if (!state.wanted.includes(name)) return refuse(t("{task} is not asked of this sentence.", { task: name }));
  const outcome = kindOf(taskOf(state, name)).apply(state, name, label);
  const item = selectedIn(state, name);
  if (item?.state !== "suggested" || !outcome.action) return outcome;
  return { ...outcome, ui: { ...outcome.ui, ...nextWaiting(state, item.id) } };
}

/** A click on a label uses it on what is selected, or arms it for the mouse. */
export function clickLabel(state, name, label) {
  const isMeantHere = kindOf(taskOf(state, name)).usesLabel(state) || selectedIn(state, name);
  return isMeantHere ? applyLabel(state, name, label) : armLabel(state, name, label);
}

/** Arm a label for the mouse, or put the armed one away: with no label, or with the same. */
export function armLabel(state, task, label) {
  const { armed } = state.ui;
  const isSame = label === null || (armed?.task === task && armed.label === label);
  return { ui: { task, armed: isSame ? null : { task, label } } };
}

/** Use the armed label on a range of words; without one they become the range for the next. */
export function paintOrSelect(state, from, to) {
  const { armed, task } = state.ui;
  const range = { anchor: from, cursor: to, selected: null };
  if (armed?.task !== task || !kindOf(taskOf(state, task)).paints) return { ui: range };
  const painted = applyLabel({ ...state, ui: { ...state.ui, ...range } }, task, armed.label);
  return { ...painted, ui: { ...painted.ui, selected: null } }; // a label is armed next, not used
}

/** Ask for a label by type-ahead, for the open task or another; typed: what was typed already. */
export function askLabel(state, { name = state.ui.task, typed = "" } = {}) {
  const task = taskOf(state, name);
  if (!task || !state.wanted.includes(name)) return {};
  const { options, isText } = kindOf(task);
  return { choose: { task: name, labels: options(state, task), isOpen: task.is_open || isText, typed } };
}

/** Use a label that was asked for where the command wanted it. */
export function useChosen(state, question, label) {
  const { choose } = kindOf(taskOf(state, question.task));
  return choose?.(state, question, label) ?? applyLabel(state, question.task, label);
}
