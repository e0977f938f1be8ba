// Trees: a head and a label per word. An answer is a list of [head, label], head 0 for the root and
// else the head's number from 1; null while a word has no head, "" while its arc has no label.
import { register } from "./index.js";
import { inOrder, perWord, toCheckText } from "./shapes.js";
import { askLabel } from "../commands/labels.js";
import { goToSuggestion } from "../commands/navigation.js";
import { letterKeys } from "../input/keys.js";
import { withValue } from "../model/document.js";
import { refuse } from "../model/editor.js";
import { itemId } from "../model/items.js";
import {
  askedWords,
  documentOf,
  isAsked,
  itemsIn,
  selectedIn,
  taskOf,
  wantedTasks,
  wordsOfFindings,
} from "../model/state.js";
import { sayLabel } from "../sentence/speech.js";
import { t } from "../words.js";

const NAME = "tree";
const MOST_PROPOSED = 4; // heads of a word
const SIGN = /^[\p{P}\p{S}]+$/u; // is nobody's head, unless somebody said so

register({
  ...perWord,
  name: NAME,
  noun: t("arc"),
  layer: "arcs",

  labelOf: ([, label]) => label,
  unitText([dep, head, label], tokens) {
    return head === 0 ? `${t("root")}, ${label}` : `${tokens[head - 1]} → ${tokens[dep]}, ${label}`;
  },
  compose: (units) => inOrder(units).map(([, ...arc]) => arc),

  check(task, tree, { tokens, asked }) {
    const heads = headsOf(tree);
    const open = openIn(tree, asked);
    const roots = rootsOf(heads);
    const cycle = findCycle(heads);
    const crossings = crossingArcs(heads);
    return {
      own: asked.length - open.length,
      open: open.length,
      problems: problemsOf(task, tree, { open, roots, cycle, tokens, asked }),
      hints: crossings.length ? [t("crossing at ‘{word}’", { word: tokens[crossings[0][1]] })] : [],
      nRoots: roots.length,
      isPart: asked.length < tree.length,
      hasCycle: cycle.length > 0,
    };
  },
  progress: ({ own, open, toCheck, nRoots, isPart, hasCycle, hints }) => [
    ...(isPart && nRoots < 2 ? [] : [rootText(nRoots), " · "]),
    hasCycle ? { look: "bad", text: t("a cycle") } : { look: "good", text: t("✓ no cycle") },
    ...hints.flatMap((text) => [" · ", { look: "todo", text }]),
    ` · ${t("{n} of {all}", { n: own, all: own + open })}`,
    ...toCheckText(toCheck),
  ],
  brief: ({ own, open, toCheck, hasCycle }) => [
    ...(hasCycle ? [{ look: "bad", text: t("a cycle") }, " · "] : []),
    t("{n} of {all}", { n: own, all: own + open }),
    ...toCheckText(toCheck),
  ],

  changes: {
    /** Hang word dep (from 0) on head (0 = root, else from 1); a new root takes the old one's place. */
    "tree.attach"(doc, { task, dep, head, label }) {
      const others = doc.values[task].map((arc) => (head === 0 && arc?.[0] === 0 ? null : arc));
      return withValue(doc, task, others.with(dep, [head, label]));
    },
  },
  take: ({ task, dep }, [head, label]) => ({ kind: "tree.attach", task, dep, head, label }),

  /** A label changes the arc of the word, or is kept for the head that is said next. */
  apply(state, task, label) {
    const arc = selectedIn(state, task) ?? ownArc(state, task, state.ui.cursor);
    const words = state.sentence.tokens;
    if (!isAsked(state, task, arc?.dep ?? state.ui.cursor)) return notAsked(state, state.ui.cursor);
    if (!arc) {
      return {
        ui: { task, armed: { task, label } },
        say: t("{label} for {word}: say its head.", { label, word: words[state.ui.cursor] }),
      };
    }
    return {
      action: { kind: "tree.attach", task, dep: arc.dep, head: arc.head, label },
      ui: { task, selected: arc.id },
      say: t("{label} on {words}", { label, words: words[arc.dep] }),
    };
  },
  usesLabel: () => true,
  choose: (state, { task, dep }, label) => (dep === undefined ? null : relabel(state, task, dep, label)),
  labelAt: "word",
  keys: letterKeys,
  usesDigits: true,

  commands: [
    ...Array.from({ length: MOST_PROPOSED }, (_, i) => ({
      id: `head${i + 1}`,
      key: String(i + 1),
      words: t("take head {n} of those proposed", { n: i + 1 }),
      run: (state) => takeProposal(state, i),
      isLocal: true,
    })),
    { id: "root", key: "0", words: t("make it the root"), run: makeRoot, isLocal: true },
    { id: "head", key: "h", words: t("walk to another head"), run: seekHead, isLocal: true },
    { id: "nextProblem", key: "n", words: t("next problem or open word"), run: nextProblem, isLocal: true },
  ],
  offer,
  propose,
  confirm: confirmHead,
  modeText: ({ dep }, tokens, isFinger) =>
    isFinger
      ? t("Head of ‘{word}’: tap it; the word itself makes it the root.", { word: tokens[dep] })
      : t("Head of ‘{word}’: go there, then ↵.", { word: tokens[dep] }),
  modeAction: ({ ui, sentence }) =>
    ui.mode.dep === ui.cursor
      ? t("Go to the head")
      : t("Attach to {word}", { word: sentence.tokens[ui.cursor] }),
  modeMarks: ({ dep }) => ({ head: dep }),
  wordMarks: openWords,
  drag: "link",
  clickWord(state, word) {
    if (!isSeeking(state)) return seekHead(state);
    const { task, dep } = state.ui.mode;
    return dep === word ? attachRoot(state, task, dep) : confirmHead(state);
  },
  link(state, from, to) {
    const { task } = state.ui;
    const isTree = taskOf(state, task)?.kind === NAME;
    if (!isTree || from.word === undefined || to.word === undefined) return null;
    if (!isAsked(state, task, from.word)) return notAsked(state, from.word);
    return from.word === to.word
      ? attachRoot(state, task, to.word)
      : attach(state, task, { dep: from.word, head: to.word + 1 });
  },
  tools: [
    { words: t("Label…"), cap: "Space", run: (state) => askLabel(state) },
    { words: t("Make root"), run: (state, item) => attachRoot(state, item.task, item.dep) },
  ],

  filterText: t("Syntax"),
  draw: ({ at, value: [head, label] }) => ({ dep: at, head, label }),
  tie: markCycles,
  say: (arc, tokens) => `${t("{from} to {to}", { from: headText(arc, tokens), to: tokens[arc.dep] })}, ${sayLabel(arc)}`,
  sayOn(arc, tokens) {
    const head = arc.head ? t("of {word}", { word: tokens[arc.head - 1] }) : t("of the sentence");
    return sayLabel(arc, ` ${head}`);
  },
  about: ({ arcs }, { name }, word, tokens) => {
    const mine = arcs.filter((arc) => arc.task === name);
    const named = (arc, of) => ({ ...arc, of });
    const heads = mine.filter(({ dep }) => dep === word);
    const dependents = mine.filter(({ head }) => head === word + 1);
    return [
      [t("head"), heads.map((arc) => named(arc, headText(arc, tokens)))],
      [t("dependents"), dependents.map((arc) => named(arc, tokens[arc.dep]))],
    ];
  },
  describe: (arc, tokens) => ({
    from: headText(arc, tokens),
    to: tokens[arc.dep],
    label: arc.label || t("no label yet"),
  }),
  optionText: ([head, label], _, tokens) => `${headText({ head }, tokens)}, ${label}`,
  labels: { isRadio: false, look: "label-button tree", isColoured: false },
});

