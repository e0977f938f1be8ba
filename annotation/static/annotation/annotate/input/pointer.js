// The mouse, pen and finger on the sentence: drag over words, from head to dependent, from span to
// span, or along a rail; a click does what the active task expects. A finger that rests on a word
// begins a range there, which the next tap ends; on an answer it asks for another label.
import { accept, deleteHere } from "../commands/decisions.js";
import { askLabel, paintOrSelect } from "../commands/labels.js";
import { selectItem } from "../commands/navigation.js";
import { svg } from "../dom.js";
import { t } from "../words.js";
import { kindOf } from "../kinds/index.js";
import { refuse } from "../model/editor.js";
import { findItem, isAsked, taskOf, wantedTasks } from "../model/state.js";

const SLACK = { mouse: 4, pen: 6, touch: 9 }; // pixels before a press becomes a drag
const LONG_PRESS = 500; // milliseconds
const SWIPE = 90; // pixels sideways

/** Hand gestures to `on`: {wordClick(i), wordsDrag(from, to, isDone), link(from, to),
 *  itemClick(id), itemDouble(id), itemMenu(id), resize(id, edge, word), wordHold(i), itemHold(id)};
 *  dragKind() says what a drag between words means: "words" or "link". */
export function listenToPointer(sentence, on) {
  let drag = null;
  let isHandled = false; // by this touch: the mouse events that the browser makes of it are not wanted

  sentence.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !event.isPrimary) return;
    const start = whatIsAt(event.target);
    if (!start) return;
    stop();
    drag = { start, x: event.clientX, y: event.clientY, isMoving: false };
    drag.slack = SLACK[event.pointerType] ?? SLACK.mouse;
    isHandled = false;
    if (event.pointerType === "touch") drag.timer = setTimeout(hold, LONG_PRESS);
  });

  addEventListener("pointermove", (event) => {
    if (!drag || !event.isPrimary) return;
    const moved = Math.hypot(event.clientX - drag.x, event.clientY - drag.y);
    if (!drag.isMoving && moved < drag.slack) return;
    clearTimeout(drag.timer);
    drag.isMoving = true;
    follow(event, false);
  });

  addEventListener("pointerup", (event) => {
    if (!drag || !event.isPrimary) return;
    isHandled = event.pointerType === "touch" && (drag.isMoving || drag.start.word !== undefined);
    if (drag.isMoving) follow(event, true);
    else if (drag.start.word !== undefined) on.wordClick(drag.start.word);
    stop();
  });

  // A list that a tap has opened has the focus: a mouse event after the tap would take it away.
  sentence.addEventListener("touchend", (event) => {
    if (isHandled && event.cancelable) event.preventDefault();
  });

  function hold() {
    const { word, item } = drag.start;
    stop();
    isHandled = true;
    if (word !== undefined) on.wordHold(word);
    else on.itemHold(item);
  }

  addEventListener("pointercancel", stop);
  addEventListener("keydown", (event) => event.key === "Escape" && stop());

  sentence.addEventListener("item-pick", ({ detail }) => on.itemClick(detail.id));
  sentence.addEventListener("dblclick", (event) => {
    const { item } = whatIsAt(event.target) ?? {};
    if (item) on.itemDouble(item);
  });
  sentence.addEventListener("contextmenu", (event) => {
    const item = event.target.closest("[data-item]")?.dataset.item;
    const isTouch = event.pointerType === "touch" || isHandled;
    if (isTouch || item) event.preventDefault();
    if (item && !isTouch) on.itemMenu(item);
  });

  function follow(event, isDone) {
    const end = whatIsAt(document.elementFromPoint(event.clientX, event.clientY));
    const { start } = drag;
    if (start.rail) {
      if (end?.word !== undefined) on.resize(start.item, start.edgeAt(drag.x), end.word, isDone);
    } else if (start.item || on.dragKind() === "link") {
      if (isDone && end) on.link(start, end);
      else if (!isDone) stretchBand(event);
    } else if (end?.word !== undefined) {
      on.wordsDrag(start.word, end.word, isDone);
    }
  }

  function stretchBand(event) {
    const box = sentence.getBoundingClientRect();
    drag.band ??= sentence.appendChild(svg("svg", { class: "arcs band" }, svg("path")));
    const [x1, y1] = [drag.x - box.left, drag.y - box.top];
    const [x2, y2] = [event.clientX - box.left, event.clientY - box.top];
    const d = `M${x1} ${y1}Q${(x1 + x2) / 2} ${Math.min(y1, y2) - 30} ${x2} ${y2}`;
    drag.band.firstChild.setAttribute("d", d);
  }

  function stop() {
    clearTimeout(drag?.timer);
    drag?.band?.remove();
    drag = null;
  }
}

