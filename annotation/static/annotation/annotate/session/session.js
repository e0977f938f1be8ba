// The session: one ask at a time. It journals every action before that is shown, and saves it.
import { Editor } from "../model/editor.js";
import { documentOf } from "../model/state.js";
import { DraftSender } from "../sync/drafts.js";

const IDLE = 120_000; // milliseconds without a sign of life

/** Where the session is: what can be done in it. */
export const PHASE = Object.freeze({
  loading: "loading", // nothing has come yet
  working: "working", // an ask is leased
  ahead: "ahead", // the next ask is shown; its lease is on the way
  sending: "sending", // the answer is on its way, nothing to show after it
  empty: "empty", // nothing is left to do
  locked: "locked", // another tab works
});

export class Session extends Editor {
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
        if (this.isGoingBack) this.drafts.schedule(draft); // the lease ends by our own will
        else this.tell("draft-refused", { error, draft });
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

/** Seconds that a person really spends on a sentence: not in another tab, not away from the page. */
export class WorkClock {
  #spent = 0;
  #since = null;
  #lastSign = 0;
  #isHeld = false;

  constructor(now = () => performance.now()) {
    this.now = now;
    for (const sign of ["keydown", "pointerdown", "pointermove", "wheel"]) {
      addEventListener(sign, () => this.sign(), { passive: true, capture: true });
    }
    document.addEventListener("visibilitychange", () =>
      document.hidden ? this.pause() : this.sign(),
    );
  }

  /** Start again for another sentence. */
  reset(seconds = 0) {
    this.#spent = seconds * 1000;
    this.#since = document.hidden ? null : this.now();
    this.#lastSign = this.now();
  }

  get isHeld() {
    return this.#isHeld;
  }

  /** Stand still while somebody reads something else. */
  hold(isHeld) {
    this.#isHeld = isHeld;
    if (isHeld) this.pause();
    else this.sign();
  }

  /** Note a sign of life. */
  sign() {
    if (this.#isHeld) return;
    this.#settle();
    this.#lastSign = this.now();
    this.#since ??= this.now();
  }

  pause() {
    this.#settle();
    this.#since = null;
  }

  get seconds() {
    this.#settle();
    return this.#spent / 1000;
  }

  /** Count up to now, or up to when the person was last seen and a little more. */
  #settle() {
    if (this.#since === null) return;
    const until = Math.min(this.now(), this.#lastSign + IDLE);
    this.#spent += Math.max(0, until - this.#since);
    this.#since = until < this.now() ? null : until;
  }
}
