// The stage: the sentence on its canvas, with the first line of words at a height that stays, and
// switches for the layers that are drawn.
import { element, put } from "../dom.js";
import { kindOf } from "../kinds/index.js";
import { itemId } from "../model/items.js";
import { isAsked, itemsIn, rangeOf, taskOf, wantedTasks } from "../model/state.js";
import { widestLabel } from "../sentence/measure.js";
import { sayWord } from "../sentence/speech.js";
import { t } from "../words.js";

const NO_WORDS = new Set();
const MOST_DRAWN = 2; // proposed heads
const PHONE = matchMedia("(max-width: 640px)"); // as in narrow.css
const ARC_ROOM = 142; // pixels kept free above the words for arcs, which grow without moving them

export class Stage {
  #drawn = []; // what the present drawing depends on
  #described = null;
  #frame = { canvas: 0, width: 0, around: 0, spare: 0 };
  #task = null; // for which the frame was measured
  #isCrowded = false; // arcs above the words and proposals below them take all the room that there is
  room = { above: 0 };

  /** spare(): pixels to leave free above the words, beyond those for arcs. */
  constructor(root, sentence, filters, spare = () => 0) {
    Object.assign(this, { root, sentence, filters, spare });
    this.canvas = root.parentElement;
    new ResizeObserver(() => {
      this.#measureFrame();
      this.#settle();
    }).observe(this.canvas);
  }

  /** Show another ask. */
  arrive(state) {
    this.root.hidden = false; // words are measured as they are shown
    this.sentence.fill({ sentence: state.sentence });
    this.#measureFrame(); // from here to the drawing all is read, so that it is laid out once
    this.canvas.scrollTop = 0;
    this.room = roomFor(state, this.sentence);
    this.#drawn = this.#key(state);
    this.sentence.draw(this.#items(state), this.room);
    this.#settleFor(state);
  }

  render(state) {
    const { ui } = state;
    const key = this.#key(state);
    if (key.some((part, i) => part !== this.#drawn[i])) {
      this.#drawn = key;
      if (PHONE.matches) this.room = roomFor(state, this.sentence);
      this.sentence.draw(this.#items(state), this.room);
      if (ui.task !== this.#task) this.#measureFrame();
      this.#task = ui.task;
      this.#settleFor(state);
    }
    const { cursor, selected, mode } = ui;
    const marks = mode ? kindOf(taskOf(state, mode.task)).modeMarks(mode) : {};
    if (ui.anchor !== null) marks.range = rangeOf(ui);
    this.sentence.mark({ cursor, selected, ...marks, ...this.#wordMarks(state) });
    this.#describeCursor(state);
  }

  /** Words that the open task marks: those that wait, those labelled before, those that a digit takes. */
  #wordMarks(state) {
    const task = taskOf(state, state.ui.task);
    if (!task) return {};
    const kind = kindOf(task);
    put(this.sentence, "data-drag", kind.drag);
    const rows = kind.propose(state, task)?.rows ?? [];
    const digits = rows.map(({ head }, i) => [head - 1, String(i + 1)]).filter(([word]) => word >= 0);
    const known = kind.known(state, task).flatMap(([start, end]) => wordsIn(start, end));
    return {
      open: kind.wordMarks(state, task),
      known: new Set(known),
      digits: new Map(digits),
      grey: greyWords(state),
    };
  }

  /** Put the keyboard's focus on a word. */
  focus(word) {
    this.sentence.wordNode(word)?.focus();
  }

  #key(state) {
    const { ui, history } = state;
    return [history.doc, ui.task, this.filters.key, JSON.stringify(proposedArcs(state))];
  }

  /** What is said of the whole sentence is shown in its bar, not under the words. */
  #items(state) {
    const items = itemsIn(state);
    const arcs = withProposed(items.arcs, proposedArcs(state));
    const shown = { ...this.filters.apply({ ...items, arcs }), badges: [] };
    const task = taskOf(state, state.ui.task);
    return PHONE.matches && task ? layersOnPhone(shown, task) : shown;
  }

  /** The word under the cursor says all that is on it; the others are just words. */
  #describeCursor({ ui, sentence }) {
    const node = this.sentence.wordNode(ui.cursor);
    if (this.#described !== node) this.#described?.removeAttribute("aria-label");
    this.#described = node;
    put(node, "aria-label", sayWord(ui.cursor, sentence.tokens, this.sentence.items));
  }

  #settleFor(state) {
    const task = taskOf(state, state.ui.task);
    this.#isCrowded = Boolean(task) && kindOf(task).layer === "arcs" && state.ui.selected === null;
    this.#settle();
  }

  /** Keep the first line of words at its height, whatever task is open, as long as there is room above and
   *  below it. What does not fit scrolls; only a tree moves the words up first, and not under a finger. */
  #settle() {
    const { canvas, around, spare } = this.#frame;
    const { all, above } = this.sentence.heights;
    const [wanted, left] = [this.room.above - above, canvas - around - all];
    const room = this.#isCrowded
      ? Math.min(spare + wanted, left)
      : spare + Math.max(0, Math.min(wanted, left - spare));
    this.root.style.marginTop = canvas ? `${Math.max(0, room)}px` : "";
  }

  /** Heights that stay the same while a task is open; 0 where the page scrolls as a whole. What stands
   *  around the words counts as high as it was at this width, so that they need not move for it again. */
  #measureFrame() {
    const isFrame = getComputedStyle(this.canvas).display === "flex";
    const others = [...this.canvas.children].filter((node) => node !== this.root);
    const height = (node) => node.offsetHeight;
    const { clientWidth: width, clientHeight } = this.canvas;
    const around =
      others.reduce((sum, node) => sum + height(node), 0) + height(this.root) - height(this.sentence);
    this.#frame = {
      canvas: isFrame ? clientHeight : 0,
      width,
      around: Math.max(around, width === this.#frame.width ? this.#frame.around : 0),
      spare: isFrame ? this.spare() : 0,
    };
  }
}

