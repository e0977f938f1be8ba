// Relations: labelled links from one span of a parent task to another, or to one of a second parent.
// An answer is a list of [start, end, start, end, label], sorted; a task may allow a label only
// between certain types. The sides of a link are 0, where it begins, and 1, where it ends.
import { kindOf, register } from "./index.js";
import { collection, without } from "./shapes.js";
import { askLabel } from "../commands/labels.js";
import { letterKeys } from "../input/keys.js";
import { compare, sameValue, sameWords } from "../model/answers.js";
import { withValue } from "../model/document.js";
import { refuse } from "../model/editor.js";
import { isOn, itemId } from "../model/items.js";
import { documentOf, findItem, itemsIn, selectedIn, taskOf, wantedTasks } from "../model/state.js";
import { pendingItems } from "../model/suggestions.js";
import { sayLabel, spanText } from "../sentence/speech.js";
import { t } from "../words.js";

const NAME = "relations";

register({
  ...collection,
  name: NAME,
  noun: t("relation"),
  layer: "links",

  labelOf: (link) => link[4],
  title: unitText,
  unitText,

  check(task, links, { doc, context, tokens }) {
    const spans = parentsOf(task).map((name) => [...(doc.values[name] ?? []), ...(context.given[name] ?? [])]);
    const problems = links.flatMap((link) => {
      const message = isAllowed(task, link[4], ...endsOf(link), spans)
        ? windowRule(task, ...endsOf(link), context)
        : pairRule(task, link, tokens);
      return message ? [{ message: `${task.name}: ${message}`, at: link[0] }] : [];
    });
    return { own: links.length, open: 0, problems };
  },

  fate(item, task, doc, context) {
    const own = doc.values[task.name];
    if (own.some((link) => sameValue(link, item.value))) return "accepted";
    const ends = item.value.slice(0, 4);
    if (own.some((link) => sameValue(link.slice(0, 4), ends))) return "edited";
    const hasEnds = endsOf(item.value).every((end, side) =>
      hasSpan(end, parentsOf(task)[side], doc, context),
    );
    return hasEnds ? "pending" : "rejected";
  },

  changes: {
    /** A link between two spans; where an end is only suggested, it is accepted with it. */
    "relation.add": addRelation,

    "relation.relabel"(doc, { task, link, label }) {
      return replace(doc, task, link, [...link.slice(0, 4), label]);
    },

    "relation.reverse"(doc, { task, link }) {
      return replace(doc, task, link, [...link.slice(2, 4), ...link.slice(0, 2), link[4]]);
    },
  },
  accept: (doc, task, { value }, context) => addRelation(doc, adding(task, value), context),
  remove: (doc, task, { value }) => withValue(doc, task, without(doc, task, value)),
  take: ({ task }, value) => adding(task, value),

  /** The relations whose ends stand; ends are [start, end], and only those in the parent count. */
  keepEnds: (links, stands, task, parent) =>
    links.filter((link) =>
      endsOf(link).every((end, side) => parentsOf(task)[side] !== parent || stands(end)),
    ),

  /** The relations after a span of a parent took other words. */
  moveEnds(links, from, to, task, parent) {
    const isMoved = (end, side) => parentsOf(task)[side] === parent && sameWords(end, from);
    const moved = links.map((link) => {
      const ends = endsOf(link).map((end, side) => (isMoved(end, side) ? to.slice(0, 2) : end));
      return [...ends.flat(), link[4]];
    });
    return sortRelations(moved);
  },

  apply(state, task, label) {
    if (isLinking(state)) return linkTo(state, label);
    const item = selectedIn(state, task);
    if (item) return relabel(state, item, label);
    return { ui: { task, armed: { task, label } }, say: t("{label}: drag from span to span.", { label }) };
  },
  usesLabel: isLinking,
  choose: (state, { task, from, to }, label) =>
    from ? link(state, task, from, to, label) : null,
  keys: (label) => letterKeys(label).map((letter) => letter.toUpperCase()),

  commands: [
    { id: "relate", key: "r", words: t("relation from this span"), run: start },
    { id: "reverse", key: "R", words: t("reverse a relation"), run: reverse },
  ],
  confirm,
  modeText({ from }, tokens, isFinger) {
    const words = tokens.slice(...from).join(" ");
    return isFinger
      ? t("Relation from ‘{words}’: tap the other span.", { words })
      : t("Relation from ‘{words}’: go to the other span, then ↵.", { words });
  },
  modeAction: () => t("Link to this span"),
  modeMarks: ({ from }) => ({ range: from }),
  drag: "link",
  clickWord(state, word) {
    if (isLinking(state)) return confirm(state);
    return spanAt(state, word, null) ? start(state) : null;
  },
  clickItem(state, item) {
    if (!isSpan(item)) return null;
    const ui = { selected: item.id, cursor: item.start };
    const there = { ...state, ui: { ...state.ui, ...ui } };
    const outcome = isLinking(state) ? confirm(there) : start(there);
    return { ...outcome, ui: { ...ui, ...outcome.ui } };
  },
  link: linkDragged,
  tools: [
    { words: t("Reverse"), command: "reverse", run: reverse },
    { words: t("Label…"), cap: "Space", run: (state) => askLabel(state) },
  ],

  filterText: t("Relations"),
  draw: ({ value }) => ({ ends: endsOf(value), label: value[4] }),
  tie: tieEnds,
  say: sayRelation,
  describe({ ends, label }, tokens) {
    const [from, to] = ends.map(([start, end]) => spanText(tokens, { start, end }));
    return { from, to, label };
  },
  optionText: (value) => value[4],
  labels: { isRadio: false, look: "label-button relation", isColoured: false },
});