/** Keep the word under the cursor as dependent and walk to its head. */
function seekHead(state) {
  const task = treeTask(state);
  if (!task) return refuse(t("No tree is asked of this sentence."));
  const { cursor } = state.ui;
  if (!isAsked(state, task.name, cursor)) return notAsked(state, cursor);
  return {
    ui: {
      task: task.name,
      mode: { kind: "head", task: task.name, dep: cursor },
      selected: null,
      anchor: null,
    },
    say: t("Head of {word}: go there, then Enter.", { word: state.sentence.tokens[cursor] }),
  };
}

/** Hang the dependent on the word under the cursor. */
function confirmHead(state) {
  const { mode, cursor } = state.ui;
  if (mode.dep === cursor) return refuse(t("Go to the head first, or press its digit."));
  return attach(state, mode.task, { dep: mode.dep, head: cursor + 1 });
}

/** Why a word that the ask does not name takes no head; the cursor goes to one that it names. */
function notAsked(state, word) {
  const task = treeTask(state);
  const words = askedWords(state, task.name);
  const cursor = words.find((other) => other > word) ?? words.at(-1);
  return {
    ui: { cursor, selected: null },
    warn: t("The head of ‘{word}’ is not asked. It can be the head of others.", {
      word: state.sentence.tokens[word],
    }),
  };
}

