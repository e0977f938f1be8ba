// One person, two tabs: this one says that the other works, and can take over.
import { element } from "../dom.js";
import { PHASE } from "../session/session.js";
import { closeDialog, openDialog } from "./modal.js";
import { t } from "../words.js";

export class TabLock {
  /** memory: {get(name), set(name, value)}, shared by all tabs; start: begins work, or begins it anew
   *  from the journal. */
  constructor(owner, session, memory, start) {
    this.session = session;
    this.start = start;
    const on = { lost: () => this.#step(), free: () => this.takeOver() };
    this.tabs = new Tabs(owner, memory, on);
  }

  /** Work here unless another tab does. */
  async begin() {
    if (await this.tabs.isAnotherWorking()) this.#step();
    else this.takeOver();
  }

  takeOver() {
    if (this.dialog?.open) closeDialog(this.dialog, "here");
    this.tabs.claim();
    this.session.enter(PHASE.loading);
    this.start();
  }

  /** Step back: nothing more is sent from here. */
  #step() {
    const { session } = this;
    session.drafts.attach(null, 0);
    session.lease = null;
    session.enter(PHASE.locked);
    const button = element("button", { type: "button", class: "button primary" }, t("Work here"));
    button.addEventListener("click", () => this.takeOver());
    const content = element(
      "div",
      { class: "stack" },
      element("h2", {}, t("Open in another tab")),
      element(
        "p",
        {},
        t("You are annotating this project in another tab. Nothing is lost if you go on here."),
      ),
      element("div", { class: "row dialog-buttons" }, button),
    );
    this.dialog = openDialog(content, null, { canEscape: false });
    button.focus();
  }
}

const BRIEF = 150; // milliseconds to wait for an answer where no tab has noted that it works
const LONG = 3_000; // where one has: it may be slow, or it was killed and left its note

/** Tabs that know of each other; the newest claim to work wins. */
class Tabs {
  /** on: {lost(), free()}: another tab took over; the working tab was closed. */
  constructor(name, memory, on) {
    this.on = on;
    this.memory = memory;
    this.id = `${Date.now()}-${Math.random()}`;
    this.isWorking = false;
    this.channel = new BroadcastChannel(`tandem/annotate/${name}`);
    this.channel.onmessage = ({ data }) => this.#hear(data);
    addEventListener("pagehide", () => this.isWorking && this.#leave());
    addEventListener("pageshow", ({ persisted }) => persisted && this.isWorking && this.claim());
  }

  /** Whether another tab is at work; asks and waits a moment for an answer. */
  isAnotherWorking() {
    return new Promise((resolve) => {
      this.answered = () => resolve(true);
      setTimeout(() => resolve(false), this.memory.get("working") ? LONG : BRIEF);
      this.#say("hello");
    });
  }

  /** Work here; every other tab stops. */
  claim() {
    this.isWorking = true;
    this.claimed = `${Date.now()}-${this.id}`; // two claims at once are told apart too
    this.memory.set("working", this.id);
    this.#say("claim");
  }

  /** The tab is closed: whoever waits goes on. */
  #leave() {
    if (this.memory.get("working") === this.id) this.memory.set("working", null);
    this.#say("bye");
  }

  #hear({ from, word, claimed }) {
    if (from === this.id) return;
    if (word === "hello" && this.isWorking) this.#say("here");
    if (word === "here") this.answered?.();
    if (word === "bye" && !this.isWorking) this.on.free();
    if (word === "claim" && this.isWorking && claimed > this.claimed) {
      this.isWorking = false;
      this.on.lost();
    }
  }

  #say(word) {
    this.channel.postMessage({ from: this.id, word, claimed: this.claimed });
  }
}
