// The stage: the sentence on its canvas, with the first line of words at a height that stays.
import { put } from "../dom.js";
import { itemsIn, rangeOf, wantedTasks } from "../model/state.js";
import { widestLabel } from "../sentence/measure.js";
import { sayWord } from "../sentence/speech.js";

const WORDS_AT = 0.42; // of the canvas's height, so that arcs grow without moving words

export class Stage {
  #drawn = []; // what the present drawing depends on
  #described = null;
  #frame = { canvas: 0, before: 0, around: 0 };

  constructor(root, sentence, filters) {
    Object.assign(this, { root, sentence, filters });
    this.canvas = root.parentElement;
    new ResizeObserver(() => {
      this.#measureFrame();
      this.#settle();
    }).observe(this.canvas);
  }

  /** Show another ask. */
  arrive(state) {
    this.root.hidden = false; // words are measured as they are shown
    this.room = roomFor(state, this.sentence);
    this.#drawn = this.#key(state);
    const items = this.#items(state);
    this.sentence.show({ sentence: state.sentence, items, room: this.room });
    this.#measureFrame();
    this.#settle();
    this.canvas.scrollTop = 0;
  }

  render(state) {
    const { ui } = state;
    const key = this.#key(state);
    if (key.some((part, i) => part !== this.#drawn[i])) {
      this.#drawn = key;
      this.sentence.draw(this.#items(state), this.room);
      this.#settle();
    }
    const source = ui.mode?.kind === "relation" ? ui.mode.from : null;
    this.sentence.mark({
      cursor: ui.cursor,
      range: ui.anchor === null ? source : rangeOf(ui),
      selected: ui.selected,
      head: ui.mode?.kind === "head" ? ui.mode.word : null,
    });
    this.#describeCursor(state);
  }

  /** Put the keyboard's focus on a word. */
  focus(word) {
    this.sentence.wordNode(word)?.focus();
  }

  #key({ ui, history }) {
    return [history.doc, ui.task, this.filters.key];
  }

  /** Classes are shown as buttons in their bar, not under the words. */
  #items(state) {
    return { ...this.filters.apply(itemsIn(state)), classes: [] };
  }

  /** The word under the cursor says all that is on it; the others are just words. */
  #describeCursor({ ui, sentence }) {
    const node = this.sentence.wordNode(ui.cursor);
    if (this.#described !== node) this.#described?.removeAttribute("aria-label");
    this.#described = node;
    put(node, "aria-label", sayWord(ui.cursor, sentence.tokens, this.sentence.items));
  }

  /** Keep the first line of words at its height as long as there is room above and below it. */
  #settle() {
    const { canvas, before, around } = this.#frame;
    const { all, above } = this.sentence.heights;
    const room = Math.min(canvas * WORDS_AT - before - above, canvas - around - all);
    this.root.style.marginTop = canvas ? `${Math.max(0, room)}px` : "";
  }

  /** Heights that stay the same while one ask is shown; 0 where the page scrolls as a whole. */
  #measureFrame() {
    const isFrame = getComputedStyle(this.canvas).display === "flex";
    const tools = this.canvas.firstElementChild.offsetHeight;
    this.#frame = {
      canvas: isFrame ? this.canvas.clientHeight : 0,
      before: top(this.sentence) - top(this.root),
      around: tools + this.root.offsetHeight - this.sentence.offsetHeight,
    };
  }
}

function top(node) {
  return node.getBoundingClientRect().top;
}

/** Room for tags and a first row of spans, kept free from the start so that words do not move. */
function roomFor(state, sentence) {
  const wanted = wantedTasks(state);
  const tagTasks = wanted.filter(({ kind }) => kind === "tags");
  const labels = tagTasks.flatMap((task) => task.labels.map(({ name }) => name));
  return {
    nTagRows: tagTasks.length,
    nSpanRows: wanted.some(({ kind }) => kind === "spans") ? 1 : 0,
    leastWordWidth: widestLabel(labels, sentence),
  };
}
