// Draws the desk: each part looks at the state and changes only what is different.
import { element, put, toggle } from "../dom.js";
import { PHASE } from "../desk/desk.js";
import { itemsIn, pendingByTask, rangeOf, wantedTasks } from "../model/state.js";
import { sayWord } from "../sentence/speech.js";
import { widestLabel } from "../sentence/measure.js";
import { renderWhy } from "./why.js";

const WORDS_AT = 0.42; // of the canvas's height, so that arcs grow without moving words

const LAYERS = [
  { id: "tree", words: "Syntax", kinds: ["tree"] },
  { id: "relations", words: "Relations", kinds: ["relations"] },
  { id: "suggestions", words: "Suggestions", kinds: null },
];

export class View {
  constructor({ desk, sentence, bars, detail, guidelines, facts, announcer }) {
    Object.assign(this, { desk, sentence, bars, detail, guidelines, facts, announcer });
    this.hidden = new Set();
    this.isTalking = () => false; // a question has the keyboard
    this.part = (id) => document.getElementById(id);
    this.#buildFilters(desk.project);
    setInterval(() => this.#renderPlace(), 1000);
    new ResizeObserver(() => {
      this.#measureFrame();
      if (desk.state) this.#settle();
    }).observe(this.part("stage").parentElement);
  }

  /** Show another ask. */
  arrive() {
    const { state } = this.desk;
    this.part("before").textContent = state.sentence.before ?? "";
    this.part("after").textContent = state.sentence.after ?? "";
    const kinds = new Set(wantedTasks(state).map(({ kind }) => kind));
    document.body.classList.toggle("thumb", !kinds.has("tree") && !kinds.has("relations"));
    this.part("stage").hidden = false; // words are measured as they are shown
    this.room = this.#room(state);
    this.drawn = this.#drawingKey(state);
    this.sentence.show({ sentence: state.sentence, items: this.#items(state), room: this.room });
    this.#measureFrame();
    this.#settle();
    this.render();
    this.focusCursor();
    this.part("stage").parentElement.scrollTop = 0;
  }

  render() {
    const { desk } = this;
    const { state } = desk;
    toggle(this.part("stage"), "hidden", state === null);
    this.#renderEmpty();
    this.bars.render(state);
    this.detail.render(state);
    this.guidelines.render(state);
    renderWhy(this.part("why"), state);
    this.facts.renderCounts(desk.counts, state?.ask);
    this.#renderPlace();
    this.#renderActions();
    if (state) this.#renderSentence(state);
  }

  /** Put the keyboard's focus on the word under the cursor. */
  focusCursor() {
    const { state } = this.desk;
    if (!state || this.isTalking()) return;
    const node = this.sentence.wordNode(state.ui.cursor);
    node?.focus();
  }

  #renderSentence(state) {
    const { ui } = state;
    const key = this.#drawingKey(state);
    if (key.some((part, i) => part !== this.drawn[i])) {
      this.drawn = key;
      this.sentence.draw(this.#items(state), this.room);
      this.#settle();
    }
    const range = ui.anchor === null ? null : rangeOf(ui);
    const head = ui.mode?.kind === "head" ? ui.mode.word : null;
    const source = ui.mode?.kind === "relation" ? ui.mode.from : null;
    this.sentence.mark({ cursor: ui.cursor, range: range ?? source, selected: ui.selected, head });
    this.#describeCursor(state);
  }

  /** What a drawing depends on. */
  #drawingKey({ ui, history }) {
    return [history.doc, ui.task, [...this.hidden].join()];
  }

  /** The word under the cursor says all that is on it; the others are just words. */
  #describeCursor({ ui, sentence }) {
    const node = this.sentence.wordNode(ui.cursor);
    if (this.described !== node) this.described?.removeAttribute("aria-label");
    this.described = node;
    put(node, "aria-label", sayWord(ui.cursor, sentence.tokens, this.sentence.items));
  }

  /** Keep the first line of words at its height as long as there is room above and below it. */
  #settle() {
    const { all, above } = this.sentence.heights;
    const free = this.canvasHeight - this.aroundHeight - all;
    const wanted = this.canvasHeight * WORDS_AT - above;
    const isFrame = this.canvasHeight > 0;
    this.part("stage").style.marginTop = isFrame ? `${Math.max(0, Math.min(wanted, free))}px` : "";
  }

