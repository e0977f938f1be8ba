// Graphs: any number of heads per word, as enhanced dependencies. An answer is a list of
// [dependent, head, label], sorted, with ids as in CoNLL-U: "3" is the third word, "0" the root,
// "3.1" the first empty node behind the third word.
import { register } from "./index.js";
import { collection, without } from "./shapes.js";
import { askLabel } from "../commands/labels.js";
import { letterKeys } from "../input/keys.js";
import { compare, sameValue } from "../model/answers.js";
import { withValue } from "../model/document.js";
import { refuse } from "../model/editor.js";
import { itemId } from "../model/items.js";
import { documentOf, selectedIn, taskOf, wantedTasks, wordsOfFindings } from "../model/state.js";
import { sayLabel } from "../sentence/speech.js";
import { t } from "../words.js";

const NAME = "graph";
const ROOT = "0";

register({
  ...collection,
  name: NAME,
  noun: t("arc"),
  layer: "arcs",

  labelOf: ([, , label]) => label,
  unit: ({ value: [dep, head, label] }) => [isNode(dep) ? dep : dep - 1, isNode(head) ? head : Number(head), label],
  compose: (units) => sortArcs(units.map(([dep, head, label]) => [typeof dep === "number" ? `${dep + 1}` : dep, `${head}`, label])),
  title: unitText,
  unitText,

  check(task, arcs, { tokens }) {
    const headed = new Set(arcs.map(([dep]) => dep));
    const bare = tokens.findIndex((_, i) => !headed.has(`${i + 1}`));
    const hints = arcs.length && bare >= 0 ? [t("‘{word}’ has no head", { word: tokens[bare] })] : [];
    return { own: arcs.length, open: 0, problems: [], hints };
  },

  fate(item, task, doc) {
    const own = doc.values[task.name];
    if (own.some((arc) => sameValue(arc, item.value))) return "accepted";
    return own.some((arc) => sameEnds(arc, item.value)) ? "edited" : "pending";
  },

  changes: {
    "graph.add": (doc, { task, arc }) => withArcs(doc, task, [...doc.values[task], arc]),

    /** Several arcs at once. */
    "graph.addAll": (doc, { task, arcs }) => withArcs(doc, task, [...doc.values[task], ...arcs]),

    "graph.relabel": (doc, { task, arc, label }) =>
      withArcs(doc, task, [...without(doc, task, arc), [arc[0], arc[1], label]]),
  },
  accept: (doc, task, { value }) => withArcs(doc, task, [...doc.values[task], value]),
  remove: (doc, task, { value }) => withValue(doc, task, without(doc, task, value)),
  take: ({ task }, value) => ({ kind: "graph.add", task, arc: value }),

  /** A label changes the selected arc, or is kept for the head that is said next. */
  apply(state, task, label) {
    const item = selectedIn(state, task);
    if (item) {
      const [dep, head] = item.value;
      const action =
        item.state === "own"
          ? { kind: "graph.relabel", task, arc: item.value, label }
          : { kind: "graph.add", task, arc: [dep, head, label] };
      return { action, ui: { task, selected: arcId(task, [dep, head, label]) }, say: label };
    }
    const word = state.sentence.tokens[state.ui.cursor];
    return { ui: { task, armed: { task, label } }, say: t("{label} for {word}: say its head.", { label, word }) };
  },
  usesLabel: () => true,
  choose: (state, { task, ends }, label) => (ends ? added(state, task, [...ends, label]) : null),
  labelAt: "word",
  keys: letterKeys,
  usesDigits: true,

  commands: [
    { id: "graphHead", key: "h", words: t("walk to another head"), run: seekHead, isLocal: true },
    { id: "graphRoot", key: "0", words: t("make it the root"), run: makeRoot, isLocal: true },
    { id: "graphTree", key: "b", words: t("take over the tree"), run: takeTree, isLocal: true },
    { id: "graphNext", key: "n", words: t("next word without a head"), run: nextBare, isLocal: true },
  ],
  /** Where nothing is said yet, Enter takes over the tree. */
  offer(state) {
    const task = graphTask(state);
    if (!task || task.name !== state.ui.task || documentOf(state).values[task.name].length) return null;
    return treeArcs(state).length ? { words: t("Take over the tree"), run: takeTree } : null;
  },
  confirm,
  modeText: ({ dep }, tokens, isFinger) =>
    isFinger
      ? t("Another head of ‘{word}’: tap it.", { word: tokens[dep] })
      : t("Another head of ‘{word}’: go there, then ↵.", { word: tokens[dep] }),
  modeAction: ({ ui, sentence }) =>
    ui.mode.dep === ui.cursor
      ? t("Go to the head")
      : t("Attach to {word}", { word: sentence.tokens[ui.cursor] }),
  modeMarks: ({ dep }) => ({ head: dep }),
  drag: "link",
  clickWord(state, word) {
    if (state.ui.mode?.kind !== "arc") return seekHead(state);
    const { task, dep } = state.ui.mode;
    return dep === word ? attach(state, task, dep, ROOT) : confirm(state);
  },
  link(state, from, to) {
    const { task } = state.ui;
    if (taskOf(state, task)?.kind !== NAME || from.word === undefined || to.word === undefined) return null;
    return attach(state, task, from.word, from.word === to.word ? ROOT : `${to.word + 1}`);
  },
  tools: [{ words: t("Label…"), cap: "Space", run: (state) => askLabel(state) }],

  draw: ({ value: [dep, head, label] }) => drawn(dep, head, label),
  tie: markExtra,
  say: (arc, tokens) => `${endsText(arc.value, tokens)}, ${sayLabel(arc)}`,
  sayOn: (arc, tokens) => sayLabel(arc, ` ${t("of {word}", { word: nodeText(arc.value[1], tokens) })}`),
  describe: ({ value: [dep, head, label] }, tokens) => ({
    from: nodeText(head, tokens),
    to: nodeText(dep, tokens),
    label,
  }),
  optionText: (value, _, tokens) => `${nodeText(value[1], tokens)}, ${value[2]}`,
  labels: { isRadio: false, look: "label-button tree", isColoured: false },
});

