// Draws the session: each part looks at the state and changes only what is different.
import { nextStep } from "../commands/decisions.js";
import { element, put, setText, toggle } from "../dom.js";
import { baseDirection } from "../geometry/bidi.js";
import { kindOf } from "../kinds/index.js";
import { countPending, wantedTasks } from "../model/state.js";
import { PHASE } from "../session/session.js";
import { modeWords } from "./announcer.js";
import { renderWhy } from "./panels.js";
import { number, t, tn } from "../words.js";

export class View {
  hasDialog = () => false; // a question has the keyboard
  #shownPlace = "";

  constructor(parts) {
    Object.assign(this, parts); // session, stage, list, detail, proposals, guidelines, facts, announcer
    this.sentence = parts.stage.sentence;
    this.part = (id) => document.getElementById(id);
    setInterval(() => this.#renderPlace(), 1000);
  }

  /** Show another ask. What is beside the sentence comes first: then all is measured at once. */
  arrive() {
    const { state } = this.session;
    for (const id of ["before", "after"]) this.#renderNeighbour(id, state.sentence);
    const isLinked = wantedTasks(state).some((task) => kindOf(task).drag === "link");
    document.body.classList.toggle("thumb", !isLinked);
    this.#renderAround();
    this.stage.arrive(state);
    this.stage.render(state);
    this.focusCursor();
  }

  /** A neighbour in one line, in the direction of its own script. */
  #renderNeighbour(id, sentence) {
    const node = this.part(id);
    const text = sentence[id] ?? "";
    setText(node, text);
    put(node, "title", text || null);
    put(node, "dir", baseDirection(text.split(/\s+/), sentence.language));
  }

  render() {
    this.#renderAround();
    if (this.session.state) this.stage.render(this.session.state);
  }

  /** All but the sentence. */
  #renderAround() {
    const { state, counts } = this.session;
    toggle(this.part("stage"), "hidden", state === null);
    this.list.render(state);
    this.detail.render(state);
    this.proposals.render(state);
    this.guidelines.render(state);
    renderWhy(this.part("why"), state);
    this.facts.renderCounts(counts, state?.ask);
    this.#renderPlace();
    this.renderLine();
  }

  /** What may change with the line to the server, too. */
  renderLine() {
    this.#renderEmpty();
    this.#renderActions();
  }

  renderSaved() {
    const words = this.facts.renderSaved(this.session.connection);
    if (words) this.announcer.say(words);
  }

  /** Put the keyboard's focus on the word under the cursor, unless a question has it. */
  focusCursor() {
    const { state } = this.session;
    if (state && !this.hasDialog()) this.stage.focus(state.ui.cursor);
  }

  /** Close what is open beside the sentence, where nothing else is left to leave. */
  escape() {
    this.list.closePrefix();
  }

  #renderPlace() {
    const { state, clock } = this.session;
    const seconds = state ? Math.floor(clock.seconds) : null;
    const key = `${state?.ask.id} ${seconds} ${clock.isHeld}`;
    if (key === this.#shownPlace) return;
    this.#shownPlace = key;
    this.part("place").textContent = state ? placeText(state, seconds, clock.isHeld) : "";
  }

  #renderActions() {
    const { session } = this;
    const { words, step } = session.state ? nextStep(session.state) : NOTHING_NEXT;
    const waiting = session.state ? countPending(session.state) : 0;
    const resting = restingWords(session, step);
    this.announcer.rest(resting, { isHint: resting === WALKS });
    setText(this.part("submit").firstElementChild, words);
    setText(this.part("accept-all").firstElementChild, t("Accept all {n}", { n: waiting }));
    toggle(this.part("accept-all"), "hidden", waiting === 0);
    const isWaiting = session.phase !== PHASE.working;
    toggle(this.part("submit"), "disabled", isWaiting);
    toggle(this.part("skip"), "disabled", isWaiting);
    toggle(this.part("flag"), "disabled", session.state === null);
    toggle(this.part("note"), "disabled", isWaiting);
    toggle(this.part("later"), "disabled", isWaiting || session.lease?.answers === undefined);
    toggle(this.part("note"), "data-noted", Boolean(session.state?.history.doc.note));
    put(this.part("note"), "title", session.state?.history.doc.note || null);
  }

  #renderEmpty() {
    const box = this.part("empty");
    const words = IN_PLACE_OF_A_SENTENCE[this.session.phase];
    toggle(box, "hidden", !words || this.session.state !== null);
    if (box.hidden || box.dataset.phase === this.session.phase) return;
    box.dataset.phase = this.session.phase;
    box.replaceChildren(element("h2", {}, words[0]), element("p", {}, words[1]));
    if (this.session.phase === PHASE.empty) showStanding(box);
  }
}

/** Say why there is no sentence and what to do about it, as the server sees it. */
async function showStanding(box) {
  const answer = await fetch("../standing/").catch(() => null);
  const found = answer?.ok ? await answer.json() : null;
  if (!found || box.dataset.phase !== PHASE.empty) return;
  const button = found.action && element("a", { class: "button primary", href: found.action.href });
  button?.append(found.action.words);
  box.replaceChildren(element("h2", {}, found.title), element("p", {}, found.words), ...(button ? [button] : []));
}

/** What stands in the place of a sentence where there is none: [heading, text], or nothing. */
const IN_PLACE_OF_A_SENTENCE = {
  [PHASE.loading]: [t("Loading…"), t("The next sentence is on its way.")],
  [PHASE.empty]: [
    t("All done"),
    t("Nothing is left for you here. New sentences come with the next round."),
  ],
};

/** Where one is in the corpus and in the queue, and for how long. */
function placeText({ ask, sentence }, seconds, isHeld) {
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  if (isHeld) return t("It stays as it is while you look. The clock stopped at {time}.", { time });
  const [place, rank, n] = [sentence.position + 1, ask.rank, ask.n_asks].map(number);
  if (sentence.is_document) {
    return t("Document {name} · ask {rank} of {n} · {time} on it", { name: sentence.document, rank, n, time });
  }
  const words = t("Sentence {number} · ask {rank} of {n} · {time} on this sentence", { number: place, rank, n, time });
  const asked = new Set(Object.values(ask.words ?? {}).flat()).size;
  return asked ? `${tn("{n} word asked", "{n} words asked", asked)} · ${words}` : words;
}

const WALKS = t("Enter walks to what is not checked. It submits when nothing is left.");
const NOTHING_NEXT = { step: "submit", words: t("Submit and next"), n: 0 };

/** What the action bar says when nothing else is to say; step: what Enter does next. */
function restingWords(session, step) {
  const mode = modeWords(session.state);
  if (mode) return mode;
  const isHandedIn = session.phase === PHASE.sending || session.phase === PHASE.ahead;
  if (isHandedIn && !session.connection.isOpen) {
    return t("What you did last is kept here and is sent as soon as that is possible.");
  }
  if (session.phase === PHASE.sending) return t("Sending…");
  return step === "check" ? WALKS : "";
}