/** The first heads that are proposed to the word under the cursor, as arcs, unless something else is
 *  in hand. */
function proposedArcs(state) {
  const task = taskOf(state, state.ui.task);
  const { selected, anchor, mode } = state.ui;
  if (!task || selected !== null || anchor !== null || mode) return [];
  const { isOpen, place, rows } = kindOf(task).propose(state, task) ?? {};
  if (!isOpen) return [];
  const drawn = rows.slice(0, MOST_DRAWN).map(({ head, label, confidence }, i) => ({
    id: itemId(task.name, `proposed-${i + 1}`),
    task: task.name,
    kind: task.kind,
    state: "suggested",
    rank: i + 1,
    dep: place,
    head,
    label,
    confidence,
  }));
  return drawn.filter(({ label }) => label);
}

/** The arcs with those that are proposed; a suggestion that is among these is drawn once. */
function withProposed(arcs, proposed) {
  if (!proposed.length) return arcs;
  const [{ task, dep }] = proposed;
  const waiting = arcs.find((arc) => arc.task === task && arc.dep === dep && arc.state === "suggested");
  const isWaiting = ({ head }) => head === waiting?.head;
  const others = arcs.filter((arc) => arc !== waiting || !proposed.some(isWaiting));
  return [...others, ...proposed.map((arc) => (isWaiting(arc) ? { ...arc, id: waiting.id } : arc))];
}

function wordsIn(start, end) {
  return Array.from({ length: end - start }, (_, i) => start + i);
}

/** Words that the ask does not want, where it names those that it does. */
function greyWords(state) {
  const { ask, sentence, ui } = state;
  if (!ask.words?.[ui.task]) return NO_WORDS;
  return new Set(sentence.tokens.flatMap((_, i) => (isAsked(state, ui.task, i) ? [] : [i])));
}

/** On a phone only what belongs to the open task is drawn, so that its labels are within reach. */
function layersOnPhone(items, open) {
  const isDrawn = ({ task, kind }) => isDrawnWith(open, { name: task, kind });
  const drawn = Object.entries(items).map(([layer, list]) => [layer, list.filter(isDrawn)]);
  const { chips, ...others } = Object.fromEntries(drawn);
  return { ...others, chips: chips.map((chip) => ({ ...chip, row: 0 })) };
}

function isDrawnWith(open, task) {
  const [layer, other] = [kindOf(open).layer, kindOf(task).layer];
  if (layer === "chips") return task.name === open.name;
  return layer === "arcs" ? other === "arcs" : other !== "arcs" && other !== "chips";
}

/** Room for chips, a first row of rails and some arcs, kept free from the start so that words do not move. */
function roomFor(state, sentence) {
  const open = PHONE.matches ? taskOf(state, state.ui.task) : null;
  const tasks = wantedTasks(state).filter((task) => !open || isDrawnWith(open, task));
  const onLayer = (layer) => tasks.filter((task) => kindOf(task).layer === layer);
  const chipTasks = onLayer("chips");
  const labels = chipTasks.flatMap((task) => task.labels.map(({ name }) => name));
  return {
    nChipRows: chipTasks.length,
    nRailRows: onLayer("rails").length ? 1 : 0,
    leastWordWidth: widestLabel(labels, sentence),
    above: onLayer("arcs").length ? ARC_ROOM : 0,
  };
}

const SUGGESTIONS = "suggestions";

/** Switches for the layers of a sentence that stand in the way at times, and for suggestions. */
export class Filters {
  /** Boxes for the layers that a project has; onChange is called after a click. */
  constructor(root, project, onChange) {
    this.hidden = new Set();
    const kinds = new Set(project.tasks.map(kindOf));
    const boxes = [...kinds]
      .filter(({ filterText }) => filterText)
      .map((kind) => {
        const [task, ...more] = project.tasks.filter((other) => kindOf(other) === kind);
        return this.#box(kind.layer, more.length ? kind.filterText : task.name, onChange);
      });
    root.replaceChildren(...boxes, this.#box(SUGGESTIONS, t("Suggestions"), onChange));
  }

  /** Things to draw, without the layers that are switched off. */
  apply(items) {
    const isShown = (item) => !(this.hidden.has(SUGGESTIONS) && item.state === "suggested");
    const left = Object.fromEntries(
      Object.entries(items).map(([layer, list]) => [
        layer,
        this.hidden.has(layer) ? [] : list.filter(isShown),
      ]),
    );
    const rails = new Set(left.rails.map(({ id }) => id));
    left.links = left.links.filter(({ from, to }) => rails.has(from) && rails.has(to));
    return left;
  }

  get key() {
    return [...this.hidden].join();
  }

  #box(id, words, onChange) {
    const input = element("input", { type: "checkbox", checked: true });
    input.addEventListener("change", () => {
      this.hidden[input.checked ? "delete" : "add"](id);
      onChange();
    });
    return element("label", { class: "check" }, input, words);
  }
}
