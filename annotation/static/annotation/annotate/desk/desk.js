// The desk: one ask at a time in a person's hands. It holds the state, journals every action before
// it is shown, and tells whoever draws the page.
import { canRedo, canUndo } from "../model/history.js";
import { act, documentOf } from "../model/state.js";
import { DraftSender } from "../sync/drafts.js";

/** Where the desk is: what the hands can do. */
export const PHASE = Object.freeze({
  loading: "loading", // nothing has come yet
  working: "working", // an ask is leased
  ahead: "ahead", // the next ask is shown; its lease is on the way
  sending: "sending", // the answer is on its way, nothing to show after it
  empty: "empty", // nothing is left to do
  elsewhere: "elsewhere", // another tab works
});

export class Desk extends EventTarget {
  phase = PHASE.loading;
  state = null;
  lease = null;
  counts = null;
  records = []; // of the journal
  offer = null; // the ask that will most likely come next
  delivery = Promise.resolve();
  isGoingBack = false; // to the last submitted sentence

  constructor({ project, api, journal, outbox, connection, clock }) {
    super();
    Object.assign(this, { project, api, journal, outbox, connection, clock });
    this.drafts = new DraftSender(api, {
      saved: (_, { saved_at, version }) => {
        this.journal.note(this.askId, version, this.clock.seconds);
        if (!this.drafts.hasUnsent) connection.saved(saved_at);
      },
      unreachable: (error) => connection.failed(error),
      refused: (error, draft) => {
        connection.reached();
        this.tell("draft-refused", { error, draft });
      },
    });
    connection.addEventListener("retry", () => this.drafts.hurry());
  }

  get askId() {
    return this.state?.ask.id ?? null;
  }

  get canEdit() {
    return this.phase === PHASE.working || this.phase === PHASE.ahead;
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

  enter(phase) {
    this.phase = phase;
    this.tell("change");
  }

  /** Another ask is here: show it from scratch. */
  present(phase) {
    this.phase = phase;
    this.tell("arrival");
    this.tell("change");
  }

  /** Save the present document to the server soon. */
  saveSoon() {
    this.connection.saving();
    this.drafts.schedule(this.draft());
  }

  draft() {
    return { doc: documentOf(this.state), seconds: Math.round(this.clock.seconds) };
  }

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  #act(action) {
    const next = act(this.state, action);
    if (next.history === this.state.history) return;
    const record = { at: Math.round(this.clock.seconds * 1000), action };
    this.journal.append(this.askId, this.records.length, record);
    this.records.push(record);
    this.state = next;
    this.saveSoon();
  }
}
