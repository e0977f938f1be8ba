// Drafts: unfinished work goes to the server shortly after each action, newest state only.
import { Refused, Unreachable } from "./api.js";

const DELAY = 500; // milliseconds after an action
const FIRST_RETRY = 1_000;
const LAST_RETRY = 30_000;

export class DraftSender {
  #timer = null;
  #isSending = false;
  #flight = Promise.resolve(); // of the draft that was sent last
  #wait = FIRST_RETRY;

  /** on: {saved(draft, answer), unreachable(error), refused(error, draft)}. */
  constructor(api, on) {
    this.api = api;
    this.on = on;
    this.lease = null;
    this.draft = null; // not yet on the server
  }

  /** Work for another lease; version is what the server has. */
  attach(lease, version) {
    this.lease = lease;
    this.version = version;
    this.draft = null;
    this.#wait = FIRST_RETRY;
    clearTimeout(this.#timer);
  }

  get hasUnsent() {
    return this.draft !== null || this.#isSending;
  }

  /** Send this draft soon; a newer one takes its place. */
  schedule(draft) {
    this.draft = draft;
    this.#sendIn(DELAY);
  }

  /** Send what waits now, for example because the connection is back. */
  hurry() {
    this.#wait = FIRST_RETRY;
    if (this.draft !== null) this.#sendIn(0);
  }

  /** Send what waits and let it arrive, before the lease ends by the person's own will. */
  async settle() {
    clearTimeout(this.#timer);
    await this.#flight;
    clearTimeout(this.#timer);
    if (this.draft !== null) await (this.#flight = this.#send());
  }

  /** The server has this version now: go on from there. */
  adopt(version) {
    this.version = version;
  }

  #sendIn(milliseconds) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (!this.#isSending) this.#flight = this.#send();
    }, milliseconds);
  }

  async #send() {
    if (this.draft === null || !this.lease) return;
    const { lease, draft } = this;
    const version = this.version + 1;
    this.draft = null;
    this.#isSending = true;
    try {
      const body = { token: lease.token, draft, version };
      const answer = await this.api.saveDraft(lease.id, body);
      this.#isSending = false;
      if (lease === this.lease) this.#stored(draft, answer);
    } catch (error) {
      this.#isSending = false;
      if (lease === this.lease) this.#failed(error, draft, version);
    }
  }

  #stored(draft, answer) {
    this.version = answer.version;
    this.#wait = FIRST_RETRY;
    this.on.saved(draft, answer);
    if (this.draft !== null) this.#sendIn(DELAY);
  }

  #failed(error, draft, version) {
    this.draft ??= draft;
    if (error instanceof Unreachable) {
      this.on.unreachable(error);
      this.#sendIn(this.#wait);
      this.#wait = Math.min(LAST_RETRY, this.#wait * 2);
      return;
    }
    if (!(error instanceof Refused)) throw error;
    const stored = error.details;
    const isOurs = error.code === "stale_draft" && sameDraft(stored.draft, draft);
    if (isOurs) {
      this.draft = this.draft === draft ? null : this.draft;
      this.#stored(draft, {
        version: Math.max(version, stored.version),
        saved_at: stored.saved_at,
      });
    } else {
      this.draft = null;
      this.on.refused(error, draft);
    }
  }
}

/** Whether an answer that got lost on the way had stored this very draft. */
function sameDraft(a, b) {
  return JSON.stringify(a?.doc) === JSON.stringify(b.doc);
}
