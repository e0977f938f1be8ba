// Tags: one label per word. An answer is a list of labels; null while a word has none.
import { register } from "./index.js";
import { inOrder, perWord, toCheckText } from "./shapes.js";
import { letterKeys } from "../input/keys.js";
import { withValue } from "../model/document.js";
import { colourOf, labelledBefore } from "../model/labels.js";
import { refuse } from "../model/editor.js";
import { askedWords, documentOf, rangeOf, selectedIn, taskOf } from "../model/state.js";
import { sayLabel } from "../sentence/speech.js";
import { t, tn } from "../words.js";

/** What all kinds with a text per word share. */
export const tags = {
  ...perWord,
  name: "tags",
  noun: t("tag"),
  layer: "chips",

  labelOf: (value) => value,
  unitText: ([, label]) => label,
  compose: (units) => inOrder(units).map(([, label]) => label),

  check(task, tags, { asked }) {
    const open = openIn(tags, asked);
    const message = t("{task}: {n} of {all} words have no label.", { task: task.name, n: open.length, all: asked.length });
    return {
      own: asked.length - open.length,
      open: open.length,
      problems: open.length ? [{ message, at: open[0] }] : [],
    };
  },
  progress: ({ own, open, toCheck }) => [t("{n} of {all}", { n: own, all: own + open }), ...toCheckText(toCheck)],

  changes: {
    /** One label for all words of [start, end); null takes the labels away. */
    "tags.paint"(doc, { task, start, end, label }) {
      const tags = doc.values[task].map((old, i) => (i >= start && i < end ? label : old));
      return withValue(doc, task, tags);
    },

    /** One label for some words. */
    "tags.set"(doc, { task, places, label }) {
      return withValue(doc, task, doc.values[task].map((old, i) => (places.includes(i) ? label : old)));
    },
  },
  take: ({ task, at }, value) => painting(task, at, at + 1, value),

  apply(state, task, label) {
    const item = selectedIn(state, task);
    const [start, end] = item ? [item.at, item.at + 1] : rangeOf(state.ui);
    const { tokens } = state.sentence;
    const asked = askedWords(state, task);
    const places = asked.filter((word) => start <= word && word < end);
    if (!places.length) return refuse(t("{task} is not asked of this word.", { task }));
    const isWhole = places.length === end - start;
    return {
      action: isWhole ? painting(task, start, end, label) : { kind: "tags.set", task, places, label },
      ui: { task, anchor: null, selected: null, cursor: asked.find((word) => word >= end) ?? asked.at(-1) },
      say: t("{label} on {words}", { label, words: places.map((word) => tokens[word]).join(" ") }),
    };
  },
  usesLabel: ({ ui }) => ui.anchor !== null,
  paints: true,
  keys: letterKeys,
  commands: [{ id: "equalTags", key: "=", words: t("tag all equal words"), run: tagEqual, isLocal: true }],
  tools: [{ words: t("all equal words"), command: "equalTags", run: tagEqual }],
  offer,
  wordMarks: (state, task) => {
    const asked = askedWords(state, task.name);
    const open = openIn(documentOf(state).values[task.name], asked);
    return open.length < state.sentence.tokens.length ? new Set(open) : new Set();
  },

  draw: ({ at, value }, task) => ({ at, label: value, colour: colourOf(task, value) }),
  say: (tag, tokens) => `${tokens[tag.at]}, ${sayLabel(tag)}`,
  sayOn: (tag) => sayLabel(tag),
  describe: ({ at, label }, tokens) => ({ from: tokens[at], to: "", label }),
  optionText: (value) => value,
  labels: { isRadio: false, look: "label-button", isColoured: true },
};

register(tags);

/** Those of some words that have no tag. */
export function openIn(tags, words) {
  return words.filter((word) => tags[word] === null);
}

/** Enter gives an open word the tag that it had most often before. */
function offer(state) {
  const word = openHere(state);
  if (word === null) return null;
  const task = taskOf(state, state.ui.task);
  const [label] = labelledBefore(state, task, [word, word + 1]).keys();
  if (!task.labels.some(({ name }) => name === label)) return null;
  const words = state.sentence.tokens[word];
  return { words: t("{label} on {words}", { label, words }), run: () => tags.apply(state, task.name, label) };
}

/** The word under the cursor where Enter may answer it: open, not suggested, and nothing else selected. */
export function openHere(state) {
  const { task, cursor, selected, anchor } = state.ui;
  const isOpen = openIn(documentOf(state).values[task] ?? [], askedWords(state, task)).includes(cursor);
  const isSuggested = (state.context.suggested[task] ?? []).some(({ at }) => at === cursor);
  return isOpen && !isSuggested && selected === null && anchor === null ? cursor : null;
}

/** Give the tag of the word under the cursor, or of the word before it, to all equal words without one. */
export function tagEqual(state) {
  const { task, cursor } = state.ui;
  const tags = documentOf(state).values[task];
  const at = tags[cursor] === null ? cursor - 1 : cursor;
  const label = tags[at];
  if (!label) return refuse(t("Tag this word first."));
  const folded = state.sentence.tokens.map((token) => token.toLowerCase());
  const places = openIn(tags, askedWords(state, task)).filter((i) => folded[i] === folded[at]);
  if (!places.length) return refuse(t("No other words here are equal to these."));
  return {
    action: { kind: "tags.set", task, places, label },
    say: tn("{n} word tagged", "{n} words tagged", places.length),
  };
}

export function painting(task, start, end, label) {
  return { kind: "tags.paint", task, start, end, label };
}
