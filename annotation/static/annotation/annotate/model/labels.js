// The labels of a task: their prefixes and colours, which are likely here, and how they are found.
import { kindOf } from "../kinds/index.js";
import { wordsOf } from "./items.js";
import { t } from "../words.js";

export const N_COLOURS = 72;
export const MOST_IN_LINE = 12; // labels of a task that are all shown, without a finder
const MOST_COLOURED = 24; // more labels share the colours of their prefixes
const NO_PREFIX = t("no prefix");
const PART = /[^.:=_\s-]+/g; // of a name, and of what is typed
const FIRST = /^.[^.:]*(?=[.:].)/; // part of a name that has more
const N_FAVOURITES = 6; // labels that stay above the tree of the others
const BETWEEN = /[.:=_\s-]+/g; // the parts

const grouped = new WeakMap(); // list of labels -> {n, groups, places}

/** Labels by prefix, in the order of the task: [{prefix, names}]. A prefix is what stands before the
 *  first dot or equals sign, or before the first underscore where two labels share it. */
export function prefixGroups(task) {
  return layoutOf(task).groups;
}

/** A name in two parts: its prefix, dot or underscore included, and the rest. */
export function splitName(task, name) {
  const { prefix } = layoutOf(task).places.get(name) ?? { prefix: "" };
  return name.startsWith(prefix) ? [prefix, name.slice(prefix.length)] : ["", name];
}

/** Colour of a label, a number of the palette, or null where it is none of the task's. */
export function colourOf(task, name) {
  const place =
    layoutOf(task).places.get(name) ?? task.retired?.find((label) => label.name === name);
  return place ? place.colour % N_COLOURS : null;
}

function layoutOf({ labels }) {
  const known = grouped.get(labels);
  if (known?.n === labels.length) return known;
  const made = { n: labels.length, ...group(labels) };
  grouped.set(labels, made);
  return made;
}

function group(labels) {
  const prefixes = prefixesOf(labels.map(({ name }) => name));
  const byPrefix = Map.groupBy(labels, ({ name }) => prefixes.get(name));
  const groups = [...byPrefix].map(([prefix, members]) => ({
    prefix: prefix || NO_PREFIX,
    names: members.map(({ name }) => name),
  }));
  const order = [...byPrefix.keys()];
  const isShared = labels.length > MOST_COLOURED;
  const places = new Map(
    labels.map(({ name, colour }) => {
      const prefix = prefixes.get(name);
      return [name, { prefix, colour: isShared ? order.indexOf(prefix) : colour }];
    }),
  );
  return { groups, places };
}

/** The prefix of every name, "" where it has none. */
function prefixesOf(names) {
  const before = (name, sign) => name.slice(0, name.indexOf(sign, 1) + 1);
  const counts = new Map();
  for (const name of names) {
    const prefix = before(name, "_");
    counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
  }
  return new Map(
    names.map((name) => {
      const dotted = before(name, ".") || before(name, "=");
      const scored = before(name, "_");
      return [name, dotted || (counts.get(scored) > 1 ? scored : "")];
    }),
  );
}

/** How likely the model holds each label: a map from label to the sum of its probabilities, in the
 *  whole sentence or, with a range [start, end), on its words alone. */
export function likelyLabels(state, task, range = null) {
  const kind = kindOf(task);
  const sums = new Map();
  for (const item of state.context.suggested[task.name] ?? []) {
    const words = wordsOf(kind.draw(item, task));
    if (range && words && (words[0] >= range[1] || range[0] >= words[1])) continue;
    for (const { value, confidence } of [item, ...item.others]) {
      if (value === null || confidence === null) continue;
      for (const label of kind.labelsIn(value)) {
        sums.set(label, (sums.get(label) ?? 0) + confidence);
      }
    }
  }
  return sums;
}

/** How often each label was given to the same words in earlier answers: a map, the likeliest first;
 *  of the whole sentence without a range [start, end). */
export function labelledBefore(state, task, range = null) {
  const hints = state.hints?.[task.name];
  if (!range) return new Map(Object.entries(hints?.sentence ?? {}).sort(([, a], [, b]) => b - a));
  const found = hints?.words?.find(([start, end]) => start === range[0] && end === range[1]);
  return new Map(found?.[2]);
}

/** How often labels were used: by this person lately, and by all. */
export class Usage {
  /** counts: {own: {task: {label: n}}, all: {task: {label: n}}}. */
  constructor({ own = {}, all = {} } = {}) {
    this.own = own;
    this.all = all;
  }

  /** Count the labels of answers that were just given, {task: value}. */
  note(tasks, values) {
    for (const task of tasks) {
      if (!(task.name in values)) continue;
      const kind = kindOf(task);
      const counts = (this.own[task.name] ??= {});
      for (const { value } of kind.items(values[task.name])) {
        for (const label of kind.labelsIn(value)) counts[label] = (counts[label] ?? 0) + 1;
      }
    }
  }

  /** Names of the labels that the person gives most. */
  favourites(task) {
    const own = Object.entries(this.own[task.name] ?? {}).sort(([, a], [, b]) => b - a);
    return own.slice(0, N_FAVOURITES).map(([name]) => name);
  }

  /** Names of a task's labels, the most used first. */
  ranked(task) {
    const of = (counts, name) => counts[task.name]?.[name] ?? 0;
    return task.labels
      .map(({ name }) => name)
      .sort((a, b) => of(this.own, b) - of(this.own, a) || of(this.all, b) - of(this.all, a));
  }
}

/** Places in a name that what is typed matches, [[start, end]], or null: every typed part must begin
 *  a part of the name, in order. */
export function matchName(name, typed) {
  const parts = [...name.toLowerCase().matchAll(PART)].map(({ index }) => index);
  const hits = [];
  let from = 0;
  for (const [part] of typed.toLowerCase().matchAll(PART)) {
    const at = parts.find((start) => start >= from && name.toLowerCase().startsWith(part, start));
    if (at === undefined) return null;
    hits.push([at, at + part.length]);
    from = at + part.length;
  }
  return hits;
}

/** Names in the order of their first parts: [{branch, leaves}], the branch "" where no other name
 *  has that part; fromloc.city and fromloc.state are leaves of "fromloc". */
export function branchesOf(names) {
  const branches = new Map();
  for (const name of names) {
    const branch = name.match(FIRST)?.[0] ?? name;
    branches.set(branch, [...(branches.get(branch) ?? []), name]);
  }
  return [...branches].map(([branch, leaves]) => ({ branch: leaves.length > 1 ? branch : "", leaves }));
}

/** Names that fit what is typed, in their given order but for a name that is typed as a whole. */
export function matchNames(names, typed) {
  const folded = (text) => text.trim().toLowerCase().replaceAll(BETWEEN, " ");
  const whole = folded(typed);
  const rank = (name) => (name === typed.trim() ? 0 : folded(name) === whole ? 1 : 2);
  return names.filter((name) => matchName(name, typed)).sort((a, b) => rank(a) - rank(b));
}
