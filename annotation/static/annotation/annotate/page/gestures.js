// What the mouse, a pen or a finger does on the sentence, by the active task.
import { attach, attachRoot, confirmHead, markHead } from "../commands/attaching.js";
import { accept, deleteHere } from "../commands/deciding.js";
import { applyLabel } from "../commands/labelling.js";
import { resizeSpan, selectItem } from "../commands/moving.js";
import {
  confirmRelation,
  relate,
  relationTask,
  spanAt,
  startRelation,
} from "../commands/relating.js";
import { findItem, taskOf } from "../model/state.js";

/** Handlers for listenToPointer. */
export function pageGestures({ desk, view }) {
  const run = (outcome) => {
    desk.perform(outcome);
    view.focusCursor();
  };
  const kind = () => taskOf(desk.state, desk.state.ui.task)?.kind;
  const isReady = () => desk.state !== null && desk.canEdit;
  const put = (ui) => desk.perform({ ui });

  return {
    dragKind: () => (isReady() && ["tree", "relations"].includes(kind()) ? "link" : "words"),

    wordClick(word) {
      if (!isReady()) return;
      const { mode } = desk.state.ui;
      put({ cursor: word, anchor: null, selected: null });
      if (kind() === "tree")
        run(mode?.kind === "head" ? confirmHead(desk.state) : markHead(desk.state));
      else if (mode?.kind === "relation") run(confirmRelation(desk.state));
      else if (kind() === "relations" && spanAt(desk.state, word, null))
        run(startRelation(desk.state));
      else run(paintOrSelect(desk.state, word, word));
    },

    wordsDrag(from, to, isDone) {
      if (!isReady()) return;
      put({ anchor: from, cursor: to, selected: null });
      if (isDone) run(paintOrSelect(desk.state, from, to));
    },

    link(from, to) {
      if (isReady()) run(linkEnds(desk.state, from, to));
    },

    itemClick(id) {
      if (!isReady()) return;
      const item = findItem(desk.state, id);
      if (desk.state.ui.mode?.kind === "relation" && item?.kind === "spans") {
        put({ selected: id, cursor: item.start });
        run(confirmRelation(desk.state));
      } else if (kind() === "relations" && item?.kind === "spans") {
        put({ selected: id, cursor: item.start });
        run(startRelation(desk.state));
      } else {
        run(selectItem(desk.state, id));
      }
    },

    itemDouble(id) {
      if (!isReady() || findItem(desk.state, id)?.state !== "suggested") return;
      put({ selected: id });
      run(accept(desk.state));
    },

    itemMenu(id) {
      if (!isReady()) return;
      put({ selected: id });
      run(deleteHere(desk.state));
    },

    resize(id, edge, word, isDone) {
      if (!isReady() || !isDone) return;
      const item = findItem(desk.state, id);
      if (item?.kind !== "spans" || item.state !== "own") return;
      const by = edge === "start" ? word - item.start : word + 1 - item.end;
      run(resizeSpan(desk.state, item, edge, by));
    },
  };
}

/** An armed label paints; without one the words become the range for the next label. */
function paintOrSelect(state, from, to) {
  const { armed, task } = state.ui;
  const kind = armed ? taskOf(state, armed.task).kind : null;
  const range = { ...state, ui: { ...state.ui, anchor: from, cursor: to, selected: null } };
  if (armed?.task === task && (kind === "spans" || kind === "tags")) {
    const painted = applyLabel(range, armed.task, armed.label);
    return { ...painted, ui: { ...painted.ui, selected: null } }; // a label is armed next, not used
  }
  return { ui: { anchor: from, cursor: to, selected: null } };
}

/** What a drag from one place to another links: words of a tree, or spans. */
function linkEnds(state, from, to) {
  const isTree = taskOf(state, state.ui.task)?.kind === "tree" && from.word !== undefined;
  if (isTree && to.word !== undefined) {
    const { task } = state.ui;
    return from.word === to.word
      ? attachRoot(state, task, to.word)
      : attach(state, task, from.word, to.word);
  }
  const [source, target] = [from, to].map((end) => spanOf(state, end));
  if (!source || !target || source.id === target.id) return {};
  const task = relationTask(state, source.task);
  if (!task || source.task !== target.task) return { warn: "No relation links these two." };
  const outcome = relate(
    state,
    task.name,
    [source.start, source.end],
    [target.start, target.end],
  );
  return { ...outcome, ui: { cursor: target.start, selected: target.id, ...outcome.ui } };
}

function spanOf(state, { item, word }) {
  if (word !== undefined) return spanAt(state, word, null);
  const found = findItem(state, item);
  return found?.kind === "spans" ? found : null;
}
