// Words for screen readers, and for the eye in the action bar.

const SHOWN = 6_000; // milliseconds

export class Announcer {
  #timer = null;

  constructor(live, message) {
    this.live = live;
    this.message = message;
    this.resting = "";
  }

  /** Say something once; the eye sees it too where it is more than an echo. */
  say(text, { isVisible = false, look = "" } = {}) {
    this.live.textContent = text;
    if (isVisible) this.#show(text, look);
  }

  /** What the action bar says when nothing else is to say. */
  rest(text) {
    this.resting = text;
    if (this.#timer === null) this.#put(text, "");
  }

  #show(text, look) {
    clearTimeout(this.#timer);
    this.#put(text, look);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#put(this.resting, "");
    }, SHOWN);
  }

  #put(text, look) {
    if (this.message.textContent !== text) this.message.textContent = text;
    if (this.message.dataset.look !== look) this.message.dataset.look = look;
  }
}
