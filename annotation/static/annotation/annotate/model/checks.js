// What a task still lacks and what is wrong with it, in plain words, while a person works on it.
import { overlap } from "./answers.js";
import { isAllowed } from "./relations.js";
import { endsOf, pendingItems } from "./suggestions.js";
import { crossingArcs, findCycle, rootsOf } from "./tree_checks.js";

/** Standing of one task: {own, open, toCheck, problems: [{message, at}], hints: [message]}.
 *  own: answers given; open: answers missing before it can be submitted; at: a word to look at. */
export function checkTask(task, doc, context, tokens) {
  const value = doc.values[task.name];
  const standing = CHECKS[task.kind](task, value, { doc, context, tokens });
  return { hints: [], ...standing, toCheck: pendingItems(task, doc, context).length };
}

const CHECKS = {
  spans(task, spans, { tokens }) {
    return { own: spans.length, open: 0, problems: task.is_nested ? [] : overlaps(spans, tokens) };
  },

  tags(task, tags) {
    const open = tags.flatMap((tag, i) => (tag === null ? [i] : []));
    const problems = open.length
      ? [
          {
            message: `${task.name}: ${open.length} of ${tags.length} words have no label.`,
            at: open[0],
          },
        ]
      : [];
    return { own: tags.length - open.length, open: open.length, problems };
  },

  classes(task, label) {
    const isOpen = label === null;
    const problems = isOpen ? [{ message: `${task.name}: choose one.`, at: null }] : [];
    return { own: isOpen ? 0 : 1, open: isOpen ? 1 : 0, problems };
  },

  tree(task, tree, { tokens }) {
    const heads = tree.map((arc) => (arc === null ? null : arc[0]));
    const open = heads.flatMap((head, i) => (head === null ? [i] : []));
    const crossings = crossingArcs(heads);
    return {
      own: heads.length - open.length,
      open: open.length,
      problems: treeProblems(task, tree, heads, open, tokens),
      hints: crossings.length ? [`crossing at ${quote(tokens, crossings[0][1])}`] : [],
    };
  },

  relations(task, links, { doc, context, tokens }) {
    const spans = [...(doc.values[task.parent] ?? []), ...(context.given[task.parent] ?? [])];
    const problems = links
      .filter((link) => !isAllowed(task, link[4], ...endsOf(link), spans))
      .map((link) => ({ message: `${task.name}: ${pairRule(task, link, tokens)}`, at: link[0] }));
    return { own: links.length, open: 0, problems };
  },
};

function overlaps(spans, tokens) {
  return spans.slice(1).flatMap((span, i) =>
    overlap(spans[i], span)
      ? [
          {
            message: `${span[2]} on ${quote(tokens, span[0])} overlaps ${spans[i][2]}.`,
            at: span[0],
          },
        ]
      : [],
  );
}

function treeProblems(task, tree, heads, open, tokens) {
  const problems = [];
  const cycle = findCycle(heads);
  const roots = rootsOf(heads);
  const bare = tree.findIndex((arc) => arc?.[1] === "");
  if (cycle.length) {
    const words = [...cycle, cycle[0]].map((i) => tokens[i]).join(" → ");
    problems.push({ message: `${task.name}: a cycle, ${words}.`, at: cycle[0] });
  }
  if (roots.length > 1) {
    const words = roots.map((i) => quote(tokens, i)).join(" and ");
    problems.push({ message: `${task.name}: one root only, not ${words}.`, at: roots[1] });
  }
  if (bare >= 0) {
    problems.push({
      message: `${task.name}: the arc to ${quote(tokens, bare)} has no label.`,
      at: bare,
    });
  }
  if (open.length) {
    const message = `${task.name}: ${open.length} of ${heads.length} words have no head.`;
    problems.push({ message, at: open[0] });
  } else if (!roots.length) {
    problems.push({ message: `${task.name}: no word is the root.`, at: 0 });
  }
  return problems;
}

function pairRule(task, link, tokens) {
  const pairs = task.pairs[link[4]].map(([source, target]) => `${source} to ${target}`).join("; ");
  const words = endsOf(link)
    .map(([start, end]) => tokens.slice(start, end).join(" "))
    .join(" → ");
  return `${link[4]} on ${words} may link only ${pairs}.`;
}

function quote(tokens, i) {
  return `‘${tokens[i]}’`;
}
