// Suggestions: what the model proposes, item by item, and what has become of each.
import { itemsOf, overlap, sameValue, sameWords } from "./answers.js";

/** Items of one suggestion: [{key, value, at, confidence, others}]. */
export function suggestedItems(kind, suggestion) {
  if (!suggestion) return [];
  const details = suggestion.details?.items ?? [];
  const isByPlace = kind === "tags" || kind === "tree";
  return itemsOf(kind, suggestion.value).map((item) => {
    const found = isByPlace
      ? details[item.at]
      : kind === "classes"
        ? details[0]
        : details.find((detail) => sameValue(detail.value, item.value));
    const confidence = found?.confidence ?? (kind === "classes" ? suggestion.confidence : null);
    return { ...item, confidence: confidence ?? null, others: found?.others ?? [] };
  });
}

/** State of a suggested item beside a document: "accepted", "edited", "rejected" or "pending". */
export function stateOf(item, task, doc, context) {
  if ((doc.rejected[task.name] ?? []).includes(item.key)) return "rejected";
  return STATES[task.kind](item, task, doc, context);
}

const STATES = {
  spans(item, task, doc) {
    const own = doc.values[task.name];
    if (own.some((span) => sameValue(span, item.value))) return "accepted";
    const stands = task.is_nested ? sameWords : overlap;
    return own.some((span) => stands(span, item.value)) ? "edited" : "pending";
  },
  tags: byPlace,
  tree: byPlace,
  classes(item, task, doc) {
    const own = doc.values[task.name];
    if (own === null) return "pending";
    return own === item.value ? "accepted" : "edited";
  },
  relations(item, task, doc, context) {
    const own = doc.values[task.name];
    if (own.some((link) => sameValue(link, item.value))) return "accepted";
    const ends = item.value.slice(0, 4);
    if (own.some((link) => sameValue(link.slice(0, 4), ends))) return "edited";
    const hasEnds = endsOf(item.value).every((end) => hasSpan(end, task, doc, context));
    return hasEnds ? "pending" : "rejected";
  },
};

function byPlace(item, task, doc) {
  const own = doc.values[task.name][item.at];
  if (own === null) return "pending";
  return sameValue(own, item.value) ? "accepted" : "edited";
}

/** The two spans, [start, end], that a relation links. */
export function endsOf(link) {
  return [link.slice(0, 2), link.slice(2, 4)];
}

/** Whether a span with these words is there: own, given, or still suggested. */
function hasSpan(words, task, doc, context) {
  const parent = context.tasks.get(task.parent);
  const given = [...(doc.values[task.parent] ?? []), ...(context.given[task.parent] ?? [])];
  if (given.some((span) => sameWords(span, words))) return true;
  return pendingItems(parent, doc, context).some((item) => sameWords(item.value, words));
}

/** Suggested items of a task that still wait for a decision. */
export function pendingItems(task, doc, context) {
  if (!(task.name in doc.values)) return [];
  return (context.suggested[task.name] ?? []).filter(
    (item) => stateOf(item, task, doc, context) === "pending",
  );
}

/** How often each thing happened to the suggestions of each task, for the log of a submission. */
export function tallySuggestions(doc, context) {
  const tally = {};
  for (const [name, items] of Object.entries(context.suggested)) {
    const task = context.tasks.get(name);
    if (!items.length || !(name in doc.values)) continue;
    const states = items.map((item) => stateOf(item, task, doc, context));
    const count = (state) => states.filter((other) => other === state).length;
    tally[name] = {
      seen: items.length,
      accepted: count("accepted"),
      edited: count("edited"),
      rejected: count("rejected"),
    };
  }
  return tally;
}
