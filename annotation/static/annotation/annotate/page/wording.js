// Sentences that the page says by itself: where one is, what waits, what a mode expects.
import { PHASE } from "../desk/desk.js";

/** What stands in the place of a sentence where there is none: [heading, text], or nothing. */
export const IN_PLACE_OF_A_SENTENCE = {
  [PHASE.loading]: ["Loading…", "The next sentence is on its way."],
  [PHASE.empty]: [
    "All done",
    "Nothing is left for you here. New sentences come with the next round.",
  ],
};

/** Where one is in the corpus and in the queue, and for how long. */
export function placeText({ ask, sentence }, seconds) {
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  const [number, rank, n] = [sentence.position + 1, ask.rank, ask.n_asks].map((value) =>
    value.toLocaleString(),
  );
  return `Sentence ${number} · ask ${rank} of ${n} · ${time} on this sentence`;
}

/** What the action bar says when nothing else is to say; waiting: suggestions not checked. */
export function restingWords(desk, waiting) {
  const mode = modeWords(desk.state);
  if (mode) return mode;
  const isHandedIn = desk.phase === PHASE.sending || desk.phase === PHASE.ahead;
  if (isHandedIn && !desk.connection.isOpen) {
    return "What you did last is kept here and is sent as soon as that is possible.";
  }
  if (desk.phase === PHASE.sending) return "Sending…";
  return waiting ? waitingWords(waiting, desk.project.accepts_on_submit) : "";
}

/** What the mode that the hands are in expects next, or "". */
export function modeWords(state) {
  const mode = state?.ui.mode;
  if (!mode) return "";
  const { tokens } = state.sentence;
  return mode.kind === "head"
    ? `Head ‘${tokens[mode.word]}’: go to the dependent, then ↵.`
    : `Relation from ‘${tokens.slice(...mode.from).join(" ")}’: go to the other span, then ↵.`;
}

function waitingWords(n, countsOnSubmit) {
  const isOne = n === 1;
  if (countsOnSubmit) return `${n} ${isOne ? "suggestion" : "suggestions"} will count as yours.`;
  return isOne
    ? "1 suggestion is not checked. It will not count as an answer."
    : `${n} suggestions are not checked. They will not count as answers.`;
}