function isNode(id) {
  return id.includes(".");
}

/** The word, from 0, of a word's id; of an empty node the one before it. */
function placeOf(id) {
  return Math.max(0, Number.parseInt(id, 10) - 1);
}

function sameEnds(a, b) {
  return a[0] === b[0] && a[1] === b[1];
}

function arcId(task, arc) {
  return itemId(task, arc.join("-"));
}

function compareIds(a, b) {
  const [one, other] = [a, b].map((id) => id.split(".").map(Number));
  return one[0] - other[0] || (one[1] ?? 0) - (other[1] ?? 0);
}

function sortArcs(arcs) {
  return [...arcs].sort((a, b) => compareIds(a[0], b[0]) || compareIds(a[1], b[1]) || compare(a[2], b[2]));
}

function withArcs(doc, task, arcs) {
  const distinct = arcs.filter((arc, i) => arcs.findIndex((other) => sameValue(other, arc)) === i);
  return withValue(doc, task, sortArcs(distinct));
}

/** How an arc is drawn; an empty node stands at the word before it, with its id in the label. */
function drawn(dep, head, label) {
  const [at, above] = [placeOf(dep), head === ROOT ? 0 : placeOf(head) + 1];
  const marks = [isNode(head) ? `${head}→` : "", isNode(dep) ? `→${dep}` : ""];
  return { dep: at, head: above === at + 1 ? 0 : above, label: `${marks[0]}${label}${marks[1]}` };
}

function nodeText(id, tokens) {
  if (id === ROOT) return t("root");
  return isNode(id) ? t("empty node {id}", { id }) : tokens[placeOf(id)];
}

function endsText([dep, head], tokens) {
  return t("{from} to {to}", { from: nodeText(head, tokens), to: nodeText(dep, tokens) });
}

function unitText([dep, head, label], tokens) {
  const [from, to] = [`${head}`, typeof dep === "number" ? `${dep + 1}` : dep];
  return `${nodeText(from, tokens)} → ${nodeText(to, tokens)}, ${label}`;
}

/** The graph that is worked on: the active one, or the first. */
function graphTask(state) {
  const graphs = wantedTasks(state).filter(({ kind }) => kind === NAME);
  return graphs.find(({ name }) => name === state.ui.task) ?? graphs[0] ?? null;
}

