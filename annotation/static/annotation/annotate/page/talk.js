// Conversations: everything that asks the person something and waits for the answer.
import { openLease, takeNext } from "../desk/arriving.js";
import { PHASE } from "../desk/desk.js";
import { regain, takeBack } from "../desk/recovering.js";
import { flag, skip } from "../desk/submitting.js";
import { documentOf } from "../model/state.js";
import { askForLabel } from "./asking.js";
import { Chooser } from "./chooser.js";
import { askRemark, showVersions } from "./dialogs.js";
import { clockTime } from "./facts.js";

const SKIP_REASONS = ["Unclear", "Not a sentence", "Wrong language"];

export class Talk {
  constructor(desk, view) {
    this.desk = desk;
    this.view = view;
    this.chooser = new Chooser();
    view.isTalking = () => this.isBusy;
  }

  /** Whether the keyboard belongs to a question. */
  get isBusy() {
    return this.chooser.isAsking || document.querySelector("dialog[open]") !== null;
  }

  /** Ask for a label and use it where the command wanted it. */
  async choose(question) {
    const { chooser, desk, view } = this;
    await askForLabel(chooser, desk, view.sentence, question);
    view.focusCursor();
  }

  skip = async () => {
    const { desk } = this;
    if (desk.phase !== PHASE.working) return;
    const reason = await askRemark({
      title: "Skip this sentence",
      words: "Somebody else will be asked. Why not you?",
      ready: SKIP_REASONS,
      action: "Skip",
    });
    if (reason) skip(desk, reason);
    else this.view.focusCursor();
  };

  flag = async () => {
    const { desk, view } = this;
    if (!desk.state) return;
    const sentence = desk.state.sentence.id;
    const comment = await askRemark({
      title: "Flag this sentence",
      words: "What is wrong with it? The curators will see your remark.",
      action: "Flag",
    });
    view.focusCursor();
    if (comment) await flag(desk, sentence, comment);
  };

  /** A newer draft came from elsewhere: both are shown, one is chosen. */
  async stale({ mine, other, at }, version = null) {
    const { desk } = this;
    const choice = await showVersions({
      title: "Changed elsewhere",
      words: `This sentence was also changed elsewhere, at ${clockTime(new Date(at))}.`,
      state: desk.state,
      sides: [
        { title: "Here", values: mine.values },
        { title: "Elsewhere", values: other.values },
      ],
      buttons: [
        { text: "Take the other", value: "other" },
        { text: "Keep mine", value: "mine", isMain: true },
      ],
    });
    if (version !== null) desk.drafts.adopt(version);
    const doc = choice === "other" ? other : mine;
    desk.perform({ action: { kind: "replace", doc }, say: "Decided." });
    if (desk.canEdit) desk.saveSoon();
    this.view.focusCursor();
  }

  /** A draft was refused: by a newer one, or because the lease is gone. */
  async draftRefused({ error, draft }) {
    const { desk } = this;
    if (error.code === "stale_draft" && error.details.draft?.doc) {
      const { draft: other, version, saved_at: at } = error.details;
      await this.stale({ mine: documentOf(desk.state), other: other.doc, at }, version);
    } else if (error.code === "lease_lost") {
      await this.leaseLost(draft.doc.values);
    } else {
      this.view.announcer.say(error.message, { isVisible: true, look: "bad" });
    }
  }

  async leaseLost(yours) {
    if (this.desk.phase === PHASE.working) await regain(this.desk, { yours });
  }

  /** The sentence is gone for good: show both versions and go on. */
  async lost({ state, yours, current, next }) {
    const sides = [{ title: "Yours", values: yours }];
    if (Object.keys(current).length) sides.push({ title: "Stored", values: current });
    await showVersions({
      title: "This sentence is no longer yours",
      words:
        "Your time on it ended and its place was taken. Your work stays in this browser for " +
        "30 days; it comes back if you are given the sentence again.",
      state,
      sides,
      buttons: [{ text: "Go on", value: "on", isMain: true }],
    });
    if (next) openLease(this.desk, next);
    else await takeNext(this.desk);
  }

  async answerRefused(refusal) {
    await takeBack(this.desk, refusal);
  }
}
