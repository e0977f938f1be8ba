// Where two answers differ, for adjudication.
import { drawAnswers } from "./items.js";

/** Things to draw of one answer, with `differs` on all that the other answer does not say.
 *  A tree compares head and label word by word; everything else compares whole items. */
export function drawAgainst(tasks, values, others) {
  const drawn = drawAnswers(tasks, values, "own");
  const compared = drawAnswers(tasks, others, "own");
  for (const kind of Object.keys(drawn)) {
    const known = new Set(compared[kind].map(signature));
    const isShared = (task) => task in values && task in others;
    drawn[kind] = drawn[kind].map((item) => ({
      ...item,
      differs: isShared(item.task) && !known.has(signature(item)),
    }));
  }
  return drawn;
}

/** Words to underline in one answer: those whose arc differs, and those on which only the other
 *  answer has a span, since nothing else shows that it is missing. */
export function differingWords(drawn, other) {
  const words = new Set();
  for (const { differs, dep } of drawn.tree) if (differs) words.add(dep);
  for (const i of wordsOf(other.spans)) words.add(i);
  for (const i of wordsOf(drawn.spans)) words.delete(i);
  return words;
}

function wordsOf(spans) {
  const words = new Set();
  for (const { differs, start, end } of spans) {
    if (differs) for (let i = start; i < end; i++) words.add(i);
  }
  return words;
}

function signature({ id, task, label, dep, head }) {
  return JSON.stringify(dep === undefined ? [id, label] : [task, dep, head, label]);
}
