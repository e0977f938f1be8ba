// The desk: one ask at a time in a person's hands. It journals every action before it is shown,
// and saves what they do.
import { Hands } from "../model/hands.js";
import { documentOf } from "../model/state.js";
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

export class Desk extends Hands {
  phase = PHASE.loading;
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

  /** Journal an action before its state is shown. */
  become(state, action) {
    const record = { at: Math.round(this.clock.seconds * 1000), action };
    this.journal.append(this.askId, this.records.length, record);
    this.records.push(record);
    super.become(state);
    this.saveSoon();
  }
}
