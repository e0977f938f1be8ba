// Answers as things to draw: tags, spans, arcs and relations with their colour, state and place.
import { itemsOf, sameWords } from "./answers.js";
import { endsOf } from "./suggestions.js";

export const N_COLOURS = 72;

/** Nothing to draw. */
export function noItems() {
  return { tags: [], spans: [], tree: [], relations: [], classes: [] };
}

/** All answers of one author as things to draw, in one state: "own", "suggested" or "given". */
export function drawAnswers(tasks, values, state) {
  return drawItems(
    tasks,
    (task) => (task.name in values ? itemsOf(task.kind, values[task.name]) : []),
    state,
  );
}

/** Items of each task as things to draw; relations find their ends only in connectRelations. */
export function drawItems(tasks, itemsOfTask, state) {
  const drawn = noItems();
  let row = 0;
  for (const task of tasks) {
    const items = itemsOfTask(task).map((item) => ({
      id: itemId(task.name, item.key),
      task: task.name,
      state,
      confidence: item.confidence ?? null,
      ...DRAW[task.kind](item, task, row),
    }));
    drawn[task.kind].push(...items);
    if (task.kind === "tags") row += 1;
  }
  return drawn;
}

/** Things of several authors or states together. */
export function joinItems(...parts) {
  const joined = noItems();
  for (const kind of Object.keys(joined)) joined[kind] = parts.flatMap((part) => part[kind]);
  return joined;
}

/** The same things, each relation tied to two drawn spans; an end that is not among them is drawn
 *  with the name of its task, since whoever answers relations alone has no spans. */
export function connectRelations(tasks, items) {
  const spans = [...items.spans];
  const relations = items.relations.map((link) => {
    const task = tasks.find(({ name }) => name === link.task);
    const [from, to] = endsOf(link.value).map((words, side) => {
      const end = findEnd(spans, task, link, words, side) ?? bareSpan(task.parent, words);
      if (!spans.includes(end)) spans.push(end);
      return end.id;
    });
    return { ...link, from, to };
  });
  return { ...items, spans, relations };
}

export function itemId(task, key) {
  return `${task}/${key}`;
}

/** Colour of a label, a number of the palette. */
export function colourOf(task, label) {
  const found = task.labels.find(({ name }) => name === label);
  return found ? found.colour % N_COLOURS : null;
}

const DRAW = {
  tags: ({ at, value }, task, row) => ({ at, row, label: value, colour: colourOf(task, value) }),
  spans: ({ value }, task) => ({
    start: value[0],
    end: value[1],
    label: value[2],
    colour: colourOf(task, value[2]),
  }),
  tree: ({ at, value }) => ({ dep: at, head: value[0], label: value[1] }),
  relations: ({ value }) => ({ value, label: value[4] }),
  classes: ({ value }) => ({ label: value }),
};

function bareSpan(task, [start, end]) {
  const id = itemId(task, `${start}-${end}`);
  return { id, task, start, end, label: task, colour: null, state: "given", confidence: null };
}

/** The drawn span at one end of a relation: one whose label fits, if there is one. */
function findEnd(spans, task, link, words, side) {
  const there = spans.filter(
    (span) => span.task === task.parent && sameWords([span.start, span.end], words),
  );
  const fits = (span) => {
    const pairs = task.pairs?.[link.label] ?? [];
    return !pairs.length || pairs.some((pair) => pair[side] === span.label);
  };
  return there.find(fits) ?? there[0];
}
