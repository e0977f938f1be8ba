// Conversations: everything that asks the person something and waits for the answer.
import { openLease, takeNext } from "../session/arrivals.js";
import { PHASE } from "../session/session.js";
import { regain, takeBack } from "../session/recovery.js";
import { flag, leaveForLater, skip, submit } from "../session/submissions.js";
import { kindOf } from "../kinds/index.js";
import {
  checkTask,
  countPending,
  documentOf,
  pendingByTask,
  wantedTasks,
} from "../model/state.js";
import { clockTime, t } from "../words.js";
import { askForLabel } from "./chooser.js";
import { askDone, askRemark, confirmUnchecked, showVersions } from "./modal.js";

const SKIP_KINDS = {
  [t("Unclear")]: "unclear",
  [t("Not a sentence")]: "not_a_sentence",
  [t("Wrong language")]: "wrong_language",
  [t("Broken")]: "broken",
};

export class Dialogs {
  constructor(session, view, chooser) {
    Object.assign(this, { session, view, chooser });
    view.hasDialog = () => this.isBusy;
  }

  /** Whether the keyboard belongs to a question. */
  get isBusy() {
    return this.chooser.isAsking || document.querySelector("dialog[open]") !== null;
  }

  /** Ask for a label and use it where the command wanted it. */
  async choose(question) {
    const { chooser, session, view } = this;
    await askForLabel(chooser, session, view.sentence, question, (task) => view.list.nodeOf(task));
    view.focusCursor();
  }

  /** Submit at once; where suggestions were not checked, only after saying what they will count as. */
  submit = async () => {
    const { session } = this;
    if (session.phase === PHASE.working && countPending(session.state)) {
      const labels = pendingByTask(session.state).flatMap(({ task, items }) =>
        items.map((item) => kindOf(task).draw(item, task).label),
      );
      const isSure = await confirmUnchecked(labels, session.project.accepts_on_submit);
      this.view.focusCursor();
      if (!isSure) return;
    }
    submit(session);
  };

  skip = async () => {
    const { session } = this;
    if (session.phase !== PHASE.working) return;
    const reason = await askRemark({
      title: t("Skip this sentence"),
      words: t("Why? The curators will see it; somebody else is asked if there is anybody."),
      ready: Object.keys(SKIP_KINDS),
      action: t("Skip"),
    });
    if (reason) skip(session, reason, SKIP_KINDS[reason] ?? "other");
    else this.view.focusCursor();
  };

  /** A note on the answer, for the curators. */
  note = async () => {
    const { session, view } = this;
    if (!session.canEdit || !session.state) return;
    const old = documentOf(session.state).note ?? "";
    const text = await askRemark({
      title: t("Note on your answer"),
      words: t("The curators see it beside your answer. Leave it empty to take it away."),
      ready: [t("Unsure")],
      value: old,
      isOptional: true,
      action: t("Keep"),
    });
    if (text !== null && text !== old) session.perform({ action: { kind: "note.set", text } });
    view.focusCursor();
  };

  /** Hand in what is done and leave the rest for later. */
  later = async () => {
    const { session, view } = this;
    if (session.phase !== PHASE.working) return;
    const { state } = session;
    const done = await askDone(
      wantedTasks(state).map((task) => {
        const { own, toCheck, problems } = checkTask(state, task);
        return { name: task.name, isReady: !problems.length, isDone: own > 0 && !toCheck && !problems.length };
      }),
    );
    if (done) leaveForLater(session, done);
    else view.focusCursor();
  };

  flag = async () => {
    const { session, view } = this;
    if (!session.state) return;
    const sentence = session.state.sentence.id;
    const comment = await askRemark({
      title: t("Flag this sentence"),
      words: t("What is wrong with it? The curators will see your remark."),
      action: t("Flag"),
    });
    view.focusCursor();
    if (comment) await flag(session, sentence, comment);
  };

  /** A newer draft came from elsewhere: both are shown, one is chosen. */
  async stale({ mine, other, at }, version = null) {
    const { session } = this;
    const choice = await showVersions({
      title: t("Changed elsewhere"),
      words: t("This sentence was also changed elsewhere, at {time}.", { time: clockTime(new Date(at)) }),
      state: session.state,
      sides: [
        { title: t("Here"), values: mine.values },
        { title: t("Elsewhere"), values: other.values },
      ],
      buttons: [
        { text: t("Take the other"), value: "other" },
        { text: t("Keep mine"), value: "mine", isMain: true },
      ],
    });
    if (version !== null) session.drafts.adopt(version);
    const doc = choice === "other" ? other : mine;
    session.perform({ action: { kind: "replace", doc }, say: t("Decided.") });
    if (session.canEdit) session.saveSoon();
    this.view.focusCursor();
  }

  /** A draft was refused: by a newer one, or because the lease is gone. */
  async draftRefused({ error, draft }) {
    const { session } = this;
    if (error.code === "stale_draft" && error.details.draft?.doc) {
      const { draft: other, version, saved_at: at } = error.details;
      await this.stale({ mine: documentOf(session.state), other: other.doc, at }, version);
    } else if (error.code === "lease_lost") {
      await this.leaseLost(draft.doc.values);
    } else {
      this.view.announcer.say(error.message, { isVisible: true, look: "bad" });
    }
  }

  async leaseLost(yours) {
    if (this.session.phase === PHASE.working) await regain(this.session, { yours });
  }

  /** The sentence is gone for good: show both versions and go on. */
  async lost({ state, yours, current, next, wasAhead = false }) {
    const sides = [{ title: t("Yours"), values: yours }];
    if (Object.keys(current).length) sides.push({ title: t("Stored"), values: current });
    await showVersions({
      title: wasAhead ? t("Another sentence comes first") : t("This sentence is no longer yours"),
      words: wasAhead
        ? t("You worked ahead on this sentence, and it was given to somebody else or is not due yet. Your work stays in this browser for 30 days; it comes back if you are given the sentence.")
        : t("Your time on it ended and its place was taken. Your work stays in this browser for 30 days; it comes back if you are given the sentence again."),
      state,
      sides,
      buttons: [{ text: t("Go on"), value: "on", isMain: true }],
    });
    this.view.focusCursor();
    if (wasAhead) return;
    if (next) openLease(this.session, next);
    else await takeNext(this.session);
  }

  async answerRefused(refusal) {
    await takeBack(this.session, refusal);
  }
}
