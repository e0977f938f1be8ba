// What the page knows about its line to the server, for the indicator that is always visible.
import { SignedOut } from "./api.js";

export class Connection extends EventTarget {
  constructor() {
    super();
    this.isReached = navigator.onLine;
    this.isSignedIn = true;
    this.isSaving = false;
    this.savedAt = null;
    addEventListener("offline", () => this.lost());
    addEventListener("online", () => this.dispatchEvent(new Event("retry")));
  }

  saving() {
    this.isSaving = true;
    this.#tell();
  }

  /** The server has everything, as of this moment (ISO text). */
  saved(at) {
    Object.assign(this, {
      isReached: true,
      isSignedIn: true,
      isSaving: false,
      savedAt: new Date(at),
    });
    this.#tell();
  }

  reached() {
    if (this.isReached && this.isSignedIn) return;
    this.isReached = this.isSignedIn = true;
    this.#tell();
  }

  /** A request failed: no line, or no session. */
  failed(error) {
    if (error instanceof SignedOut) this.isSignedIn = false;
    else this.isReached = false;
    this.#tell();
  }

  lost() {
    this.isReached = false;
    this.#tell();
  }

  #tell() {
    this.dispatchEvent(new Event("change"));
  }
}
