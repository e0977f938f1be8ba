// Suggestions and deletions: take over, put away, take back.
import { kindOf } from "../kinds/index.js";
import { refuse } from "../model/editor.js";
import { labelledBefore } from "../model/labels.js";
import { isOn, itemId, itemsOn, keyOf, wordsOf } from "../model/items.js";
import {
  countPending,
  findItem,
  itemsIn,
  pendingByTask,
  problemsOf,
  rangeOf,
  taskOf,
} from "../model/state.js";
import { t } from "../words.js";
import { applyLabel } from "./labels.js";
import { goToSuggestion, nextWaiting } from "./navigation.js";

/** Accept the selected suggestion, or the one under the cursor, and go on to the next; without one, the
 *  likeliest label that these words had before, and on to the next such words. */
export function accept(state) {
  return asBefore(state) ?? decide(state, "suggestion.accept", t("Accepted"));
}

function asBefore(state) {
  const task = taskOf(state, state.ui.task);
  if (!task || findItem(state, state.ui.selected) || suggestionHere(state)) return null;
  const { isWhole } = kindOf(task);
  const range = rangeOf(state.ui);
  const isOffered = isWhole || isKnown(state, task, range);
  const [label] = isOffered ? labelledBefore(state, task, isWhole ? null : range).keys() : [];
  if (label === undefined) return null;
  const outcome = applyLabel(state, task.name, label);
  const next = isWhole ? null : kindOf(task).known(state, task).find(([start]) => start >= range[1]);
  if (!outcome.action || !next) return outcome;
  return { ...outcome, ui: { ...outcome.ui, selected: null, anchor: next[0], cursor: next[1] - 1 } };
}

/** Reject the selected suggestion, or the one under the cursor; without one, pass over words that were
 *  labelled before. */
export function reject(state) {
  return passOver(state) ?? decide(state, "suggestion.reject", t("Rejected"));
}

/** Words that were labelled before are not marked in this sentence any more; the next such ones come. */
function passOver(state) {
  const task = taskOf(state, state.ui.task);
  if (!task || findItem(state, state.ui.selected) || suggestionHere(state)) return null;
  const range = rangeOf(state.ui);
  if (!isKnown(state, task, range)) return null;
  const ui = { ...state.ui, passed: [...state.ui.passed, [task.name, ...range]], anchor: null };
  const next = goToSuggestion({ ...state, ui }, 1);
  const words = state.sentence.tokens.slice(...range).join(" ");
  return { ui: { ...ui, ...next.ui }, say: t("Left ‘{words}’ without a label", { words }) };
}

/** Whether earlier answers label just these words. */
function isKnown(state, task, [start, end]) {
  return kindOf(task).known(state, task).some(([a, b]) => a === start && b === end);
}

/** Accept all suggestions of the active task, or of the first task that has some. */
export function acceptAll(state) {
  return decideAll(state, "suggestion.accept", t("accepted"));
}

export function rejectAll(state) {
  return decideAll(state, "suggestion.reject", t("rejected"));
}

/** Accept every suggestion of every task. */
export function acceptEverything(state) {
  const groups = pendingByTask(state).filter(({ items }) => items.length);
  if (!groups.length) return refuse(t("No suggestions are left to check."));
  const of = groups.map(({ task, items }) => [task.name, items.map(({ key }) => key)]);
  const n = of.reduce((sum, [, keys]) => sum + keys.length, 0);
  return {
    action: { kind: "suggestions.accept", of: Object.fromEntries(of) },
    ui: { selected: null, anchor: null, mode: null },
    say: t("{n} accepted. Enter submits.", { n }),
  };
}

/** What Enter does next: {step, words, n}. Step: "mode" ends the mode one is in, "check" goes to one
 *  of n suggestions that nobody looked at, "mend" to one of n things that are missing or wrong, and
 *  only then comes "submit". */
