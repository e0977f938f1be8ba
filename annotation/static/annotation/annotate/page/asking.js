// Asking for a label by type-ahead, beside the word or chip that it is for.
import { applyLabel } from "../commands/labelling.js";
import { link } from "../commands/relating.js";
import { taskOf } from "../model/state.js";

/** Ask for a label and use it where the command wanted it. */
export async function askForLabel(chooser, hands, sentence, question) {
  const { ui } = hands.state;
  const isArc = taskOf(hands.state, question.task).kind === "tree";
  const chip = isArc ? null : sentence.itemNode(ui.selected ?? "");
  const anchor = chip ?? sentence.wordNode(ui.cursor);
  const title = `Label of ${question.task}`;
  const label = await chooser.ask({ ...question, title }, anchor);
  if (label === null || !hands.state) return;
  learnLabel(taskOf(hands.state, question.task), label);
  hands.perform(labelled(hands.state, question, label));
}

/** A label that was typed for the first time is offered from now on. */
function learnLabel(task, label) {
  if (task.labels.some(({ name }) => name === label)) return;
  task.labels.push({ name: label, colour: task.labels.length, key: "" });
}

function labelled(state, { purpose, task, from, to }, label) {
  return purpose === "relation"
    ? link(state, task, from, to, label)
    : applyLabel(state, task, label);
}
