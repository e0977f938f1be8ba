// One person, two tabs: this one says that the other works, and can take over.
import { element } from "../dom.js";
import { PHASE } from "../desk/desk.js";
import { Tabs } from "../sync/tabs.js";
import { openDialog } from "./dialogs.js";

export class Elsewhere {
  /** start: begins work, or begins it anew from the journal. */
  constructor(owner, desk, start) {
    this.desk = desk;
    this.start = start;
    this.tabs = new Tabs(owner, { lost: () => this.#step(), free: () => this.takeOver() });
  }

  /** Work here unless another tab does. */
  async begin() {
    if (await this.tabs.isAnotherWorking()) this.#step();
    else this.takeOver();
  }

  takeOver() {
    this.dialog?.close("here");
    this.tabs.claim();
    this.desk.enter(PHASE.loading);
    this.start();
  }

  /** Step back: nothing more is sent from here. */
  #step() {
    const { desk } = this;
    desk.drafts.attach(null, 0);
    desk.lease = null;
    desk.enter(PHASE.elsewhere);
    const button = element("button", { type: "button", class: "button primary" }, "Work here");
    button.addEventListener("click", () => this.takeOver());
    const content = element(
      "div",
      { class: "stack" },
      element("h2", {}, "Open in another tab"),
      element(
        "p",
        {},
        "You are annotating this project in another tab. Nothing is lost if you go on here.",
      ),
      element("div", { class: "row dialog-buttons" }, button),
    );
    this.dialog = openDialog(content, null, { canEscape: false });
    button.focus();
  }
}