function isSeeking({ ui }) {
  return ui.mode?.kind === "head";
}

/** The word that looks for its head: the marked one, else the one under the cursor. */
function dependentOf({ ui }) {
  return ui.mode?.kind === "head" ? ui.mode.dep : ui.cursor;
}

/** Hang a dependent on a head; the label is the picked one, or it is asked for, what is known of it
 *  offered first. isSure: whether the label was shown with the head. */
function attach(state, name, { dep, head, label = "", isSure = false }) {
  const task = taskOf(state, name);
  const { armed } = state.ui;
  const picked = armed?.task === name ? armed.label : isSure ? label : "";
  const known = picked || label || knownLabel(state, name, head, dep);
  const { tokens } = state.sentence;
  const done = {
    action: { kind: "tree.attach", task: name, dep, head, label: known },
    say: t("{word} on {head}", { word: tokens[dep], head: tokens[head - 1] }),
  };
  const ui = { task: name, mode: null, anchor: null, armed: null, lastHead: head };
  if (picked) return { ...done, ui: { ...ui, ...goOn(state, name, dep) } };
  return {
    ...done,
    ui: { ...ui, cursor: dep, selected: itemId(name, dep) },
    choose: {
      task: name,
      labels: task.labels.map((other) => other.name),
      isOpen: task.is_open,
      first: known,
      dep,
    },
  };
}

/** The label that was asked for after a head was said. */
function relabel(state, name, dep, label) {
  const [head] = documentOf(state).values[name][dep] ?? [null];
  if (head === null) return {};
  return {
    action: { kind: "tree.attach", task: name, dep, head, label },
    ui: goOn(state, name, dep),
    say: t("{label} on {words}", { label, words: state.sentence.tokens[dep] }),
  };
}

function attachRoot(state, name, dep) {
  const label = rootLabel(taskOf(state, name));
  return {
    action: { kind: "tree.attach", task: name, dep, head: 0, label },
    ui: { task: name, mode: null, anchor: null, armed: null, ...goOn(state, name, dep) },
    say: t("{word} is the root", { word: state.sentence.tokens[dep] }),
  };
}

function makeRoot(state) {
  const task = treeTask(state);
  if (!task) return refuse(t("No tree is asked of this sentence."));
  const dep = dependentOf(state);
  if (!isAsked(state, task.name, dep)) return notAsked(state, dep);
  return attachRoot(state, task.name, dep);
}

/** After a word has its head: on to the next word without one, left to right, then from the start. */
function goOn(state, name, dep) {
  const tree = documentOf(state).values[name];
  const open = openIn(tree, askedWords(state, name)).filter((word) => word !== dep);
  const next = open.find((word) => word > dep) ?? open[0] ?? dep;
  return { cursor: next, selected: null };
}

/** Those of some words that have no head. */
function openIn(tree, words) {
  return words.filter((word) => tree[word] === null);
}

function rootText(n) {
  if (n === 1) return { look: "good", text: t("✓ one root") };
  return { look: "todo", text: n ? t("{n} roots", { n }) : t("no root") };
}

/** The next thing to mend: a cycle, an arc without a label, a word without a head, a broken rule,
 *  then what is not checked. */
function nextProblem(state) {
  const task = treeTask(state);
  if (!task) return refuse(t("No tree is asked of this sentence."));
  const tree = documentOf(state).values[task.name];
  const { cursor } = state.ui;
  const cycle = findCycle(headsOf(tree));
  const bare = tree.flatMap((arc, i) => (arc?.[1] === "" ? [i] : []));
  const open = openIn(tree, askedWords(state, task.name));
  const ruled = wordsOfFindings(state, task.name).filter((word) => word !== cursor);
  const places = [cycle, bare, open, ruled].find((words) => words.length);
  if (!places) return goToSuggestion(state, 1);
  const at = places.find((word) => word > cursor) ?? places[0];
  return { ui: { task: task.name, cursor: at, selected: null, anchor: null, mode: null } };
}

// Proposed heads of a word: the model's, then what earlier answers say, then what lies near.

