// Suggestions and deletions: take over, put away, take back.
import { itemId } from "../model/items.js";
import { findItem, itemsIn, pendingByTask, taskOf, wordOf } from "../model/state.js";
import { selectItem, waitingIds } from "./moving.js";
import { refuse } from "./outcome.js";

/** Accept the selected suggestion, or the one under the cursor; go on to the next. */
export function accept(state) {
  return decide(state, "suggestion.accept", "Accepted");
}

export function reject(state) {
  return decide(state, "suggestion.reject", "Rejected");
}

/** Accept all suggestions of the active task, or of the first task that has some. */
export function acceptAll(state) {
  return decideAll(state, "suggestion.accept", "accepted");
}

export function rejectAll(state) {
  return decideAll(state, "suggestion.reject", "rejected");
}

/** Delete what is selected, or the active task's answer on the words under the cursor. */
export function deleteHere(state) {
  const item = findItem(state, state.ui.selected) ?? answerHere(state);
  if (!item) return refuse("Nothing to delete here.");
  if (item.state === "given") return refuse("This span was given; it cannot be changed here.");
  if (item.state === "suggested") return decideOne(state, item, "suggestion.reject", "Rejected");
  return {
    action: deletion(item),
    ui: { selected: null, anchor: null },
    say: `Deleted ${item.label}`,
  };
}

/** Take another of the model's options for a suggested thing. */
export function takeOption(state, item, value) {
  const task = item.task;
  const kind = taskOf(state, task).kind;
  if (value === null) return decideOne(state, item, "suggestion.reject", "Rejected");
  const actions = {
    spans: () => ({ kind: "span.add", task, start: value[0], end: value[1], label: value[2] }),
    tags: () => ({ kind: "tags.paint", task, start: item.at, end: item.at + 1, label: value }),
    classes: () => ({ kind: "class.choose", task, label: value }),
    tree: () => ({ kind: "tree.attach", task, dep: item.dep, head: value[0], label: value[1] }),
    relations: () => ({
      kind: "relation.add",
      task,
      from: value.slice(0, 2),
      to: value.slice(2, 4),
      label: value[4],
    }),
  };
  const isByPlace = kind === "tree" || kind === "tags" || kind === "classes";
  const selected = isByPlace ? item.id : itemId(task, value.join("-"));
  return { action: actions[kind](), ui: { selected }, say: "Taken" };
}

function decide(state, kind, word) {
  const item = findItem(state, state.ui.selected) ?? suggestionHere(state);
  if (item?.state !== "suggested")
    return refuse("No suggestion here. Go to the next one with a full stop.");
  return decideOne(state, item, kind, word);
}

function decideOne(state, item, kind, word) {
  const waiting = waitingIds(state);
  const next = waiting[waiting.indexOf(item.id) + 1] ?? waiting.find((id) => id !== item.id);
  const following = next ? selectItem(state, next).ui : { selected: null };
  return {
    action: { kind, task: item.task, keys: [keyOf(item)] },
    ui: { ...following, anchor: null },
    say: `${word} ${item.label}`,
  };
}

function decideAll(state, kind, word) {
  const groups = pendingByTask(state).filter(({ items }) => items.length);
  const group = groups.find(({ task }) => task.name === state.ui.task) ?? groups[0];
  if (!group) return refuse("No suggestions are left to check.");
  const { task, items } = group;
  return {
    action: { kind, task: task.name, keys: items.map(({ key }) => key) },
    ui: { task: task.name, selected: null, anchor: null },
    say: `${task.name}: ${items.length} ${word}`,
  };
}

function deletion(item) {
  if (item.kind === "spans") {
    return { kind: "delete", task: item.task, value: [item.start, item.end, item.label] };
  }
  if (item.kind === "relations") return { kind: "delete", task: item.task, value: item.value };
  if (item.kind === "classes") return { kind: "delete", task: item.task };
  return { kind: "delete", task: item.task, at: wordOf(item) };
}

/** The active task's own answer under the cursor, the innermost first. */
function answerHere(state) {
  const { cursor, task } = state.ui;
  const kind = taskOf(state, task)?.kind;
  const mine = (itemsIn(state)[kind] ?? []).filter(
    (item) => item.task === task && item.state === "own",
  );
  const found =
    kind === "classes"
      ? mine[0]
      : kind === "spans"
        ? mine
            .filter(({ start, end }) => start <= cursor && cursor < end)
            .sort((a, b) => a.end - a.start - (b.end - b.start))[0]
        : mine.find((item) => (item.at ?? item.dep) === cursor);
  return found ? { ...found, kind } : null;
}

/** A waiting suggestion on the word under the cursor: the active task's, else any; else a class. */
function suggestionHere(state) {
  const { cursor, task } = state.ui;
  const items = Object.values(itemsIn(state))
    .flat()
    .filter((item) => item.state === "suggested");
  const isHere = (item) =>
    item.start === undefined ? wordOf(item) === cursor : item.start <= cursor && cursor < item.end;
  const isClass = (item) => wordOf(item) === null;
  return (
    items.find((item) => item.task === task && (isHere(item) || isClass(item))) ??
    items.find(isHere) ??
    null
  );
}

function keyOf(item) {
  return item.id.slice(item.task.length + 1);
}