/** The two spans, [start, end], that a relation links. */
function endsOf(link) {
  return [link.slice(0, 2), link.slice(2, 4)];
}

/** The tasks whose spans a link begins and ends in. */
function parentsOf(task) {
  return [task.parent, task.second_parent ?? task.parent];
}

function hasTwoParents(task) {
  return Boolean(task.second_parent);
}

/** Whether a drawn thing is a span that others hang on. */
function isSpan(item) {
  return Boolean(item && kindOf(item).isAnchor);
}

function adding(task, link) {
  const [from, to] = endsOf(link);
  return { kind: "relation.add", task, from, to, label: link[4] };
}

function addRelation(doc, { task, from, to, label }, context) {
  const parents = parentsOf(context.tasks.get(task)).map((name) => context.tasks.get(name));
  const ready = [from, to].reduce(
    (next, end, side) => kindOf(parents[side]).acceptAt(next, parents[side], [end], context),
    doc,
  );
  return withRelations(ready, task, [...ready.values[task], [...from, ...to, label]]);
}

function replace(doc, task, old, replacement) {
  return withRelations(doc, task, [...without(doc, task, old), replacement]);
}

function withRelations(doc, task, links) {
  const distinct = links.filter((link, i) => links.findIndex((l) => sameValue(l, link)) === i);
  return withValue(doc, task, sortRelations(distinct));
}

function sortRelations(relations) {
  return [...relations].sort((a, b) => {
    for (let i = 0; i < 4; i++) if (a[i] !== b[i]) return a[i] - b[i];
    return compare(a[4], b[4]);
  });
}

/** Labels that a relations task allows from one span, [start, end], to another. */
function allowedLabels(task, from, to, spans) {
  if (sameWords(from, to) && !hasTwoParents(task)) return [];
  return task.labels
    .map((label) => label.name)
    .filter((name) => isAllowed(task, name, from, to, spans));
}

/** Whether a label may link two spans, given the spans of both sides. */
function isAllowed(task, name, from, to, spans) {
  const pairs = task.pairs?.[name];
  if (!pairs?.length) return true;
  const [sources, targets] = [from, to].map((words, side) =>
    spans[side].filter((span) => sameWords(span, words)).map((span) => span.at(-1)),
  );
  return pairs.some(([source, target]) => sources.includes(source) && targets.includes(target));
}

/** Whether a span with these words is there: own, given, or still suggested. */
function hasSpan(words, parent, doc, context) {
  const given = [...(doc.values[parent] ?? []), ...(context.given[parent] ?? [])];
  if (given.some((span) => sameWords(span, words))) return true;
  const waiting = pendingItems(context.tasks.get(parent), doc, context);
  return waiting.some((item) => sameWords(item.value, words));
}

/** Why a document's link may not join two spans, null where it may: they stand too far apart. */
function windowRule(task, from, to, { starts }) {
  if (!task.is_document || starts.length < 2) return null;
  const [first, second] = [from, to].map(([word]) => starts.findLastIndex((start) => start <= word));
  const n = Math.abs(second - first) + 1;
  if (n <= task.window) return null;
  return t("These spans lie {n} sentences apart, at most {window} may be linked.", { n, window: task.window });
}

function pairRule(task, link, tokens) {
  const pairs = task.pairs[link[4]].map(([source, target]) => t("{from} to {to}", { from: source, to: target })).join("; ");
  const words = endsOf(link)
    .map(([start, end]) => tokens.slice(start, end).join(" "))
    .join(" → ");
  return t("{label} on {words} may link only {pairs}.", { label: link[4], words, pairs });
}

function isLinking({ ui }) {
  return ui.mode?.kind === "relation";
}

