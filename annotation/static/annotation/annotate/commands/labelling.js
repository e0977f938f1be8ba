// Giving labels: one key or click means the same on whatever is selected.
import { itemId } from "../model/items.js";
import { findItem, itemsIn, rangeOf, taskOf } from "../model/state.js";
import { linkTo, relabelRelation } from "./relating.js";
import { refuse } from "./outcome.js";

/** Use a label of a task on what is selected, or on the words under the cursor. */
export function applyLabel(state, name, label) {
  if (!state.wanted.includes(name)) return refuse(`${name} is not asked of this sentence.`);
  return APPLY[taskOf(state, name).kind](state, name, label);
}

const APPLY = {
  spans(state, task, label) {
    const item = selectedIn(state, task);
    const [start, end] = item ? [item.start, item.end] : rangeOf(state.ui);
    const words = state.sentence.tokens.slice(start, end).join(" ");
    const action =
      item?.state === "own"
        ? { kind: "span.relabel", task, span: [start, end, item.label], label }
        : { kind: "span.add", task, start, end, label };
    const selected = itemId(task, [start, end, label].join("-"));
    return { action, ui: { ...used(task), selected }, say: `${label} on ${words}` };
  },

  tags(state, task, label) {
    const item = selectedIn(state, task);
    const [start, end] = item ? [item.at, item.at + 1] : rangeOf(state.ui);
    const cursor = Math.min(end, state.sentence.tokens.length - 1);
    return {
      action: { kind: "tags.paint", task, start, end, label },
      ui: { ...used(task), cursor },
      say: `${label} on ${state.sentence.tokens.slice(start, end).join(" ")}`,
    };
  },

  classes: (state, task, label) => ({
    action: { kind: "class.choose", task, label },
    ui: { selected: null },
    say: `${task}: ${label}`,
  }),

  tree(state, task, label) {
    const { tree } = itemsIn(state);
    const arc = selectedIn(state, task) ?? tree.find(({ dep }) => dep === state.ui.cursor);
    if (!arc) return refuse("This word has no head yet.");
    return {
      action: { kind: "tree.attach", task, dep: arc.dep, head: arc.head, label },
      ui: { task, selected: arc.id },
      say: `${label} on ${state.sentence.tokens[arc.dep]}`,
    };
  },

  relations(state, task, label) {
    if (state.ui.mode?.kind === "relation") return linkTo(state, label);
    const item = selectedIn(state, task);
    if (item) return relabelRelation(state, item, label);
    return { ui: { task, armed: { task, label } }, say: `${label}: drag from span to span.` };
  },
};

/** Arm a label for the mouse, or put the armed one away. */
export function armLabel(state, task, label) {
  const { armed } = state.ui;
  const isSame = armed?.task === task && armed.label === label;
  return { ui: { task, armed: isSame ? null : { task, label } } };
}

/** Ask for a label by type-ahead, for the active task. */
export function askLabel(state) {
  const task = taskOf(state, state.ui.task);
  if (!task) return {};
  const labels = task.labels.map(({ name }) => name);
  return { choose: { purpose: "label", task: task.name, labels, isOpen: task.is_open } };
}

function used(task) {
  return { task, anchor: null, selected: null };
}

function selectedIn(state, task) {
  const item = findItem(state, state.ui.selected);
  return item?.task === task ? item : null;
}