/** The word, thing or rail at an element, or null. */
function whatIsAt(target) {
  const word = target?.closest(".word");
  if (word) return { word: Number(word.dataset.word) };
  const rail = target?.closest(".rail");
  if (rail) return { rail: true, item: rail.dataset.item, edgeAt: (x) => nearestEdge(rail, x) };
  const item = target?.closest("[data-item]");
  return item ? { item: item.dataset.item } : null;
}

/** The edge of a span that is nearer to x, in reading direction. */
function nearestEdge(rail, x) {
  const { left, right } = rail.getBoundingClientRect();
  const isLeft = x - left < right - x;
  return isLeft === (rail.closest("tandem-sentence").dir === "ltr") ? "start" : "end";
}

/** What gestures do on a sentence, by the active task: handlers for listenToPointer. */
export function sentenceGestures({ editor, view }) {
  const run = (outcome) => {
    editor.perform(outcome);
    view.focusCursor();
  };
  const active = () => kindOf(taskOf(editor.state, editor.state.ui.task));
  const isReady = () => editor.state !== null && editor.canEdit;
  const put = (ui) => editor.perform({ ui });
  /** Whether a word is out of reach, because the ask names others; where words are linked, the kind
   *  decides: such a word may be one end. */
  const isOutOfReach = (word) => {
    const { task } = editor.state.ui;
    if (active().drag === "link" || isAsked(editor.state, task, word)) return false;
    run(refuse(t("{task} is not asked of this word.", { task })));
    return true;
  };

  return {
    dragKind: () => (isReady() ? active().drag : "words"),

    wordClick(word) {
      if (!isReady()) return;
      const { held } = editor.state.ui;
      if (held !== undefined && held !== null) {
        put({ held: null });
        if (active().drag !== "link") {
          put({ anchor: held, cursor: word, selected: null });
          run(paintOrSelect(editor.state, held, word));
          return;
        }
      }
      if (isOutOfReach(word)) return;
      put({ cursor: word, anchor: null, selected: null });
      run(active().clickWord(editor.state, word) ?? paintOrSelect(editor.state, word, word));
    },

    wordsDrag(from, to, isDone) {
      if (!isReady()) return;
      put({ anchor: from, cursor: to, selected: null });
      if (isDone) run(paintOrSelect(editor.state, from, to));
    },

    link(from, to) {
      if (isReady()) run(linkEnds(editor.state, active(), from, to));
    },

    itemClick(id) {
      if (!isReady()) return;
      const item = findItem(editor.state, id);
      const outcome = item && active().clickItem(editor.state, item);
      run(outcome ?? selectItem(editor.state, id));
    },

    itemDouble(id) {
      if (!isReady() || findItem(editor.state, id)?.state !== "suggested") return;
      put({ selected: id });
      run(accept(editor.state));
    },

    itemMenu(id) {
      if (!isReady()) return;
      put({ selected: id });
      run(deleteHere(editor.state));
    },

    wordHold(word) {
      if (!isReady() || isOutOfReach(word)) return;
      if (active().drag === "link" || active().isText) {
        put({ cursor: word, anchor: null, selected: null });
        run(askLabel(editor.state));
        return;
      }
      put({ cursor: word, anchor: word, selected: null, held: word });
      run({ warn: t("Tap the last word of the range.") });
    },

    itemHold(id) {
      if (!isReady()) return;
      run(selectItem(editor.state, id));
      run(askLabel(editor.state, { name: findItem(editor.state, id)?.task }));
    },

    resize(id, edge, word, isDone) {
      if (!isReady() || !isDone) return;
      const item = findItem(editor.state, id);
      if (item?.state !== "own" || !kindOf(item).resize) return;
      const by = edge === "start" ? word - item.start : word + 1 - item.end;
      run(kindOf(item).resize(editor.state, item, edge, by));
    },
  };
}

/** What a drag from one place to another links: by the active kind, else by another that is asked. */
function linkEnds(state, active, from, to) {
  for (const kind of new Set([active, ...wantedTasks(state).map(kindOf)])) {
    const outcome = kind.link(state, from, to);
    if (outcome) return outcome;
  }
  return {};
}

/** Call back() after a finger went sideways over a place where there is nothing to drag: towards the
 *  end of the line, as one turns back a page. */
export function listenToSwipe(place, back) {
  let from = null;
  place.addEventListener("pointerdown", (event) => {
    const isFree = event.pointerType === "touch" && event.isPrimary && !whatIsAt(event.target);
    from = isFree ? { x: event.clientX, y: event.clientY } : null;
  });
  place.addEventListener("pointerup", (event) => {
    if (!from) return;
    const by = document.documentElement.dir === "rtl" ? from.x - event.clientX : event.clientX - from.x;
    const isSideways = by > SWIPE && Math.abs(event.clientY - from.y) < by / 2;
    from = null;
    if (isSideways) back();
  });
  place.addEventListener("pointercancel", () => (from = null));
}
