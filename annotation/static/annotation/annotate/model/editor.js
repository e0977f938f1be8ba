// Hands on one sentence: they carry out what commands ask for, undo and redo, and tell whoever
// draws. A desk keeps their work; an editor of gold only holds it.
import { canRedo, canUndo } from "./history.js";
import { act } from "./state.js";

export class Hands extends EventTarget {
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
    this.perform({ action: { kind: "undo" }, ui: { selected: null, mode: null }, say: "Undone" });
    return true;
  }

  stepForward() {
    if (!this.canRedo) return false;
    this.perform({
      action: { kind: "redo" },
      ui: { selected: null, mode: null },
      say: "Done again",
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
