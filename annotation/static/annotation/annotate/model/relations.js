// Changes to a relations answer, and which relations a task allows.
import { sameValue, sameWords, sortRelations } from "./answers.js";
import { acceptSpansAt } from "./spans.js";
import { withValue } from "./words.js";

export const relationChanges = {
  /** A link between two spans; where an end is only suggested, it is accepted with it. */
  "relation.add"(doc, { task, from, to, label }, context) {
    const parent = context.tasks.get(context.tasks.get(task).parent);
    const ready = acceptSpansAt(doc, parent, [from, to], context);
    return withRelations(ready, task, [...ready.values[task], [...from, ...to, label]]);
  },

  "relation.relabel"(doc, { task, link, label }) {
    return replace(doc, task, link, [...link.slice(0, 4), label]);
  },

  "relation.reverse"(doc, { task, link }) {
    return replace(doc, task, link, [...link.slice(2, 4), ...link.slice(0, 2), link[4]]);
  },
};

function replace(doc, task, old, replacement) {
  const kept = doc.values[task].filter((link) => !sameValue(link, old));
  return withRelations(doc, task, [...kept, replacement]);
}

function withRelations(doc, task, links) {
  const distinct = links.filter((link, i) => links.findIndex((l) => sameValue(l, link)) === i);
  return withValue(doc, task, sortRelations(distinct));
}

/** Labels that a relations task allows from one span, [start, end], to another. */
export function allowedLabels(task, from, to, spans) {
  if (sameWords(from, to)) return [];
  return task.labels
    .map((label) => label.name)
    .filter((name) => isAllowed(task, name, from, to, spans));
}

/** Whether a label may link two spans, given the labels that those spans have. */
export function isAllowed(task, name, from, to, spans) {
  const pairs = task.pairs?.[name];
  if (!pairs?.length) return true;
  const typesOf = (words) => spans.filter((span) => sameWords(span, words)).map((span) => span[2]);
  const [sources, targets] = [typesOf(from), typesOf(to)];
  return pairs.some(([source, target]) => sources.includes(source) && targets.includes(target));
}
