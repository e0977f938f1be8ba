// What the page knows about its line to the server, for the indicator that is always visible.

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