/** Keep the word under the cursor as dependent and walk to one more head. */
function seekHead(state) {
  const task = graphTask(state);
  if (!task) return refuse(t("No arcs are asked of this sentence."));
  const { cursor } = state.ui;
  return {
    ui: { task: task.name, mode: { kind: "arc", task: task.name, dep: cursor }, selected: null, anchor: null },
    say: t("Another head of {word}: go there, then Enter.", { word: state.sentence.tokens[cursor] }),
  };
}

function confirm(state) {
  const { mode, cursor } = state.ui;
  if (mode.dep === cursor) return refuse(t("Go to the head first."));
  return attach(state, mode.task, mode.dep, `${cursor + 1}`);
}

function makeRoot(state) {
  const task = graphTask(state);
  if (!task) return refuse(t("No arcs are asked of this sentence."));
  return attach(state, task.name, state.ui.mode?.dep ?? state.ui.cursor, ROOT);
}

/** One more arc: with the armed label, root's own, or one that is asked for. */
function attach(state, name, dep, head) {
  const task = taskOf(state, name);
  const { armed } = state.ui;
  const isRoot = head === ROOT;
  const root = task.labels.find((label) => label.name.toLowerCase() === "root")?.name ?? (task.is_open ? "root" : null);
  const label = armed?.task === name ? armed.label : isRoot ? root : null;
  const ends = [`${dep + 1}`, head];
  if (label) return added(state, name, [...ends, label]);
  return {
    ui: { task: name, mode: null, anchor: null, cursor: dep },
    choose: {
      task: name,
      labels: task.labels.map((other) => other.name),
      isOpen: task.is_open,
      first: treeArcs(state).find((arc) => sameEnds(arc, ends))?.[2] ?? "",
      ends,
    },
  };
}

function added(state, task, arc) {
  return {
    action: { kind: "graph.add", task, arc },
    ui: { task, mode: null, anchor: null, armed: null, cursor: placeOf(arc[0]), selected: arcId(task, arc) },
    say: `${arc[2]}: ${endsText(arc, state.sentence.tokens)}`,
  };
}

/** The arcs of the tree that is answered here or was given. */
function treeArcs(state) {
  const values = { ...state.context.given, ...documentOf(state).values };
  const tree = state.tasks.find(({ name, kind }) => kind === "tree" && values[name]);
  const arcs = tree ? values[tree.name] : [];
  return arcs.flatMap((arc, i) => (arc?.[1] ? [[`${i + 1}`, `${arc[0]}`, arc[1]]] : []));
}

/** Every arc of the tree that no own arc has the ends of. */
function takeTree(state) {
  const task = graphTask(state);
  const arcs = treeArcs(state);
  if (!task || !arcs.length) return refuse(t("There is no tree to take over."));
  const own = documentOf(state).values[task.name];
  const known = new Set(task.labels.map(({ name }) => name));
  const fitting = arcs.filter(([, , label]) => task.is_open || known.has(label));
  const missing = fitting.filter((arc) => !own.some((other) => sameEnds(other, arc)));
  if (!missing.length) return refuse(t("All arcs of the tree are here."));
  return {
    action: { kind: "graph.addAll", task: task.name, arcs: missing },
    ui: { task: task.name, mode: null, selected: null },
    say: t("{n} arcs of the tree", { n: missing.length }),
  };
}

function nextBare(state) {
  const task = graphTask(state);
  if (!task) return refuse(t("No arcs are asked of this sentence."));
  const headed = new Set(documentOf(state).values[task.name].map(([dep]) => placeOf(dep)));
  const bare = state.sentence.tokens.flatMap((_, i) => (headed.has(i) ? [] : [i]));
  const places = bare.length ? bare : wordsOfFindings(state, task.name);
  if (!places.length) return { say: t("Every word has a head.") };
  const cursor = places.find((word) => word > state.ui.cursor) ?? places[0];
  return { ui: { task: task.name, cursor, selected: null, anchor: null, mode: null } };
}

/** The same things, the arcs marked that the tree does not have. */
function markExtra(items, tasks, values = {}) {
  const tree = tasks.find(({ name, kind }) => kind === "tree" && values[name]);
  if (!tree) return items;
  const heads = values[tree.name].map((arc) => (arc ? `${arc[0]}` : null));
  const isExtra = ({ kind, value }) => kind === NAME && heads[value[0] - 1] !== value[1];
  return { ...items, arcs: items.arcs.map((arc) => (isExtra(arc) ? { ...arc, isExtra: true } : arc)) };
}
