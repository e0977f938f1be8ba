// The editor of one sentence carries out what commands ask for, undoes and redoes, and tells whoever
// draws. A session keeps its work; the editor of gold only holds it.
//
// What a command asks for, its outcome: {action, ui, say, warn, choose}. All parts may be missing.
//   action  a change of the document, journalled and undoable
//   ui      parts of the editor's state that change
//   say     words for the screen reader
//   warn    words for the eye as well: why nothing happened
//   choose  a question for the type-ahead: {task, labels, ...}
import { canRedo, canUndo } from "./document.js";
import { act } from "./state.js";
import { t } from "../words.js";

/** Nothing changes; say why. */
export function refuse(warn) {
  return { warn };
}

export class Editor extends EventTarget {
  state = null;

  get canEdit() {
    return this.state !== null;
  }

  get canUndo() {
    return this.canEdit && canUndo(this.state.history);
  }

  get canRedo() {
    return this.canEdit && canRedo(this.state.history);
  }

  /** Carry out what a command asked for. */
  perform(outcome) {
    if (!outcome || !this.canEdit) return;
    if (outcome.action) this.#act(outcome.action);
    if (outcome.ui) this.state = { ...this.state, ui: { ...this.state.ui, ...outcome.ui } };
    if (outcome.say) this.tell("say", outcome.say);
    if (outcome.warn) this.tell("warn", outcome.warn);
    if (outcome.choose) this.tell("choose", outcome.choose);
    if (outcome.action || outcome.ui) this.tell("change");
  }

  /** Undo or redo one action; false if there is none. */
  stepBack() {
    if (!this.canUndo) return false;
    this.perform({ action: { kind: "undo" }, ui: { selected: null, mode: null }, say: t("Undone") });
    return true;
  }

  stepForward() {
    if (!this.canRedo) return false;
    this.perform({
      action: { kind: "redo" },
      ui: { selected: null, mode: null },
      say: t("Done again"),
    });
    return true;
  }

  /** Take over the state after an action. */
  become(state) {
    this.state = state;
  }

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  #act(action) {
    const next = act(this.state, action);
    if (next.history !== this.state.history) this.become(next, action);
  }
}
