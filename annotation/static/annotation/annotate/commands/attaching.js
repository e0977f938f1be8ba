// Trees: mark a head, go to a dependent, hang it there, say how.
import { itemId } from "../model/items.js";
import { documentOf, taskOf, wantedTasks } from "../model/state.js";
import { refuse } from "./outcome.js";

/** Mark the word under the cursor as head; marked twice, it becomes the root. */
export function markHead(state) {
  const task = treeTask(state);
  if (!task) return refuse("No tree is asked of this sentence.");
  const { mode, cursor } = state.ui;
  if (mode?.kind === "head" && mode.word === cursor) return attachRoot(state, task.name, cursor);
  return {
    ui: {
      task: task.name,
      mode: { kind: "head", task: task.name, word: cursor },
      selected: null,
      anchor: null,
    },
    say: `Head ${state.sentence.tokens[cursor]}: go to the dependent, then Enter.`,
  };
}

/** Hang the word under the cursor on the marked head. */
export function confirmHead(state) {
  const { mode, cursor } = state.ui;
  return mode.word === cursor
    ? attachRoot(state, mode.task, cursor)
    : attach(state, mode.task, mode.word, cursor);
}

/** Hang a dependent on a head and ask for the label; what is known of it is offered first. */
export function attach(state, name, head, dep) {
  const task = taskOf(state, name);
  const guess = knownLabel(state, name, head + 1, dep);
  return {
    action: { kind: "tree.attach", task: name, dep, head: head + 1, label: guess },
    ui: { task: name, mode: null, cursor: dep, selected: itemId(name, dep), anchor: null },
    choose: {
      purpose: "label",
      task: name,
      labels: task.labels.map((label) => label.name),
      isOpen: task.is_open,
      first: guess,
    },
    say: `${state.sentence.tokens[dep]} on ${state.sentence.tokens[head]}`,
  };
}

export function attachRoot(state, name, dep) {
  return {
    action: {
      kind: "tree.attach",
      task: name,
      dep,
      head: 0,
      label: rootLabel(taskOf(state, name)),
    },
    ui: { task: name, mode: null, cursor: dep, selected: itemId(name, dep), anchor: null },
    say: `${state.sentence.tokens[dep]} is the root`,
  };
}

/** The tree that the hands work on: the active one, or the first. */
export function treeTask(state) {
  const trees = wantedTasks(state).filter((task) => task.kind === "tree");
  return trees.find((task) => task.name === state.ui.task) ?? trees[0] ?? null;
}

/** Label of the dependent's old arc, else the model's for this head, else none. */
function knownLabel(state, name, head, dep) {
  const own = documentOf(state).values[name][dep];
  if (own) return own[0] === 0 ? "" : own[1];
  const guess = state.context.suggested[name].find((item) => item.at === dep);
  const options = guess ? [guess.value, ...guess.others.map(({ value }) => value)] : [];
  return options.find((value) => value?.[0] === head)?.[1] ?? "";
}

function rootLabel(task) {
  const known = task.labels.find(({ name }) => name.toLowerCase() === "root");
  return known?.name ?? (task.is_open ? "root" : "");
}
