// The line to the server: what the page knows of it, trying again, and signs of life for a lease.
import { Refused, Unreachable } from "./api.js";

const FIRST_RETRY = 1_000; // milliseconds
const LAST_RETRY = 20_000;

export class Connection extends EventTarget {
  constructor() {
    super();
    this.isReached = navigator.onLine;
    this.barrier = null; // what keeps the person out, see KeptOut
    this.isSaving = false;
    this.savedAt = null;
    addEventListener("offline", () => this.lost());
    addEventListener("online", () => this.#retry());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && !this.isOpen) this.#retry(); // back from signing in, for example
    });
  }

  get isOpen() {
    return this.isReached && !this.barrier;
  }

  saving() {
    this.isSaving = true;
    this.#tell();
  }

  /** The server has everything, as of this moment (ISO text). */
  saved(at) {
    Object.assign(this, {
      isReached: true,
      barrier: null,
      isSaving: false,
      savedAt: new Date(at),
    });
    this.#tell();
  }

  reached() {
    if (this.isOpen) return;
    this.isReached = true;
    this.barrier = null;
    this.#tell();
  }

  /** A request failed: no line, or the person is kept out. */
  failed({ barrier }) {
    if (barrier) this.barrier = barrier;
    else this.isReached = false;
    this.#tell();
  }

  lost() {
    this.isReached = false;
    this.#tell();
  }

  #retry() {
    this.dispatchEvent(new Event("retry"));
  }

  #tell() {
    this.dispatchEvent(new Event("change"));
  }
}

/** The answer of a request, however long the server cannot be reached: tried again at once when the
 *  line is back, else ever more slowly. */
export async function retrying(connection, request) {
  for (let wait = FIRST_RETRY; ; wait = Math.min(LAST_RETRY, wait * 2)) {
    try {
      const answer = await request();
      connection.reached();
      return answer;
    } catch (error) {
      if (error instanceof Refused) connection.reached();
      if (!(error instanceof Unreachable)) throw error;
      connection.failed(error);
      await lineBack(connection, wait);
    }
  }
}

function lineBack(connection, milliseconds) {
  return new Promise((resolve) => {
    const go = () => {
      clearTimeout(timer);
      connection.removeEventListener("retry", go);
      resolve();
    };
    const timer = setTimeout(go, milliseconds);
    connection.addEventListener("retry", go);
  });
}

/** Signs of life for a lease, while somebody looks at the page. */
export class Heartbeat {
  #timer = null;

  /** on: {lost(error)}: the lease is gone. */
  constructor(api, connection, on) {
    Object.assign(this, { api, connection, on });
    document.addEventListener("visibilitychange", () => !document.hidden && this.beat());
  }

  /** Keep this lease alive, and no other. */
  attach(lease) {
    clearInterval(this.#timer);
    this.lease = lease;
    if (!lease) return;
    this.#timer = setInterval(
      () => !document.hidden && this.beat(),
      lease.heartbeat_seconds * 1000,
    );
  }

  async beat() {
    const { lease } = this;
    if (!lease) return;
    try {
      await this.api.heartbeat(lease.id, lease.token);
      this.connection.reached();
    } catch (error) {
      if (error instanceof Unreachable) return this.connection.failed(error);
      if (!(error instanceof Refused)) throw error;
      this.connection.reached();
      if (lease === this.lease) this.on.lost(error);
    }
  }
}