/** [{head, label, confidence, isKnown}], the best first; isKnown: by the model or by earlier answers. */
function proposalsFor(state, name, dep) {
  const found = [];
  const tree = documentOf(state).values[name];
  const m = tree.length;
  const add = (head, label, confidence, isKnown) => {
    const isNew = found.every((other) => other.head !== head);
    if (isNew && head !== dep + 1 && head >= 0 && head <= m) {
      found.push({ head, label, confidence, isKnown });
    }
  };
  const guess = state.context.suggested[name].find((item) => item.at === dep);
  for (const { value, confidence } of guess ? [guess, ...guess.others] : []) {
    if (value) add(...value, confidence, true);
  }
  const heads = headsOf(tree);
  const root = heads.indexOf(0) + 1;
  const fits = (head) => (head === 0 ? !root || root === dep + 1 : !closesCycle(heads, dep, head));
  const remembered = (state.hints?.[name]?.heads?.[dep] ?? []).filter(([head]) => fits(head));
  for (const [head, label] of remembered) add(head, label, null, true);
  const label = found.find(({ head }) => head > 0)?.label ?? ""; // the root's is nobody else's
  const near = [state.ui.lastHead, root, dep + 2, dep, dep + 3, dep - 1];
  const isSign = (head) => SIGN.test(state.sentence.tokens[head - 1]);
  for (const head of near) if (head > 0 && fits(head) && !isSign(head)) add(head, label, null, false);
  return found.slice(0, MOST_PROPOSED);
}

function takeProposal(state, i) {
  const task = treeTask(state);
  if (!task) return refuse(t("No tree is asked of this sentence."));
  const dep = dependentOf(state);
  if (!isAsked(state, task.name, dep)) return notAsked(state, dep);
  const found = proposalsFor(state, task.name, dep)[i];
  if (!found) return refuse(t("No head is proposed there. Walk to it with h."));
  if (found.head === 0) return attachRoot(state, task.name, dep);
  return attach(state, task.name, { dep, ...found, isSure: found.isKnown });
}

/** What Enter takes at once: {words, run}, or null where nothing is known of the word's head. */
function offer(state) {
  const task = treeTask(state);
  const { cursor, selected, anchor } = state.ui;
  if (!task || task.name !== state.ui.task || selected !== null || anchor !== null) return null;
  const isOpen = documentOf(state).values[task.name][cursor] === null;
  if (!isOpen || !isAsked(state, task.name, cursor)) return null;
  const [first] = proposalsFor(state, task.name, cursor);
  if (!first?.isKnown || !first.label) return null;
  const word = state.sentence.tokens[cursor];
  return { words: t("Attach {word}, go on", { word }), run: () => takeProposal(state, 0) };
}

const proposedBefore = new WeakMap(); // state -> what was proposed; a state never changes

/** What is shown under the sentence while the tree is open. */
function propose(state, task) {
  const known = proposedBefore.get(state);
  if (known?.task === task) return known.proposed;
  const proposed = proposeHeads(state, task);
  proposedBefore.set(state, { task, proposed });
  return proposed;
}

function proposeHeads(state, task) {
  const { tokens } = state.sentence;
  const tree = documentOf(state).values[task.name];
  const dep = dependentOf(state);
  const open = openIn(tree, askedWords(state, task.name));
  const cycle = findCycle(headsOf(tree));
  const own = tree[dep];
  const { armed } = state.ui;
  const picked = armed?.task === task.name ? armed.label : null;
  return {
    word: tokens[dep],
    place: dep,
    isOpen: own === null && isAsked(state, task.name, dep),
    standing: own ? arcText(own, tokens) : t("without a head"),
    rows: proposalsFor(state, task.name, dep).map(({ head, label, confidence }, i) => ({
      command: `head${i + 1}`,
      head,
      from: head ? tokens[head - 1] : t("root"),
      label: picked ?? label,
      confidence,
    })),
    picked,
    open,
    cycle: cycle.length ? [...cycle, cycle[0]].map((i) => tokens[i]).join(" → ") : "",
  };
}

/** Words to underline while the tree is open: those without a head, once there is a first one. */
function openWords(state, task) {
  const tree = documentOf(state).values[task.name];
  const open = openIn(tree, askedWords(state, task.name));
  return open.length < tree.length ? new Set(open) : new Set();
}

function closesCycle(heads, dep, head) {
  let word = head;
  for (let steps = 0; word && steps <= heads.length; steps++) {
    if (word === dep + 1) return true;
    word = heads[word - 1];
  }
  return false;
}

function ownArc(state, name, word) {
  return itemsIn(state).arcs.find(
    (arc) => arc.task === name && arc.dep === word && arc.state === "own",
  );
}

