// Changes to a spans answer, and to the relations that hang on its spans.
import { overlap, sameValue, sameWords, sortRelations, sortSpans } from "./answers.js";
import { endsOf, pendingItems } from "./suggestions.js";

export const spanChanges = {
  /** A span over [start, end); where the task is flat, it takes the place of what it overlaps. */
  "span.add"(doc, { task, start, end, label }, context) {
    const added = [start, end, label];
    const clashes = context.tasks.get(task).is_nested ? sameWords : overlap;
    const kept = doc.values[task].filter((span) => !clashes(span, added));
    return withSpans(doc, task, [...kept, added], context);
  },

  "span.relabel"(doc, { task, span, label }, context) {
    return replaceSpan(doc, task, span, [span[0], span[1], label], context);
  },

  /** Other words for the same span; its relations come along. */
  "span.resize"(doc, { task, span, start, end }, context) {
    const resized = [start, end, span[2]];
    const moved = moveRelations(doc, task, span, resized, context);
    return replaceSpan(moved, task, span, resized, context);
  },
};

function replaceSpan(doc, task, old, replacement, context) {
  const others = doc.values[task].filter((span) => !sameValue(span, old));
  const clashes = context.tasks.get(task).is_nested ? sameValue : overlap;
  const kept = others.filter((span) => !clashes(span, replacement));
  return withSpans(doc, task, [...kept, replacement], context);
}

/** The document with these spans; relations whose ends are gone go too. */
export function withSpans(doc, task, spans, context) {
  const values = { ...doc.values, [task]: sortSpans(spans) };
  const given = context.given[task] ?? [];
  const stands = (end) => [...spans, ...given].some((span) => sameWords(span, end));
  for (const child of childrenOf(task, context)) {
    if (!(child in values)) continue;
    values[child] = values[child].filter((link) => endsOf(link).every(stands));
  }
  return { ...doc, values };
}

/** The document in which suggested spans with these words are own spans. */
export function acceptSpansAt(doc, task, wordsList, context) {
  const needed = pendingItems(task, doc, context).filter(({ value }) =>
    wordsList.some((words) => sameWords(words, value)),
  );
  if (!needed.length) return doc;
  const spans = [...doc.values[task.name], ...needed.map(({ value }) => value)];
  return withSpans(doc, task.name, spans, context);
}

function moveRelations(doc, task, from, to, context) {
  const isAlone = doc.values[task].filter((span) => sameWords(span, from)).length === 1;
  if (!isAlone) return doc;
  const values = { ...doc.values };
  for (const child of childrenOf(task, context)) {
    if (!(child in values)) continue;
    const moved = values[child].map((link) => {
      const ends = endsOf(link).map((end) => (sameWords(end, from) ? to.slice(0, 2) : end));
      return [...ends.flat(), link[4]];
    });
    values[child] = sortRelations(moved);
  }
  return { ...doc, values };
}

function childrenOf(parent, context) {
  return [...context.tasks.values()]
    .filter((task) => task.parent === parent)
    .map((task) => task.name);
}
