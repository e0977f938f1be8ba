// How far a task is, in a few words: yours, to check, and the live checks of a tree.
import { element } from "../dom.js";
import { checkTask } from "../model/checks.js";
import { documentOf } from "../model/state.js";
import { findCycle, rootsOf } from "../model/tree_checks.js";

/** Numbers of a task's standing, ready to compare with what is shown. */
export function standingOf(state, task) {
  const doc = documentOf(state);
  const standing = checkTask(task, doc, state.context, state.sentence.tokens);
  if (task.kind !== "tree") return standing;
  const heads = doc.values[task.name].map((arc) => arc?.[0] ?? null);
  return { ...standing, nRoots: rootsOf(heads).length, hasCycle: findCycle(heads).length > 0 };
}

/** The standing as text nodes and elements. */
export function standingText(task, standing) {
  return TEXT[task.kind](standing);
}

const TEXT = {
  spans: ({ own, toCheck, problems }) => [
    ...problemText(problems),
    `${own} yours`,
    ...checkText(toCheck),
  ],
  relations: ({ own, toCheck, problems }) => [
    ...problemText(problems),
    `${own} yours`,
    ...checkText(toCheck),
  ],
  tags: ({ own, open, toCheck }) => [`${own} of ${own + open}`, ...checkText(toCheck)],
  classes: ({ open, toCheck }) =>
    open ? [toCheck ? todo("1 to check") : todo("choose one")] : [good("✓ yours")],
  tree: ({ own, open, toCheck, nRoots, hasCycle, hints }) => [
    nRoots === 1 ? good("✓ one root") : todo(nRoots ? `${nRoots} roots` : "no root"),
    " · ",
    hasCycle ? bad("a cycle") : good("✓ no cycle"),
    ...hints.flatMap((hint) => [" · ", todo(hint)]),
    ` · ${own} of ${own + open}`,
    ...checkText(toCheck),
  ],
};

function checkText(n) {
  return n ? [" · ", todo(`${n} to check`)] : [];
}

function problemText(problems) {
  return problems.length ? [bad(problems[0].message), " · "] : [];
}

const good = (text) => element("span", { class: "good" }, text);
const todo = (text) => element("span", { class: "todo" }, text);
const bad = (text) => element("span", { class: "bad" }, text);
