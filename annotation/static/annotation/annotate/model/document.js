// The document: all values of one ask while a person works on it, and every change to it.
import { blankValue, sameValue } from "./answers.js";
import { relationChanges } from "./relations.js";
import { spanChanges, withSpans } from "./spans.js";
import { endsOf } from "./suggestions.js";
import { withValue, wordChanges } from "./words.js";

/** Document of an ask: own answers where there are some, else blank values. */
export function openDocument(tasks, wanted, answers, m) {
  const values = {};
  for (const task of tasks) {
    if (wanted.includes(task.name))
      values[task.name] = answers[task.name] ?? blankValue(task.kind, m);
  }
  return { values, rejected: {} };
}

/** The document after a change. Context: {tasks: Map by name, suggested, given: fixed spans}. */
export function change(doc, action, context) {
  const apply = CHANGES[action.kind];
  if (!apply)
    throw new Error(`No change '${action.kind}'. Known: ${Object.keys(CHANGES).join(", ")}.`);
  return apply(doc, action, context);
}

const suggestionChanges = {
  /** Take suggested items over as own answers; a relation brings the spans that it needs. */
  "suggestion.accept"(doc, { task, keys }, context) {
    let next = doc;
    for (const item of context.suggested[task].filter(({ key }) => keys.includes(key))) {
      next = ACCEPT[context.tasks.get(task).kind](
        forget(next, task, item.key),
        task,
        item,
        context,
      );
    }
    return next;
  },

  /** Put suggested items away. */
  "suggestion.reject"(doc, { task, keys }) {
    const rejected = [...new Set([...(doc.rejected[task] ?? []), ...keys])];
    return { ...doc, rejected: { ...doc.rejected, [task]: rejected } };
  },
};

const ACCEPT = {
  spans: (doc, task, { value }, context) =>
    spanChanges["span.add"](
      doc,
      { task, start: value[0], end: value[1], label: value[2] },
      context,
    ),
  tags: acceptAt,
  tree: acceptAt,
  classes: (doc, task, { value }) => withValue(doc, task, value),
  relations: (doc, task, { value }, context) =>
    relationChanges["relation.add"](doc, relationParts(task, value), context),
};

function relationParts(task, link) {
  const [from, to] = endsOf(link);
  return { task, from, to, label: link[4] };
}

function acceptAt(doc, task, { at, value }) {
  return withValue(doc, task, doc.values[task].with(at, value));
}

/** An accepted item is no longer rejected. */
function forget(doc, task, key) {
  const rejected = (doc.rejected[task] ?? []).filter((other) => other !== key);
  return { ...doc, rejected: { ...doc.rejected, [task]: rejected } };
}

const deletions = {
  /** Take an own answer away; where it was the model's, that suggestion is rejected too. */
  delete(doc, { task, value, at }, context) {
    const kind = context.tasks.get(task).kind;
    const key = at === undefined ? (kind === "classes" ? "class" : value.join("-")) : String(at);
    const isSuggested = (context.suggested[task] ?? []).some((item) => item.key === key);
    const shorter = DELETE[kind](doc, task, value, at, context);
    return isSuggested
      ? suggestionChanges["suggestion.reject"](shorter, { task, keys: [key] })
      : shorter;
  },
};

const DELETE = {
  spans: (doc, task, span, _, context) => withSpans(doc, task, without(doc, task, span), context),
  relations: (doc, task, link) => withValue(doc, task, without(doc, task, link)),
  tags: (doc, task, _, at) => withValue(doc, task, doc.values[task].with(at, null)),
  tree: (doc, task, _, at) => withValue(doc, task, doc.values[task].with(at, null)),
  classes: (doc, task) => withValue(doc, task, null),
};

function without(doc, task, value) {
  return doc.values[task].filter((other) => !sameValue(other, value));
}

const replacement = {
  /** Another version of everything, such as one from another device. */
  replace: (_, { doc }) => doc,
};

const CHANGES = {
  ...spanChanges,
  ...wordChanges,
  ...relationChanges,
  ...suggestionChanges,
  ...deletions,
  ...replacement,
};