  /** Heights that stay the same while one ask is shown; 0 where the page scrolls as a whole. */
  #measureFrame() {
    const stage = this.part("stage");
    const canvas = stage.parentElement;
    const isFrame = getComputedStyle(canvas).display === "flex";
    this.canvasHeight = isFrame ? canvas.clientHeight : 0;
    this.aroundHeight =
      canvas.firstElementChild.offsetHeight + stage.offsetHeight - this.sentence.offsetHeight;
  }

  /** Things to draw, without the layers that are switched off. */
  #items(state) {
    const items = { ...itemsIn(state) };
    const isShown = (item) => !(this.hidden.has("suggestions") && item.state === "suggested");
    for (const kind of Object.keys(items)) items[kind] = items[kind].filter(isShown);
    if (this.hidden.has("tree")) items.tree = [];
    if (this.hidden.has("relations")) items.relations = [];
    const spans = new Set(items.spans.map(({ id }) => id));
    items.relations = items.relations.filter(({ from, to }) => spans.has(from) && spans.has(to));
    items.classes = [];
    return items;
  }

  /** Room that tags will need, kept free from the start so that words do not move. */
  #room(state) {
    const tagTasks = wantedTasks(state).filter(({ kind }) => kind === "tags");
    const labels = tagTasks.flatMap((task) => task.labels.map(({ name }) => name));
    return { nTagRows: tagTasks.length, leastWordWidth: widestLabel(labels, this.sentence) };
  }

  #renderPlace() {
    const { state, clock } = this.desk;
    const seconds = state ? Math.floor(clock.seconds) : null;
    const key = `${state?.ask.id} ${seconds}`;
    if (key === this.shownPlace) return;
    this.shownPlace = key;
    this.part("place").textContent = state ? placeText(state, seconds) : "";
  }

  #renderActions() {
    const { desk } = this;
    const waiting = desk.state
      ? pendingByTask(desk.state).reduce((sum, { items }) => sum + items.length, 0)
      : 0;
    this.announcer.rest(restingWords(desk, waiting));
    const isWaiting = desk.phase !== PHASE.working;
    toggle(this.part("submit"), "disabled", isWaiting);
    toggle(this.part("skip"), "disabled", isWaiting);
    toggle(this.part("flag"), "disabled", desk.state === null);
  }

  #renderEmpty() {
    const box = this.part("empty");
    const words = EMPTY[this.desk.phase];
    toggle(box, "hidden", !words || this.desk.state !== null);
    if (box.hidden || box.dataset.phase === this.desk.phase) return;
    box.dataset.phase = this.desk.phase;
    box.replaceChildren(element("h2", {}, words[0]), element("p", {}, words[1]));
  }

  #buildFilters(project) {
    const there = LAYERS.filter(
      ({ kinds }) => !kinds || project.tasks.some(({ kind }) => kinds.includes(kind)),
    );
    const boxes = there.map(({ id, words, kinds }) => {
      const tasks = project.tasks.filter(({ kind }) => kinds?.includes(kind));
      const input = element("input", { type: "checkbox", checked: true });
      input.addEventListener("change", () => {
        this.hidden[input.checked ? "delete" : "add"](id);
        this.render();
        this.focusCursor();
      });
      const text = tasks.length === 1 ? tasks[0].name : words;
      return element("label", { class: "check" }, input, text);
    });
    this.part("filters").replaceChildren(...boxes);
  }

  renderSaved() {
    const words = this.facts.renderSaved(this.desk.connection);
    if (words) this.announcer.say(words);
  }
}

function placeText({ ask, sentence }, seconds) {
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  const [number, rank, n] = [sentence.position + 1, ask.rank, ask.n_asks].map((value) =>
    value.toLocaleString(),
  );
  return `Sentence ${number} · ask ${rank} of ${n} · ${time} on this sentence`;
}

const EMPTY = {
  [PHASE.loading]: ["Loading…", "The next sentence is on its way."],
  [PHASE.empty]: [
    "All done",
    "Nothing is left for you here. New sentences come with the next round.",
  ],
};

function restingWords(desk, waiting) {
  const mode = desk.state?.ui.mode;
  const { tokens } = desk.state?.sentence ?? {};
  if (mode?.kind === "head") return `Head ‘${tokens[mode.word]}’: go to the dependent, then ↵.`;
  if (mode?.kind === "relation") {
    return `Relation from ‘${tokens.slice(...mode.from).join(" ")}’: go to the other span, then ↵.`;
  }
  if (desk.phase === PHASE.sending) return "Sending…";
  if (desk.phase === PHASE.ahead && !desk.connection.isReached) {
    return "Your last answer is kept here and is sent when the line is back.";
  }
  if (!waiting) return "";
  const isOne = waiting === 1;
  if (desk.project.accepts_on_submit) {
    return `${waiting} ${isOne ? "suggestion" : "suggestions"} will count as yours.`;
  }
  return isOne
    ? "1 suggestion is not checked. It will not count as an answer."
    : `${waiting} suggestions are not checked. They will not count as answers.`;
}