/** Start a relation at the selected span, or at the innermost span under the cursor. Where links of
 *  that span can only end, the other span that is chosen is where the link begins. */
function start(state) {
  const span = spanHere(state, null);
  if (!span) return refuse(t("No span here: put the cursor on one."));
  const task = relationTask(state, span.task);
  if (!task) return refuse(t("No relations hang on {task} here.", { task: span.task }));
  const side = task.parent === span.task ? 0 : 1;
  return {
    ui: {
      task: task.name,
      mode: { kind: "relation", task: task.name, from: wordsOf(span), side },
      selected: null,
    },
    say: t("Relation from {words}: go to the other span.", { words: textOf(state, wordsOf(span)) }),
  };
}

/** End the relation at the span under the cursor; the label is asked for where several fit. */
function confirm(state) {
  const { mode } = state.ui;
  const target = targetOf(state);
  if (!target) return refuse(t("No other span here."));
  return relate(state, mode.task, ...inDirection(mode, target));
}

/** The two ends of a link in a mode, in its direction. */
function inDirection({ from, side }, target) {
  return side ? [wordsOf(target), from] : [from, wordsOf(target)];
}

/** Link two spans by the armed label, by the only label that fits, or by one that is asked for. */
function relate(state, name, from, to) {
  const task = taskOf(state, name);
  const tooFar = windowRule(task, from, to, state.context);
  if (tooFar) return refuse(tooFar);
  const labels = allowedLabels(task, from, to, spansFor(state, task));
  if (!labels.length && !task.is_open) return refuse(nothingFits(state, task, from, to));
  const armed = state.ui.armed?.task === name ? state.ui.armed.label : null;
  const label = labels.includes(armed)
    ? armed
    : labels.length === 1 && !task.is_open
      ? labels[0]
      : null;
  if (label) return added(state, task, from, to, label);
  return { choose: { task: name, labels, isOpen: task.is_open, from, to } };
}

/** Link with a label from its key. */
function linkTo(state, label) {
  const { mode } = state.ui;
  const target = targetOf(state);
  if (!target) return refuse(t("No other span here."));
  return link(state, mode.task, ...inDirection(mode, target), label);
}

function link(state, name, from, to, label) {
  const task = taskOf(state, name);
  return refusal(state, task, from, to, label) ?? added(state, task, from, to, label);
}

function relabel(state, item, label) {
  const [from, to] = item.ends;
  const refused = refusal(state, taskOf(state, item.task), from, to, label);
  if (refused) return refused;
  const action =
    item.state === "own"
      ? { kind: "relation.relabel", task: item.task, link: item.value, label }
      : { kind: "relation.add", task: item.task, from, to, label };
  return { action, ui: { selected: relationId(item.task, from, to, label) }, say: label };
}

/** Turn the selected relation round. */
function reverse(state) {
  const item = findItem(state, state.ui.selected);
  if (item?.kind !== NAME || item.state !== "own") return refuse(t("Select a relation first."));
  const [from, to] = item.ends;
  if (hasTwoParents(taskOf(state, item.task))) {
    return refuse(t("{task} links spans of two tasks, in one direction.", { task: item.task }));
  }
  const refused = refusal(state, taskOf(state, item.task), to, from, item.label);
  if (refused) return refused;
  return {
    action: { kind: "relation.reverse", task: item.task, link: item.value },
    ui: { selected: relationId(item.task, to, from, item.label) },
    say: t("Reversed: {from} to {to}", { from: textOf(state, to), to: textOf(state, from) }),
  };
}

/** What a drag from span to span, or from word to word inside them, links. */
function linkDragged(state, from, to) {
  const [source, target] = [from, to].map((end) => spanOf(state, end));
  if (!source || !target || source.id === target.id) return {};
  const task = relationTask(state, source.task, target.task);
  if (!task) return { warn: t("No relation links these two.") };
  const side = task.parent === source.task ? 0 : 1;
  const ends = inDirection({ from: wordsOf(source), side }, target);
  const outcome = relate(state, task.name, ...ends);
  return { ...outcome, ui: { cursor: target.start, selected: target.id, ...outcome.ui } };
}

function refusal(state, task, from, to, label) {
  const tooFar = windowRule(task, from, to, state.context);
  if (tooFar) return refuse(tooFar);
  if (isAllowed(task, label, from, to, spansFor(state, task))) return null;
  return refuse(t("{label} may not link {from} to {to}.", { label, from: textOf(state, from), to: textOf(state, to) }));
}

