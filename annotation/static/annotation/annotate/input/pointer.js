// The mouse, pen and finger on the sentence: drag over words, from head to dependent, from span to
// span, or along a rail; a click does what the active task expects.
import { svg } from "../dom.js";

const SLACK = 4; // pixels before a press becomes a drag

/** Hand gestures to `on`: {wordClick(i), wordsDrag(from, to, isDone), link(from, to),
 *  itemClick(id), itemDouble(id), itemMenu(id), resize(id, edge, word)}; dragKind() says what a
 *  drag between words means: "words" or "link". */
export function listenToPointer(sentence, on) {
  let drag = null;

  sentence.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const start = whatIsAt(event.target);
    if (start) drag = { start, x: event.clientX, y: event.clientY, isMoving: false };
  });

  addEventListener("pointermove", (event) => {
    if (!drag) return;
    const moved = Math.hypot(event.clientX - drag.x, event.clientY - drag.y);
    if (!drag.isMoving && moved < SLACK) return;
    drag.isMoving = true;
    follow(event, false);
  });

  addEventListener("pointerup", (event) => {
    if (!drag) return;
    if (drag.isMoving) follow(event, true);
    else if (drag.start.word !== undefined) on.wordClick(drag.start.word);
    stop();
  });

  addEventListener("pointercancel", stop);
  addEventListener("keydown", (event) => event.key === "Escape" && stop());

  sentence.addEventListener("item-pick", ({ detail }) => on.itemClick(detail.id));
  sentence.addEventListener("dblclick", (event) => {
    const { item } = whatIsAt(event.target) ?? {};
    if (item) on.itemDouble(item);
  });
  sentence.addEventListener("contextmenu", (event) => {
    const item = event.target.closest("[data-item]")?.dataset.item;
    if (!item) return;
    event.preventDefault();
    on.itemMenu(item);
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
