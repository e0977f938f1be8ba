// Draws the desk: each part looks at the state and changes only what is different.
import { element, toggle } from "../dom.js";
import { PHASE } from "../desk/desk.js";
import { findItem, pendingByTask, wantedTasks } from "../model/state.js";
import { renderWhy } from "./why.js";
import { IN_PLACE_OF_A_SENTENCE, placeText, restingWords } from "./wording.js";

export class View {
  isTalking = () => false; // a question has the keyboard
  #shownPlace = "";

  constructor({ desk, stage, bars, detail, guidelines, facts, announcer }) {
    Object.assign(this, { desk, stage, bars, detail, guidelines, facts, announcer });
    this.sentence = stage.sentence;
    this.part = (id) => document.getElementById(id);
    setInterval(() => this.#renderPlace(), 1000);
  }

  /** Show another ask. */
  arrive() {
    const { state } = this.desk;
    this.part("before").textContent = state.sentence.before ?? "";
    this.part("after").textContent = state.sentence.after ?? "";
    const kinds = new Set(wantedTasks(state).map(({ kind }) => kind));
    document.body.classList.toggle("thumb", !kinds.has("tree") && !kinds.has("relations"));
    this.stage.arrive(state);
    this.render();
    this.focusCursor();
  }

  render() {
    const { state, counts } = this.desk;
    toggle(this.part("stage"), "hidden", state === null);
    this.bars.render(state);
    this.detail.render(state);
    this.guidelines.render(state);
    renderWhy(this.part("why"), state);
    this.facts.renderCounts(counts, state?.ask);
    this.#renderPlace();
    this.renderLine();
    if (state) this.stage.render(state);
  }

  /** What may change with the line to the server, too. */
  renderLine() {
    this.#renderEmpty();
    this.#renderActions();
  }

  renderSaved() {
    const words = this.facts.renderSaved(this.desk.connection);
    if (words) this.announcer.say(words);
  }

  /** Put the keyboard's focus on the word under the cursor, unless a question has it. */
  focusCursor() {
    const { state } = this.desk;
    if (state && !this.isTalking()) this.stage.focus(state.ui.cursor);
  }

  #renderPlace() {
    const { state, clock } = this.desk;
    const seconds = state ? Math.floor(clock.seconds) : null;
    const key = `${state?.ask.id} ${seconds}`;
    if (key === this.#shownPlace) return;
    this.#shownPlace = key;
    this.part("place").textContent = state ? placeText(state, seconds) : "";
  }

  #renderActions() {
    const { desk } = this;
    const groups = desk.state ? pendingByTask(desk.state) : [];
    const waiting = groups.reduce((sum, { items }) => sum + items.length, 0);
    this.announcer.rest(restingWords(desk, waiting));
    const isWaiting = desk.phase !== PHASE.working;
    toggle(this.part("submit"), "disabled", isWaiting);
    toggle(this.part("skip"), "disabled", isWaiting);
    toggle(this.part("flag"), "disabled", desk.state === null);
    const selected = desk.state && findItem(desk.state, desk.state.ui.selected);
    toggle(this.part("decide"), "hidden", selected?.state !== "suggested");
  }

  #renderEmpty() {
    const box = this.part("empty");
    const words = IN_PLACE_OF_A_SENTENCE[this.desk.phase];
    toggle(box, "hidden", !words || this.desk.state !== null);
    if (box.hidden || box.dataset.phase === this.desk.phase) return;
    box.dataset.phase = this.desk.phase;
    box.replaceChildren(element("h2", {}, words[0]), element("p", {}, words[1]));
  }
}