export function nextStep(state) {
  const { mode } = state.ui;
  if (mode) {
    return { step: "mode", words: kindOf(taskOf(state, mode.task)).modeAction(state), n: 1 };
  }
  const offered = offerOf(state);
  if (offered) return { step: "offer", words: offered.words, n: 1 };
  const n = countPending(state);
  if (n) return { step: "check", words: t("Check next, {n} left", { n }), n };
  const missing = problemsOf(state).length;
  if (missing) return { step: "mend", words: t("Go to what is missing"), n: missing };
  return { step: "submit", words: t("Submit and next"), n: 0 };
}

/** What the open task offers to do by Enter: {words, run}, or null. */
export function offerOf(state) {
  const task = taskOf(state, state.ui.task);
  return (task && kindOf(task).offer(state)) ?? null;
}

/** Delete what is selected, or the active task's answer on the words under the cursor. */
export function deleteHere(state) {
  const item = findItem(state, state.ui.selected) ?? answerHere(state);
  if (!item) return refuse(t("Nothing to delete here."));
  if (item.state === "given") return refuse(t("This span was given; it cannot be changed here."));
  if (item.state === "suggested") return decideOne(state, item, "suggestion.reject", t("Rejected"));
  return {
    action: deletion(item),
    ui: { selected: null, anchor: null },
    say: t("Deleted {label}", { label: item.label }),
  };
}

/** Take another of the model's options for a suggested thing. */
export function takeOption(state, item, value) {
  if (value === null) return decideOne(state, item, "suggestion.reject", t("Rejected"));
  const kind = kindOf(item);
  const key = kind.keyOf({ value, at: wordsOf(item)?.[0] });
  return {
    action: kind.take(item, value),
    ui: { selected: itemId(item.task, key) },
    say: t("Taken"),
  };
}

function decide(state, kind, word) {
  const item = findItem(state, state.ui.selected) ?? suggestionHere(state);
  if (item?.state !== "suggested")
    return refuse(t("No suggestion here. Go to the next one with a full stop."));
  return decideOne(state, item, kind, word);
}

function decideOne(state, item, kind, word) {
  return {
    action: { kind, task: item.task, keys: [keyOf(item)] },
    ui: { selected: null, ...nextWaiting(state, item.id), anchor: null },
    say: `${word} ${item.label}`,
  };
}

function decideAll(state, kind, word) {
  const groups = pendingByTask(state).filter(({ items }) => items.length);
  const group = groups.find(({ task }) => task.name === state.ui.task) ?? groups[0];
  if (!group) return refuse(t("No suggestions are left to check."));
  const { task, items } = group;
  return {
    action: { kind, task: task.name, keys: items.map(({ key }) => key) },
    ui: { task: task.name, selected: null, anchor: null },
    say: `${task.name}: ${items.length} ${word}`,
  };
}

function deletion(item) {
  const { task, value } = item;
  const at = wordsOf(item)?.[0];
  return { kind: "delete", task, ...kindOf(item).removal({ value, at }) };
}

/** The active task's own answer under the cursor, the innermost first. */
function answerHere(state) {
  const task = taskOf(state, state.ui.task);
  if (!task) return null;
  const { layer, isWhole } = kindOf(task);
  const mine = itemsIn(state)[layer].filter(
    (item) => item.task === task.name && item.state === "own",
  );
  return (isWhole ? mine : itemsOn(mine, state.ui.cursor))[0] ?? null;
}

/** A waiting suggestion on the word under the cursor: the active task's, else any; else a class. */
function suggestionHere(state) {
  const { cursor, task } = state.ui;
  const items = Object.values(itemsIn(state))
    .flat()
    .filter((item) => item.state === "suggested");
  const isHere = (item) => isOn(item, cursor);
  return (
    items.find((item) => item.task === task && (isHere(item) || kindOf(item).isWhole)) ??
    items.find(isHere) ??
    null
  );
}