/** The relations task for spans of a task, or of two: the active one if it fits, else the first. */
function relationTask(state, one, other = null) {
  const fits = (task) => {
    const parents = parentsOf(task);
    return [parents, parents.toReversed()].some(
      ([first, second]) => first === one && (other === null || second === other),
    );
  };
  const fitting = wantedTasks(state).filter((task) => task.kind === NAME && fits(task));
  return fitting.find((task) => task.name === state.ui.task) ?? fitting[0] ?? null;
}

/** The selected span, or the innermost span under the cursor, of a task or of any. */
function spanHere(state, task) {
  const item = findItem(state, state.ui.selected);
  if (isSpan(item) && (task === null || item.task === task)) return item;
  return spanAt(state, state.ui.cursor, task);
}

function spanAt(state, word, task) {
  const covering = itemsIn(state).rails.filter(
    (span) => isSpan(span) && isOn(span, word) && (task === null || span.task === task),
  );
  return covering.sort((a, b) => a.end - a.start - (b.end - b.start))[0] ?? null;
}

function spanOf(state, { item, word }) {
  if (word !== undefined) return spanAt(state, word, null);
  const found = findItem(state, item);
  return isSpan(found) ? found : null;
}

function targetOf(state) {
  const { task: name, from, side } = state.ui.mode;
  const task = taskOf(state, name);
  const parent = parentsOf(task)[1 - side];
  const isOther = (span) => span && (hasTwoParents(task) || wordsOf(span).join() !== from.join());
  const here = spanHere(state, parent);
  if (isOther(here)) return here;
  const { cursor } = state.ui;
  return (
    itemsIn(state).rails.find(
      (span) => span.task === parent && isOn(span, cursor) && isOther(span),
    ) ?? null
  );
}

function added(state, task, from, to, label) {
  return {
    action: { kind: "relation.add", task: task.name, from, to, label },
    ui: { task: task.name, mode: null, selected: relationId(task.name, from, to, label) },
    say: t("{label}: {from} to {to}", { label, from: textOf(state, from), to: textOf(state, to) }),
  };
}

/** Spans of both sides whose labels decide which relations fit: own, given, and still suggested. */
function spansFor(state, task) {
  return parentsOf(task).map((parent) => {
    const own = documentOf(state).values[parent] ?? [];
    const given = state.context.given[parent] ?? [];
    const guessed = (state.context.suggested[parent] ?? []).map(({ value }) => value);
    return [...own, ...given, ...guessed];
  });
}

function nothingFits(state, task, from, to) {
  return t("{task}: no label may link {from} to {to}.", { task: task.name, from: textOf(state, from), to: textOf(state, to) });
}

function relationId(task, from, to, label) {
  return itemId(task, [...from, ...to, label].join("-"));
}

function wordsOf(span) {
  return [span.start, span.end];
}

function textOf(state, [start, end]) {
  return state.sentence.tokens.slice(start, end).join(" ");
}

/** The same things, each relation tied to two drawn spans; an end that is not among them is drawn
 *  with the name of its task, since whoever answers relations alone has no spans. */
function tieEnds(items, tasks) {
  const rails = [...items.rails];
  const links = items.links.map((item) => {
    if (item.kind !== NAME) return item;
    const task = tasks.find(({ name }) => name === item.task);
    const [from, to] = item.ends.map((words, side) => {
      const parent = parentsOf(task)[side];
      const end = findEnd(rails, task, item, words, side) ?? bareSpan(tasks, parent, words);
      if (!rails.includes(end)) rails.push(end);
      return end.id;
    });
    return { ...item, from, to };
  });
  return { ...items, rails, links };
}

function bareSpan(tasks, name, [start, end]) {
  const kind = tasks.find((task) => task.name === name)?.kind ?? "spans";
  const look = { label: name, colour: null, state: "given", confidence: null };
  return { id: itemId(name, `${start}-${end}`), task: name, kind, start, end, ...look };
}

/** The drawn span at one end of a relation: one whose label fits, if there is one. */
function findEnd(spans, task, link, words, side) {
  const there = spans.filter(
    (span) => span.task === parentsOf(task)[side] && sameWords([span.start, span.end], words),
  );
  const fits = (span) => {
    const pairs = task.pairs?.[link.label] ?? [];
    return !pairs.length || pairs.some((pair) => pair[side] === span.label);
  };
  return there.find(fits) ?? there[0];
}

function sayRelation(item, tokens, { rails }) {
  const text = (id) =>
    spanText(
      tokens,
      rails.find((span) => span.id === id),
    );
  return `${t("{from} to {to}", { from: text(item.from), to: text(item.to) })}, ${sayLabel(item)}`;
}

function unitText(link, tokens) {
  const [from, to] = endsOf(link).map(([start, end]) => spanText(tokens, { start, end }));
  return `${from} → ${to}, ${link[4]}`;
}