/** The tree that is worked on: the active one, or the first. */
function treeTask(state) {
  const trees = wantedTasks(state).filter(({ kind }) => kind === NAME);
  return trees.find(({ name }) => name === state.ui.task) ?? trees[0] ?? null;
}

/** Label of the dependent's old arc, else what is known of it on this head, else none. */
function knownLabel(state, name, head, dep) {
  const own = documentOf(state).values[name][dep];
  if (own) return own[0] === 0 ? "" : own[1];
  const known = proposalsFor(state, name, dep);
  return (known.find((found) => found.head === head) ?? known[0])?.label ?? "";
}

function rootLabel(task) {
  const known = task.labels.find(({ name }) => name.toLowerCase() === "root");
  return known?.name ?? (task.is_open ? "root" : "");
}

function arcText([head, label], tokens) {
  const words = `${headText({ head }, tokens)}, ${label || t("no label yet")}`;
  return t("head: {words}", { words });
}

function headsOf(tree) {
  return tree.map((arc) => (arc === null ? null : arc[0]));
}

/** The same things, the arcs of a cycle marked. */
function markCycles(items) {
  const own = items.arcs.filter(({ kind, state }) => kind === NAME && state === "own");
  if (!own.length) return items;
  const m = Math.max(...own.flatMap(({ dep, head }) => [dep + 1, head]));
  const heads = new Array(m).fill(null);
  for (const { dep, head } of own) heads[dep] = head;
  const cycle = new Set(findCycle(heads));
  if (!cycle.size) return items;
  const isWrong = (arc) => arc.kind === NAME && arc.state === "own" && cycle.has(arc.dep);
  return { ...items, arcs: items.arcs.map((arc) => (isWrong(arc) ? { ...arc, isWrong: true } : arc)) };
}

function headText({ head }, tokens) {
  return head ? tokens[head - 1] : t("root");
}

function problemsOf(task, tree, { open, roots, cycle, tokens, asked }) {
  const problems = [];
  const report = (words, at) => problems.push({ message: `${task.name}: ${words}`, at });
  const bare = tree.findIndex((arc) => arc?.[1] === "");
  if (cycle.length) {
    const words = [...cycle, cycle[0]].map((i) => tokens[i]).join(" → ");
    report(t("a cycle, {words}.", { words }), cycle[0]);
  }
  if (roots.length > 1) {
    const words = roots.map((i) => `‘${tokens[i]}’`).join(", ");
    report(t("one root only, not {words}.", { words }), roots[1]);
  }
  if (bare >= 0) report(t("the arc to ‘{word}’ has no label.", { word: tokens[bare] }), bare);
  if (open.length) report(t("{n} of {all} words have no head.", { n: open.length, all: asked.length }), open[0]);
  else if (!roots.length && asked.length === tree.length) report(t("no word is the root."), 0);
  return problems;
}

// Checks of a tree that is still growing. heads: per word null (open), 0 (root) or 1..m.

/** Words (from 0) whose head is the root. */
function rootsOf(heads) {
  return heads.flatMap((head, i) => (head === 0 ? [i] : []));
}

/** Words of one cycle in head order, or an empty list. */
function findCycle(heads) {
  const state = heads.map(() => "new");
  for (let first = 0; first < heads.length; first++) {
    const path = [];
    let word = first;
    while (word !== null && word >= 0 && state[word] === "new") {
      state[word] = "on path";
      path.push(word);
      word = heads[word] === null ? null : heads[word] - 1;
    }
    if (word !== null && word >= 0 && state[word] === "on path")
      return path.slice(path.indexOf(word));
    for (const seen of path) state[seen] = "done";
  }
  return [];
}

/** Pairs of words whose arcs cross; the root's arc comes from before the first word. */
function crossingArcs(heads) {
  const arcs = heads.flatMap((head, i) => (head === null ? [] : [sorted(head, i + 1)]));
  const words = heads.flatMap((head, i) => (head === null ? [] : [i]));
  const crossings = [];
  for (let a = 0; a < arcs.length; a++) {
    for (let b = a + 1; b < arcs.length; b++) {
      if (crosses(arcs[a], arcs[b])) crossings.push([words[a], words[b]]);
    }
  }
  return crossings;
}

function sorted(a, b) {
  return a < b ? [a, b] : [b, a];
}

function crosses([a, b], [c, d]) {
  return (a < c && c < b && b < d) || (c < a && a < d && d < b);
}
