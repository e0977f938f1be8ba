// Suggestions: what the model proposes, item by item, and what has become of each.
import { kindOf } from "../kinds/index.js";
import { isRetired } from "./items.js";

/** Items of one suggestion of a task: [{key, value, at, confidence, others, source}]. */
export function suggestedItems(task, suggestion) {
  if (!suggestion) return [];
  const kind = kindOf(task);
  const details = suggestion.details?.items ?? [];
  const offered = kind.items(suggestion.value).filter(
    ({ value }) => !isRetired(task, kind.labelOf(value)),
  );
  return offered.map((item) => {
    const found = kind.detail(details, item, suggestion);
    const { source } = suggestion;
    const others = (found?.others ?? []).filter(
      ({ value }) => value === null || !isRetired(task, kind.labelOf(value)),
    );
    return { ...item, confidence: found?.confidence ?? null, others, source };
  });
}

/** State of a suggested item beside a document: "accepted", "edited", "rejected" or "pending". */
function stateOf(item, task, doc, context) {
  if ((doc.rejected[task.name] ?? []).includes(item.key)) return "rejected";
  return kindOf(task).fate(item, task, doc, context);
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
      ...(items[0].source && { source: items[0].source }),
    };
  }
  return tally;
}
