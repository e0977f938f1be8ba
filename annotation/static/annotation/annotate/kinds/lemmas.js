// Lemmas: a text that people write for every word. An answer is a list of texts; null while a word
// has none. What a word may get is the model's, what it had before, and the word itself.
import { register } from "./index.js";
import { openHere, openIn, painting, tagEqual, tags } from "./tags.js";
import { refuse } from "../model/editor.js";
import { labelledBefore, likelyLabels } from "../model/labels.js";
import { askedWords, taskOf } from "../model/state.js";
import { t } from "../words.js";

const MOST_HERE = 4; // texts that are offered as buttons

register({
  ...tags,
  name: "lemmas",
  noun: t("lemma"),
  isText: true,
  labelsIn: (value) => [value],

  check(task, texts, { asked }) {
    const open = openIn(texts, asked);
    const message = t("{task}: {n} of {all} words have no text.", { task: task.name, n: open.length, all: asked.length });
    return {
      own: asked.length - open.length,
      open: open.length,
      problems: open.length ? [{ message, at: open[0] }] : [],
    };
  },

  options,
  here: (state, task) => options(state, task).slice(0, MOST_HERE),
  tools: [{ words: t("all equal words"), run: tagEqual }],
  keys: () => [],
  usesLabel: () => true,
  paints: false,
  commands: [
    { id: "lemmaAsWritten", key: "=", words: t("the word itself is its lemma"), run: asWritten, isLocal: true },
  ],
  offer,
  clickWord: () => null,
  draw: ({ at, value }) => ({ at, label: value, colour: null }),
  labels: { isRadio: false, look: "label-button", isColoured: false },
});

/** What the word under the cursor may get, the best guess first. */
function options(state, task) {
  const { cursor } = state.ui;
  const word = state.sentence.tokens[cursor];
  const range = [cursor, cursor + 1];
  const likely = [...likelyLabels(state, task, range)].sort(([, a], [, b]) => b - a);
  const before = [...labelledBefore(state, task, range).keys()];
  const lower = word.toLowerCase();
  const written = cursor > 0 ? [word, lower] : [lower, word]; // a capital inside a sentence is a name's
  return [...new Set([...likely.map(([text]) => text), ...before, ...written])];
}

/** Enter gives an open word what it had before, or itself in lower case. */
function offer(state) {
  if (openHere(state) === null) return null;
  const { task } = state.ui;
  const [text] = options(state, taskOf(state, task));
  return { words: t("Lemma ‘{text}’", { text }), run: () => tags.apply(state, task, text) };
}

/** The word as it is written becomes its own lemma. */
function asWritten(state) {
  const { task, cursor } = state.ui;
  if (!askedWords(state, task).includes(cursor)) return refuse(t("{task} is not asked of this word.", { task }));
  const text = state.sentence.tokens[cursor];
  return { ...tags.apply(state, task, text), action: painting(task, cursor, cursor + 1, text) };
}
