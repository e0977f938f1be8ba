// Signs of life for a lease, while somebody looks at the page.
import { Refused, Unreachable } from "./api.js";

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
