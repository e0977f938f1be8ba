// Words for screen readers, and for the eye in the action bar.
import { kindOf } from "../kinds/index.js";
import { taskOf } from "../model/state.js";

const SHOWN = 6_000; // milliseconds
const FINGERS = matchMedia("(pointer: coarse)");

export class Announcer {
  #timer = null;

  constructor(live, message) {
    this.live = live;
    this.message = message;
    this.resting = ["", ""];
  }

  /** Say something once; the eye sees it too where it is more than an echo. */
  say(text, { isVisible = false, look = "" } = {}) {
    this.live.textContent = text;
    if (isVisible) this.#show(text, look);
  }

  /** Take back what the eye still sees. */
  clear() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#put(...this.resting);
  }

  /** What the action bar says when nothing else is to say; a hint is left out where room is short. */
  rest(text, { isHint = false } = {}) {
    this.resting = [text, isHint ? "hint" : ""];
    if (this.#timer === null) this.#put(...this.resting);
  }

  #show(text, look) {
    clearTimeout(this.#timer);
    this.#put(text, look);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#put(...this.resting);
    }, SHOWN);
  }

  #put(text, look) {
    if (this.message.textContent !== text) this.message.textContent = text;
    if (this.message.dataset.look !== look) this.message.dataset.look = look;
  }
}

/** What the mode one is in expects next, or "". */
export function modeWords(state) {
  const mode = state?.ui.mode;
  if (!mode) return "";
  return kindOf(taskOf(state, mode.task)).modeText(mode, state.sentence.tokens, FINGERS.matches);
}
