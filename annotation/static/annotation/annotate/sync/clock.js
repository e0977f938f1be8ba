// Seconds that a person really spends on a sentence: not in another tab, not away from the desk.

const IDLE = 120_000; // milliseconds without a sign of life

export class WorkClock {
  #spent = 0;
  #since = null;
  #lastSign = 0;

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

  /** Note a sign of life. */
  sign() {
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
