// Answers as things to draw, by layer: chips on words, rails under spans, arcs, links, badges.
import { allKinds, kindOf } from "../kinds/index.js";

/** Nothing to draw. */
export function noItems() {
  return { chips: [], rails: [], arcs: [], links: [], badges: [] };
}

/** All answers of one author as things to draw, in one state: "own", "suggested" or "given". */
export function drawAnswers(tasks, values, state) {
  return drawItems(
    tasks,
    (task) => (task.name in values ? kindOf(task).items(values[task.name]) : []),
    state,
  );
}

/** Whether a label is no longer offered: old answers keep it. */
export function isRetired(task, name) {
  return Boolean(task.retired?.some((label) => label.name === name));
}

/** Items of each task as things to draw; those that hang on others find them only in tieItems. */
export function drawItems(tasks, itemsOfTask, state) {
  const drawn = noItems();
  let row = 0;
  for (const task of tasks) {
    const kind = kindOf(task);
    const items = itemsOfTask(task).map((item) => ({
      id: itemId(task.name, item.key),
      task: task.name,
      kind: task.kind,
      state,
      value: item.value,
      confidence: item.confidence ?? null,
      isRetired: isRetired(task, kind.labelOf(item.value)),
      ...kind.draw(item, task),
      ...(kind.layer === "chips" ? { row } : {}),
    }));
    drawn[kind.layer].push(...items);
    if (kind.layer === "chips") row += 1;
  }
  return drawn;
}

/** Things of several authors or states together. */
export function joinItems(...parts) {
  const joined = noItems();
  for (const layer of Object.keys(joined)) joined[layer] = parts.flatMap((part) => part[layer]);
  return joined;
}

/** The same things, those that hang on others tied to them; values: the answers, as far as known. */
export function tieItems(tasks, items, values = {}) {
  return allKinds().reduce((tied, kind) => kind.tie(tied, tasks, values), items);
}

export function itemId(task, key) {
  return `${task}/${key}`;
}

/** The key of a drawn thing within its task. */
export function keyOf({ id, task }) {
  return id.slice(task.length + 1);
}

/** Words of a drawn thing, [start, end), or null where it is about the whole sentence. */
export function wordsOf({ at, start, end, dep, ends }) {
  const word = at ?? dep ?? ends?.[0][0];
  if (word !== undefined) return [word, word + 1];
  return start === undefined ? null : [start, end];
}

/** Whether a drawn thing is on a word. */
export function isOn(item, word) {
  const words = wordsOf(item);
  const parts = item.pieces ?? [words];
  return words !== null && parts.some(([start, end]) => start <= word && word < end);
}

/** Things on a word, the smallest first. */
export function itemsOn(items, word) {
  const size = (item) => wordsOf(item)[1] - wordsOf(item)[0];
  return items.filter((item) => isOn(item, word)).sort((a, b) => size(a) - size(b));
}

/** Things to draw of one answer, with `differs` on all that the other answer does not say. */
export function drawAgainst(tasks, values, others) {
  const drawn = drawAnswers(tasks, values, "own");
  const compared = drawAnswers(tasks, others, "own");
  const isShared = (task) => task in values && task in others;
  for (const layer of Object.keys(drawn)) {
    const known = new Set(compared[layer].map(signature));
    drawn[layer] = drawn[layer].map((item) => ({
      ...item,
      differs: isShared(item.task) && !known.has(signature(item)),
    }));
  }
  return drawn;
}

function signature({ id, value }) {
  return JSON.stringify([id, value]);
}

/** Words to underline in one answer: those whose arc differs, and those on which only the other
 *  answer has a span, since nothing else shows that it is missing. */
export function differingWords(drawn, other) {
  const words = new Set();
  for (const { differs, dep } of drawn.arcs) if (differs) words.add(dep);
  for (const i of differingRails(other)) words.add(i);
  for (const i of differingRails(drawn)) words.delete(i);
  return words;
}

function differingRails({ rails }) {
  const words = new Set();
  for (const { differs, start, end, pieces = [[start, end]] } of rails) {
    if (!differs) continue;
    for (const [from, to] of pieces) for (let i = from; i < to; i++) words.add(i);
  }
  return words;
}
